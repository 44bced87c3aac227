"""Known answers: ours are never below them, and close.

The numbers were computed with dp-accounting 0.6.0 and closed forms, and hold to six decimals.
"""

from collections.abc import Iterable
from fractions import Fraction

import pytest

from discreet.accounting import (
    Event,
    FixedSampleEvent,
    compose,
    epsilon_from_rdp,
    epsilon_from_rho,
    gdp_epsilon,
    optimal_epsilon,
    pld_epsilon,
    pure_epsilon,
)
from tests.accounting.made import discrete_laplace, gaussian, laplace, pure, sampled, tenth

A17 = (laplace("0.1") * 30, gaussian(20) * 100, laplace("0.5") * 2)

PLD = {
    "100 Laplace": (laplace("0.1") * 100, 6, 4.692667),
    "100 discrete Laplace": (discrete_laplace("0.1") * 100, 6, 4.774568),
    "100 discrete Laplace, fine grid": (discrete_laplace("0.1", 2**16) * 100, 6, 4.692667),
    "100 discrete Laplace, finer grid": (discrete_laplace("0.1", 2**40) * 100, 6, 4.692667),
    "1 Laplace": (laplace("0.1"), 6, 0.099998),
    "1000 Laplace": (laplace("0.01") * 1000, 6, 1.362925),
    "10 Laplace": (laplace(1) * 10, 9, 9.999999),
    "20 Laplace": (laplace("0.5") * 20, 5, 9.105544),
    "1000 Gaussian": (gaussian(50) * 1000, 6, 2.921601),
    "1 Gaussian": (gaussian(1), 5, 4.377178),
    "100 Gaussian": (gaussian(10) * 100, 5, 4.377178),
    "10000 Gaussian": (gaussian(200) * 10_000, 8, 2.707606),
    "loud Gaussian": (gaussian("0.5"), 6, 10.997151),
    "sampled Gaussian": (sampled(gaussian(1), "0.01") * 1000, 5, 1.828244),
    "thinly sampled Gaussian": (sampled(gaussian(2), "0.001") * 10_000, 6, 0.204931),
    "mixture": (A17, 6, 4.200645),
    "any pure": (pure("0.01") * 1000, 6, 1.365447),
}


@pytest.mark.parametrize(("events", "power", "known"), PLD.values(), ids=PLD.keys())
def test_pld_knows(events: Event | Iterable[Event], power: int, known: float) -> None:
    price = pld_epsilon(events, tenth(power))
    assert known - 1e-6 <= price <= known * (1 + 1e-4) + 1e-6


RDP = {
    "100 Laplace": (laplace("0.1") * 100, 6, 4.984174),
    "1000 Laplace": (laplace("0.01") * 1000, 6, 1.465842),
    "20 Laplace": (laplace("0.5") * 20, 5, 9.346257),
    "1000 Gaussian": (gaussian(50) * 1000, 6, 3.131090),
    "1 Gaussian": (gaussian(1), 5, 4.728507),
    "10000 Gaussian": (gaussian(200) * 10_000, 8, 2.861695),
    "loud Gaussian": (gaussian("0.5"), 6, 11.688627),
    "sampled Gaussian": (sampled(gaussian(1), "0.01") * 1000, 5, 2.101367),
    "without replacement": (
        FixedSampleEvent(event=gaussian(2), size=100, population=10_000) * 200,
        6,
        0.710227,
    ),
    "mixture": (A17, 6, 4.430333),
}


@pytest.mark.parametrize(("events", "power", "known"), RDP.values(), ids=RDP.keys())
def test_rdp_knows(events: Event | Iterable[Event], power: int, known: float) -> None:
    # The reference takes the best of its own orders, so ours may be a little below it.
    assert epsilon_from_rdp(events, tenth(power)) == pytest.approx(known, rel=5e-3)


@pytest.mark.parametrize(
    ("rho", "power", "known"),
    [("0.2", 6, 3.131056), ("0.5", 5, 4.728387), ("0.125", 8, 2.860760), ("2", 6, 11.688596)],
)
def test_zcdp_converts_tightly(rho: str, power: int, known: float) -> None:
    assert epsilon_from_rho(Fraction(rho), tenth(power)) == pytest.approx(known, abs=1e-6)


def test_zcdp_of_pure_releases() -> None:
    price = compose(laplace("0.1") * 100, 1e-6)
    assert price.alternatives["zCDP"] == pytest.approx(5.221534, abs=1e-6)


@pytest.mark.parametrize(
    ("epsilon", "count", "power", "known"),
    [("0.1", 100, 6, 4.774568), ("0.01", 1000, 6, 1.365447), ("0.5", 20, 5, 9.859411)],
)
def test_optimal_composition_knows(epsilon: str, count: int, power: int, known: float) -> None:
    cost = (Fraction(epsilon), Fraction(0))
    assert optimal_epsilon(cost, count, tenth(power)) == pytest.approx(known, abs=1e-6)


@pytest.mark.parametrize(
    ("multiplier", "count", "power", "known"),
    [
        (50, 1000, 6, 2.921601),
        (1, 1, 5, 4.377178),
        (10, 100, 5, 4.377178),
        (200, 10**4, 8, 2.707606),
    ],
)
def test_gaussians_compose_exactly(multiplier: int, count: int, power: int, known: float) -> None:
    price = gdp_epsilon(gaussian(multiplier) * count, tenth(power))
    assert price == pytest.approx(known, abs=1e-6)


def test_pure_releases_add() -> None:
    assert pure_epsilon(laplace("0.1") * 100) == 10
    assert compose(laplace(1) * 10, 1e-9).epsilon <= 10


def test_order_changes_nothing() -> None:
    first = compose(A17, 1e-6).epsilon
    assert compose(A17[::-1], 1e-6).epsilon == first
    halves = (laplace("0.1") * 15, gaussian(20) * 60, laplace("0.5"))
    rest = (gaussian(20) * 40, laplace("0.5"), laplace("0.1") * 15)
    assert float(compose(halves + rest, 1e-6).epsilon) == pytest.approx(float(first), abs=1e-9)


def test_discrete_noise_priced_as_continuous_would_be_too_cheap() -> None:
    """The broken twin of the accountant that prices what is drawn."""
    twin = pld_epsilon(laplace("0.1") * 100, tenth(6))
    assert twin < 4.774568 - 0.08
    assert pld_epsilon(discrete_laplace("0.1") * 100, tenth(6)) >= 4.774567


def test_nothing_costs_nothing() -> None:
    assert compose([], 0).epsilon == 0
    assert compose(gaussian(1) * 0, 0).epsilon == 0
    assert compose(gaussian(1) * 0, 1e-6).epsilon == 0
