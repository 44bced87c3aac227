"""Dialects of SQL as data: quoting, types, and a template for each function."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import isfinite

from discreet.catalog.schema import Kind, Value


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


def whole_literal(value: int) -> str:
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
class Function:
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
    functions: Mapping[str, Function]
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
    finite: Callable[[str], str]
    """NULL instead of NaN and infinities."""
    quantile: str
    """The median, interpolated."""
    hashed: str = "{0}"
    """How each expression is written that `hash` is made of."""
    aggregates: Mapping[tuple[str, Kind], str] = field(default_factory=dict)
    """What an aggregate is called for a kind, where it has another name than for the rest."""
    text: Callable[[str], str] = text_literal
    real: Callable[[float], str] = real_literal
    number: Callable[[int], str] = whole_literal
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
    has_prepared: bool = True
    """Whether prepared tables are there to be read; else all is read of the tables themselves."""
    schemas: str = "{0}"
    """What the schemas of prepared tables are called."""
    has_schemas: bool = True
    """Whether prepared tables are in schemas, or have names that begin with what these would be."""
    mark: str = ""
    """What follows the names of prepared tables, so that each form of them has its own."""

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
