"""The PLD accountant against Google's dp-accounting, on mixtures drawn at random."""

from fractions import Fraction
from typing import Any

import pytest
from dp_accounting import dp_event
from dp_accounting.pld.pld_privacy_accountant import PLDAccountant
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discreet.accounting import pld_epsilon
from tests.accounting.made import discrete_laplace, gaussian, laplace, sampled, tenth

epsilons = st.fractions(Fraction(1, 20), 1, max_denominator=50)
parts = st.lists(
    st.tuples(st.sampled_from(["laplace", "gaussian"]), epsilons, st.integers(1, 12)),
    min_size=1,
    max_size=3,
)


INTERVAL = 1e-3
"""The reference rounds each loss up by as much as this: it may exceed the truth by so much each."""


def reference(*events: dp_event.DpEvent, delta: Fraction) -> float:
    accountant = PLDAccountant(value_discretization_interval=INTERVAL)
    for event in events:
        accountant.compose(event)
    return float(accountant.get_epsilon(float(delta)))


@settings(max_examples=20, deadline=None)
@example([("laplace", Fraction(1, 12), 2)], tenth(5))
@given(parts, st.integers(3, 9).map(tenth))
def test_mixtures_agree_as_far_as_the_reference_is_good(
    drawn: list[tuple[str, Fraction, int]], delta: Fraction
) -> None:
    events = [
        (laplace(epsilon) if kind == "laplace" else gaussian(1 / epsilon)) * count
        for kind, epsilon, count in drawn
    ]
    theirs: dict[str, Any] = {
        "laplace": dp_event.LaplaceDpEvent,
        "gaussian": dp_event.GaussianDpEvent,
    }
    others = [
        dp_event.SelfComposedDpEvent(theirs[kind](float(1 / epsilon)), count)
        for kind, epsilon, count in drawn
    ]
    known = reference(*others, delta=delta)
    slack = INTERVAL * sum(count for _, _, count in drawn)
    assert known - slack <= pld_epsilon(events, delta) <= known * (1 + 1e-3) + 1e-3


@pytest.mark.parametrize("sensitivity", [1, 3, 8])
def test_discrete_laplace_agrees(sensitivity: int) -> None:
    event = dp_event.DiscreteLaplaceDpEvent(
        noise_parameter=0.1 / sensitivity, sensitivity=sensitivity
    )
    known = reference(dp_event.SelfComposedDpEvent(event, 50), delta=tenth(6))
    price = pld_epsilon(discrete_laplace("0.1", sensitivity) * 50, tenth(6))
    assert price == pytest.approx(known, rel=1e-3)


@pytest.mark.parametrize("probability", ["0.5", "0.05"])
def test_sampled_noise_agrees(probability: str) -> None:
    inner = dp_event.GaussianDpEvent(2.0)
    event = dp_event.PoissonSampledDpEvent(float(probability), inner)
    known = reference(dp_event.SelfComposedDpEvent(event, 100), delta=tenth(6))
    price = pld_epsilon(sampled(gaussian(2), probability) * 100, tenth(6))
    assert price == pytest.approx(known, rel=1e-3)
