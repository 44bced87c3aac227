#!/bin/sh
# Makes new passwords in secrets/, for compose.yaml. It never replaces one.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets
for name in postgres_password ledger_password reader_password; do
  [ -e "secrets/$name" ] || openssl rand -hex 32 | tr -d '\n' > "secrets/$name"
  chmod 644 "secrets/$name" # the folder is closed to others; containers read the file itself
done
[ -e secrets/pgpass ] || {
  printf 'database:5432:books:discreet:%s\n' "$(cat secrets/ledger_password)"
  printf 'database:5432:clinic:reader:%s\n' "$(cat secrets/reader_password)"
} > secrets/pgpass
chmod 600 secrets/pgpass # libpq ignores it otherwise
if [ "$(id -u)" = 0 ]; then
  chown 10001 secrets/pgpass
else
  echo "Run as root: chown 10001 $(pwd)/secrets/pgpass"
fi
