"""Odds below e^epsilon, and chances rounded to words."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from discreet.local.channels import is_within
from discreet.local.odds import WORD, chance_down, chance_up, odds_down, threshold

chances = st.fractions(min_value=0, max_value=1)


@given(st.fractions(min_value=Fraction(1, 10**6), max_value=30))
def test_odds_are_below_the_power_of_e_by_a_hair(epsilon: Fraction) -> None:
    odds = odds_down(epsilon)
    assert is_within(odds, epsilon)
    assert not is_within(odds * (1 + Fraction(1, 1 << 200)), epsilon)


@given(chances)
def test_chances_are_rounded_to_the_next_words(chance: Fraction) -> None:
    low, high = chance_down(chance), chance_up(chance)
    assert low <= chance <= high
    assert threshold(high) - threshold(low) == (0 if chance * WORD % 1 == 0 else 1)
