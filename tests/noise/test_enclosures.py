"""Brackets of computable reals: they hold the real, they are narrow, they know no float."""

import ast
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.noise import enclosures
from discreet.noise.enclosures import (
    Bracket,
    ceil_div,
    excess_exp_neg,
    exp_neg,
    laplace_tail,
    ratio,
    scaled_exp_neg,
    share_against_exp_neg,
)

WIDEST = 3

exponents = st.one_of(
    st.fractions(min_value=0, max_value=200),
    st.fractions(min_value=0, max_value=Fraction(1, 100), max_denominator=10**30),
    st.builds(Fraction, st.integers(0, 10**12), st.integers(1, 10**12)),
)
precisions = st.sampled_from([0, 1, 8, 32, 40, 64, 96, 127, 200, 320])


def precise(x: Fraction) -> Any:
    return mpmath.mpf(x.numerator) / x.denominator


def holds(bracket: Bracket, bits: int, real: Any) -> bool:
    """Tell whether a bracket holds 2**bits times the real; 600 bits of it are known here."""
    low, high = bracket
    scaled = mpmath.ldexp(real, bits)
    doubt = mpmath.ldexp(scaled, -590)
    return bool(low <= scaled + doubt and scaled - doubt <= high) and high - low <= WIDEST


@settings(max_examples=300, deadline=None)
@given(exponents, precisions)
def test_exp_neg_holds_the_power_in_a_narrow_bracket(x: Fraction, bits: int) -> None:
    with mpmath.workprec(600):
        assert holds(exp_neg(x, bits), bits, mpmath.exp(-precise(x)))


@settings(max_examples=150, deadline=None)
@given(exponents, st.fractions(min_value=Fraction(1, 10**6), max_value=10**6), precisions)
def test_scaled_exp_neg_holds_the_product(x: Fraction, factor: Fraction, bits: int) -> None:
    with mpmath.workprec(600):
        product = precise(factor) * mpmath.exp(-precise(x))
        assume(product <= 1)
        assert holds(scaled_exp_neg(factor, x)(bits), bits, product)


@settings(max_examples=150, deadline=None)
@given(exponents, st.integers(1, 65535), st.data(), precisions)
def test_excess_exp_neg_holds_what_is_beyond_the_base(
    x: Fraction, height: int, data: st.DataObject, bits: int
) -> None:
    with mpmath.workprec(600):
        tickets = height * mpmath.exp(-precise(x))
        base = data.draw(st.integers(0, int(tickets)))
        span = data.draw(st.integers(int(tickets) + 1 - base, 65536))
        share = (tickets - base) / span
        assert holds(excess_exp_neg(height, base, span, x)(bits), bits, share)


@settings(max_examples=150, deadline=None)
@given(
    exponents,
    st.fractions(min_value=Fraction(1, 10**6), max_value=10**6),
    st.fractions(min_value=0, max_value=1 << 62),
    precisions,
)
def test_share_holds_the_share(x: Fraction, kept: Fraction, other: Fraction, bits: int) -> None:
    with mpmath.workprec(600):
        share = precise(kept) / (precise(kept) + precise(other) * mpmath.exp(-precise(x)))
        assert holds(share_against_exp_neg(kept, other, x)(bits), bits, share)


@settings(max_examples=150, deadline=None)
@given(
    st.fractions(min_value=Fraction(1, 256), max_value=1 << 26), st.integers(1, 10**6), precisions
)
def test_laplace_tail_holds_the_tail(scale: Fraction, k: int, bits: int) -> None:
    with mpmath.workprec(600):
        q = mpmath.exp(-1 / precise(scale))
        tail = 2 * mpmath.exp(-k / precise(scale)) / (1 + q)
        assert holds(laplace_tail(scale, k)(bits), bits, tail)


@given(st.fractions(min_value=0, max_value=1), precisions)
def test_ratio_is_off_by_less_than_one_on_either_side(p: Fraction, bits: int) -> None:
    low, high = ratio(p)(bits)
    assert p * 2**bits - 1 < low <= p * 2**bits <= high < p * 2**bits + 1


@given(st.integers(), st.integers(min_value=1))
def test_ceil_div_rounds_up(a: int, b: int) -> None:
    assert Fraction(a, b) <= ceil_div(a, b) < Fraction(a, b) + 1


@pytest.mark.parametrize("bits", [0, 8, 64, 500])
def test_the_power_of_zero_is_bracketed_from_both_sides_of_one(bits: int) -> None:
    low, high = exp_neg(Fraction(0), bits)
    assert low <= 1 << bits <= high <= low + 1


@pytest.mark.parametrize("x", [Fraction(10**6), Fraction(10**30), Fraction(10**300, 7)])
def test_a_huge_exponent_leaves_next_to_nothing(x: Fraction) -> None:
    low, high = exp_neg(x, 64)
    assert low == 0
    assert high <= 1


@settings(max_examples=100, deadline=None)
@given(exponents)
def test_more_bits_never_contradict_fewer(x: Fraction) -> None:
    low, high = exp_neg(x, 40)
    low_more, high_more = exp_neg(x, 104)
    assert low << 64 <= high_more
    assert low_more <= high << 64


def test_a_bracket_rounded_inwards_is_caught() -> None:
    """The broken twin: both ends moved one unit towards each other, as nearest rounding would."""
    low, high = exp_neg(Fraction(1), 200)
    with mpmath.workprec(600):
        assert holds((low, high), 200, mpmath.exp(-1))
        assert not holds((low + 1, high), 200, mpmath.exp(-1))
        assert not holds((low, high - 1), 200, mpmath.exp(-1))


def test_the_exact_side_knows_no_floats() -> None:
    tree = ast.parse(Path(enclosures.__file__).read_text(encoding="utf-8"))
    literals = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    modules = {
        *(node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)),
        *(a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names),
    }
    assert not [literal for literal in literals if isinstance(literal, float | complex)]
    assert not names & {"float", "complex", "round", "pow"}
    assert modules <= {"collections.abc", "fractions", "typing"}
