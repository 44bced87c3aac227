-- What drivers and pools send by themselves: psycopg, asyncpg, SQLAlchemy, node-postgres, lib/pq, pgx,
-- JDBC, Npgsql, HikariCP, pgbouncer's servers. Not held against their sources.
-- The wording is ours; tables, columns, functions and forms are those that the program uses.

-- free
BEGIN READ ONLY;

-- free
SAVEPOINT s1; SELECT 1; ROLLBACK TO SAVEPOINT s1; RELEASE SAVEPOINT s1;

-- free
COMMIT;

-- free
START TRANSACTION ISOLATION LEVEL REPEATABLE READ; ROLLBACK;

-- free
SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;

-- free
SELECT pg_catalog.version(), current_schema(), current_database(), current_user, pg_backend_pid();

-- free
SHOW standard_conforming_strings;

-- free: SQLAlchemy looks for a type
SELECT t.oid, t.typarray FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE t.typname = 'hstore';

-- free: asyncpg loads types
WITH RECURSIVE y (oid, kind, depth) AS (
  SELECT t.oid, t.typtype::text, 0 FROM pg_catalog.pg_type t WHERE t.oid = ANY ('{1184,1700}'::oid[])
  UNION ALL
  SELECT e.oid, e.typtype::text, y.depth + 1 FROM y JOIN pg_catalog.pg_type e ON e.oid = (
    SELECT typelem FROM pg_catalog.pg_type b WHERE b.oid = y.oid AND b.typelem <> 0))
SELECT DISTINCT oid, kind FROM y ORDER BY 1;

-- free: a connection goes back to its pool
SELECT pg_advisory_unlock_all(); CLOSE ALL; UNLISTEN *; RESET ALL;

-- free: the same
DISCARD ALL;

-- free: settings that have no effect here
SET statement_timeout = 30000; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0;

-- free: several hosts, which of them may be written?
SHOW transaction_read_only; SELECT pg_catalog.pg_is_in_recovery();

-- rejected 0A000
LISTEN changes;

-- rejected 0A000
INSERT INTO visits (region) VALUES ('north');

-- rejected 0A000
CREATE TABLE mine AS SELECT region, COUNT(*) FROM visits GROUP BY region;
