"""The exact law of each mechanism: its epsilon, its chances, and the sampler that draws it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.local import FrequencyOracle, channel
from discreet.local.channels import is_within
from discreet.noise import SYSTEM
from tests.local.mechanisms import MAKERS, rounded_wrongly
from tests.statistics import FALSE_ALARM, counts_misfit

epsilons = st.fractions(min_value=Fraction(1, 1000), max_value=30, max_denominator=10**6)
EPSILONS = [Fraction(1, 10), Fraction(1), Fraction(3)]
DRAWS = 30_000


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=15)
@given(epsilon=epsilons, categories=st.integers(2, 5))
def test_no_report_has_worse_odds_than_its_price(
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
    """All chances of one report are two: of values that it speaks for, and of the others."""
    mechanism = MAKERS[name](epsilon=epsilon, categories=categories)
    for each in mechanism.speaks_for(mechanism.draw(np.array([0, categories - 1]), SYSTEM)):
        chances = [mechanism.chance(each, int(v)) for v in (np.argmax(each), np.argmin(each))]
        assert is_within(max(chances) / min(chances), epsilon)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_one_word_in_2_to_the_64_more_truth_would_cost_more(name: str, epsilon: Fraction) -> None:
    """The broken twin of the odds: chances are rounded to the last bit that epsilon allows."""
    broken = rounded_wrongly(name, epsilon=epsilon, categories=4)
    assert not channel(broken).is_private(epsilon)
    assert channel(broken).is_private(epsilon + Fraction(1, 2**50))


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("categories", [2, 3, 5, 6])
def test_reports_speak_for_values_with_the_stated_chances(name: str, categories: int) -> None:
    mechanism = MAKERS[name](epsilon=1, categories=categories)
    law = channel(mechanism)
    sets = mechanism.speaks_for(law.reports)
    for held, line in enumerate(law.matrix):
        for value in range(categories):
            chance = sum(p for p, each in zip(line, sets, strict=True) if each[value])
            assert chance == (mechanism.own if value == held else mechanism.other)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize(("claimed", "fits"), [(1, True), (Fraction(4, 5), False)])
def test_reports_have_the_stated_law(name: str, claimed: Fraction, *, fits: bool) -> None:
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
    with pytest.raises(ParameterError, match="categories must be fewer for a whole channel"):
        channel(MAKERS[name](epsilon=1, categories=1000))


def test_odds_are_compared_with_powers_of_e_exactly() -> None:
    e = Fraction(2718281828459045235360287471352662497757, 10**39)
    assert is_within(e, Fraction(1))
    assert not is_within(e + Fraction(1, 10**39), Fraction(1))
