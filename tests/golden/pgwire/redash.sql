-- Redash. After the public project getredash/redash (redash/query_runner/pg.py).
-- The wording is ours; tables, columns, functions and forms are those that the program uses.

-- free: is it there?
SELECT 1;

-- free: tables and columns
SELECT n.nspname AS table_schema, c.relname AS table_name, a.attname AS column_name, NULL AS data_type
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname NOT IN ('pg_catalog', 'information_schema')
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('m', 'f', 'p')
  AND has_table_privilege(n.nspname || '.' || quote_ident(c.relname), 'select')
UNION
SELECT table_schema, table_name, column_name, data_type FROM information_schema.columns
WHERE table_schema NOT IN ('pg_catalog', 'information_schema');

-- cost: a query with remarks around it
/* Username: ann@example.org, query_id: 12, Queue: queries, Job ID: 9 */ SELECT region, count(*) AS n
FROM visits GROUP BY 1;

-- free: the choices of a parameter
SELECT DISTINCT region AS value FROM visits ORDER BY 1;

-- rejected 42501
SELECT * FROM visits LIMIT 10;
