"""What differs between engines' SQL, as data; literals and parts that templates share."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256
from math import ceil, floor, isfinite

from discreet.catalog.schema import Kind, Value
from discreet.engines.heavy import Heavy
from discreet.errors import UnsupportedError
from discreet.query.expressions.literals import Sign, signs_of


def text_literal(value: str) -> str:
    """Return a text as SQL; the character NUL cannot stand in a statement and is spliced in."""
    parts = ["'" + part.replace("'", "''") + "'" for part in value.split("\0")]
    return parts[0] if len(parts) == 1 else "(" + " || chr(0) || ".join(parts) + ")"


def real_literal(value: float) -> str:
    """Return a floating-point number as SQL that reads back as the very same one."""
    if not isfinite(value):
        return "CAST(NULL AS DOUBLE PRECISION)"
    digits = repr(value)
    text = digits if "e" in digits else digits + "e0"
    return f"({text})" if value < 0 or digits.startswith("-") else text


def integer_literal(value: int) -> str:
    """Return an integer as SQL."""
    return str(value) if value >= 0 else f"({value})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """An expression as SQL text, with what must be known of it to write what stands around it.

    `low` and `high` hold whatever the data are: they come from the expression's form alone, or from
    that of a column which the engine computed, never from declared bounds, so overflow checks can
    rest on them.
    """

    text: str
    kind: Kind
    is_finite: bool = True
    """False for a real that may still be NaN or infinite, and so is not yet NULL."""
    low: int | None = None
    high: int | None = None
    """Where an integer lies; None if it may need more than 64 bits."""
    reach: float | None = None
    """How far a real can be from 0; None if that follows from nothing that is written."""
    span: tuple[float, float] | None = None
    """Between which numbers a real lies that is then neither NaN nor infinite, likewise."""
    is_literal: bool = False
    value: Value = None
    """Of a literal."""


Range = tuple[int | None, int | None]

INT64 = (-(2**63), 2**63 - 1)


Template = str | Callable[[Sequence[Written]], str]
"""Text with {0}, {1}, ... for arguments ({all} for all of them), or a function that writes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionTemplate:
    """How a function is written, and what it does with numbers that are not finite."""

    template: Template
    is_finite: bool = True
    """Whether finite arguments always give a finite result."""
    carries: frozenset[int] = frozenset()
    """Arguments that make the result NaN or infinite if they are, so that one check is enough."""
    range: Callable[[Sequence[Written]], Range] = lambda _: INT64
    """Where a whole result lies, whatever the data."""
    reach: Callable[[Sequence[Written]], float | None] = lambda _: None
    """How far a real result can be from 0, whatever the data."""
    span: Callable[[Sequence[Written]], tuple[float, float] | None] = lambda _: None
    """Between which numbers a real result lies, whatever the data, given finite arguments."""

    def write(self, arguments: Sequence[Written]) -> str:
        if callable(self.template):
            return self.template(arguments)
        texts = [each.text for each in arguments]
        return self.template.format(*texts, all=", ".join(texts))


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """An engine's SQL."""

    name: str
    functions: Mapping[str, FunctionTemplate]
    types: Mapping[Kind, str]
    reads: Mapping[Kind, str]
    """How a column of a stored table is read where it can hold what a total expression cannot."""
    keys: Mapping[Kind, str]
    """How a key is written so that equal ones are the same to the last bit and Python has them."""
    row_id: str
    """What tells the rows of a table apart."""
    hash: str
    """What looks random and follows from {all}."""
    whole: str
    """An integer of 64 bits; NULL if it does not fit."""
    wide_sum: str
    """The exact sum of 64-bit numbers; 0 of none."""
    as_wide: str
    """A real without fraction as a wide integer."""
    as_real: str
    """A wide integer as the nearest real."""
    finite: Callable[[str], str]
    """NULL instead of NaN and infinities."""
    quantile: str
    """The median: the lower middle value and half the way to the upper one."""
    small_sum: str = ""
    """The same of numbers that are sure to be small, where that is quicker."""
    total: str = "coalesce(sum({0}), 0)"
    """The exact sum of wide sums; 0 of none."""
    hashed: str = "{0}"
    """How each expression is written that `hash` is made of."""
    aggregates: Mapping[tuple[str, Kind], str] = field(default_factory=dict)
    """What an aggregate is called for a kind, where it has another name than for the rest."""
    text: Callable[[str], str] = text_literal
    real: Callable[[float], str] = real_literal
    number: Callable[[int], str] = integer_literal
    """Literals: texts, floating-point numbers, integers."""
    longest_name: int | None = None
    """How many bytes of a name the engine looks at."""
    addend: str = "{0}"
    """An integer of 64 bits as it enters a sum that must not overflow."""
    quote: str = '"'
    """What stands around names, and is doubled inside them."""
    fence: str = ""
    """What follows a SELECT whose columns must not be computed again wherever they are used."""
    nulls_last: str = ""
    """What follows a column by which rows are ordered if NULL would else come first."""
    semi_join: str = "({0})"
    """How it is written whether a unit is in other rows; units are never NULL."""
    has_prepared: bool = True
    """Whether prepared tables are there to be read; else all is read of the tables themselves."""
    schemas: str = "{0}"
    """What the schemas of prepared tables are called."""
    has_schemas: bool = True
    """Whether prepared tables are in schemas, or have names that begin with what these would be."""
    mark: str = ""
    """What follows the names of prepared tables, so that each form of them has its own."""
    heavy: Heavy | None = None
    """How a statement asks whether a unit may be heavy; None if units are not told apart."""
    fresh: str = ""
    """The column that says of a row that it came after it was seen which units are heavy."""

    def hash_of(self, expressions: Sequence[str]) -> str:
        """Return what looks random and follows from these expressions."""
        return self.hash.format(all=", ".join(self.hashed.format(each) for each in expressions))

    def quoted(self, name: str) -> str:
        """Return an identifier, whatever it contains; different ones differ in what is read."""
        size = self.longest_name
        if size is not None and len(name.encode()) > size:
            kept = name.encode()[: size - 17].decode(errors="ignore")
            name = f"{kept}~{sha256(name.encode()).hexdigest()[:16]}"
        return self.quote + name.replace(self.quote, self.quote * 2) + self.quote

    def prepared(self, table: str, schema: str) -> str:
        """Return what a prepared table, or another part of the same form, is called."""
        place, name = self.schemas.format(schema), table + self.mark
        if not self.has_schemas:
            return self.quoted(f"{place}_{name}")
        return f"{self.quoted(place)}.{self.quoted(name)}"

    def ordered(self, columns: Iterable[str]) -> str:
        """Return a list to order by, NULL last."""
        return ", ".join(each + self.nulls_last for each in columns)


NULL_INTEGER = "CAST(NULL AS BIGINT)"


FIRST_DAY, LAST_DAY = -719_162, 2_932_896
"""0001-01-01 and 9999-12-31 in days since 1970-01-01."""


CALENDAR_ENDS = FIRST_DAY * 86_400_000_000, (LAST_DAY + 1) * 86_400_000_000 - 1
"""The first and the last moment of these days in microseconds since 1970."""


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


def plain(template: Template) -> FunctionTemplate:
    """Return a function of finite arguments with a finite result, or none that is real."""
    return FunctionTemplate(template=template)


def real(template: Template, *, carries: tuple[int, ...] = ()) -> FunctionTemplate:
    """Return a function whose result may be NaN or infinite, and is if one that it carries is."""
    return FunctionTemplate(template=template, is_finite=False, carries=frozenset(carries))


# --------------------------------------------------------------------------- literals


def number(argument: Written) -> int:
    """Return a literal's integer."""
    if not isinstance(argument.value, int):
        raise UnsupportedError("A constant number is needed here", "Write an integer")
    return argument.value


def near(argument: Written) -> int:
    """Return a literal's integer, cut to what every text function takes."""
    return max(-(2**29), min(2**29, number(argument)))


def split_part(arguments: Sequence[Written]) -> str:
    """Return one part of a split text; the place is a number that every database can hold."""
    x, separator, place = arguments
    return f"split_part({x.text}, {separator.text}, {near(place)})"


def padded(name: str) -> Template:
    """Return a template that fills a text up to a size, at the side that its name says."""

    def write(arguments: Sequence[Written]) -> str:
        x, size, fill = arguments
        return f"{name}({x.text}, {near(size)}, {fill.text})"

    return write


def braced(text: str) -> str:
    """Return a text as part of a template."""
    return text.replace("{", "{{").replace("}", "}}")


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


LOGIC: Mapping[str, FunctionTemplate] = {
    "and": plain(joined("AND")),
    "or": plain(joined("OR")),
    "not": plain("(NOT {0})"),
    "is_null": plain("({0} IS NULL)"),
    "is_true": plain("coalesce({0}, FALSE)"),
    "is_false": plain("coalesce(NOT {0}, FALSE)"),
}
"""The same in every dialect."""


def literal_of(value: Value, kind: Kind, dialect: Dialect) -> Written:
    """Return a value as SQL that reads back as the same one; NaN and infinities are NULL."""
    text = _literal_text(value, kind, dialect)
    whole = value if isinstance(value, int) and not isinstance(value, bool) else None
    reach, span = None, None
    if kind is Kind.REAL and isinstance(value, int | float | Fraction | Decimal):
        near = nearest_float(value)
        reach, span = abs(near), (near, near) if isfinite(near) else None
    return Written(
        text=text,
        kind=kind,
        low=whole,
        high=whole,
        reach=reach,
        span=span,
        is_literal=True,
        value=value,
    )


def _literal_text(value: Value, kind: Kind, dialect: Dialect) -> str:  # noqa: PLR0911
    match value:
        case None:
            return f"CAST(NULL AS {dialect.types[kind]})"
        case bool():
            return "TRUE" if value else "FALSE"
        case int() if kind is not Kind.REAL:
            return dialect.number(value)
        case int() | float() | Fraction() | Decimal():
            return dialect.real(nearest_float(value))
        case str():
            return dialect.text(value)
        case datetime() if kind is Kind.TIMESTAMP_TZ or value.tzinfo is not None:
            utc = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
            stamp = utc.replace(tzinfo=None).isoformat(sep=" ")
            return f"CAST('{stamp}+00' AS {dialect.types[Kind.TIMESTAMP_TZ]})"
        case datetime():
            return f"CAST('{value.isoformat(sep=' ')}' AS {dialect.types[Kind.TIMESTAMP]})"
        case date():
            return f"CAST('{value.isoformat()}' AS {dialect.types[Kind.DATE]})"


def nearest_float(value: float | Fraction | Decimal) -> float:
    """Return the nearest floating-point number, infinite if there is none."""
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
