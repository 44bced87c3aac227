"""What all mechanisms share: parameters, fingerprints, prices, influence."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting import pure_epsilon
from discreet.errors import ParameterError, ReportError
from discreet.local import KaryResponse, Server, choose, fingerprint, influence
from discreet.local.numeric import Duchi, NumericClient
from discreet.local.rappor import Discovery, Rappor
from discreet.local.reports import Reports
from tests.local.mechanisms import MAKERS

BAD_EPSILONS = [0, -1, float("nan"), float("inf"), "1", True, Fraction(1, 10**7), 31]

STORED = {
    "k-ary": "e2ac245641bf1bf3",
    "symmetric": "686b21ae245c6e33",
    "optimised": "3406395bbf5c9cd4",
    "subset": "d7769145ee55a5bc",
    "hashing": "5fdbbf5be210666b",
    "hadamard": "59d82215046e42db",
}
"""Fingerprints at epsilon = 1/2 and 100 values: reports that people sent begin with them."""


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("epsilon", BAD_EPSILONS)
def test_an_epsilon_outside_the_proof_is_refused(name: str, epsilon: object) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        MAKERS[name](epsilon=epsilon, categories=10)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("categories", [1, 0, -5, 2.5, "many", 1 << 40])
def test_fewer_than_two_values_or_too_many_are_refused(name: str, categories: object) -> None:
    with pytest.raises(ParameterError, match="categories"):
        MAKERS[name](epsilon=1, categories=categories)


@pytest.mark.parametrize("name", MAKERS)
def test_mechanisms_are_values(name: str) -> None:
    one, same = (MAKERS[name](epsilon=each, categories=9) for each in (0.1, Fraction(1, 10)))
    assert one == same
    assert hash(one) == hash(same)
    assert "epsilon=0.1, categories=9" in repr(one)


@pytest.mark.parametrize("name", MAKERS)
def test_a_report_is_charged_its_epsilon(name: str) -> None:
    mechanism = MAKERS[name](epsilon=Fraction(1, 3), categories=9)
    assert pure_epsilon(mechanism.event) == Fraction(1, 3)  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", MAKERS)
def test_fingerprints_never_change(name: str) -> None:
    assert fingerprint(MAKERS[name](epsilon=0.5, categories=100)).hex() == STORED[name]


def test_no_two_mechanisms_share_a_fingerprint() -> None:
    found = {
        fingerprint(make(epsilon=epsilon, categories=categories))
        for make in MAKERS.values()
        for epsilon in (1, 2, Fraction(1, 3))
        for categories in (5, 6)
    }
    assert len(found) == len(MAKERS) * 6


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 4), Fraction(1), Fraction(4)])
def test_no_report_moves_an_estimate_by_more_than_its_influence(
    name: str, epsilon: Fraction
) -> None:
    """Every report that a server takes is tried, honest or not."""
    mechanism = MAKERS[name](epsilon=epsilon, categories=5)
    most = influence(mechanism)
    moved: list[float] = []
    for row in mechanism.every_report():
        server = Server(mechanism)
        server.add(Reports(mechanism, row[np.newaxis]))
        moved.append(float(np.abs(server.estimate().counts).max()))
        assert server.spoken_for().sum() <= mechanism.most_spoken_for
    assert max(moved) == pytest.approx(float(most))


def test_parameters_that_look_alike_have_other_fingerprints() -> None:
    """Numbers are shown with twelve digits, and told apart by all of them."""
    high = Fraction(10**12)
    one, other = (Duchi(epsilon=1, bounds=(0, high + Fraction(i, 10**9))) for i in (1, 2))
    assert repr(one) == repr(other)
    assert fingerprint(one) != fingerprint(other)
    tiny = Fraction(1, 1 << 31)
    first, second = (Discovery(Rappor(f=Fraction(1, 3), p=i * tiny)) for i in (0, 1))
    assert fingerprint(first) != fingerprint(second)
    with pytest.raises(ReportError, match="no reports"):
        Reports.from_bytes(one, NumericClient(other).report(1))


def test_a_response_that_cannot_tell_its_truth_from_lies_is_refused() -> None:
    """64 bits hold so many lies of so much the same chance that none is left for the truth."""
    with pytest.raises(ParameterError, match="epsilon must be more to tell 10000000 values"):
        KaryResponse(epsilon=Fraction(1, 10**6), categories=10**7)
    found = choose(Fraction(1, 10**6), 1 << 24, 1000)
    assert not any(isinstance(each.mechanism, KaryResponse) for each in found.candidates)
