#!/bin/sh
# Runs once, when the database is empty: a role that keeps the ledger, and one that reads the data.
set -eu
psql --no-psqlrc --quiet --username "${POSTGRES_USER:-postgres}" --dbname clinic \
  --set ON_ERROR_STOP=1 \
  --set ledger_password="$(cat "${SECRETS:-/run/secrets}/ledger_password")" \
  --set reader_password="$(cat "${SECRETS:-/run/secrets}/reader_password")" <<'SQL'
CREATE ROLE discreet LOGIN PASSWORD :'ledger_password';
CREATE ROLE reader LOGIN PASSWORD :'reader_password';
CREATE DATABASE books OWNER discreet;
REVOKE CONNECT ON DATABASE books FROM PUBLIC;
REVOKE CONNECT ON DATABASE clinic FROM PUBLIC;
GRANT CONNECT ON DATABASE clinic TO reader;
GRANT USAGE ON SCHEMA public TO reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO reader;
SQL
