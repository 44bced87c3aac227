"""An answer as cells of text, the same for a screen and for a page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction

from discreet.answer.amounts import amount_down
from discreet.answer.cells import clipped, quoted, visible
from discreet.answer.columns import AnswerColumn, Role, Sort, is_midnight
from discreet.answer.digits import error_text, number_text

WIDEST_CELL = 40
"""Wider texts are cut with an ellipsis."""

NULL = "NULL"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownColumn:
    """A column of texts."""

    header: str
    cells: tuple[str, ...]
    is_right: bool
    is_key: bool = False
    is_error: bool = False


ShownGroup = tuple[ShownColumn, ...]
"""A column and the column of its error bars, which are never parted."""


def shown_groups(columns: Sequence[AnswerColumn], confidence: Fraction) -> tuple[ShownGroup, ...]:
    """Return each column as text, an error bar beside each number that has one."""
    return tuple(_shown(column, f"± {percent(confidence)}") for column in columns)


def percent(confidence: Fraction) -> str:
    """Return 95 % for 0.95."""
    return f"{amount_down(100 * confidence)} %"


def value_text(value: object, error: float | None = None, *, is_day: bool = False) -> str:
    """Return one value on one line, unable to pass for anything else."""
    match value:
        case None:
            return NULL
        case bool():
            return "true" if value else "false"
        case int() | float() | Decimal():
            return number_text(value, error)
        case str():
            return clipped(quoted(value), WIDEST_CELL)
        case date():
            return _time_text(value, is_day=is_day)
        case _:
            text = f"0x{value.hex()}" if isinstance(value, bytes) else str(value)
            return clipped(visible(text), WIDEST_CELL)


def _time_text(value: date, *, is_day: bool) -> str:
    if not isinstance(value, datetime):
        return value.isoformat()
    return value.date().isoformat() if is_day else value.isoformat(sep=" ")


def value_texts(column: AnswerColumn) -> tuple[str, ...]:
    """Return the column's values as text; timestamps that are all at midnight as days."""
    errors = column.errors or (None,) * len(column.values)
    is_day = column.sort is Sort.TIME and all(
        value is None or is_midnight(value) for value in column.values
    )
    if column.role is Role.KEY and column.sort is Sort.WHOLE:
        return tuple(NULL if value is None else str(value) for value in column.values)
    return tuple(
        value_text(value, error, is_day=is_day)
        for value, error in zip(column.values, errors, strict=True)
    )


def _shown(column: AnswerColumn, error_header: str) -> ShownGroup:
    cells = value_texts(column)
    is_number = column.sort.is_number
    shown = ShownColumn(
        header=clipped(visible(column.name), WIDEST_CELL),
        cells=_points_aligned(cells) if is_number else cells,
        is_right=is_number,
        is_key=column.role is Role.KEY,
    )
    if column.errors is None:
        return (shown,)
    errors = tuple(
        "" if error is None or value is None else error_text(error, is_whole=_is_whole(value))
        for value, error in zip(column.values, column.errors, strict=True)
    )
    bars = ShownColumn(
        header=error_header, cells=_points_aligned(errors), is_right=True, is_error=True
    )
    return (shown, bars)


def _is_whole(value: object) -> bool:
    return isinstance(value, int)


def _points_aligned(cells: tuple[str, ...]) -> tuple[str, ...]:
    """Return the numbers with spaces behind them, so that their points stand below each other."""
    behind = [len(cell) - cell.find(".") if _has_point(cell) else 0 for cell in cells]
    most = max(behind, default=0)
    return tuple(
        cell if not cell[-1:].isdigit() or "e" in cell else cell + " " * (most - own)
        for cell, own in zip(cells, behind, strict=True)
    )


def _has_point(cell: str) -> bool:
    return "." in cell and "e" not in cell
