"""What all mechanisms share: parameters, fingerprints, events, influence and exact channels."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import pure_epsilon
from discreet.accounting.events import PureEvent
from discreet.errors import ParameterError, ReportError
from discreet.local import (
    BitFlips,
    Client,
    Discovery,
    Duchi,
    FrequencyOracle,
    KaryResponse,
    Rappor,
    Reports,
    Server,
    channel,
    choose,
    fingerprint,
    influence,
)
from discreet.local.mechanism import is_within
from discreet.noise import SYSTEM
from tests.local.mechanisms import MAKERS, rounded_wrongly
from tests.statistics import FALSE_ALARM, counts_misfit

BAD_EPSILONS = [0, -1, float("nan"), float("inf"), "1", True, Fraction(1, 10**7), 31]

STORED = {
    "k-ary": "e2ac245641bf1bf3",
    "symmetric": "686b21ae245c6e33",
    "optimized": "3406395bbf5c9cd4",
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
        assert server.support_counts().sum() <= mechanism.most_supported
    assert max(moved) == pytest.approx(float(most))


def test_parameters_that_look_alike_have_other_fingerprints() -> None:
    """Numbers are shown with twelve digits and distinguished by all of them."""
    high = Fraction(10**12)
    one, other = (Duchi(epsilon=1, bounds=(0, high + Fraction(i, 10**9))) for i in (1, 2))
    assert repr(one) == repr(other)
    assert fingerprint(one) != fingerprint(other)
    tiny = Fraction(1, 1 << 31)
    first, second = (Discovery(Rappor(f=Fraction(1, 3), p=i * tiny)) for i in (0, 1))
    assert fingerprint(first) != fingerprint(second)
    with pytest.raises(ReportError, match="not reports"):
        Reports.from_bytes(one, Client(other).report(1))


def test_a_response_that_cannot_tell_its_truth_from_lies_is_refused() -> None:
    """With 64-bit probabilities, ten million lies leave nothing for the truth."""
    with pytest.raises(
        ParameterError, match="epsilon must be larger to distinguish 10000000 values"
    ):
        KaryResponse(epsilon=Fraction(1, 10**6), categories=10**7)
    found = choose(Fraction(1, 10**6), 1 << 24, 1000)
    assert not any(isinstance(each.mechanism, KaryResponse) for each in found.candidates)


epsilons = st.fractions(min_value=Fraction(1, 1000), max_value=30, max_denominator=10**6)
EPSILONS = [Fraction(1, 10), Fraction(1), Fraction(3)]
DRAWS = 30_000


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=15)
@given(epsilon=epsilons, categories=st.integers(2, 5))
def test_no_report_has_a_larger_likelihood_ratio_than_its_price(
    name: str, epsilon: Fraction, categories: int
) -> None:
    law = channel(MAKERS[name](epsilon=epsilon, categories=categories))
    assert all(sum(line) == 1 for line in law.matrix)
    assert law.is_private(epsilon)
    assert not law.is_private(epsilon * (1 - Fraction(1, 10**6)))


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=15)
@given(epsilon=epsilons, categories=st.integers(2, 3000))
def test_nor_has_a_report_of_many_values(name: str, epsilon: Fraction, categories: int) -> None:
    """A report has two probabilities: for values that it supports, and for the others."""
    mechanism = MAKERS[name](epsilon=epsilon, categories=categories)
    for each in mechanism.supports(mechanism.draw(np.array([0, categories - 1]), SYSTEM)):
        probabilities = [
            mechanism.probability(each, int(v)) for v in (np.argmax(each), np.argmin(each))
        ]
        assert is_within(max(probabilities) / min(probabilities), epsilon)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_one_word_in_2_to_the_64_more_truth_would_cost_more(name: str, epsilon: Fraction) -> None:
    """The broken variant: probabilities are rounded to the last bit that epsilon allows."""
    broken = rounded_wrongly(name, epsilon=epsilon, categories=4)
    assert not channel(broken).is_private(epsilon)
    assert channel(broken).is_private(epsilon + Fraction(1, 2**50))


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("categories", [2, 3, 5, 6])
def test_reports_support_values_with_the_stated_probabilities(name: str, categories: int) -> None:
    mechanism = MAKERS[name](epsilon=1, categories=categories)
    law = channel(mechanism)
    sets = mechanism.supports(law.reports)
    for held, line in enumerate(law.matrix):
        for value in range(categories):
            probability = sum(p for p, each in zip(line, sets, strict=True) if each[value])
            assert probability == (mechanism.p if value == held else mechanism.q)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize(("claimed", "fits"), [(1, True), (Fraction(4, 5), False)])
def test_reports_have_the_stated_distribution(name: str, claimed: Fraction, *, fits: bool) -> None:
    """A fresh seed cries wolf six times in 10^6; the second row is the twin it must catch."""
    drawn, stated = (MAKERS[name](epsilon=each, categories=6) for each in (1, claimed))
    p = min(_misfit(drawn, stated, held) for held in (0, 2, 5))
    assert (p > FALSE_ALARM) is fits


def _misfit(drawn: FrequencyOracle, stated: FrequencyOracle, held: int) -> float:
    law = channel(stated)
    rows = drawn.draw(np.full(DRAWS, held), SYSTEM)
    place = {each.tobytes(): i for i, each in enumerate(law.reports)}
    counts = np.bincount([place[each.tobytes()] for each in rows], minlength=len(place))
    return counts_misfit(counts, [float(p) for p in law.matrix[held]])


@pytest.mark.parametrize("name", MAKERS)
def test_a_channel_of_many_values_is_refused(name: str) -> None:
    with pytest.raises(ParameterError, match="categories must be fewer for an exact channel"):
        channel(MAKERS[name](epsilon=1, categories=1000))


def test_likelihood_ratios_are_compared_with_powers_of_e_exactly() -> None:
    e = Fraction(2718281828459045235360287471352662497757, 10**39)
    assert is_within(e, Fraction(1))
    assert not is_within(e + Fraction(1, 10**39), Fraction(1))


def test_prices_are_events_that_accountants_know() -> None:
    assert BitFlips(epsilon=1, buckets=4).event == PureEvent(epsilon=Fraction(1))
    assert Duchi(epsilon=2).event == PureEvent(epsilon=Fraction(2))
    assert Rappor().event == PureEvent(epsilon=Rappor().permanent)
