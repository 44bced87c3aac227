"""Quantiles and extremes with an interval: odds, price, coverage, and values of too few rows."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.pure import pure_epsilon
from discreet.accounting.zcdp import zcdp_rho
from discreet.errors import ParameterError
from discreet.mechanisms import REPLACE, End, Extreme, Neighbours, Quantile
from discreet.mechanisms.distributions import ChoiceDistribution
from discreet.mechanisms.exponential import exponential_distribution
from discreet.mechanisms.quantile import GroupedRows, rank_utilities
from discreet.mechanisms.quantile_interval import (
    EMPTY_SHOWN,
    ChosenValues,
    ExtremeInterval,
    QuantileInterval,
    RankedInterval,
)
from discreet.noise.enclosures import exp_neg
from tests.mechanisms.checks import BITS, SLACK, is_covered
from tests.mechanisms.strategies import moderate_epsilons
from tests.replay import ReplayableEntropy
from tests.statistics import FALSE_ALARM, misfit

SIZE = 7

fractions = st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20)
points = st.integers(min_value=0, max_value=SIZE - 1)
data_sets = st.lists(points, max_size=8)
Pairs = Sequence[tuple[list[int], list[int]]]


@st.composite
def mechanisms(
    draw: st.DrawFn,
    /,
    rows_per_unit: int = 1,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
    groups: int | None = None,
) -> RankedInterval:
    """Draw a quantile or an extreme."""
    epsilon = draw(st.one_of(moderate_epsilons, st.just(Fraction(100))))
    if draw(st.booleans()):
        return QuantileInterval(
            epsilon=epsilon,
            fraction=draw(fractions),
            rows_per_unit=rows_per_unit,
            neighbours=neighbours,
            groups=groups,
        )
    return ExtremeInterval(
        epsilon=epsilon,
        end=draw(st.sampled_from(End)),
        rows_per_unit=rows_per_unit,
        neighbours=neighbours,
        groups=groups,
    )


def histogram_of(rows: Sequence[int]) -> tuple[list[int], list[int]]:
    cells, counts = np.unique(np.array(rows, np.int64), return_counts=True)
    return cells.tolist(), counts.tolist()


def law_of(mechanism: RankedInterval, number: int, rows: Sequence[int]) -> ChoiceDistribution:
    """Return the law of one of the points that are chosen, over all points of the grid."""
    cells, counts = histogram_of(rows)
    runs = GroupedRows.checked(cells, counts, [0, len(cells)], SIZE).runs(0, SIZE).with_own_ends()
    choice = mechanism.choices(SIZE)[number]
    target = choice.target(len(rows))
    each = rank_utilities(runs, target, choice.parts, has_open_ends=choice.has_open_ends)
    return exponential_distribution(np.repeat(each, runs.lengths), choice.rate)


def utilities(mechanism: RankedInterval, number: int, rows: Sequence[int]) -> list[Fraction]:
    """Return each point's utility by its definition, in rows."""
    choice = mechanism.choices(SIZE)[number]
    target = Fraction(choice.target(len(rows)), choice.parts)
    found = []
    for z in range(SIZE):
        below, above = sum(x < z for x in rows) - target, target - sum(x <= z for x in rows)
        if choice.has_open_ends:
            below, above = below if z else Fraction(0), above if z < SIZE - 1 else Fraction(0)
        found.append(-max(below, above, Fraction(0)))
    return found


# --------------------------------------------------------------------------- privacy


@given(mechanisms(), data_sets, points)
def test_a_row_moves_no_utility_by_more_than_the_sensitivity(
    mechanism: RankedInterval, rows: list[int], value: int
) -> None:
    for number, choice in enumerate(mechanism.choices(SIZE)):
        here, there = (utilities(mechanism, number, each) for each in (rows, [*rows, value]))
        most = max(abs(x - y) for x, y in zip(here, there, strict=True))
        assert most <= choice.by.sensitivity


@given(mechanisms(), data_sets)
def test_laws_follow_the_utilities(mechanism: RankedInterval, rows: list[int]) -> None:
    for number, choice in enumerate(mechanism.choices(SIZE)):
        weights = np.exp([float(choice.by.rate * u) for u in utilities(mechanism, number, rows)])
        law = law_of(mechanism, number, rows).probabilities
        assert law == pytest.approx(weights / weights.sum(), rel=1e-9, abs=1e-300)


@settings(max_examples=60)
@given(mechanisms(), data_sets, points)
def test_no_joint_release_has_worse_odds_than_its_price(
    mechanism: RankedInterval, rows: list[int], value: int
) -> None:
    assert all_odds_within(mechanism, [(rows, [*rows, value])])


@settings(max_examples=40)
@given(
    mechanisms(rows_per_unit=2, neighbours=REPLACE),
    st.lists(data_sets, min_size=2, max_size=2),
    st.lists(points, max_size=2),
    st.lists(points, max_size=2),
)
def test_a_unit_that_moves_between_groups_is_within_the_price(
    mechanism: RankedInterval, groups: list[list[int]], before: list[int], after: list[int]
) -> None:
    first, second = groups
    assert all_odds_within(mechanism, [([*first, *before], first), (second, [*second, *after])])


@settings(max_examples=40)
@given(
    mechanisms(rows_per_unit=2, neighbours=REPLACE, groups=1),
    data_sets,
    st.lists(points, max_size=2),
    st.lists(points, max_size=2),
)
def test_a_unit_that_is_replaced_in_the_only_group_is_within_the_price(
    mechanism: RankedInterval, rows: list[int], before: list[int], after: list[int]
) -> None:
    assert all_odds_within(mechanism, [(rows + before, rows + after)])


def test_one_group_of_replaced_units_has_less_noise_and_no_second_group() -> None:
    single, many = (
        QuantileInterval(epsilon=1, fraction=0.9, neighbours=REPLACE, groups=groups)
        for groups in (1, None)
    )
    assert many.rank_error(0.95, GRID) == pytest.approx(1.8 * single.rank_error(0.95, GRID))
    assert many.events() == single.events()
    with pytest.raises(ParameterError, match="groups must be 2 or more"):
        single.release_many([0, 0], [1, 1], [0, 1, 2], SIZE)


def test_rows_beyond_those_that_are_paid_for_break_the_price() -> None:
    """The broken twin."""
    rows = [0] * 8 + [5] * 10
    for rows_per_unit, is_within in ((1, False), (2, True)):
        mechanism = QuantileInterval(epsilon=4, fraction=0.5, rows_per_unit=rows_per_unit)
        assert all_odds_within(mechanism, [(rows, [*rows, 0, 0])]) is is_within


def all_odds_within(mechanism: RankedInterval, pairs: Pairs) -> bool:
    """Tell whether the worst odds of all that is drawn, multiplied, are e^epsilon at most.

    Points, ends and counts are independent, so the worst odds of the whole are this product.
    """
    most = 1 / Fraction(exp_neg(mechanism.epsilon, BITS)[1], 1 << BITS) * (1 + SLACK)
    moved = sum(abs(len(here) - len(there)) for here, there in pairs)
    counted = 1 / Fraction(exp_neg(moved / mechanism.count.scale, BITS)[0], 1 << BITS)
    numbers = range(len(mechanism.choices(SIZE)))
    return all(
        counted
        * prod(
            _worst_odds(*(law_of(mechanism, number, rows) for rows in pair[::way]))
            for number, pair in product(numbers, pairs)
        )
        <= most
        for way in (1, -1)
    )


def _worst_odds(here: ChoiceDistribution, there: ChoiceDistribution) -> Fraction:
    """Return max P / Q over all points, rounded up."""
    return max(Fraction(here.enclose(z)(BITS)[1], there.enclose(z)(BITS)[0]) for z in range(SIZE))


@given(mechanisms(rows_per_unit=3), st.integers(min_value=1, max_value=50))
def test_the_parts_cost_together_what_was_asked_for(mechanism: RankedInterval, groups: int) -> None:
    events = mechanism.events(groups)
    assert sum(map(pure_epsilon, events), Fraction(0)) == mechanism.epsilon
    assert pure_epsilon(mechanism.event) == mechanism.epsilon


def test_the_parts_cost_less_than_one_choice_in_concentrated_terms() -> None:
    """Of many small parts, squares add up to less."""
    mechanism = QuantileInterval(epsilon=1, fraction=0.5)
    assert zcdp_rho(mechanism.event) < zcdp_rho(Quantile(epsilon=1, fraction=0.5).event)


def test_a_released_point_has_the_stated_law() -> None:
    """A fresh seed cries wolf once in 10^6; the twin is drawn with all of epsilon."""
    rows, draws = [1, 1, 2, 5, 5, 5, 6], 4_000
    mechanism = QuantileInterval(epsilon=1, fraction=0.5)
    drawn = drawn_many(mechanism, rows, draws, size=SIZE, seed=311)
    law = law_of(mechanism, 0, rows).pmf
    assert misfit(drawn.points, law, SIZE - 1, least=0) > FALSE_ALARM
    whole = Quantile(epsilon=1.5, fraction=0.5).distribution(*histogram_of(rows), SIZE).pmf
    assert misfit(drawn.points, whole, SIZE - 1, least=0) < FALSE_ALARM


def drawn_many(
    mechanism: RankedInterval, rows: Sequence[int], draws: int, *, size: int, seed: int
) -> ChosenValues:
    """Release the same group so many times."""
    cells, counts = histogram_of(rows)
    return mechanism.release_many(
        np.tile(np.array(cells, np.int64), draws),
        np.tile(np.array(counts, np.int64), draws),
        np.arange(draws + 1) * len(cells),
        size,
        entropy=ReplayableEntropy(seed=seed),
    )


# --------------------------------------------------------------------------- coverage

GRID = 1 << 10

DATA = {
    "skewed": [int(1000 * (i / 600) ** 6) for i in range(600)],
    "ties": [3] * 200 + [500] * 300 + [501] * 250,
    "two heaps": [0] * 400 + [GRID - 1] * 400,
    "a small group": [10, 10, 700],
    "a single row": [512],
}


class Halved(QuantileInterval):
    """Aims half as far from the target as it must."""

    __slots__ = ()

    def margin(self, grid_size: int) -> int:
        """Return half the margin."""
        return QuantileInterval.margin(self, grid_size) // 2


def hits(mechanism: RankedInterval, rows: list[int], fraction: float, draws: int) -> int:
    """Return how often the exact quantile, by either definition, is in the interval."""
    drawn = drawn_many(mechanism, rows, draws, size=GRID, seed=312)
    exact = [np.quantile(rows, fraction, method=way) for way in ("linear", "inverted_cdf")]
    low, high = min(exact), max(exact)
    assert ((drawn.lows <= drawn.points) & (drawn.points <= drawn.highs)).all()
    return int(((drawn.lows <= low) & (high <= drawn.highs)).sum())


@pytest.mark.parametrize("fraction", [0.5, 0.9])
@pytest.mark.parametrize("name", DATA)
def test_the_interval_holds_the_exact_quantile_as_often_as_it_says(
    name: str, fraction: float
) -> None:
    """A fresh seed cries wolf once in 10^6, for each case."""
    mechanism = QuantileInterval(epsilon=1, fraction=fraction)
    found = hits(mechanism, DATA[name], fraction, 1_000)
    assert is_covered(found, 1_000, float(mechanism.level))


def test_half_the_margin_is_not_enough() -> None:
    """The broken twin: all but one of the points below are on the wrong side."""
    found = hits(Halved(epsilon=1, fraction=0.5), DATA["two heaps"], 0.5, 1_000)
    assert not is_covered(found, 1_000, 0.95)


@pytest.mark.parametrize("end", End)
@pytest.mark.parametrize("name", DATA)
def test_an_extreme_is_rarely_beyond_all_data(name: str, end: End) -> None:
    """A fresh seed cries wolf once in 10^6, for each case."""
    mechanism, rows = ExtremeInterval(epsilon=1, end=end), DATA[name]
    drawn = drawn_many(mechanism, rows, 1_000, size=GRID, seed=313)
    exact = min(rows) if end is End.MIN else max(rows)
    found = int(((drawn.lows <= exact) & (exact <= drawn.highs)).sum())
    assert is_covered(found, 1_000, float(mechanism.level))
    assert (drawn.lows == 0).all() if end is End.MIN else (drawn.highs == GRID - 1).all()


def test_an_extreme_that_aims_at_the_middle_of_small_groups_would_stray() -> None:
    """The broken twin: the plain mechanism, whose target in a small group is its middle."""
    plain = Extreme(epsilon=1, end="max")
    chosen = plain.release_many(
        [10] * 1_000, [3] * 1_000, list(range(1_001)), GRID, entropy=ReplayableEntropy(seed=314)
    )
    assert not is_covered(int((chosen <= 10).sum()), 1_000, 0.95)


# --------------------------------------------------------------------------- too few rows


@pytest.mark.parametrize(
    "mechanism", [QuantileInterval(epsilon=1, fraction=0.5), ExtremeInterval(epsilon=1, end="max")]
)
def test_groups_without_rows_are_rarely_shown_and_large_ones_nearly_always(
    mechanism: RankedInterval,
) -> None:
    """A fresh seed cries wolf once in 10^6."""
    draws = 2_000
    empty = mechanism.release_many(
        [], [], np.zeros(draws + 1, np.int64), GRID, entropy=ReplayableEntropy(seed=315)
    )
    assert is_covered(draws - int(empty.is_supported.sum()), draws, float(1 - EMPTY_SHOWN))
    enough = list(range(2 * mechanism.support(GRID)))
    large = drawn_many(mechanism, enough, 500, size=GRID, seed=316)
    assert is_covered(int(large.is_supported.sum()), 500, 0.99)


def test_more_rows_are_needed_the_more_a_unit_has() -> None:
    one, ten = (QuantileInterval(epsilon=1, fraction=0.5, rows_per_unit=n) for n in (1, 10))
    assert 9 * one.support(GRID) < ten.support(GRID) < 11 * one.support(GRID)


@pytest.mark.parametrize(
    ("kind", "terms"),
    [(QuantileInterval, {"fraction": 0.5}), (ExtremeInterval, {"end": "max"})],
)
def test_a_margin_of_more_rows_than_can_be_counted_is_rejected(
    kind: type[QuantileInterval], terms: dict[str, object]
) -> None:
    with pytest.raises(ParameterError, match="must be larger"):
        kind(epsilon=1e-9, rows_per_unit=10**6, **terms)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [1, 2, 3])
def test_grids_of_few_points_are_released(size: int) -> None:
    mechanism = QuantileInterval(epsilon=1, fraction=0.5)
    drawn = drawn_many(mechanism, [0] * 100, 20, size=size, seed=317)
    assert set(drawn.lows.tolist()) == {0}
    assert (drawn.highs < size).all()
