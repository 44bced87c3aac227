"""Facts for a first catalog, found privately: bounds of numbers and times, and lists of keys.

`discreet init DATA --spend EPSILON` calls it. Each column is asked about through a curator, as any
analyst would ask, so that what a catalog then says of the data is paid for: in the ledger that the
catalog's own questions will be charged to.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from discreet.catalog import BINS, Column, ColumnUnit, Found, Kind, PrivateTable
from discreet.curator import Curator
from discreet.errors import NothingFoundError, ParameterError
from discreet.opening import open_data
from discreet.parameters import Real, rational
from discreet.query.check.sources import quoted

TOTAL_EPSILON, TOTAL_DELTA = Fraction(1), Fraction(1, 10**6)
"""The budget that a drafted catalog has if its owner says nothing else."""

DELTA_PART = Fraction(1, 10)
"""What lists of keys take of the budget's delta, all of them together, if nothing else is said."""

FEW = 50
"""Texts of more different values are not taken for keys."""

IDENTIFIER = re.compile(r"(?i:id)|.*[^A-Za-z0-9](?i:id)|.*[a-z0-9](?:Id|ID)")
"""Names of columns that only tell things apart: nobody sums them or groups by them."""

Progress = Callable[[str, int, int], None]
"""Called before each column: its name, how many columns are done, and how many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """What is spent on each column."""

    epsilon: Fraction
    delta: Fraction
    """On each list of keys; bounds take none."""


def find_all(  # noqa: PLR0913 - what the owner states of the table, the price and the books
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
) -> Found:
    """Return bounds of all numbers and times, and lists of few texts, for epsilon and delta in all.

    All columns get the same part of epsilon, and texts the same part of delta: a tenth of the
    budget's if none is given. Nothing is asked of the unit, of columns that only tell things apart
    (their name ends in id), or of booleans, whose values are known. A column of which nothing
    stands out from the noise is left out of the result; what was spent on it stays spent.

    `unit` is written as in the catalog: a column, or "row"; `types` are those of columns of a CSV
    file. `ledger` is the file that the new
    catalog will use, of its name but ending in .ledger. It is made for the budget of total_epsilon
    and total_delta, and charged. The same call again, over the same data, is free.
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
        return _found(curator, table, (price, slack), progress or _quiet)


def _delta(delta: Real | None, total_delta: Real) -> Fraction:
    total = rational("total_delta", total_delta, least=0, below=1)
    return total * DELTA_PART if delta is None else rational("delta", delta, least=0, most=total)


def _quiet(column: str, done: int, of: int) -> None:
    """Tell nobody."""


def _found(
    curator: Curator, table: str, price: tuple[Fraction, Fraction], progress: Progress
) -> Found:
    epsilon, delta = price
    columns = [each for each in _columns(curator, table) if _is_asked(each, delta)]
    if not columns:
        return Found(columns=(), epsilon=Fraction(0))
    texts = sum(each.kind is Kind.TEXT for each in columns)
    shares = Shares(epsilon=epsilon / len(columns), delta=delta / max(1, texts))
    found = []
    for done, column in enumerate(columns):
        progress(column.name, done, len(columns))
        found.append(_asked(curator, table, column, shares))
    facts = tuple(each for each in found if each is not None)
    return Found(columns=facts, epsilon=epsilon, delta=delta if texts else Fraction(0))


def _columns(curator: Curator, table: str) -> list[Column]:
    """Return the table's columns, but for that of the unit."""
    found = curator.catalog.table(table)
    assert isinstance(found, PrivateTable)  # noqa: S101 - it was opened with a unit
    unit = found.unit.column if isinstance(found.unit, ColumnUnit) else None
    return [each for each in found.columns if each.name != unit]


def _is_asked(column: Column, delta: Fraction) -> bool:
    if IDENTIFIER.fullmatch(column.name):
        return False
    return column.kind in BINS or (column.kind is Kind.TEXT and delta > 0)


def _asked(curator: Curator, table: str, column: Column, shares: Shares) -> Column | None:
    """Return the column with what was found of it; None if nothing was."""
    if column.kind is Kind.TEXT:
        return _with_values(curator, table, column, shares)
    try:
        bounds = curator.find_bounds(f"{table}.{column.name}", epsilon=shares.epsilon)
    except NothingFoundError:
        return None
    return Column(name=column.name, kind=column.kind, bounds=bounds)


def _with_values(curator: Curator, table: str, column: Column, shares: Shares) -> Column | None:
    """List the values that enough units have, if they are few."""
    name = quoted(column.name)
    sql = f"SELECT {name} AS found FROM {quoted(table)} GROUP BY {name}"  # noqa: S608 - quoted
    answer = curator.ask(sql, epsilon=shares.epsilon, delta=shares.delta)
    keys = answer.table.column("found").to_pylist()
    values = tuple(str(each) for each in keys if each is not None)
    if not values or len(values) > FEW:
        return None
    nulls = True if None in keys else None
    return Column(name=column.name, kind=column.kind, values=values, nulls=nulls)
