"""Report noisy max and the noisy top: odds, choices, gaps, audits of ties (R12)."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from math import exp, tanh

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.pure import pure_epsilon
from discreet.errors import ParameterError
from discreet.mechanisms import NoiseKind, NoisyMax, NoisyTop, PermuteAndFlip
from discreet.mechanisms.exponential import permute_and_flip_distribution
from discreet.mechanisms.noisy_max import _laplace_max_law, _ranked
from discreet.noise import discrete_laplace, permutation
from discreet.noise.uniform import IntArray
from tests.mechanisms.auditor import Codes, epsilon_lower_bound
from tests.mechanisms.checks import are_odds_within, indices_misfit, is_covered
from tests.mechanisms.strategies import (
    epsilons,
    moderate_epsilons,
    moderate_sensitivities,
    score_lists,
    sensitivities,
)
from tests.replay import ReplayableEntropy
from tests.statistics import FALSE_ALARM

TOLERANCE = 1e-9
"""The law of noisy max with Laplace noise is summed in floats, to far better than this."""

MODULE = "discreet.mechanisms.noisy_max"
either = pytest.mark.parametrize("noise", list(NoiseKind), ids=lambda noise: noise.value)


def places_of(mechanism: NoisyMax, scores: Sequence[Fraction]) -> IntArray:
    return np.array([mechanism.grid.place(score) for score in scores], np.int64)


@pytest.mark.parametrize("monotone", [False, True])
@settings(max_examples=12)
@given(st.sampled_from([Fraction(1), Fraction(5, 2)]), st.data())
def test_no_index_has_worse_odds_than_its_price_with_laplace_noise(
    monotone: bool, epsilon: Fraction, data: st.DataObject
) -> None:
    """Up to a stated 10^-9, as the law is summed in floats."""
    mechanism = NoisyMax(epsilon=epsilon, sensitivity=1, monotone=monotone, noise="laplace")
    here, there = (
        np.array(
            _laplace_max_law(
                places_of(mechanism, scores), float(mechanism.scale_in_steps)
            ).probabilities
        )
        for scores in data.draw(score_lists(Fraction(1), monotone=monotone, most=3))
    )
    most = exp(epsilon) * (1 + TOLERANCE)
    assert np.all(here <= most * there)
    assert np.all(there <= most * here)


@pytest.mark.parametrize("monotone", [False, True])
@settings(max_examples=30)
@given(moderate_epsilons, moderate_sensitivities, st.data())
def test_no_index_has_worse_odds_than_its_price_with_exponential_noise(
    monotone: bool, epsilon: Fraction, sensitivity: Fraction, data: st.DataObject
) -> None:
    mechanism = NoisyMax(epsilon=epsilon, sensitivity=sensitivity, monotone=monotone)
    here, there = (
        permute_and_flip_distribution(places_of(mechanism, scores), 1 / mechanism.scale_in_steps)
        for scores in data.draw(score_lists(sensitivity, monotone=monotone))
    )
    for i in range(len(here.probabilities)):
        assert are_odds_within(here.enclose(i), there.enclose(i), epsilon)
        assert are_odds_within(there.enclose(i), here.enclose(i), epsilon)


@either
def test_scores_that_are_not_monotone_break_a_monotone_price(noise: NoiseKind) -> None:
    """The broken twin: a loser's score falls while the winner's rises."""
    mechanism = NoisyMax(epsilon=1, sensitivity=1, monotone=True, noise=noise)
    here, there = mechanism.distribution([0, 9]).pmf(0), mechanism.distribution([-1, 10]).pmf(0)
    assert here > exp(1.5) * there


@either
@given(epsilons, sensitivities)
def test_calibration_and_accounting_are_inverse(
    noise: NoiseKind, epsilon: Fraction, sensitivity: Fraction
) -> None:
    mechanism = NoisyMax(epsilon=epsilon, sensitivity=sensitivity, noise=noise)
    assert pure_epsilon(mechanism.event) == mechanism.epsilon == epsilon
    top = NoisyTop(epsilon=epsilon, sensitivity=sensitivity, count=2)
    assert pure_epsilon(top.event) == top.epsilon == epsilon


SCORES = [3.0, 2.5, 2.5, 0.0, -1.25]


@either
def test_indices_have_the_stated_law(noise: NoiseKind) -> None:
    """A fresh seed cries wolf once in 10^6; the twins claim half the noise, and the other kind."""
    entropy, draws = ReplayableEntropy(seed=131), 8_000
    mechanism = NoisyMax(epsilon=1, sensitivity=1, noise=noise)
    chosen = [mechanism.release(SCORES, entropy=entropy) for _ in range(draws)]
    law = mechanism.distribution(SCORES).probabilities
    assert sum(law) == pytest.approx(1, abs=TOLERANCE)
    assert indices_misfit(chosen, law) > FALSE_ALARM
    less = NoisyMax(epsilon=2, sensitivity=1, noise=noise).distribution(SCORES)
    assert indices_misfit(chosen, less.probabilities) < FALSE_ALARM


def test_the_law_of_coarse_noise_is_that_of_brute_force() -> None:
    """Every pair of noises on a grid coarse enough to list, ties shared equally."""
    scale, steps, reach = 1.5, [2, 1], 60
    shares = {z: tanh(1 / (2 * scale)) * exp(-abs(z) / scale) for z in range(-reach, reach + 1)}
    first = sum(
        p * q * (0.5 if steps[0] + a == steps[1] + b else steps[0] + a > steps[1] + b)
        for a, p in shares.items()
        for b, q in shares.items()
    )
    assert _laplace_max_law(np.array(steps), scale).pmf(0) == pytest.approx(first, abs=TOLERANCE)


def test_ties_go_to_every_candidate_alike() -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin takes the first of equals.

    Noise as coarse as the steps makes ties frequent.
    """
    entropy, draws, scale = ReplayableEntropy(seed=132), 12_000, Fraction(1, 2)
    fair, first = [], []
    for _ in range(draws):
        noisy = discrete_laplace(scale, 3, entropy=entropy)
        fair.append(int(_ranked(noisy, permutation(3, entropy=entropy))[0]))
        first.append(int(np.argmax(noisy)))
    law = _laplace_max_law(np.zeros(3, np.int64), float(scale)).probabilities
    assert indices_misfit(fair, law) > FALSE_ALARM
    assert indices_misfit(first, law) < FALSE_ALARM


@either
@pytest.mark.parametrize("confidence", [0.5, 0.9])
def test_the_shortfall_is_within_the_error(noise: NoiseKind, confidence: float) -> None:
    """A fresh seed cries wolf once in 10^6."""
    mechanism = NoisyMax(epsilon=1, sensitivity=1, noise=noise)
    entropy, scores = ReplayableEntropy(seed=133), np.linspace(-20, 0, 40)
    error = mechanism.margin(confidence, candidates=40)
    short = [-scores[mechanism.release(scores, entropy=entropy)] for _ in range(2_000)]
    assert is_covered(sum(each <= error for each in short), 2_000, confidence)


NEIGHBOURS = [([0.0] * 5, [1.0, -1.0, -1.0, -1.0, -1.0]), ([1.0] * 5, [0.0, 2.0, 2.0, 2.0, 2.0])]
"""All scores equal, and then one against the rest (Ding et al. 2018, StatDP)."""


@either
@pytest.mark.parametrize("pair", NEIGHBOURS, ids=["rises", "falls"])
def test_an_audit_of_ties_finds_no_more_than_the_price(
    noise: NoiseKind, pair: tuple[list[float], list[float]]
) -> None:
    """A fresh seed cries wolf once in 10^6; a sixth of the noise is caught with so few runs."""
    entropy, runs = ReplayableEntropy(seed=134), 2_500

    def audit(mechanism: NoisyMax) -> float:
        here, there = (
            np.array([mechanism.release(scores, entropy=entropy) for _ in range(runs)])
            for scores in pair
        )
        return epsilon_lower_bound(here, there)

    assert audit(NoisyMax(epsilon=1, sensitivity=1, noise=noise)) <= 1
    assert audit(NoisyMax(epsilon=6, sensitivity=1, noise=noise)) > 1


def top_codes(mechanism: NoisyTop, scores: list[float], runs: int, seed: int) -> Codes:
    """Code each release by its order and by how large its first gap is."""
    entropy = ReplayableEntropy(seed)
    orders = {order: i for i, order in enumerate(permutations(range(len(scores)), mechanism.count))}
    return np.array(
        [
            orders[top.indices] * 8 + min(7, int(top.gaps[0] / 2))
            for top in (mechanism.release(scores, entropy=entropy) for _ in range(runs))
        ]
    )


def test_an_audit_of_the_top_and_its_gaps_finds_no_more_than_the_price() -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin forgets that two are released."""
    pair = ([0.0, 0.0, 0.0, 0.0], [1.0, 1.0, -1.0, -1.0])
    ours = NoisyTop(epsilon=1, sensitivity=1, count=2)
    assert epsilon_lower_bound(*(top_codes(ours, s, 4_000, 135) for s in pair)) <= 1
    twin = NoisyTop(epsilon=6, sensitivity=1, count=2)
    assert epsilon_lower_bound(*(top_codes(twin, s, 4_000, 136) for s in pair)) > 1


def test_the_top_is_in_order_and_leads_by_its_gaps() -> None:
    mechanism = NoisyTop(epsilon=200, sensitivity=1, count=3)
    top = mechanism.release([0, 40, 10, 30, 20], entropy=ReplayableEntropy(seed=137))
    assert top.indices == (1, 3, 4)
    assert all(gap == pytest.approx(10, abs=2) for gap in top.gaps)
    assert all(gap >= 0 and gap % float(mechanism.grid.step) == 0 for gap in top.gaps)


def test_gaps_are_floors_of_gaps_between_reals(monkeypatch: pytest.MonkeyPatch) -> None:
    """5.0, 3.2 and 3.1 lead by 1.8 and 0.1; the proof is about these, not about 5, 3 and 3."""
    monkeypatch.setattr(f"{MODULE}.discrete_laplace", lambda *_, **__: np.zeros(3, np.int64))
    monkeypatch.setattr(f"{MODULE}.permutation", lambda *_, **__: np.array([0, 2, 1]))
    mechanism = NoisyTop(epsilon=1, sensitivity=1024, count=2)
    assert mechanism.grid.step == 1
    top = mechanism.release([5, 3, 3])
    assert (top.indices, top.gaps) == ((0, 1), (1, 0))


@given(epsilons, sensitivities, st.integers(min_value=1, max_value=9), st.booleans())
def test_the_noise_of_the_top_pays_for_each_of_its_indices(
    epsilon: Fraction, sensitivity: Fraction, count: int, monotone: bool
) -> None:
    mechanism = NoisyTop(epsilon=epsilon, sensitivity=sensitivity, count=count, monotone=monotone)
    moved = -(-sensitivity // mechanism.grid.step)
    assert count * (1 if monotone else 2) * moved / mechanism.scale_in_steps == epsilon


def test_scales_and_rates_are_in_the_units_of_the_scores() -> None:
    assert NoisyMax(epsilon=1, sensitivity=3).scale == pytest.approx(6, rel=1e-3)
    assert NoisyMax(epsilon=1, sensitivity=1, monotone=True).scale == 1
    assert NoisyTop(epsilon=1, sensitivity=1, count=3).scale == 6
    assert PermuteAndFlip(epsilon=1, sensitivity=1).rate == Fraction(1, 2)
    assert PermuteAndFlip(epsilon=1, sensitivity=4, monotone=True).rate == Fraction(1, 4)


def test_the_best_of_the_top_has_the_law_of_a_noisy_max() -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin has noise for one index only."""
    entropy = ReplayableEntropy(seed=139)
    mechanism = NoisyTop(epsilon=4, sensitivity=1, count=2)
    best = [mechanism.release(SCORES, entropy=entropy).indices[0] for _ in range(5_000)]
    for epsilon, fits in ((2, True), (4, False)):
        law = NoisyMax(epsilon=epsilon, sensitivity=1, noise="laplace").distribution(SCORES)
        assert (indices_misfit(best, law.probabilities) > FALSE_ALARM) is fits


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "2", None, float("nan")])
def test_counts_that_are_none_are_refused(count: object) -> None:
    with pytest.raises(ParameterError, match="count must be"):
        NoisyTop(epsilon=1, sensitivity=1, count=count)  # type: ignore[arg-type]


def test_as_many_as_there_are_scores_is_refused() -> None:
    with pytest.raises(ParameterError, match="count must be less than the number of scores"):
        NoisyTop(epsilon=1, sensitivity=1, count=2).release([1.0, 2.0])


@pytest.mark.parametrize("noise", ["fancy", None, 1])
def test_noise_that_has_no_proof_is_refused(noise: object) -> None:
    with pytest.raises(ParameterError, match="noise must be 'exponential' or 'laplace'"):
        NoisyMax(epsilon=1, sensitivity=1, noise=noise)  # type: ignore[arg-type]
