"""Questions whose releases, SQL and names are held fixed, and the plans that they have."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from fractions import Fraction
from functools import cache
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from sqlglot import exp

import discreet
from discreet.bounds.histogram import column_named, histogram_question
from discreet.catalog import Accounting, Catalog
from discreet.catalog.catalog import RowChoice
from discreet.curator import Curator
from discreet.mechanisms import Neighbours
from discreet.query.check import check, private_select
from discreet.query.check.filtered_rows import Rebase
from discreet.query.check.joins import Joined
from discreet.query.check.unit_groups import unit_aggregate
from discreet.query.parse import parse
from discreet.query.plan import Plan, make_plan, noise_choice, strategy
from discreet.query.plan.bounded_rows import with_bounded_rows
from discreet.query.plan.components import OF_ROWS, group_statistics
from discreet.query.plan.plan import EpsilonTarget
from discreet.query.questions import Aggregate, Aggregation, Question, Statistic
from discreet.query.tree import Interval, UnitAggregate, UnitFunction
from tests.attacks.clinic import golden as questions_of
from tests.attacks.clinic import opened

NEEDS_BOUNDS = "SELECT AVG(CLAMP(n, 0, 50)) FROM (SELECT patient_id, SUM(CASE WHEN cost > "
"""How a question begins that version 0.1 answered without bounds: as SELECT AVG(n)."""


def _asked_before(sql: str) -> str:
    is_one = sql.startswith(NEEDS_BOUNDS)
    return sql.replace("CLAMP(n, 0, 50)", "n", 1) if is_one else sql


CORPUS = [
    _asked_before(each["sql"])
    for name in ("corpus", "shapes")
    for each in questions_of(name)["answer"]
]

WAYS: dict[str, tuple[RowChoice, Accounting, Neighbours]] = {
    "prepared": (RowChoice.ONCE, Accounting.BASIC, Neighbours.ADD_REMOVE),
    "per-query": (RowChoice.PER_QUERY, Accounting.BASIC, Neighbours.ADD_REMOVE),
    "concentrated": (RowChoice.ONCE, Accounting.CONCENTRATED, Neighbours.ADD_REMOVE),
    "replaced": (RowChoice.PER_QUERY, Accounting.BASIC, Neighbours.REPLACE),
}
"""How a question may be planned: when rows are chosen, how charges add up, who are neighbours."""

KINDS = (
    "SELECT COUNT(*) FROM kinds WHERE d > DATE '2024-02-29'",
    "SELECT COUNT(*) FROM kinds WHERE t < TIMESTAMP '2024-03-01 12:30:00'",
    "SELECT COUNT(*), AVG(clamp(y, 0, 2.5)) FROM kinds WHERE z >= m",
    "SELECT COUNT(*) FROM kinds WHERE d + INTERVAL 1 MONTH > DATE '2024-02-29' OR t IS NULL",
    "SELECT b, COUNT(*) FROM kinds GROUP BY b",
    "SELECT s, AVG(x), SUM(i) FROM kinds GROUP BY s",
    "SELECT f, m, COUNT(*) FROM kinds GROUP BY f, m",
    "SELECT d, COUNT(*) FROM kinds GROUP BY d",
    "SELECT w, COUNT(*) FROM kinds GROUP BY w",
    "SELECT SUM(x * 1.5 + 2) FROM kinds WHERE x <> 0.1 AND NOT b AND s IN ('a', 'ü', NULL)",
    "SELECT MEDIAN(x), MODE(s), MIN(i), MAX(i), COUNT(DISTINCT s), SUM(DISTINCT i) FROM kinds",
    "SELECT VAR_SAMP(x), VAR_POP(x), STDDEV_SAMP(i), STDDEV_POP(i) FROM kinds",
    "SELECT QUANTILE_CONT(x, 0.25), QUANTILE_DISC(i, 0.75), COUNT(o), COUNT(x) FROM kinds",
    "SELECT COUNT(*) FROM lines",
    "SELECT COUNT(*) FROM lines JOIN orders USING (number) WHERE orders.paid",
)
"""Over tables with columns of all kinds, units that are rows, keys, and paths of two steps."""

UNITS = (
    "SELECT AVG(clamp(a, 0, 9)), SUM(clamp(b, 0, 9)), COUNT(*) FROM (SELECT patient_id, "
    "COUNT(*) AS a, COUNT(note) AS b, COUNT(DISTINCT diagnosis) AS c, AVG(cost) AS d "
    "FROM visits GROUP BY patient_id) WHERE c > 1 AND d < 100",
    "SELECT SUM(clamp(a, 0, 9)), AVG(clamp(b, 0, 9)), MAX(clamp(c, 0, 9)), COUNT(*) "
    "FROM (SELECT patient_id, diagnosis, MIN(cost) AS a, MAX(minutes) AS b, MEDIAN(cost) AS c "
    "FROM visits GROUP BY patient_id, diagnosis)",
    *(
        f"SELECT COUNT(*) FROM (SELECT patient_id, {function} OVER ({over}) AS w FROM visits) "  # noqa: S608 - ours
        "WHERE w > 3"
        for functions, over in (
            (
                ("ROW_NUMBER()", "RANK()", "DENSE_RANK()", "LAG(minutes)", "LEAD(minutes, 2)"),
                "PARTITION BY patient_id, diagnosis ORDER BY day DESC",
            ),
            (
                ("FIRST_VALUE(minutes)", "LAST_VALUE(minutes)", "COUNT(note)", "COUNT(*)"),
                "PARTITION BY patient_id ORDER BY day NULLS FIRST "
                "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
            ),
            (("SUM(minutes)", "MIN(cost)", "MAX(cost)"), "PARTITION BY patient_id"),
        )
        for function in functions
    ),
)
"""Over the corpus' tables: whatever can be computed of one unit's rows."""

FOUND = ("kinds.i", "kinds.y", "kinds.d", "kinds.t", "kinds.z", "lines.amount", "orders.number")
"""Columns of each kind that bounds are found for."""


@cache
def clinic() -> Curator:
    """Return a curator of the corpus' tables."""
    return opened()


@cache
def every_kind() -> Curator:
    """Return a curator of small tables with columns and declarations of every kind."""
    moment = datetime(2024, 3, 1, 12)
    kinds = pa.table(
        {
            "b": [True],
            "i": [1],
            "x": [0.5],
            "y": [0.5],
            "f": [0.5],
            "s": ["a"],
            "d": [date(2024, 3, 1)],
            "t": pa.array([moment], pa.timestamp("us")),
            "w": pa.array([moment], pa.timestamp("us")),
            "z": pa.array([moment.replace(tzinfo=UTC)], pa.timestamp("us", tz="UTC")),
            "m": pa.array([moment.replace(tzinfo=UTC)], pa.timestamp("us", tz="UTC")),
            "o": pa.array([[1]]),
        }
    )
    given: dict[str, Any] = {
        "kinds": kinds,
        "customers": pa.table({"customer": [1], "since": [date(2024, 3, 1)]}),
        "orders": pa.table({"number": [1], "customer": [1], "paid": [True]}),
        "lines": pa.table({"number": [1], "amount": pa.array([1], pa.decimal128(9, 2))}),
    }
    return discreet.open(
        given,
        epsilon=100,
        delta=0.01,
        unit={
            "kinds": "row",
            "customers": "customer",
            "orders": "customers.customer via customer",
            "lines": "orders.customer via number",
        },
        bounds={
            "kinds.x": (0, 1.5),
            "kinds.y": "AUTO",
            "kinds.i": (-5, 10**6),
            "kinds.t": ("2024-01-01", "2025-01-01"),
        },
        step={"kinds.i": 5, "kinds.x": 0.01},
        nulls={"kinds.b": True, "kinds.s": False},
        values={
            "kinds.f": [0.1, 1e300, -2],
            "kinds.s": ["a", "ü", "it's"],
            "kinds.d": [date(2024, 3, 1), "2024-03-02"],
            "kinds.w": [moment, "2024-03-02T00:00:00.000001"],
            "kinds.m": ["2024-03-01T12:00:00+02:00"],
        },
        rows_per_unit={"customers": 2, "lines": 7},
    )


def catalog_of(curator: Curator, way: str) -> Catalog:
    """Return a curator's catalog, with questions planned this way."""
    choice, accounting, neighbours = WAYS[way]
    catalog = curator.catalog
    return replace(
        catalog,
        source=replace(catalog.source, row_choice=choice),
        budget=replace(catalog.budget, accounting=accounting, neighbours=neighbours),
    )


def plan_of(curator: Curator, sql: str, way: str) -> Plan:
    """Return the plan of a question at the price of 1, with groups selected as in version 0.1.

    Groups that are selected by other noise are another release, of another name.
    """
    catalog = catalog_of(curator, way)
    question = _checked(curator, sql, catalog)
    with (
        patch.object(noise_choice, "_gaussian_selection", return_value=None),
        patch.object(strategy, "selects_by_rows", _counts_rows_alone),
    ):
        return make_plan(with_bounded_rows(question, catalog), EpsilonTarget(1), catalog.budget)


def _counts_rows_alone(release: Aggregation, _: int | None) -> bool:
    """Return whether version 0.1 selected groups by rows: where COUNT(*) is asked for alone."""
    families = group_statistics(each for each in release.aggregates if each.statistic in OF_ROWS)
    units = any(each.statistic is Statistic.COUNT_UNITS for each in release.aggregates)
    return [each.argument for each in families] == [None] and not units


def _checked(curator: Curator, sql: str, catalog: Catalog) -> Question:
    """Return a question as version 0.1 read it, where ROW_NUMBER did not limit the rows of a unit.

    With a limit of its own it is another release, of another name. And numbers per unit had the
    contribution limit as a bound.
    """
    with (
        patch.object(private_select, "picked_by_where", _as_joined),
        patch.object(private_select, "picked_by_qualify", _as_joined),
        patch.object(private_select, "unit_aggregate", _as_limited),
    ):
        return check(parse(sql), catalog, curator._public)


def _as_limited(
    name: str, aggregate: Aggregate, rebase: Rebase, node: exp.Expr, *, is_single_row: bool
) -> UnitAggregate:
    made = unit_aggregate(name, aggregate, rebase, node, is_single_row=is_single_row)
    if made.function is UnitFunction.SUM and made.argument is not None:
        found = made.argument.facts.interval
        low, high = found.low or Fraction(0), found.high or Fraction(0)
        interval = Interval(low=min(low, LIMIT * low), high=max(high, LIMIT * high))
    elif made.facts.interval.high is None:
        interval = Interval(low=made.facts.interval.low, high=Fraction(LIMIT))
    else:
        return made
    return replace(made, facts=replace(made.facts, interval=interval))


LIMIT = 12
"""The contribution limit of visits."""


def _as_joined(joined: Joined, *_: object) -> Joined:
    return joined


def plan_of_bins(curator: Curator, column: str, way: str) -> Plan:
    """Return the plan of the question that the bounds of a column are read off."""
    catalog = catalog_of(curator, way)
    question = histogram_question(column_named(catalog, column), catalog, curator._public)
    return make_plan(
        with_bounded_rows(question, catalog), EpsilonTarget(1, delta=0), catalog.budget
    )


@cache
def all_plans(way: str) -> tuple[tuple[str, Plan, Curator], ...]:
    """Return all questions with their plans and who made them."""
    return tuple(_plans(way))


def _plans(way: str) -> Iterator[tuple[str, Plan, Curator]]:
    for sql in (*CORPUS, *UNITS):
        yield sql, plan_of(clinic(), sql, way), clinic()
    for sql in KINDS:
        yield sql, plan_of(every_kind(), sql, way), every_kind()
    for column in FOUND:
        yield f"bounds of {column}", plan_of_bins(every_kind(), column, way), every_kind()
