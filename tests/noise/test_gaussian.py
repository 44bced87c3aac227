"""Discrete Gaussian noise: the staircase stays above the law, and the law comes out of it."""

from dataclasses import replace
from fractions import Fraction
from math import ceil, exp, fsum, sqrt

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

from discreet.noise import SYSTEM, discrete_gaussian, gaussian
from discreet.noise.enclosures import exp_neg
from discreet.noise.gaussian import TICKETS, VARIANCE_LEAST, VARIANCE_MOST, Cells, _cells
from tests.noise.entropies import ChosenEntropy
from tests.noise.laws import Law, gaussian_law
from tests.replay import ReplayableEntropy
from tests.statistics import FALSE_ALARM, counts_misfit, curve_misfit, misfit, share_misfit

NARROW = [Fraction(1, 16), Fraction(1, 4), Fraction(1), Fraction(21, 2), Fraction(10**4)]
WIDE = [Fraction(10**12), Fraction(2**80), Fraction(2**104), Fraction(10**34)]

variances = st.builds(
    lambda exponent, part: Fraction(2) ** exponent * part,
    st.integers(-16, 111),
    st.fractions(min_value=1, max_value=2, max_denominator=10**6),
)


@pytest.mark.parametrize("variance", NARROW, ids=str)
def test_noise_has_the_claimed_shape(variance: Fraction) -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin claims a variance 10 % too large."""
    samples = discrete_gaussian(variance, 400_000, entropy=ReplayableEntropy(seed=31))
    reach = ceil(6 * sqrt(variance)) + 1
    assert misfit(samples, gaussian_law(float(variance)), reach) > FALSE_ALARM
    assert misfit(samples, gaussian_law(1.1 * float(variance)), reach) < FALSE_ALARM


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(21, 2)], ids=str)
def test_single_draws_have_the_claimed_shape(variance: Fraction) -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin claims a variance 25 % too large."""
    entropy = ReplayableEntropy(seed=32)
    samples = [discrete_gaussian(variance, entropy=entropy) for _ in range(30_000)]
    reach = ceil(6 * sqrt(variance)) + 1
    assert misfit(samples, gaussian_law(float(variance)), reach) > FALSE_ALARM
    assert misfit(samples, gaussian_law(1.25 * float(variance)), reach) < FALSE_ALARM


@pytest.mark.parametrize("variance", WIDE, ids=str)
@pytest.mark.parametrize("size", [200_000, None], ids=["many", "single"])
def test_wide_noise_follows_the_continuous_curve(variance: Fraction, size: int | None) -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin claims a deviation 10 % too large."""
    entropy = ReplayableEntropy(seed=33)
    drawn = (
        [discrete_gaussian(variance, entropy=entropy) for _ in range(10_000)]
        if size is None
        else discrete_gaussian(variance, size, entropy=entropy)
    )
    in_deviations = np.asarray(drawn, float) / sqrt(variance)
    assert curve_misfit(in_deviations, ndtr) > FALSE_ALARM
    assert curve_misfit(in_deviations / 1.1, ndtr) < FALSE_ALARM


@pytest.mark.parametrize("variance", WIDE, ids=str)
def test_low_bits_are_uniform(variance: Fraction) -> None:
    """A fresh seed cries wolf once in 10^6; the law's own departure is below e^-10^6."""
    samples = discrete_gaussian(variance, 200_000, entropy=ReplayableEntropy(seed=34))
    uniform = [1 / 256] * 256
    assert counts_misfit(np.bincount(samples & 255), uniform) > FALSE_ALARM
    even = np.bincount(samples & 254, minlength=256)
    assert counts_misfit(even, uniform) < FALSE_ALARM


@pytest.mark.parametrize("variance", [Fraction(1), Fraction(21, 2), Fraction(10**4)], ids=str)
def test_tails_hold_their_share(variance: Fraction) -> None:
    """Exact odds beyond the 10^-4 quantile; a fresh seed cries wolf once in 10^6.

    The broken twin claims a variance 10 % too large.
    """
    samples = discrete_gaussian(variance, 2_000_000, entropy=ReplayableEntropy(seed=35))
    far = ceil(3.7 * sqrt(variance))
    hits = int(np.count_nonzero(np.abs(samples) >= far))
    for off, fits in ((1.0, True), (1.1, False)):
        law = gaussian_law(off * float(variance))
        share = 2 * fsum(law(y) for y in range(far, 10 * far))
        assert (share_misfit(hits, len(samples), share) > FALSE_ALARM) is fits


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(9), Fraction(10**4)], ids=str)
def test_all_draws_settled_by_brackets_have_the_claimed_shape(
    variance: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fresh seed cries wolf thrice in 10^6; the broken twin claims a variance 40 % too large."""
    monkeypatch.setattr(gaussian, "TOLERANCE", 2.0)
    monkeypatch.setattr(gaussian, "UNSURE_TOLERANCE", 1e9)
    entropy, reach = ReplayableEntropy(seed=36), ceil(6 * sqrt(variance)) + 1
    many = discrete_gaussian(variance, 5_000, entropy=entropy)
    single = [discrete_gaussian(variance, entropy=entropy) for _ in range(5_000)]
    monkeypatch.setattr(gaussian, "BULK", 1)
    bulk = discrete_gaussian(variance, 5_000, entropy=entropy)
    for samples in (many, np.array(single), bulk):
        assert misfit(samples, gaussian_law(float(variance)), reach) > FALSE_ALARM
        assert misfit(samples, gaussian_law(1.4 * float(variance)), reach) < FALSE_ALARM


@pytest.mark.parametrize("bulk", [1, 10**9], ids=["sure tickets", "a coin for each"])
@pytest.mark.parametrize("variance", NARROW, ids=str)
def test_both_ways_of_filling_an_array_have_the_claimed_shape(
    variance: Fraction, bulk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin claims a variance 10 % too large."""
    monkeypatch.setattr(gaussian, "BULK", bulk)
    samples = discrete_gaussian(variance, 100_000, entropy=ReplayableEntropy(seed=40))
    reach = ceil(6 * sqrt(variance)) + 1
    assert misfit(samples, gaussian_law(float(variance)), reach) > FALSE_ALARM
    assert misfit(samples, gaussian_law(1.1 * float(variance)), reach) < FALSE_ALARM


def test_a_ticket_that_is_sure_without_reason_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The broken twin keeps nearly all candidates; cells of four integers then show their edges."""
    monkeypatch.setattr(gaussian, "BULK", 1)
    variance = Fraction(10**4)
    careless = replace(_cells(variance), sure=tuple(w - 1 for w in _cells(variance).weights))
    samples = gaussian._draw_bulk(careless, 2_000_000, ReplayableEntropy(seed=41))
    assert misfit(samples, gaussian_law(float(variance)), 601) < FALSE_ALARM


@settings(max_examples=40, deadline=None)
@given(variances)
@example(VARIANCE_LEAST)
@example(VARIANCE_MOST)
@example(Fraction(1, 4))
def test_sure_tickets_lie_below_the_law(variance: Fraction) -> None:
    """Exact: in each cell, at the integer farthest from 0, by integer brackets."""
    cells = _cells(variance)
    width = 1 << cells.bits
    for cell, sure in enumerate(cells.sure):
        below = (cell - cells.reach) * width
        farthest = below + width - 1 if below >= 0 else below
        power_down, _ = exp_neg(Fraction(farthest**2) / (2 * variance), 64)
        assert sure << 64 <= cells.height * power_down
        assert sure < cells.weights[cell]


@settings(max_examples=40, deadline=None)
@given(variances)
@example(VARIANCE_LEAST)
@example(VARIANCE_MOST)
@example(Fraction(1, 4))
def test_the_staircase_lies_above_the_law(variance: Fraction) -> None:
    """Exact: in each cell, at the integer nearest to 0, by integer brackets."""
    cells = _cells(variance)
    width = 1 << cells.bits
    assert sum(cells.weights) == TICKETS - 1
    for cell, weight in enumerate(cells.weights):
        below = (cell - cells.reach) * width
        nearest = below if below >= 0 else below + width - 1
        _, power_up = exp_neg(Fraction(nearest**2) / (2 * variance), 64)
        assert cells.height * power_up <= weight << 64


@settings(max_examples=200, deadline=None)
@given(variances)
@example(VARIANCE_LEAST)
@example(VARIANCE_MOST)
@example(Fraction(312))
def test_no_tail_candidate_is_kept_with_more_than_certainty(variance: Fraction) -> None:
    """Exact, for the first integer of the first 12 blocks; the proof covers the others."""
    cells = _cells(variance)
    start = cells.reach << cells.bits
    wide = (ceil(variance * Fraction(7, 10) / start) - 1).bit_length()
    assert 2**wide * start >= variance * Fraction(7, 10)
    for block in range(12):
        factor = Fraction(cells.height << wide + block + 2, 1 << cells.bits)
        _, power_up = exp_neg(Fraction((start + (block << wide)) ** 2) / (2 * variance), 320)
        assert factor * power_up <= 1 << 320


@pytest.mark.usefixtures("fresh_caches")
@pytest.mark.parametrize("variance", [Fraction(100), Fraction(312), Fraction(10**4)], ids=str)
def test_the_tail_has_its_mass_and_its_shape(
    variance: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fresh seed cries wolf twice in 10^6; the broken twin claims a variance 30 % too large.

    The cells are cut at 4.5 deviations, where a good share of the tail's candidates is kept.
    """
    monkeypatch.setattr(gaussian, "REACH", Fraction(9, 2))
    cells, entropy = _cells(variance), ReplayableEntropy(seed=37)
    start, trials = cells.reach << cells.bits, 15_000
    drawn = [gaussian._draw_tail(cells, entropy) for _ in range(trials)]
    kept = np.array([y for y in drawn if y is not None])
    assert not np.any((kept >= -start) & (kept < start))
    for off, fits in ((1.0, True), (1.3, False)):
        share, law = _tail_law(cells, off * float(variance))
        assert (share_misfit(len(kept), trials, min(share, 1)) > FALSE_ALARM) is fits
        assert (misfit(kept, law, 3 * start) > FALSE_ALARM) is fits


def _tail_law(cells: Cells, variance: float) -> tuple[float, Law]:
    """Return how many tickets the tail is worth, and the law inside it."""
    start = cells.reach << cells.bits
    far = [*range(-3 * start, -start), *range(start, 3 * start)]
    mass = {y: cells.height / (1 << cells.bits) * exp(-y * y / (2 * variance)) for y in far}
    share = fsum(mass.values())
    return share, lambda y: mass.get(y, 0.0) / share


def test_a_tail_ticket_with_a_zero_coin_is_settled_by_the_tail() -> None:
    """The tail has no weight to look up: this pair of words once crashed the sampler."""
    cells = _cells(Fraction(100))
    tail_ticket = np.array([0xFFFF << 48], np.uint64).tobytes()
    entropy = ChosenEntropy(tail_ticket, bytes(4), then=0x00)
    assert gaussian._draw(cells, 1, entropy).tolist() == [cells.reach]


def test_noise_beyond_the_largest_integer_is_moved_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays hold 64 bits; single draws have no such limit."""
    monkeypatch.setattr(gaussian, "LARGEST", 3)
    cells = _cells(Fraction(100))
    tail_ticket = np.array([0xFFFF << 48], np.uint64).tobytes()
    in_an_array = ChosenEntropy(tail_ticket, bytes(4), then=0x00)
    assert gaussian._draw(cells, 1, in_an_array).tolist() == [3]
    assert gaussian._draw_tail(cells, ChosenEntropy(then=0x00)) == cells.reach


@pytest.mark.slow
@pytest.mark.parametrize("seed", [None, 38], ids=["fresh", "seeded"])
@pytest.mark.parametrize("variance", NARROW, ids=str)
def test_ten_million_draws_have_the_claimed_shape(variance: Fraction, seed: int | None) -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin claims a variance 2 % too large."""
    entropy = SYSTEM if seed is None else ReplayableEntropy(seed)
    samples = discrete_gaussian(variance, 10_000_000, entropy=entropy)
    reach = ceil(6 * sqrt(variance)) + 1
    assert misfit(samples, gaussian_law(float(variance)), reach) > FALSE_ALARM
    assert misfit(samples, gaussian_law(1.02 * float(variance)), reach) < FALSE_ALARM


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_caches")
def test_the_tail_joins_the_cells_without_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fresh seed cries wolf once in 10^6; about 170 of 40 million draws come from the tail."""
    monkeypatch.setattr(gaussian, "REACH", Fraction(9, 2))
    variance = Fraction(10**4)
    start = _cells(variance).reach << _cells(variance).bits
    samples = discrete_gaussian(variance, 40_000_000)
    hits = int(np.count_nonzero((samples >= start) | (samples < -start)))
    law = gaussian_law(float(variance))
    share = fsum(law(y) for y in range(start, 5 * start)) + fsum(
        law(y) for y in range(start + 1, 5 * start)
    )
    assert share_misfit(hits, len(samples), share) > FALSE_ALARM
    assert share_misfit(hits, len(samples), 1.6 * share) < FALSE_ALARM
