"""Synthetic tables from a catalog alone, and a curator over them: to try queries for free.

Everything follows from what the owner declared, which is public, and from public tables. Private
tables are not among the arguments, so nothing of them can be in the rows. Values are pure functions
of the declarations and a row's number. They are not noise: they hide nothing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import blake2b
from typing import Any

import pyarrow as pa

from discreet.catalog.catalog import BudgetPolicy, Catalog, budget_from
from discreet.catalog.schema import (
    Bounds,
    Column,
    ColumnUnit,
    Kind,
    PathUnit,
    PrivateTable,
    PublicTable,
    Value,
    time_from_number,
)
from discreet.curator import Curator
from discreet.engines.base import ResourceLimits
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.public_store import PublicStore
from discreet.ledger import PerMonth, SqliteLedger
from discreet.opening.open import MEMORY, prepared_in
from discreet.tables import ARROW_TYPES

UNITS = 2_000
"""Privacy units of every synthetic table."""

MOST_ROWS_OF_A_UNIT = 6

MOST_VALUES = 120_000
"""Values of one table, so that it is made in a second: wide tables have fewer rows."""

TEXTS = 12
"""Different texts of a column without declared values: the first are the most frequent."""

AMPLE = Fraction(10**6)
"""The ε of a budget that no query uses up."""

LIMITS = ResourceLimits(timeout=20, memory="1GB", threads=1)

USUAL: Mapping[Kind, tuple[int, int]] = {
    Kind.INTEGER: (0, 100),
    Kind.REAL: (0, 100),
    Kind.DATE: (19_723, 20_088),  # the days of 2024
    Kind.TIMESTAMP: (1_704_067_200_000_000, 1_735_689_599_999_999),
    Kind.TIMESTAMP_TZ: (1_704_067_200_000_000, 1_735_689_599_999_999),
}
"""Bounds of columns without declared ones: days and microseconds of a year, or 0 to 100."""

LARGEST = 2**62

NULL_SHARE = 0.04
"""Of columns that are declared to have NULLs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticData:
    """Synthetic tables, and an engine that holds them and public ones."""

    catalog: Catalog
    tables: Mapping[str, pa.Table]
    """Public tables are as they are."""
    engine: DuckDbEngine
    public: PublicStore

    def curator(self) -> Curator:
        """Return a curator with a new ledger in memory, whose budget no query uses up.

        Close its ledger, not the curator: the engine is shared.
        """
        policy = self.catalog.budget
        ledger = SqliteLedger(
            MEMORY,
            budget=budget_from(policy),
            neighbours=policy.neighbours.value,
            disjoint=self.catalog.disjoint,
            per_month=_per_month(self.catalog),
        )
        return Curator(catalog=self.catalog, engine=self.engine, public=self.public, ledger=ledger)

    def close(self) -> None:
        """Give back the engine."""
        self.engine.close()


def synthetic_data(catalog: Catalog, public: Mapping[str, pa.Table]) -> SyntheticData:
    """Return synthetic tables for the private ones of a catalog, beside its public tables."""
    plain = replace(
        catalog,
        budget=_ample(catalog.budget),
        tables=tuple(map(_plain, catalog.tables)),
        sources={},
        analysts=(),
        ledger=None,
    )
    tables = synthetic_tables_of(plain, public)
    engine = DuckDbEngine.load(tables, limits=LIMITS)
    try:
        return SyntheticData(
            catalog=prepared_in(plain, engine),
            tables=tables,
            engine=engine,
            public=PublicStore(public),
        )
    except BaseException:
        engine.close()
        raise


def _per_month(catalog: Catalog) -> PerMonth | None:
    if catalog.budget.per is None:
        return None
    private = (each for each in catalog.tables if isinstance(each, PrivateTable))
    tables = {each.name.casefold(): each.arrival or "" for each in private}
    return PerMonth(tables=tables, most=catalog.budget.months_per_unit)


def _plain(table: PrivateTable | PublicTable) -> PrivateTable | PublicTable:
    if isinstance(table, PrivateTable):
        return replace(table, is_prepared=False)
    return replace(table, may_change=False)


def _ample(policy: BudgetPolicy) -> BudgetPolicy:
    """Return a budget that lasts; each query has the terms that it would have."""
    return replace(
        policy,
        epsilon=max(policy.epsilon, AMPLE),
        delta=policy.delta and max(policy.delta, Fraction(1, 2)),
        question_delta=policy.delta_per_question if policy.delta else None,
        least_epsilon=policy.least_per_question,
    )


# --------------------------------------------------------------------------- tables


def synthetic_tables_of(catalog: Catalog, public: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """Return all tables of a catalog: private ones from declarations, public ones as given."""
    maker = _Maker(catalog, public)
    return {
        each.name: maker.table(each) if isinstance(each, PrivateTable) else public[each.name]
        for each in catalog.tables
    }


class _Maker:
    """Makes tables whose keys fit together: units, paths to them, and keys of public tables."""

    def __init__(self, catalog: Catalog, public: Mapping[str, pa.Table]) -> None:
        self._catalog, self._seed = catalog, _seed(catalog)
        self._made: dict[str, pa.Table] = {}
        self._referred: dict[str, Sequence[Value]] = {
            each.key.casefold(): _values_of(public[each.name], each.key)
            for each in catalog.tables
            if isinstance(each, PublicTable) and each.key is not None
        }

    def table(self, table: PrivateTable) -> pa.Table:
        if table.name not in self._made:
            units = self._units(table)
            columns = {each.name: self._column(table, each, units) for each in table.columns}
            self._made[table.name] = pa.table(columns)
        return self._made[table.name]

    def _units(self, table: PrivateTable) -> list[int]:
        """Return the number of each row's unit, or of its row in the table that leads to it."""
        most = 1 if _is_single(table) else min(table.rows_per_unit, MOST_ROWS_OF_A_UNIT)
        parents = UNITS
        if isinstance(table.unit, PathUnit):
            parents = self.table(self._parent(table.unit)).num_rows
        rows = [
            unit
            for unit in range(parents)
            for _ in range(1 + int(most * self._share(table.name, "rows", unit) ** 2))
        ]
        return sorted(
            rows[: _most_rows(table)], key=lambda unit: self._share(table.name, "order", unit)
        )

    def _parent(self, unit: PathUnit) -> PrivateTable:
        found = self._catalog.table(unit.table)
        assert isinstance(found, PrivateTable)  # noqa: S101 - checked when the catalog was made
        return found

    def _column(self, table: PrivateTable, column: Column, units: Sequence[int]) -> Any:
        values = list(self._values(table, column, units))
        kind = ARROW_TYPES.get(column.kind, pa.list_(pa.int64()))
        return pa.array(values, kind)

    def _values(
        self, table: PrivateTable, column: Column, units: Sequence[int]
    ) -> Iterator[Value | list[int]]:
        match table.unit:
            case ColumnUnit(column=name) if _is(column, name):
                yield from (_key(column, unit) for unit in units)
            case PathUnit(column=name, key=key) as path if _is(column, name):
                keys = _values_of(self.table(self._parent(path)), key)
                yield from (keys[unit] for unit in units)
            case _ if table.key is not None and _is(column, table.key):
                yield from (_key(column, row) for row in range(len(units)))
            case _:
                made = self._value_of(table, column)
                yield from (made(row) for row in range(len(units)))

    def _value_of(self, table: PrivateTable, column: Column) -> Callable[[int], Value | list[int]]:
        """Return what makes the value of a row."""
        choices = self._choices(column)

        def share(row: int, draw: int = 0) -> float:
            return self._share(table.name, column.name, row, draw)

        def value(row: int) -> Value | list[int]:
            if column.nulls and share(row, 9) < NULL_SHARE:
                return None
            if choices:
                return choices[int(len(choices) * share(row) ** 1.5)]
            if column.kind is Kind.BOOLEAN:
                return share(row) < 0.3
            if column.kind not in USUAL:
                return [row % 3]
            return _between(column, (share(row) + share(row, 1)) / 2)

        return value

    def _choices(self, column: Column) -> Sequence[Value]:
        """Return the values that a column has: declared, of a public key, or texts."""
        if column.values:
            return column.values
        found = self._referred.get(column.name.casefold())
        if found:
            return found
        if column.kind is Kind.TEXT:
            return [f"{column.name} {number + 1}" for number in range(TEXTS)]
        return ()

    def _share(self, *parts: object) -> float:
        """Return a number from 0 to 1 that looks random and follows from the parts alone."""
        text = "\0".join(map(str, (self._seed, *parts)))
        return int.from_bytes(blake2b(text.encode(), digest_size=6).digest()) / 2**48


def _seed(catalog: Catalog) -> str:
    """Return what stands for the declarations of all columns."""
    told = [
        (table.name, each.name, each.kind.value, repr(each.bounds), repr(each.values))
        for table in catalog.tables
        for each in table.columns
    ]
    return blake2b(repr(told).encode(), digest_size=16).hexdigest()


def _most_rows(table: PrivateTable) -> int:
    return min(4 * UNITS, max(1, MOST_VALUES // len(table.columns)))


def _is(column: Column, name: str) -> bool:
    return column.name.casefold() == name.casefold()


def _is_single(table: PrivateTable) -> bool:
    """Return whether a unit has one row: by its limit, or because its key is the unit."""
    unit = table.unit.column if isinstance(table.unit, ColumnUnit) else None
    return table.rows_per_unit == 1 or (unit is not None and unit == table.key)


def _values_of(table: pa.Table, column: str) -> list[Any]:
    names = {each.casefold(): each for each in table.column_names}
    return table.column(names[column.casefold()]).to_pylist()


def _key(column: Column, number: int) -> Value | list[int]:
    """Return a value that stands for a number alone, as far as its kind has so many."""
    if column.values:
        return column.values[number % len(column.values)]
    if column.kind is Kind.TEXT:
        return f"{column.name} {number + 1}"
    if column.kind is Kind.BOOLEAN:
        return number % 2 == 0
    if column.kind not in USUAL:
        return [number]
    low = column.bounds.low if isinstance(column.bounds, Bounds) else Fraction(1)
    return _of_kind(column, _in_reach(low).__ceil__() + number)


def _between(column: Column, share: float) -> Value:
    """Return the value at a share of the way from the lower bound to the upper one."""
    low, high = _ends(column)
    step = column.step or Fraction(1 if column.kind is not Kind.REAL else "0.01")
    steps = (high - low) // step
    return _of_kind(column, low + step * int(share * (steps + 1)))


def _ends(column: Column) -> tuple[Fraction, Fraction]:
    if not isinstance(column.bounds, Bounds):
        low, high = USUAL[column.kind]
        return Fraction(low), Fraction(high)
    return _in_reach(column.bounds.low), _in_reach(column.bounds.high)


def _in_reach(number: Fraction) -> Fraction:
    """Return the nearest number whose neighbours are integers of 64 bits."""
    return max(-Fraction(LARGEST), min(Fraction(LARGEST), number))


def _of_kind(column: Column, number: Fraction | int) -> Value:
    if column.kind.is_time:
        return time_from_number(Fraction(number), column.kind)
    return float(number) if column.kind is Kind.REAL else int(number)
