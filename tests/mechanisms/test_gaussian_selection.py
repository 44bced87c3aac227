"""Partition selection by Gaussian noise: its price, its threshold, its law and its margins."""

from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import beta

from discreet.accounting.compose import compose
from discreet.errors import ParameterError
from discreet.mechanisms import GaussianPartitionSelection, PartitionSelection
from discreet.mechanisms.gaussian import VARIATION
from discreet.mechanisms.gaussian_selection import (
    GaussianSelectionDistribution,
    at_least_up,
    least_gaussian_threshold,
    normal_tail_up,
)
from tests.mechanisms.auditor import epsilon_lower_bound
from tests.mechanisms.checks import is_covered
from tests.replay import ReplayableEntropy
from tests.statistics import FALSE_ALARM, share_misfit

prices = st.fractions(min_value=Fraction(1, 5), max_value=5, max_denominator=20)
deltas = st.sampled_from([Fraction(1, 10**6), Fraction(1, 100), Fraction(3, 10)])


# --------------------------------------------------------------------------- the threshold


@given(st.fractions(min_value=Fraction(1, 1000), max_value=400, max_denominator=1000))
def test_the_bound_on_a_tail_is_above_it_and_close(squared: Fraction) -> None:
    true = float(ndtr(-(float(squared) ** 0.5)))
    bound = float(normal_tail_up(squared))
    assert true * (1 - 1e-9) <= bound
    assert bound <= true * (1.002 if squared > 20 else 3)


@given(prices, deltas, st.integers(min_value=1, max_value=20))
def test_all_keys_of_one_unit_are_seen_with_half_of_delta_at_most(
    epsilon: Fraction, delta: Fraction, groups: int
) -> None:
    """By the law that is drawn, and by a bound that is proved; one lower is beyond that bound."""
    mechanism = GaussianPartitionSelection(epsilon=epsilon, delta=delta, groups=groups)
    assert groups * mechanism.keep_probability(1) <= float(delta) / 2 * (1 + 1e-9)
    assert mechanism.keep_probability(0) == 0
    k, share = mechanism.threshold, delta / 2 / groups
    assert at_least_up(mechanism.noise, k - Fraction(1, 2)) <= share
    assert k == 1 or at_least_up(mechanism.noise, k - Fraction(3, 2)) > share


def test_it_shows_more_where_a_unit_is_in_many_groups() -> None:
    """At (1, 1e-6) and ten groups 75 units are enough, where Laplace noise needs 132."""
    found = {
        groups: (
            GaussianPartitionSelection(epsilon=1, delta=1e-6, groups=groups).threshold,
            PartitionSelection(epsilon=1, delta=1e-6, groups=groups).threshold,
        )
        for groups in (1, 2, 4, 10, 100)
    }
    assert found[10] == (75, 132)
    assert [groups for groups, (gaussian, laplace) in found.items() if gaussian < laplace] == [
        4,
        10,
        100,
    ]


@pytest.mark.parametrize(("groups", "epsilon"), [(10**6, 0.01), (1, 10), (300, 0.1)])
def test_the_threshold_is_the_least_one_at_every_scale(groups: int, epsilon: float) -> None:
    mechanism = GaussianPartitionSelection(epsilon=epsilon, delta=1e-3, groups=groups)
    k, share = mechanism.threshold, mechanism.delta / 2 / groups
    assert at_least_up(mechanism.noise, k - Fraction(1, 2)) <= share
    assert k == 1 or at_least_up(mechanism.noise, k - Fraction(3, 2)) > share


def test_a_delta_that_the_grid_takes_is_refused() -> None:
    noise = GaussianPartitionSelection(epsilon=1, delta=1e-6).noise
    with pytest.raises(ParameterError, match="must be larger for this many groups"):
        least_gaussian_threshold(noise, VARIATION)
    with pytest.raises(ParameterError):
        GaussianPartitionSelection(epsilon=1, delta=1e-30, groups=5)


# --------------------------------------------------------------------------- the price


def joint_excess(
    mechanism: GaussianPartitionSelection,
    before: tuple[int, ...],
    after: tuple[int, ...],
    threshold: int,
    narrower: float = 1.0,
) -> float:
    """Return Σ max(0, P - e^epsilon Q) over all outputs of two keys, in the worse direction."""
    sides = []
    for numbers in (before, after):
        first, second = (_law(mechanism, each, threshold, narrower) for each in numbers)
        sides.append(np.outer(first, second))
    growth = exp(mechanism.epsilon)
    pairs = (sides, sides[::-1])
    return max(float(np.maximum(0, p - growth * q).sum()) for p, q in pairs)


def _law(
    mechanism: GaussianPartitionSelection, units: int, threshold: int, narrower: float
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the probabilities of all outputs; noise of a part of the deviation, if one is given.

    The first is that of a key that is not shown.
    """
    far = units + int(12 * mechanism.scale) + 2
    ends = (np.arange(threshold, far + 1) + 0.5 - units) / (mechanism.scale * narrower)
    below = ndtr(ends)
    if units == 0:
        below = np.ones_like(below)
    law = np.concatenate([below[:1], np.diff(below), 1 - below[-1:]])
    return np.pad(law, (0, 400 - len(law)))


STEPS = [(n, n + 1) for n in (0, 1, 3, 12, 40)]


def test_two_keys_keep_the_definition_in_all_their_outputs_together() -> None:
    """The joint law of the two keys of a unit that comes or goes, over all pairs of outputs.

    The twins have the next lower threshold but one, and three quarters of the noise.
    """
    right = GaussianPartitionSelection(epsilon=1, delta=0.02, groups=2)
    cases = [((a, b), (c, d)) for (a, c), (b, d) in product(STEPS, STEPS)]

    def worst(threshold: int, narrower: float = 1.0) -> float:
        return max(joint_excess(right, *each, threshold, narrower) for each in cases)

    assert worst(right.threshold) <= 0.02 * (1 + 1e-9)
    assert worst(right.threshold - 3) > 0.02
    assert worst(right.threshold, 0.75) > 0.02


def test_a_unit_that_is_replaced_is_within_the_price() -> None:
    right = GaussianPartitionSelection(epsilon=1, delta=0.02, neighbours="replace")
    cases = [((a, d), (c, b)) for (a, c), (b, d) in product(STEPS, STEPS)]
    assert max(joint_excess(right, *each, right.threshold) for each in cases) <= 0.02 * (1 + 1e-9)
    both = GaussianPartitionSelection(epsilon=1, delta=0.02, groups=2)
    assert (right.threshold, right.scale) == (both.threshold, both.scale)


def test_a_release_costs_what_was_asked_for_in_both_forms() -> None:
    """As it is known by its price, and as Gaussian noise with a delta, which composes better."""
    mechanism = GaussianPartitionSelection(epsilon=0.5, delta=1e-6, groups=4)
    assert compose([mechanism.event], delta=Fraction(1, 10**6)).epsilon == Fraction(1, 2)
    (drawn, shown) = mechanism.concentrated_event.events
    assert drawn == mechanism.noise.event
    assert compose([mechanism.concentrated_event], delta=2e-6).epsilon <= 0.5 * (1 + 1e-6)
    ten = compose([mechanism.concentrated_event] * 10, delta=2e-5).epsilon
    assert ten < compose([mechanism.event] * 10, delta=2e-5).epsilon / 2
    assert shown.epsilon == 0  # type: ignore[attr-defined]


# --------------------------------------------------------------------------- draws


@pytest.mark.parametrize("units", [1, 20, 30, 60])
def test_keys_are_seen_as_often_as_the_law_says(units: int) -> None:
    """A fresh seed cries wolf once in 10^6; the twin states a deviation of a tenth more."""
    mechanism, runs = GaussianPartitionSelection(epsilon=1, delta=0.01, groups=3), 200_000
    entropy = ReplayableEntropy(seed=301)
    released = mechanism.release(np.full(runs, units), entropy=entropy)
    law = mechanism.distribution(units)
    assert (released.numbers > mechanism.threshold).tolist() == released.kept.tolist()
    assert share_misfit(int(released.kept.sum()), runs, law.kept) > FALSE_ALARM
    numbers = range(mechanism.threshold + 1, units + int(9 * mechanism.scale))
    assert sum(map(law.pmf, numbers)) + law.pmf(0) == pytest.approx(1, abs=1e-6)
    if units == 20:
        wider = (units - mechanism.threshold - 0.5) / (1.1 * mechanism.scale)
        assert share_misfit(int(released.kept.sum()), runs, float(ndtr(wider))) < FALSE_ALARM


def test_a_key_of_one_unit_is_seldom_seen() -> None:
    """By the Clopper-Pearson bound; the broken twin shows keys at three quarters of the threshold.

    A fresh seed cries wolf less than once in 10^6.
    """
    runs, entropy = 100_000, ReplayableEntropy(seed=302)
    mechanism = GaussianPartitionSelection(epsilon=1, delta=0.02)
    released = mechanism.release(np.ones(runs, np.int64), entropy=entropy)

    def upper(hits: int) -> float:
        return float(beta.ppf(1 - FALSE_ALARM, hits + 1, runs - hits))

    assert upper(int(released.kept.sum())) <= 0.02
    noisy = mechanism.release(np.full(runs, 10**6), entropy=entropy).numbers - 10**6 + 1
    assert upper(int((noisy > mechanism.threshold * 3 // 4).sum())) > 0.02


def test_an_audit_finds_no_more_than_the_price() -> None:
    """A fresh seed cries wolf once in 10^6; the twin draws the noise of six times the price."""
    entropy, runs = ReplayableEntropy(seed=303), 200_000
    for epsilon, is_caught in ((1, False), (6, True)):
        mechanism = GaussianPartitionSelection(epsilon=epsilon, delta=1e-5)
        near = 3 * mechanism.threshold
        numbers = [
            mechanism.release(np.full(runs, units), entropy=entropy).numbers
            for units in (near, near + 1)
        ]
        assert (epsilon_lower_bound(*numbers) > 1) is is_caught


def test_a_key_of_nobody_is_never_seen_and_large_ones_are() -> None:
    mechanism = GaussianPartitionSelection(epsilon=0.1, delta=0.5)
    entropy = ReplayableEntropy(seed=304)
    assert not mechanism.release(np.zeros(10_000, np.int64), entropy=entropy).kept.any()
    released = mechanism.release([0, 2**61, 2**80], entropy=entropy)
    assert released.kept.tolist() == [False, True, True]
    assert mechanism.release([]).kept.size == 0


@pytest.mark.parametrize("units", [[-1, 3], [[1, 2]], [1.5], ["a"], 7])
def test_what_are_no_numbers_of_units_is_refused_without_being_shown(units: object) -> None:
    with pytest.raises(ParameterError, match="must be") as caught:
        GaussianPartitionSelection(epsilon=1, delta=1e-6).release(units)  # type: ignore[arg-type]
    assert "given" not in str(caught.value)


# --------------------------------------------------------------------------- margins


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_margin_is_kept_as_often_as_it_says(confidence: float) -> None:
    """A fresh seed cries wolf once in 10^6."""
    mechanism, runs = GaussianPartitionSelection(epsilon=0.5, delta=1e-4, groups=5), 20_000
    units = 10 * mechanism.threshold
    released = mechanism.release(np.full(runs, units), entropy=ReplayableEntropy(seed=305))
    off = np.abs(released.numbers - units)
    assert is_covered(int((off <= mechanism.margin(confidence)).sum()), runs, confidence)


def misses(law: GaussianSelectionDistribution, told: tuple[int, int, int], far: int) -> float:
    """Return how often a number that is shown is off by more than the ± that is told with it."""
    margin, clear, widest = told
    missed = 0.0
    for number in range(law.threshold + 1, law.units + far):
        allowed = widest if number <= clear else margin
        missed += law.pmf(number) * (abs(number - law.units) > allowed)
    return missed / law.kept


@settings(max_examples=15)
@given(prices, deltas, st.sampled_from([0.5, 0.8, 0.95, 0.999]))
def test_numbers_that_are_shown_keep_their_margin_whatever_made_them_shown(
    epsilon: Fraction, delta: Fraction, confidence: float
) -> None:
    mechanism = GaussianPartitionSelection(epsilon=epsilon, delta=delta)
    k, margin = mechanism.threshold, mechanism.margin(confidence)
    told = margin, mechanism.clear(confidence), mechanism.widest(confidence)
    far = int(8 * mechanism.scale) + 2
    for units in {1, k // 2 + 1, k, k + 1, k + margin // 2, k + margin, k + 2 * margin}:
        law = mechanism.distribution(units)
        if law.kept > 1e-9:
            assert misses(law, told, far) <= (1 - confidence) * (1 + 1e-6)


def test_a_margin_that_forgets_why_a_number_is_shown_is_caught() -> None:
    mechanism = GaussianPartitionSelection(epsilon=1, delta=1e-6)
    told = mechanism.margin(0.95), 0, 0
    assert misses(mechanism.distribution(2), told, 200) == pytest.approx(1)


@given(prices, deltas, st.sampled_from([1e-6, 0.05, 0.5, 0.95, 0.99]))
def test_the_smallest_key_that_is_seen_is_the_smallest(
    epsilon: Fraction, delta: Fraction, probability: float
) -> None:
    mechanism = GaussianPartitionSelection(epsilon=epsilon, delta=delta)
    least = mechanism.smallest_seen(probability)
    assert mechanism.keep_probability(least) >= probability
    assert least == 1 or mechanism.keep_probability(least - 1) < probability
