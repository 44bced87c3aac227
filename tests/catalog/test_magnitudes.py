"""Bounds found privately: the bins cover everything, and noise alone rarely moves the bounds."""

from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.bounds.histogram import BINS, bin_of, bounds_from_noisy, threshold_for
from discreet.catalog.schema import Bounds, Kind, number_from_time
from discreet.errors import ParameterError
from discreet.mechanisms import Geometric
from tests.replay import ReplayableEntropy

KINDS = list(BINS)
ENTROPY = ReplayableEntropy(seed=1)


def bounds(low: int | Fraction, high: int | Fraction) -> Bounds:
    return Bounds(low=Fraction(low), high=Fraction(high))


def histogram(values: list[Fraction], kind: Kind) -> list[int]:
    counts = [0] * len(BINS[kind])
    for value in values:
        counts[bin_of(value, kind)] += 1
    return counts


@pytest.mark.parametrize("kind", KINDS)
def test_bins_stand_in_order_without_a_gap(kind: Kind) -> None:
    step = 1 if kind.is_time else 0
    for left, right in zip(BINS[kind], BINS[kind][1:], strict=False):
        assert left.high + step == right.low
    assert len(BINS[kind]) == {Kind.INTEGER: 129, Kind.REAL: 195}.get(kind, 201)


@given(st.integers(-(2**63), 2**63 - 1))
def test_the_bin_of_an_integer_is_its_sign_and_magnitude(x: int) -> None:
    found = BINS[Kind.INTEGER][bin_of(Fraction(x), Kind.INTEGER)]
    exponent = (abs(x) - 1).bit_length()
    end = 2**exponent if x > 0 else -(2**exponent) if x < 0 else 0
    assert (found.high if x > 0 else found.low) == end


@given(st.floats(2.0**-32, 2.0**64))
def test_the_bin_of_a_real_is_its_sign_and_magnitude(x: float) -> None:
    above = BINS[Kind.REAL][bin_of(Fraction(x), Kind.REAL)]
    below = BINS[Kind.REAL][bin_of(Fraction(-x), Kind.REAL)]
    assert (below.low, below.high) == (-above.high, -above.low)
    assert above.low < Fraction(x) <= above.high
    assert above.high == (2 * above.low or Fraction(1, 2**32))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_beyond_all_bins_is_in_the_outermost(kind: Kind) -> None:
    assert bin_of(Fraction(10**40), kind) == len(BINS[kind]) - 1
    assert bin_of(Fraction(-(10**40)), kind) == 0


@pytest.mark.parametrize(
    ("kind", "values", "found"),
    [
        (Kind.INTEGER, [0, 3, 90], bounds(0, 128)),
        (Kind.INTEGER, [20, 64], bounds(16, 64)),
        (Kind.INTEGER, [-5, 1], bounds(-8, 1)),
        (Kind.INTEGER, [0], bounds(0, 1)),
        (Kind.REAL, [Fraction(1, 10), 1], bounds(Fraction(1, 16), 1)),
        (Kind.REAL, [0], bounds(0, Fraction(1, 2**32))),
    ],
)
def test_bounds_are_the_ends_of_the_bins_that_hold_values(
    kind: Kind, values: list[int], found: Bounds
) -> None:
    counts = histogram([Fraction(each) for each in values], kind)
    assert bounds_from_noisy(counts, kind, 0) == found


def test_dates_have_bounds_by_years() -> None:
    days = [number_from_time(date(2023, 5, 1)), number_from_time(date(2024, 2, 29))]
    first, last = number_from_time(date(2023, 1, 1)), number_from_time(date(2024, 12, 31))
    counts = histogram(days, Kind.DATE)
    assert bounds_from_noisy(counts, Kind.DATE, 0) == bounds(first, last)
    day = 24 * 60 * 60 * 10**6
    moments = bounds_from_noisy(counts, Kind.TIMESTAMP, 0)
    assert moments == bounds(first * day, (last + 1) * day - 1)


def test_nothing_above_the_threshold_is_nothing_found() -> None:
    assert bounds_from_noisy([5] * 129, Kind.INTEGER, 5) is None
    with pytest.raises(ParameterError, match="must be 129, one for each bin"):
        bounds_from_noisy([5], Kind.INTEGER, 5)


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(1)])
def test_no_empty_bin_passes_the_threshold_but_once_in_a_thousand(rate: Fraction) -> None:
    """By the law of the noise: exact, no draws."""
    noise = Geometric(epsilon=rate, sensitivity=1)
    threshold = threshold_for(noise, Kind.INTEGER)
    one = float(1 - noise.distribution(0).cdf(int(threshold)))
    assert 129 * one <= 1 / 1000
    # The threshold is no wider than it must be: a fourth of it would fail.
    assert 129 * float(1 - noise.distribution(0).cdf(int(threshold) // 4)) > 1 / 1000


def test_noisy_counts_of_many_units_give_the_bounds_of_their_values() -> None:
    noise = Geometric(epsilon=Fraction(1, 10), sensitivity=1)
    exact = histogram([Fraction(18 + each % 80) for each in range(2_000)], Kind.INTEGER)
    counts = [noise.release(each, entropy=ENTROPY) for each in exact]
    threshold = threshold_for(noise, Kind.INTEGER)
    assert bounds_from_noisy(counts, Kind.INTEGER, threshold) == bounds(16, 128)
