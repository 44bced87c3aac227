"""Parts of PostgreSQL's templates: values that are named once, guards, literals."""

from collections.abc import Sequence
from math import isfinite
from zlib import crc32

from discreet.catalog.schema import Kind
from discreet.engines.dialect import INT64, Template, Written
from discreet.engines.templates import CALENDAR, NULL_INTEGER
from discreet.errors import UnsupportedError

LONGEST_REPEATED = 80
"""Longer texts are computed once, in a query of their own; else nesting would double them again
and again."""

NULL_REAL = "CAST(NULL AS DOUBLE PRECISION)"


def let(body: str, *texts: str) -> str:
    """Return the body with expressions in place of {0}, {1}, ..., each computed once if long.

    OFFSET 0 keeps the planner from writing the expressions back into the body.
    """
    given, named = [], []
    alias = f"l{crc32('|'.join(texts).encode()):08x}"
    for number, text in enumerate(texts):
        is_short = len(text) <= LONGEST_REPEATED or body.count(f"{{{number}}}") <= 1
        given.append(text if is_short else f"{alias}.v{number}")
        named += [] if is_short else [f"{text} AS v{number}"]
    written = body.format(*given)
    if not named:
        return f"({written})"
    return f"(SELECT {written} FROM (SELECT {', '.join(named)} OFFSET 0) AS {alias})"  # noqa: S608


def only(text: str, condition: str) -> str:
    """Return the expression where a condition on it holds, else NULL."""
    return let(f"CASE WHEN {condition} THEN {{0}} END", text)


def finite(text: str) -> str:
    """Return a real, NULL for NaN and infinities."""
    nan, plus, minus = (
        f"CAST('{each}' AS DOUBLE PRECISION)" for each in ("NaN", "Infinity", "-Infinity")
    )
    return f"NULLIF(NULLIF(NULLIF({text}, {nan}), {plus}), {minus})"


def canonical(text: str) -> str:
    """Return a real, 0.0 for -0.0: equal ones are then the same to the last bit."""
    return f"({text} + {real_text(0.0)})"


def narrow(text: str, low: int = INT64[0], high: int = INT64[1]) -> str:
    """Return a number without fraction as a whole one of 64 bits, NULL outside its ends.

    LEAST and GREATEST leave NULL out, so that it becomes an end beyond the last, and NULL again.
    """
    below, above = f"{low - 1}", f"{high + 1}"
    held = f"GREATEST(LEAST(CAST({text} AS NUMERIC), {above}), {below})"
    return f"CAST(NULLIF(NULLIF({held}, {above}), {below}) AS BIGINT)"


def real_text(value: float) -> str:
    """Return a floating-point number as SQL that reads back as the very same one."""
    return f"CAST('{value!r}' AS DOUBLE PRECISION)" if isfinite(value) else NULL_REAL


def whole_number(value: int) -> str:
    """Return an integer of 64 bits, NULL if it has more; comparisons look at its value."""
    return f"CAST('{value}' AS BIGINT)" if INT64[0] <= value <= INT64[1] else NULL_INTEGER


def quoted_text(value: str) -> str:
    """Return a text that is compared by its bytes."""
    if "\0" in value:
        raise UnsupportedError(
            "A text contains the character NUL, which PostgreSQL does not support",
            "Write the query without it",
        )
    return "CAST('" + value.replace("'", "''") + '\' AS TEXT) COLLATE "C"'


def in_calendar(text: str, kind: Kind) -> str:
    """Return a time, NULL outside the years 1 to 9999."""
    return only(text, CALENDAR[kind])


def of_texts(body: str) -> Template:
    """Return a template whose arguments are computed once each."""
    return lambda arguments: let(body, *(each.text for each in arguments))


def farthest(arguments: Sequence[Written]) -> float | None:
    """Return how far from 0 the farthest argument can be, if that is known of all."""
    known = [each.reach for each in arguments if each.reach is not None]
    return max(known) if len(known) == len(arguments) else None
