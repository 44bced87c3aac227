"""SQL made to leak, case by case: what must be answered alike, and what must be refused, by whom.

The table is that of `twins.py`; `docs/security-tests.md` says what each case is about.
"""

# ruff: noqa: S608 - questions are made, not taken from anyone

IF_VICTIM = "CASE WHEN id = 7 AND hiv THEN {} ELSE {} END"

SPOKEN, ONE = "'secret-' || pid", "'1'"


def secretly(value: str, otherwise: str) -> str:
    return IF_VICTIM.format(value, otherwise)


ANSWERED = {
    "S1": [
        f"SELECT COUNT(*) FROM p WHERE ({secretly('9223372036854775807', '0')}) + id > -1",
        f"SELECT COUNT(*) FROM p WHERE ({secretly('9223372036854775807', '1')}) * id > -1",
        f"SELECT COUNT(*) FROM p WHERE -({secretly('-9223372036854775808', '0')}) > -1",
        f"SELECT COUNT(*) FROM p WHERE abs({secretly('-9223372036854775808', '0')}) > -1",
        f"SELECT SUM(clamp(({secretly('9223372036854775807', '0')}) + age, 0, 9)) FROM p",
        f"SELECT MAX(clamp(({secretly('9223372036854775807', '0')}) + age, 0, 9)) FROM p",
        f"SELECT ({secretly('9223372036854775807', '0')}) + age > 0, COUNT(*) FROM p GROUP BY 1",
        "SELECT COUNT(*) FROM p WHERE x * 1e308 * 1e308 > 1",
        "SELECT SUM(clamp(t, 0, 50)) FROM"
        " (SELECT id, SUM(clamp(x * 1e308 * 2, 0, 5)) AS t FROM p GROUP BY id)",
        "SELECT COUNT(*) FROM p WHERE id > 99999999999999999999999999999999999999999999",
        "SELECT COUNT(*) FROM p WHERE d + age * 2147483647 > d OR d + CAST(x * 1e9 AS BIGINT) > d",
    ],
    "S3": [
        f"SELECT COUNT(*) FROM p WHERE ({secretly(SPOKEN, ONE)})::INT > 0",
        "SELECT COUNT(*) FROM p WHERE CAST(pid AS DATE) > DATE '2024-01-01'",
        "SELECT COUNT(*) FROM p WHERE CAST(s AS DOUBLE) > 0 OR CAST(s AS BOOLEAN)",
        "SELECT COUNT(*) FROM p WHERE CAST(x AS TINYINT) > 0 OR CAST(x AS DECIMAL(3, 2)) > 0",
        "SELECT COUNT(*) FROM p WHERE TRY_CAST(pid AS TIMESTAMP) IS NULL",
        "SELECT COUNT(*) FROM p WHERE make_date(2024, 2, age) > d",
        "SELECT COUNT(*) FROM p WHERE CAST(x * 1e300 AS INT) > CAST(x * 1e300 AS DECIMAL(5, 2))",
    ],
    "S4": [
        f"SELECT COUNT(*) FROM p WHERE 1 % ({secretly('0', '1')}) = 0",
        f"SELECT COUNT(*) FROM p WHERE 1 / ({secretly('0', '1')}) > 0",
        f"SELECT COUNT(*) FROM p WHERE 1 // ({secretly('0', '1')}) > 0",
        f"SELECT COUNT(*) FROM p WHERE mod(3, {secretly('0', '1')}) = 0",
        "SELECT COUNT(*) FROM p WHERE x / 0.0 > 1 OR ln(0) > 1 OR sqrt(-1) > 1 OR pow(0, -1) > 1",
        "SELECT COUNT(*) FROM p WHERE ln(x) > 0 OR sqrt(x) > 1 OR exp(x * 1000) > 1",
        "SELECT COUNT(*) FROM p WHERE pow(x, 0.5) > 0 OR log(x) > 0 OR x % 0 = 0",
        f"SELECT SUM(clamp(1 / ({secretly('0', '1')}), 0, 1)) FROM p",
        f"SELECT AVG(clamp(ln({secretly('0', '1')}), 0, 1)) FROM p",
        "SELECT COUNT(*) FROM p WHERE log(x, 0) > 0 OR log(0, x) > 0 OR x ** -1 > 0",
        "SELECT COUNT(*) FROM p WHERE round(x, 400) > 0 OR round(x, -400) > 0",
        "SELECT COUNT(*) FROM p WHERE substring(s, -9223372036854775808, 3) = 'a'",
    ],
    "S10": [
        "SELECT corr(x, age) FROM p",
        f"SELECT corr(x, clamp(1 / ({secretly('0', '1')}), 0, 1)) FROM p",
    ],
    "S12": [
        "SELECT COUNT(*) FROM p WHERE id = 7",
        "SELECT COUNT(*) FROM p WHERE id <> 7",
    ],
    "S7": [
        "SELECT COUNT(*) FROM p WHERE " + IF_VICTIM.format("regexp_matches(pid, 'x')", "TRUE"),
    ],
    "S8": [
        "SELECT COUNT(*) FROM p WHERE pid LIKE '%a%a%a%a%a%a%a%b'",
        "SELECT COUNT(*) FROM p WHERE s ~ '(a+)+$'",
        "SELECT COUNT(*) FROM p WHERE s SIMILAR TO '(a+)+'",
    ],
    "S14": [
        "SELECT pid, COUNT(*) FROM p GROUP BY pid",
        "SELECT pid FROM p GROUP BY pid",
        "SELECT lower(pid), COUNT(*) FROM p GROUP BY 1",
    ],
    "S15": [
        "SELECT age, COUNT(*) FROM p GROUP BY age",
        "SELECT d, COUNT(*), AVG(x) FROM p GROUP BY d",
        "SELECT s, hiv, COUNT(*), SUM(x), MEDIAN(x) FROM p GROUP BY s, hiv",
        "SELECT s, COUNT(*) FROM p WHERE s IN ('a', 'SECRET-7', 'nobody') GROUP BY s",
    ],
    "S21": [
        "SELECT COUNT(*) FROM p a JOIN p b ON a.id = b.id AND a.x <> b.x",
        "SELECT COUNT(*) FROM p a LEFT JOIN p b ON a.id = b.id AND b.hiv WHERE b.id IS NULL",
        "SELECT COUNT(*) FROM p WHERE id NOT IN (SELECT id FROM p WHERE hiv)",
        "SELECT COUNT(*) FROM p a WHERE NOT EXISTS (SELECT 1 FROM p b WHERE b.id = a.id AND b.hiv)",
        "SELECT COUNT(*) FROM p a FULL JOIN p b ON a.id = b.id",
        "SELECT COUNT(*) FROM p a RIGHT JOIN p b ON a.id = b.id",
        "SELECT COUNT(*) FROM p a SEMI JOIN p b ON a.id = b.id",
        "SELECT COUNT(*) FROM p a ANTI JOIN p b ON a.id = b.id AND b.hiv",
        "SELECT COUNT(*) FROM p a NATURAL JOIN p b",
        "SELECT COUNT(*) FROM (SELECT id FROM p EXCEPT SELECT id FROM p)",
        "SELECT COUNT(*) FROM (SELECT id FROM p INTERSECT SELECT id FROM p WHERE hiv)",
        "SELECT COUNT(*) FROM p a WHERE (SELECT COUNT(*) FROM p b WHERE b.id = a.id AND b.hiv) > 0",
        "SELECT COUNT(*) FROM (SELECT DISTINCT ON (id) id, hiv FROM p ORDER BY id, x) WHERE hiv",
        "SELECT COUNT(*) FROM (SELECT DISTINCT id, age FROM p)",
        "SELECT COUNT(*) FROM (SELECT id, x FROM p WHERE hiv UNION ALL SELECT id, age FROM p)",
    ],
    "S25": [
        "SELECT COUNT(*) FROM p WHERE pid IN (" + ", ".join(f"'u{n}'" for n in range(300)) + ")",
    ],
    "S27": [
        "SELECT COUNT(*) FROM (SELECT id, LAG(x) OVER (PARTITION BY id ORDER BY d) AS y FROM p)",
        "SELECT MEDIAN(x), MIN(x), MAX(x) FROM p",
    ],
    "S29": ["SELECT COUNT(*) FROM main.p"],
    "S30": [
        "SELECT COUNT(*) FROM p WHERE s = $$c$$",
        "SELECT COUNT(*) FROM p WHERE s = $$a'; DROP TABLE p; --$$",
        "SELECT COUNT(*) FROM p WHERE s = $$c; DROP TABLE p$$",
        "SELECT COUNT(*) FROM p WHERE s = 'b''; DROP TABLE p; --'",
        "SELECT COUNT(*) FROM p WHERE s = '\\' OR s = '\\'' OR hiv --'",
        "SELECT COUNT(*) FROM p /* a /* b */ */ WHERE s = 'd'",
        "SELECT /*+ X */ COUNT(*) FROM p /*!50000 WHERE hiv */ WHERE s = 'e' -- ; DROP TABLE p",
        "\ufeffSELECT COUNT(*) FROM p WHERE s = '\u202e'",
    ],
    "S31": [
        "SELECT COUNT(DISTINCT id) FROM (SELECT pid AS id FROM p)",
        "SELECT id, COUNT(*) FROM (SELECT s AS id, x FROM p) GROUP BY id",
        'WITH p AS (SELECT * FROM P WHERE "S" <> \'z\') SELECT COUNT(*) FROM "P"',
        "SELECT COUNT(*) AS a0_spread, COUNT(x) AS __spread FROM p AS information_schema",
    ],
    "S34": [
        "SELECT COUNT(*) FROM p WHERE x = 0.1 + 0.2",
        "SELECT COUNT(*) FROM p WHERE x IS DISTINCT FROM x",
        "SELECT COUNT(*) FROM p WHERE x > CAST('inf' AS DOUBLE) OR x = CAST('nan' AS DOUBLE)",
    ],
}

REFUSED = {
    "S14": [("SELECT CAST(id AS VARCHAR), COUNT(*) FROM p GROUP BY 1", "UnsupportedError")],
    "S1": [("SELECT SUM(id + 9223372036854775807) FROM p", "UnboundedError")],
    "S6": [
        (f"SELECT COUNT(*) FROM p WHERE {call} IS NULL", "UnsupportedError")
        for call in ("error('x')", "pg_sleep(1)", "getenv('HOME')", "query('x')", "md5(pid)")
    ]
    + [
        ("SELECT COUNT(*) FROM p WHERE raise_error('x') IS NULL", "UnknownNameError"),
        ("SELECT getenv('HOME'), COUNT(*) FROM p", "UnknownNameError"),
        ("SELECT COUNT(*), error('x') FROM p", "UnknownNameError"),
        ("SELECT COUNT(*) FROM p WHERE sleep(3)", "UnknownNameError"),
        ("SELECT COUNT(*) FROM p WHERE benchmark(100000000, 1)", "UnknownNameError"),
        ("SELECT COUNT(*) FROM p WHERE try(1 / 0) IS NULL", "UnsupportedError"),
        (
            "SELECT COUNT(*) FROM p WHERE list_transform([1], n -> error('a')) IS NULL",
            "UnsupportedError",
        ),
        ("SELECT COUNT(*) FROM p WHERE id << 63 > 0", "UnsupportedError"),
        ("SELECT COUNT(*) FROM p WHERE chr(id * 99999) = 'a'", "UnsupportedError"),
        ("SELECT COUNT(*) FROM p WHERE factorial(age) > 0", "UnsupportedError"),
        ("SELECT COUNT(*) FROM p WHERE strptime(pid, '%Y') > d", "UnsupportedError"),
        ("SELECT COUNT(*) FROM p WHERE date_trunc('nonsense', d) = d", "UnsupportedError"),
    ],
    "S7": [
        (f"SELECT COUNT(*) FROM p WHERE {IF_VICTIM.format(call, 'TRUE')}", "UnsupportedError")
        for call in (
            "length(repeat(pid, 50000000)) > 0",
            "length(lpad(pid, 50000000, 'x')) > 0",
        )
    ],
    "S8": [
        ("SELECT COUNT(*) FROM p WHERE s LIKE '" + "%a" * 5000 + "'", "QuestionSizeError"),
        ("SELECT COUNT(*) FROM p WHERE s LIKE '" + "%a" * 9 + "'", "QuestionSizeError"),
        ("SELECT COUNT(*) FROM p WHERE s LIKE pid", "UnsupportedError"),
        ("SELECT COUNT(*) FROM p WHERE pid GLOB '*a*'", "UnsupportedError"),
        ("SELECT COUNT(*) FROM p WHERE regexp_extract(pid, '(a+)+$') = ''", "UnsupportedError"),
        ("SELECT COUNT(*) FROM p WHERE levenshtein(pid, s) > 2", "UnsupportedError"),
    ],
    "S10": [("SELECT kurtosis(x) FROM p", "UnsupportedError")],
    "S11": [
        ("SELECT SUM(id) FROM p", "UnboundedError"),
        ("SELECT AVG(length(pid)) FROM p", "UnboundedError"),
    ],
    "S13": [
        ("SELECT * FROM p", "RowLevelError"),
        ("SELECT s FROM p LIMIT 1", "RowLevelError"),
        ("SELECT s FROM p", "RowLevelError"),
        ("SELECT 1 FROM p", "RowLevelError"),
        ("FROM p", "RowLevelError"),
        ("SELECT p FROM p", "UnknownNameError"),
        ("SELECT COUNT(*), p.* FROM p", "NotGroupedError"),
        ("SELECT COUNT(*), id FROM p", "NotGroupedError"),
        ("SELECT COUNT(*) FROM p GROUP BY id", "RowLevelError"),
        ("SELECT COUNT(*) FROM p WHERE (SELECT hiv FROM p WHERE id = 7)", "RowLevelError"),
        ("SELECT 'x' WHERE EXISTS (SELECT 1 FROM p WHERE hiv)", "RowLevelError"),
        ("SELECT 1 ORDER BY (SELECT hiv FROM p WHERE id = 7)", "RowLevelError"),
        (
            "SELECT s, COUNT(*) FROM p GROUP BY s ORDER BY (SELECT MIN(pid) FROM p)",
            "UnsupportedError",
        ),
        ("SELECT COUNT(*) FROM p LIMIT (SELECT id FROM p WHERE hiv)", "UnsupportedError"),
        ("SELECT MIN(pid) FROM p", "UnsupportedError"),
        ("SELECT MODE(pid) FROM p", "UnsupportedError"),
    ]
    + [
        (f"SELECT {name}(pid) FROM p", "UnsupportedError")
        for name in (
            *("any_value", "first", "last", "string_agg", "array_agg", "list", "histogram"),
            *("bool_or", "bool_and", "bit_and", "product", "entropy", "approx_top_k", "arg_max"),
        )
    ],
    "S18": [
        ("SELECT COUNT(*) FROM (SELECT * FROM p LIMIT 1)", "UnsupportedError"),
        ("SELECT COUNT(*) FROM (SELECT * FROM p OFFSET 1)", "UnsupportedError"),
        ("SELECT COUNT(*) FROM (SELECT * FROM p FETCH FIRST 1 ROW ONLY)", "UnsupportedError"),
        ("SELECT COUNT(*) FROM p TABLESAMPLE 10 PERCENT", "UnsupportedError"),
        ("SELECT COUNT(*) FROM p USING SAMPLE 5", "UnsupportedError"),
        ("SELECT COUNT(*) FROM (SELECT * FROM p ORDER BY x)", "UnsupportedError"),
        (
            "WITH q AS (SELECT * FROM p ORDER BY x LIMIT 1) SELECT COUNT(*) FROM q",
            "UnsupportedError",
        ),
        ("SELECT COUNT(*) FROM (FROM p QUALIFY row_number() OVER () = 1)", "UnsupportedError"),
        ("SELECT COUNT(*) FROM p WHERE rowid = 7", "UnknownNameError"),
        ("SELECT COUNT(*) FROM p WHERE ctid = '(0,1)'", "UnknownNameError"),
        ("SELECT COUNT(*) FROM p WHERE p.__unit = 7", "UnknownNameError"),
    ],
    "S21": [
        ("SELECT COUNT(*) FROM p a JOIN p b ON a.age = b.age", "JoinError"),
        ("SELECT COUNT(*) FROM p a JOIN p b ON a.id = b.id + 1", "JoinError"),
        ("SELECT COUNT(*) FROM p a JOIN p b ON a.id = b.id OR TRUE", "JoinError"),
        ("SELECT COUNT(*) FROM p a WHERE EXISTS (SELECT 1 FROM p b WHERE b.hiv)", "JoinError"),
        ("SELECT COUNT(*) FROM p WHERE age IN (SELECT age FROM p WHERE hiv)", "JoinError"),
        ("SELECT COUNT(*) FROM p a, p b", "JoinError"),
        ("SELECT COUNT(*) FROM p a ASOF JOIN p b ON a.id = b.id AND a.d >= b.d", "JoinError"),
        ("SELECT COUNT(*) FROM p a POSITIONAL JOIN p b", "JoinError"),
        (
            "SELECT COUNT(*) FROM p a CROSS JOIN LATERAL (SELECT * FROM p WHERE id = a.id)",
            "UnsupportedError",
        ),
        ("SELECT COUNT(*) FROM p a WHERE x > ALL (SELECT x FROM p)", "UnsupportedError"),
        (
            "WITH RECURSIVE r AS (SELECT id FROM p UNION ALL FROM r) SELECT COUNT(*) FROM r",
            "UnsupportedError",
        ),
    ],
    "S25": [
        (
            "SELECT COUNT(*) FROM p WHERE pid IN (" + ", ".join(["'u7'"] * 100_000) + ")",
            "QuestionSizeError",
        ),
    ],
    "S27": [
        ("SELECT COUNT(*) FROM (SELECT rank() OVER (ORDER BY x) AS r FROM p)", "UnsupportedError"),
        ("SELECT COUNT(*) FROM (SELECT ntile(4) OVER (ORDER BY x) FROM p)", "UnsupportedError"),
        ("SELECT SUM(y) FROM (SELECT lag(x) OVER (ORDER BY id) AS y FROM p)", "UnsupportedError"),
        ("SELECT DISTINCT ON (s) s, x FROM p", "UnsupportedError"),
    ],
    "S28": [
        (f"SELECT COUNT(*) FROM p WHERE {call} IS NULL", "NondeterministicError")
        for call in (
            *("random()", "now()", "current_user", "setseed(1)", "uuid()", "current_date"),
            *("gen_random_uuid()", "nextval('s')", "txid_current()", "current_setting('threads')"),
        )
    ]
    + [
        ("SELECT COUNT(*) + random() FROM p", "NondeterministicError"),
        ("SELECT COUNT(*), now() FROM p", "NondeterministicError"),
        ("SELECT COUNT(*) FROM p WHERE x > (SELECT random())", "NondeterministicError"),
    ],
    "S29": [
        ("SELECT COUNT(*) FROM read_csv('people.csv')", "UnsupportedError"),
        ("SELECT * FROM 'people.csv'", "UnknownNameError"),
        ("COPY p TO 'people.csv'", "StatementError"),
        ("ATTACH 'other.db'", "StatementError"),
        ("INSTALL httpfs", "StatementError"),
        ("PRAGMA database_list", "StatementError"),
        ("SET threads = 1", "StatementError"),
        ("CALL pragma_version()", "StatementError"),
        ("SELECT * FROM information_schema.tables", "UnknownNameError"),
        ("SELECT * FROM pg_catalog.pg_class", "UnknownNameError"),
        ("SELECT * FROM duckdb_tables()", "UnsupportedError"),
        ("SELECT * FROM duckdb_tables", "UnknownNameError"),
        ("SELECT * FROM query_table('p')", "UnsupportedError"),
        ("SELECT COUNT(*) INTO other FROM p", "UnsupportedError"),
        ("SELECT COUNT(*) FROM kept.p", "UnknownNameError"),
        ("SELECT COUNT(*) FROM p, range(10)", "UnsupportedError"),
        ("SELECT COUNT(*) FROM p, unnest([1, 2])", "UnsupportedError"),
        ("SELECT pg_read_file('x')", "UnknownNameError"),
        ("SELECT COUNT(*) FROM p FOR UPDATE", "UnsupportedError"),
        ("SELECT * FROM p PIVOT (COUNT(*) FOR s IN ('a'))", "UnsupportedError"),
    ]
    + [
        (statement, "StatementError")
        for statement in (
            *("DESCRIBE p", "SUMMARIZE p", "SHOW TABLES", "TABLE p", "VALUES (1)", "BEGIN"),
            *("EXPLAIN ANALYZE SELECT COUNT(*) FROM p", "CREATE TABLE q AS SELECT * FROM p"),
            *("DELETE FROM p", "UPDATE p SET x = 1", "INSERT INTO p SELECT * FROM p", "VACUUM"),
            *("PREPARE a AS SELECT 1", "EXECUTE a", "LOAD httpfs", "EXPORT DATABASE 'x'"),
            *("LISTEN x", "DO $$ BEGIN END $$", "ANALYZE", "CHECKPOINT", "PIVOT p ON s"),
        )
    ],
    "S30": [
        ("SELECT COUNT(*) FROM p; DROP TABLE p", "StatementError"),
        ("SELECT COUNT(*) FROM p; SELECT 1", "StatementError"),
        ("SELECT COUNT(*) FROM p WHERE s = 'a", "SqlSyntaxError"),
        ("SELECT COUNT(*) FROM p /* a", "SqlSyntaxError"),
        ("SELECT COUNT(*) FROM p WHERE s = \u2019a\u2019", "UnknownNameError"),
        ("SELECT COUNT(*) FROM p\x00", "SqlSyntaxError"),
        ("SELECT COUNT(*) FROM p WHERE s = '" + "a" * 1_000_000 + "'", "QuestionSizeError"),
        ("SELECT " + "(" * 10_000 + "1" + ")" * 10_000, "QuestionSizeError"),
        ("SELECT COUNT(*) FROM p WHERE " + "NOT " * 5_000 + "hiv", "QuestionSizeError"),
        ("SELECT COUNT(*) FROM p WHERE " + "- " * 500 + "x > 0", "QuestionSizeError"),
        ("SELECT COUNT(*) FROM p WHERE x" + " + x" * 1_500 + " > 0", "QuestionSizeError"),
        ("", "SqlSyntaxError"),
        (";", "StatementError"),
        ("SELECT", "SqlSyntaxError"),
        ("SELECT COUNT(*) FROM p WHERE s = E'\\''", "UnsupportedError"),
        ("SELECT COUNT(*) FROM p WHERE s = U&'\\0061'", "UnsupportedError"),
        ("SELECT\u200bCOUNT(*) FROM p", "StatementError"),
        ("SELECT COUNT(*) FROM p WHERE s = `a`", "SqlSyntaxError"),
        ("SELECT COUNT(*) FROM p WHERE s = ?", "PlaceholderError"),
        ("SELECT COUNT(*) FROM p WHERE s = $1", "PlaceholderError"),
        ("SELECT COUNT(*) FROM p WHERE x > 1e400", "UnsupportedError"),
        ("SELECT COUNT(*) FROM p WHERE x > \u0663", "UnknownNameError"),
    ],
    "S31": [
        ('SELECT * FROM "P"', "RowLevelError"),
        ('SELECT "ID", COUNT(*) FROM P GROUP BY "Id"', "RowLevelError"),
        ('SELECT COUNT(*) FROM "P""; --"', "UnknownNameError"),
        ('SELECT * FROM (SELECT * FROM p) AS "p"', "RowLevelError"),
        ("WITH q AS (SELECT * FROM p) SELECT * FROM q", "RowLevelError"),
        ("SELECT COUNT(*) FROM \u0440", "UnknownNameError"),
        ('SELECT COUNT(*) FROM "p "', "UnknownNameError"),
        ("SELECT * FROM released_0", "UnknownNameError"),
        (
            "WITH released_0 AS (SELECT 5 AS a0) SELECT COUNT(*) FROM p, released_0",
            "UnsupportedError",
        ),
        ("SELECT id AS __unit, COUNT(*) FROM p GROUP BY 1", "RowLevelError"),
    ],
    "S36": [
        ("SELECT COUNT(*) FROM p a, p b, p c", "JoinError"),
        (
            "SELECT COUNT(*) FROM p a"
            + "".join(f" JOIN p b{n} ON a.id = b{n}.id" for n in range(400)),
            "QuestionSizeError",
        ),
    ],
}
