"""The square root mechanism: its error, its sensitivity, its record and what is decoded from it."""

from fractions import Fraction
from hashlib import sha256
from math import comb, sqrt

import numpy as np
import pytest
from scipy.stats import chi2

from discreet.accounting import ApproximateEvent, compose, zcdp_rho
from discreet.errors import ParameterError
from discreet.noise.uniform import FloatArray, IntArray
from discreet.streams import SquareRoot, StreamMechanism
from discreet.streams.square_root import UNIT_BITS, square_root_coefficients
from discreet.streams.toeplitz import (
    DIRECT_MOST,
    convolved,
    decoding_series,
    exact_convolution,
    toeplitz_product,
)
from tests.replay import ReplayableEntropy
from tests.statistics import FALSE_ALARM
from tests.streams.units import numbers, squared_length, units, worst_unit

DELTA = Fraction(1, 10**6)


def stream(ticks: int, **terms: int) -> SquareRoot:
    return SquareRoot(ticks=ticks, epsilon=1, delta=DELTA, **terms)


def matrix(ticks: int) -> IntArray:
    """Return C of a stream, in units."""
    c = square_root_coefficients(ticks)
    return np.array([[c[t - s] if s <= t else 0 for s in range(ticks)] for t in range(ticks)])


def variance_misfit(errors: FloatArray, deviation: float) -> float:
    """Return the two-sided p-value of the mean square of independent normal errors."""
    below = float(chi2.cdf((errors**2).sum() / deviation**2, errors.size))
    return 2 * min(below, 1 - below)


# --------------------------------------------------------------------------- error


@pytest.mark.parametrize(
    ("ticks", "largest", "rms"),
    [
        (30, 9.1, 8.5),
        (365, 12.5, 11.8),
        (1024, 13.9, 13.2),
        (3653, 15.6, 14.9),
        (36525, 18.7, 18.0),
        (10**6, 23.7, 22.5),
    ],
)
def test_the_error_grows_with_the_logarithm_of_the_horizon(
    ticks: int, largest: float, rms: float
) -> None:
    mechanism = stream(ticks)
    assert largest - 0.7 <= mechanism.max_deviation <= largest
    assert rms - 0.2 <= mechanism.rms_deviation <= rms


def test_deviations_are_those_of_the_matrices() -> None:
    mechanism = stream(40, rows_per_unit=3, rows_per_tick=2)
    decoding = np.tril(np.ones((40, 40))) @ np.linalg.inv(matrix(40).astype(float))
    deviation = sqrt(mechanism.grid.variance)
    assert np.allclose(mechanism.deviations(), deviation * np.linalg.norm(decoding, axis=1))
    week = decoding.copy()
    week[7:] -= decoding[:-7]
    assert np.allclose(
        mechanism.window_deviations(7, 20), deviation * np.linalg.norm(week, axis=1)[:20]
    )
    assert mechanism.rms_deviation == pytest.approx(sqrt((mechanism.deviations() ** 2).mean()))


def test_sampled_errors_have_the_stated_deviations() -> None:
    runs = 2000
    mechanism = stream(365, cells=runs)
    increments = np.tile(np.arange(365)[:, None] % 7, (1, runs))
    record = mechanism.release(increments)
    for estimates, exact, deviations in (
        (mechanism.running(record), np.cumsum(increments, axis=0), mechanism.deviations()),
        (mechanism.windows(record, 1), increments, mechanism.window_deviations(1)),
    ):
        for tick in (0, 100, 364):
            errors = estimates[tick] - exact[tick]
            assert variance_misfit(errors, deviations[tick]) > FALSE_ALARM / 12
            # The mean of the errors is normal with deviation / √runs.
            assert abs(errors.mean()) < 5.4 * deviations[tick] / sqrt(runs)


@pytest.mark.parametrize(("ticks", "runs"), [(1024, 1000), (3653, 400)])
def test_sampled_errors_of_long_streams_have_the_stated_deviations(ticks: int, runs: int) -> None:
    mechanism = stream(ticks, cells=runs)
    errors = mechanism.running(mechanism.release(np.zeros((ticks, runs), int)))
    assert variance_misfit(errors[-1], mechanism.max_deviation) > FALSE_ALARM
    by_run = (errors**2).mean(axis=0)
    # The mean over runs is nearly normal. Six standard deviations: a false alarm in 10**8 runs.
    apart = by_run.mean() - mechanism.rms_deviation**2
    assert abs(apart) < 6 * by_run.std() / sqrt(runs)


def test_a_margin_covers_as_often_as_it_says() -> None:
    runs = 20_000
    mechanism = stream(20, cells=runs)
    record = mechanism.release(np.zeros((20, runs), int))
    missed = np.abs(mechanism.windows(record, 3)[-1]) > mechanism.margins(0.9, window=3)[-1]
    # Binomial: 5.5 standard deviations, a false alarm in 10**7 runs.
    assert abs(missed.sum() - runs / 10) < 5.5 * sqrt(runs * 0.09)
    assert mechanism.margins(0.95)[-1] == pytest.approx(1.95996 * mechanism.max_deviation, rel=1e-5)


# --------------------------------------------------------------------------- coefficients


def test_coefficients_are_rounded_up_and_never_rise() -> None:
    c = square_root_coefficients(3000)
    for k in (0, 1, 2, 17, 2999):
        exact = Fraction(comb(2 * k, k) << UNIT_BITS, 4**k)
        assert exact <= int(c[k]) <= exact + 1
    assert (np.diff(c) <= 0).all()
    assert c.min() > 0


def test_decoding_inverts_encoding_in_a_million_ticks() -> None:
    c = square_root_coefficients(10**6).astype(float)
    product = convolved(np.diff(c, prepend=0.0), decoding_series(c), 10**6)
    product[0] -= 1
    assert np.abs(product).max() < 1e-14


def test_without_noise_the_estimates_are_the_totals() -> None:
    mechanism = stream(2000)
    increments = np.arange(2000)[:, None] ** 2 % 1009
    exact = mechanism.grid.places(mechanism._exact(increments, 0))
    assert np.allclose(mechanism.running(exact), np.cumsum(increments, axis=0), atol=1e-6)
    assert np.allclose(mechanism.windows(exact, 1), increments, atol=1e-6)


def test_records_of_earlier_versions_stay_readable() -> None:
    """Coefficients and steps give records their meaning, so they must never change."""
    coefficients = square_root_coefficients(5000).astype("<i8").tobytes()
    assert sha256(coefficients).hexdigest()[:16] == "eda4f46e06b8e5d6"
    steps = [stream(ticks).grid.step for ticks in (30, 365, 1024, 3653, 36525)]
    assert steps == [Fraction(1, each) for each in (16, 16, 16, 8, 8)]


# --------------------------------------------------------------------------- exact products


@pytest.mark.parametrize("size", [1, 1000, 2**45, 2**60])
def test_products_are_exact_however_large(size: int) -> None:
    increments = numbers(7, -size, size + 1, 60, 3)
    product = toeplitz_product(square_root_coefficients(60), increments, 0)
    wanted = matrix(60).astype(object) @ increments.astype(object)
    assert np.asarray(product, object).tolist() == wanted.tolist()


def test_transforms_give_the_same_integers_as_plain_sums() -> None:
    c = square_root_coefficients(3000)
    increments = numbers(8, -(2**30), 2**30, 3000, 1)
    assert DIRECT_MOST < 3000**2
    by_transforms = exact_convolution(c, increments[:, 0])
    assert np.array_equal(toeplitz_product(c, increments, 0), by_transforms[:, None])
    assert np.array_equal(toeplitz_product(c, increments, 2500), by_transforms[2500:, None])


@pytest.mark.parametrize("since", [0, 1, 17, 29, 30])
def test_a_tick_has_the_same_exact_number_however_many_are_released_at_once(since: int) -> None:
    mechanism = stream(40, cells=2)
    increments = np.arange(60).reshape(30, 2)
    whole = np.asarray(mechanism._exact(increments, 0))
    assert (np.asarray(mechanism._exact(increments, since)) == whole[since:]).all()
    assert mechanism.release(increments, since).shape == (30 - since, 2)
    assert mechanism.running(mechanism.release(increments[:0])).shape == (0, 2)


def test_the_record_follows_from_the_increments_and_the_noise() -> None:
    mechanism = stream(12, cells=2)
    increments = np.arange(24).reshape(12, 2)
    first = mechanism.release(increments, entropy=ReplayableEntropy(1))
    again = mechanism.release(increments, entropy=ReplayableEntropy(1))
    other = mechanism.release(increments)
    assert (first == again).all()
    assert (first != other).all()


# --------------------------------------------------------------------------- sensitivity


@pytest.mark.parametrize(
    ("rows", "per_tick"), [(1, None), (3, None), (3, 1), (5, 2), (7, 3), (50, 2)]
)
def test_no_unit_moves_the_record_more_than_the_sensitivity(
    rows: int, per_tick: int | None
) -> None:
    ticks, cells, magnitude = 12, 3, 4
    mechanism = stream(
        ticks,
        cells=cells,
        rows_per_unit=rows,
        magnitude=magnitude,
        **({} if per_tick is None else {"rows_per_tick": per_tick}),
    )
    claimed = mechanism.grid.event.sensitivity_squared * mechanism.grid.step**2
    terms = {
        "ticks": ticks,
        "cells": cells,
        "rows": rows,
        "per_tick": per_tick or rows,
        "magnitude": magnitude,
    }
    for added in units(rows, trials=300, **terms):
        assert squared_length(matrix(ticks) @ added) <= claimed
    worst = squared_length(matrix(ticks) @ worst_unit(**terms))
    # A grid coarser than the coefficients costs at most one part in 2**19 more.
    assert claimed == worst or (mechanism.grid.step > 1 and worst < claimed < worst * (1 + 2**-19))


def test_a_coarse_grid_pays_for_its_floors() -> None:
    mechanism = stream(50, magnitude=2**30)
    assert mechanism.grid.step > 1
    claimed = mechanism.grid.event.sensitivity_squared
    for tick in range(0, 50, 7):
        here = numbers(tick, 0, 2**40, 50, 1)
        there = here.copy()
        there[tick] += 2**30
        one, two = (mechanism.grid.places(mechanism._exact(each, 0)) for each in (here, there))
        assert squared_length(two - one) <= claimed
    plain = stream(50)
    assert mechanism.max_deviation == pytest.approx(plain.max_deviation * 2**30, rel=2e-6)


# --------------------------------------------------------------------------- cost


def test_the_noise_is_the_analytic_one_for_the_whole_stream() -> None:
    mechanism = stream(365)
    (event,) = mechanism.concentrated_events
    assert sqrt(event.variance / event.sensitivity_squared) == pytest.approx(4.2247, abs=1e-4)
    assert event.answers == 365
    assert mechanism.events == (ApproximateEvent(epsilon=Fraction(1), delta=DELTA),)
    assert zcdp_rho(event) == event.sensitivity_squared / (2 * event.variance)
    assert compose(event, DELTA).epsilon <= 1


def test_many_cells_take_a_little_out_of_delta() -> None:
    few, many = stream(10**5), stream(10**5, cells=10**4)
    assert few.max_deviation < many.max_deviation < 1.02 * few.max_deviation


def test_it_is_a_stream_mechanism_that_may_react_and_keeps_nothing() -> None:
    mechanism: StreamMechanism = stream(365)
    assert mechanism.is_adaptive
    assert not mechanism.keeps_secrets
    assert mechanism.numbers_at(365) == 1
    assert eval(repr(mechanism), {"SquareRoot": SquareRoot}) == mechanism  # noqa: S307


# --------------------------------------------------------------------------- wrong arguments


@pytest.mark.parametrize(
    ("terms", "sentence"),
    [
        ({"ticks": 0}, "ticks must be 1 or more"),
        ({"delta": 0}, "delta must be more than 0"),
        ({"rows_per_tick": 2}, "rows_per_tick must be 1 or less"),
        ({"magnitude": 1.5}, "magnitude must be a whole number"),
        ({"cells": 10**9, "ticks": 10**5}, "delta must be more than"),
        ({"epsilon": 1e-12, "delta": 1e-13}, "epsilon must be larger"),
    ],
)
def test_wrong_terms_are_rejected_in_a_sentence(terms: dict[str, float], sentence: str) -> None:
    given = {"ticks": 10, "epsilon": 1, "delta": 1e-6} | terms
    with pytest.raises(ParameterError, match=sentence):
        SquareRoot(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("increments", "sentence"),
    [
        ([1, 2, 3], "increments must have a row for each tick and a column for each cell"),
        ([[1, 2]], "the number of cells in increments must be 1 or less"),
        ([[1]] * 11, "the number of ticks in increments must be 10 or less"),
        ([[0.5]], "increments must be whole numbers in rows of equal length"),
        ([[1], [1, 2]], "increments must be whole numbers in rows of equal length"),
    ],
)
def test_wrong_increments_are_rejected_and_not_shown(increments: object, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence) as caught:
        stream(10).release(increments)  # type: ignore[arg-type]
    assert "0.5" not in str(caught.value)
