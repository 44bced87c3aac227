"""The columns of an answer as Python values, each with its role and its half widths."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import types

Floats: TypeAlias = NDArray[np.float64]

Chunks: TypeAlias = "pa.ChunkedArray[pa.Scalar[pa.DataType]]"

HalfWidths: TypeAlias = "Sequence[Floats | None]"
"""For each column its half widths, NaN where a row has none; None for a column without any."""


class Role(Enum):
    """What a column is to its reader."""

    KEY = "key"
    """It names the row."""
    ESTIMATE = "estimate"
    """A noisy number with an error bar."""
    VALUE = "value"
    """Anything else: a number without an error bar, a text made of noisy numbers."""


class Sort(Enum):
    """What a column's values are, as far as showing them goes."""

    WHOLE = "integer"
    REAL = "real"
    TEXT = "text"
    TIME = "time"
    BOOLEAN = "boolean"
    OTHER = "other"

    @property
    def is_number(self) -> bool:
        return self in (Sort.WHOLE, Sort.REAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerColumn:
    """A column with its values and, for an estimate, the half width of each."""

    name: str
    role: Role
    sort: Sort
    values: tuple[object, ...]
    errors: tuple[float | None, ...] | None


def columns_of(
    table: pa.Table, roles: Sequence[Role], half_widths: HalfWidths
) -> tuple[AnswerColumn, ...]:
    """Return the columns with Python values: whole numbers as int, dates as date."""
    return tuple(
        AnswerColumn(
            name=name,
            role=role,
            sort=sort_of(column.type),
            values=tuple(map(_python, column.to_pylist())),
            errors=None if widths is None else errors_of(widths),
        )
        for name, column, role, widths in zip(
            table.column_names, table.columns, roles, half_widths, strict=True
        )
    )


def errors_of(widths: Floats) -> tuple[float | None, ...]:
    """Return half widths as floats, None where there is none."""
    return tuple(None if np.isnan(each) else float(each) for each in widths)


def sort_of(kind: pa.DataType) -> Sort:
    """Return how values of an Arrow type are shown."""
    if types.is_integer(kind) or (types.is_decimal(kind) and kind.scale == 0):
        return Sort.WHOLE
    if types.is_floating(kind) or types.is_decimal(kind):
        return Sort.REAL
    if types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind):
        return Sort.TEXT
    if types.is_date(kind) or types.is_timestamp(kind):
        return Sort.TIME
    return Sort.BOOLEAN if types.is_boolean(kind) else Sort.OTHER


def tidied(table: pa.Table) -> pa.Table:
    """Return the table with plain types: 64-bit integers where they fit, no two equal names."""
    columns = [_plain(column) for column in table.columns]
    return pa.table(columns, names=_unlike(table.column_names))


def error_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return a name for each column's half widths that no column has yet."""
    taken, made = set(names), []
    for name in names:
        error = f"{name}_error"
        while error in taken:
            error += "_"
        taken.add(error)
        made.append(error)
    return tuple(made)


def is_midnight(value: object) -> bool:
    """Whether a value is a date, or a timestamp that says no more than one."""
    if isinstance(value, datetime):
        return value.tzinfo is None and value == datetime(value.year, value.month, value.day)
    return isinstance(value, date)


def _plain(column: "Chunks") -> "Chunks":
    kind = column.type
    if types.is_dictionary(kind):
        return column.cast(kind.value_type)
    if types.is_timestamp(kind) and kind.unit == "ns":
        return column.cast(pa.timestamp("us", kind.tz), safe=False)
    if types.is_decimal(kind) and kind.scale == 0:
        try:
            return column.cast(pa.int64())
        except pa.ArrowInvalid:
            return column
    return column


def _unlike(names: Sequence[str]) -> list[str]:
    """Return the names, a second `n` as `n_2`: a row is a mapping and would lose one."""
    made: list[str] = []
    for name in names:
        number, unlike = 2, name
        while unlike in made or (unlike != name and unlike in names):
            unlike, number = f"{name}_{number}", number + 1
        made.append(unlike)
    return made


def _python(value: object) -> object:
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return int(value) if value.as_tuple().exponent == 0 else value
    return value
