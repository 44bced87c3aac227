"""What a catalog declares, as people read it: in the shell and in notebooks."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from textwrap import wrap

from discreet.catalog.schema import (
    Auto,
    Bounds,
    Column,
    ColumnUnit,
    PathUnit,
    PrivateTable,
    PublicTable,
    Table,
    Value,
    time_from_number,
)
from discreet.catalog.time_steps import time_step_text
from discreet.errors import readable, without_commands
from discreet.notebook import html_of_rows

WIDTH = 100

NAME_LINES = 3
"""The most lines of names of columns of a table."""

HEAD = ("table", "protects", "columns")


def tables_html(tables: Sequence[Table], *, below: str = "") -> str:
    """Return the tables for a notebook, and a line below them."""
    rows = [[without_commands(each) for each in _row(table)] for table in tables]
    return html_of_rows(HEAD, rows, below=without_commands(below))


def tables_text(tables: Sequence[Table], *, width: int = WIDTH) -> str:
    """Return the tables as lines of text: each with its unit, and its columns below.

    Of a table with many columns, the first are named.
    """
    return "\n".join(line for each in tables for line in _lines(each, width))


def _lines(table: Table, width: int) -> Iterator[str]:
    name, unit, _ = _row(table)
    yield without_commands(f"{name}: {unit}")
    names = [without_commands(each.name) for each in table.columns]
    shown = next(
        found
        for count in range(len(names), -1, -1)
        if len(found := _folded(names, count, width)) <= NAME_LINES or count == 0
    )
    yield from shown


def _folded(names: Sequence[str], count: int, width: int) -> list[str]:
    """Return the first names on lines of a width, and how many more there are."""
    left = len(names) - count
    more = [f"… and {left} more"] if left else []
    text = ", ".join([*names[:count], *more])
    return wrap(text, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)


def _row(table: Table) -> tuple[str, str, str]:
    return table.name, unit_text(table), ", ".join(each.name for each in table.columns)


def unit_text(table: Table) -> str:
    """Return whom a table protects, and how many rows of each are used."""
    match table:
        case PublicTable():
            return "nobody (public table)"
        case PrivateTable(unit=ColumnUnit(column=column)) if table.is_by_month:
            what = "data" if table.by_month is None or table.by_month.most is None else "used data"
            return f"the {what} of one {column} in one month, {_rows(table)}"
        case PrivateTable(unit=ColumnUnit(column=column)):
            return f"each {column}, {_rows(table)}"
        case PrivateTable(unit=PathUnit(table=other)):
            return f"like {other}, {_rows(table)}"
        case _:
            return "each row"


def _rows(table: PrivateTable) -> str:
    limit = "row" if table.rows_per_unit == 1 else "rows"
    return f"at most {table.rows_per_unit} {limit}"


def declared_text(column: Column) -> str:
    """Return what is declared of a column: bounds, step and values."""
    facts = []
    match column.bounds:
        case Bounds(low=low, high=high):
            ends = [end_text(column, each) for each in (low, high)]
            facts.append(f"{ends[0]} to {ends[1]}")
        case Auto():
            facts.append("bounds: found privately when first needed")
        case None:
            pass
    if column.step is not None:
        facts.append(f"steps of {readable(column.step)}")
    if column.time_step is not None:
        facts.append(f"steps of {time_step_text(column.time_step)}")
    if column.values is not None:
        facts.append(", ".join(_value(each) for each in column.values[:8]))
        facts[-1] += ", …" if len(column.values) > 8 else ""
    return "; ".join(facts)


def end_text(column: Column, number: Fraction) -> str:
    """Return a bound of a column: a number, or a time."""
    moment = time_from_number(number, column.kind) if column.kind.is_time else None
    return readable(number) if moment is None else moment.isoformat()


def _value(value: Value) -> str:
    return "NULL" if value is None else str(value).lower() if value in (True, False) else str(value)
