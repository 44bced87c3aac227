"""Measures: rows are mass on cells, statistics are read off them, units move them by so much."""

from collections.abc import Sequence
from datetime import date, datetime
from fractions import Fraction
from itertools import combinations_with_replacement, product
from statistics import fmean, pstdev, pvariance, stdev, variance
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.catalog.schema import Kind
from discreet.errors import UnboundedError
from discreet.estimators import combined, values_of
from discreet.mechanisms.sensitivity import ADD_REMOVE, REPLACE, Neighbours
from discreet.query.plan.components import (
    MASS_MOST,
    Components,
    StatisticGroup,
    components_of,
    estimator_of,
    group_statistics,
    rounded_moments,
)
from discreet.query.plan.quantization import ValueGrid, grid_for, quantize
from discreet.query.plan.sensitivity import unit_count_sensitivity
from discreet.query.questions import Aggregate, Statistic
from discreet.query.tree import ColumnOf
from tests.query.evaluate import sums_of, value_of
from tests.query.made import (
    CHANGE,
    COST,
    MINUTES,
    ROWS,
    average,
    column,
    count,
    of,
    total,
)
from tests.query.plan.cells import cells_of, differences

FEW = column("few", Kind.INTEGER, bounds=(-1, 2))
HIGH = column("high", Kind.INTEGER, bounds=(3, 4))
MANY = column("few", bounds=(-1, 2))
MONEY = column("money", bounds=(0, 500), step=Fraction(1, 100))
DAY = column("day", Kind.DATE, bounds=(19_723, 20_088))

ASKED: dict[str, tuple[Aggregate, ...]] = {
    "rows": (ROWS,),
    "count": (count(FEW),),
    "count and rows": (count(FEW), ROWS),
    "mean": (average(FEW),),
    "mean and rows": (average(FEW), ROWS),
    "moments": (of(Statistic.VAR_POP, FEW), average(FEW)),
    "moments and rows": (of(Statistic.VAR_POP, FEW), ROWS),
    "rounded moments": (of(Statistic.VAR_POP, MANY), average(MANY)),
    "rounded moments and rows": (of(Statistic.VAR_POP, MANY), ROWS),
    "sum": (total(FEW),),
    "sum of positive numbers": (total(HIGH),),
}


def family_of(*aggregates: Aggregate) -> StatisticGroup:
    (family,) = group_statistics(aggregates)
    return family


values = st.one_of(st.none(), st.integers(min_value=-(10**6), max_value=10**6))


# --------------------------------------------------------------------------- places


@given(
    st.sampled_from([COST, MINUTES, CHANGE, MONEY, FEW]),
    st.fractions(),
    st.integers(min_value=1, max_value=1 << 20),
)
def test_a_value_stands_at_the_nearest_point_of_its_ruler(
    argument: ColumnOf, value: Fraction, most: int
) -> None:
    x: Any = round(value) if argument.facts.kind is Kind.INTEGER else value
    ruler = grid_for(argument, most=most)
    t = value_of(quantize(argument, ruler), {argument.name: x})
    inside = min(max(x, ruler.low), ruler.high)
    assert 0 <= t <= ruler.steps
    assert abs(ruler.low + t * ruler.step - inside) <= ruler.step / 2


@given(st.sampled_from([MINUTES, CHANGE, FEW]), st.integers(min_value=-20, max_value=240))
def test_whole_numbers_have_points_of_their_own(argument: ColumnOf, value: int) -> None:
    low, high = argument.facts.interval.low, argument.facts.interval.high
    assume(low is not None and high is not None and low <= value <= high)
    ruler = grid_for(argument, most=1 << 30, least=1 << 10)
    t = value_of(quantize(argument, ruler), {argument.name: value})
    assert ruler.low + t * ruler.step == value


def test_days_and_microseconds_are_counted_from_the_low_end() -> None:
    ruler = grid_for(DAY, most=1 << 16)
    assert ruler.steps == 365
    assert value_of(quantize(DAY, ruler), {"day": date(2024, 1, 11)}) == 10
    assert value_of(quantize(DAY, ruler), {"day": date(1999, 1, 1)}) == 0
    moment = column("moment", Kind.TIMESTAMP, bounds=(0, 10**12))
    coarse = grid_for(moment, most=100)
    assert coarse == ValueGrid(low=Fraction(0), high=Fraction(10**12), steps=100)
    assert value_of(quantize(moment, coarse), {"moment": datetime(1970, 1, 3, 20)}) == 24


def test_null_has_no_place() -> None:
    for argument in (COST, MINUTES, DAY, column("is", Kind.BOOLEAN)):
        assert (
            value_of(quantize(argument, grid_for(argument, most=50)), {argument.name: None}) is None
        )


def test_a_range_of_one_point_is_served() -> None:
    same = column("same", Kind.INTEGER, bounds=(5, 5))
    measure = components_of(family_of(average(same)), 1)
    assert cells_of(measure, [{"same": 5}]) == [measure.total, 0]


def test_what_has_no_bounds_is_refused_with_the_line_that_declares_them() -> None:
    with pytest.raises(UnboundedError, match=r"needs bounds for visit\..*visit = \{ bounds = \["):
        components_of(family_of(total(column("visit", Kind.INTEGER))), 1)


# --------------------------------------------------------------------------- mass


@given(st.sampled_from(list(ASKED)), values)
def test_every_row_is_the_same_mass(asked: str, value: int | None) -> None:
    family = family_of(*ASKED[asked])
    measure = components_of(family, 3)
    cells = cells_of(measure, [{"few": value, "high": value}])
    if measure.ends is not None:
        assert value is None or measure.ends[0] <= cells[0] <= measure.ends[1]
        return
    is_left_out = value is None and family.argument is not None and not family.has_null_cell
    assert min(cells) >= 0
    assert sum(cells) == (0 if is_left_out else measure.total)


def contributions(measure: Components, rows: int, groups: int) -> list[tuple[int, ...]]:
    """Return every vector that a unit of up to so many rows can add to the cells of all groups."""
    kinds = list(product(range(groups), [None, -1, 0, 1, 2, 3, 4]))
    found = set()
    for size in range(rows + 1):
        for chosen in combinations_with_replacement(kinds, size):
            parts = [
                cells_of(measure, [{"few": x, "high": x} for g, x in chosen if g == group])
                for group in range(groups)
            ]
            found.add(tuple(cell for part in parts for cell in part))
    return sorted(found)


@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("asked", ASKED)
def test_no_unit_moves_a_measure_by_more_or_less_than_is_stated(
    asked: str, groups: int, neighbours: Neighbours
) -> None:
    rows = 2 if groups == 1 else 1
    measure = components_of(family_of(*ASKED[asked]), rows)
    moved = list(differences(contributions(measure, rows, groups), neighbours))
    stated = measure.sensitivity(rows, groups, neighbours)
    assert max(sum(map(abs, each)) for each in moved) == stated.l1
    assert max(sum(x * x for x in each) for each in moved) == stated.l2_squared
    assert max(max(map(abs, each)) for each in moved) == stated.linf


@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE])
@pytest.mark.parametrize(("limit", "groups"), [(1, 1), (1, 3), (2, 3), (5, 3)])
def test_no_unit_moves_numbers_of_units_by_more_or_less_than_is_stated(
    limit: int, groups: int, neighbours: Neighbours
) -> None:
    marks = [each for each in product([0, 1], repeat=groups) if sum(each) <= limit]
    moved = list(differences(marks, neighbours))
    stated = unit_count_sensitivity(min(limit, groups), groups, neighbours)
    assert max(sum(map(abs, each)) for each in moved) == stated.l1
    assert max(sum(x * x for x in each) for each in moved) == stated.l2_squared


# --------------------------------------------------------------------------- statistics


def read(aggregates: Sequence[Aggregate], rows: Sequence[dict[str, Any]]) -> list[float]:
    """Return the aggregates as they are read off cells that got no noise."""
    family = family_of(*aggregates)
    measure = components_of(family, 1)
    cells = np.array([cells_of(measure, rows)], np.int64)
    readings = [estimator_of(each, family, measure, 0, 1) for each in aggregates]
    return [float(values_of(each, cells)[0]) for each in readings]


inside = st.lists(
    st.one_of(st.none(), st.integers(min_value=-20, max_value=50)), min_size=1, max_size=30
)


@given(inside)
def test_statistics_without_noise_are_the_true_ones(numbers: list[int | None]) -> None:
    given_ = [each for each in numbers if each is not None]
    assume(len(given_) >= 2)
    rows = [{"change": each} for each in numbers]
    moments = [
        *(of(each, CHANGE) for each in (Statistic.VAR_POP, Statistic.VAR_SAMP)),
        *(of(each, CHANGE) for each in (Statistic.STDDEV_POP, Statistic.STDDEV_SAMP)),
    ]
    asked = [ROWS, count(CHANGE), total(CHANGE), average(CHANGE), *moments]
    true = [len(rows), len(given_), sum(given_), fmean(given_)]
    spread = [each(given_) for each in (pvariance, variance, pstdev, stdev)]
    assert read(asked, rows) == pytest.approx([*true, *spread], abs=1e-5)
    assert read(asked[:4], rows) == pytest.approx(true)
    assert read([total(CHANGE)], rows) == [sum(given_)]
    assert read([count(CHANGE), ROWS], rows) == true[1::-1]


@given(st.lists(st.integers(min_value=0, max_value=50_000), min_size=1, max_size=30))
def test_sums_of_money_are_exact_to_the_cent(cents: list[int]) -> None:
    rows = [{"money": Fraction(each, 100)} for each in cents]
    assert read([total(MONEY)], rows) == [pytest.approx(sum(cents) / 100, rel=1e-12)]


@given(st.lists(st.fractions(min_value=0, max_value=500), min_size=1, max_size=10))
def test_reals_are_moved_by_less_than_a_billionth_of_their_width(numbers: list[Fraction]) -> None:
    rows = [{"cost": each} for each in numbers]
    both = float(sum(numbers))
    assert read([total(COST)], rows)[0] == pytest.approx(both, abs=len(rows) * 500 * 2.0**-30)
    assert read([average(COST)], rows)[0] == pytest.approx(both / len(rows), abs=500 * 2.0**-30)


@given(st.lists(st.fractions(min_value=0, max_value=500), min_size=1, max_size=10))
def test_a_mean_beside_a_deviation_is_as_exact_as_one_alone(numbers: list[Fraction]) -> None:
    rows = [{"cost": each} for each in numbers]
    asked = [average(COST), total(COST), of(Statistic.VAR_POP, COST)]
    mean, both, spread = read(asked, rows)
    assert mean == pytest.approx(float(sum(numbers)) / len(rows), abs=500 * 2.0**-30)
    assert both == pytest.approx(float(sum(numbers)), abs=len(rows) * 500 * 2.0**-30)
    assert spread == pytest.approx(float(pvariance(numbers)), abs=500**2 * 2.0**-27)


@given(st.integers(min_value=1, max_value=10**7), st.fractions(min_value=-1, max_value=600))
def test_rounded_squares_leave_every_row_the_same_mass(rows: int, value: Fraction) -> None:
    family = family_of(of(Statistic.VAR_POP, COST), average(COST))
    measure = components_of(family, rows)
    cells = cells_of(measure, [{"cost": value}])
    assert min(cells) >= 0
    assert sum(cells) == measure.total <= max(1, MASS_MOST // rows)


@pytest.mark.parametrize("steps", [1, 2, 3, 7, 64, 101])
def test_rounded_squares_of_every_place_are_within_half_a_cell(steps: int) -> None:
    argument = column("few", Kind.INTEGER, bounds=(0, steps))
    ruler = ValueGrid(low=Fraction(0), high=Fraction(steps), steps=steps)
    sums, rows = rounded_moments(argument, ruler)
    for t in range(steps + 1):
        found = sums_of(sums, [{"few": t}])
        cells = [sum(a * b for a, b in zip(row, found, strict=True)) for row in rows]
        assert min(cells) >= 0
        assert sum(cells) == steps
        assert cells[1] + 2 * cells[2] == 2 * t
        assert abs(cells[2] * steps - t * t) * 2 <= steps + 1


@given(st.integers(min_value=1, max_value=60), st.data())
def test_a_mean_of_one_row_is_its_value(high: int, data: st.DataObject) -> None:
    value = data.draw(st.integers(min_value=0, max_value=high))
    argument = column("change", Kind.INTEGER, bounds=(0, high))
    asked = [average(argument), of(Statistic.STDDEV_POP, argument)]
    assert read(asked[:1], [{"change": value}]) == pytest.approx([value])
    assert read(asked, [{"change": value}]) == pytest.approx([value, 0], abs=1e-5)


@pytest.mark.parametrize("noisy", [0, -5, 0.9])
def test_a_mean_of_too_few_is_the_middle_of_its_bounds(noisy: float) -> None:
    family = family_of(average(CHANGE))
    measure = components_of(family, 1)
    cells = np.array([[int(noisy * measure.total), 0]], np.int64)
    reading = estimator_of(average(CHANGE), family, measure, 0, 1)
    assert values_of(reading, cells)[0] == 15


@given(st.lists(st.integers(min_value=-(1 << 40), max_value=1 << 40), min_size=3, max_size=3))
def test_no_noise_takes_a_statistic_out_of_its_range(cells: list[int]) -> None:
    array = np.array([cells], np.int64)
    family = family_of(of(Statistic.VAR_POP, CHANGE))
    measure = components_of(family, 1)
    mean = values_of(estimator_of(average(CHANGE), family, measure, 0, 1), array)[0]
    for statistic, most in ((Statistic.VAR_POP, 1225), (Statistic.STDDEV_POP, 35)):
        found = values_of(estimator_of(of(statistic, CHANGE), family, measure, 0, 1), array)[0]
        assert 0 <= found <= most
    assert -20 <= mean <= 50


@given(st.lists(st.integers(min_value=-(1 << 100), max_value=1 << 100), min_size=2, max_size=2))
def test_whole_combinations_are_exact_at_any_size(weights: list[int]) -> None:
    for cells in (np.array([[3, -4]], np.int64), np.zeros((1, 2), np.int64)):
        found = combined(cells, (tuple(weights),))
        assert found[0, 0] == sum(a * int(b) for a, b in zip(weights, cells[0], strict=True))


# --------------------------------------------------------------------------- families


def test_rows_are_counted_where_that_takes_the_fewest_cells() -> None:
    families = group_statistics(
        [average(COST), count(MINUTES), of(Statistic.VAR_POP, CHANGE), ROWS]
    )
    assert [each.with_rows for each in families] == [False, True, False]
    assert [each.cells for each in families] == [2, 2, 3]


def test_what_is_never_null_needs_no_cell_for_it() -> None:
    sure = column("sure", bounds=(0, 1), nullable=False)
    (family,) = group_statistics([average(sure), count(sure), ROWS])
    assert family.cells == 2


def test_a_sum_alone_is_one_cell_and_with_a_count_two() -> None:
    assert family_of(total(COST)).cells == 1
    assert family_of(total(COST), count(COST)).cells == 2
    assert family_of(total(COST), ROWS).cells == 3
