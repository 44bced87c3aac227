"""Numbers, times, spans and LIKE patterns as a question states them.

Databases receive patterns of LIKE in one form that cannot fail. Engines check an escape character
row by row, after they have changed letters' case, or count its bytes. Whether such a check fails
can depend on the data, so none is left to them.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from typing import NamedTuple

from sqlglot import exp

from discreet.catalog.schema import Kind
from discreet.errors import QuestionSizeError, UnsupportedError
from discreet.query.expressions.time_functions import LENGTHS, MONTHS
from discreet.query.parse import span_of
from discreet.query.tree import Expression, Literal

DATE = re.compile(r"\s*(\d{4,5})-(\d{1,2})-(\d{1,2})\s*", re.ASCII)


TIMESTAMP = re.compile(
    r"\s*(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:[ T](\d{1,2}):(\d{2})(?::(\d{2})(?:\.(?P<fraction>\d{1,6}))?)?)?"
    r"\s*(?P<zone>Z|(?P<hours>[+-]\d{2})(?::?(?P<minutes>\d{2}))?)?\s*",
    re.ASCII,
)


SPAN = re.compile(r"\s*([+-]?\d{1,9})\s*([a-z]+)", re.ASCII | re.IGNORECASE)


LONGEST_NUMBER = 400
"""Characters of a number, and its exponent: beyond, no floating-point number is near."""


UNIT_NAMES = {
    name: unit
    for unit, names in {
        "microsecond": "us usec usecs microsecond microseconds",
        "millisecond": "ms msec msecs millisecond milliseconds",
        "second": "s sec secs second seconds",
        "minute": "m min mins minute minutes",
        "hour": "h hr hrs hour hours",
        "day": "d day days dayofmonth",
        "week": "w week weeks weekofyear",
        "month": "mon mons month months",
        "quarter": "quarter quarters",
        "year": "y yr yrs year years",
        "decade": "dec decs decade decades",
        "century": "c cent century centuries",
        "dow": "dow dayofweek weekday",
        "isodow": "isodow",
        "doy": "doy dayofyear",
        "isoyear": "isoyear",
        "epoch": "epoch",
    }.items()
    for name in names.split()
}
"""The units and parts of time, by all names that DuckDB has for them."""


class Span(NamedTuple):
    """A span of time, which is added in this order."""

    months: int
    days: int
    microseconds: int


def number_from_text(text: str) -> int | Fraction | float | None:
    """Return a number as SQL has it: an integer, an exact decimal, or floating point with an e.

    None if it is too large or too small for any of them.
    """
    if len(text) > LONGEST_NUMBER:
        return None
    mantissa, e, exponent = text.lower().partition("e")
    with suppress(ValueError):
        if not e:
            value = Fraction(text) if "." in text else _integer(int(text))
            return None if _finite(Fraction(value)) is None else value
        if len(exponent) <= 5 and abs(int(exponent)) <= LONGEST_NUMBER:
            return _finite(Fraction(mantissa) * Fraction(10) ** int(exponent))
    return None


def _integer(value: int) -> int | Fraction:
    """Return an integer of 64 bits as it is; larger ones have no fraction, but are reals."""
    return value if -(2**63) <= value < 2**63 else Fraction(value)


def _finite(value: Fraction) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


def time_from_text(text: str, kind: Kind) -> date | None:
    """Return the date or timestamp that a text states; None if it states none.

    With a zone, times are UTC unless the text has an offset. Without one, Z says nothing more:
    times are those of UTC.
    """
    with suppress(ValueError, OverflowError):
        if kind is Kind.DATE:
            found = DATE.fullmatch(text)
            return None if found is None else date(*map(int, found.groups()))
        return _timestamp(text, zoned=kind is Kind.TIMESTAMP_TZ)
    return None


def _timestamp(text: str, *, zoned: bool) -> datetime | None:
    found = TIMESTAMP.fullmatch(text)
    if found is None or (found["zone"] not in (None, "Z") and not zoned):
        return None
    year, month, day, hour, minute, second = (int(each or 0) for each in found.groups()[:6])
    microsecond = int((found["fraction"] or "").ljust(6, "0"))
    moment = datetime(year, month, day, hour, minute, second, microsecond)
    if not zoned:
        return moment
    sign = -1 if (found["hours"] or "").startswith("-") else 1
    offset = timedelta(hours=int(found["hours"] or 0), minutes=sign * int(found["minutes"] or 0))
    return (moment - offset).replace(tzinfo=UTC)


def span_from_text(text: str) -> Span | None:
    """Return the span of time that a text such as '1 year 2 months' states; None if none."""
    total = Span(0, 0, 0)
    place = 0
    while place < len(text.rstrip()):
        found = SPAN.match(text, place)
        part = None if found is None else span_of_unit(int(found[1]), found[2])
        if found is None or part is None:
            return None
        total = Span(*(a + b for a, b in zip(total, part, strict=True)))
        place = found.end()
    return total if place else None


def span_of_unit(amount: int, unit: str) -> Span | None:
    """Return so many units of time; None if it is no unit."""
    name = UNIT_NAMES.get(unit.lower())
    if name in MONTHS:
        return Span(amount * MONTHS[name], 0, 0)
    if name in ("day", "week"):
        return Span(0, amount * (7 if name == "week" else 1), 0)
    return Span(0, 0, amount * LENGTHS[name]) if name in LENGTHS else None


def unit_in(node: exp.Expr | None, whole: exp.Expr, allowed: tuple[str, ...]) -> str:
    """Return the unit or part of time that a node names, or reject."""
    is_named = isinstance(node, exp.Var | exp.Literal | exp.Identifier)
    name = UNIT_NAMES.get(str(node.name).lower()) if is_named and node is not None else None
    if name not in allowed or name is None:
        raise UnsupportedError(
            "Unknown unit of time",
            f"Use one of {', '.join(allowed)}",
            span=span_of(whole),
        )
    return name


def span_in(node: exp.Expr) -> Span | None:
    """Return the span of time that a node states; None if it is something else."""
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Neg):
        inner = span_in(node.this)
        return None if inner is None else Span(*(-each for each in inner))
    if not isinstance(node, exp.Interval):
        return None
    text = node.this.name if isinstance(node.this, exp.Literal) else ""
    unit = node.args.get("unit")
    if isinstance(unit, exp.Var):
        text = f"{text} {unit.name}"
    found = span_from_text(text) if isinstance(unit, exp.Var | None) else None
    if found is None:
        raise UnsupportedError(
            "This interval is not valid",
            "Write integers and units, such as INTERVAL '1 month 2 days'. To add n days to a date "
            "d, write d + n",
            span=span_of(node),
        )
    return found


LONGEST_PATTERN = 200


MOST_WILDCARDS = 8


ESCAPE = "!"
"""What engines are told to escape with, whatever the query does: ASCII, and of no case."""


UNSETTLED = (
    *(*range(0x10570, 0x105C0), *range(0x10D50, 0x10D86), *range(0x16EA0, 0x16ED4)),
    *(*range(0xA7CB, 0xA7DD), 0xA7C0, 0xA7C1, 0x2C2F, 0x2C5F, 0x1C89, 0x1C8A, 0x019B, 0x0264),
)
"""Letters that got another case in Unicode 14 or later: engines differ in how new theirs is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """A part of a pattern: a character that is itself, or any one (_), or any number of any (%)."""

    letter: str
    is_wild: bool

    @property
    def is_escaped(self) -> bool:
        """Whether the character is itself but would mean another thing if written as it is."""
        return not self.is_wild and self.letter in "%_"


Place = tuple[int, int] | None
"""Where in the query something stands."""


def signs_of(pattern: str, escape: str | None = None, *, span: Place = None) -> tuple[Sign, ...]:
    """Return what a pattern is made of; without an escape every % and _ is wild.

    As in standard SQL, the escape character stands before %, _ or itself, and nowhere else.
    """
    if escape is not None and len(escape) != 1:
        raise UnsupportedError(
            f"The text after ESCAPE has {len(escape)} characters",
            "Write one character, or remove ESCAPE",
            span=span,
        )
    return tuple(_signs(pattern, escape, span))


def _signs(pattern: str, escape: str | None, span: Place) -> Iterator[Sign]:
    letters = iter(enumerate(pattern, start=1))
    for place, letter in letters:
        if letter == escape:
            _, itself = next(letters, (0, ""))
            if itself not in ("%", "_", escape):
                raise UnsupportedError(
                    f"The escape character at position {place} of this pattern is not followed by "
                    "%, _ or itself",
                    "Write it twice to match the character itself, or choose another escape "
                    "character",
                    span=span,
                )
            yield Sign(letter=itself, is_wild=False)
        else:
            yield Sign(letter=letter, is_wild=letter in "%_")


def canonical_pattern(signs: Sequence[Sign]) -> tuple[str, bool]:
    """Return the one form of a pattern, and whether `ESCAPE` escapes in it."""
    is_escaping = any(each.is_escaped for each in signs)
    return escaped(signs) if is_escaping else "".join(each.letter for each in signs), is_escaping


def escaped(signs: Sequence[Sign], escape: str = ESCAPE) -> str:
    """Return a pattern in which a character escapes."""
    return "".join(
        escape + each.letter
        if each.is_escaped or (each.letter == escape and not each.is_wild)
        else each.letter
        for each in signs
    )


def check_pattern(texts: Sequence[Expression], node: exp.Expr) -> None:
    """Reject a pattern, with its escape character if there is one, that cannot be read."""
    values = [each.value if isinstance(each, Literal) else None for each in texts]
    words = [each for each in values if isinstance(each, str)]
    if len(words) < len(values):
        raise UnsupportedError(
            "The pattern of LIKE and its escape character must be constants",
            "Write the pattern in quotes, or use CONTAINS(a, b)",
            span=span_of(node),
        )
    if len(words[0]) > LONGEST_PATTERN or words[0].count("%") > MOST_WILDCARDS:
        raise QuestionSizeError(
            "This pattern is too long",
            f"Use at most {LONGEST_PATTERN:,} characters, and % at most {MOST_WILDCARDS} times",
            span=span_of(node),
        )
    signs = signs_of(*words, span=span_of(node))
    if isinstance(node, exp.ILike):
        _check_case(signs, node)


def _check_case(signs: Sequence[Sign], node: exp.Expr) -> None:
    """Reject letters that ILIKE would not match alike on all engines."""
    for each in signs:
        if ord(each.letter) in UNSETTLED:
            raise UnsupportedError(
                f"Databases disagree about the upper and lower case of U+{ord(each.letter):04X}",
                "Use LIKE, or _ in place of this letter",
                span=span_of(node),
            )


def settle_escape(node: exp.Escape) -> None:
    """Write a pattern of SQL after the noise in the one form, or reject it.

    One that escapes with an ASCII character of no case cannot fail, and stays as it is.
    """
    like, texts = node.this, [node.this.expression, node.expression]
    if not all(isinstance(each, exp.Literal) and each.is_string for each in texts):
        raise UnsupportedError(
            "A pattern with ESCAPE and its escape character must be constants",
            "Write both in quotes",
            span=span_of(node),
        )
    pattern, escape = (str(each.this) for each in texts)
    signs = signs_of(pattern, escape, span=span_of(node))
    if not escape.isascii() or (isinstance(like, exp.ILike) and escape.isalpha()):
        like.set("expression", exp.Literal.string(escaped(signs)))
        node.set("expression", exp.Literal.string(ESCAPE))
