"""From text to a tree: one SELECT of a bearable size, or a refusal that shows the place."""

# ruff: noqa: S608 - questions are made, not taken from anyone

import subprocess
import sys

import pytest
from sqlglot import exp

from discreet.errors import (
    QuestionError,
    QuestionSizeError,
    SqlSyntaxError,
    StatementError,
    UnsupportedError,
)
from discreet.query.parse import DEEPEST, LONGEST, canonical_text, parse
from discreet.written import written

SIMPLE = "SELECT COUNT(*) FROM visits"


@pytest.mark.parametrize(
    "text",
    [
        SIMPLE,
        f"{SIMPLE};",
        f"  {SIMPLE} ; ; ",
        f"\ufeff{SIMPLE}",
        f"{SIMPLE} -- at the end",
        f"/* before */ {SIMPLE}",
        "SELECT COUNT(*)\u00a0FROM\tvisits\r\n",
        "select count(*) from visits",
        "FROM visits SELECT COUNT(*)",
        f"({SIMPLE})",
        f"WITH v AS ({SIMPLE}) SELECT * FROM v",
        f"{SIMPLE} UNION ALL {SIMPLE}",
        "SELECT ';' AS a FROM visits",
        "SELECT COUNT(*) FROM visits WHERE note = '-- no comment; DROP TABLE visits'",
        'SELECT COUNT(*) FROM "table with; semicolon"',
    ],
)
def test_one_select_is_read(text: str) -> None:
    assert isinstance(parse(text), exp.Query)


def test_a_quote_that_only_escapes_close_is_a_syntax_error() -> None:
    with pytest.raises(SqlSyntaxError, match="ends inside a quoted text"):
        parse(rf"{SIMPLE} WHERE note = E'\'''")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("DELETE FROM visits", "DELETE is not allowed"),
        ("INSERT INTO visits VALUES (1)", "INSERT"),
        ("UPDATE visits SET cost = 0", "UPDATE"),
        ("CREATE TABLE t AS SELECT 1", "CREATE"),
        ("DROP TABLE visits", "DROP"),
        ("COPY visits TO 'v.csv'", "COPY"),
        ("ATTACH 'v.db'", "ATTACH"),
        ("PRAGMA threads", "PRAGMA"),
        ("SET threads = 1", "SET"),
        ("EXPLAIN SELECT 1", "EXPLAIN"),
        ("DESCRIBE visits", "DESCRIBE"),
        ("VALUES (1), (2)", "VALUES"),
        ("visits", "VISITS"),
        (";", "; is not allowed"),
        (f"{SIMPLE}; DROP TABLE visits", "must be a single statement"),
        (f"{SIMPLE}; {SIMPLE}", "must be a single statement"),
        ("WITH v AS (SELECT 1) DELETE FROM v", "only runs SELECT"),
    ],
)
def test_anything_else_is_refused(text: str, says: str) -> None:
    with pytest.raises(StatementError, match=says):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "-- nothing",
        "SELECT",
        "SELECT FROM visits",
        "SELECT COUNT(*) FROM (SELECT FROM visits)",
        "SELECT COUNT( FROM visits",
        "SELECT COUNT(*)) FROM visits",
        "SELECT COUNT(*) FROM",
        "SELECT COUNT(*) FROM visits WHERE",
        "SELECT COUNT(*) FROM visits WHERE note = 'open",
        'SELECT COUNT(*) FROM "open',
        "SELECT COUNT(*) FROM visits /* open",
        "SELECT COUNT(*) FROM visits GROUP BY",
        "SELECT * FROM (SELECT",
        "(",
        "SELECT 1 +",
        "SELECT COUNT(*) FROM visits\x00",
    ],
)
def test_what_is_not_sql_is_refused_without_a_parsers_words(text: str) -> None:
    with pytest.raises(SqlSyntaxError) as found:
        parse(text)
    found.value.text = text
    assert "sqlglot" not in str(found.value).lower()
    assert "Expecting" not in str(found.value)
    assert found.value.__cause__ is None


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("SELECT max() FROM visits", "duckdb"),
        ("SELECT approx_quantile() FROM visits", "duckdb"),
        ("SELECT COUNT(*) FROM visits WHERE date_add() > day", "bigquery"),
        ("SELECT COUNT(*) FROM visits WHERE regexp_extract() = 'a'", "bigquery"),
    ],
)
def test_a_function_without_its_arguments_is_refused(text: str, dialect: str) -> None:
    with pytest.raises(SqlSyntaxError, match="A function"):
        parse(written(text, dialect=dialect))


def test_a_refusal_points_at_the_place() -> None:
    text = "SELECT COUNT(*)\nFROM visits\nWHERE cost >> > 3"
    with pytest.raises(SqlSyntaxError) as found:
        parse(text)
    found.value.text = text
    assert "line 3" in str(found.value)
    assert str(found.value).splitlines()[1].strip() == "WHERE cost >> > 3"
    assert set(str(found.value).splitlines()[2].strip()) == {"^"}


@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + "(" * 10_000 + "1" + ")" * 10_000,
        "SELECT " + "[" * 10_000,
        "SELECT " + "CASE WHEN TRUE THEN " * 500 + "1" + " END" * 500,
        "SELECT " + "NOT " * 10_000 + "TRUE",
        "SELECT " + "- " * 10_000 + "1",
        "SELECT 1" + " + 1" * (DEEPEST + 1),
        "SELECT 1" + " = 1" * 900,
        "SELECT x" + ".y" * 1_900,
        "SELECT x" + "::INT" * 900,
        "SELECT " + "abs(" * 90 + "1" + ")" * 90 + "+ 1" * 90,
        "SELECT " + "a " * (LONGEST // 2),
        "SELECT '" + "a" * LONGEST + "'",
        "SELECT " + ", ".join(["a"] * 20_000),
        " UNION ".join(["SELECT 1"] * (DEEPEST + 2)),
    ],
    ids=lambda text: text[:24],
)
def test_a_question_too_large_is_refused_in_time(text: str) -> None:
    with pytest.raises((QuestionSizeError, SqlSyntaxError)):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) FROM v WHERE " + " AND ".join(["x > 1"] * 900),
        "SELECT COUNT(*) FROM v WHERE " + " OR ".join(["(x > 1 AND y < 2)"] * 200),
        "SELECT COUNT(*) FROM v WHERE x IN (" + ", ".join(map(str, range(5_000))) + ")",
        "SELECT 1" + " + 1" * 90,
        "SELECT " + "(" * 40 + "1" + ")" * 40,
        " UNION ALL ".join(["SELECT 1"] * 100),
    ],
    ids=lambda text: text[:40],
)
def test_large_questions_of_an_ordinary_make_are_read(text: str) -> None:
    assert isinstance(parse(text), exp.Query)


def test_every_refusal_is_one_sentence_about_the_question() -> None:
    for text in ("", ";", "DELETE FROM p", "SELECT '", f"{SIMPLE}; {SIMPLE}"):
        with pytest.raises(QuestionError) as found:
            parse(text)
        assert str(found.value).endswith(".")
        assert "\n" not in str(found.value)


def test_the_dialect_is_loaded_before_threads_can_ask_for_it() -> None:
    """Sqlglot looks a name up while another thread loads it, and does not find it."""
    code = (
        "from sqlglot.dialects.dialect import Dialect;"
        "from discreet.query.parse import DIALECT, parse;"
        "Dialect._try_load = None;"
        "parse('SELECT COUNT(*) FROM visits').sql(dialect=DIALECT)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)  # noqa: S603
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("sent", "canonical"),
    [
        ("select  COUNT(*)\n from Visits -- all;", "SELECT COUNT(*) FROM visits"),
        ("SELECT count(*) AS N FROM visits /* x */;", "SELECT COUNT(*) AS n FROM visits"),
        ("SELECT \"A b\" FROM t WHERE s = '-- X'", "SELECT \"A b\" FROM t WHERE s = '-- X'"),
        ("SELECT COUNT( FROM visits", None),
        ("DROP TABLE visits", None),
        ("", None),
        ("\x00", None),
    ],
)
def test_queries_that_are_written_differently_have_one_canonical_text(
    sent: str, canonical: str | None
) -> None:
    assert canonical_text(sent) == canonical
    if canonical is not None:
        assert canonical_text(canonical) == canonical


@pytest.mark.parametrize("text", ["1 day 02:30:00", "2 hours ago", "1 day,"])
@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_an_interval_of_which_a_part_would_be_lost_is_rejected(text: str, dialect: str) -> None:
    sql = f"SELECT COUNT(*) FROM visits WHERE day > DATE '2024-05-01' - INTERVAL '{text}'"
    with pytest.raises(UnsupportedError, match="made of numbers and units"):
        parse(written(sql, None, dialect))
    for whole in ("1 day 2 hours", "-3 days", "1.5 hours", " 2 weeks "):
        parse(written(sql.replace(text, whole), None, dialect))
