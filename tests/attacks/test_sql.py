"""SQL made to leak (cases S1 to S36): refused from its words alone, or answered alike by twins."""

# ruff: noqa: S608 - questions are made, not taken from anyone

from collections.abc import Iterator
from fractions import Fraction

import pyarrow as pa
import pytest

import discreet
from discreet.errors import JoinError
from tests.attacks.plans import plan_of
from tests.attacks.twins import DATABASES, SCHEMA, Twin, twin, twins

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
    ],
    "S3": [
        f"SELECT COUNT(*) FROM p WHERE ({secretly(SPOKEN, ONE)})::INT > 0",
        "SELECT COUNT(*) FROM p WHERE CAST(pid AS DATE) > DATE '2024-01-01'",
        "SELECT COUNT(*) FROM p WHERE CAST(s AS DOUBLE) > 0 OR CAST(s AS BOOLEAN)",
        "SELECT COUNT(*) FROM p WHERE CAST(x AS TINYINT) > 0 OR CAST(x AS DECIMAL(3, 2)) > 0",
        "SELECT COUNT(*) FROM p WHERE TRY_CAST(pid AS TIMESTAMP) IS NULL",
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
    ],
    "S12": [
        "SELECT COUNT(*) FROM p WHERE id = 7",
        "SELECT COUNT(*) FROM p WHERE id <> 7",
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
    ],
    "S25": [
        "SELECT COUNT(*) FROM p WHERE pid IN (" + ", ".join(f"'u{n}'" for n in range(300)) + ")",
    ],
    "S27": [
        "SELECT COUNT(*) FROM (SELECT id, LAG(x) OVER (PARTITION BY id ORDER BY d) AS y FROM p)",
        "SELECT MEDIAN(x), MIN(x), MAX(x) FROM p",
    ],
    "S34": [
        "SELECT COUNT(*) FROM p WHERE x = 0.1 + 0.2",
        "SELECT COUNT(*) FROM p WHERE x IS DISTINCT FROM x",
        "SELECT COUNT(*) FROM p WHERE x > CAST('inf' AS DOUBLE) OR x = CAST('nan' AS DOUBLE)",
    ],
}

REFUSED = {
    "S1": [("SELECT SUM(id + 9223372036854775807) FROM p", "UnboundedError")],
    "S6": [
        (f"SELECT COUNT(*) FROM p WHERE {call} IS NULL", "UnsupportedError")
        for call in ("error('x')", "pg_sleep(1)", "getenv('HOME')", "query('x')", "md5(pid)")
    ]
    + [
        ("SELECT COUNT(*) FROM p WHERE raise_error('x') IS NULL", "UnknownNameError"),
        ("SELECT getenv('HOME'), COUNT(*) FROM p", "UnknownNameError"),
        ("SELECT COUNT(*), error('x') FROM p", "UnknownNameError"),
    ],
    "S7": [
        (f"SELECT COUNT(*) FROM p WHERE {IF_VICTIM.format(call, 'TRUE')}", "UnsupportedError")
        for call in (
            "length(repeat(pid, 50000000)) > 0",
            "length(lpad(pid, 50000000, 'x')) > 0",
            "regexp_matches(pid, 'x')",
        )
    ],
    "S8": [
        ("SELECT COUNT(*) FROM p WHERE s ~ '(a+)+$'", "UnsupportedError"),
        ("SELECT COUNT(*) FROM p WHERE s SIMILAR TO '(a+)+'", "UnsupportedError"),
        ("SELECT COUNT(*) FROM p WHERE s LIKE '" + "%a" * 5000 + "'", "QuestionSizeError"),
    ],
    "S10": [("SELECT corr(x, age) FROM p", "UnsupportedError")],
    "S11": [
        ("SELECT SUM(id) FROM p", "UnboundedError"),
        ("SELECT AVG(length(pid)) FROM p", "UnboundedError"),
    ],
    "S13": [
        ("SELECT * FROM p", "RowLevelError"),
        ("SELECT s FROM p LIMIT 1", "RowLevelError"),
        ("SELECT s FROM p", "RowLevelError"),
        ("SELECT MIN(pid) FROM p", "UnsupportedError"),
        ("SELECT MODE(pid) FROM p", "UnsupportedError"),
    ]
    + [
        (f"SELECT {name}(pid) FROM p", "UnsupportedError")
        for name in ("any_value", "first", "last", "string_agg", "array_agg", "list", "histogram")
    ],
    "S18": [
        ("SELECT COUNT(*) FROM (SELECT * FROM p LIMIT 1)", "UnsupportedError"),
        ("SELECT COUNT(*) FROM (SELECT * FROM p OFFSET 1)", "UnsupportedError"),
        ("SELECT COUNT(*) FROM (SELECT * FROM p FETCH FIRST 1 ROW ONLY)", "UnsupportedError"),
        ("SELECT COUNT(*) FROM p TABLESAMPLE 10 PERCENT", "UnsupportedError"),
        ("SELECT COUNT(*) FROM p USING SAMPLE 5", "UnsupportedError"),
    ],
    "S21": [
        ("SELECT COUNT(*) FROM p a JOIN p b ON a.age = b.age", "JoinError"),
        ("SELECT COUNT(*) FROM p a JOIN p b ON a.id = b.id + 1", "JoinError"),
        ("SELECT COUNT(*) FROM p a JOIN p b ON a.id = b.id OR TRUE", "JoinError"),
        ("SELECT COUNT(*) FROM p a FULL JOIN p b ON a.id = b.id", "JoinError"),
        ("SELECT COUNT(*) FROM p a WHERE EXISTS (SELECT 1 FROM p b WHERE b.hiv)", "JoinError"),
        ("SELECT COUNT(*) FROM p WHERE age IN (SELECT age FROM p WHERE hiv)", "JoinError"),
        ("SELECT COUNT(*) FROM p a, p b", "JoinError"),
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
        for call in ("random()", "now()", "current_user", "setseed(1)", "uuid()", "current_date")
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
        ("SELECT * FROM information_schema.tables", "UnsupportedError"),
        ("SELECT * FROM pg_catalog.pg_class", "UnsupportedError"),
        ("SELECT * FROM duckdb_tables()", "UnsupportedError"),
        ("SELECT * FROM duckdb_tables", "UnknownNameError"),
        ("SELECT * FROM query_table('p')", "UnsupportedError"),
        ("SELECT COUNT(*) INTO other FROM p", "UnsupportedError"),
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
    ],
    "S31": [
        ('SELECT * FROM "P"', "RowLevelError"),
        ('SELECT "ID", COUNT(*) FROM P GROUP BY "Id"', "RowLevelError"),
        ('SELECT COUNT(*) FROM "P""; --"', "UnknownNameError"),
        ('SELECT * FROM (SELECT * FROM p) AS "p"', "RowLevelError"),
        ("WITH q AS (SELECT * FROM p) SELECT * FROM q", "RowLevelError"),
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


def cases(listed: dict[str, list[str]]) -> list[object]:
    return [
        pytest.param(sql, id=f"{case}-{number}")
        for case, sqls in listed.items()
        for number, sql in enumerate(sqls)
    ]


@pytest.fixture(scope="module")
def databases() -> Iterator[tuple[Twin, ...]]:
    opened = twins()
    yield opened
    for each in opened:
        each.curator.close()


@pytest.mark.parametrize("sql", cases(ANSWERED))
def test_twins_answer_alike(databases: tuple[Twin, ...], sql: str) -> None:
    """Whoever is in the data: same columns, keys, charge and explanation; no engine error."""
    present, absent, changed = (each.seen(sql) for each in databases)
    assert present.error == ""
    assert present.charged == 1
    assert present == absent == changed


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        pytest.param(sql, error, id=f"{case}-{number}")
        for case, listed in REFUSED.items()
        for number, (sql, error) in enumerate(listed)
    ],
)
def test_twins_refuse_alike(databases: tuple[Twin, ...], sql: str, error: str) -> None:
    """Whoever is in the data: same error, same words, no data read, nothing charged."""
    present, absent, changed = (each.seen(sql) for each in databases)
    assert present.error == error, present.words
    assert present == absent == changed
    assert len(present.words) < 1000


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT s, COUNT(*) AS n FROM p GROUP BY s HAVING COUNT(*) > 0",
        "SELECT s, COUNT(*) AS n FROM p GROUP BY s HAVING SUM(x) > 10",
        "SELECT s, COUNT(*) AS n FROM p GROUP BY s ORDER BY COUNT(*) LIMIT 1",
    ],
)
def test_s17_filters_and_orders_of_groups_see_noisy_numbers_only(sql: str) -> None:
    with twin("present").curator as curator:
        afterwards = plan_of(curator, sql).question.afterwards
        asked = [curator.ask(sql, epsilon=Fraction(n, 8)).rows for n in range(1, 9)]
    assert 'FROM "released_0"' in afterwards
    # Exact groups or numbers would be the same every time.
    assert len({tuple(map(str, rows)) for rows in asked}) > 3


def test_s12_both_halves_of_a_difference_are_charged() -> None:
    with twin("present").curator as curator:
        before = curator.remaining.epsilon
        for comparison in ("=", "<>"):
            sql = f"SELECT COUNT(*) FROM p WHERE id {comparison} 7"
            assert len(curator.ask(sql, epsilon=Fraction(1, 2)).rows) == 1
        assert before - curator.remaining.epsilon == 1


def test_s23_units_of_different_spelling_are_different_units() -> None:
    spelt = pa.table({"id": ["7", "07", "7.0", " 7", "7"], "x": [1.0] * 5})
    with discreet.open(spelt, name="p", unit="id", bounds={"x": (0, 1)}, epsilon=1000) as curator:
        (row,) = curator.ask("SELECT COUNT(DISTINCT id) AS n FROM p", epsilon=100).rows
    assert row["n"] == 4


def test_s23_units_of_different_kinds_do_not_meet() -> None:
    tables = {"p": pa.table({"id": [7]}), "q": pa.table({"id": ["7"]})}
    units = {"p": "id", "q": "id"}
    with (
        discreet.open(tables, unit=units, epsilon=10) as curator,
        pytest.raises(JoinError, match="different kinds"),
    ):
        curator.ask("SELECT COUNT(*) FROM p JOIN q ON p.id = q.id", epsilon=1)


def test_s24_a_list_of_guesses_is_bounded_and_charged() -> None:
    """A public table of ids can be joined, but each answer about it has noise and a price."""
    guesses = pa.table({"guess": range(20), "wave": [n % 2 for n in range(20)]})
    seen = []
    for rows in DATABASES.values():
        tables = {"p": pa.Table.from_pylist(rows, schema=SCHEMA), "g": guesses}
        curator = discreet.open(tables, unit={"p": "id"}, public=["g"], epsilon=10, delta=0.01)
        answer = curator.ask(
            "SELECT g.guess, COUNT(*) AS n FROM p JOIN g ON p.id = g.guess GROUP BY g.guess",
            epsilon=1,
        )
        seen.append(([row["guess"] for row in answer.rows], str(curator.remaining)))
        assert len({row["n"] for row in answer.rows}) > 1
        curator.close()
    assert seen[0] == seen[1] == seen[2]
    assert seen[0][0] == list(range(20))


@pytest.mark.parametrize(
    "other",
    [
        "select  count( * )\nfrom P where X>1 -- the same",
        "SELECT COUNT(*) FROM p WHERE x > 1.0",
        "SELECT COUNT(*) FROM p WHERE 1 < x",
        "SELECT COUNT(*) FROM p AS q WHERE q.x > 1",
        "SELECT COUNT(*) AS n FROM p WHERE x > 1",
        "SELECT COUNT(*) FROM p WHERE x > 1 AND TRUE",
        "SELECT COUNT(*) FROM p WHERE NOT x <= 1",
        "SELECT COUNT(*) FROM (SELECT * FROM p) WHERE x > 1",
        "SELECT COUNT(*) FROM p WHERE x > 1 LIMIT 1",
        "SELECT COUNT(id) FROM p WHERE x > 1",
    ],
)
def test_s32_a_question_is_free_only_with_the_numbers_that_were_paid_for(other: str) -> None:
    with twin("present").curator as curator:
        paid = curator.ask("SELECT COUNT(*) FROM p WHERE x > 1", epsilon=1)
        again = curator.ask(other, epsilon=1)
        numbers = [list(row.values()) for row in paid.rows]
        is_same = [list(row.values()) for row in again.rows] == numbers
        assert again.charged.epsilon == 1 or is_same
        spent = curator.remaining.total_epsilon - curator.remaining.epsilon
        assert spent == 1 + again.charged.epsilon


def test_s32_the_same_words_are_free_whatever_their_layout() -> None:
    asked = "SELECT s, SUM(y) FROM (SELECT id, s, x AS y FROM p) GROUP BY s"
    same = "select  s, sum(y)\n  from (select id, s, x as y from p) -- again\n group by s;"
    with twin("present").curator as curator:
        first, again = curator.ask(asked, epsilon=1), curator.ask(same, epsilon=1)
        assert again.is_free
        assert again.to_arrow().column(1).equals(first.to_arrow().column(1))
        assert not curator.ask("SELECT COUNT(*) FROM p", epsilon=1).is_free
        assert not curator.ask("SELECT COUNT(*) FROM p", epsilon=2).is_free
