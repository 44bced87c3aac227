"""A declared catalog made whole by what the tables' own schemas say."""

from collections.abc import Callable
from dataclasses import replace

from discreet.catalog.columns import DeclaredColumn, settled
from discreet.catalog.declared import Declared, DeclaredTable, path_unit
from discreet.catalog.fields import meant
from discreet.catalog.places import Place, written_key
from discreet.catalog.policy import Catalog, column_of, nearest
from discreet.catalog.schema import (
    Auto,
    Column,
    Kind,
    PathUnit,
    PrivateTable,
    PublicTable,
    RowUnit,
    Table,
    Unit,
)
from discreet.catalog.units import UnitPath

ColumnsOf = Callable[[str], tuple[Column, ...]]
"""The columns of a table by its name, as an engine's schema has them."""

DEFAULT_ROWS_PER_UNIT = 10


def complete(declared: Declared, columns_of: ColumnsOf | None = None) -> Catalog:
    """Return the catalog, declared facts laid over the kinds that each table's schema has.

    Without `columns_of`, every column must be declared with
    its type, and columns that are not declared do not exist.
    """
    tables = {each.name: _table(each, declared, columns_of) for each in declared.tables}
    for each in declared.tables:
        _spell_far_end(each, tables)
    return Catalog(
        budget=declared.budget,
        tables=tuple(tables.values()),
        sources=declared.sources,
        source=declared.source,
        analysts=declared.analysts,
        ledger=declared.ledger,
        disjoint=declared.disjoint,
    )


def _table(table: DeclaredTable, declared: Declared, columns_of: ColumnsOf | None) -> Table:
    if columns_of is None:
        columns = _declared_alone(table)
    else:
        columns = _overlaid(table, columns_of(table.name))
    if table.unit is None:
        return _public(table, columns)
    if isinstance(table.unit, UnitPath):
        return _private(table, path_unit(table, table.unit, declared.tables), columns)
    return _private(table, table.unit, columns)


def _declared_alone(table: DeclaredTable) -> tuple[Column, ...]:
    if not table.columns:
        fix = f"add [{table.place}.columns] with a type for each, or open the data"
        raise table.place.refused("has no columns, and no data are at hand to tell", fix)
    return tuple(_alone(each) for each in table.columns)


def _public(declared: DeclaredTable, columns: tuple[Column, ...]) -> PublicTable:
    for each in declared.columns:
        if isinstance(each.bounds, Auto):
            rule = 'cannot be "AUTO" in a public table, where there is nothing to hide'
            raise each.place.at("bounds").refused(rule, "leave it out")
    key = _spelt(declared.place.at("key"), declared.key, columns)
    return PublicTable(name=declared.name, columns=columns, key=key)


def _private(declared: DeclaredTable, unit: Unit, columns: tuple[Column, ...]) -> PrivateTable:
    limit = declared.rows_per_unit
    is_row = isinstance(unit, RowUnit)
    return PrivateTable(
        name=declared.name,
        columns=columns,
        unit=_unit(declared.place.at("unit"), unit, columns),
        rows_per_unit=1 if is_row else DEFAULT_ROWS_PER_UNIT if limit is None else limit,
        is_default_limit=limit is None and not is_row,
        key=_spelt(declared.place.at("key"), declared.key, columns),
    )


def _alone(column: DeclaredColumn) -> Column:
    if column.kind is None:
        fix = f'add type = "integer", say, to {column.name}, or open the data'
        raise column.place.refused("has no type, and no data are at hand to tell", fix)
    return settled(column, column.kind)


def _overlaid(table: DeclaredTable, found: tuple[Column, ...]) -> tuple[Column, ...]:
    _check_case(table, found)
    by_name = {each.name.casefold(): each for each in table.columns}
    known = {each.name.casefold() for each in found}
    for name, column in by_name.items():
        if name not in known:
            raise column.place.refused(f"is no column of {table.name!r}", _near(column.name, found))
    return tuple(_over(by_name.get(each.name.casefold()), each) for each in found)


def _check_case(table: DeclaredTable, found: tuple[Column, ...]) -> None:
    seen: dict[str, str] = {}
    for each in found:
        if seen.setdefault(each.name.casefold(), each.name) != each.name:
            rule = f"has columns that differ only by letter case, as {each.name!r} does"
            raise table.place.refused(rule, "rename one of them in the data")


def _over(declared: DeclaredColumn | None, found: Column) -> Column:
    if declared is None:
        return found
    if declared.kind is not None and declared.kind is not found.kind:
        rule = f'is "{declared.kind.value}", but the column is "{found.kind.value}"'
        fix = f'write type = "{found.kind.value}", or leave it out'
        raise declared.place.at("type").refused(rule, fix)
    column = settled(replace(declared, name=found.name), found.kind)
    return replace(column, is_rounded=found.is_rounded)


def _near(name: str, found: tuple[Column, ...]) -> str:
    near = nearest(name, [each.name for each in found])
    return "leave it out" if near is None else meant(near)


# --------------------------------------------------------------------------- units and keys


def _spelt(place: Place, name: str | None, columns: tuple[Column, ...]) -> str | None:
    return None if name is None else _column(place, name, columns).name


def _column(place: Place, name: str, columns: tuple[Column, ...]) -> Column:
    found = next((each for each in columns if each.name.casefold() == name.casefold()), None)
    if found is None:
        raise place.refused(f"names {name!r}, which is no column there", _near(name, columns))
    return found


def _unit(place: Place, unit: Unit, columns: tuple[Column, ...]) -> Unit:
    if isinstance(unit, RowUnit):
        return unit
    return replace(unit, column=_telling_apart(place, unit.column, columns).name)


def _telling_apart(place: Place, name: str, columns: tuple[Column, ...]) -> Column:
    """Return a column by whose values units or rows are told apart, or refuse it."""
    column = _column(place, name, columns)
    if column.kind is Kind.OTHER or column.is_rounded:
        rule = f"names {column.name!r}, whose values cannot be told apart reliably"
        text = f'{written_key(column.name)} = {{ type = "text" }}'
        fix = (
            f"name a column of whole numbers, text or dates, or write {text} if it is a CSV file's"
        )
        raise place.refused(rule, fix)
    return column


def _spell_far_end(declared: DeclaredTable, tables: dict[str, Table]) -> None:
    """Spell the far end of a path as its table does, and refuse ends of different kinds."""
    table = tables[declared.name]
    if not isinstance(table, PrivateTable) or not isinstance(table.unit, PathUnit):
        return
    place, unit = declared.place.at("unit"), table.unit
    key = _telling_apart(place, unit.key, tables[unit.table].columns)
    here = column_of(table, unit.column)
    if key.kind is Kind.OTHER or key.is_rounded:
        rule = (
            f"leads to {key.name!r} of {unit.table!r}, whose values cannot be told apart reliably"
        )
        raise place.refused(rule, "name a key of whole numbers, text or dates")
    if here is not None and here.kind is not key.kind:
        rule = (
            f"compares {here.name!r}, which is {here.kind.value}, with {key.name!r} of "
            f"{unit.table!r}, which is {key.kind.value}"
        )
        raise place.refused(rule, "give both columns the same type in the data")
    tables[declared.name] = replace(table, unit=replace(unit, key=key.name))
