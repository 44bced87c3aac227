"""Two neighbouring tables, what is asked about them, and what of it an analyst sees.

One question with GROUP BY copy is thousands of runs. Whether a copy's victim is there moves the
exact numbers of that copy alone, every number gets noise of its own, and what is shown of a copy
follows from its own noisy numbers. So a copy's cells are one run of something that the same price
was paid for, runs are independent, and the neighbours of a run are the two forms of its copy: an
event that tells these apart too well disproves what was claimed for the question as it was asked.
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
"""So many copies are asked about at once."""


class Asked(NamedTuple):
    """A question and its price."""

    sql: str
    epsilon: Fraction = Fraction(1)
    delta: Fraction | None = None
    bounding: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """A claim about some questions: that whoever sees all answers cannot tell here from there."""

    name: str
    questions: tuple[Asked, ...]
    here: Tables
    there: Tables
    epsilon: Fraction = Fraction(1)
    """What all answers reveal together, at most: as much as was charged for them."""
    delta: Fraction = Fraction(0)
    budget: tuple[Fraction, Fraction] = (Fraction(1000), Fraction(0))
    rows_per_unit: int = 1
    keys_are_known: bool = True
    public: Mapping[str, Mapping[str, Sequence[object]]] = field(default_factory=dict)
    declared: Mapping[str, Any] = field(default_factory=dict)
    """What else the owner declares."""
    rows: int = 1
    """So many rows of a copy are shown at most."""
    copies: int = COPIES
    runs: int = COPIES
    is_alone: bool = False
    """Whether there is one copy only, of which a curator that forgets is asked for every run."""
    is_broken: bool = False
    open: "Open" = field(default_factory=lambda: opened)
    """Where twins differ: how the curator is made."""

    def subject(self) -> Subject:
        """Return it as what an auditor takes."""
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
        """Return what is seen in so many runs, each asking a new curator with books of its own."""
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
    """Return what is answered; None if the budget does not allow it, or no bounds were found."""
    try:
        return curator.ask(
            asked.sql, epsilon=asked.epsilon, delta=asked.delta, row_choice=asked.bounding
        )
    except (BudgetError, NothingFoundError):
        return None


Open = Callable[[Experiment, Tables, int], Curator]
"""Makes a curator of so many copies of some tables."""


def opened(experiment: Experiment, tables: Tables, copies: int) -> Curator:
    """Return a curator of so many copies, over a new database and with new books."""
    return open_data(sources_of(experiment, tables, copies), **declared_by(experiment, copies))


def sources_of(experiment: Experiment, tables: Tables, copies: int) -> dict[str, pa.Table]:
    """Return all tables with so many copies of the private ones."""
    public = {name: pa.table(dict(columns)) for name, columns in experiment.public.items()}
    return {name: repeated(rows, copies) for name, rows in tables.items()} | public


def declared_by(experiment: Experiment, copies: int) -> dict[str, Any]:
    """Return what the owner declares of so many copies."""
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
