"""Two neighbouring tables, the queries on them, and the part of the answers that an analyst sees.

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

import pyarrow as pa

from discreet.answer import Answer
from discreet.audit.questions.scenes import COPY, PERSON, Tables, repeated
from discreet.audit.questions.views import Cells, stacked, views
from discreet.audit.subjects import Kind, Subject
from discreet.curator import Curator
from discreet.errors import BudgetError, NothingFoundError
from discreet.opening import open_data

BOUNDS = {"x": (0, 8), "day": (0, 7)}
VALUES = {"kind": ("a", "b")}
COPIES = 10_000
"""The number of copies in one query."""


class Asked(NamedTuple):
    """A query and its cost."""

    sql: str
    epsilon: Fraction = Fraction(1)
    delta: Fraction | None = None
    bounding: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """A claim about some queries: all answers together hardly distinguish here from there."""

    name: str
    questions: tuple[Asked, ...]
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
            kind=Kind.QUESTION,
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


def answer_to(curator: Curator, asked: Asked) -> Answer | None:
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
