-- Grafana's PostgreSQL data source. After the public project grafana/grafana
-- (public/app/plugins/datasource/grafana-postgresql-datasource/postgresMetaQuery.ts,
-- pkg/tsdb/grafana-postgresql-datasource/macros.go, .../sqleng/handler_checkhealth.go).
-- The wording is ours; tables, columns, functions and forms are those that the program uses.

-- free: is it there?
SELECT 1;

-- free: which version
SELECT current_setting('server_version_num')::int / 100 AS version;

-- free: is there TimescaleDB?
SELECT extversion FROM pg_extension WHERE extname = 'timescaledb';

-- free: schemas
SELECT schema_name AS name FROM information_schema.schemata
WHERE schema_name NOT IN ('information_schema', 'pg_catalog', 'pg_toast') ORDER BY schema_name;

-- free: tables on the search path
SELECT CASE WHEN quote_ident(table_schema) IN (
    SELECT CASE WHEN trim(p[i]) = '"$user"' THEN user ELSE trim(p[i]) END
    FROM generate_series(array_lower(string_to_array(current_setting('search_path'), ','), 1),
      array_upper(string_to_array(current_setting('search_path'), ','), 1)) AS i,
      string_to_array(current_setting('search_path'), ',') AS p)
  THEN quote_ident(table_name)
  ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table"
FROM information_schema.tables
WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog') ORDER BY 1;

-- free: columns of a table
SELECT quote_ident(column_name) AS "column", data_type AS "type" FROM information_schema.columns
WHERE CASE WHEN array_length(parse_ident('visits'), 1) = 2
  THEN quote_ident(table_schema) = (parse_ident('visits'))[1]
  ELSE quote_ident(table_name) = 'visits' END;

-- free: the values of a variable
SELECT DISTINCT region FROM visits;

-- cost: $__timeFilter, and $__timeGroup of a day
SELECT floor(extract(epoch from "at")/86400)*86400 AS "time", count(*) AS value
FROM visits WHERE "at" BETWEEN '2024-01-01T00:00:00Z' AND '2024-01-31T23:59:59.999Z'
GROUP BY 1 ORDER BY 1;

-- cost: with a metric column
SELECT floor(extract(epoch from "at")/86400)*86400 AS "time", region AS metric, avg(cost) AS value
FROM visits WHERE "at" BETWEEN '2024-01-01T00:00:00Z' AND '2024-01-31T00:00:00Z'
GROUP BY 1, 2 ORDER BY 1, 2;

-- cost: the query builder
SELECT COUNT(region), region FROM visits GROUP BY region LIMIT 50;

-- cost: $__timeFrom and $__timeTo
SELECT count(*) FROM visits WHERE "at" >= '2024-01-01T00:00:00Z' AND "at" < '2024-02-01T00:00:00Z';

-- rejected 42501: the query builder before an aggregate is chosen
SELECT region, age FROM visits LIMIT 50;

-- cost: the filter on a column of dates, which needs a cast
SELECT region AS metric, count(*) AS value FROM visits
WHERE CAST("day" AS timestamp) BETWEEN '2024-01-01T00:00:00Z' AND '2024-03-31T00:00:00Z' GROUP BY 1;

-- rejected 0A000: the filter on a column of dates
SELECT count(*) AS value FROM visits
WHERE "day" BETWEEN '2024-01-01T00:00:00Z' AND '2024-03-31T00:00:00Z';
