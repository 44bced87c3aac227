"""Released ticks of a series, as people get them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from discreet import plots
from discreet.amounts import percent
from discreet.answer.charts import series_chart
from discreet.answer.columns import AnswerColumn, Role, columns_of, csv_text
from discreet.answer.rendering import (
    folded,
    html_table,
    line_width,
    shown_groups,
    table_lines,
    visible,
)
from discreet.catalog.schema import Kind
from discreet.errors import ParameterError
from discreet.notebook import Printer
from discreet.parameters import integer
from discreet.tables import ARROW_TYPES
from discreet.writing import write_file

if TYPE_CHECKING:
    from pandas import DataFrame

WIDTH = 100
"""Columns that texts are folded to."""

SHOWN = 20
"""The most rows that a table shows by itself: the last ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesStatus:
    """How far a series is."""

    is_charged: bool
    released: int
    due: int
    """How many ticks have ended, and can be released."""
    ticks: int
    next_at: datetime | None
    """When the next tick can be released, by UTC; None after the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesTable:
    """Released ticks of a series, one row for each tick and group, the oldest first.

    Beside every column of numbers there is its margin of error. A margin holds for one tick at a
    time, with the confidence given.
    """

    name: str
    kind: str
    """"running", "tick" or "window"."""
    window: int | None
    """How many ticks a window has."""
    clock: str
    confidence: Fraction
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    """The columns of numbers."""
    released: int
    """How many ticks are released."""
    ticks: int
    """How many there will be."""
    notes: tuple[str, ...]
    """What is limited and left out."""
    table: pa.Table = field(repr=False)
    """With the column "tick", the beginning of each tick by UTC."""

    def to_arrow(self) -> pa.Table:
        """Return it as a table of Arrow."""
        return self.table

    def to_pandas(self) -> "DataFrame":
        """Return it as a data frame of pandas."""
        return self.table.to_pandas()

    def last(self, ticks: int) -> "SeriesTable":
        """Return the last ticks alone."""
        shown = len(self.table.column(0).unique())
        rows = self.table.num_rows // max(1, shown) * integer("ticks", ticks, least=1)
        return replace(self, table=self.table.slice(max(0, self.table.num_rows - rows)))

    def to_csv(self, path: str | Path | None = None) -> str | Path:
        """Return CSV with the margins beside their columns, or write it and return its path."""
        roles = [Role.VALUE] * self.table.num_columns
        text = csv_text(columns_of(self.table, roles, [None] * len(roles)), errors=False)
        return text if path is None else write_file("path", path, text.encode())

    def to_text(self, *, width: int = WIDTH) -> str:
        """Return all its rows as lines of text, folded to a width, and what is left out."""
        columns = line_width(width)
        lines = table_lines(shown_groups(self._columns(self.table)), width=columns, gap=None)
        notes = (line for each in self.notes for line in folded(visible(each), columns))
        legend = folded(self._legend(), columns)
        return "\n".join([self._head(), "", *lines, "", *legend, *notes])

    def _head(self) -> str:
        return visible(f"{self.title} ({self.released:,} of {self.ticks:,} {self.clock}s released)")

    def _legend(self) -> str:
        return f"± is the margin of error, at {percent(self.confidence)} confidence for each tick."

    def plot(self, *columns: str) -> "plots.Plot":
        """Draw a line with a band of its margin for each group; all columns if none is named."""
        for each in columns:
            if not isinstance(each, str) or each not in self.columns:
                raise ParameterError("columns", each, f"must be among {', '.join(self.columns)}")
        label = f"{self.clock} (UTC)"
        return series_chart(
            self._columns(self.table), chosen=columns, confidence=self.confidence, label=label
        )

    def _columns(self, table: pa.Table) -> tuple[AnswerColumn, ...]:
        """Return ticks, keys and numbers with their margins."""
        keys = 1 + len(self.keys)
        every, count = table.columns, len(self.columns)
        shown = [*range(keys), *range(keys, keys + 2 * count, 2)]
        margins = [every[keys + 2 * number + 1].to_numpy() for number in range(count)]
        return columns_of(
            table.select(shown),
            [Role.KEY] * keys + [Role.ESTIMATE] * count,
            [*[None] * keys, *margins],
        )

    def to_json(self) -> dict[str, object]:
        """Return it as JSON: rows as lists, times as text."""
        return {
            "name": self.name,
            "kind": self.kind,
            "window": self.window,
            "clock": self.clock,
            "confidence": float(self.confidence),
            "keys": list(self.keys),
            "columns": list(self.columns),
            "released": self.released,
            "ticks": self.ticks,
            "notes": list(self.notes),
            "names": self.table.column_names,
            "types": [str(each) for each in self.table.schema.types],
            "rows": [[_plain(value) for value in row] for row in self._rows()],
        }

    @property
    def title(self) -> str:
        """What is shown, in words."""
        unit = f"{self.clock}s"
        match self.kind:
            case "running":
                what = "running total"
            case "tick":
                what = f"each {self.clock}"
            case _:
                what = f"last {self.window} {unit}"
        return f"{self.name}: {what}"

    def __str__(self) -> str:
        return replace(self, table=self._newest()).to_text()

    def _newest(self) -> pa.Table:
        return self.table.slice(max(0, self.table.num_rows - SHOWN))

    def _rows(self) -> Iterator[tuple[object, ...]]:
        """Yield the rows. A key may have the name of another column."""
        return zip(*(each.to_pylist() for each in self.table.columns), strict=True)

    def _repr_html_(self) -> str:
        shown = shown_groups(self._columns(self._newest()))
        notes = (self._legend(), *map(visible, self.notes))
        return html_table(shown, gap=None, notes=notes, footer=self._head())

    def _repr_pretty_(self, printer: Printer, cycle: bool) -> None:  # noqa: ARG002
        printer.text(str(self))


def series_table_from_json(record: Mapping[str, Any]) -> SeriesTable:
    """Return the table that `to_json` wrote."""
    kinds = {str(each): each for each in (*ARROW_TYPES.values(), pa.timestamp("us"))}
    types = [kinds[each] for each in record["types"]]
    columns = [
        pa.array([_value(row[number], kind) for row in record["rows"]], kind)
        for number, kind in enumerate(types)
    ]
    return SeriesTable(
        name=record["name"],
        kind=record["kind"],
        window=record["window"],
        clock=record["clock"],
        confidence=Fraction(str(record["confidence"])),
        keys=tuple(record["keys"]),
        columns=tuple(record["columns"]),
        released=record["released"],
        ticks=record["ticks"],
        notes=tuple(record["notes"]),
        table=pa.Table.from_arrays(columns, names=record["names"]),
    )


def _plain(value: object) -> object:
    return value.isoformat() if hasattr(value, "isoformat") else value


def _value(value: Any, kind: pa.DataType) -> Any:
    if value is None or not pa.types.is_temporal(kind):
        return value
    moment = datetime.fromisoformat(value)
    if pa.types.is_date(kind):
        return moment.date()
    is_zoned = kind == ARROW_TYPES[Kind.TIMESTAMP_TZ]
    return moment.astimezone(UTC) if is_zoned else moment
