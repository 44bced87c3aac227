"""Wherever numbers lie in their intervals, results lie in the interval that is claimed for them."""

import math
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.query.expressions import intervals
from discreet.query.expressions.intervals import at, between
from discreet.query.tree import ANYWHERE, Interval

numbers = st.fractions(min_value=-1000, max_value=1000, max_denominator=100)


@st.composite
def inside(draw: st.DrawFn) -> tuple[Interval, Fraction]:
    """Draw an interval, each end perhaps missing, and a number in it."""
    low, x, high = sorted(draw(st.tuples(numbers, numbers, numbers)))
    ends = draw(st.tuples(st.booleans(), st.booleans()))
    return Interval(low=low if ends[0] else None, high=high if ends[1] else None), x


Two = Callable[[Fraction, Fraction], Fraction]


def remainder(x: Fraction, y: Fraction) -> Fraction:
    return x - y * math.trunc(x / y)


@pytest.mark.parametrize(
    ("rule", "operation"),
    [
        (intervals.add, lambda x, y: x + y),
        (intervals.subtract, lambda x, y: x - y),
        (intervals.multiply, lambda x, y: x * y),
        (intervals.divide, lambda x, y: x / y),
        (intervals.modulo, remainder),
        (intervals.hull, lambda x, _: x),
        (intervals.hull, lambda _, y: y),
        (intervals.at_least_all, max),
        (intervals.at_most_all, min),
    ],
)
@settings(max_examples=25)
@given(a=inside(), b=inside())
def test_an_operation_on_two_numbers_stays_inside(
    rule: Callable[[Interval, Interval], Interval],
    operation: Two,
    a: tuple[Interval, Fraction],
    b: tuple[Interval, Fraction],
) -> None:
    (first, x), (second, y) = a, b
    assume(y != 0)
    assert intervals.has(rule(first, second), operation(x, y))


@pytest.mark.parametrize(
    ("rule", "operation"),
    [
        (intervals.negate, lambda x: -x),
        (intervals.absolute, abs),
        (intervals.sign, lambda x: (x > 0) - (x < 0)),
        (intervals.floor, math.floor),
        (intervals.ceil, math.ceil),
        (intervals.nearest_integer, round),
        (intervals.nearest_integer, lambda x: math.floor(x + Fraction(1, 2))),
        (lambda a: intervals.rounded(a, 1), lambda x: round(x * 10) / Fraction(10)),
        (lambda a: intervals.truncated(a, -1), lambda x: math.trunc(x / 10) * 10),
        (lambda a: intervals.power(a, Fraction(3)), lambda x: x**3),
        (lambda a: intervals.power(a, Fraction(2)), lambda x: x**2),
    ],
)
@settings(max_examples=25)
@given(a=inside())
def test_an_operation_on_one_number_stays_inside(
    rule: Callable[[Interval], Interval],
    operation: Callable[[Fraction], Fraction],
    a: tuple[Interval, Fraction],
) -> None:
    interval, x = a
    # Halves are rounded away from 0 or to even; both lie between the ends, which are rounded too.
    assume((x * 10).denominator != 2)
    assert intervals.has(rule(interval), Fraction(operation(x)))


@pytest.mark.parametrize(
    ("rule", "function"),
    [
        (intervals.sqrt, math.sqrt),
        (intervals.log, math.log),
        (lambda a: intervals.log(a, 2), math.log2),
        (lambda a: intervals.log(a, 10), math.log10),
        (intervals.exp, lambda x: math.exp(x) if x < 700 else 0.0),
        (lambda a: intervals.power(a, Fraction(5, 2)), lambda x: x**2.5),
        (lambda a: intervals.power(a, Fraction(-1)), lambda x: 1 / x),
    ],
)
@settings(max_examples=25)
@given(a=inside())
def test_a_function_of_reals_stays_inside_in_spite_of_rounding(
    rule: Callable[[Interval], Interval],
    function: Callable[[float], float],
    a: tuple[Interval, Fraction],
) -> None:
    interval, x = a
    assume(0 < x < 700)
    value = function(float(x))
    # The value itself is rounded: one unit in its last place is its own error.
    around = between(Fraction(math.nextafter(value, -1e9)), Fraction(math.nextafter(value, 1e9)))
    found = rule(interval)
    assert found.low is None or (around.high is not None and found.low <= around.high)
    assert found.high is None or (around.low is not None and around.low <= found.high)


def test_a_denominator_that_may_be_zero_leaves_no_bounds() -> None:
    assert intervals.divide(between(1, 2), between(-1, 1)) == ANYWHERE
    assert intervals.divide(between(1, 2), between(0, 1)) == ANYWHERE
    assert intervals.divide(between(1, 2), between(None, -2)) == between(-1, 0)


def test_a_logarithm_has_no_lower_bound_at_zero() -> None:
    assert intervals.log(between(0, 1)) == between(None, 0)
    assert intervals.log(between(1, 100), 10) == between(0, 2)


def test_roots_of_squares_are_exact() -> None:
    assert intervals.sqrt(between(Fraction(9, 16), 4)) == between(Fraction(3, 4), 2)


def test_bounds_beyond_all_floating_point_numbers_are_none() -> None:
    interval = at(10**100)
    for _ in range(40):
        interval = intervals.multiply(interval, interval)
    assert interval == ANYWHERE


def test_intervals_that_share_nothing_leave_the_nearest_end() -> None:
    assert intervals.overlap(between(0, 500), between(600, None)) == at(500)
    assert intervals.overlap(between(0, 500), between(None, -1)) == at(0)
