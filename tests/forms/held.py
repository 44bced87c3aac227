"""A clinic on each engine, and what plain SQL says of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any
from warnings import catch_warnings, simplefilter

import duckdb

from discreet.catalog.catalog import budget_from
from discreet.curator import Curator
from discreet.explanation.thresholds import GroupThresholdWarning
from discreet.ledger import SqliteLedger
from tests.engines.contract import engine_of
from tests.properties.clinic import clinic
from tests.properties.comparison import plain
from tests.properties.curators import curator_of
from tests.properties.databases import (
    PUBLIC,
    Database,
    catalog,
    public_store,
    table_of,
)

PEOPLE = 80

HELD = ("prepared", "duckdb", "postgresql", "spark")
"""The embedded engine with rows chosen once, and all engines with rows chosen by each question."""

Row = tuple[Any, ...]


@contextmanager
def held(kind: str, database: Database | None = None) -> Iterator[Curator]:
    """Yield a curator of a clinic on an engine."""
    people = database or clinic(PEOPLE)
    if kind == "prepared":
        yield curator_of(people)
        return
    tables = {name: table_of(name, rows) for name, rows in {**people.tables, **PUBLIC}.items()}
    engine = engine_of(kind, tables)
    here = catalog()
    with Curator(
        catalog=here,
        engine=engine,
        public=public_store(),
        ledger=SqliteLedger(":memory:", budget=budget_from(here.budget)),
    ) as curator:
        yield curator


def rows_of(curator: Curator, sql: str, **how: Any) -> list[Row]:
    """Return the rows of an answer as plain values."""
    with catch_warnings():
        simplefilter("ignore", GroupThresholdWarning)  # of what earlier answers tell
        columns = curator.ask(sql, epsilon=1, **how).to_arrow().columns
    return list(zip(*([each.as_py() for each in column] for column in columns), strict=True))


def differences(ours: list[Row], theirs: list[Row]) -> list[str]:
    """Return in words what plain SQL says otherwise; declared groups without rows may be there."""
    left, found = list(ours), []
    for row in theirs:
        same = next((each for each in left if are_same(each, row)), None)
        if same is None:
            found.append(f"{row} is not among {left[:6]}")
        else:
            left.remove(same)
    return found + [f"{row} should not be there" for row in left if not _is_empty(row)]


def ask_plainly(database: duckdb.DuckDBPyConnection, sql: str) -> list[Row]:
    return database.execute(sql).fetchall()


def are_same(ours: Row, theirs: Row) -> bool:
    """Return whether two rows are equal but for the grid on which numbers are summed."""
    return len(ours) == len(theirs) and all(map(_is_same, ours, theirs))


def _is_same(a: Any, b: Any) -> bool:
    if isinstance(b, float | Decimal) and a is not None:
        return abs(float(a) - float(b)) <= 1e-6 * (1 + abs(float(b)))
    is_zero = not isinstance(a, bool) and a == 0
    return bool(plain(a) == plain(b)) or (b is None and is_zero)  # a sum of nothing is 0


def _is_empty(row: Row) -> bool:
    """Return whether a row is of a declared group that has no rows: its counts and sums are 0."""
    numbers = [each for each in row if not isinstance(each, str | bool) and each is not None]
    return 0 in numbers
