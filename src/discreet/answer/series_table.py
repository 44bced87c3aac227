"""Released ticks of a series, as people get them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from discreet.catalog.schema import Kind
from discreet.notebook import Printer
from discreet.tables import ARROW_TYPES

if TYPE_CHECKING:
    from pandas import DataFrame

MARGIN = "_margin"
"""Ends the name of the column that has the margin of another."""

SHOWN = 20
"""The most rows that a table shows by itself: the last ones."""


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
            "rows": [[_plain(value) for value in row.values()] for row in self.table.to_pylist()],
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
        head = f"{self.title} ({self.released} of {self.ticks} {self.clock}s released)"
        return "\n".join([head, *map(" · ".join, self._shown()), *self.notes])

    def _shown(self) -> list[list[str]]:
        """Return the last rows as text, numbers with their margins."""
        last = self.table.slice(max(0, self.table.num_rows - SHOWN)).to_pylist()
        return [
            [
                str(row["tick"]),
                *(str(row[key]) for key in self.keys),
                *(f"{_number(row[each])} ± {_number(row[each + MARGIN])}" for each in self.columns),
            ]
            for row in last
        ]

    def _repr_html_(self) -> str:
        names = ["tick", *self.keys, *self.columns]
        head = "".join(f"<th>{escape(each)}</th>" for each in names)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(each)}</td>" for each in row) + "</tr>"
            for row in self._shown()
        )
        notes = "".join(f"<p>{escape(each)}</p>" for each in self.notes)
        return f"<p>{escape(self.title)}</p><table><tr>{head}</tr>{body}</table>{notes}"

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


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.1f}"


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
