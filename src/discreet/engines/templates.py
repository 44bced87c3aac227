"""Parts of the templates of all dialects: literals, limits of integers, conditions."""

from collections.abc import Callable, Mapping, Sequence
from math import ceil, floor, isfinite

from discreet.catalog.schema import Kind
from discreet.engines.dialect import INT64, Function, Range, Template, Written
from discreet.errors import UnsupportedError
from discreet.query.expressions.patterns import Sign, signs_of

NULL_INTEGER = "CAST(NULL AS BIGINT)"

FIRST_DAY, LAST_DAY = -719_162, 2_932_896
"""0001-01-01 and 9999-12-31 in days since 1970-01-01."""

CALENDAR = {
    Kind.DATE: "{0} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31'",
    Kind.TIMESTAMP: (
        "{0} BETWEEN TIMESTAMP '0001-01-01 00:00:00' AND TIMESTAMP '9999-12-31 23:59:59.999999'"
    ),
    Kind.TIMESTAMP_TZ: (
        "{0} BETWEEN TIMESTAMPTZ '0001-01-01 00:00:00+00' "
        "AND TIMESTAMPTZ '9999-12-31 23:59:59.999999+00'"
    ),
}
"""Whether a time is in the years that calendars have; infinite ones are not."""


def plain(template: Template) -> Function:
    """Return a function of finite arguments with a finite result, or none that is real."""
    return Function(template=template)


def real(template: Template, *, carries: tuple[int, ...] = ()) -> Function:
    """Return a function whose result may be NaN or infinite, and is if one that it carries is."""
    return Function(template=template, is_finite=False, carries=frozenset(carries))


# --------------------------------------------------------------------------- literals


def number(argument: Written) -> int:
    """Return a literal's integer."""
    if not isinstance(argument.value, int):
        raise UnsupportedError("A constant number is needed here", "Write an integer")
    return argument.value


def words(argument: Written) -> str:
    """Return a literal's text."""
    if not isinstance(argument.value, str):
        raise UnsupportedError("A constant text is needed here", "Write a text in quotes")
    return argument.value


def pattern_of(arguments: Sequence[Written]) -> tuple[Sign, ...]:
    """Return what the pattern of LIKE is made of, its escape character, if it has one, gone."""
    return signs_of(*map(words, arguments[1:]))


# --------------------------------------------------------------------------- whole numbers

Ends = Callable[[Sequence[tuple[int, int]]], tuple[int, int]]
"""From the ends of arguments to those of a result."""


def fits(low: int | None, high: int | None) -> bool:
    """Return whether integers between these ends have 64 bits at most."""
    return low is not None and high is not None and INT64[0] <= low and high <= INT64[1]


def ends_of(arguments: Sequence[Written]) -> list[tuple[int, int]]:
    """Return where each argument lies; anywhere in 64 bits if nothing is known."""
    return [
        (INT64[0] if each.low is None else each.low, INT64[1] if each.high is None else each.high)
        for each in arguments
    ]


def range_by(ends: Ends) -> Callable[[Sequence[Written]], Range]:
    """Return what tells where a result lies that is NULL if it does not fit."""

    def range_of(arguments: Sequence[Written]) -> Range:
        found = ends(ends_of(arguments))
        return found if fits(*found) else INT64

    return range_of


def added(ends: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the ends of a sum."""
    (a, b), (c, d) = ends
    return a + c, b + d


def subtracted(ends: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the ends of a difference."""
    (a, b), (c, d) = ends
    return a - d, b - c


def multiplied(ends: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the ends of a product."""
    (a, b), (c, d) = ends
    corners = (a * c, a * d, b * c, b * d)
    return min(corners), max(corners)


def hull(arguments: Sequence[Written]) -> Range:
    """Return the least ends that hold all arguments."""
    lows = [each.low for each in arguments]
    highs = [each.high for each in arguments]
    if None in lows or None in highs:
        return None, None
    return min(x for x in lows if x is not None), max(x for x in highs if x is not None)


def clamped(arguments: Sequence[Written]) -> Range:
    """Return the ends of a value that is moved between two others."""
    _, low, high = arguments
    is_ordered = low.low is not None and high.high is not None and low.low <= high.high
    return (low.low, high.high) if is_ordered else hull(arguments)


# --------------------------------------------------------------------------- reals

Span = tuple[float, float] | None


def span_by(operation: Callable[[float, float], float]) -> Callable[[Sequence[Written]], Span]:
    """Return what tells where a sum, a difference or a product of reals lies.

    IEEE rounding keeps the order of numbers, so the ends of the result are among those that the
    same operation gives of the ends.
    """

    def span_of(arguments: Sequence[Written]) -> Span:
        first, second = (each.span for each in arguments)
        if first is None or second is None:
            return None
        corners = [operation(x, y) for x in first for y in second]
        return (min(corners), max(corners)) if all(map(isfinite, corners)) else None

    return span_of


def clamped_span(arguments: Sequence[Written]) -> Span:
    """Return the ends of a finite value that is moved between two literals."""
    _, low, high = (each.span for each in arguments)
    if low is None or high is None or low[1] > high[0]:
        return None
    return low[0], high[1]


def whole_ends(span: tuple[float, float]) -> tuple[int, int]:
    """Return between which integers a real is rounded, whichever way halves go."""
    low, high = span
    near_low, near_high = round(low), round(high)
    return (
        near_low if abs(low - near_low) < QUARTER else floor(low),
        near_high if abs(high - near_high) < QUARTER else ceil(high),
    )


QUARTER = 0.25


# --------------------------------------------------------------------------- conditions


def joined(word: str) -> Template:
    """Return arguments with a word between them."""
    return lambda arguments: "(" + f" {word} ".join(each.text for each in arguments) + ")"


COMPARISONS: Mapping[str, str] = {
    "equal": "=",
    "not_equal": "<>",
    "less": "<",
    "less_or_equal": "<=",
    "greater": ">",
    "greater_or_equal": ">=",
    "distinct": "IS DISTINCT FROM",
    "not_distinct": "IS NOT DISTINCT FROM",
}

LOGIC: Mapping[str, Function] = {
    "and": plain(joined("AND")),
    "or": plain(joined("OR")),
    "not": plain("(NOT {0})"),
    "is_null": plain("({0} IS NULL)"),
    "is_true": plain("coalesce({0}, FALSE)"),
    "is_false": plain("coalesce(NOT {0}, FALSE)"),
}
"""The same in every dialect."""
