-- Power BI, over Npgsql. After the public project npgsql/npgsql (src/Npgsql/PostgresDatabaseInfo.cs)
-- and what Power Query's PostgreSQL connector is known to send, which is not public.
-- The wording is ours; tables, columns, functions and forms are those that the program uses.

-- free: types, in one batch
SELECT version();
SELECT n.nspname, t.oid, t.typname, t.typtype, t.typnotnull, t.inner_oid FROM (
  SELECT y.oid, y.typnamespace, y.typname, y.typnotnull, c.relkind,
    CASE WHEN p.proname = 'array_recv' THEN 'a' ELSE y.typtype END AS typtype,
    CASE WHEN p.proname = 'array_recv' THEN y.typelem
      WHEN y.typtype = 'r' THEN r.rngsubtype
      WHEN y.typtype = 'm' THEN (SELECT rngtypid FROM pg_range WHERE rngmultitypid = y.oid)
      WHEN y.typtype = 'd' THEN y.typbasetype END AS inner_oid
  FROM pg_type AS y
  LEFT JOIN pg_class AS c ON c.oid = y.typrelid
  LEFT JOIN pg_proc AS p ON p.oid = y.typreceive
  LEFT JOIN pg_range AS r ON r.rngtypid = y.oid
) AS t JOIN pg_namespace AS n ON n.oid = t.typnamespace
WHERE t.typtype IN ('b', 'r', 'm', 'e', 'd', 'a') OR (t.typtype = 'c' AND t.relkind = 'c');
SELECT y.oid, a.attname, a.atttypid FROM pg_type AS y
JOIN pg_class AS c ON c.oid = y.typrelid
JOIN pg_attribute AS a ON a.attrelid = y.typrelid
WHERE y.typtype = 'c' AND c.relkind = 'c' AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY y.oid, a.attnum;
SELECT y.oid, e.enumlabel FROM pg_enum AS e JOIN pg_type AS y ON y.oid = e.enumtypid
ORDER BY y.oid, e.enumsortorder;

-- free: a pooled connection is used again
DISCARD ALL;

-- free: tables
SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE FROM INFORMATION_SCHEMA.tables
WHERE TABLE_SCHEMA NOT IN ('information_schema', 'pg_catalog') ORDER BY TABLE_SCHEMA, TABLE_NAME;

-- free: columns
SELECT COLUMN_NAME, ORDINAL_POSITION, IS_NULLABLE,
  CASE WHEN (data_type LIKE '%unsigned%') THEN data_type || ' unsigned' ELSE data_type END AS DATA_TYPE
FROM INFORMATION_SCHEMA.columns WHERE TABLE_SCHEMA = 'public' AND TABLE_NAME = 'visits'
ORDER BY ORDINAL_POSITION;

-- free: relations of tables
SELECT f.COLUMN_NAME AS fk, p.TABLE_NAME AS pk_table, p.COLUMN_NAME AS pk
FROM INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS AS r
INNER JOIN INFORMATION_SCHEMA.KEY_COLUMN_USAGE AS f ON r.CONSTRAINT_NAME = f.CONSTRAINT_NAME
INNER JOIN INFORMATION_SCHEMA.KEY_COLUMN_USAGE AS p ON r.UNIQUE_CONSTRAINT_NAME = p.CONSTRAINT_NAME
WHERE f.TABLE_NAME = 'visits';

-- free: the columns of a query
SELECT * FROM (SELECT region, COUNT(*) AS n FROM visits GROUP BY region) "_" LIMIT 0;

-- rejected 42501: the preview of a table
SELECT "$Table"."region" AS "region", "$Table"."age" AS "age" FROM "public"."visits" "$Table" LIMIT 1000;

-- cost: a visual in DirectQuery
SELECT "_"."region", "_"."a0" FROM (
  SELECT "rows"."region" AS "region", count(1) AS "a0" FROM "public"."visits" "rows"
  GROUP BY "region") "_"
WHERE NOT "_"."a0" IS NULL LIMIT 1000001;

-- cost: a card
SELECT sum("rows"."cost") AS "a0" FROM "public"."visits" "rows" WHERE "rows"."region" = 'north';
