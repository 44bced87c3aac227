"""Types of columns as PEP 249 has them, and its constructors of values."""

import re
from collections.abc import Callable
from datetime import date, datetime, time

import pyarrow as pa
from pyarrow import types


class TypeObject:
    """A kind of column, equal to the type code of each column that is of this kind."""

    def __init__(self, name: str, *codes: str) -> None:
        self.name, self.codes = name, frozenset(codes)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            found = re.match("[A-Z]+", other)
            return found is not None and found[0] in self.codes
        return self is other

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"discreet.dbapi.{self.name}"


STRING = TypeObject("STRING", "VARCHAR", "NULL")
BINARY = TypeObject("BINARY", "BLOB")
NUMBER = TypeObject("NUMBER", "BOOLEAN", "BIGINT", "DOUBLE", "DECIMAL")
DATETIME = TypeObject("DATETIME", "DATE", "TIME", "TIMESTAMP", "INTERVAL")
ROWID = TypeObject("ROWID")

CODES: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (types.is_boolean, "BOOLEAN"),
    (types.is_integer, "BIGINT"),
    (types.is_floating, "DOUBLE"),
    (types.is_date, "DATE"),
    (types.is_time, "TIME"),
    (types.is_temporal, "INTERVAL"),
    (types.is_null, "NULL"),
    (types.is_binary, "BLOB"),
    (types.is_large_binary, "BLOB"),
)


def type_code(kind: pa.DataType) -> str:
    """Return the type code of a column: the name of its type in SQL. Of a list, its values'."""
    if types.is_list(kind) or types.is_large_list(kind):
        return f"{type_code(kind.value_type)}[]"
    if types.is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    if types.is_timestamp(kind):
        return "TIMESTAMP" if kind.tz is None else "TIMESTAMP WITH TIME ZONE"
    return next((code for fits, code in CODES if fits(kind)), "VARCHAR")


def Date(year: int, month: int, day: int) -> date:  # noqa: N802 - PEP 249 calls it so
    """Return a date."""
    return date(year, month, day)


def Time(hour: int, minute: int, second: int) -> time:  # noqa: N802 - PEP 249 calls it so
    """Return a time of day."""
    return time(hour, minute, second)


def Timestamp(  # noqa: N802, PLR0913, PLR0917 - PEP 249 has it so
    year: int, month: int, day: int, hour: int, minute: int, second: int
) -> datetime:
    """Return a date and time."""
    return datetime(year, month, day, hour, minute, second)


def Binary(string: bytes) -> bytes:  # noqa: N802 - PEP 249 calls it so
    """Return bytes. No placeholder takes them, because no column of a query holds any."""
    return bytes(string)


def DateFromTicks(ticks: float) -> date:  # noqa: N802 - PEP 249 calls it so
    """Return the local date of this many seconds since 1970."""
    return date.fromtimestamp(ticks)


def TimeFromTicks(ticks: float) -> time:  # noqa: N802 - PEP 249 calls it so
    """Return the local time of day of this many seconds since 1970."""
    return datetime.fromtimestamp(ticks).time()


def TimestampFromTicks(ticks: float) -> datetime:  # noqa: N802 - PEP 249 calls it so
    """Return the local date and time of this many seconds since 1970."""
    return datetime.fromtimestamp(ticks)
