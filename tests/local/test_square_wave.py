"""Square waves: exact channels, samplers, reconstructed histograms."""

from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.local import Client, Server, SquareWave
from discreet.local.numeric import FINE
from discreet.local.square_wave import _means, _window_sums, half_width
from tests.local.certify import is_certified
from tests.statistics import FALSE_ALARM, counts_misfit


def channel_of(mechanism: SquareWave) -> list[list[Fraction]]:
    steps = [(2 * i + 1) * FINE // (2 * mechanism.buckets) for i in range(mechanism.buckets)]
    return [mechanism.distribution(step) for step in steps]


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(4)], ids=str)
def test_the_channel_keeps_its_epsilon_exactly_and_wastes_none(epsilon: Fraction) -> None:
    channel = channel_of(SquareWave(epsilon=epsilon, buckets=7))
    assert is_certified(channel, epsilon)
    twin = [
        [p * Fraction(1 + 10**9, 10**9) if p == max(row) else p for p in row] for row in channel
    ]
    assert not is_certified(twin, epsilon)


def test_the_half_width_is_the_papers() -> None:
    for epsilon in (0.01, 0.5, 1.0, 3.0):
        grown = exp(epsilon)
        stated = (epsilon * grown - grown + 1) / (2 * grown * (grown - 1 - epsilon))
        assert half_width(epsilon) == pytest.approx(stated, rel=1e-6)
    assert half_width(9e-4) == pytest.approx(half_width(1.1e-3), rel=1e-3)


def test_reports_have_the_stated_distribution() -> None:
    """A fresh seed cries wolf once in 10⁶; the broken twin is the neighbouring bucket's law."""
    mechanism = SquareWave(epsilon=1, buckets=8)
    rows = Client(mechanism).report_many(np.full(100_000, 0.3)).rows
    law = mechanism.distribution(round(0.3 * FINE))
    assert counts_misfit(mechanism.tally(rows), [float(p) for p in law]) > FALSE_ALARM
    twin = mechanism.distribution(round(0.4 * FINE))
    assert counts_misfit(mechanism.tally(rows), [float(p) for p in twin]) < FALSE_ALARM


def test_sums_over_windows_are_those_of_the_channel() -> None:
    mechanism = SquareWave(epsilon=1, buckets=9)
    channel = np.array(channel_of(mechanism), float)
    near, far = float(mechanism.window.near), float(mechanism.window.far)
    shares, weights = np.linspace(1, 2, 9), np.linspace(3, 1, mechanism.counters)
    seen = far * shares.sum() + (near - far) * _window_sums(shares, mechanism.window.width)
    assert seen == pytest.approx(shares @ channel)
    assert _means(weights, near, far, mechanism.window.width) == pytest.approx(channel @ weights)


@pytest.mark.parametrize("smooth", [True, False])
def test_histograms_come_back(smooth: bool) -> None:
    """The broken twin reads the reports themselves as if they were values."""
    mechanism = SquareWave(epsilon=2, bounds=(0, 10), buckets=32)
    values = np.linspace(0, 1, 60_000) ** 2 * 10
    server = Server(mechanism)
    server.add(Client(mechanism).report_many(values))
    found = server.estimate(smooth=smooth)
    true = np.histogram(values, found.edges)[0] / len(values)
    assert found.shares.sum() == pytest.approx(1)
    assert found.shares.min() >= 0
    assert found.mean == pytest.approx(values.mean(), abs=0.15)
    assert found.quantile(0.5) == pytest.approx(np.median(values), abs=0.3)
    distance = np.abs(found.shares - true).sum()
    twin = np.histogram(
        np.repeat(np.linspace(0, 10, mechanism.counters), server.tally.counters), found.edges
    )[0]
    assert distance < 0.25 < np.abs(twin / len(values) - true).sum()


def test_the_spread_is_that_of_new_reports() -> None:
    mechanism = SquareWave(epsilon=2, buckets=8)
    values = np.linspace(0, 1, 4_000) ** 2
    found = []
    for _ in range(30):
        server = Server(mechanism)
        server.add(Client(mechanism).report_many(values))
        found.append(server.estimate().shares)
    told = server.estimate(resamples=30).spread
    assert told is not None
    assert 0.5 < np.mean(told) / np.mean(np.std(found, axis=0)) < 2


def test_of_nobody_all_buckets_are_equal() -> None:
    found = Server(SquareWave(epsilon=1, buckets=4)).estimate()
    assert found.shares.tolist() == [0.25] * 4
    assert found.spread is None


@pytest.mark.parametrize(
    ("name", "value"), [("epsilon", 0), ("buckets", 1), ("buckets", 5000), ("bounds", (1, 0))]
)
def test_bad_parameters_are_refused_by_name(name: str, value: Any) -> None:
    stated: dict[str, Any] = {"epsilon": 1, "buckets": 8, "bounds": (0, 1)}
    with pytest.raises(ParameterError, match=name):
        SquareWave(**(stated | {name: value}))


def test_a_value_outside_is_refused() -> None:
    with pytest.raises(ParameterError, match="clip them"):
        Client(SquareWave(epsilon=1)).report(1.5)
