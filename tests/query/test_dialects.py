"""What is read is what PostgreSQL and BigQuery mean by it; all else is rejected."""

from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

from discreet.errors import QuestionError, QuestionSizeError, SqlSyntaxError, UnsupportedError
from discreet.query.parse import DIALECT, parse
from discreet.written import written
from tests.engines.on_postgresql import stored
from tests.forms.held import PEOPLE, are_same, differences, held, rows_of
from tests.postgresql import shared_server
from tests.properties.clinic import clinic
from tests.properties.databases import PUBLIC, catalog, table_of
from tests.properties.silence import silence

BIGQUERY: list[tuple[str, Any]] = [
    ("7 / 2", 3.5),
    ("DIV(-7, 2)", -3),
    ("MOD(-7, 3)", -1),
    ("'a' || NULL", None),
    ("CONCAT('a', NULL)", None),
    ("'A' LIKE 'a'", False),
    ("DATE_DIFF(DATE '2024-03-31', DATE '2024-01-01', DAY)", 90),
    ("DATE_DIFF(DATE '2024-03-01', DATE '2024-01-31', MONTH)", 2),
    ("DATE_DIFF(DATE '2017-10-15', DATE '2017-10-14', WEEK)", 1),
    ("DATE_DIFF(DATE '2017-10-15', DATE '2017-10-14', ISOWEEK)", 0),
    ("CAST(DATE_ADD(DATE '2008-12-25', INTERVAL 5 DAY) AS DATE)", date(2008, 12, 30)),
    ("CAST(DATE_SUB(DATE '2008-12-25', INTERVAL 5 DAY) AS DATE)", date(2008, 12, 20)),
    ("CAST(DATE_TRUNC(DATE '2008-12-25', MONTH) AS DATE)", date(2008, 12, 1)),
    ("CAST(DATE_TRUNC(DATE '2017-11-05', WEEK(MONDAY)) AS DATE)", date(2017, 10, 30)),
    ("CAST(DATE_TRUNC(DATE '2017-11-05', WEEK) AS DATE)", date(2017, 11, 5)),
    ("CAST(DATE_TRUNC(DATE '2017-11-05', ISOWEEK) AS DATE)", date(2017, 10, 30)),
    ("EXTRACT(DAYOFWEEK FROM DATE '2024-03-31')", 1),
    ("EXTRACT(ISOWEEK FROM DATE '2015-12-29')", 53),
    ("EXTRACT(ISOYEAR FROM DATE '2024-12-31')", 2025),
    ("EXTRACT(QUARTER FROM DATE '2024-12-31')", 4),
    ("SAFE_DIVIDE(20, 0)", None),
    ("SAFE_DIVIDE(20, 8)", 2.5),
    ("IF(10 < 20, 'true', 'false')", "true"),
    ("IFNULL(NULL, 0)", 0),
    ("CAST(2.5 AS INT64)", 3),
    ("CAST(-2.5 AS INT64)", -3),
    ("CAST(CAST(2.5 AS FLOAT64) AS INT64)", 3),
    ("CAST('12' AS INT64)", 12),
    ("SAFE_CAST('apple' AS INT64)", None),
    ("FORMAT_DATE('%Y-%m', DATE '2008-12-25')", "2008-12"),
    ("ROUND(2.5)", 3),
    ("ROUND(-2.5)", -3),
    ("TRUNC(-2.7)", -2),
    ("LOG(8, 2)", 3),
    ("LN(1)", 0),
    ("SUBSTR('apple', 2, 2)", "pp"),
    ("STRPOS('foo@example.com', '@')", 4),
    ("STARTS_WITH('bar', 'b')", True),
    ("GREATEST(1, NULL, 3)", None),
    ("LEAST(1, NULL, 3)", None),
    ("LENGTH('абвгд')", 5),
    ("3 IN UNNEST([1, 2, 3])", True),
    ("DATE(2016, 12, 25)", date(2016, 12, 25)),
    ("\"double\" = 'double'", True),
    ("LAST_DAY(DATE '2024-02-03')", date(2024, 2, 29)),
]
"""An expression and what BigQuery's manual says that it is."""

POSTGRESQL = """
7 / 2
-7 / 2
7 / 2.0
(7 / 2) / 2
div(7, 2)
div(div(7, 2), 2)
div(-7.5, 2)
7 % 3
-7 % 3
mod(-7, 3)
1 / 3::float8
'a' || NULL
'A' LIKE 'a'
'A' ILIKE 'a'
DATE '2024-03-31' - DATE '2024-01-01'
DATE '2024-01-31' + 3
DATE '2024-01-31' + INTERVAL '1 month'
date_trunc('month', TIMESTAMP '2024-03-31 10:00:00')
date_trunc('week', TIMESTAMP '2024-03-31 10:00:00')
extract(dow FROM DATE '2024-03-31')
extract(isodow FROM DATE '2024-03-31')
extract(week FROM DATE '2024-12-31')
extract(isoyear FROM DATE '2024-12-31')
extract(doy FROM DATE '2024-12-31')
extract(century FROM DATE '2000-01-01')
extract(decade FROM DATE '2024-12-31')
extract(quarter FROM DATE '2024-05-01')
extract(epoch FROM TIMESTAMP '2024-01-01 00:00:10.5')
extract(year FROM DATE '2024-05-01') / 10
date_part('year', DATE '2024-05-01')
to_date('2024-03-31', 'YYYY-MM-DD')
2.5::int
3.5::int
2.5::float8::int
3.5::float8::int
(1 / 2.0)::int
CAST(-5 / 2.0 AS int)
CAST(round(-5 / 2.0, 1) AS int)
(1 / 2.0::float8)::int
extract(epoch FROM TIMESTAMP '2024-01-01 00:00:10.5')::bigint
floor(1.5)::int
'12'::int
'a%' LIKE 'a\\%'
'ab' LIKE 'a\\%'
'ab' NOT LIKE 'a\\%'
'A_' ILIKE 'a\\_'
'a%' LIKE 'a#%' ESCAPE '#'
TRUE::int
round(2.5::numeric)
round(-2.5::numeric)
round(2.345::numeric, 2)
trunc(-2.7)
ceil(-1.5)
floor(-1.5)
log(100)
log(2, 8)
substr('hello', 2, 2)
substring('hello' from 2 for 2)
position('l' in 'hello')
strpos('hello', 'l')
to_char(DATE '2024-03-05', 'YYYY-MM-DD')
split_part('a-b', '-', 2)
concat('a', NULL, 'b')
greatest(1, NULL, 3)
least(1, NULL, 3)
coalesce(NULL, 2)
nullif(1, 1)
2 ^ 3
2 ^ 3 ^ 2
-2 ^ 2
left('hello', -2)
right('hello', -2)
length('héllo')
replace('aab', 'a', 'b')
3 = ANY(ARRAY[1, 2, 3])
'a' IS DISTINCT FROM NULL
power(2, 3)
sqrt(4)
sign(-3)
5::bigint / 2
make_date(2024, 1, 31)
CASE WHEN 1 = 1 THEN 'a' END
""".strip().splitlines()
"""Expressions that a PostgreSQL server is asked, too."""

REJECTED = [
    ("postgres", "B'101'"),
    ("postgres", "X'1F'"),
    ("postgres", "substr('hello', -1, 3)"),
    ("postgres", "substr('hello', 0, 3)"),
    ("postgres", "'abc' SIMILAR TO 'a%'"),
    ("postgres", "'abc' ~ 'b'"),
    ("postgres", "'abc'::varchar(2)"),
    ("postgres", "1.0::float8::text"),
    ("postgres", "to_char(DATE '2024-03-05', 'Mon')"),
    ("postgres", "initcap('a')"),
    ("postgres", "to_date('31.3.2024', 'DD.MM.YYYY')"),
    ("postgres", "to_date('2024-02-30', 'YYYY-MM-DD')"),
    ("bigquery", "PARSE_DATE('%Y-%m-%d', '2024-02-01')"),
    ("postgres", "md5('a')"),
    ("postgres", "age(DATE '2024-03-01', DATE '2024-01-01')"),
    ("postgres", "date_trunc('decade', DATE '2024-03-01')"),
    ("postgres", "extract(microseconds FROM TIMESTAMP '2024-03-01 00:00:01')"),
    ("postgres", "round(x)"),
    ("postgres", "x / 2"),
    ("postgres", "coalesce(1 / 2.0, 0)::int"),
    ("postgres", "(1, NULL) < (1, 2)"),
    ("postgres", "(1, NULL) = (1, 2)"),
    ("postgres", "(1, NULL) IN ((1, 2))"),
    ("postgres", "'01/02/2024'::date"),
    ("postgres", "'on'::boolean"),
    ("postgres", "'5x'::int"),
    ("postgres", "concat('a', true)"),
    ("postgres", "'a' || 1.0::float8"),
    ("bigquery", "SUBSTR('hello', 0, 3)"),
    ("bigquery", "EXTRACT(WEEK FROM DATE '2024-01-07')"),
    ("bigquery", "TIMESTAMP_DIFF(TIMESTAMP '2024-01-02', TIMESTAMP '2024-01-01', DAY)"),
    ("bigquery", "FORMAT('%d', 3)"),
    ("bigquery", "CAST(1.0 AS STRING)"),
    ("bigquery", "CAST(x AS INT64)"),
    ("bigquery", "FORMAT_DATE('%U', DATE '2024-01-07')"),
    ("bigquery", "DATE_TRUNC(DATE '2024-01-07', ISOYEAR)"),
    ("bigquery", "REGEXP_CONTAINS('a', 'a')"),
    ("bigquery", "GENERATE_UUID()"),
    ("bigquery", "RANGE_BUCKET(5, [0, 10])"),
]


def ours(sql: str, dialect: str) -> Any:
    """Return what DuckDB says of a constant, once it is read."""
    text = parse(written(f"SELECT {sql}", None, dialect)).sql(dialect=DIALECT)
    with duckdb.connect(":memory:") as database:
        return database.execute(text).fetchall()[0][0]


@pytest.mark.parametrize(("sql", "expected"), BIGQUERY)
def test_a_constant_is_what_bigquery_says(sql: str, expected: Any) -> None:
    found = ours(sql, "bigquery")
    assert (
        float(found) == pytest.approx(expected)
        if isinstance(expected, float)
        else found == expected
    )


@pytest.mark.postgresql
def test_constants_are_what_a_postgresql_server_says() -> None:
    wrong = {}
    with psycopg.connect(shared_server(), autocommit=True) as server:
        for sql in POSTGRESQL:
            (theirs,) = server.execute(f"SELECT {sql}").fetchone() or (None,)
            found = ours(sql, "postgres")
            if not are_same((found,), (theirs,)) or (found is None) != (theirs is None):
                wrong[sql] = (found, theirs)
    assert wrong == {}


@pytest.mark.parametrize(("dialect", "sql"), REJECTED)
def test_what_means_another_thing_is_rejected(dialect: str, sql: str) -> None:
    with pytest.raises(UnsupportedError):
        parse(written(f"SELECT {sql}, COUNT(*)", None, dialect))


QUESTIONS = Path(__file__).with_name("postgresql_questions.sql").read_text("utf-8").splitlines()


@pytest.mark.postgresql
def test_questions_are_answered_as_a_postgresql_server_answers_them() -> None:
    people = clinic(PEOPLE)
    tables = {name: table_of(name, rows) for name, rows in {**people.tables, **PUBLIC}.items()}
    schema, wrong = stored(tables), {}
    with psycopg.connect(shared_server(), autocommit=True) as server, held("prepared") as curator:
        server.execute(f"SET search_path = {schema}")
        for sql in QUESTIONS:
            theirs = server.execute(sql).fetchall()
            with silence():
                found = differences(rows_of(curator, sql, dialect="postgres"), theirs)
            if found:
                wrong[sql] = found
    assert wrong == {}
    assert len(QUESTIONS) > 30


@pytest.mark.parametrize("dialect", ["postgres", "bigquery"])
def test_limits_hold_in_every_dialect(dialect: str) -> None:
    def read(sql: str) -> None:
        parse(written(sql, None, dialect))

    for sql in ("SELECT " + "(" * 200 + "1" + ")" * 200, f"SELECT {'-' * 300} 1"):
        with pytest.raises((QuestionSizeError, SqlSyntaxError)):
            read(sql)
    with pytest.raises(QuestionSizeError):
        read("SELECT 1" + " " * 100_000)
    with pytest.raises(QuestionSizeError):
        read("SELECT " + "+".join(["1"] * 5_000))
    for sql in (
        "",
        "SELECT 1; SELECT 2",
        "DROP TABLE visits",
        "SELECT 'a",
        "SELECT \x00",
        "EXPLAIN",
    ):
        with pytest.raises(QuestionError):
            read(sql)


@pytest.mark.parametrize(
    ("dialect", "sql", "word"),
    [
        ("postgres", "SELECT COUNT(*)::int AS n FROM visits WHERE costt / 2.0 > 3", "costt"),
        ("postgres", "SELECT EXTRACT(DOW FROM dayy), COUNT(*) FROM visits GROUP BY 1", "dayy"),
        (
            "bigquery",
            "SELECT DATE_TRUNC(dayy, MONTH), COUNT(*) FROM visits GROUP BY 1",
            "dayy",
        ),
        ("bigquery", "SELECT COUNT(*) FROM `a.b.visit`", "`a.b.visit`"),
        ("bigquery", "SELECT SAFE_DIVIDE(SUM(costt), COUNT(*)) FROM visits", "costt"),
    ],
)
def test_an_error_shows_the_place_in_the_query_as_it_was_written(
    dialect: str, sql: str, word: str
) -> None:
    with held("prepared") as curator, pytest.raises(QuestionError) as found:
        curator.explain(sql, epsilon=1, dialect=dialect)
    assert found.value.text == sql
    assert found.value.span is not None
    assert sql[slice(*found.value.span)] == word


def test_the_types_of_the_catalog_decide_how_integers_are_divided() -> None:
    def told(sql: str) -> str:
        return parse(written(sql, None, "postgres"), catalog()).sql(dialect=DIALECT)

    assert told("SELECT COUNT(*) FROM visits WHERE minutes / 60 > 1").endswith("minutes // 60 > 1")
    assert told("SELECT COUNT(*) FROM visits WHERE cost / 60 > 1").endswith("cost / 60 > 1")
    both = "SELECT COUNT(*) FROM (SELECT cost AS minutes FROM visits) WHERE minutes / 60 > 1"
    with pytest.raises(UnsupportedError, match="depends on types"):
        told(both.replace("cost AS", "cost * 2 AS"))
