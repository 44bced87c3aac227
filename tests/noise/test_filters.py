"""Float filters: wherever they decide, integer brackets on the same words decide alike."""

from fractions import Fraction
from importlib import import_module
from math import log
from typing import Protocol, overload

import numpy as np
import pytest

from discreet.noise import Entropy, coins, discrete_laplace, gaussian, geometric
from discreet.noise.coins import bernoulli_exp
from discreet.noise.gaussian import _cells
from discreet.noise.uniform import IntArray
from tests.noise.entropies import ChosenEntropy, CountingEntropy
from tests.replay import ReplayableEntropy

GEOMETRIC = import_module("discreet.noise.laplace")

SCALES = [
    Fraction(1, 256),
    Fraction(1, 3),
    Fraction(1),
    Fraction(7, 5),
    Fraction(10),
    Fraction(1000),
    Fraction(10**6),
    Fraction(2**26),
]
VARIANCES = [Fraction(1, 16), Fraction(1), Fraction(21, 2), Fraction(10**12), Fraction(10**34)]
DRAWS = 500


class Sampler(Protocol):
    """Geometric or discrete Laplace noise, one draw or many."""

    @overload
    def __call__(self, scale: Fraction, size: None = None, *, entropy: Entropy) -> int: ...
    @overload
    def __call__(self, scale: Fraction, size: int, *, entropy: Entropy) -> IntArray: ...


def some_words(count: int) -> bytes:
    """Return uniform words, and among them the ends of the range and its middle."""
    ends = np.array([0, -1, 1, -(1 << 63), (1 << 63) - 1, 1 << 42, 1 << 43, -(1 << 43)], np.int64)
    return ends.tobytes() + ReplayableEntropy(seed=41).draw(8 * (count - len(ends)))


@pytest.mark.parametrize("scale", SCALES, ids=str)
@pytest.mark.parametrize("sampler", [geometric, discrete_laplace])
def test_the_race_by_floats_is_the_race_by_brackets(
    sampler: Sampler, scale: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bits beyond the first 64 are the same for every draw, so that not one may differ."""
    block = some_words(DRAWS)
    many = sampler(scale, DRAWS, entropy=ChosenEntropy(block))
    each = [sampler(scale, entropy=ChosenEntropy(block[8 * j : 8 * j + 8])) for j in range(DRAWS)]
    monkeypatch.setattr(GEOMETRIC, "TOLERANCE", 1e9)
    exact = sampler(scale, DRAWS, entropy=ChosenEntropy(block))
    assert many.tolist() == exact.tolist() == each


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_a_hundred_thousand_races_agree(scale: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(13):
        block = ReplayableEntropy(seed).draw(8 * 8192)
        fast = discrete_laplace(scale, 8192, entropy=ChosenEntropy(block))
        with monkeypatch.context() as patched:
            patched.setattr(GEOMETRIC, "TOLERANCE", 1e9)
            exact = discrete_laplace(scale, 8192, entropy=ChosenEntropy(block))
        assert np.array_equal(fast, exact)


def test_a_logarithm_beyond_the_margin_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin: a logarithm that is off by 2^-20, and so moves one draw in two."""
    block = some_words(DRAWS)
    exact = discrete_laplace(10**6, DRAWS, entropy=ChosenEntropy(block))
    monkeypatch.setattr(GEOMETRIC, "log", lambda w: log(w) + 2.0**-20)
    each = [
        discrete_laplace(10**6, entropy=ChosenEntropy(block[8 * j : 8 * j + 8]))
        for j in range(DRAWS)
    ]
    assert exact.tolist() != each


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_the_staircase_by_floats_is_the_staircase_by_brackets(
    variance: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells, source = _cells(variance), ReplayableEntropy(seed=42)
    blocks = [source.draw(8 * DRAWS), source.draw(4 * DRAWS)]
    if cells.bits > gaussian.OWN_BITS:
        blocks.insert(1, source.draw(8 * DRAWS))
    fast = gaussian._draw(cells, DRAWS, ChosenEntropy(*blocks))
    monkeypatch.setattr(gaussian, "TOLERANCE", 2.0)
    exact = gaussian._draw(cells, DRAWS, ChosenEntropy(*blocks))
    assert len(fast) > DRAWS / 2
    assert np.array_equal(fast, exact)


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_unsure_candidates_by_floats_are_unsure_candidates_by_brackets(
    variance: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells, source = _cells(variance), ReplayableEntropy(seed=45)
    ticket = cells.sure_tickets + np.arange(DRAWS) % (gaussian.TICKETS - 1 - cells.sure_tickets)
    own = np.frombuffer(source.draw(8 * DRAWS), np.int64) & ((1 << cells.bits) - 1)
    cell = cells.cell_of_ticket.take(ticket).astype(np.int64)
    y = (cell - cells.reach << cells.bits) + own
    block = source.draw(4 * DRAWS)
    fast = gaussian._kept_unsure(cells, ticket, y, ChosenEntropy(block))
    monkeypatch.setattr(gaussian, "UNSURE_TOLERANCE", 1e9)
    exact = gaussian._kept_unsure(cells, ticket, y, ChosenEntropy(block))
    assert np.array_equal(fast, exact)


@pytest.mark.parametrize("variance", VARIANCES, ids=str)
def test_a_single_candidate_is_what_the_array_makes_of_the_same_words(variance: Fraction) -> None:
    cells, source = _cells(variance), ReplayableEntropy(seed=43)
    for _ in range(DRAWS):
        drawn = [source.draw(8)] * (1 + (cells.bits > gaussian.OWN_BITS)) + [source.draw(4)]
        one = gaussian._draw_one(cells, ChosenEntropy(*drawn))
        turned = [np.frombuffer(block, np.uint8)[::-1].tobytes() for block in drawn]
        many = gaussian._draw(cells, 1, ChosenEntropy(*turned)).tolist()
        assert many == ([] if one is None else [one])


@pytest.mark.parametrize("rate", [Fraction(1, 10**9), Fraction(1, 7), Fraction(3), 10**400])
def test_coins_by_floats_are_coins_by_brackets(
    rate: Fraction | int, monkeypatch: pytest.MonkeyPatch
) -> None:
    exponents = np.arange(DRAWS, dtype=np.int64) ** 3 // 50
    block = ReplayableEntropy(seed=44).draw(4 * DRAWS)
    fast = bernoulli_exp(exponents, Fraction(rate), entropy=ChosenEntropy(block))
    monkeypatch.setattr(coins, "TOLERANCE", 2.0)
    exact = bernoulli_exp(exponents, Fraction(rate), entropy=ChosenEntropy(block))
    assert np.array_equal(fast, exact)


def test_the_word_zero_is_a_far_draw_and_no_warning() -> None:
    """Its |W| lies below 2^-63, where noise of scale 1 begins at 43."""
    noise = discrete_laplace(1, 10, entropy=ChosenEntropy(bytes(80)))
    assert noise.min() >= 43


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(10), Fraction(10**6)], ids=str)
def test_draws_that_avoid_brackets_take_the_same_bytes_whatever_they_are(scale: Fraction) -> None:
    """Work that depends on a draw would show in what it reads: 8 bytes each, no more, no less.

    A seed is left out if one of its words calls for brackets, by the rule of the proof.
    """
    drawn = {_bytes_of_laplace(scale, seed) for seed in range(40) if not _is_far(seed)}
    assert drawn == {8 * 256}


def _bytes_of_laplace(scale: Fraction, seed: int) -> int:
    counting = CountingEntropy(ReplayableEntropy(seed))
    discrete_laplace(scale, 256, entropy=counting)
    return counting.drawn


def _is_far(seed: int) -> bool:
    words: IntArray = np.frombuffer(ReplayableEntropy(seed).draw(8 * 256), np.int64)
    return bool(np.abs(words / 2.0**63).min() < GEOMETRIC.FAR)


def test_a_pass_of_gaussian_candidates_takes_the_same_bytes_whatever_they_are() -> None:
    """A candidate takes a word and a coin, kept or not; a tail ticket, 1 in 65536, takes more."""
    cells, usual = _cells(Fraction(100)), 0
    for seed in range(100):
        counting = CountingEntropy(ReplayableEntropy(seed))
        gaussian._draw(cells, 256, counting)
        usual += counting.drawn == 12 * 256
    assert usual >= 90
