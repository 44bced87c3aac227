"""An engine that is watched: which queries it runs, and whether it ever fails."""

from collections.abc import Callable
from typing import Any

from discreet.curator import Curator
from discreet.engines.base import Scalars, Statement
from discreet.tables import ExactTable

Run = Callable[..., ExactTable]


class Watched:
    """Counts what an engine is asked to run, whoever holds it."""

    def __init__(self, engine: Any) -> None:
        self.run: Run = engine.run
        self.runs = 0
        self.failures: list[BaseException] = []
        self.tables: list[ExactTable] = []
        engine.run = self._run

    def _run(self, statement: Statement, scalars: Scalars) -> ExactTable:
        self.runs += 1
        try:
            self.tables.append(self.run(statement, scalars))
        except BaseException as failure:
            self.failures.append(failure)
            raise
        return self.tables[-1]


def watch(curator: Curator) -> Watched:
    """Watch a curator's engine from now on."""
    return Watched(curator._engine)
