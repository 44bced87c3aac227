"""Selection: the exponential choice and permute-and-flip, each exactly by its law."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.noise import (
    exponential_choice,
    exponential_run_choice,
    permute_and_flip_choice,
    selection,
)
from discreet.noise.uniform import IntArray
from discreet.parameters import Real
from tests.noise.entropies import CountingEntropy
from tests.noise.laws import exponential_law, permute_and_flip_law
from tests.replay import ReplayableEntropy
from tests.statistics import FALSE_ALARM, counts_misfit

Choice = Callable[[IntArray, Real], int]

SCORES = np.array([0, 3, 5, 9, 10, 10])
RATE = Fraction(1, 4)
DRAWS = 25_000


def test_exponential_choice_has_the_claimed_law() -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin claims a rate 15 % too large."""
    entropy = ReplayableEntropy(seed=71)
    counts = _counts([exponential_choice(SCORES, RATE, entropy=entropy) for _ in range(DRAWS)])
    assert counts_misfit(counts, exponential_law(SCORES.tolist(), 0.25)) > FALSE_ALARM
    assert counts_misfit(counts, exponential_law(SCORES.tolist(), 0.2875)) < FALSE_ALARM


def test_permute_and_flip_has_the_claimed_law() -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin takes it for the exponential choice."""
    entropy = ReplayableEntropy(seed=72)
    counts = _counts([permute_and_flip_choice(SCORES, RATE, entropy=entropy) for _ in range(DRAWS)])
    assert counts_misfit(counts, permute_and_flip_law(SCORES.tolist(), 0.25)) > FALSE_ALARM
    assert counts_misfit(counts, exponential_law(SCORES.tolist(), 0.25)) < FALSE_ALARM


def test_the_exponential_choice_settled_by_brackets_has_the_claimed_law(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin keeps whatever is proposed.

    The weights follow half the rate here: what is proposed too often must be turned down.
    """
    monkeypatch.setattr(selection, "STEEPEST", RATE / 2)
    monkeypatch.setattr(selection, "ceil_div", lambda a, _: a)  # no word is low enough to skip it
    entropy = ReplayableEntropy(seed=73)
    counts = _counts([exponential_choice(SCORES, RATE, entropy=entropy) for _ in range(8_000)])
    assert counts_misfit(counts, exponential_law(SCORES.tolist(), 0.25)) > FALSE_ALARM
    assert counts_misfit(counts, exponential_law(SCORES.tolist(), 0.125)) < FALSE_ALARM


def test_a_choice_among_runs_is_one_among_their_candidates() -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin takes each run for one candidate."""
    entropy, scores, lengths = ReplayableEntropy(seed=78), np.array([7, 10, 0]), np.array([3, 1, 4])
    each = np.repeat(scores, lengths)
    starts = np.array([0, 3, 4])
    drawn = [exponential_run_choice(scores, lengths, RATE, entropy=entropy) for _ in range(DRAWS)]
    places = np.bincount([starts[run] + place for run, place in drawn], minlength=len(each))
    assert counts_misfit(places, exponential_law(each.tolist(), 0.25)) > FALSE_ALARM
    runs = np.bincount([run for run, _ in drawn], minlength=3)
    assert counts_misfit(runs, exponential_law(scores.tolist(), 0.25)) < FALSE_ALARM


def test_a_run_of_a_billion_candidates_outweighs_a_better_one() -> None:
    """One candidate ahead by ln(2^30) wins half the time: 10^-9 for fewer than 20 of 100 wins."""
    scores, lengths = np.array([0, 20_794_415]), np.array([(1 << 30) - 1, 1])
    rate, entropy = Fraction(1, 10**6), ReplayableEntropy(seed=79)
    drawn = [exponential_run_choice(scores, lengths, rate, entropy=entropy) for _ in range(100)]
    assert 20 <= sum(run for run, _ in drawn) <= 80
    assert max(place for _, place in drawn) > 1 << 28


@pytest.mark.parametrize("lengths", [[1], [0, 1], [-1, 2], [1 << 30, 1], [1 << 62, 1 << 62]])
def test_runs_outside_the_proof_are_refused_without_being_shown(lengths: list[int]) -> None:
    with pytest.raises(ParameterError, match=r"^lengths must be") as caught:
        exponential_run_choice(np.array([1, 2]), np.array(lengths), 1)
    assert "given" not in str(caught.value)


def test_neither_choice_reads_a_preference_into_equal_scores() -> None:
    """A fresh seed cries wolf twice in 10^6; the broken twin favours one of four by 10 %."""
    entropy, equal = ReplayableEntropy(seed=74), np.full(4, -7)
    for choose in (exponential_choice, permute_and_flip_choice):
        counts = _counts([choose(equal, 1, entropy=entropy) for _ in range(12_000)])[:4]
        assert counts_misfit(counts, [0.25] * 4) > FALSE_ALARM
        assert counts_misfit(counts, [0.275, *[0.725 / 3] * 3]) < FALSE_ALARM


def test_a_rate_of_zero_is_a_uniform_choice() -> None:
    """A fresh seed cries wolf twice in 10^6; the broken twin follows the scores."""
    entropy, scores = ReplayableEntropy(seed=75), np.array([0, 10**18, -(10**18)])
    for choose in (exponential_choice, permute_and_flip_choice):
        counts = _counts([choose(scores, 0, entropy=entropy) for _ in range(8_000)])[:3]
        assert counts_misfit(counts, [1 / 3] * 3) > FALSE_ALARM
        assert counts_misfit(counts, [0.3, 0.4, 0.3]) < FALSE_ALARM


@pytest.mark.parametrize("choose", [exponential_choice, permute_and_flip_choice])
@pytest.mark.parametrize("rate", [1, Fraction(1, 10**6), 1e300, Fraction(10**400)], ids=str)
def test_scores_over_the_whole_range_do_not_overflow(
    choose: Choice, rate: Fraction | float
) -> None:
    scores = np.array([-(1 << 63), 0, (1 << 63) - 1, -1])
    assert {choose(scores, rate) for _ in range(20)} == {2}


@pytest.mark.parametrize("choose", [exponential_choice, permute_and_flip_choice])
def test_a_flat_rate_over_the_whole_range_chooses_by_odds(choose: Choice) -> None:
    """With rate · range = 2^-10 all four are chosen: a miss has probability below 10^-20."""
    scores = np.array([-(1 << 63), 0, (1 << 63) - 1, -1])
    assert {choose(scores, Fraction(1, 1 << 74)) for _ in range(200)} == {0, 1, 2, 3}


@pytest.mark.parametrize("choose", [exponential_choice, permute_and_flip_choice])
def test_a_single_candidate_is_chosen(choose: Choice) -> None:
    assert choose(np.array([-5]), 1) == 0


def test_a_million_candidates_keep_their_odds() -> None:
    """One candidate ahead by ln(10^6) wins half the time: 10^-9 for fewer than 20 of 100 wins."""
    scores = np.zeros(1_000_000, np.int64)
    scores[777_777] = 13_815_511  # in millionths
    rate, entropy = Fraction(1, 10**6), ReplayableEntropy(seed=76)
    wins = sum(exponential_choice(scores, rate, entropy=entropy) == 777_777 for _ in range(100))
    assert 20 <= wins <= 80


def test_the_weights_of_the_most_candidates_sum_without_overflow() -> None:
    """Any n weights of 2^(61 - bits of n) · (1 + 2^-30) + 1 stay below 2^62."""
    for bits in range(1, 41):
        n = (1 << bits) - 1
        heaviest = int((1 << 61 - n.bit_length()) * (1 + selection.INFLATION) * (1 + 2**-40)) + 1
        assert n * heaviest < 1 << 62


def test_the_time_of_an_exponential_choice_does_not_tell_the_deficit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No bracket is computed and 16 bytes are read: 2^-29 a draw for a false alarm, or a redraw."""

    def refuse(*_: object) -> None:
        raise AssertionError("a bracket takes a time that depends on the deficit")

    monkeypatch.setattr(selection, "scaled_exp_neg", refuse)
    drawn = set()
    for seed in range(300):
        counting = CountingEntropy(ReplayableEntropy(seed))
        exponential_choice(SCORES, RATE, entropy=counting)
        drawn.add(counting.drawn)
    assert min(drawn) == 16
    assert all((taken - 16) % 8 == 0 for taken in drawn)


def test_permute_and_flip_reads_the_same_bytes_whoever_wins() -> None:
    """4 bytes for each coin and 8 for the choice; brackets, 2^-32 a coin, or a redraw take more."""
    read: dict[int, set[int]] = {}
    for seed in range(300):
        counting = CountingEntropy(ReplayableEntropy(seed))
        winner = permute_and_flip_choice(SCORES, RATE, entropy=counting)
        read.setdefault(winner, set()).add(counting.drawn)
    assert len(read) > 3
    assert {min(taken) for taken in read.values()} == {4 * len(SCORES) + 8}


def _counts(chosen: Sequence[int]) -> list[int]:
    return [chosen.count(i) for i in range(len(SCORES))]
