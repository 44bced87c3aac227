"""Quantiles and extremes: how far a row moves them, their odds, their law, their error."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.pure import pure_epsilon
from discreet.errors import ParameterError
from discreet.mechanisms import REPLACE, End, Exponential, Extreme, Neighbours, Quantile
from discreet.mechanisms.distributions import ChoiceDistribution
from discreet.noise.enclosures import exp_neg
from tests.mechanisms.auditor import epsilon_lower_bound
from tests.mechanisms.checks import BITS, SLACK, are_odds_within, indices_misfit, is_covered
from tests.mechanisms.strategies import moderate_epsilons
from tests.replay import ReplayableEntropy
from tests.statistics import FALSE_ALARM, misfit

Ranked = Quantile | Extreme
SIZE = 7

fractions = st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20)
points = st.integers(min_value=0, max_value=SIZE - 1)
data_sets = st.lists(points, max_size=8)


@st.composite
def mechanisms(draw: st.DrawFn, /, **given_too: Any) -> Ranked:
    """Draw a quantile or an extreme, of few and of many rows to a unit."""
    epsilon = draw(st.one_of(moderate_epsilons, st.just(Fraction(100))))
    if draw(st.booleans()):
        return Quantile(epsilon=epsilon, fraction=draw(fractions), **given_too)
    return Extreme(epsilon=epsilon, end=draw(st.sampled_from(End)), **given_too)


def histogram_of(rows: Sequence[int]) -> tuple[list[int], list[int]]:
    cells, counts = np.unique(np.array(rows, np.int64), return_counts=True)
    return cells.tolist(), counts.tolist()


def law_of(mechanism: Ranked, rows: Sequence[int], size: int = SIZE) -> ChoiceDistribution:
    return mechanism.distribution(*histogram_of(rows), size)


def utilities(mechanism: Ranked, rows: Sequence[int], size: int = SIZE) -> list[Fraction]:
    """Return each point's utility by its definition, in rows."""
    n = len(rows)
    if isinstance(mechanism, Quantile):
        target = mechanism.fraction * n
    else:
        near = min(mechanism.rank(size) - Fraction(1, 2), Fraction(n, 2))
        target = near if mechanism.end is End.MIN else n - near
    ranks = [(sum(x < z for x in rows), sum(x <= z for x in rows)) for z in range(size)]
    return [-max(low - target, target - high, Fraction(0)) for low, high in ranks]


@given(mechanisms(), data_sets, points)
def test_a_row_moves_no_utility_by_more_than_the_sensitivity(
    mechanism: Ranked, rows: list[int], value: int
) -> None:
    here, there = utilities(mechanism, rows), utilities(mechanism, [*rows, value])
    assert max(abs(x - y) for x, y in zip(here, there, strict=True)) <= mechanism.sensitivity


@given(mechanisms(), data_sets, points, points)
def test_a_row_that_changes_moves_no_utility_by_more_than_one(
    mechanism: Ranked, rows: list[int], old: int, new: int
) -> None:
    here, there = utilities(mechanism, [*rows, old]), utilities(mechanism, [*rows, new])
    most = max(abs(x - y) for x, y in zip(here, there, strict=True))
    assert most <= 1 <= 2 * mechanism.sensitivity


@pytest.mark.parametrize("fraction", [Fraction(1, 2), Fraction(1, 10), Fraction(9, 10)])
def test_the_sensitivity_is_reached(fraction: Fraction) -> None:
    """The broken twin: anything less, however little, would not hold."""
    mechanism = Quantile(epsilon=1, fraction=fraction)
    moves = [
        abs(x - y)
        for value in (0, SIZE - 1)
        for x, y in zip(
            utilities(mechanism, [3] * 4), utilities(mechanism, [3] * 4 + [value]), strict=True
        )
    ]
    assert max(moves) == mechanism.sensitivity == max(fraction, 1 - fraction)


@given(mechanisms(), data_sets)
def test_the_law_follows_the_utilities(mechanism: Ranked, rows: list[int]) -> None:
    """Runs of equal rank are drawn as one; the law is that of all points by their definition."""
    weights = np.exp([float(mechanism.rate * u) for u in utilities(mechanism, rows)])
    law = law_of(mechanism, rows)
    assert law.probabilities == pytest.approx(weights / weights.sum(), rel=1e-9, abs=1e-300)


@settings(max_examples=60)
@given(mechanisms(), data_sets, points)
def test_no_point_has_worse_odds_than_its_price(
    mechanism: Ranked, rows: list[int], value: int
) -> None:
    assert all_odds_within(mechanism, [(rows, [*rows, value])])


@settings(max_examples=60)
@given(mechanisms(rows_per_unit=3), st.lists(data_sets, min_size=3, max_size=3), st.data())
def test_a_unit_s_rows_in_several_groups_are_within_the_price(
    mechanism: Ranked, groups: list[list[int]], data: st.DataObject
) -> None:
    more = data.draw(_spread_rows(3))
    pairs = [(rows, rows + more[i]) for i, rows in enumerate(groups)]
    assert all_odds_within(mechanism, pairs)


@settings(max_examples=60)
@given(
    mechanisms(rows_per_unit=2, neighbours=REPLACE),
    st.lists(data_sets, min_size=3, max_size=3),
    st.data(),
)
def test_a_unit_whose_rows_move_between_groups_is_within_the_price(
    mechanism: Ranked, groups: list[list[int]], data: st.DataObject
) -> None:
    before, after = data.draw(_spread_rows(2)), data.draw(_spread_rows(2))
    pairs = [(rows + before[i], rows + after[i]) for i, rows in enumerate(groups)]
    assert all_odds_within(mechanism, pairs)


def test_a_row_that_moves_between_groups_breaks_the_price_of_add_remove() -> None:
    """The broken twin: neighbours mixed up. And rows beyond those that are paid for."""
    uneven, pair = [1] * 11 + [6] * 12, [0, 5]
    moved = [(uneven, [*uneven, 1]), ([*pair, 6], pair)]
    for neighbours, is_within in ((Neighbours.ADD_REMOVE, False), (REPLACE, True)):
        mechanism = Quantile(epsilon=4, fraction=0.5, neighbours=neighbours)
        assert all_odds_within(mechanism, moved) is is_within
    rows = [0] * 8 + [5] * 10
    for rows_per_unit, is_within in ((1, False), (2, True)):
        mechanism = Quantile(epsilon=4, fraction=0.5, rows_per_unit=rows_per_unit)
        assert all_odds_within(mechanism, [(rows, [*rows, 0, 0])]) is is_within


def test_a_replaced_unit_of_one_group_moves_utilities_by_its_rows_and_no_less() -> None:
    """All groups of up to four rows, all units of up to two rows: the sensitivity is reached."""
    size, rows_per_unit = 4, 2
    few = [
        list(each)
        for number in range(rows_per_unit + 1)
        for each in combinations_with_replacement(range(size), number)
    ]
    others = [
        list(each)
        for number in range(5)
        for each in combinations_with_replacement(range(size), number)
    ]
    for mechanism in single_mechanisms(rows_per_unit):
        most = max(
            abs(x - y)
            for rows in others
            for before, after in product(few, few)
            for x, y in zip(
                utilities(mechanism, rows + before, size),
                utilities(mechanism, rows + after, size),
                strict=True,
            )
        )
        assert most == mechanism.sensitivity == rows_per_unit


def single_mechanisms(rows_per_unit: int) -> list[Ranked]:
    """Return quantiles and extremes of one group under replace neighbours."""
    terms: dict[str, Any] = {
        "epsilon": 20,
        "rows_per_unit": rows_per_unit,
        "neighbours": REPLACE,
        "groups": 1,
    }
    quantiles = [Quantile(fraction=each, **terms) for each in (0.1, 0.5, 0.9)]
    return [*quantiles, *(Extreme(end=end, **terms) for end in End)]


@settings(max_examples=60)
@given(
    mechanisms(rows_per_unit=2, neighbours=REPLACE, groups=1),
    data_sets,
    st.lists(points, max_size=2),
    st.lists(points, max_size=2),
)
def test_a_unit_that_is_replaced_in_the_only_group_is_within_the_price(
    mechanism: Ranked, rows: list[int], before: list[int], after: list[int]
) -> None:
    assert all_odds_within(mechanism, [(rows + before, rows + after)])


def test_a_row_that_moves_between_groups_breaks_the_price_of_one_group() -> None:
    """The broken twin: what one group pays for is too little for two, so two are rejected."""
    entered, left = [1] * 9, [0] * 17 + [5] * 2
    moved = [(entered, [*entered, 6]), ([*left, 6], left)]
    for groups, is_within in ((1, False), (None, True)):
        mechanism = Quantile(epsilon=4, fraction=0.9, neighbours=REPLACE, groups=groups)
        assert all_odds_within(mechanism, moved) is is_within
    single = Quantile(epsilon=4, fraction=0.9, neighbours=REPLACE, groups=1)
    with pytest.raises(ParameterError, match="groups must be 2 or more for 2 groups, but 1"):
        single.release_many([0, 0], [1, 1], [0, 1, 2], SIZE)


@given(moderate_epsilons, fractions, st.integers(min_value=1, max_value=50))
def test_the_price_is_what_was_asked_for(epsilon: Fraction, fraction: Fraction, rows: int) -> None:
    mechanism = Quantile(epsilon=epsilon, fraction=fraction, rows_per_unit=rows)
    assert pure_epsilon(mechanism.event) == epsilon == 2 * mechanism.sensitivity * mechanism.rate
    assert mechanism.event == Exponential(epsilon=epsilon, sensitivity=1).event


ROWS = [1, 1, 2, 5, 5, 5, 6]


@pytest.mark.parametrize(
    ("mechanism", "twin"),
    [
        (Quantile(epsilon=1, fraction=0.5), Quantile(epsilon=1, fraction=0.6)),
        (Quantile(epsilon=1, fraction=0.25), Quantile(epsilon=1.3, fraction=0.25)),
        (Extreme(epsilon=8, end="max"), Extreme(epsilon=8, end="min")),
        (Extreme(epsilon=3.25, end="min"), Extreme(epsilon=4, end="min")),
    ],
    ids=repr,
)
def test_released_points_have_the_stated_law(mechanism: Ranked, twin: Ranked) -> None:
    """A fresh seed cries wolf once in 10^6; the twins aim elsewhere or claim another epsilon."""
    entropy, draws = ReplayableEntropy(seed=211), 10_000
    cells, counts = histogram_of(ROWS)
    many = mechanism.release_many(
        np.tile(cells, draws),
        np.tile(counts, draws),
        np.arange(draws + 1) * len(cells),
        SIZE,
        entropy=entropy,
    )
    assert misfit(many, law_of(mechanism, ROWS).pmf, SIZE - 1, least=0) > FALSE_ALARM
    assert misfit(many, law_of(twin, ROWS).pmf, SIZE - 1, least=0) < FALSE_ALARM


def test_one_group_and_many_are_drawn_alike() -> None:
    mechanism = Quantile(epsilon=1, fraction=0.5)
    cells, counts = histogram_of(ROWS)
    one = mechanism.release(cells, counts, SIZE, entropy=ReplayableEntropy(seed=212))
    many = mechanism.release_many(
        cells, counts, [0, len(cells)], SIZE, entropy=ReplayableEntropy(seed=212)
    )
    assert many.tolist() == [one]


@pytest.mark.parametrize(
    "mechanism", [Quantile(epsilon=1, fraction=0.3), Extreme(epsilon=1, end="max")]
)
def test_a_group_without_rows_gives_any_point_alike(mechanism: Ranked) -> None:
    """A fresh seed cries wolf once in 10^6."""
    entropy, draws = ReplayableEntropy(seed=213), 5_000
    nothing = np.zeros(draws + 1, np.int64)
    chosen = mechanism.release_many([], [], nothing, SIZE, entropy=entropy)
    assert indices_misfit(chosen.tolist(), [1 / SIZE] * SIZE) > FALSE_ALARM
    assert mechanism.distribution([], [], SIZE).probabilities == pytest.approx([1 / SIZE] * SIZE)


@pytest.mark.parametrize("confidence", [0.5, 0.95])
@pytest.mark.parametrize(
    "mechanism",
    [
        Quantile(epsilon=1, fraction=0.5),
        Quantile(epsilon=0.5, fraction=0.9),
        Extreme(epsilon=1, end="max"),
    ],
    ids=repr,
)
def test_the_rank_error_is_kept_as_often_as_it_says(mechanism: Ranked, confidence: float) -> None:
    """A fresh seed cries wolf once in 10^6. One row at each point: a point is its rank."""
    size, draws = 300, 3_000
    cells, counts = np.arange(size), np.ones(size, np.int64)
    error = mechanism.rank_error(confidence, size)
    chosen = mechanism.release_many(
        np.tile(cells, draws),
        np.tile(counts, draws),
        np.arange(draws + 1) * size,
        size,
        entropy=ReplayableEntropy(seed=214),
    )
    aim = (
        float(mechanism.fraction * size)
        if isinstance(mechanism, Quantile)
        else size - mechanism.rank(size) + 0.5
    )
    off = np.maximum(np.maximum(chosen - aim, aim - (chosen + 1)), 0)
    assert is_covered(int((off <= error).sum()), draws, confidence)


@given(st.lists(points, min_size=1, max_size=8), st.sampled_from(End))
def test_extremes_are_those_of_the_data_where_epsilon_is_large(rows: list[int], end: End) -> None:
    mechanism = Extreme(epsilon=10_000, end=end)
    assert mechanism.rank(SIZE) == 1
    extreme = min(rows) if end is End.MIN else max(rows)
    assert mechanism.release(*histogram_of(rows), SIZE) == extreme


@pytest.mark.parametrize("epsilon", [0.1, 1, 5])
@pytest.mark.parametrize("end", list(End))
def test_an_extreme_is_seldom_beyond_the_data(epsilon: float, end: End) -> None:
    """By the law itself: rows in the middle tenth of the grid, and nothing on either side.

    The broken twin aims at the extreme row and is drawn away in most releases.
    """
    size, rows = 1000, np.repeat(np.arange(450, 550), 100)
    law = law_of(Extreme(epsilon=epsilon, end=end), rows.tolist(), size)
    beyond = slice(550, None) if end is End.MAX else slice(0, 450)
    assert sum(law.probabilities[beyond]) <= 0.01
    naive = Quantile(epsilon=epsilon, fraction=0.9999 if end is End.MAX else 0.0001)
    if epsilon <= 1:
        assert sum(law_of(naive, rows.tolist(), size).probabilities[beyond]) > 0.5


def test_the_rank_that_is_aimed_at_falls_to_one_as_epsilon_grows() -> None:
    ranks = [Extreme(epsilon=e, end="max").rank(1000) for e in (0.01, 0.1, 1, 10, 100)]
    assert ranks == sorted(ranks, reverse=True)
    assert ranks[-1] == 1
    ten = Extreme(epsilon=1, end="max", rows_per_unit=10)
    assert ten.rank(1000) > 9 * Extreme(epsilon=1, end="max").rank(1000)


def test_a_small_group_gives_its_middle_rather_than_the_far_end() -> None:
    """Three rows, where rank 24 is aimed at: the middle one is the likeliest point."""
    mechanism = Extreme(epsilon=1, end="max")
    assert mechanism.rank(1000) > 3
    law = law_of(mechanism, [400, 500, 600], 1000)
    assert np.argmax(law.probabilities) == 500


@pytest.mark.parametrize("rows", [[0, 0, 0], [3, 3, 3], [0, 6, 0]])
def test_an_audit_of_ties_finds_no_more_than_the_price(rows: list[int]) -> None:
    """A fresh seed cries wolf once in 10^6 (R12)."""
    entropy, draws = ReplayableEntropy(seed=215), 20_000
    mechanism = Quantile(epsilon=1, fraction=0.5)
    chosen = []
    for data in (rows, [*rows, 6]):
        cells, counts = histogram_of(data)
        groups = np.arange(draws + 1) * len(cells)
        chosen.append(
            mechanism.release_many(
                np.tile(cells, draws), np.tile(counts, draws), groups, SIZE, entropy=entropy
            )
        )
    assert epsilon_lower_bound(chosen[0], chosen[1]) <= 1


def test_a_grid_of_a_billion_points_is_drawn_from_by_its_runs() -> None:
    mechanism, size = Quantile(epsilon=100, fraction=0.5), 1 << 30
    rows = [10, 2**20, 2**29, 2**29 + 1, 2**30 - 1]
    assert mechanism.release(rows, [1] * 5, size) == 2**29
    gap = Quantile(epsilon=1000, fraction=0.5).release([0, size - 1], [50, 50], size)
    assert 0 <= gap < size


@pytest.mark.parametrize(
    ("cells", "counts", "offsets", "size", "named"),
    [
        ([1, 1], [1, 1], [0, 2], 5, "cells"),
        ([2, 1], [1, 1], [0, 2], 5, "cells"),
        ([0, 5], [1, 1], [0, 2], 5, "cells"),
        ([-1, 3], [1, 1], [0, 2], 5, "cells"),
        ([[1]], [1], [0, 1], 5, "cells"),
        ([1], [1, 2], [0, 1], 5, "offsets"),
        ([1, 2], [1, 2], [0, 1], 5, "offsets"),
        ([1, 2], [1, 2], [1, 2], 5, "offsets"),
        ([1, 2], [1, 2], [0, 2, 1, 2], 5, "offsets"),
        ([1, 2], [1, 2], [], 5, "offsets"),
        ([1, 2], [-1, 2], [0, 2], 5, "counts"),
        ([1, 2], [2**60, 2**60], [0, 2], 5, "counts"),
        ([0.5], [1], [0, 1], 5, "exact"),
    ],
)
def test_rows_that_lie_nowhere_are_refused_without_being_shown(
    cells: Any, counts: Any, offsets: Any, size: int, named: str
) -> None:
    with pytest.raises(ParameterError, match=f"^{named} must ") as caught:
        Quantile(epsilon=1, fraction=0.5).release_many(cells, counts, offsets, size)
    assert "given" not in str(caught.value)


@pytest.mark.parametrize("size", [0, -1, 2.5, True, None, (1 << 30) + 1], ids=repr)
def test_no_grid_outside_the_proof_is_taken(size: Any) -> None:
    mechanism = Extreme(epsilon=1, end="max")
    for ask in (
        lambda: mechanism.release([0], [1], size),
        lambda: mechanism.rank(size),
        lambda: mechanism.rank_error(0.95, size),
        lambda: mechanism.distribution([0], [1], size),
    ):
        with pytest.raises(ParameterError, match=r"^grid_size must be"):
            ask()


def test_groups_may_begin_below_where_the_last_one_ended() -> None:
    mechanism = Quantile(epsilon=10_000, fraction=0.5)
    cells, offsets = [5, 6, 0, 3], [0, 2, 2, 3, 4]
    chosen = mechanism.release_many(cells, [1, 5, 1, 1], offsets, SIZE)
    assert chosen[[0, 2, 3]].tolist() == [6, 0, 3]


def all_odds_within(mechanism: Ranked, pairs: Sequence[tuple[list[int], list[int]]]) -> bool:
    """Tell whether the worst odds of several groups, multiplied, are e^epsilon at most."""
    laws = [(law_of(mechanism, here), law_of(mechanism, there)) for here, there in pairs]
    if len(laws) == 1:
        (here, there) = laws[0]
        return all(
            are_odds_within(here.enclose(z), there.enclose(z), mechanism.epsilon)
            and are_odds_within(there.enclose(z), here.enclose(z), mechanism.epsilon)
            for z in range(SIZE)
        )
    most = 1 / Fraction(exp_neg(mechanism.epsilon, BITS)[1], 1 << BITS) * (1 + SLACK)
    return all(prod(_worst_odds(*pair[::way]) for pair in laws) <= most for way in (1, -1))


def _worst_odds(here: ChoiceDistribution, there: ChoiceDistribution) -> Fraction:
    """Return max P / Q over all points, rounded up."""
    return max(Fraction(here.enclose(z)(BITS)[1], there.enclose(z)(BITS)[0]) for z in range(SIZE))


@st.composite
def _spread_rows(draw: st.DrawFn, most: int) -> list[list[int]]:
    """Draw at most so many rows, spread over three groups."""
    spread: list[list[int]] = [[], [], []]
    for value, group in draw(st.lists(st.tuples(points, st.integers(0, 2)), max_size=most)):
        spread[group].append(value)
    return spread
