"""Bounded numbers: exact channels, no bias, stated variance, samplers, rejections."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import HIDDEN, ParameterError, ReportError
from discreet.local import Client, Duchi, Hybrid, Piecewise, Server
from discreet.local.means import MeanMechanism
from discreet.local.numeric import FINE
from tests.local.certify import is_certified
from tests.statistics import FALSE_ALARM, counts_misfit

KINDS: list[type[MeanMechanism]] = [Duchi, Piecewise, Hybrid]
EPSILONS = [Fraction(1, 10), Fraction(61, 100), Fraction(1), Fraction(3), Fraction(8)]


def small(kind: type[MeanMechanism], epsilon: Fraction) -> MeanMechanism:
    """Return a mechanism with few enough reports to list."""
    if kind is Duchi:
        return Duchi(epsilon=epsilon)
    return (
        Piecewise(epsilon=epsilon, grid=3) if kind is Piecewise else Hybrid(epsilon=epsilon, grid=3)
    )


STEPS = [0, 1, FINE // 7, FINE // 2, FINE // 8 * 5, FINE - 1, FINE]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_the_channel_keeps_its_epsilon_exactly_and_wastes_none(
    kind: type[MeanMechanism], epsilon: Fraction
) -> None:
    mechanism = small(kind, epsilon)
    channel = [mechanism.distribution(step) for step in STEPS]
    possible = [any(column) for column in zip(*channel, strict=True)]
    seen = [[p for p, is_seen in zip(row, possible, strict=True) if is_seen] for row in channel]
    assert is_certified(seen, epsilon)
    # The broken twin: odds that are rounded up instead of down are not kept.
    twin = [[p * Fraction(1 + 10**9, 10**9) if p == max(row) else p for p in row] for row in seen]
    assert not is_certified(twin, epsilon)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", EPSILONS, ids=str)
def test_decoding_has_no_bias_at_all_and_the_stated_variance(
    kind: type[MeanMechanism], epsilon: Fraction
) -> None:
    mechanism = small(kind, epsilon)
    says = mechanism.decoded()
    for step in STEPS:
        probabilities, share = mechanism.distribution(step), Fraction(step, FINE)
        assert sum(p * x for p, x in zip(probabilities, says, strict=True)) == share
        square = sum(p * x * x for p, x in zip(probabilities, says, strict=True))
        stated = mechanism.variance(np.array([float(share)]))[0]
        assert stated == pytest.approx(float(square - share**2), rel=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", [0, FINE // 7, FINE])
def test_reports_have_the_stated_distribution(kind: type[MeanMechanism], step: int) -> None:
    """A fresh seed cries wolf once in 10⁶; the broken twin is the law of a value nearby."""
    mechanism = small(kind, Fraction(1))
    low, high = map(float, mechanism.bounds)
    value = low + (high - low) * step / FINE
    reports = Client(mechanism).report_many(np.full(200_000, value))
    counts = mechanism.tally(reports.rows)
    assert counts_misfit(counts, [float(p) for p in mechanism.distribution(step)]) > FALSE_ALARM
    twin = mechanism.distribution(FINE // 3)
    assert counts_misfit(counts, [float(p) for p in twin]) < FALSE_ALARM


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "values", [[2.0], [float("nan")], [-1.5, 0], ["a"], [[0.0]], [None], [True], [float("inf")]]
)
def test_values_outside_are_refused_and_not_shown(
    kind: type[MeanMechanism], values: list[Any]
) -> None:
    with pytest.raises(ParameterError, match="values must be numbers from -1 to 1") as caught:
        Client(kind(epsilon=1)).report_many(values)
    assert str(HIDDEN) not in str(caught.value)
    assert "given" not in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epsilon", 0),
        ("epsilon", -1),
        ("epsilon", 31),
        ("epsilon", "1"),
        ("bounds", (1, 1)),
        ("bounds", (2, 1)),
        ("bounds", (10**9, 10**9 + Fraction(1, 10**9))),
        ("bounds", (0, float("inf"))),
        ("bounds", 3),
    ],
)
def test_bad_parameters_are_refused_by_name(kind: Any, name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=name):
        kind(**({"epsilon": 1, "bounds": (0, 1)} | {name: value}))


def test_reports_of_another_mechanism_or_of_none_are_refused() -> None:
    here, there = Piecewise(epsilon=1), Piecewise(epsilon=1, bounds=(0, 1))
    server = Server(here)
    with pytest.raises(ReportError, match="not reports of"):
        server.add(Client(there).report(0.5))
    with pytest.raises(ReportError, match="made by"):
        server.add(Client(there).report_many([0.5]))
    good = Client(here).report(0.5)
    for bad in (good[:-1], good + b"\0", good[:8] + b"\xff\xff", b"", b"x" * 10):
        with pytest.raises(ReportError):
            server.add(bad)
    assert server.people == 0
    for bad in (b"", bytes(server)[:-8], bytes(Server(there)), bytes(server)[:12] + b"\xff" * 8):
        with pytest.raises(ReportError):
            Server.from_bytes(here, bad)
