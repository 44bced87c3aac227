"""The auditor has power, and finds no more than there is (R1)."""

from fractions import Fraction
from math import log

import numpy as np
import pytest

from discreet.audit import Subject, SubjectKind, audit, audit_outputs, lower_bound
from discreet.errors import ParameterError
from discreet.mechanisms import Geometric, Laplace, RandomizedResponse

RUNS = 400_000


@pytest.mark.parametrize("epsilon", [0.1, 1, 4])
def test_geometric_noise_is_measured_at_its_price(epsilon: float) -> None:
    """A fresh seed cries wolf once in 10^8; below epsilon = 1 there is little to see."""
    mechanism = Geometric(epsilon=epsilon, sensitivity=1)
    here, there = (mechanism.release(np.full(RUNS, exact)) for exact in (0, 1))
    found = audit_outputs(here, there, epsilon=epsilon)
    assert not found.is_violated
    assert found.measured >= (0.9 if epsilon >= 1 else 0.5) * epsilon


@pytest.mark.parametrize("epsilon", [0.1, 1, 4])
def test_laplace_noise_is_measured_at_its_price(epsilon: float) -> None:
    """One vector is released, and each of its coordinates is a run: their noise is independent."""
    mechanism = Laplace(epsilon=epsilon, sensitivity=1, answers=RUNS)
    here, there = (mechanism.release(np.full(RUNS, exact)) for exact in (0.0, 1.0))
    found = audit_outputs(here, there, epsilon=epsilon)
    assert not found.is_violated
    assert found.measured >= (0.9 if epsilon >= 1 else 0.5) * epsilon


def test_a_function_of_ones_own_is_audited_by_calling_it() -> None:
    response = RandomizedResponse.fair_coins()
    found = lower_bound(response.release, True, False, epsilon=log(3) + 1e-9, runs=4_000)
    assert not found.is_violated
    assert found.power is not None
    assert found.power > 0.8
    assert "release: ε is at least" in str(found)
    assert found.here.runs == found.there.runs == 2_000


def test_what_claims_nothing_is_measured_and_never_violated() -> None:
    found = lower_bound(lambda exact: exact, 0, 1, runs=1_000)
    assert found.measured > 3
    assert found.epsilon is None
    assert found.power is None
    assert not found.is_violated
    assert found.delta_measured == 0


def test_a_claimed_delta_is_refuted_by_a_larger_one() -> None:
    """What shows everything one time in ten is (0, 0.1)-private, and not (1, 0.05)-private."""
    coin = RandomizedResponse.truthful(Fraction(9, 10))

    def shows(exact: int) -> int | None:
        return None if coin.release(True) else exact

    kept = lower_bound(shows, 0, 1, epsilon=0, delta=Fraction(1, 10), runs=4_000)
    assert not kept.is_violated
    assert 0.06 < kept.delta_measured <= 0.1
    assert lower_bound(shows, 0, 1, epsilon=1, delta=Fraction(1, 20), runs=4_000).is_violated


def test_a_subject_is_run_as_often_as_it_says_or_as_it_is_told() -> None:
    asked: list[int] = []

    def draw(count: int) -> list[int]:
        asked.append(count)
        return [0] * count

    subject = Subject(
        name="silence",
        kind=SubjectKind.MECHANISM,
        epsilon=Fraction(1),
        here=draw,
        there=draw,
        runs=400,
    )
    assert audit(subject).measured == 0
    assert audit(subject, runs=100).runs == 100
    assert asked == [400, 400, 100, 100]


@pytest.mark.parametrize("confidence", [0, 1, 2, float("nan")])
def test_a_confidence_that_is_none_is_refused(confidence: float) -> None:
    with pytest.raises(ParameterError, match="confidence"):
        audit_outputs([0] * 100, [0] * 100, confidence=confidence)


def test_too_few_runs_are_refused() -> None:
    with pytest.raises(ParameterError, match="runs"):
        audit_outputs([0] * 10, [0] * 10)
