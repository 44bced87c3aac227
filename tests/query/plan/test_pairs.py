"""Covariance, correlation and regression: mass of a pair, exact sensitivity, values, margins."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from statistics import correlation, covariance, fmean, linear_regression
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.catalog.schema import Kind
from discreet.estimators import margins_of, values_of
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.sensitivity import ADD_REMOVE, REPLACE, Neighbours
from discreet.pair_moments import PairEstimator
from discreet.query.plan.components import MASS_MOST, PAIRS, Components
from discreet.query.plan.families import Family, families_of, measure_of, reading_of
from discreet.query.plan.pairs import DEGREES, PairGroup
from discreet.query.questions import Aggregate, Statistic
from discreet.query.tree import ColumnOf
from tests.mechanisms.checks import is_covered
from tests.query.made import CHANGE, COST, MINUTES, ROWS, average, column, count
from tests.query.plan.cells import cells_of, differences
from tests.replay import ReplayableEntropy

FEW = column("few", Kind.INTEGER, bounds=(-1, 2))
REAL = column("real", bounds=(0, 10))
MANY = column("many", Kind.INTEGER, bounds=(0, 10**6))


def pair(statistic: Statistic, y: ColumnOf = FEW, x: ColumnOf = REAL) -> Aggregate:
    return Aggregate(statistic=statistic, argument=y, second=x)


def family_of(*aggregates: Aggregate) -> Family:
    (family,) = families_of(aggregates)
    return family


ASKED: dict[str, tuple[Aggregate, ...]] = {
    **{each.name: (pair(each),) for each in sorted(PAIRS, key=lambda each: each.name)},
    "CORR and rows": (pair(Statistic.CORR), ROWS),
    "COVAR and rows": (pair(Statistic.COVAR_POP), ROWS),
    "pairs and rows": (pair(Statistic.REGR_COUNT), ROWS),
    "both ways": (pair(Statistic.REGR_SLOPE), pair(Statistic.REGR_SLOPE, REAL, FEW)),
}

numbers = st.one_of(st.none(), st.integers(min_value=-(10**6), max_value=10**6))


# --------------------------------------------------------------------------- mass


def test_every_statistic_of_pairs_has_its_degrees() -> None:
    assert set(DEGREES) == PAIRS


@given(st.sampled_from(list(ASKED)), numbers, numbers)
def test_every_pair_is_the_same_mass(asked: str, x: int | None, y: int | None) -> None:
    family = family_of(*ASKED[asked])
    measure = measure_of(family, 3)
    cells = cells_of(measure, [{"few": y, "real": None if x is None else Fraction(x, 7)}])
    is_left_out = None in (x, y) and not family.with_rows
    assert min(cells) >= 0
    assert sum(cells) == (0 if is_left_out else measure.total)


@given(st.integers(min_value=1, max_value=10**7), numbers, numbers)
def test_the_mass_of_a_unit_stays_below_what_noise_can_be_drawn_for(
    rows: int, x: int | None, y: int | None
) -> None:
    measure = measure_of(family_of(pair(Statistic.CORR, MANY, REAL)), rows)
    cells = cells_of(measure, [{"many": y, "real": x}])
    assert min(cells) >= 0
    assert sum(cells) <= measure.total <= min(1 << 30, max(1, MASS_MOST // rows))


def contributions(measure: Components, rows: int, groups: int) -> list[tuple[int, ...]]:
    """Return every vector that a unit of up to so many rows can add to the cells of all groups."""
    values = [(None, 0), (0, None), *product((-1, 2, 5), (0, 4, 10))]
    kinds = list(product(range(groups), values))
    found = set()
    for size in range(rows + 1):
        for chosen in combinations_with_replacement(kinds, size):
            parts = [
                cells_of(measure, [{"few": y, "real": x} for g, (y, x) in chosen if g == group])
                for group in range(groups)
            ]
            found.add(tuple(cell for part in parts for cell in part))
    return sorted(found)


@pytest.mark.parametrize("neighbours", [ADD_REMOVE, REPLACE])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("asked", ASKED)
def test_no_unit_moves_pairs_by_more_or_less_than_is_stated(
    asked: str, groups: int, neighbours: Neighbours
) -> None:
    rows = 2 if groups == 1 else 1
    measure = measure_of(family_of(*ASKED[asked]), rows)
    moved = list(differences(contributions(measure, rows, groups), neighbours))
    stated = measure.sensitivity(rows, groups, neighbours)
    assert max(sum(map(abs, each)) for each in moved) == stated.l1
    assert max(sum(x * x for x in each) for each in moved) == stated.l2_squared
    assert max(max(map(abs, each)) for each in moved) == stated.linf


def test_sums_of_moments_that_are_not_shares_of_one_mass_would_be_caught() -> None:
    """The twin releases n, Σx, Σy, Σxy, Σx² and Σy² as they are, each up to the whole mass."""
    measure = measure_of(family_of(pair(Statistic.CORR)), 1)
    plain = tuple(tuple(int(i == j) for j in range(len(measure.sums))) for i in range(9))
    broken = Components(
        what="sums", sums=measure.sums, cells=plain, total=max(map(max, measure.cells))
    )
    moved = max(map(sum, contributions(broken, 1, 1)))
    assert moved > broken.sensitivity(1, 1, ADD_REMOVE).l1


# --------------------------------------------------------------------------- families


def test_statistics_of_one_pair_are_read_off_one_measure_in_either_order() -> None:
    asked = [pair(Statistic.REGR_SLOPE), pair(Statistic.CORR, REAL, FEW)]
    (family,) = families_of(asked)
    assert isinstance(family, PairGroup)
    assert family.pair == (FEW, REAL)
    assert family.degrees == (2, 2)
    (other,) = families_of([pair(Statistic.REGR_SLOPE), pair(Statistic.REGR_SXX)])
    assert isinstance(other, PairGroup)
    assert other.degrees == (1, 2)


def test_rows_join_a_pair_only_where_nothing_smaller_is_asked() -> None:
    alone = families_of([pair(Statistic.CORR), ROWS])
    assert [(each.cells, each.with_rows) for each in alone] == [(10, True)]
    beside = families_of([pair(Statistic.CORR), ROWS, average(COST)])
    assert [(each.cells, each.with_rows) for each in beside] == [(3, True), (9, False)]
    sure = [column(name, bounds=(0, 1), nullable=False) for name in ("a", "b")]
    never = families_of([pair(Statistic.CORR, *sure), ROWS, count(sure[0])])
    assert [each.cells for each in never] == [9]


# --------------------------------------------------------------------------- values


def read(aggregates: Sequence[Aggregate], rows: Sequence[dict[str, Any]]) -> list[float]:
    """Return the aggregates as they are read off cells that got no noise."""
    family = family_of(*aggregates)
    measure = measure_of(family, 1)
    cells = np.array([cells_of(measure, rows)], np.int64)
    readings = [reading_of(each, family, measure, 0, 1) for each in aggregates]
    return [float(values_of(each, cells)[0]) for each in readings]


pairs = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(min_value=-20, max_value=50)),
        st.one_of(st.none(), st.integers(min_value=0, max_value=240)),
    ),
    max_size=20,
)


@given(pairs)
def test_statistics_without_noise_are_the_true_ones(
    drawn: list[tuple[int | None, int | None]],
) -> None:
    drawn = [*drawn, (0, 0), (40, 100), (-20, 240)]
    given_ = [(y, x) for y, x in drawn if y is not None and x is not None]
    ys, xs = [y for y, _ in given_], [x for _, x in given_]
    n, c = len(given_), covariance(xs, ys)
    r, (slope, intercept) = correlation(xs, ys), linear_regression(xs, ys)
    true = {
        Statistic.CORR: r,
        Statistic.COVAR_POP: c * (n - 1) / n,
        Statistic.COVAR_SAMP: c,
        Statistic.REGR_SLOPE: slope,
        Statistic.REGR_INTERCEPT: intercept,
        Statistic.REGR_R2: r**2,
        Statistic.REGR_COUNT: n,
        Statistic.REGR_AVGX: fmean(xs),
        Statistic.REGR_AVGY: fmean(ys),
        Statistic.REGR_SXX: covariance(xs, xs) * (n - 1),
        Statistic.REGR_SYY: covariance(ys, ys) * (n - 1),
        Statistic.REGR_SXY: c * (n - 1),
    }
    rows = [{"change": y, "minutes": x} for y, x in drawn]
    asked = [*(pair(each, CHANGE, MINUTES) for each in true), ROWS]
    assert read(asked, rows) == pytest.approx([*true.values(), len(rows)], rel=1e-6, abs=1e-6)


@given(st.lists(st.tuples(*[st.fractions(min_value=0, max_value=500)] * 2), min_size=9, max_size=9))
def test_reals_are_moved_by_less_than_a_ten_thousandth_of_their_width(
    drawn: list[tuple[Fraction, Fraction]],
) -> None:
    other = column("other", bounds=(0, 500))
    rows = [{"cost": y, "other": x} for y, x in drawn]
    ys, xs = [float(y) for y, _ in drawn], [float(x) for _, x in drawn]
    asked = [pair(each, COST, other) for each in (Statistic.COVAR_POP, Statistic.CORR)]
    assert read(asked, rows)[0] == pytest.approx(covariance(xs, ys) * 8 / 9, abs=500**2 * 1e-4)
    assert read(asked[:1], rows)[0] == pytest.approx(covariance(xs, ys) * 8 / 9, abs=500**2 * 1e-4)


def test_the_second_argument_is_x() -> None:
    rows = [{"change": 2 * x + 3, "minutes": x} for x in range(20)]
    asked = [
        pair(Statistic.REGR_SLOPE, CHANGE, MINUTES),
        pair(Statistic.REGR_INTERCEPT, CHANGE, MINUTES),
        pair(Statistic.REGR_SLOPE, MINUTES, CHANGE),
        pair(Statistic.REGR_AVGX, CHANGE, MINUTES),
        pair(Statistic.REGR_AVGX, MINUTES, CHANGE),
    ]
    assert read(asked, rows) == pytest.approx([2, 3, 0.5, 9.5, 22])


@given(st.lists(st.integers(min_value=-(1 << 40), max_value=1 << 40), min_size=9, max_size=9))
def test_no_noise_takes_a_statistic_out_of_its_range(cells: list[int]) -> None:
    array = np.array([cells], np.int64)
    family = family_of(pair(Statistic.CORR))
    measure = measure_of(family, 1)
    ranges = {
        Statistic.CORR: (-1.0, 1.0),
        Statistic.REGR_R2: (0.0, 1.0),
        Statistic.COVAR_POP: (-7.5, 7.5),
        Statistic.COVAR_SAMP: (-15.0, 15.0),
    }
    noise = Geometric(epsilon=1, sensitivity=measure.sensitivity(1, 1, ADD_REMOVE))
    for statistic, (low, high) in ranges.items():
        reading = reading_of(pair(statistic), family, measure, 0, 1)
        assert low - 1e-9 <= values_of(reading, array)[0] <= high + 1e-9
        assert 0 <= margins_of(reading, array, noise, Fraction(95, 100))[0] <= 2 * (high - low)


# --------------------------------------------------------------------------- margins


def sample(size: int, slope: float) -> list[dict[str, Any]]:
    """Return pairs whose x is spread evenly, and whose y is on a line and off it by turns."""
    rows = []
    for number in range(size):
        x, off = 20 + number * 377 % 201, number * 7919 % 29 - 14
        rows.append({"change": round(15 + slope * (x - 120) / 10 + off), "minutes": x})
    return rows


COVERED = (
    *(Statistic.CORR, Statistic.REGR_R2, Statistic.COVAR_SAMP, Statistic.REGR_SLOPE),
    *(Statistic.REGR_INTERCEPT, Statistic.REGR_SXX, Statistic.REGR_SYY, Statistic.REGR_SXY),
)

RUNS, LARGE = 4000, 3000


@pytest.mark.parametrize(("size", "slope"), [(200, 2.0), (200, 0.0), (LARGE, -1.5)])
def test_margins_hold_as_often_as_they_say(size: int, slope: float) -> None:
    """A fresh seed cries wolf once in 10^6 for each statistic. The twin halves the margins.

    In small groups ratios have wider margins than they need, and the twin is not caught.
    """
    asked = [pair(each, CHANGE, MINUTES) for each in COVERED]
    family = family_of(*asked)
    measure = measure_of(family, 1)
    exact = np.array([cells_of(measure, sample(size, slope))], np.int64)
    noise = Geometric(epsilon=1, sensitivity=measure.sensitivity(1, 1, ADD_REMOVE))
    noisy = noise.release(np.repeat(exact, RUNS, axis=0), entropy=ReplayableEntropy(seed=size))
    confidence = Fraction(95, 100)
    for each in asked:
        reading = reading_of(each, family, measure, 0, 1)
        assert isinstance(reading, PairEstimator)
        off = np.abs(values_of(reading, noisy) - values_of(reading, exact)[0])
        wide = margins_of(reading, noisy, noise, confidence)
        is_open = np.isnan(wide)
        assert is_covered(int(((off <= wide) | is_open).sum()), RUNS, 0.95), each.statistic
        if size == LARGE:
            assert not is_covered(int((off <= wide / 2).sum()), RUNS, 0.95), each.statistic


def test_a_variance_that_may_be_all_noise_leaves_correlations_and_slopes_open() -> None:
    asked = [pair(each, CHANGE, MINUTES) for each in (Statistic.CORR, Statistic.REGR_SLOPE)]
    family = family_of(*asked)
    measure = measure_of(family, 1)
    exact = np.array([cells_of(measure, sample(5, 2.0)), [0] * 9], np.int64)
    noise = Geometric(epsilon=Fraction(1, 10), sensitivity=measure.sensitivity(1, 1, ADD_REMOVE))
    corr, slope = (reading_of(each, family, measure, 0, 1) for each in asked)
    assert list(margins_of(corr, exact, noise, Fraction(95, 100)) >= 1) == [True, True]
    assert np.isnan(margins_of(slope, exact, noise, Fraction(95, 100))).all()
    assert values_of(slope, exact)[1] == values_of(corr, exact)[1] == 0
