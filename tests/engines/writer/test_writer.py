"""SQL to the letter, for the shapes that everything else is made of."""

# ruff: noqa: S608 - these are the texts that are expected

import pytest

from discreet.catalog.schema import ColumnUnit, Kind, PathUnit, RowUnit
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.public_store import PublicStore
from discreet.engines.writer import write_expression, write_query, write_rows
from discreet.engines.writer.expressions import DEEPEST, Stages
from discreet.errors import QuestionSizeError, UnsupportedError
from discreet.query.expressions.facts import literal
from discreet.query.expressions.functions import call
from discreet.query.tree import (
    Call,
    ContributionBounding,
    ExactQuery,
    Expression,
    Facts,
    Relation,
    Scan,
)
from tests.engines.made import column, count, select, table_of

VISITS = table_of(
    "visits",
    ColumnUnit(column="patient_id"),
    patient_id=Kind.INTEGER,
    visit_id=Kind.INTEGER,
    cost=Kind.REAL,
    region=Kind.TEXT,
)
DRUGS = table_of(
    "drugs",
    PathUnit(column="visit", table="visits", key="visit_id"),
    visit=Kind.INTEGER,
    drug=Kind.TEXT,
)

EXPRESSIONS: list[tuple[Expression, str]] = [
    (call("greater", column("cost", Kind.REAL), literal(400.5)), '("v"."cost" > 400.5e0)'),
    (call("equal", column("n"), literal(-7)), '("v"."n" = (-7))'),
    (call("equal", column("s", Kind.TEXT), literal("O'Neil")), "(\"v\".\"s\" = 'O''Neil')"),
    (
        call("add", column("n"), literal(1)),
        'TRY_CAST(CAST(TRY_CAST("v"."n" AS BIGINT) AS HUGEINT) + CAST(1 AS BIGINT) AS BIGINT)',
    ),
    (
        call("subtract", call("clamp", column("n"), literal(0), literal(9)), literal(5)),
        '(CAST(CASE WHEN "v"."n" < 0 THEN 0 WHEN "v"."n" > 9 THEN 9 ELSE "v"."n" END AS BIGINT) '
        "- CAST(5 AS BIGINT))",
    ),
    (
        call("divide", call("multiply", column("x", Kind.REAL), literal(1.2)), literal(2.0)),
        'CASE WHEN isfinite((("v"."x" * 1.2e0) / 2.0e0)) THEN (("v"."x" * 1.2e0) / 2.0e0) END',
    ),
]


@pytest.mark.parametrize(("expression", "expected"), EXPRESSIONS)
def test_expressions_are_written_to_the_letter(expression: Expression, expected: str) -> None:
    assert write_expression(expression, DUCKDB) == expected


ROWS: list[tuple[Relation, str]] = [
    (
        select(Scan(table=VISITS), column("cost", Kind.REAL)),
        'SELECT "v"."__unit" AS "__unit", "v"."cost" AS "c0" FROM (SELECT "visits"."patient_id" AS '
        '"__unit", "visits"."cost" FROM "visits" WHERE "visits"."patient_id" IS NOT NULL) AS "v"',
    ),
    (
        Scan(table=table_of("t", RowUnit(), x=Kind.REAL)),
        'SELECT "t".rowid AS "__unit", "t"."x" FROM "t"',
    ),
    (
        Scan(table=DRUGS, parents=(VISITS,)),
        'SELECT "__1"."patient_id" AS "__unit", "__0"."visit", "__0"."drug" FROM "drugs" AS "__0" '
        'JOIN "visits" AS "__1" ON "__0"."visit" = "__1"."visit_id" '
        'WHERE "__1"."patient_id" IS NOT NULL',
    ),
]


@pytest.mark.parametrize(("rows", "expected"), ROWS)
def test_rows_are_written_to_the_letter(rows: Relation, expected: str) -> None:
    assert write_rows(rows, DUCKDB) == expected


SCAN = (
    'SELECT "visits"."patient_id" AS "__unit"{} FROM "visits" '
    'WHERE "visits"."patient_id" IS NOT NULL'
)
REGION = column("region", Kind.TEXT)

QUERIES: list[tuple[ExactQuery, str]] = [
    (
        count(VISITS, limit=12),
        'SELECT CAST(coalesce(sum(1 * "rows"), 0) AS HUGEINT) AS "s0" FROM '
        '(SELECT least(count(*), 12) AS "rows" FROM (' + SCAN.format("") + ') AS "all" '
        'GROUP BY "__unit") AS "bounded"',
    ),
    (
        count(VISITS, limit=12, keys=(REGION,)),
        'SELECT "k0", CAST(count(*) AS HUGEINT) * 1 AS "s0" FROM (SELECT * FROM '
        '(SELECT *, row_number() OVER (PARTITION BY "__unit" '
        'ORDER BY hash(\'discreet\', "__unit", "k0", "s0"), "k0", "s0") AS "rank" FROM '
        '(SELECT "v"."__unit" AS "__unit", "v"."region" AS "k0", 1 AS "s0" FROM ('
        + SCAN.format(', "visits"."region"')
        + ') AS "v") AS "rows") AS "ranked" WHERE "rank" <= 12) AS "bounded" '
        'GROUP BY "k0"',
    ),
    (
        count(VISITS, bounding=ContributionBounding.UNITS_ONLY, sums=()),
        'SELECT count(DISTINCT "__unit") AS "units" FROM (SELECT DISTINCT "__unit" FROM '
        '(SELECT "v"."__unit" AS "__unit" FROM (' + SCAN.format("") + ') AS "v") AS "rows") '
        'AS "bounded"',
    ),
]


@pytest.mark.parametrize(("query", "expected"), QUERIES)
def test_exact_queries_are_written_to_the_letter(query: ExactQuery, expected: str) -> None:
    assert write_query(query, DUCKDB) == expected


def test_a_function_off_the_list_is_never_written() -> None:
    unlisted = Call(function="getenv", arguments=(literal("HOME"),), facts=Facts(kind=Kind.TEXT))
    with pytest.raises(UnsupportedError, match="GETENV"):
        write_expression(unlisted, DUCKDB)


def test_a_path_that_ends_before_a_unit_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="path of drugs"):
        write_rows(Scan(table=DRUGS), DUCKDB)
    with pytest.raises(UnsupportedError, match="visits has both a unit and a path"):
        write_rows(Scan(table=VISITS, parents=(VISITS,)), DUCKDB)


def test_an_expression_as_deep_as_allowed_runs_and_a_deeper_one_is_refused() -> None:
    store = PublicStore()
    for name, more in (("add", literal(1)), ("divide", literal(1.5))):
        expression: Expression = column("x", more.facts.kind)
        for _ in range(DEEPEST):
            expression = call(name, expression, more)
        assert len(store.evaluate(expression, {("v", "x"): (more.value,)})) == 1
    with pytest.raises(QuestionSizeError, match="nested"):
        write_expression(deep(5000), DUCKDB)
    with pytest.raises(QuestionSizeError, match="nested"):
        write_query(count(select(Scan(table=VISITS), where=deep(5000))), DUCKDB)
    store.close()


def deep(levels: int) -> Expression:
    truth = call("is_null", column("cost", Kind.REAL))
    for _ in range(levels):
        truth = Call(function="not", arguments=(truth,), facts=truth.facts)
    return truth


def test_a_text_that_looks_like_a_step_is_a_text() -> None:
    stages = Stages('"v"')
    assert stages.column("concat('\"__step7\"')") == '"v"."__step0"'
    assert stages.column('sqrt("v"."__step0")') == '"v"."__step1"'
    inner, outer = 'SELECT "v".*, concat(\'"__step7"\') AS "__step0"', '"v"."__step0"'
    text = stages.around("x")
    assert text.index(outer) < text.index(inner)
