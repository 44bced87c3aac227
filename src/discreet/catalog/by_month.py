"""A budget per month: which tables are counted by the month in which their rows arrived."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from discreet.catalog.catalog import BudgetPolicy, Catalog, Per
from discreet.catalog.columns import UnitDeclaration, UnitPath
from discreet.catalog.entries import Location, check_choice, check_integer
from discreet.catalog.schema import (
    ByMonth,
    Column,
    ColumnUnit,
    Kind,
    PrivateTable,
    Table,
    Unit,
)
from discreet.mechanisms.sensitivity import ADD_REMOVE, Neighbours

MOST_MONTHS = 12 * 9999
MONTHS_FIX = "Write the most months of a unit that are counted, for example months_per_unit = 12"
ARRIVAL_FIX = "Name the column that says when a row came into the table"


class TableInCatalog(Protocol):
    """What is read of a table as it is declared."""

    @property
    def name(self) -> str: ...
    @property
    def location(self) -> Location: ...
    @property
    def unit(self) -> UnitDeclaration | None: ...
    @property
    def arrival(self) -> str | None: ...


def per_from(
    location: Location, given: Mapping[str, object], neighbours: Neighbours
) -> tuple[Per | None, int | None]:
    """Return whether the budget is per month, and the most months of a unit that are counted."""
    value, most = given.get("per"), given.get("months_per_unit")
    if value is None:
        if most is not None:
            rule = 'cannot be given without per = "month"'
            raise location.at("months_per_unit").invalid(rule, 'Add per = "month", or remove it')
        return None, None
    per = check_choice(location.at("per"), value, Per)
    if neighbours is not ADD_REMOVE:
        rule = (
            "needs add-remove neighbours: with replace, a unit's rows may move from one month to "
            "another, so queries about both months affect them"
        )
        fix = 'Remove it, or write neighbours = "add-remove"'
        raise location.at("per").invalid(rule, fix)
    if most is None:
        return per, None
    at = location.at("months_per_unit")
    return per, check_integer(at, most, 1, MOST_MONTHS, MONTHS_FIX)


def check_months(
    location: Location, tables: Sequence[TableInCatalog], beside: Collection[str]
) -> None:
    """Reject tables whose rows cannot be counted by month, and sections that a month rules out.

    A series is about all rows of a unit, whatever month they arrived in.
    """
    dated = {each.name.casefold(): each for each in tables if each.arrival is not None}
    if not dated:
        raise location.invalid(
            "needs a table with an arrival column, and no table has one",
            'Add arrival = "COLUMN" to a private table, or remove per',
        )
    for section in sorted(beside):
        rule = f"cannot be used together with [[{section}]]"
        raise location.invalid(rule, "Remove one of them")
    for each in tables:
        if isinstance(each.unit, UnitPath):
            _check_path(each, each.unit, dated)


def _check_path(table: TableInCatalog, path: UnitPath, dated: Mapping[str, TableInCatalog]) -> None:
    at = table.location.at("unit")
    fix = f"Store the unit in {table.name} itself, or remove arrival"
    if table.name.casefold() in dated:
        rule = "is a path, and a table with an arrival column must have its unit in a column"
        raise at.invalid(f'{rule} if per = "month"', fix)
    # Each table on the way is a table of the catalog with a path of its own, which is checked too.
    if path.table.casefold() in dated:
        rule = f"leads to {path.table}, which has an arrival column"
        raise at.invalid(f'{rule}: that is not possible if per = "month"', fix)


def by_month(
    declared: TableInCatalog, unit: Unit, arrival: str | None, columns: tuple[Column, ...]
) -> ByMonth | None:
    """Return how rows of a table are counted by month, if they arrive; reject other units."""
    if arrival is None:
        return None
    if isinstance(unit, ColumnUnit):
        kind = next(each.kind for each in columns if each.name == unit.column)
        if kind not in (Kind.INTEGER, Kind.TEXT):
            rule = f'is {unit.column}, which is {kind.value}: with per = "month" it must be '
            raise declared.location.at("unit").invalid(
                f"{rule}an integer or text", "Store it as an integer or as text"
            )
    return ByMonth(column=arrival)


def with_months_per_unit(tables: Mapping[str, Table], budget: BudgetPolicy) -> dict[str, Table]:
    """Return the tables with the most months of a unit that are used, in each and in all."""
    most = budget.months_per_unit
    private = [each for each in tables.values() if isinstance(each, PrivateTable)]
    dated = sum(each.by_month is not None for each in private)
    in_all = None if most is None else most * dated
    return {
        name: replace(each, by_month=replace(each.by_month, most=most, in_all=in_all))
        if isinstance(each, PrivateTable) and each.by_month is not None
        else each
        for name, each in tables.items()
    }


def months_in_all(catalog: Catalog, known: Mapping[str, str]) -> int | None:
    """Return the most months of one unit that are used, over all tables that there ever were.

    `known` are the arrival columns that a ledger has. One that is only read may not know the
    catalog's newest tables yet.
    """
    private = (each for each in catalog.tables if isinstance(each, PrivateTable))
    dated = {each.name.casefold() for each in private if each.by_month is not None}
    dated |= {name for name, arrival in known.items() if arrival}
    most = catalog.budget.months_per_unit
    return None if most is None else most * len(dated)


def dated_tables(tables: Iterable[TableInCatalog]) -> dict[str, str]:
    """Return for each private table the column of arrival times, or nothing, in small letters."""
    return {
        each.name.casefold(): (each.arrival or "").casefold()
        for each in tables
        if each.unit is not None
    }
