"""Two neighbouring tables, the queries on them, and the part of the answers that an analyst sees.

An experiment is a few synthetic rows, and any number of copies of them. All copies are in one
table, with a column `copy`. Every person is in one copy only, so a query that groups by copy runs
on all of them at once.

One query with GROUP BY copy is thousands of runs. The victim of a copy changes the exact numbers of
that copy only, every number gets independent noise, and the output for a copy depends only on its
own noisy numbers. So the cells of a copy are one run at the cost of the query, and runs are
independent. The neighbours of a run are the two forms of its copy. An event that distinguishes
these too well disproves the claim for the query.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from discreet.answer import Answer
from discreet.audit.subjects import Subject, SubjectKind
from discreet.curator import Curator
from discreet.errors import BudgetError, NothingFoundError, ParameterError
from discreet.opening import open_data

COPY, PERSON = "copy", "person"


Row = dict[str, object]


Tables = Mapping[str, Sequence[Row]]
"""The rows of one copy of each private table; `person` numbers its people from 0."""


PEOPLE = 1 << 12
"""No copy has more people."""


FIELDS: dict[str, pa.DataType] = {
    PERSON: pa.int64(),
    "x": pa.float64(),
    "kind": pa.string(),
    "day": pa.int64(),
}
"""The columns of every private table except `copy`. Missing values of a row are NULL."""


def repeated(rows: Sequence[Row], copies: int) -> pa.Table:
    """Return copies of the rows, each with different people."""
    whose = np.repeat(np.arange(copies, dtype=np.int64), len(rows))
    first = pa.array(whose * PEOPLE)
    columns = {name: _tiled(rows, name, copies) for name in FIELDS}
    columns[PERSON] = pc.add(columns[PERSON], first)  # NULL, who is nobody, stays NULL
    return pa.table({COPY: pa.array(whose), **columns})


def _tiled(rows: Sequence[Row], name: str, copies: int) -> "pa.Array[pa.Scalar[pa.DataType]]":
    once = pa.array([each.get(name) for each in rows], FIELDS[name])
    return once.take(pa.array(np.tile(np.arange(len(rows)), copies), pa.int64()))


Cells = NDArray[np.float64]


NOTHING = np.nan
"""Represents what is not shown: a NULL, a missing row, a rejected query."""


TEXT_MOST = 6
"""The most bytes of a text, so that it is an integer that a float can hold."""


def views(seen: Sequence[Answer | None], copies: int, rows: int) -> Cells:
    """Return the output for each copy: its first rows, in order, with margins of error.

    Each copy is a row of the array. Nothing is lost: integers in these tables are small, and
    different short texts are different numbers.
    """
    return np.hstack([_view(each, copies, rows) for each in seen])


def stacked(parts: Sequence[Cells]) -> Cells:
    """Return all rows of some arrays. Narrower ones are filled up as not shown."""
    width = max(each.shape[1] for each in parts)
    padded = [
        np.pad(each, ((0, 0), (0, width - each.shape[1])), constant_values=NOTHING)
        for each in parts
    ]
    return np.concatenate(padded)


def _view(answer: Answer | None, copies: int, rows: int) -> Cells:
    if answer is None:
        return np.full((copies, 1), NOTHING)
    columns = [name for name in answer.table.column_names if name != COPY]
    widths = [each for each in answer.column_margins if each is not None]
    cells = np.stack([*(_numbers(answer.table.column(each)) for each in columns), *widths], axis=1)
    whose = _copies(answer.table)
    order = np.argsort(whose, kind="stable")
    place = _places(whose[order])
    shown = np.full((copies, rows, cells.shape[1]), NOTHING)
    shown[whose[order], place] = cells[order]
    return shown.reshape(copies, -1)


def _copies(table: pa.Table) -> NDArray[np.int64]:
    """Return the copy of each row. A query without a copy column is about the only one."""
    if COPY not in table.column_names:
        return np.zeros(table.num_rows, np.int64)
    return np.asarray(table.column(COPY).to_numpy(), np.int64)


def _places(whose: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the index of each row within its copy. Rows of a copy are contiguous."""
    first = np.searchsorted(whose, whose)
    return np.arange(len(whose)) - first


def _numbers(column: "pa.ChunkedArray[Any]") -> Cells:
    if pa.types.is_string(column.type):
        return np.array([_code(each) for each in column.to_pylist()], np.float64)
    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), np.float64)


def _code(text: str | None) -> float:
    """Return a number that no other short text has."""
    if text is None:
        return NOTHING
    encoded = text.encode()
    if len(encoded) > TEXT_MOST:
        raise ParameterError("text", text, f"must be of {TEXT_MOST} bytes or fewer")
    return float(int.from_bytes(b"\1" + encoded))


BOUNDS = {"x": (0, 8), "day": (0, 7)}


VALUES = {"kind": ("a", "b")}


COPIES = 10_000
"""The number of copies in one query."""


class AskedQuestion(NamedTuple):
    """A query and its cost."""

    sql: str
    epsilon: Fraction = Fraction(1)
    delta: Fraction | None = None
    bounding: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """A claim about some queries: all answers together hardly distinguish here from there."""

    name: str
    questions: tuple[AskedQuestion, ...]
    here: Tables
    there: Tables
    epsilon: Fraction = Fraction(1)
    """The claimed epsilon of all answers together: the sum of their charges."""
    delta: Fraction = Fraction(0)
    budget: tuple[Fraction, Fraction] = (Fraction(1000), Fraction(0))
    rows_per_unit: int = 1
    keys_are_known: bool = True
    public: Mapping[str, Mapping[str, Sequence[object]]] = field(default_factory=dict)
    declared: Mapping[str, Any] = field(default_factory=dict)
    """Further declarations of the owner."""
    rows: int = 1
    """The most rows that are shown for a copy."""
    copies: int = COPIES
    runs: int = COPIES
    is_alone: bool = False
    """Whether there is one copy only, of which a curator that forgets is asked for every run."""
    is_broken: bool = False
    open: "Open" = field(default_factory=lambda: opened)
    """How the curator is made. Deliberately broken variants differ here."""

    def subject(self) -> Subject:
        """Return the experiment as a subject of an audit."""
        return Subject(
            name=f"SQL: {self.name}",
            kind=SubjectKind.QUESTION,
            epsilon=self.epsilon,
            delta=self.delta,
            here=lambda count: self.outputs(self.here, count),
            there=lambda count: self.outputs(self.there, count),
            is_broken=self.is_broken,
            runs=self.runs,
        )

    def outputs(self, tables: Tables, count: int) -> Cells:
        """Return the observations of `count` runs, each on a new curator with its own ledger."""
        if self.is_alone:
            with self.open(self, tables, 1) as curator:
                return stacked([self._seen(curator, 1) for _ in range(count)])
        at_once = min(self.copies, count)
        parts = [self._opened(tables, at_once) for _ in range(-(-count // at_once))]
        return stacked(parts)[:count]

    def _opened(self, tables: Tables, copies: int) -> Cells:
        with self.open(self, tables, copies) as curator:
            return self._seen(curator, copies)

    def _seen(self, curator: Curator, copies: int) -> Cells:
        return views([answer_to(curator, each) for each in self.questions], copies, self.rows)


def answer_to(curator: Curator, asked: AskedQuestion) -> Answer | None:
    """Return the answer, or None if the budget is too small or no bounds were found."""
    try:
        return curator.ask(
            asked.sql, epsilon=asked.epsilon, delta=asked.delta, row_choice=asked.bounding
        )
    except (BudgetError, NothingFoundError):
        return None


Open = Callable[[Experiment, Tables, int], Curator]
"""Makes a curator over copies of some tables."""


def opened(experiment: Experiment, tables: Tables, copies: int) -> Curator:
    """Return a curator over copies of the tables, with a new database and a new ledger."""
    return open_data(sources_of(experiment, tables, copies), **declared_by(experiment, copies))


def sources_of(experiment: Experiment, tables: Tables, copies: int) -> dict[str, pa.Table]:
    """Return all tables, with copies of the private ones."""
    public = {name: pa.table(dict(columns)) for name, columns in experiment.public.items()}
    return {name: repeated(rows, copies) for name, rows in tables.items()} | public


def declared_by(experiment: Experiment, copies: int) -> dict[str, Any]:
    """Return the declarations of the owner for this many copies."""
    known = {COPY: (0, copies - 1)} if experiment.keys_are_known else {}
    names = list(experiment.here)
    return {
        "unit": dict.fromkeys(names, PERSON),
        "rows_per_unit": dict.fromkeys(names, experiment.rows_per_unit),
        "bounds": _of_all(names, BOUNDS | known),
        "values": _of_all(names, VALUES),
        "public": list(experiment.public),
        "epsilon": experiment.budget[0],
        "delta": experiment.budget[1],
        **experiment.declared,
    }


def _of_all(names: Sequence[str], columns: Mapping[str, object]) -> dict[str, Any]:
    return {f"{table}.{column}": each for table in names for column, each in columns.items()}
