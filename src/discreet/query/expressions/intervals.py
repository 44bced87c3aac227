"""Interval arithmetic: an interval for the result of an operation from those of its operands.

Bounds are exact fractions. What engines compute in floating point may miss a bound by rounding;
values are moved into their interval before they are summed, so nothing rests on the last digit.
Roots, logarithms and powers are rounded outwards.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.query.tree import ANYWHERE, Interval

LARGEST = Fraction(2) ** 1024 - Fraction(2) ** 970
"""The least number that no floating-point number is nearest to: what reaches it has no bound."""

INTEGERS = Interval(low=Fraction(-(2**63)), high=Fraction(2**63 - 1))
REALS = Interval(low=-LARGEST, high=LARGEST)

End = Fraction | None


def at(value: Fraction | int) -> Interval:
    """Return the interval of one number."""
    return Interval(low=Fraction(value), high=Fraction(value))


def between(low: End | int, high: End | int) -> Interval:
    """Return the interval of these ends; an end that no number reaches is no bound."""
    return Interval(low=_end(low), high=_end(high))


def _end(value: End | int) -> End:
    number = None if value is None else Fraction(value)
    return None if number is None or abs(number) >= LARGEST else number


def is_within(inner: Interval, outer: Interval) -> bool:
    """Return whether all of `inner` lies in `outer`."""
    low = outer.low is None or (inner.low is not None and inner.low >= outer.low)
    return low and (outer.high is None or (inner.high is not None and inner.high <= outer.high))


def has(interval: Interval, value: Fraction | int) -> bool:
    """Return whether a number lies in the interval."""
    return is_within(at(value), interval)


# --------------------------------------------------------------------------- sets


def hull(*intervals: Interval) -> Interval:
    """Return the least interval around all of them; around none, it is anywhere."""
    lows = [each.low for each in intervals]
    highs = [each.high for each in intervals]
    return Interval(low=_min(lows), high=_max(highs))


def overlap(a: Interval, b: Interval) -> Interval:
    """Return what two intervals share; if nothing, the end of `a` that is nearest to `b`."""
    low = _max([each for each in (a.low, b.low) if each is not None])
    high = _min([each for each in (a.high, b.high) if each is not None])
    if low is None or high is None or low <= high:
        return Interval(low=low, high=high)
    return at(a.high) if a.high is not None and low > a.high else at(a.low or 0)


def _min(ends: list[End]) -> End:
    known = [each for each in ends if each is not None]
    return min(known) if known and len(known) == len(ends) else None


def _max(ends: list[End]) -> End:
    known = [each for each in ends if each is not None]
    return max(known) if known and len(known) == len(ends) else None


# --------------------------------------------------------------------------- arithmetic


def add(a: Interval, b: Interval) -> Interval:
    """Return where x + y lies."""
    low = None if a.low is None or b.low is None else a.low + b.low
    high = None if a.high is None or b.high is None else a.high + b.high
    return between(low, high)


def negate(a: Interval) -> Interval:
    """Return where -x lies."""
    return Interval(low=None if a.high is None else -a.high, high=None if a.low is None else -a.low)


def subtract(a: Interval, b: Interval) -> Interval:
    """Return where x - y lies."""
    return add(a, negate(b))


def multiply(a: Interval, b: Interval) -> Interval:
    """Return where x · y lies."""
    if at(0) in (a, b):
        return at(0)
    low_ends = (_product(a.low, b.high, -1, 1), _product(a.high, b.low, 1, -1))
    high_ends = (_product(a.low, b.low, -1, -1), _product(a.high, b.high, 1, 1))
    ends = (*low_ends, *high_ends)
    finite = [each for each in ends if isinstance(each, Fraction)]
    low = None if -math.inf in ends else min(finite)
    high = None if math.inf in ends else max(finite)
    return between(low, high)


def _product(x: End, y: End, x_side: int, y_side: int) -> Fraction | float:
    """Return the product of two ends; a missing end is infinite on its side, and 0 · ∞ = 0."""
    if x is not None and y is not None:
        return x * y
    signs = [
        side if end is None else (end > 0) - (end < 0) for end, side in ((x, x_side), (y, y_side))
    ]
    sign = signs[0] * signs[1]
    return sign * math.inf if sign else Fraction(0)


def divide(a: Interval, b: Interval) -> Interval:
    """Return where x / y lies; anywhere if y can be 0, or as near to 0 as one likes."""
    if b.low is not None and b.low > 0:
        return multiply(a, _reciprocal(b.low, b.high))
    if b.high is not None and b.high < 0:
        return multiply(negate(a), _reciprocal(-b.high, None if b.low is None else -b.low))
    return ANYWHERE


def _reciprocal(low: Fraction, high: End) -> Interval:
    return Interval(low=Fraction(0) if high is None else 1 / high, high=1 / low)


def modulo(a: Interval, b: Interval) -> Interval:
    """Return where the remainder of x / y lies: of x's sign, nearer to 0 than x and than y."""
    sizes = [each for each in (magnitude(a), magnitude(b)) if each is not None]
    reach = min(sizes) if sizes else None
    low = Fraction(0) if a.low is not None and a.low >= 0 else None if reach is None else -reach
    high = Fraction(0) if a.high is not None and a.high <= 0 else reach
    return Interval(low=low, high=high)


def magnitude(a: Interval) -> End:
    """Return the largest absolute value."""
    return None if a.low is None or a.high is None else max(abs(a.low), abs(a.high))


def absolute(a: Interval) -> Interval:
    """Return where |x| lies."""
    if a.low is not None and a.low >= 0:
        return a
    if a.high is not None and a.high <= 0:
        return negate(a)
    return Interval(low=Fraction(0), high=magnitude(a))


def sign(a: Interval) -> Interval:
    """Return where the sign of x lies."""
    low = -1 if a.low is None or a.low < 0 else min(a.low.__ceil__(), 1)
    high = 1 if a.high is None or a.high > 0 else max(a.high.__floor__(), -1)
    return between(low, high)


def at_least_all(*intervals: Interval) -> Interval:
    """Return where a number lies that is at least as large as one in each interval."""
    lows = [each.low for each in intervals if each.low is not None]
    return Interval(low=max(lows) if lows else None)


def at_most_all(*intervals: Interval) -> Interval:
    """Return where a number lies that is at most as large as one in each interval."""
    return negate(at_least_all(*map(negate, intervals)))


def monotone(a: Interval, function: Callable[[Fraction], End | int]) -> Interval:
    """Return where a function that never falls lies."""
    return between(
        None if a.low is None else function(a.low), None if a.high is None else function(a.high)
    )


def floor(a: Interval) -> Interval:
    """Return where ⌊x⌋ lies."""
    return monotone(a, math.floor)


def ceil(a: Interval) -> Interval:
    """Return where ⌈x⌉ lies."""
    return monotone(a, math.ceil)


def rounded(a: Interval, digits: int) -> Interval:
    """Return where x lies once rounded to decimal digits, halves away from 0."""
    return monotone(a, lambda x: _rounded(x, digits))


def truncated(a: Interval, digits: int) -> Interval:
    """Return where x lies once its later decimal digits are cut off."""
    unit = _unit(digits)
    return monotone(a, lambda x: math.trunc(x / unit) * unit)


def _rounded(x: Fraction, digits: int) -> Fraction:
    unit = _unit(digits)
    size = math.floor(abs(x) / unit + Fraction(1, 2)) * unit
    return size if x >= 0 else -size


def _unit(digits: int) -> Fraction:
    return Fraction(10) ** -max(-400, min(400, digits))


def nearest_integer(a: Interval) -> Interval:
    """Return where x lies once rounded to an integer, whichever way halves go."""
    half = Fraction(1, 2)
    low = None if a.low is None else math.ceil(a.low - half)
    high = None if a.high is None else math.floor(a.high + half)
    return between(low, high)


# --------------------------------------------------------------------------- functions of reals


def sqrt(a: Interval) -> Interval:
    """Return where √x lies; negative numbers have none."""
    return Interval(
        low=Fraction(0) if a.low is None or a.low <= 0 else _root(a.low, down=True),
        high=None if a.high is None else Fraction(0) if a.high <= 0 else _root(a.high, down=False),
    )


def _root(x: Fraction, *, down: bool) -> End:
    exact = Fraction(math.isqrt(x.numerator), math.isqrt(x.denominator))
    return exact if exact * exact == x else _outward(math.sqrt, x, down=down)


def log(a: Interval, base: int | None = None) -> Interval:
    """Return where the logarithm to a base (e if not given) lies; 0 and below have none."""
    return Interval(
        low=None if a.low is None or a.low <= 0 else _log(a.low, base, down=True),
        high=None if a.high is None or a.high <= 0 else _log(a.high, base, down=False),
    )


def _log(x: Fraction, base: int | None, *, down: bool) -> End:
    if x == 1:
        return Fraction(0)
    function = {None: math.log, 2: math.log2, 10: math.log10}[base]
    found = _outward(function, x, down=down)
    if base is None or found is None:
        return found
    whole = round(found)
    return Fraction(whole) if Fraction(base) ** whole == x else found


def exp(a: Interval) -> Interval:
    """Return where eˣ lies."""
    low = Fraction(0) if a.low is None or a.low < -700 else _exp(a.low, down=True)
    return Interval(low=low, high=None if a.high is None else _exp(a.high, down=False))


def _exp(x: Fraction, *, down: bool) -> End:
    if x == 0:
        return Fraction(1)
    return None if x > 700 else _outward(math.exp, max(x, Fraction(-700)), down=down)


def power(a: Interval, exponent: Fraction) -> Interval:
    """Return where x to the power of a fixed exponent lies."""
    if exponent == 0:
        return at(1)
    if exponent < 0:
        return divide(at(1), power(a, -exponent))
    if exponent.denominator == 1 and exponent <= 64:
        return _whole_power(a, exponent.numerator)
    if a.low is None or a.low < 0:
        return ANYWHERE
    return Interval(
        low=_real_power(a.low, exponent, down=True),
        high=None if a.high is None else _real_power(a.high, exponent, down=False),
    )


def _whole_power(a: Interval, exponent: int) -> Interval:
    base = a if exponent % 2 else absolute(a)
    return _shortened(monotone(base, lambda x: x**exponent))


LONGEST = 4096
"""Bits of a denominator; powers of powers would have more than any computer holds."""


def _shortened(a: Interval) -> Interval:
    """Return the interval, its ends moved outwards to multiples of 2^-1200 if they are long."""
    grid = 2**1200
    low, high = a.low, a.high
    if low is not None and low.denominator.bit_length() > LONGEST:
        low = Fraction(math.floor(low * grid), grid)
    if high is not None and high.denominator.bit_length() > LONGEST:
        high = Fraction(math.ceil(high * grid), grid)
    return Interval(low=low, high=high)


def _real_power(x: Fraction, exponent: Fraction, *, down: bool) -> End:
    if x in (0, 1):
        return x
    logarithm = _outward(math.log, x, down=down)
    if logarithm is None:
        return None
    product = logarithm * exponent
    if down:
        return Fraction(0) if product < -700 else _exp(min(product, Fraction(700)), down=True)
    return _exp(product, down=False)


def _outward(function: Callable[[float], float], x: Fraction, *, down: bool) -> End:
    """Return a bound of a rising function at x that is right in spite of rounding.

    The argument is moved past its rounding, and the result by more than the libraries' error,
    which is below two units in the last place.
    """
    towards = -math.inf if down else math.inf
    argument = math.nextafter(_float(x), towards)
    result = function(max(argument, math.ulp(0.0)) if x > 0 else argument)
    for _ in range(3):
        result = math.nextafter(result, towards)
    return Fraction(result) if math.isfinite(result) else None


def _float(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf
