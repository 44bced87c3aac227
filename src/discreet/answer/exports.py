"""Answers for other programs: CSV and JSON that no spreadsheet, page or terminal runs as code."""

import json
from collections.abc import Iterator, Sequence
from datetime import date, time
from decimal import Decimal
from math import isfinite

from discreet.answer.amounts import JsonValue
from discreet.answer.columns import AnswerColumn, error_names
from discreet.errors import COMMANDS, without_commands
from discreet.parameters import whole

CONTROLS = "\t\r\n\v\f\0"
BLANKS = CONTROLS + " \u00a0\ufeff"

FORMULA_STARTS = "=+-@＝＋－＠|%"
"""What a spreadsheet may take for the start of a formula; some skip blanks before it."""


def csv_text(columns: Sequence[AnswerColumn], *, errors: bool) -> str:
    """Return CSV, half widths beside their columns; no text is a formula or commands a terminal."""
    names = error_names([column.name for column in columns])
    header: list[str] = []
    cells: list[Sequence[str]] = []
    for column, error_name in zip(columns, names, strict=True):
        header.append(_csv_text(column.name))
        cells.append([_csv_cell(value) for value in column.values])
        if errors and column.errors is not None:
            header.append(_csv_text(error_name))
            cells.append([_csv_cell(error) for error in column.errors])
    lines = [_csv_line(row) for row in (header, *zip(*cells, strict=True))]
    return "".join(f"{line}\n" for line in lines)


def inert(text: str) -> str:
    """Return the text with a quote before it if a spreadsheet might run it as a formula."""
    start = text.lstrip(BLANKS)[:1]
    is_risky = text.startswith(tuple(CONTROLS)) or (start != "" and start in FORMULA_STARTS)
    return f"'{text}" if is_risky else text


def json_rows(columns: Sequence[AnswerColumn]) -> Iterator[list[JsonValue]]:
    """Yield the rows, each as a list in the order of the columns."""
    for row in zip(*(column.values for column in columns), strict=True):
        yield [json_value(value) for value in row]


def indentation(indent: int | None) -> int | None:
    """Return by how many spaces JSON is indented, or refuse it."""
    return None if indent is None else whole("indent", indent, least=0, most=100)


def json_text(content: dict[str, object], indent: int | None) -> str:
    """Return strict JSON: no NaN, no infinities, no character that commands a screen."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=indent)
    return COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


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
            return _csv_text(str(value))


def _csv_text(text: str) -> str:
    """Return the text in quotes where it needs them; an empty one has them, NULL has not."""
    safe = without_commands(inert(text))
    if safe and not any(each in safe for each in ',"\r\n'):
        return safe
    return '"' + safe.replace('"', '""') + '"'


def _csv_line(cells: Sequence[str]) -> str:
    # A line without anything would be no row to most readers.
    return ",".join(cells) or '""'
