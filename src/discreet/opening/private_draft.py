"""Bounds and values for a first catalog, found privately.

`discreet init DATA --find-bounds EPSILON` calls it. A curator runs a query about each column, so
everything that the catalog then reveals about the data is charged: in the ledger that the queries
on this catalog will use.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from discreet.bounds.histogram import BINS
from discreet.catalog import Column, ColumnUnit, Kind, PrivateTable
from discreet.catalog.toml import PrivateFacts
from discreet.curator import Curator
from discreet.errors import NothingFoundError, ParameterError
from discreet.opening.open import open as open_data
from discreet.parameters import Real, rational

TOTAL_EPSILON, TOTAL_DELTA = Fraction(1), Fraction(1, 10**6)
"""The budget of a drafted catalog, unless the owner states another."""

DELTA_PART = Fraction(1, 10)
"""The default share of the budget's delta for all lists of values together."""

FEW = 50
"""The most values of a text column that are listed."""

IDENTIFIER = re.compile(r"(?i:id)|.*[^A-Za-z0-9](?i:id)|.*[a-z0-9](?:Id|ID)")
"""Names of columns that only identify things: nobody sums them or groups by them."""

Progress = Callable[[str, int, int], None]
"""Called before each column with its name, the number of columns done, and of all columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """The cost of each column."""

    epsilon: Fraction
    delta: Fraction
    """For each list of values. Bounds need no delta."""


def find_all(  # noqa: PLR0913 - the table, the cost and the ledger
    source: str | Path,
    table: str,
    unit: str,
    *,
    types: Mapping[str, str] | None = None,
    epsilon: Real,
    delta: Real | None = None,
    ledger: str | Path,
    total_epsilon: Real = TOTAL_EPSILON,
    total_delta: Real = TOTAL_DELTA,
    progress: Progress | None = None,
) -> PrivateFacts:
    """Find bounds of all numbers and times, and short lists of texts, at a total cost of epsilon.

    All columns get the same share of epsilon. Texts share delta, by default a tenth of the
    budget's. There are no queries about the unit, about columns that only identify things (their
    name ends in id), or about booleans, whose values are known. A column where nothing is visible
    above the noise is not in the result; its cost stays spent.

    `unit` is written as in the catalog: a column, or "row". `types` are those of columns of a CSV
    file. `ledger` is the file that the new catalog will use: its name, but ending in .ledger. It is
    created with the budget of total_epsilon and total_delta, and charged. Repeating the call on the
    same data costs nothing.
    """
    price = rational("epsilon", epsilon, above=0)
    total, slack = rational("total_epsilon", total_epsilon, above=0), _delta(delta, total_delta)
    if price > total:
        raise ParameterError("epsilon", price, f"must be at most the total budget, {float(total)}")
    with open_data(
        source,
        name=table,
        unit=unit,
        types=types,
        epsilon=total,
        delta=total_delta,
        ledger=ledger,
    ) as curator:
        return _find(curator, table, (price, slack), progress or _quiet)


def _delta(delta: Real | None, total_delta: Real) -> Fraction:
    total = rational("total_delta", total_delta, least=0, below=1)
    return total * DELTA_PART if delta is None else rational("delta", delta, least=0, most=total)


def _quiet(column: str, done: int, of: int) -> None:
    """Report no progress."""


def _find(
    curator: Curator, table: str, price: tuple[Fraction, Fraction], progress: Progress
) -> PrivateFacts:
    epsilon, delta = price
    columns = [each for each in _columns(curator, table) if _is_queried(each, delta)]
    if not columns:
        return PrivateFacts(columns=(), epsilon=Fraction(0))
    texts = sum(each.kind is Kind.TEXT for each in columns)
    shares = Shares(epsilon=epsilon / len(columns), delta=delta / max(1, texts))
    found = []
    for done, column in enumerate(columns):
        progress(column.name, done, len(columns))
        found.append(_facts(curator, table, column, shares))
    facts = tuple(each for each in found if each is not None)
    return PrivateFacts(columns=facts, epsilon=epsilon, delta=delta if texts else Fraction(0))


def _columns(curator: Curator, table: str) -> list[Column]:
    """Return the columns of the table without the unit."""
    found = curator.catalog.table(table)
    assert isinstance(found, PrivateTable)  # noqa: S101 - it was opened with a unit
    unit = found.unit.column if isinstance(found.unit, ColumnUnit) else None
    return [each for each in found.columns if each.name != unit]


def _is_queried(column: Column, delta: Fraction) -> bool:
    if IDENTIFIER.fullmatch(column.name):
        return False
    return column.kind in BINS or (column.kind is Kind.TEXT and delta > 0)


def _facts(curator: Curator, table: str, column: Column, shares: Shares) -> Column | None:
    """Return the column with the bounds or values that were found; None if there were none."""
    if column.kind is Kind.TEXT:
        return _with_values(curator, table, column, shares)
    try:
        bounds = curator.find_bounds(f"{table}.{column.name}", epsilon=shares.epsilon)
    except NothingFoundError:
        return None
    return Column(name=column.name, kind=column.kind, bounds=bounds)


def _with_values(curator: Curator, table: str, column: Column, shares: Shares) -> Column | None:
    """Return the column with the values that enough units have, if there are few of them."""
    name = _quoted(column.name)
    sql = f"SELECT {name} AS found FROM {_quoted(table)} GROUP BY {name}"  # noqa: S608 - quoted
    answer = curator.ask(sql, epsilon=shares.epsilon, delta=shares.delta)
    keys = answer.table.column("found").to_pylist()
    values = tuple(str(each) for each in keys if each is not None)
    if not values or len(values) > FEW:
        return None
    nulls = True if None in keys else None
    return Column(name=column.name, kind=column.kind, values=values, nulls=nulls)


def _quoted(name: str) -> str:
    """Return a name as SQL writes it in quotes."""
    return '"' + name.replace('"', '""') + '"'
