"""Parts of DuckDB's templates: guards, arguments, literals."""

from discreet.catalog.schema import Kind
from discreet.engines.dialect import Written
from discreet.engines.templates import CALENDAR, fits

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


def canonical(text: str) -> str:
    """Return a real, 0.0 for -0.0: equal ones are then the same to the last bit."""
    return f"({text} + 0e0)"


def in_calendar(text: str, kind: Kind) -> str:
    """Return a time, NULL outside the years 1 to 9999."""
    return only(text, CALENDAR[kind])


def whole_text(argument: Written) -> str:
    """Return an integer in 64 bits."""
    if fits(argument.low, argument.high):
        return f"CAST({argument.text} AS BIGINT)" if argument.is_literal else argument.text
    return f"TRY_CAST({argument.text} AS BIGINT)"
