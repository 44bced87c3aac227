"""Buffers: error, exact recursion, memory that does not grow."""

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.noise.uniform import FloatArray
from discreet.streams import BufferedStream, BufferedToeplitz, SquareRoot
from discreet.streams.buffered import COMPUTED_BELOW, UNIT_BITS
from tests.replay import ReplayableEntropy
from tests.streams.units import numbers, squared_length, units, worst_unit

DECAYS = [0.6396, 0.99, 0.9998, 0.99999]
WEIGHTS = [0.3936, 0.1272, 0.0156, 0.0025]


def buffered(ticks: int, **terms: int) -> BufferedToeplitz:
    return BufferedToeplitz(
        ticks=ticks, epsilon=1, delta=1e-6, decays=DECAYS, weights=WEIGHTS, **terms
    )


def exact_matrix(mechanism: BufferedToeplitz) -> list[list[Fraction]]:
    """Return C without any rounding."""
    column = [Fraction(1)] + [
        sum(
            weight * decay**i
            for decay, weight in zip(mechanism.decays, mechanism.weights, strict=True)
        )
        + Fraction(0)
        for i in range(mechanism.ticks - 1)
    ]
    places = range(mechanism.ticks)
    return [[column[t - s] if s <= t else Fraction(0) for s in places] for t in places]


@pytest.mark.parametrize(("ticks", "largest"), [(365, 12.5), (10**6, 23.7)])
def test_four_buffers_are_nearly_as_good_as_the_square_root(ticks: int, largest: float) -> None:
    found = BufferedToeplitz(ticks=ticks, epsilon=1, delta=1e-6)
    assert found.max_deviation <= largest
    root = SquareRoot(ticks=ticks, epsilon=1, delta=1e-6)
    assert found.max_deviation <= 1.02 * root.max_deviation
    assert eval(repr(found), {"BufferedToeplitz": BufferedToeplitz}) == found  # noqa: S307


def test_sampled_errors_have_the_stated_deviations() -> None:
    runs = 1500
    mechanism = buffered(100, cells=runs)
    increments = np.tile(np.arange(100)[:, None] % 7, (1, runs))
    record = mechanism.release(increments)
    errors: FloatArray = mechanism.running(record) - np.cumsum(increments, axis=0)
    shares = (errors**2).mean(axis=1) / mechanism.deviations() ** 2
    # Of a mean square of n normal numbers the deviation is √(2 / n). 100 ticks, false alarm 10⁻⁷.
    assert np.abs(shares - 1).max() < 6 * sqrt(2 / runs)
    assert np.abs(errors.mean(axis=1) / mechanism.deviations()).max() < 6 / sqrt(runs)


def test_the_recursion_is_at_most_a_unit_below_the_exact_product() -> None:
    mechanism = buffered(60)
    increments = numbers(4, -(10**6), 10**6, 60, 1)
    found = mechanism._exact(increments, 0)
    matrix = exact_matrix(mechanism)
    for row, (number,) in zip(matrix, found.tolist(), strict=True):
        wanted = sum(c * int(x) for c, (x,) in zip(row, increments, strict=True)) * 2**UNIT_BITS
        assert 0 <= wanted - number <= COMPUTED_BELOW


@pytest.mark.parametrize(("rows", "per_tick"), [(1, None), (3, None), (5, 2)])
def test_no_unit_moves_the_record_more_than_the_sensitivity(
    rows: int, per_tick: int | None
) -> None:
    mechanism = buffered(
        12, cells=2, rows_per_unit=rows, **({} if per_tick is None else {"rows_per_tick": per_tick})
    )
    claimed = mechanism.grid.event.sensitivity_squared
    terms = {"ticks": 12, "cells": 2, "rows": rows, "per_tick": per_tick or rows, "magnitude": 1}
    others = numbers(5, 0, 1000, 12, 2)
    here = mechanism.grid.places(mechanism._exact(others, 0))
    for added in [*units(rows, trials=60, **terms), worst_unit(**terms)]:
        there = mechanism.grid.places(mechanism._exact(others + added, 0))
        moved = squared_length(there - here)
        assert moved <= claimed
    assert moved > claimed * (1 - 2**-17)


def test_a_stream_releases_the_same_integers_as_the_mechanism() -> None:
    mechanism = buffered(30, cells=3)
    increments = numbers(6, -100, 100, 20, 3)
    stream, rows = BufferedStream(mechanism, 3), []
    for tick, each in enumerate(increments):
        rows.append(stream.step(each, entropy=ReplayableEntropy(tick)))
        seen = increments[: tick + 1]
        whole = mechanism.release(seen, tick, entropy=ReplayableEntropy(tick))
        assert (whole[0] == rows[-1]).all()
    assert stream.tick == 20
    assert mechanism.release(increments, 20).shape == (0, 3)
    assert np.allclose(stream.running, mechanism.running(np.array(rows))[-1], atol=1e-6)


def test_a_stream_keeps_a_few_numbers_and_shows_none() -> None:
    stream = BufferedStream(buffered(10**6))
    for _ in range(50):
        stream.step([1])
    assert stream._sums._sums.shape == (4, 1)
    assert repr(stream._sums) == "BufferSums(sealed)"
    assert repr(stream).endswith("at tick 50")


def test_a_stream_ends_at_its_horizon() -> None:
    stream = BufferedStream(buffered(2))
    stream.step([1])
    stream.step([1])
    with pytest.raises(ParameterError, match="tick must be 2 or less"):
        stream.step([1])
    with pytest.raises(ParameterError, match="increments must be a list of 1 numbers"):
        BufferedStream(buffered(2)).step([1, 2])


@pytest.mark.parametrize(
    ("terms", "sentence"),
    [
        ({"decays": [0.5]}, "decays must be a list of numbers below 1, with as many weights"),
        ({"decays": [0.5], "weights": [0.5, 0.1]}, "weights must be 1 numbers, as decays are"),
        ({"decays": [0.5, 0.6], "weights": [0.9, 0.2]}, "weights must sum to 1 or less"),
        ({"decays": [1], "weights": [0.2]}, "decays must be"),
        ({"buffers": 9}, "buffers must be 8 or less"),
    ],
)
def test_wrong_terms_are_rejected_in_a_sentence(terms: dict[str, object], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        BufferedToeplitz(ticks=10, epsilon=1, delta=1e-6, **terms)  # type: ignore[arg-type]
