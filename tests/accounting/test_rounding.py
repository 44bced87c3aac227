"""Floats that err to the side they say."""

from fractions import Fraction
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy.special import erfcx, expit, gammaln, ndtr

from discreet.accounting.rounding import (
    TRUST,
    float_down,
    float_up,
    least_float,
    log_up,
    short_down,
    short_up,
)

fractions = st.fractions(min_value=Fraction(1, 10**400), max_value=10**400)


@given(fractions)
def test_floats_enclose_their_fraction(value: Fraction) -> None:
    assert float_down(value) <= value <= float_up(value)
    assert -float_up(-value) == float_down(value)


@given(fractions)
def test_logarithms_enclose_the_truth(value: Fraction) -> None:
    true = mp.log(mpf(value.numerator)) - mp.log(mpf(value.denominator))
    assert -log_up(1 / value) <= true <= log_up(value)


@given(st.floats(1e-300, 1e300))
def test_short_fractions_enclose_their_float(value: float) -> None:
    assert Fraction(value) * (1 - Fraction(1, 2**31)) <= short_down(value) <= Fraction(value)
    assert Fraction(value) <= short_up(value) <= Fraction(value) * (1 + Fraction(1, 2**31))


@given(st.floats(0, 1e300))
def test_the_least_float_is_found_and_holds(threshold: float) -> None:
    found = least_float(lambda x: x >= threshold)
    assert threshold <= found <= threshold * (1 + 2.0**-45) + 5e-324


def test_a_property_that_never_holds_has_no_least_float() -> None:
    assert least_float(lambda _: False) == inf


@pytest.mark.parametrize("x", [-30.0, -8.0, -1.0, -1e-8, 0.3, 1.0, 5.0, 26.0])
def test_special_functions_deserve_their_trust(x: float) -> None:
    """What the accountants grant SciPy, held against 50 digits."""
    e = mpf(x)
    assert abs(float(ndtr(x)) / mp.ncdf(e) - 1) < TRUST + x * x * 2.0**-51
    assert abs(float(expit(x)) * (1 + mp.exp(-e)) - 1) < TRUST
    assert abs(float(gammaln(abs(x) + 3)) / mp.loggamma(abs(e) + 3) - 1) < TRUST
    if x >= -1:
        assert abs(float(erfcx(x)) / (mp.exp(e * e) * mp.erfc(e)) - 1) < TRUST
