-- DBeaver. After the public project dbeaver/dbeaver
-- (plugins/org.jkiss.dbeaver.ext.postgresql/src/org/jkiss/dbeaver/ext/postgresql/model/
-- PostgreDataSource.java, PostgreDatabase.java, PostgreSchema.java, PostgreExecutionContext.java).
-- The wording is ours; tables, columns, functions and forms are those that the program uses.

-- free
SET extra_float_digits = 3;

-- free
SET application_name = 'DBeaver 24.1 - Main <clinic>';

-- free
SELECT version();

-- free
SELECT current_schema(), session_user;

-- free
SHOW search_path;

-- free: where names are looked for
SELECT reset_val FROM pg_settings WHERE name = 'search_path';

-- free
SET search_path = public, "$user", pg_catalog;

-- free: databases
SELECT b.oid, b.*, pg_catalog.pg_encoding_to_char(b.encoding) FROM pg_catalog.pg_database b
WHERE b.datallowconn AND NOT b.datistemplate OR b.datname = current_database() ORDER BY b.datname;

-- free: how large it is
SELECT b.datname, pg_catalog.pg_database_size(b.oid) FROM pg_catalog.pg_database b
WHERE b.datname = current_database();

-- free: is a column there?
SELECT reltype FROM pg_catalog.pg_class WHERE 1 <> 1 LIMIT 1;

-- free: schemas
SELECT n.oid, n.*, d.description FROM pg_catalog.pg_namespace n
LEFT OUTER JOIN pg_catalog.pg_description d
  ON d.objoid = n.oid AND d.objsubid = 0 AND d.classoid = 'pg_namespace'::regclass
ORDER BY n.nspname;

-- free: tables
SELECT c.oid, c.*, d.description, pg_catalog.pg_get_expr(c.relpartbound, c.oid) AS part,
  pg_catalog.pg_get_partkeydef(c.oid) AS keys
FROM pg_catalog.pg_class c
LEFT OUTER JOIN pg_catalog.pg_description d
  ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'public')
  AND c.relkind NOT IN ('i', 'I', 'c');

-- free: columns
SELECT c.relname, a.*, pg_catalog.pg_get_expr(f.adbin, f.adrelid, true) AS def_value,
  d.description, p.objid
FROM pg_catalog.pg_attribute a
INNER JOIN pg_catalog.pg_class c ON a.attrelid = c.oid
LEFT OUTER JOIN pg_catalog.pg_attrdef f ON a.attrelid = f.adrelid AND a.attnum = f.adnum
LEFT OUTER JOIN pg_catalog.pg_description d ON c.oid = d.objoid AND a.attnum = d.objsubid
LEFT OUTER JOIN pg_depend p ON p.refobjid = a.attrelid AND p.deptype = 'i'
  AND p.refobjsubid = a.attnum AND p.classid = 'pg_class'::regclass
WHERE NOT a.attisdropped AND c.oid = 'public.visits'::regclass ORDER BY a.attnum;

-- free: types
SELECT t.oid, t.*, c.relkind, pg_catalog.format_type(nullif(t.typbasetype, 0), t.typtypmod) AS base,
  d.description
FROM pg_catalog.pg_type t
LEFT OUTER JOIN pg_catalog.pg_type e ON e.oid = t.typelem
LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid = d.objoid
WHERE t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c')
  AND (e.typcategory IS NULL OR e.typcategory <> 'C');

-- free: constraints
SELECT c.oid, c.*, t.relname AS tab, r.relnamespace AS other, d.description,
  pg_catalog.pg_get_constraintdef(c.oid, true) AS text
FROM pg_catalog.pg_constraint c
INNER JOIN pg_catalog.pg_class t ON t.oid = c.conrelid
LEFT OUTER JOIN pg_catalog.pg_class r ON r.oid = c.confrelid
LEFT OUTER JOIN pg_catalog.pg_description d
  ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_constraint'::regclass
WHERE c.conrelid = 'public.cities'::regclass ORDER BY c.oid;

-- free: indexes
SELECT i.*, i.indkey AS keys, c.relname, c.relam, t.relname AS tab, d.description,
  pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS pred, pg_catalog.pg_relation_size(i.indexrelid)
FROM pg_catalog.pg_index i
INNER JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
INNER JOIN pg_catalog.pg_class t ON t.oid = i.indrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON i.indexrelid = d.objoid
WHERE t.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'public') ORDER BY c.relname;

-- free: sizes of tables, which hold no rows
SELECT c.relname, pg_catalog.pg_total_relation_size(c.oid), pg_catalog.pg_relation_size(c.oid)
FROM pg_class c WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'public');

-- free: roles
SELECT a.oid, a.*, pg_catalog.shobj_description(a.oid, 'pg_authid') AS description
FROM pg_catalog.pg_roles a ORDER BY a.rolname;

-- free: words that are taken
SELECT string_agg(word, ',') FROM pg_catalog.pg_get_keywords() WHERE word <> ALL ('{a,abs}'::text[]);

-- free: inherited tables
SELECT i.*, c.relname FROM pg_catalog.pg_inherits i, pg_catalog.pg_class c
WHERE i.inhrelid = 'public.visits'::regclass AND c.oid = i.inhparent ORDER BY i.inhseqno;

-- free: triggers, rules, policies
SELECT x.oid, x.*, pg_catalog.pg_get_triggerdef(x.oid) FROM pg_catalog.pg_trigger x
WHERE x.tgrelid = 'public.visits'::regclass AND NOT x.tgisinternal;

-- rejected 42501: the rows of a table, as the data tab shows them
SELECT x.* FROM public.visits x LIMIT 200;

-- cost: the number of rows
SELECT count(*) FROM public.visits;

-- rejected 42501: the sessions of others
SELECT * FROM pg_catalog.pg_stat_activity;
