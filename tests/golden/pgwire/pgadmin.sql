-- pgAdmin 4. After the public project pgadmin-org/pgadmin4
-- (web/pgadmin/utils/driver/psycopg3/connection.py, and the templates below
-- web/pgadmin/browser/server_groups/servers/databases/).
-- The wording is ours; tables, columns, functions and forms are those that the program uses.

-- free: a connection begins, in one batch
SET DateStyle = ISO; SET client_min_messages = notice;
SELECT set_config('bytea_output', 'hex', false) FROM pg_show_all_settings() WHERE name = 'bytea_output';
SET client_encoding = 'utf-8';

-- free
SELECT version();

-- free: the database
SELECT b.oid AS did, b.datname, b.datallowconn, pg_encoding_to_char(b.encoding) AS serverencoding,
  has_database_privilege(b.oid, 'CREATE') AS cancreate, b.datistemplate
FROM pg_catalog.pg_database b WHERE b.datname = current_database();

-- free: how it signed in
SELECT gss_authenticated, encrypted FROM pg_catalog.pg_stat_gssapi WHERE pid = pg_backend_pid();

-- free: what its role may do
SELECT r.oid AS id, r.rolname AS name, r.rolsuper AS is_superuser,
  CASE WHEN r.rolsuper THEN true ELSE r.rolcreaterole END AS can_create_role,
  CASE WHEN 'pg_signal_backend' = ANY (ARRAY(WITH RECURSIVE m AS (
      SELECT q.oid, q.rolname FROM pg_roles q WHERE q.oid = r.oid
      UNION ALL
      SELECT q.oid, q.rolname FROM m JOIN pg_auth_members x ON x.member = m.oid
        JOIN pg_roles q ON q.oid = x.roleid)
    SELECT rolname FROM m)) THEN true ELSE false END AS can_signal
FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user;

-- free: is it a copy?
SELECT CASE WHEN usesuper THEN pg_is_in_recovery() ELSE false END AS inrecovery
FROM pg_user WHERE usename = current_user;

-- free: schemas
SELECT n.oid, n.nspname AS name, pg_catalog.has_schema_privilege(n.oid, 'CREATE') AS can_create,
  pg_catalog.has_schema_privilege(n.oid, 'USAGE') AS has_usage, d.description
FROM pg_catalog.pg_namespace n
LEFT OUTER JOIN pg_catalog.pg_description d
  ON d.objoid = n.oid AND d.classoid = 'pg_namespace'::regclass
WHERE n.nspname NOT LIKE E'pg\\_%' ORDER BY n.nspname;

-- free: tables
SELECT c.oid, c.relname AS name,
  (SELECT count(*) FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgisinternal = false) AS triggers,
  (SELECT count(1) FROM pg_catalog.pg_inherits i WHERE i.inhrelid = c.oid LIMIT 1) AS is_inherits
FROM pg_catalog.pg_class c
WHERE c.relkind IN ('r', 's', 't', 'p') AND c.relnamespace = 'public'::regnamespace AND NOT c.relispartition
ORDER BY c.relname;

-- free: columns
SELECT DISTINCT a.attname AS name, a.attnum AS oid, pg_catalog.format_type(t.oid, NULL) AS datatype,
  a.attnotnull AS not_null, a.atthasdef AS has_default_val, d.description
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
LEFT OUTER JOIN pg_catalog.pg_description d
  ON d.objoid = a.attrelid AND d.objsubid = a.attnum AND d.classoid = 'pg_class'::regclass
WHERE a.attrelid = 'public.visits'::regclass AND a.attnum > 0 AND a.attisdropped IS FALSE
ORDER BY a.attnum;

-- free: statistics, which are of a database without rows
SELECT seq_scan, n_tup_ins, n_live_tup, pg_stat_get_numscans(relid), pg_size_pretty(pg_relation_size(relid))
FROM pg_catalog.pg_stat_user_tables WHERE relname = 'visits';

-- rejected 42501: view data
SELECT * FROM public.visits LIMIT 100;

-- rejected 42501: the dashboard of sessions
SELECT pid, datname, usename, state, query FROM pg_catalog.pg_stat_activity WHERE datname = current_database();
