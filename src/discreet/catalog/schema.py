"""Tables, columns and privacy units as the catalog declares them; times as numbers."""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction

Value = bool | int | float | Fraction | Decimal | str | date | datetime | None
"""A public value: a declared value, a group key, or a literal of a query."""


class Kind(Enum):
    """The type of a column or an expression. The many types of databases are folded into these."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    REAL = "real"
    """Floating point and decimals. NaN and infinities count as NULL."""
    TEXT = "text"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMP_TZ = "timestamp with time zone"
    INTERVAL = "interval"
    """A span of time. Only inside an expression."""
    OTHER = "other"
    """Lists, blobs and similar types. They can only be counted and tested for NULL."""

    @property
    def is_number(self) -> bool:
        return self in (Kind.INTEGER, Kind.REAL)

    @property
    def is_time(self) -> bool:
        return self in (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_TZ)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """The lowest and highest value of a column, as declared. Values outside are clamped in sums.

    Every bound is a number: dates are days and timestamps are microseconds since 1970-01-01, UTC.
    `number_from_time` and `time_from_number` convert.
    """

    low: Fraction
    high: Fraction


class Auto(Enum):
    """Bounds that Discreet finds privately, at a cost, when a query first needs them."""

    AUTO = "auto"


AUTO = Auto.AUTO


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column and its public properties."""

    name: str
    kind: Kind
    bounds: Bounds | Auto | None = None
    step: Fraction | None = None
    """Values are multiples of the step, counted from the lower bound: 0.01 for money."""
    values: tuple[Value, ...] | None = None
    """All values of the column. GROUP BY leaves other values out."""
    nulls: bool | None = None
    """Whether NULL occurs. True makes it a group of its own; None promises nothing."""
    time_step: Fraction | None = None
    """Microseconds. Times that are compared with it can be rounded down to multiples of this."""
    is_rounded: bool = field(default=False, compare=False)
    """Whether reading may make different values equal. Such a column cannot be a unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowUnit:
    """Each row is a privacy unit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnUnit:
    """A column identifies the privacy unit. Rows where it is NULL have no unit and are left out."""

    column: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PathUnit:
    """The privacy unit is found through another table.

    Each row refers to a row there and has the same unit: `column` here equals `key` there, and
    `key` identifies a row of `table`.
    """

    column: str
    table: str
    key: str


Unit = RowUnit | ColumnUnit | PathUnit

GroupsPerUnit = int | tuple[tuple[str, int], ...]
"""One limit for any GROUP BY, or a limit for each column that rows are grouped by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByMonth:
    """With a budget per month, what is protected is a unit's rows that arrived in one month.

    Rows without a month are left out: their arrival is NULL, or outside of the years 1 to 9999.
    """

    column: str
    """The column of arrival times."""
    most: int | None = None
    """Only rows of a unit's first months are used, at most this many; None is all."""
    in_all: int | None = None
    """The same over all tables with months; None if there is no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateTable:
    """A table whose rows belong to privacy units and need protection."""

    name: str
    columns: tuple[Column, ...]
    unit: Unit
    rows_per_unit: int = 10
    """The contribution limit: the most rows per unit that are used."""
    is_default_limit: bool = True
    """Whether rows_per_unit was not declared. Explanations mention it."""
    key: str | None = None
    """The primary key, if the owner declares one."""
    is_prepared: bool = False
    """Whether the engine has already chosen the rows within the contribution limit."""
    groups_per_unit: GroupsPerUnit | None = None
    """The most groups of a query that a unit is counted in, if the owner limits them."""
    arrival: str | None = None
    """The column that says when a row came into the table, if there is one. It never changes."""
    by_month: ByMonth | None = None
    """Set if the budget is per month and rows of this table are charged by their arrival."""

    @property
    def is_by_month(self) -> bool:
        """Whether a unit's rows of each month are bounded by themselves; a row has one month."""
        return self.by_month is not None and not isinstance(self.unit, RowUnit)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicTable:
    """A table that anyone may see."""

    name: str
    columns: tuple[Column, ...]
    key: str | None = None
    """The primary key, if the owner declares one."""
    may_change: bool = False
    """Whether it stays on a server, where rows may be added after Discreet looked at it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicRange:
    """The bounds of a public column are the least and the greatest value in its table."""

    table: str
    column: str
    bounds: Bounds
    kind: Kind


Table = PrivateTable | PublicTable


# --------------------------------------------------------------------------- times as numbers

FIRST_DAY = date(1970, 1, 1)
FIRST_MOMENT = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def number_from_date(value: date) -> Fraction:
    """Return the days since 1970-01-01."""
    return Fraction(value.toordinal() - FIRST_DAY.toordinal())


def number_from_timestamp(value: datetime) -> Fraction:
    """Return the microseconds since 1970-01-01T00:00, UTC. A value without an offset is in UTC."""
    moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value
    return Fraction((moment - FIRST_MOMENT) // MICROSECOND)


def number_from_time(value: date) -> Fraction:
    """Return a date in days, or a timestamp in microseconds, since 1970-01-01, UTC."""
    if isinstance(value, datetime):
        return number_from_timestamp(value)
    return number_from_date(value)


def time_from_number(number: Fraction, kind: Kind) -> date | None:
    """Return the date or timestamp of this kind at or just before the number.

    None if it is outside the years 1 to 9999.
    """
    try:
        if kind is Kind.DATE:
            return date.fromordinal(FIRST_DAY.toordinal() + number.__floor__())
        moment = FIRST_MOMENT + number.__floor__() * MICROSECOND
    except (OverflowError, ValueError):
        return None
    return moment if kind is Kind.TIMESTAMP_TZ else moment.replace(tzinfo=None)
