"""Counts under disjoint conditions: one histogram, exact sensitivity, and the counts asked for."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import pytest

from discreet.mechanisms.sensitivity import ADD_REMOVE, REPLACE, Neighbours
from discreet.query.expressions.facts import case_of, literal
from discreet.query.expressions.functions import call
from discreet.query.plan.components import Components
from discreet.query.plan.families import families_of, measure_of
from discreet.query.plan.histograms import CONDITIONS_MOST, HistogramGroup
from discreet.query.plan.plan import PlannedRelease
from discreet.query.questions import Aggregate, Statistic
from discreet.query.tree import Case, Expression
from tests.attacks.clinic import tables
from tests.engines.contract import ENGINES, engine_of
from tests.engines.corpus import exact, plan_of
from tests.query.made import ROWS, average, column
from tests.query.plan.cells import cells_of, differences

FLAGS = [column(f"c{number}") for number in range(3)]


def where(condition: Expression) -> Case:
    """Return 1 where an expression is NULL: a condition that can be evaluated here."""
    return case_of(((call("is_null", condition), literal(1)),), literal(None))


def histogram(*, with_rows: bool) -> Components:
    """Return the cells of conditions that nothing keeps from being true together."""
    group = HistogramGroup(arguments=tuple(map(where, FLAGS)), with_rows=with_rows)
    return measure_of(group, 1)


ROW_KINDS = [{f"c{i}": each for i, each in enumerate(row)} for row in product((None, 1), repeat=3)]


# --------------------------------------------------------------------------- sensitivity


@pytest.mark.parametrize("with_rows", [False, True])
def test_a_row_is_in_one_cell_even_if_all_conditions_are_true(with_rows: bool) -> None:
    measure = histogram(with_rows=with_rows)
    for row in ROW_KINDS:
        cells = cells_of(measure, [row])
        is_somewhere = with_rows or None in row.values()
        assert sorted(cells) == [0] * (len(cells) - 1) + [measure.total * is_somewhere]


def test_counts_that_trust_their_conditions_would_be_caught() -> None:
    """The twin counts a row under each condition that is true."""
    measure = histogram(with_rows=False)
    trusting = Components(
        what="counts", sums=tuple(map(where, FLAGS)), cells=measure.cells, total=measure.total
    )
    most = max(sum(cells_of(trusting, [row])) for row in ROW_KINDS)
    assert most == 3 > trusting.sensitivity(1, 1, ADD_REMOVE).l1


def contributions(measure: Components, rows: int, groups: int) -> list[tuple[int, ...]]:
    kinds = list(product(range(groups), ROW_KINDS))
    found = set()
    for size in range(rows + 1):
        for chosen in combinations_with_replacement(kinds, size):
            parts = [cells_of(measure, [r for g, r in chosen if g == i]) for i in range(groups)]
            found.add(tuple(cell for part in parts for cell in part))
    return sorted(found)


@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("with_rows", [False, True])
def test_no_unit_moves_a_histogram_by_more_or_less_than_is_stated(
    with_rows: bool, groups: int, neighbours: Neighbours
) -> None:
    measure, rows = histogram(with_rows=with_rows), 2
    moved = list(differences(contributions(measure, rows, groups), neighbours))
    stated = measure.sensitivity(rows, groups, neighbours)
    assert max(sum(map(abs, each)) for each in moved) == stated.l1
    assert max(sum(x * x for x in each) for each in moved) == stated.l2_squared
    assert max(max(map(abs, each)) for each in moved) == stated.linf


# --------------------------------------------------------------------------- which are disjoint


def planned(*asked: str, rows: str = "visits") -> PlannedRelease:
    (release,) = plan_of(f"SELECT {', '.join(asked)} FROM {rows}").releases  # noqa: S608
    return release


def filtered(*conditions: str) -> list[str]:
    return [f"COUNT(*) FILTER (WHERE {each})" for each in conditions]


DISJOINT = [
    ("minutes = 10", "minutes = 20"),
    ("minutes IN (1, 2)", "minutes = 3", "minutes IN (4, 5)"),
    ("minutes < 30", "minutes >= 30"),
    ("cost < 30", "cost >= 30 AND cost < 60", "cost >= 60"),
    ("minutes BETWEEN 0 AND 9", "minutes BETWEEN 10 AND 19", "minutes > 40"),
    ("minutes IS NULL", "minutes IS NOT NULL"),
    ("minutes IS NULL", "minutes > 3"),
    ("cost > 30", "NOT cost > 30"),
    ("diagnosis = 'flu'", "diagnosis = 'asthma'"),
    ("upper(diagnosis) = 'FLU'", "upper(diagnosis) IN ('ASTHMA', 'BURN')"),
    ("CASE WHEN cost > 9 THEN 'a' WHEN minutes > 9 THEN 'b' END = 'a'",
     "CASE WHEN cost > 9 THEN 'a' WHEN minutes > 9 THEN 'b' END = 'b'"),
    ("minutes > 10 AND cost > 10", "minutes > 10 AND cost <= 10"),
]  # fmt: skip


@pytest.mark.parametrize("conditions", DISJOINT, ids=lambda each: each[0])
def test_disjoint_conditions_are_counted_at_full_epsilon(conditions: Sequence[str]) -> None:
    release = planned(*filtered(*conditions))
    (found,) = release.components
    assert found.epsilon == 1
    assert len(found.measure.cells) == len(conditions)
    alone = planned(*filtered(conditions[0]))
    level = Fraction(95, 100)
    assert release.expected_margins(level) == alone.expected_margins(level) * len(conditions)


@pytest.mark.parametrize(
    "conditions",
    [
        ("minutes = 10", "minutes IN (10, 20)"),
        ("minutes < 30", "minutes >= 29"),
        ("cost < 30", "minutes >= 30"),
        ("cost <= 30", "cost >= 30"),
        ("minutes > 3", "minutes IS NOT NULL"),
        ("minutes = 10 OR cost = 1", "minutes = 20"),
        ("diagnosis LIKE 'f%'", "diagnosis = 'flu'"),
    ],
    ids=lambda each: each[0],
)
def test_conditions_that_may_both_be_true_are_counted_apart(conditions: Sequence[str]) -> None:
    assert len(planned(*filtered(*conditions)).components) == 2


def test_all_ways_to_write_a_count_join_and_the_number_of_rows_with_them() -> None:
    release = planned(
        "COUNT(*) FILTER (WHERE minutes < 10)",
        "COUNT_IF(minutes BETWEEN 10 AND 19)",
        "SUM(CASE WHEN minutes BETWEEN 20 AND 29 THEN 1 ELSE 0 END)",
        "COUNT(CASE WHEN minutes >= 30 THEN 'long' END)",
        "COUNT(*)",
    )
    (found,) = release.components
    assert len(found.measure.cells) == 5


def test_a_count_stays_with_other_statistics_of_what_it_counts() -> None:
    short = case_of(((call("is_null", FLAGS[0]), literal(1)),), literal(0))
    others = [where(each) for each in FLAGS[:2]]
    asked = [
        average(short),  # type: ignore[arg-type] # any expression will do
        *(Aggregate(statistic=Statistic.COUNT, argument=each) for each in others),
        ROWS,
    ]
    assert not any(isinstance(each, HistogramGroup) for each in families_of(asked))


def test_many_conditions_are_several_histograms() -> None:
    release = planned(*filtered(*(f"minutes = {each}" for each in range(CONDITIONS_MOST + 3))))
    sizes = [len(each.measure.cells) for each in release.components]
    assert sizes == [CONDITIONS_MOST, 3]


# --------------------------------------------------------------------------- what is counted


@pytest.mark.parametrize("kind", ENGINES)
def test_every_engine_counts_what_was_asked_for(kind: str) -> None:
    engine = engine_of(kind, tables())
    for conditions in DISJOINT:
        together = plan_of(f"SELECT {', '.join([*filtered(*conditions), 'COUNT(*)'])} FROM visits")  # noqa: S608
        sums = _sums(engine, together)
        assert len(together.releases[0].components) == 1
        apart = [
            _sums(engine, plan_of(f"SELECT COUNT(*) FROM visits WHERE {each}"))[0]  # noqa: S608
            for each in conditions
        ]
        limited = together.releases[0].queries[0].contribution_limit
        assert limited >= 12
        assert sorted(sums[:-1]) == sorted(apart)
    engine.close()


def _sums(engine: Any, plan: Any) -> list[int]:
    ((row,),) = exact(engine, plan)
    return [int(str(value)) for _, value in row]
