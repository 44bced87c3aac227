"""Partition selection: who can be seen, with which odds, how often, how exactly."""

from collections.abc import Sequence
from fractions import Fraction
from math import exp

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from discreet.accounting.compose import compose
from discreet.errors import ParameterError
from discreet.mechanisms import REPLACE, PartitionSelection
from discreet.mechanisms.partition_selection import (
    SelectionDistribution,
    enclose_at_least,
    enclose_beyond,
    enclose_truncated,
    least_threshold,
)
from discreet.noise import discrete_laplace
from discreet.noise.enclosures import exp_neg, is_at_most
from tests.mechanisms.auditor import epsilon_lower_bound
from tests.mechanisms.checks import BITS, SLACK, is_covered
from tests.replay import ReplayableEntropy
from tests.statistics import FALSE_ALARM, misfit, share_misfit

prices = st.fractions(min_value=Fraction(1, 5), max_value=5, max_denominator=20)
deltas = st.sampled_from([Fraction(1, 10**6), Fraction(1, 100), Fraction(3, 10), Fraction(9, 10)])


def excess_is_within(
    here: SelectionDistribution, there: SelectionDistribution, epsilon: Fraction, delta: Fraction
) -> bool:
    """Tell whether Σ max(0, P - e^epsilon Q) ≤ delta over all outputs, by brackets."""
    far = max(here.units, there.units) + here.threshold + 1
    shrunk_high = exp_neg(epsilon, BITS)[1]
    total = 0
    for number in (0, *range(here.threshold + 1, far + 1)):
        p_high, q_low = here.enclose(number)(BITS)[1], there.enclose(number)(BITS)[0]
        # P - e^ε Q ≤ excess exactly if e^-ε P - Q ≤ e^-ε excess: both sides times 4**BITS.
        total += max(0, p_high * shrunk_high - (q_low << BITS))
    bound = delta * exp_neg(epsilon, BITS)[0] * (1 << BITS)
    return total <= bound * (1 + SLACK) + far * (1 << BITS + 8)


@settings(max_examples=30)
@given(prices, deltas, st.data())
def test_one_key_is_within_its_price(
    epsilon: Fraction, delta: Fraction, data: st.DataObject
) -> None:
    """The definition of (epsilon, delta)-DP, summed over all outputs."""
    mechanism = PartitionSelection(epsilon=epsilon, delta=delta)
    units = data.draw(st.integers(min_value=0, max_value=3 * mechanism.threshold))
    fewer, more = mechanism.distribution(units), mechanism.distribution(units + 1)
    assert excess_is_within(fewer, more, epsilon, delta)
    assert excess_is_within(more, fewer, epsilon, delta)


@settings(max_examples=30)
@given(prices, deltas)
def test_a_threshold_one_lower_is_beyond_the_price(epsilon: Fraction, delta: Fraction) -> None:
    right = PartitionSelection(epsilon=epsilon, delta=delta)
    low = max(0, right.threshold - 1)
    laws = [SelectionDistribution(units=n, scale=right.scale, threshold=low) for n in (0, 1)]
    assert not excess_is_within(laws[1], laws[0], epsilon, delta)


@settings(max_examples=30)
@given(prices)
def test_half_the_noise_is_beyond_the_price(epsilon: Fraction) -> None:
    delta = Fraction(1, 10**6)
    right = PartitionSelection(epsilon=epsilon, delta=delta)
    far = 3 * right.threshold
    laws = [
        SelectionDistribution(units=n, scale=right.scale / 2, threshold=right.threshold)
        for n in (far, far + 1)
    ]
    assert not excess_is_within(laws[1], laws[0], epsilon, delta)


@given(prices, deltas, st.integers(min_value=1, max_value=20))
def test_a_key_of_one_unit_is_seen_with_probability_delta_at_most(
    epsilon: Fraction, delta: Fraction, groups: int
) -> None:
    """By brackets. All the keys that one unit is in are seen with delta at most, together (S14)."""
    mechanism = PartitionSelection(epsilon=epsilon, delta=delta, groups=groups)
    one = enclose_truncated(mechanism.scale, mechanism.threshold, mechanism.threshold)
    assert is_at_most(one, delta / groups)
    assert mechanism.keep_probability(1) <= float(delta / groups) * (1 + 1e-12)
    assert mechanism.keep_probability(0) == 0
    assert mechanism.keep_probability(2 * mechanism.threshold) < 1
    assert mechanism.keep_probability(2 * mechanism.threshold + 1) == 1


def beyond_is_within(mechanism: PartitionSelection, moves: Sequence[int], threshold: int) -> bool:
    """Tell whether keys that move so far give what a neighbour cannot with delta at most."""
    bounds = [
        enclose_at_least(mechanism.scale, threshold, threshold + 1 - each)(BITS)[0]
        for each in moves
    ]
    return sum(bounds) <= mechanism.delta * (1 << BITS)


@settings(max_examples=50)
@given(prices, deltas, st.integers(min_value=1, max_value=12), st.data())
def test_rows_of_a_unit_are_within_its_price_however_they_lie(
    epsilon: Fraction, delta: Fraction, rows: int, data: st.DataObject
) -> None:
    """Each key costs its share of epsilon, and what its neighbour cannot give adds up to delta."""
    in_one = data.draw(st.integers(min_value=1, max_value=rows))
    mechanism = PartitionSelection(epsilon=epsilon, delta=delta, groups=rows, in_one=in_one)
    moves: list[int] = []
    left = rows
    while left and len(moves) < rows:
        moves.append(data.draw(st.integers(min_value=1, max_value=min(in_one, left))))
        left -= moves[-1]
    assert beyond_is_within(mechanism, moves, mechanism.threshold)
    before = data.draw(st.integers(min_value=0, max_value=2 * mechanism.threshold + 2))
    laws = [mechanism.distribution(before), mechanism.distribution(before + moves[0])]
    share = moves[0] * mechanism.epsilon / rows
    beyond = enclose_at_least(
        mechanism.scale, mechanism.threshold, mechanism.threshold + 1 - moves[0]
    )(BITS)[1]
    own_delta = Fraction(beyond, 1 << BITS)
    assert excess_is_within(laws[1], laws[0], share, own_delta)
    assert excess_is_within(laws[0], laws[1], share, own_delta)


@settings(max_examples=30)
@given(prices, st.integers(min_value=2, max_value=12))
def test_rows_need_more_than_the_threshold_of_units(epsilon: Fraction, rows: int) -> None:
    """The broken twin takes the threshold at which each row were a unit of its own."""
    delta = Fraction(1, 10**6)
    right = PartitionSelection(epsilon=epsilon, delta=delta, groups=rows, in_one=rows)
    of_units = PartitionSelection(epsilon=epsilon, delta=delta, groups=rows)
    assert right.threshold >= of_units.threshold
    lower = right.threshold - 1
    assert beyond_is_within(right, [rows], right.threshold)
    assert lower < rows or not beyond_is_within(right, [rows], lower)
    assert beyond_is_within(right, [rows], of_units.threshold) is (
        right.threshold == of_units.threshold
    )


def test_two_neighbours_of_few_rows_keep_the_definition_in_all_their_keys_together() -> None:
    """The joint law of two keys, summed over all pairs of outputs; the twin has a lower threshold.

    A unit of three rows comes or goes, with two rows in one key and one in the other, or all three
    in one.
    """
    right = PartitionSelection(epsilon=2, delta=0.05, groups=3, in_one=3)
    for threshold, is_within in ((right.threshold, True), (right.threshold - 1, False)):
        worst = max(
            _joint_excess(right, threshold, before, moves)
            for before in ((0, 0), (1, 3), (threshold, 0), (2 * threshold, 1))
            for moves in ((3, 0), (2, 1))
        )
        assert (worst <= 0.05 * (1 + 1e-9)) is is_within


def _joint_excess(
    mechanism: PartitionSelection, threshold: int, before: Sequence[int], moves: Sequence[int]
) -> float:
    """Return Σ max(0, P - e^epsilon Q) over pairs of outputs, the larger of both directions."""
    sides = []
    for numbers in (before, [n + m for n, m in zip(before, moves, strict=True)]):
        laws = [
            SelectionDistribution(units=n, scale=mechanism.scale, threshold=threshold)
            for n in numbers
        ]
        outputs = range(max(before) + max(moves) + threshold + 1)
        first, second = (np.array([law.pmf(each) for each in outputs]) for law in laws)
        sides.append(np.outer(first, second))
    growth = exp(mechanism.epsilon)
    pairs = ((sides[0], sides[1]), (sides[1], sides[0]))
    return max(float(np.maximum(0, p - growth * q).sum()) for p, q in pairs)


def test_a_key_of_one_unit_is_seldom_seen() -> None:
    """10^5 keys of one person at delta = 10^-2: the Clopper-Pearson bound says so (S14).

    The true share is 0.0062: a fresh seed cries wolf less than once in 10^6. The broken twin shows
    keys whose noisy number reaches the threshold.
    """
    entropy, runs = ReplayableEntropy(seed=201), 100_000
    mechanism = PartitionSelection(epsilon=1.1, delta=0.01)
    released = mechanism.release(np.ones(runs, np.int64), entropy=entropy)

    def upper(hits: int) -> float:
        return float(beta.ppf(1 - FALSE_ALARM, hits + 1, runs - hits))

    assert upper(int(released.kept.sum())) <= 0.01
    lax = 1 + discrete_laplace(mechanism.scale, runs, entropy=entropy) >= mechanism.threshold
    assert upper(int(lax.sum())) > 0.01


def test_a_key_of_nobody_is_never_seen() -> None:
    mechanism = PartitionSelection(epsilon=0.1, delta=0.5)
    released = mechanism.release(np.zeros(100_000, np.int64), entropy=ReplayableEntropy(seed=202))
    assert not released.kept.any()
    assert not released.numbers.any()


@pytest.mark.parametrize("units", [1, 3, 5, 6, 20])
def test_released_numbers_have_the_stated_law(units: int) -> None:
    """A fresh seed cries wolf twice in 10^6; the broken twin states 5 % more privacy."""
    entropy, runs = ReplayableEntropy(seed=203), 200_000
    mechanism = PartitionSelection(epsilon=1, delta=0.01)
    released = mechanism.release(np.full(runs, units), entropy=entropy)
    law = mechanism.distribution(units)
    assert (released.numbers > mechanism.threshold).tolist() == released.kept.tolist()
    assert misfit(released.numbers, law.pmf, units + mechanism.threshold, least=0) > FALSE_ALARM
    twin = SelectionDistribution(
        units=units, scale=mechanism.scale * Fraction(105, 100), threshold=mechanism.threshold
    )
    if units > 1:
        assert misfit(released.numbers, twin.pmf, units + 4, least=0) < FALSE_ALARM
    assert share_misfit(int(released.kept.sum()), runs, law.kept) > FALSE_ALARM


@settings(max_examples=30)
@given(prices, deltas, st.data())
def test_floats_and_brackets_state_the_same_law(
    epsilon: Fraction, delta: Fraction, data: st.DataObject
) -> None:
    mechanism = PartitionSelection(epsilon=epsilon, delta=delta)
    k = mechanism.threshold
    law = mechanism.distribution(data.draw(st.integers(min_value=0, max_value=2 * k + 3)))
    numbers = [0, *range(k + 1, law.units + k + 2)]
    assert sum(map(law.pmf, numbers)) == pytest.approx(1, abs=1e-9)
    assert law.pmf(0) == pytest.approx(1 - law.kept, abs=1e-12)
    assert law.pmf(k) == law.pmf(-1) == 0
    for number in numbers:
        low, high = law.enclose(number)(200)
        assert law.pmf(number) == pytest.approx(low / 2**200, rel=1e-9, abs=1e-15)
        assert 0 <= high - low <= 1 << 16


@pytest.mark.parametrize(("epsilon", "threshold"), [(1.0, 7), (0.25, 20), (3.0, 2), (0.01, 5)])
def test_no_rule_of_this_price_shows_a_key_more_often(epsilon: float, threshold: int) -> None:
    """The best a key of n + 1 units can hope for, given one of n (Desfontaines et al. 2022)."""
    scale = 1 / Fraction(str(epsilon))
    laws = [
        SelectionDistribution(units=n, scale=scale, threshold=threshold)
        for n in range(2 * threshold + 2)
    ]
    delta, best = laws[1].kept, 0.0
    for law in laws[1:]:
        best = min(exp(epsilon) * best + delta, 1 - exp(-epsilon) * (1 - best - delta), 1.0)
        assert law.kept == pytest.approx(best, rel=1e-9)


@given(
    st.fractions(min_value=Fraction(1, 250), max_value=10**15, max_denominator=250),
    st.one_of(deltas, st.sampled_from([Fraction(1, 10**100), Fraction(999, 1000)])),
)
def test_the_threshold_is_the_least_one(scale: Fraction, delta: Fraction) -> None:
    k = least_threshold(scale, delta)
    assert is_at_most(enclose_truncated(scale, k, k), delta)
    less = k - max(1, k >> 43)
    assert k == 1 or not is_at_most(enclose_truncated(scale, less, less), delta)


@given(prices, deltas, st.sampled_from([1e-9, 0.05, 0.5, 0.95, 1 - 1e-9, 1]))
def test_the_smallest_key_that_is_seen_is_the_smallest(
    epsilon: Fraction, delta: Fraction, probability: float
) -> None:
    mechanism = PartitionSelection(epsilon=epsilon, delta=delta)
    least = mechanism.smallest_seen(probability)
    assert mechanism.keep_probability(least) >= probability * (1 - 1e-12)
    assert mechanism.keep_probability(least - 1) <= probability * (1 + 1e-12)


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_error_is_kept_as_often_as_it_says_and_is_least(confidence: float) -> None:
    """A fresh seed cries wolf once in 10^6."""
    mechanism, runs = PartitionSelection(epsilon=0.2, delta=1e-4), 20_000
    units = 2 * mechanism.threshold + 1
    error = mechanism.margin(confidence)
    released = mechanism.release(np.full(runs, units), entropy=ReplayableEntropy(seed=204))
    assert released.kept.all()
    off = np.abs(released.numbers - units)
    assert is_covered(int((off <= error).sum()), runs, confidence)
    law = mechanism.distribution(units)
    within = sum(law.pmf(units + x) for x in range(-error, error + 1))
    assert within >= confidence * (1 - 1e-12)
    assert within - 2 * law.pmf(units + error) < confidence
    assert mechanism.margin(1 - 1e-15) <= mechanism.threshold


def misses(mechanism: PartitionSelection, units: int, error: int, clear: int) -> float:
    """Return how often a number that is shown is off by more than the ± that is told with it."""
    law, k = mechanism.distribution(units), mechanism.threshold
    numbers = range(max(clear, units - k - 1) + 1, units + k + 1)
    return sum(law.pmf(each) for each in numbers if abs(each - units) > error) / law.kept


@settings(max_examples=30)
@given(prices, deltas, st.sampled_from([0.5, 0.8, 0.95, 0.999]), st.integers(1, 5))
def test_numbers_that_are_shown_keep_their_spread_whatever_made_them_shown(
    epsilon: Fraction, delta: Fraction, confidence: float, rows: int
) -> None:
    mechanism = PartitionSelection(epsilon=epsilon, delta=delta, groups=rows, in_one=rows)
    k, error = mechanism.threshold, mechanism.margin(confidence)
    assume(k < 500)
    edges = {1, k // 2, k, k + 1, k + error // 2, k + error, k + error + 1, k + 2 * error, 2 * k}
    for units in edges - {0}:
        told = misses(mechanism, units, error, mechanism.clear(confidence))
        assert told <= (1 - confidence) * (1 + 1e-9)


def test_a_spread_that_forgets_why_a_number_is_shown_is_caught() -> None:
    """The twin tells the usual ± of all numbers: those of small keys are never within it."""
    mechanism = PartitionSelection(epsilon=1, delta=1e-6)
    assert misses(mechanism, 2, mechanism.margin(0.95), clear=0) == 1


def test_a_unit_in_many_keys_and_one_that_is_replaced_pay_for_all_of_them() -> None:
    one = PartitionSelection(epsilon=1, delta=1e-6)
    five = PartitionSelection(epsilon=5, delta=5e-6, groups=5)
    assert (five.scale, five.threshold) == (one.scale, one.threshold)
    moved = PartitionSelection(epsilon=2, delta=2e-6, neighbours=REPLACE)
    assert (moved.scale, moved.threshold) == (one.scale, one.threshold)
    assert moved == PartitionSelection(epsilon=2, delta=2e-6, neighbours="replace")


def test_a_release_costs_what_was_asked_for_however_many_keys_there_are() -> None:
    mechanism = PartitionSelection(epsilon=0.5, delta=1e-6, groups=4)
    price = compose([mechanism.event], delta=Fraction(1, 10**6))
    assert price.epsilon == Fraction(1, 2)


def test_an_audit_of_many_units_finds_no_more_than_the_price() -> None:
    """A fresh seed cries wolf once in 10^6; the twin draws the noise of twice the price (R12)."""
    entropy, runs = ReplayableEntropy(seed=205), 200_000
    for epsilon, is_caught in ((1, False), (2, True)):
        mechanism = PartitionSelection(epsilon=epsilon, delta=1e-9)
        near = mechanism.threshold
        numbers = [
            mechanism.release(np.full(runs, units), entropy=entropy).numbers
            for units in (near, near + 1)
        ]
        assert (epsilon_lower_bound(*numbers) > 1) is is_caught


def test_a_million_keys_and_counts_beyond_all_reason_are_served() -> None:
    mechanism = PartitionSelection(epsilon=1, delta=1e-6)
    released = mechanism.release([0, 1, 2**61, 2**80], entropy=ReplayableEntropy(seed=206))
    assert released.kept.tolist() == [False, False, True, True]
    assert mechanism.release([]).kept.size == 0
    widest = PartitionSelection(epsilon=Fraction(1, 10**12), delta=1e-100, groups=1000)
    shown = widest.release(np.full(1000, 1 << 61), entropy=ReplayableEntropy(seed=207))
    assert shown.kept.all()
    assert (shown.numbers > 1 << 60).all()


@pytest.mark.parametrize("units", [[-1, 3], [[1, 2]], [1.5], ["a"], [None], 7])
def test_what_are_no_numbers_of_units_is_refused_without_being_shown(units: object) -> None:
    with pytest.raises(ParameterError, match="must be") as caught:
        PartitionSelection(epsilon=1, delta=1e-6).release(units)  # type: ignore[arg-type]
    assert "given" not in str(caught.value)


def test_noise_that_cannot_be_drawn_is_blamed_on_epsilon() -> None:
    with pytest.raises(ParameterError, match=r"^epsilon must be 256 or less for this many groups"):
        PartitionSelection(epsilon=300, delta=1e-6)


@pytest.mark.parametrize(("rows", "in_one"), [(20, 20), (7, 5), (10**5, 10**5), (10**5, 3)])
def test_rows_are_selected_at_every_price_that_noise_is_drawn_for(rows: int, in_one: int) -> None:
    """What a unit moves the odds by, e^1000, is more than floats can hold."""
    mechanism = PartitionSelection(epsilon=1000, delta=1e-6, groups=rows, in_one=in_one)
    k, delta = mechanism.threshold, mechanism.delta
    assert is_at_most(enclose_beyond(mechanism.scale, k, rows, in_one), delta)
    assert k == in_one or not is_at_most(
        enclose_beyond(mechanism.scale, k - 1, rows, in_one), delta
    )
    assert mechanism.release([3 * k]).kept.all()
