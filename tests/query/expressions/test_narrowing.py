"""What a WHERE tells about columns is true of every row that passes it, and is used."""

from datetime import date
from fractions import Fraction

import pytest

from discreet.catalog.schema import Value
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.writer import write_expression
from discreet.query.expressions.narrowing import narrow, with_facts
from discreet.query.expressions.translate import translate
from discreet.query.tree import Facts
from tests.query.expressions.known import EXPRESSIONS, FACTS, database, holds, known
from tests.query.nasty import Names, parsed

CONDITIONS = [
    *("cost BETWEEN 10 AND 100", "cost > 10.1 AND cost < 99", "10 <= cost", "NOT cost < 10"),
    *("age > 17.5", "age >= 18 OR age = 1", "age IN (1, 17)", "age NOT IN (1, 17)", "age = 17"),
    *("change IS NULL", "change IS NOT NULL", "change > 0", "NOT change > 0", "change + age > 3"),
    *("region = 'north'", "region <> 'north'", "region IN ('south', 'west')", "region > 'o'"),
    *("note LIKE '%a%'", "NOT note LIKE '%a%'", "note = 'flu' OR note = 'a b'", "note < 'b'"),
    *("insured", "NOT insured", "insured IS TRUE", "insured IS NOT TRUE", "insured = TRUE"),
    *("day >= '2024-02-01'", "day < TIMESTAMP '2024-03-31 12:00:00'", "visit > day"),
    *("day = DATE '2024-02-29'", "visit < '2024-05-01'", "NOT (age > 3 AND cost > 10)"),
    *(
        "NOT (age > 3 OR cost > 10)",
        "age > 3 AND (insured OR change > 1)",
        "coalesce(change, 1) = 1",
    ),
    *(
        "change IS NOT DISTINCT FROM 7",
        "change IS NOT DISTINCT FROM NULL",
        "change IS DISTINCT FROM 7",
    ),
    *(
        "wild > 1 AND wild <= 3.5",
        "age = 5 AND age = 6",
        "TRUE",
        "age > change",
        "NOT change IS NULL",
    ),
    *("CASE WHEN insured THEN age > 3 ELSE FALSE END", "change IN (1, NULL)", "change NOT IN (7)"),
]


def known_where(condition: str) -> dict[str, Facts]:
    found = narrow(translate(parsed(condition), Names(FACTS)))
    return {name: facts for (_, name), facts in found.items()}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_what_a_condition_tells_is_true_of_the_rows_that_pass(condition: str) -> None:
    where = write_expression(known(condition), DUCKDB)
    for name, facts in known_where(condition).items():
        rows = database().execute(f"SELECT {name} FROM t WHERE {where}").fetchall()  # noqa: S608
        assert [value for (value,) in rows if not holds(value, facts)] == []


@pytest.mark.parametrize("condition", CONDITIONS[::3])
def test_narrowed_facts_of_expressions_are_true_of_the_rows_that_pass(condition: str) -> None:
    predicate = translate(parsed(condition), Names(FACTS))
    where = write_expression(predicate, DUCKDB)
    for text in EXPRESSIONS[:40:2]:
        expression = with_facts(known(text), narrow(predicate))
        sql = f"SELECT {write_expression(expression, DUCKDB)} FROM t WHERE {where}"  # noqa: S608
        found = [value for (value,) in database().execute(sql).fetchall()]
        assert [value for value in found if not holds(value, expression.facts)] == []


@pytest.mark.parametrize(
    ("condition", "column", "low", "high"),
    [
        ("cost BETWEEN 10 AND 100", "cost", 10, 100),
        ("cost > 10.1 AND cost < 99.8", "cost", Fraction(41, 4), Fraction(399, 4)),
        ("age > 17", "age", 18, 120),
        ("age > 17.5 AND 65 > age", "age", 18, 64),
        ("age = 5 OR age IN (7, 9)", "age", 5, 9),
        ("NOT (age < 18 OR age > 65)", "age", 18, 65),
        ("cost > 600", "cost", 500, 500),
        ("wild > 1 AND wild <= 3.5", "wild", 1, Fraction(7, 2)),
        ("insured OR age > 5", "age", None, None),
    ],
)
def test_comparisons_tighten_bounds(
    condition: str, column: str, low: Fraction | None, high: Fraction | None
) -> None:
    facts = known_where(condition).get(column)
    assert (facts and (facts.interval.low, facts.interval.high)) == (low and (low, high))


@pytest.mark.parametrize(
    ("condition", "column", "domain"),
    [
        ("region = 'north'", "region", ("north",)),
        ("region <> 'north'", "region", ("south",)),
        ("region IN ('south', 'west')", "region", ("south",)),
        ("note IN ('flu', 'asthma', NULL)", "note", ("flu", "asthma")),
        ("note = 'flu' OR note = 'asthma'", "note", ("flu", "asthma")),
        ("note = 'flu' OR cost > 3", "note", None),
        ("insured", "insured", (True,)),
        ("NOT insured", "insured", (False,)),
        ("day IN ('2024-02-29')", "day", (date(2024, 2, 29),)),
        ("change IS NULL", "change", (None,)),
        ("age = 5 AND age = 6", "age", ()),
    ],
)
def test_lists_of_the_question_are_all_values(
    condition: str, column: str, domain: tuple[Value, ...] | None
) -> None:
    facts = known_where(condition).get(column)
    assert (None if facts is None else facts.domain) == domain


@pytest.mark.parametrize(
    "condition",
    [
        *("change IS NOT NULL", "change > 0", "abs(change) + 1 > 0", "NOT change = 3"),
        *("change IN (1, 2)", "change BETWEEN 1 AND 2", "change = 1 OR change + age = 2"),
        "round(change / 2) = 1 AND insured",
    ],
)
def test_what_is_compared_is_not_null(condition: str) -> None:
    assert not known_where(condition)["change"].nullable


@pytest.mark.parametrize(
    "condition",
    ["coalesce(change, 0) > 1", "change > 0 OR insured", "change IS DISTINCT FROM 1", "TRUE"],
)
def test_what_may_be_null_stays_so(condition: str) -> None:
    facts = known_where(condition).get("change")
    assert facts is None or facts.nullable


def test_narrowed_columns_tighten_the_expressions_over_them() -> None:
    where = known("cost BETWEEN 10 AND 100 AND age < 10")
    facts = with_facts(known("cost * 1.2 + age"), narrow(where)).facts
    assert (facts.interval.low, facts.interval.high) == (Fraction(12), Fraction(129))


def test_long_conditions_and_nested_cases_are_read() -> None:
    long = known(" OR ".join(f"age = {n}" for n in range(2000)))
    assert narrow(long)[("t", "age")].domain == tuple(range(2000))
    deep = "0"
    for n in range(12):
        deep = f"CASE WHEN age > {n} THEN age ELSE {deep} END"
    nested = with_facts(known(deep), narrow(known("age < 50")))
    assert nested.facts.interval.high == 49
