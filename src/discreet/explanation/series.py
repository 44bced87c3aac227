"""What a series is, costs and will be like, as text and as JSON; known before anyone pays."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from typing import Any

from discreet.amounts import Price, error_text, percent
from discreet.answer.columns import indentation, json_text
from discreet.answer.rendering import ShownColumn, folded, line_width, table_lines, visible
from discreet.answer.series_table import SeriesStatus
from discreet.notebook import Printer

WIDTH = 100
"""Columns that texts are folded to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesColumn:
    """A column of numbers and its margins of error, at the explanation's confidence."""

    name: str
    mechanism: str
    """How the noise of its ticks belongs together: square-root, tree and others."""
    first: float
    """The margin of the running total at the first tick."""
    last: float
    """That at the last tick."""
    worst: float
    """The largest of all ticks."""
    tick: float
    """The largest margin of a single tick."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesExplanation:
    """A series: what it counts and costs, how far it is, and how good its numbers are."""

    name: str
    question: str
    clock: str
    first: datetime
    """When the first tick begins, by UTC."""
    status: SeriesStatus
    price: Price
    """The cost of all ticks together, charged once."""
    confidence: Fraction
    keys: tuple[str, ...] = ()
    groups: int = 1
    """How many groups each tick has."""
    columns: tuple[SeriesColumn, ...] = ()
    notes: tuple[str, ...] = ()
    """What is limited and left out, and what is protected."""
    problem: str = ""
    """Why no tick can be released as the catalog declares it."""

    @property
    def state(self) -> str:
        """How far it is, in words."""
        status, unit = self.status, f"{self.clock}s"
        done = f"{status.released:,} of {status.ticks:,} {unit} released"
        waiting = status.due - status.released
        due = f", {waiting:,} more can be released now" if waiting else ""
        return f"{done}{due}" if status.is_charged else f"not charged yet: {done}{due}"

    def to_record(self) -> dict[str, object]:
        """Return it as an object for JSON."""
        status = self.status
        return {
            "name": self.name,
            "question": self.question,
            "clock": self.clock,
            "first": self.first.isoformat(),
            "ticks": status.ticks,
            "released": status.released,
            "due": status.due,
            "next_at": None if status.next_at is None else status.next_at.isoformat(),
            "is_charged": status.is_charged,
            "price": self.price.to_json(),
            "confidence": str(self.confidence),
            "keys": list(self.keys),
            "groups": self.groups,
            "columns": [
                {
                    "name": each.name,
                    "mechanism": each.mechanism,
                    "margins": {
                        "first": each.first,
                        "last": each.last,
                        "worst": each.worst,
                        "tick": each.tick,
                    },
                }
                for each in self.columns
            ],
            "notes": list(self.notes),
            "problem": self.problem or None,
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """Return it as JSON."""
        return json_text(self.to_record(), indentation(indent))

    def to_text(self, *, width: int = WIDTH) -> str:
        """Return it as lines of text, folded to a width."""
        return "\n".join(self._lines(line_width(width)))

    def _lines(self, width: int) -> Iterator[str]:
        status, unit = self.status, f"{self.clock}s"
        day = self.first.date().isoformat()
        yield from folded(visible(f"{self.name}: each {self.clock} from {day} on"), width)
        yield ""
        for line in self.question.splitlines():
            yield f"  {visible(line)}"
        yield ""
        together = f"for all {status.ticks:,} {unit} together, charged once"
        yield from folded(f"Cost: {self.price}, {together}.", width)
        yield from folded(f"State: {self.state}.", width)
        if status.next_at is not None:
            yield f"Next tick: {status.next_at.isoformat(sep=' ', timespec='minutes')} UTC."
        if self.columns:
            yield ""
            yield from table_lines([(each,) for each in self._table()], width=width, gap=None)
            yield ""
            what = f"Margins of error, at {percent(self.confidence)} confidence for each tick."
            yield from folded(what, width)
        for each in self.notes:
            yield from folded(visible(each), width)
        if self.problem:
            yield from folded(visible(f"No tick can be released: {self.problem}"), width)

    def _table(self) -> Iterator[ShownColumn]:
        """Yield the columns of a table with a row for each column of the series."""
        yield _texts("column", [visible(each.name) for each in self.columns])
        yield _texts("mechanism", [each.mechanism for each in self.columns])
        heads = {
            "first": f"first {self.clock}",
            "last": f"last {self.clock}",
            "worst": "largest",
            "tick": f"one {self.clock} alone",
        }
        for name, head in heads.items():
            cells = [error_text(getattr(each, name), is_whole=False) for each in self.columns]
            yield _texts(head, cells, is_right=True)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_pretty_(self, printer: Printer, cycle: bool) -> None:  # noqa: ARG002
        printer.text(str(self))


def _texts(header: str, cells: list[str], *, is_right: bool = False) -> ShownColumn:
    return ShownColumn(header=header, cells=tuple(cells), is_right=is_right)


def series_explanation_from(record: Mapping[str, Any]) -> SeriesExplanation:
    """Return the explanation that `to_record` wrote."""
    following = record["next_at"]
    return SeriesExplanation(
        name=str(record["name"]),
        question=str(record["question"]),
        clock=str(record["clock"]),
        first=datetime.fromisoformat(record["first"]),
        status=SeriesStatus(
            is_charged=bool(record["is_charged"]),
            released=int(record["released"]),
            due=int(record["due"]),
            ticks=int(record["ticks"]),
            next_at=None if following is None else datetime.fromisoformat(following),
        ),
        price=Price(
            epsilon=Fraction(record["price"]["epsilon_exact"]),
            delta=Fraction(record["price"]["delta_exact"]),
        ),
        confidence=Fraction(record["confidence"]),
        keys=tuple(map(str, record["keys"])),
        groups=int(record["groups"]),
        columns=tuple(
            SeriesColumn(
                name=str(each["name"]),
                mechanism=str(each["mechanism"]),
                **{name: float(each["margins"][name]) for name in MARGINS},
            )
            for each in record["columns"]
        ),
        notes=tuple(map(str, record["notes"])),
        problem=str(record["problem"] or ""),
    )


MARGINS = ("first", "last", "worst", "tick")
