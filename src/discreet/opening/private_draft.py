"""A contribution limit, bounds and values for a first catalog, found privately.

`discreet init DATA --spend EPSILON` calls it. A curator runs a query about each column, so
everything that the catalog then reveals about the data is charged: in the ledger that the queries
on this catalog will use.

First comes the number of rows of each unit, which every later answer depends on. Then come the
columns, one row of each unit: a unit is in one group only, so that a value needs far fewer units to
be seen than if it could be in ten. Epsilon is divided by need: in proportion to the number of units
that each column needs at the same epsilon.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from pathlib import Path

from discreet.amounts import amount_up
from discreet.bounds.histogram import BINS, bounds_text, threshold_for
from discreet.catalog import Bounds, Column, ColumnUnit, Kind, PrivateTable
from discreet.catalog.columns import ROW
from discreet.catalog.schema import RowUnit
from discreet.catalog.toml import PrivateFacts
from discreet.curator import Curator
from discreet.errors import NothingFoundError, ParameterError
from discreet.explanation.coverage import share_text
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.partition_selection import PartitionSelection
from discreet.opening.open import open as open_data
from discreet.parameters import Real, nearest_name, rational

TOTAL_EPSILON, TOTAL_DELTA = Fraction(1), Fraction(1, 10**6)
"""The budget of a drafted catalog, unless the owner states another."""

DELTA_PART = Fraction(1, 10)
"""The default share of the budget's delta for all lists of values together."""

FEW = 50
"""The most values of a text column that are listed."""

SURELY = Fraction(99, 100)
"""The probability with which a value that has enough units is seen."""

ROWS_PART = Fraction(1, 4)
"""The share of epsilon for rows of units, if the unit can have several."""

TYPICAL_PART = Fraction(1, 10)
"""The part of the total epsilon that a typical query costs: the limit is best for that."""

IDENTIFIER = re.compile(r"(?i:id)|.*[^A-Za-z0-9](?i:id)|.*[a-z0-9](?:Id|ID)")
"""Names of columns that only identify things: nobody sums them or groups by them."""

Progress = Callable[[str, int, int], None]
"""Called before each column with its name, the number of columns done, and of all columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """The cost of one column."""

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
    columns: Collection[str] | None = None,
    progress: Progress | None = None,
) -> PrivateFacts:
    """Find the best rows_per_unit, bounds and short lists of texts, at a total cost of epsilon.

    A quarter of epsilon is for the rows of units, if a unit can have several. The columns divide
    the rest by need. Texts share delta, by default a tenth of the budget's. `columns` are the
    columns to query; by default all but the unit, columns that only identify things (their name
    ends in id), and booleans, whose values are known. A column where nothing is visible above the
    noise is not in the result; its cost stays spent.

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
        rows_per_unit=None if unit == ROW else 1,
    ) as curator:
        chosen = _chosen(curator, table, columns, slack)
        return _find(curator, table, (price, slack), chosen, progress or _quiet)


def _delta(delta: Real | None, total_delta: Real) -> Fraction:
    total = rational("total_delta", total_delta, least=0, below=1)
    return total * DELTA_PART if delta is None else rational("delta", delta, least=0, most=total)


def _quiet(column: str, done: int, of: int) -> None:
    """Report no progress."""


def _find(
    curator: Curator,
    table: str,
    price: tuple[Fraction, Fraction],
    columns: list[Column],
    progress: Progress,
) -> PrivateFacts:
    epsilon, delta = price
    limit = _limit(curator, table, epsilon * (ROWS_PART if columns else 1))
    if not columns and limit is None:
        return PrivateFacts(columns=(), epsilon=Fraction(0))
    for_columns = epsilon if limit is None else epsilon * (1 - ROWS_PART)
    texts = sum(each.kind is Kind.TEXT for each in columns)
    parts = shares_by_need([each.kind for each in columns], delta / max(1, texts))
    found, reports = [], []
    for done, column in enumerate(columns):
        progress(column.name, done, len(columns))
        shares = Shares(epsilon=for_columns * parts[done], delta=delta / max(1, texts))
        facts = _facts(curator, table, column, shares)
        reports.append(_report(column, facts, shares))
        found.append(facts)
    return PrivateFacts(
        columns=tuple(each for each in found if each is not None),
        epsilon=epsilon,
        delta=delta if texts else Fraction(0),
        rows_per_unit=limit.rows_per_unit if limit is not None else None,
        reports=(*((limit.report,) if limit is not None else ()), *reports),
    )


# --------------------------------------------------------------------------- the contribution limit


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundLimit:
    """The best contribution limit, if one was found, and what the owner is told of it."""

    rows_per_unit: int | None
    report: str


def _limit(curator: Curator, table: str, epsilon: Fraction) -> FoundLimit | None:
    """Find the best limit; None if each row is a unit."""
    found = curator.catalog.table(table)
    if not isinstance(found, PrivateTable) or isinstance(found.unit, RowUnit):
        return None
    measured = curator.coverage(table, epsilon=epsilon, columns=())
    typical = curator.catalog.budget.epsilon * TYPICAL_PART
    best = measured.best_rows_per_unit(typical)
    if best is None:
        report = f"rows_per_unit: too few {measured.unit} values are visible above the noise"
        return FoundLimit(rows_per_unit=None, report=report)
    share = measured.rows_at(best)
    kept = "" if share is None else f", {share_text(share)} of rows"
    report = f"rows_per_unit: {best}{kept}, best for COUNT(*) at ε = {amount_up(typical)}"
    return FoundLimit(rows_per_unit=best, report=report)


# --------------------------------------------------------------------------- columns


NEEDED_BY_NUMBERS = 2
"""A magnitude must pass the threshold, and noise may take as much away."""


def shares_by_need(kinds: Sequence[Kind], delta: Fraction) -> list[Fraction]:
    """Return for each column its part of epsilon: so that all need the same number of units."""
    needs = [_units_needed(each, delta) for each in kinds]
    total = sum(needs)
    return [Fraction(each, total) for each in needs]


def _units_needed(kind: Kind, delta: Fraction) -> int:
    """Return how many units a value or a magnitude needs to be seen at epsilon = 1, all but surely.

    All of it is in proportion to 1 / epsilon.
    """
    if kind is Kind.TEXT:
        selection = PartitionSelection(epsilon=1, delta=delta, groups=1)
        return ceil(selection.smallest_seen(SURELY))
    noise = Geometric(epsilon=1, sensitivity=1)
    return ceil(NEEDED_BY_NUMBERS * threshold_for(noise, kind))


def _report(column: Column, found: Column | None, shares: Shares) -> str:
    """Return what was found of a column, and how much is missed at least."""
    needed = ceil(_units_needed(column.kind, shares.delta) / shares.epsilon)
    rare = f"what fewer than about {needed:,} units have may be missing"
    if found is None and column.kind is Kind.TEXT:
        return f"{column.name}: no list of at most {FEW} values; {rare}"
    if found is None:
        return f"{column.name}: nothing; {rare}"
    if found.values is not None:
        return f"{column.name}: {len(found.values)} values; {rare}"
    assert isinstance(found.bounds, Bounds)  # noqa: S101 - else it has values
    return f"{column.name}: {bounds_text(found.bounds, column.kind)}; {rare}"


def _chosen(
    curator: Curator, table: str, names: Collection[str] | None, delta: Fraction
) -> list[Column]:
    """Return the columns to query: those that are named, or all that are likely to be of use."""
    known = _columns(curator, table)
    if names is None:
        return [each for each in known if _is_queried(each, delta)]
    by_name = {each.name.casefold(): each for each in known}
    chosen = {}
    for name in names:
        column = by_name.get(name.casefold())
        if column is None:
            near = nearest_name(name, [each.name for each in known])
            raise ParameterError(
                "columns", name, "must be columns of the table" + (f", perhaps {near}" * bool(near))
            )
        if column.kind not in BINS and column.kind is not Kind.TEXT:
            rule = "must be columns of numbers, times or texts"
            raise ParameterError("columns", name, rule)
        if column.kind is Kind.TEXT and delta == 0:
            raise ParameterError("columns", name, "has texts, whose values need a delta")
        chosen[column.name] = column
    return list(chosen.values())


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
