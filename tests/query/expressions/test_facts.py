"""What is known of an expression holds for every row that keeps the catalog's promises."""

# ruff: noqa: S608 - the expressions are the tests' own

from collections.abc import Iterator
from datetime import datetime

import pytest

from discreet.catalog.schema import Value, number_from_time
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.writer import write_expression
from discreet.query.expressions.functions import FUNCTIONS
from discreet.query.tree import Expression
from tests.query.expressions.known import (
    EXPRESSIONS,
    FACTS,
    VALUES,
    database,
    holds,
    known,
)


def values(expression: Expression) -> Iterator[Value]:
    sql = f"SELECT {write_expression(expression, DUCKDB)} FROM t"
    for (value,) in database().execute(sql).fetchall():
        yield value


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_what_is_known_of_an_expression_is_true(text: str) -> None:
    expression = known(text)
    assert [each for each in values(expression) if not holds(each, expression.facts)] == []


def test_the_rows_of_these_tests_keep_their_promises() -> None:
    for name, facts in FACTS.items():
        assert all(holds(value, facts) for value in VALUES[name])


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("cost * 1.2 + age", 0, 720),
        ("least(greatest(wild, 0), 1000)", 0, 1000),
        ("clamp(wild, 0, 1000)", 0, 1000),
        ("CASE WHEN age > 60 THEN 1 ELSE 0 END", 0, 1),
        ("2024 - age", 1904, 2024),
        ("CASE WHEN cost BETWEEN 10 AND 100 THEN log10(cost) END", 1, 2),
        ("date_diff('day', DATE '2024-01-01', visit)", 0, 273),
        ("year(day)", 2023, 2024),
        ("month(visit)", 1, 9),
        ("ln(cost)", None, None),
        ("1 / cost", None, None),
        ("CAST(note AS INTEGER)", None, None),
    ],
)
def test_bounds_come_from_the_expression(text: str, low: int | None, high: int | None) -> None:
    interval = known(text).facts.interval
    assert interval.low is None if low is None else interval.low == low
    if high is not None:
        assert interval.high == high


def test_months_of_bounded_dates_are_known() -> None:
    interval = known("date_trunc('month', day)").facts.interval
    assert interval.low == number_from_time(datetime(2023, 11, 1))
    assert interval.high == number_from_time(datetime(2024, 12, 1))


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("CASE WHEN age >= 65 THEN 'old' ELSE 'young' END", ("old", "young")),
        ("CASE WHEN age >= 65 THEN 'old' END", ("old", None)),
        ("CASE WHEN age >= 65 THEN region ELSE 'young' END", ("north", "south", "young")),
        ("coalesce(insured, FALSE)", (False, True)),
        ("if(insured, 1, 2)", (1, 2)),
        ("age > 3", (False, True)),
        ("change > 3", (False, True, None)),
        ("region", ("north", "south")),
        ("upper(region)", None),
        ("age + 1", None),
    ],
)
def test_all_values_of_a_choice_are_known(text: str, domain: tuple[Value, ...] | None) -> None:
    assert known(text).facts.domain == domain


def test_every_function_says_what_it_means() -> None:
    assert all(name == each.name and each.meaning for name, each in FUNCTIONS.items())
    assert all(max(each.literals, default=0) < len(each.accepts) for each in FUNCTIONS.values())
