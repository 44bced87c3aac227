-- Tableau, over psqlODBC. After public threads about servers that speak PostgreSQL's protocol
-- (crate/crate, cockroachdb/cockroach, ildus/clickhouse_fdw), and what psqlODBC is known to send:
-- that part was not held against its source.
-- The wording is ours; tables, columns, functions and forms are those that the program uses.

-- free: the driver begins
SET DateStyle = 'ISO'; SET extra_float_digits = 2; SHOW transaction_isolation;

-- free: large objects
SELECT oid, typbasetype FROM pg_type WHERE typname = 'lo';

-- free
SET client_encoding TO 'UTF8';

-- free: schemas
SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname LIKE E'%' ORDER BY nspname;

-- free: tables
SELECT relname, nspname, relkind FROM pg_catalog.pg_class c, pg_catalog.pg_namespace n
WHERE relkind IN ('r', 'v', 'm', 'f', 'p') AND nspname NOT IN ('pg_catalog', 'information_schema')
  AND n.oid = relnamespace ORDER BY nspname, relname;

-- free: columns
SELECT n.nspname, c.relname, a.attname, a.atttypid, t.typname, a.attnum, a.attlen, a.atttypmod,
  a.attnotnull, c.relhasrules, c.relkind, c.oid, pg_get_expr(d.adbin, d.adrelid), t.typtypmod
FROM (((pg_catalog.pg_class c
  INNER JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND c.relname LIKE E'visits'
    AND n.nspname LIKE E'public')
  INNER JOIN pg_catalog.pg_attribute a ON NOT a.attisdropped AND a.attnum > 0 AND a.attrelid = c.oid)
  INNER JOIN pg_catalog.pg_type t ON t.oid = a.atttypid)
  LEFT OUTER JOIN pg_attrdef d ON a.atthasdef AND d.adrelid = a.attrelid AND d.adnum = a.attnum
ORDER BY n.nspname, c.relname, attnum;

-- free: keys
SELECT a.attname, a.attnum, c.relname FROM pg_catalog.pg_attribute a, pg_catalog.pg_class c,
  pg_catalog.pg_index i
WHERE i.indrelid = 'public.cities'::regclass AND i.indisprimary AND a.attrelid = i.indrelid
  AND c.oid = i.indexrelid;

-- free: the columns of a table
SELECT * FROM "public"."visits" "visits" LIMIT 0;

-- free: the columns of a query
SELECT * FROM (SELECT * FROM visits) T WHERE (0 = 1);

-- free: the columns of a query with an aggregate
SELECT * FROM (SELECT region, COUNT(*) AS n FROM visits GROUP BY region) "TableauSQL" WHERE 1 = 0;

-- rejected 0A000: may temporary tables be made? Tableau does without
CREATE LOCAL TEMPORARY TABLE "#Tableau_1_Connect" ("COL" INTEGER) ON COMMIT PRESERVE ROWS;

-- rejected 0A000: nor in another way
SELECT * INTO TEMP "#Tableau_2_Connect" FROM "public"."visits";

-- rejected 22023: a cursor; its query is run when rows are fetched, and states no cost
BEGIN; DECLARE "SQL_CUR0x1" CURSOR WITH HOLD FOR SELECT "visits"."region" AS "region", COUNT(1) AS "cnt:n:ok"
FROM "public"."visits" "visits" GROUP BY 1; FETCH 2048 IN "SQL_CUR0x1";

-- free: what follows an error
ROLLBACK;

-- free: a cursor over the values of a filter
BEGIN; DECLARE "SQL_CUR0x2" CURSOR WITH HOLD FOR SELECT "visits"."region" AS "region"
FROM "public"."visits" "visits" GROUP BY 1 ORDER BY 1 ASC NULLS FIRST; FETCH 2048 IN "SQL_CUR0x2"; COMMIT;

-- free: it outlives its transaction
FETCH 2048 IN "SQL_CUR0x2"; CLOSE "SQL_CUR0x2";

-- cost: how many rows there are
SELECT SUM(1) AS "sum:Number of Records:ok" FROM "public"."visits" "visits" HAVING (COUNT(1) > 0);

-- cost: by quarter
SELECT DATE_TRUNC('QUARTER', CAST("visits"."day" AS DATE)) AS "tqr:day:ok", SUM("visits"."cost") AS "sum:cost:ok"
FROM "public"."visits" "visits" WHERE ("visits"."region" IN ('north', 'south')) GROUP BY 1;

-- rejected 42501: an extract
SELECT "visits"."age" AS "age", "visits"."region" AS "region" FROM "public"."visits" "visits";
