"""Parts of Spark's templates: guards, arguments, literals, names."""

import re

from discreet.catalog.schema import Kind
from discreet.engines.dialect import Written
from discreet.engines.templates import fits

LONGEST_REPEATED = 1000
"""Longer text is written once, at the cost of a list around its value; else nesting would double
it again and again."""

LARGEST = "1.7976931348623157e308"

PLAIN_TEXT = re.compile(r"[A-Za-z0-9 .,:;_/@#&()<>=+*%^-]*", re.ASCII)
"""Texts in which Spark's parser sees nothing but themselves."""

OURS = re.compile(r'`(?:[^`]|``)*`|"(\w+)"', re.ASCII)


def text_literal(value: str) -> str:
    """Return a text as SQL; bytes, unless all of it is plain: backslashes and $ mean something."""
    if PLAIN_TEXT.fullmatch(value):
        return f"'{value}'"
    return f"CAST(X'{value.encode('utf-8', 'replace').hex()}' AS STRING)"


def with_our_names(text: str) -> str:
    """Return a statement whose own plain names, in double quotes elsewhere, are in backticks.

    Spark reads what is in double quotes as text. Names of others are in backticks already, and no
    text of this dialect has a double quote or a backtick in it.
    """
    return OURS.sub(lambda found: f"`{found[1]}`" if found[1] else found[0], text)


def let(text: str, body: str) -> str:
    """Return the body with an expression in place of every {0}."""
    if len(text) <= LONGEST_REPEATED or body.count("{0}") == 1:
        return body.format(text)
    return f"transform(array({text}), v -> {body.format('v')})[0]"


def only(text: str, condition: str) -> str:
    """Return the expression where a condition on it holds, else NULL."""
    return let(text, f"CASE WHEN {condition} THEN {{0}} END")


def finite(text: str) -> str:
    """Return a real, NULL for NaN and infinities; NaN is larger than all others here."""
    return only(text, f"abs({{0}}) <= {LARGEST}")


def canonical(text: str) -> str:
    """Return a real, 0.0 for -0.0: equal ones are then the same to the last bit."""
    return f"({text} + 0e0)"


CALENDAR = {
    Kind.DATE: "{0} BETWEEN DATE'0001-01-01' AND DATE'9999-12-31'",
    Kind.TIMESTAMP: (
        "{0} BETWEEN TIMESTAMP_NTZ'0001-01-01 00:00:00' "
        "AND TIMESTAMP_NTZ'9999-12-31 23:59:59.999999'"
    ),
    Kind.TIMESTAMP_TZ: (
        "{0} BETWEEN TIMESTAMP_LTZ'0001-01-01 00:00:00+00:00' "
        "AND TIMESTAMP_LTZ'9999-12-31 23:59:59.999999+00:00'"
    ),
}
"""Whether a time is in the years that calendars have."""


def in_calendar(text: str, kind: Kind) -> str:
    """Return a time, NULL outside the years 1 to 9999."""
    return only(text, CALENDAR[kind])


def whole_text(argument: Written) -> str:
    """Return an integer in 64 bits; what counts or measures has 32 in Spark."""
    if fits(argument.low, argument.high):
        return f"CAST({argument.text} AS BIGINT)"
    return f"try_cast({argument.text} AS BIGINT)"
