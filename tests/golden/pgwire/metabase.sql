-- Metabase, over PostgreSQL's JDBC driver. After the public project metabase/metabase
-- (src/metabase/driver/postgres.clj), and what it and PostgreSQL's JDBC driver are known to send
-- besides: that part was not held against their sources.
-- The wording is ours; tables, columns, functions and forms are those that the program uses.

-- free: the driver begins
SET extra_float_digits = 3;

-- free: the driver begins
SET application_name = 'Metabase v0.50';

-- free: a connection is tested
SELECT 1;

-- free: the zone of times
SHOW timezone;

-- free
SHOW TRANSACTION ISOLATION LEVEL;

-- free: read-only connections
SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY;

-- free: schemas
SELECT nspname AS table_schem, NULL AS table_catalog FROM pg_catalog.pg_namespace
WHERE nspname <> 'pg_toast' AND (nspname !~ '^pg_temp_'
  OR nspname = (pg_catalog.current_schemas(true))[1])
ORDER BY table_schem;

-- free: tables that may be read
WITH granted AS (
  SELECT NULL AS role, schemaname AS schema, tablename AS "table",
    pg_catalog.has_any_column_privilege('"' || schemaname || '"."' || tablename || '"', 'update') AS "update",
    pg_catalog.has_any_column_privilege('"' || schemaname || '"."' || tablename || '"', 'select') AS "select",
    pg_catalog.has_table_privilege('"' || schemaname || '"."' || tablename || '"', 'delete') AS "delete"
  FROM pg_catalog.pg_tables
  WHERE schemaname !~ '^pg_' AND schemaname <> 'information_schema'
    AND pg_catalog.has_schema_privilege(schemaname, 'usage')
)
SELECT g.* FROM granted g WHERE "select" OR "update" OR "delete";

-- free: tables, with an estimate of rows that is always 0
SELECT n.nspname AS schema, c.relname AS name, d.description, s.n_live_tup AS estimated_row_count
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_description AS d
  ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
LEFT JOIN pg_stat_user_tables AS s ON s.schemaname = n.nspname AND s.relname = c.relname
WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND c.relkind IN ('r', 'p', 'v', 'f', 'm')
ORDER BY schema, name;

-- free: columns
SELECT c.column_name AS name, format('%s', c.udt_name) AS "database-type",
  c.ordinal_position - 1 AS "database-position", pk.column_name IS NOT NULL AS "pk?",
  col_description(format('%I.%I', c.table_schema::text, c.table_name::text)::regclass::oid,
    c.ordinal_position) AS "field-comment",
  column_default IS NOT NULL AND column_default LIKE '%nextval(%' OR is_identity <> 'NO' AS "auto"
FROM information_schema.columns AS c
LEFT JOIN (
  SELECT t.table_schema, t.table_name, k.column_name
  FROM information_schema.table_constraints AS t
  JOIN information_schema.key_column_usage AS k
    ON k.constraint_name = t.constraint_name AND k.table_name = t.table_name
  WHERE t.constraint_type = 'PRIMARY KEY'
) AS pk ON pk.table_name = c.table_name AND pk.column_name = c.column_name
WHERE c.table_schema !~ '^information_schema|pg_' AND c.table_name IN ('visits', 'cities')
ORDER BY c.table_name, "database-position";

-- free: foreign keys
SELECT fn.nspname, ft.relname, fc.attname, pt.relname, pc.attname
FROM pg_constraint AS c
JOIN pg_class AS ft ON ft.oid = c.conrelid
JOIN pg_namespace AS fn ON fn.oid = c.connamespace
JOIN pg_attribute AS fc ON fc.attrelid = c.conrelid
JOIN pg_class AS pt ON pt.oid = c.confrelid
JOIN pg_attribute AS pc ON pc.attrelid = c.confrelid
WHERE c.contype = 'f'::char AND fc.attnum = ANY (c.conkey) AND pc.attnum = ANY (c.confkey);

-- free: indexes
SELECT i.name, trim(BOTH '"' FROM pg_catalog.pg_get_indexdef(i.number, i.place, false)) AS field
FROM (
  SELECT ct.relname AS name, ci.oid AS number,
    (information_schema._pg_expandarray(x.indkey)).n AS place
  FROM pg_catalog.pg_class AS ct
  JOIN pg_catalog.pg_index AS x ON x.indrelid = ct.oid
  JOIN pg_catalog.pg_class AS ci ON ci.oid = x.indexrelid
  WHERE pg_catalog.pg_get_expr(x.indpred, x.indrelid) IS NULL
) AS i WHERE i.place = 1;

-- free: enumerated types
SELECT n.nspname, t.typname FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
WHERE t.oid IN (SELECT DISTINCT enumtypid FROM pg_enum);

-- free: may the table be read?
SELECT TRUE AS "_" FROM "public"."visits" WHERE 1 <> 1 LIMIT 0;

-- rejected 42501: the fingerprint of a table reads rows
SELECT "public"."visits"."region" AS "region", SUBSTRING("public"."visits"."city", 1, 1234) AS "substring7"
FROM "public"."visits" LIMIT 10000;

-- free: the values of a field with declared values
SELECT "public"."visits"."region" AS "region" FROM "public"."visits"
GROUP BY "public"."visits"."region" ORDER BY "public"."visits"."region" ASC LIMIT 1001;

-- cost: the values of a field without declared values
SELECT "public"."visits"."city" AS "city" FROM "public"."visits"
GROUP BY "public"."visits"."city" ORDER BY "public"."visits"."city" ASC LIMIT 1001;

-- free: rows of a public table
SELECT "public"."cities"."city" AS "city", "public"."cities"."people" AS "people"
FROM "public"."cities" LIMIT 2000;

-- rejected 42501: rows of a private table
SELECT "public"."visits"."age" AS "age", "public"."visits"."day" AS "day" FROM "public"."visits" LIMIT 2000;

-- cost: a question with a remark before it
-- Metabase:: userID: 1 queryType: MBQL queryHash: 6a5d
SELECT "public"."visits"."region" AS "region", COUNT(*) AS "count" FROM "public"."visits"
GROUP BY "public"."visits"."region" ORDER BY "public"."visits"."region" ASC;

-- cost: by month, within stated times
SELECT CAST(DATE_TRUNC('month', "public"."visits"."day") AS date) AS "day", COUNT(*) AS "count"
FROM "public"."visits"
WHERE ("public"."visits"."day" >= DATE '2024-01-01') AND ("public"."visits"."day" < DATE '2024-07-01')
GROUP BY CAST(DATE_TRUNC('month', "public"."visits"."day") AS date)
ORDER BY CAST(DATE_TRUNC('month', "public"."visits"."day") AS date) ASC;

-- cost: a summary of a question
SELECT "source"."region" AS "region", SUM("source"."cost") AS "sum"
FROM (SELECT "public"."visits"."region" AS "region", "public"."visits"."cost" AS "cost"
  FROM "public"."visits") AS "source"
GROUP BY "source"."region" ORDER BY "source"."region" ASC;

-- cost: a filter of texts
SELECT AVG("public"."visits"."cost") AS "avg" FROM "public"."visits"
WHERE (LOWER("public"."visits"."region") LIKE '%nor%') OR ("public"."visits"."age" BETWEEN 18 AND 65);

-- rejected 0A000: the last 30 days
SELECT COUNT(*) AS "count" FROM "public"."visits"
WHERE ("public"."visits"."day" >= CAST((NOW() + INTERVAL '-30 day') AS date))
  AND ("public"."visits"."day" < CAST(NOW() AS date));
