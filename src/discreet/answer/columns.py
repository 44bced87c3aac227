"""The columns of an answer with their roles and margins, and how other programs get them."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from math import isfinite
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import types

from discreet.amounts import JsonValue
from discreet.errors import COMMANDS, without_commands
from discreet.extras import pandas_module, polars_module
from discreet.parameters import integer

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


# --------------------------------------------------------------------------- columns


Floats: TypeAlias = NDArray[np.float64]

Chunks: TypeAlias = "pa.ChunkedArray[pa.Scalar[pa.DataType]]"

Margins: TypeAlias = "Sequence[Floats | None]"
"""For each column its margins, NaN where a row has none; None for a column without any."""

Intervals: TypeAlias = "Sequence[tuple[Chunks, Chunks] | None]"
"""For each column the low and the high ends of its intervals; None for a column without any."""


class Role(Enum):
    """What a column is to its reader."""

    KEY = "key"
    """It names the row."""
    ESTIMATE = "estimate"
    """A noisy number with a margin of error."""
    VALUE = "value"
    """Anything else: a number without a margin, a text made of noisy numbers."""


class MarginMethod(Enum):
    """How the margins of a column were found."""

    EXACT = "exact"
    """It is the margin of a released number, or a multiple of it."""
    RESAMPLED = "resampled"
    """The SQL after the noise ran on many tables with fresh noise."""
    FIRST_ORDER = "first-order"
    """It was added up over the noisy numbers, as if the expression were linear in each."""


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
class ResultColumn:
    """A column that an answer will have, as the query and the catalog tell it in advance."""

    name: str
    type: pa.DataType
    """As in the answer's table. A whole number beyond 64 bits makes its column a decimal there."""
    role: Role
    has_margins: bool
    """Whether the answer has margins of error for it.

    Undeclared groups near the threshold, and LIMIT over rows that no key tells apart, can leave a
    computed column without any. It is then a value in the answer.
    """
    has_interval: bool
    """Whether the answer has intervals for it, where enough rows support a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerColumn:
    """A column with its values and, for an estimate, the margin of each."""

    name: str
    role: Role
    sort: Sort
    values: tuple[object, ...]
    errors: tuple[float | None, ...] | None
    ends: tuple[tuple[object, object], ...] | None = None
    """The ends of the interval of each value, None where a row has none."""


def columns_of(
    table: pa.Table, roles: Sequence[Role], margins: Margins, intervals: Intervals = ()
) -> tuple[AnswerColumn, ...]:
    """Return the columns with Python values: whole numbers as int, dates as date."""
    return tuple(
        AnswerColumn(
            name=name,
            role=role,
            sort=sort_of(column.type),
            values=tuple(map(_python, column.to_pylist())),
            errors=None if widths is None else errors_of(widths),
            ends=None if ends is None else ends_of(ends),
        )
        for name, column, role, widths, ends in zip(
            table.column_names,
            table.columns,
            roles,
            margins,
            intervals or [None] * table.num_columns,
            strict=True,
        )
    )


def rows_of(table: pa.Table) -> list[tuple[object, ...]]:
    """Return the rows with Python values, in the order of the columns."""
    columns = (map(_python, column.to_pylist()) for column in table.columns)
    return list(zip(*columns, strict=True))


def ends_of(interval: "tuple[Chunks, Chunks]") -> tuple[tuple[object, object], ...]:
    """Return the ends of each interval as Python values."""
    low, high = interval
    return tuple((_python(a.as_py()), _python(b.as_py())) for a, b in zip(low, high, strict=True))


def errors_of(widths: Floats) -> tuple[float | None, ...]:
    """Return margins as floats, None where there is none."""
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
    return pa.table(columns, names=unlike(table.column_names))


def error_names(names: Sequence[str], ending: str = "error") -> tuple[str, ...]:
    """Return a name for each column's margins that no column has yet."""
    taken, made = set(names), []
    for name in names:
        error = f"{name}_{ending}"
        while error in taken:
            error += "_"
        taken.add(error)
        made.append(error)
    return tuple(made)


def with_intervals(table: pa.Table, margins: Margins, intervals: Intervals) -> pa.Table:
    """Return the table with `<column>_low` and `<column>_high` beside each noisy column.

    For a number they are the value less and plus its margin, NULL where a row has none. A date
    with a margin has neither.
    """
    names, arrays = [], []
    low, high = (error_names(table.column_names, each) for each in ("low", "high"))
    found = intervals or [None] * table.num_columns
    for i, (column, widths) in enumerate(zip(table.columns, margins, strict=True)):
        names.append(table.column_names[i])
        arrays.append(column)
        ends = found[i]
        if ends is None and widths is not None and sort_of(column.type).is_number:
            values = column.cast(pa.float64()).to_numpy()
            ends = (_filled(values - widths), _filled(values + widths))
        if ends is not None:
            names += [low[i], high[i]]
            arrays += ends
    return pa.table(arrays, names=names)


def _filled(values: Floats) -> "Chunks":
    """Return a column that is NULL where a value is not a number."""
    return pa.chunked_array([pa.array(values, from_pandas=True)])


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


def unlike(names: Sequence[str]) -> list[str]:
    """Return the names, a second `n` as `n_2`: a row is a mapping and would lose one."""
    made: list[str] = []
    for name in names:
        number, new = 2, name
        while new in made or (new != name and new in names):
            new, number = f"{name}_{number}", number + 1
        made.append(new)
    return made


def _python(value: object) -> object:
    if isinstance(value, Decimal) and value == value.to_integral_value():
        return int(value) if value.as_tuple().exponent == 0 else value
    return value


# --------------------------------------------------------------------------- CSV and JSON


CONTROLS = "\t\r\n\v\f\0"
BLANKS = CONTROLS + " \u00a0\ufeff"

FORMULA_STARTS = "=+-@＝＋－＠|%"
"""What a spreadsheet may take for the start of a formula; some skip blanks before it."""


def csv_text(columns: Sequence[AnswerColumn], *, errors: bool) -> str:
    """Return CSV, margins beside their columns; no text is a formula or commands a terminal."""
    own = [column.name for column in columns]
    names = [error_names(own, ending) for ending in ("error", "low", "high")]
    header: list[str] = []
    cells: list[Sequence[str]] = []
    for column, error_name, low_name, high_name in zip(columns, *names, strict=True):
        header.append(_csv_text(column.name))
        cells.append([_csv_cell(value) for value in column.values])
        if errors and column.errors is not None:
            header.append(_csv_text(error_name))
            cells.append([_csv_cell(error) for error in column.errors])
        if errors and column.ends is not None:
            header += [_csv_text(low_name), _csv_text(high_name)]
            cells += [[_csv_cell(ends[side]) for ends in column.ends] for side in (0, 1)]
    lines = [_csv_line(row) for row in (header, *zip(*cells, strict=True))]
    return "".join(f"{line}\n" for line in lines)


def inert(text: str) -> str:
    """Return the text with a quote before it if a spreadsheet might run it as a formula."""
    start = text.lstrip(BLANKS)[:1]
    is_risky = text.startswith(tuple(CONTROLS)) or (start != "" and start in FORMULA_STARTS)
    return f"'{text}" if is_risky else text


JsonCell: TypeAlias = "JsonValue | list[JsonCell]"
"""A value, or a list of values."""


def json_rows(columns: Sequence[AnswerColumn]) -> Iterator[list[JsonCell]]:
    """Yield the rows, each as a list in the order of the columns."""
    for row in zip(*(column.values for column in columns), strict=True):
        yield [json_cell(value) for value in row]


def indentation(indent: int | None) -> int | None:
    """Return by how many spaces JSON is indented, or refuse it."""
    return None if indent is None else integer("indent", indent, least=0, most=100)


def json_text(content: dict[str, object], indent: int | None) -> str:
    """Return strict JSON: no NaN, no infinities, no character that commands a screen."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=indent)
    return COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def json_cell(value: object) -> JsonCell:
    """Return a cell as JSON has it, a list as a list."""
    return list(map(json_cell, value)) if isinstance(value, list) else json_value(value)


def json_value(value: object) -> JsonValue:
    """Return a value as JSON has it: dates as ISO 8601 text, NaN and infinities as null."""
    match value:
        case None | bool() | int() | str():
            return value
        case float() | Decimal():
            return float(value) if isfinite(value) else None
        case date() | time():
            return value.isoformat()
        case bytes():
            return value.hex()
        case _:
            return str(value)


def _csv_cell(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int() | float() | Decimal():
            return str(value)
        case date() | time():
            return value.isoformat()
        case bytes():
            return value.hex()
        case _:
            is_list = isinstance(value, list)
            return _csv_text(
                json.dumps(json_cell(value), ensure_ascii=False) if is_list else str(value)
            )


def _csv_text(text: str) -> str:
    """Return the text in quotes where it needs them; an empty one has them, NULL has not."""
    safe = without_commands(inert(text))
    if safe and not any(each in safe for each in ',"\r\n'):
        return safe
    return '"' + safe.replace('"', '""') + '"'


def _csv_line(cells: Sequence[str]) -> str:
    # A line without anything would be no row to most readers.
    return ",".join(cells) or '""'


# --------------------------------------------------------------------------- data frames


def pandas_frame(table: pa.Table) -> "pd.DataFrame":
    """Return a pandas frame; whole numbers with gaps stay whole numbers."""
    pandas = pandas_module()
    frame: pd.DataFrame = table.to_pandas()
    for field, column in zip(table.schema, table.columns, strict=True):
        if types.is_integer(field.type) and column.null_count:
            frame[field.name] = pandas.array(column.to_pylist(), dtype="Int64")
    return frame


def polars_frame(table: pa.Table) -> "pl.DataFrame":
    """Return a Polars frame."""
    frame: pl.DataFrame = polars_module().from_arrow(table)
    return frame
