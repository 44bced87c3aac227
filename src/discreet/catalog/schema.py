"""What a table looks like: its columns, their kinds and what the owner declares about them."""

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction

Value = bool | int | float | Fraction | Decimal | str | date | datetime | None
"""One cell of a public list: a declared value, a key, a literal of a question."""


class Kind(Enum):
    """What sort of values a column or an expression has; engines' many types are folded into it."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    REAL = "real"
    """Floating point and decimals: NaN and infinities count as NULL."""
    TEXT = "text"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMP_TZ = "timestamp with time zone"
    INTERVAL = "interval"
    """A span of time; only inside an expression."""
    OTHER = "other"
    """Lists, blobs and the like: can be counted and tested for NULL, nothing else."""

    @property
    def is_number(self) -> bool:
        return self in (Kind.INTEGER, Kind.REAL)

    @property
    def is_time(self) -> bool:
        return self in (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_TZ)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """A declared range; values outside are moved to its nearer end where they are summed.

    Dates are days and timestamps are microseconds since 1970-01-01, UTC, so that every bound is a
    number; `catalog.times` converts.
    """

    low: Fraction
    high: Fraction


class Auto(Enum):
    """Bounds that are found privately, at a price, when they are first needed."""

    AUTO = "auto"


AUTO = Auto.AUTO


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column and what is public about it."""

    name: str
    kind: Kind
    bounds: Bounds | Auto | None = None
    step: Fraction | None = None
    """Values are multiples of it, counted from the lower bound: 0.01 for money."""
    values: tuple[Value, ...] | None = None
    """All the values that there are; other ones are not counted where the column is a key."""
    nulls: bool | None = None
    """Whether NULL occurs: True makes it a key of its own, None promises nothing."""
    is_rounded: bool = field(default=False, compare=False)
    """Whether values that differ in the data can be the same as they are read: it is no unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowUnit:
    """Each row is a unit of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnUnit:
    """A column says whose row it is; rows where it is NULL belong to nobody and are left out."""

    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PathUnit:
    """The row belongs to whom the row of another table belongs that it refers to.

    `column` here equals `key` there, and `key` identifies a row of `table`.
    """

    column: str
    table: str
    key: str


Unit = RowUnit | ColumnUnit | PathUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateTable:
    """A table about units that must be protected."""

    name: str
    columns: tuple[Column, ...]
    unit: Unit
    rows_per_unit: int = 10
    """At most so many rows of a unit count in an answer."""
    is_default_limit: bool = True
    """Whether rows_per_unit was not declared: explanations say so."""
    key: str | None = None
    """The column that tells rows apart, if the owner names one."""
    is_prepared: bool = False
    """Whether the engine has set apart which rows of each unit count, before any question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicTable:
    """A table that anyone may see."""

    name: str
    columns: tuple[Column, ...]
    key: str | None = None
    """The column that tells rows apart, if the owner names one."""
    may_change: bool = False
    """Whether it stays on a server, where rows may come after it was looked at."""


Table = PrivateTable | PublicTable
