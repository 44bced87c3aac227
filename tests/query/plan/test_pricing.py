"""Shares of a budget: exact, simple, and about the best ones."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.query.plan.pricing import shares, split

wholes = st.fractions(min_value=Fraction(1, 1000), max_value=100)
weights = st.lists(st.floats(min_value=0.5, max_value=1e4), min_size=1, max_size=12)


@given(wholes, weights)
def test_shares_add_up_to_exactly_the_whole(whole: Fraction, weights: list[float]) -> None:
    parts = split(whole, weights)
    assert sum(parts) == whole
    assert all(each > 0 for each in parts)


@given(wholes, st.lists(st.integers(min_value=1, max_value=50), min_size=1, max_size=9))
def test_proportions_are_kept_exactly(whole: Fraction, parts: list[int]) -> None:
    assert [each * sum(parts) / whole for each in shares(whole, parts)] == parts


def test_equal_weights_get_equal_shares() -> None:
    assert split(Fraction(1), [3.0, 3.0, 3.0]) == (Fraction(1, 3),) * 3


@given(weights)
def test_no_split_has_a_variance_much_below_that_of_the_shares(weights: list[float]) -> None:
    """Σ W / epsilon² is least, and (Σ ∛W)³, at shares in proportion to ∛W."""
    kept = [max(each, max(weights) / 1000) for each in weights]
    found = sum(w / float(e) ** 2 for w, e in zip(kept, split(Fraction(1), kept), strict=True))
    least = sum(w ** (1 / 3) for w in kept) ** 3
    assert found == pytest.approx(least, rel=0.03)
