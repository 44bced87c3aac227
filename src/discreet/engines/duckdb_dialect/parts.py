"""What all of DuckDB's templates are made of: guards, arguments, literals."""

from discreet.catalog.schema import Kind
from discreet.engines.dialect import INT64, Function, Template, Written
from discreet.errors import UnsupportedError

LONGEST_REPEATED = 1000
"""Longer text is written once, at the cost of a list around its value; else nesting would double
it again and again."""


def let(text: str, body: str) -> str:
    """Return the body with an expression in place of every {0}."""
    if len(text) <= LONGEST_REPEATED or body.count("{0}") == 1:
        return body.format(text)
    return f"list_transform([{text}], lambda v: {body.format('v')})[1]"


def only(text: str, condition: str) -> str:
    """Return the expression where a condition on it holds, else NULL."""
    return let(text, f"CASE WHEN {condition} THEN {{0}} END")


def finite(text: str) -> str:
    """Return a real, NULL for NaN and infinities."""
    return only(text, "isfinite({0})")


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


def in_calendar(text: str, kind: Kind) -> str:
    """Return a time, NULL outside the years 1 to 9999."""
    return only(text, CALENDAR[kind])


def plain(template: Template) -> Function:
    """Return a function of finite arguments with a finite result, or none that is real."""
    return Function(template=template)


def real(template: Template, *, carries: tuple[int, ...] = ()) -> Function:
    """Return a function whose result may be NaN or infinite, and is if one that it carries is."""
    return Function(template=template, is_finite=False, carries=frozenset(carries))


def fits(low: int | None, high: int | None) -> bool:
    """Return whether whole numbers between these ends have 64 bits at most."""
    return low is not None and high is not None and INT64[0] <= low and high <= INT64[1]


def whole_text(argument: Written) -> str:
    """Return a whole number in 64 bits."""
    if fits(argument.low, argument.high):
        return f"CAST({argument.text} AS BIGINT)" if argument.is_literal else argument.text
    return f"TRY_CAST({argument.text} AS BIGINT)"


def number(argument: Written) -> int:
    """Return a literal's whole number."""
    if not isinstance(argument.value, int):
        raise UnsupportedError("a number must be written out here", "replace it by a whole number")
    return argument.value


def words(argument: Written) -> str:
    """Return a literal's text."""
    if not isinstance(argument.value, str):
        raise UnsupportedError("a text must be written out here", "replace it by a quoted text")
    return argument.value
