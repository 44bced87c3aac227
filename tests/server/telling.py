"""A server whose database fails with a row in its words, of which nobody may read a part.

`python -m tests.server.telling serve …` runs the command so. A query fails after its charge if it
has the number CRASHES or FAILS in it.
"""

import sys
from typing import Any

import duckdb

from discreet.cli import main
from discreet.engines.duckdb import DuckDbEngine
from discreet.tables import ExactTable

ROW = "patient 6 lives in Rowville"
CRASHES, FAILS = 7701, 7702


class Failing:
    """A relation that cannot be read."""

    def to_arrow_table(self) -> object:
        raise duckdb.ConversionException(ROW)


if __name__ == "__main__":
    run = DuckDbEngine.run

    def telling_run(self: Any, statement: Any, scalars: Any) -> ExactTable:
        if str(CRASHES) in statement.sql:
            raise RuntimeError(ROW)
        if str(FAILS) in statement.sql:
            ready, _ = self._bound.taken(statement.sql)
            self._bound.taken = lambda _: (ready, Failing())
            try:
                return run(self, statement, scalars)
            finally:
                del self._bound.taken
        return run(self, statement, scalars)

    DuckDbEngine.run = telling_run  # type: ignore[method-assign]
    sys.argv = ["discreet", *sys.argv[1:]]
    main()
