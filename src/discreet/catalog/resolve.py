"""From a `discreet.toml` or Python values to a catalog: a declaration and the tables' schemas."""

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from shlex import quote

from discreet.catalog.by_month import ARRIVAL_FIX, by_month, with_months_per_unit
from discreet.catalog.catalog import BudgetPolicy, Catalog, column_of
from discreet.catalog.columns import ColumnDeclaration, UnitPath, resolve_column
from discreet.catalog.declaration import (
    Declaration,
    TableDeclaration,
    declaration_from,
    path_unit,
)
from discreet.catalog.entries import Location, lines_of, written_key
from discreet.catalog.schema import (
    Auto,
    Column,
    GroupsPerUnit,
    Kind,
    PathUnit,
    PrivateTable,
    PublicTable,
    RowUnit,
    Table,
    Unit,
)
from discreet.errors import CatalogError
from discreet.parameters import did_you_mean

ColumnsOf = Callable[[str], tuple[Column, ...]]
"""Returns the columns of a table by its name, from the schema of the database."""

DEFAULT_ROWS_PER_UNIT = 10


def read(path: str | Path) -> Declaration:
    """Read a `discreet.toml` and return its declaration. Opens that file only.

    Paths in it are relative to its folder.
    """
    file = Path(path)
    entries, location = _parsed(_text(file), str(path))
    return declaration_from(entries, folder=file.absolute().parent, location=location)


def load(path: str | Path, columns_of: ColumnsOf | None = None) -> Catalog:
    """Return the catalog of a `discreet.toml`. Without `columns_of`, it must declare all types."""
    return resolve(read(path), columns_of)


def catalog_from(
    entries: Mapping[str, object],
    columns_of: ColumnsOf | None = None,
    *,
    folder: str | Path | None = None,
) -> Catalog:
    """Return the catalog of the same entries as Python values."""
    where = None if folder is None else Path(folder).absolute()
    return resolve(declaration_from(entries, folder=where), columns_of)


# --------------------------------------------------------------------------- reading TOML


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        fix = "Name another file with --catalog, or create one with discreet init DATA"
        raise CatalogError(f"Catalog {file} not found", fix) from None
    except OSError as cause:
        fix = "Check that it is a file and that you may read it"
        raise CatalogError(f"Catalog {file} cannot be read", fix) from cause
    except UnicodeDecodeError as cause:
        line = cause.object[: cause.start].count(b"\n") + 1
        what = "The catalog is not UTF-8 text"
        raise CatalogError(what, "Save it as UTF-8", file=str(file), line=line) from None


def _parsed(text: str, file: str) -> tuple[dict[str, object], Location]:
    try:
        entries = tomllib.loads(text, parse_float=Decimal)
        return entries, Location(file=file, lines=lines_of(text))
    except tomllib.TOMLDecodeError as cause:
        raise _reworded(str(cause), text, file) from None
    except (ValueError, RecursionError, ArithmeticError) as cause:
        fix = "Write shorter numbers and fewer nested lists"
        raise CatalogError("A value of the catalog is too long", fix, file=file) from cause


def _reworded(message: str, text: str, file: str) -> CatalogError:
    """Return our error for a message of the TOML parser."""
    found = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", message)
    what, at = (message, None) if found is None else found.groups()
    line = text.rstrip().count("\n") + 1 if at is None else int(at)
    if re.search(r"\b(LOW|HIGH|FIRST|LAST)\b", text.split("\n")[line - 1].partition("#")[0]):
        what = "The bounds must be filled in"
        fix = "Write the lowest and the highest possible value: bounds = [0, 120]"
    elif what == "Cannot overwrite a value":
        what, fix = "This setting is declared twice", "Remove one of the two lines"
    else:
        what, fix = f"Invalid TOML: {what[:1].lower()}{what[1:]}", "Fix this line"
    return CatalogError(what, fix, file=file, line=line)


# --------------------------------------------------------------------------- tables and columns


def resolve(declaration: Declaration, columns_of: ColumnsOf | None = None) -> Catalog:
    """Combine a declaration with the tables' schemas.

    Without `columns_of`, every column must be declared with its type, and columns that are not
    declared do not exist.
    """
    tables = {each.name: _table(each, declaration, columns_of) for each in declaration.tables}
    for each in declaration.tables:
        _resolve_path_key(each, tables)
    tables = with_months_per_unit(tables, declaration.budget)
    return Catalog(
        budget=declaration.budget,
        tables=tuple(tables.values()),
        sources=declaration.sources,
        source=declaration.source,
        analysts=declaration.analysts,
        ledger=declaration.ledger,
        disjoint=declaration.disjoint,
        series=declaration.series,
    )


def _table(
    table: TableDeclaration, declaration: Declaration, columns_of: ColumnsOf | None
) -> Table:
    if columns_of is None:
        columns = _declared_alone(table)
    else:
        columns = _overlaid(table, columns_of(table.name))
    if table.unit is None:
        return _public(table, columns)
    if isinstance(table.unit, UnitPath):
        path = path_unit(table, table.unit, declaration.tables)
        return _private(table, path, columns, declaration.budget)
    return _private(table, table.unit, columns, declaration.budget)


def _declared_alone(table: TableDeclaration) -> tuple[Column, ...]:
    if not table.columns:
        fix = f"Add [{table.location}.columns] with the type of each column, or open the data"
        raise table.location.invalid("has no declared columns", fix)
    return tuple(_alone(each) for each in table.columns)


def _public(declared: TableDeclaration, columns: tuple[Column, ...]) -> PublicTable:
    for each in declared.columns:
        if isinstance(each.bounds, Auto):
            rule = 'cannot be "AUTO" in a public table: its bounds are not private'
            raise each.location.at("bounds").invalid(rule, "Remove it")
    key = _spelling(declared, "key", declared.key, columns)
    return PublicTable(name=declared.name, columns=columns, key=key)


def known_limit(declared: TableDeclaration) -> int | None:
    """Return the contribution limit as declared, or reject one that is yet to be found."""
    if not isinstance(declared.rows_per_unit, Auto):
        return declared.rows_per_unit
    raise declared.location.at("rows_per_unit").invalid(
        'is "auto", and opening the data spends nothing',
        f"Run discreet coverage {quote(declared.name)} --write: it finds the number privately and "
        "writes it here",
    )


def _private(
    declared: TableDeclaration, unit: Unit, columns: tuple[Column, ...], budget: BudgetPolicy
) -> PrivateTable:
    limit = known_limit(declared)
    is_row = isinstance(unit, RowUnit)
    own, arrival = _unit(declared, unit, columns), _arrival(declared, columns)
    dated = arrival if budget.per is not None else None
    return PrivateTable(
        name=declared.name,
        columns=columns,
        unit=own,
        rows_per_unit=1 if is_row else DEFAULT_ROWS_PER_UNIT if limit is None else limit,
        is_default_limit=limit is None and not is_row,
        key=_spelling(declared, "key", declared.key, columns),
        groups_per_unit=_groups_per_unit(declared, columns),
        arrival=arrival,
        by_month=by_month(declared, own, dated, columns),
    )


def _arrival(declared: TableDeclaration, columns: tuple[Column, ...]) -> str | None:
    """Return the column of arrival times as the schema spells it, or reject one without times."""
    name = _spelling(declared, "arrival", declared.arrival, columns)
    kind = next((each.kind for each in columns if each.name == name), None)
    if kind is not None and not kind.is_time:
        rule = f"is {declared.name}.{name}, which is {kind.value}, not a date or timestamp"
        raise declared.location.at("arrival").invalid(rule, ARRIVAL_FIX)
    return name


def _groups_per_unit(
    declared: TableDeclaration, columns: tuple[Column, ...]
) -> GroupsPerUnit | None:
    """Return the limit on groups, with columns as the schema spells them."""
    limits = declared.groups_per_unit
    if limits is None or isinstance(limits, int):
        return limits
    location = declared.location.at("groups_per_unit")
    found = [
        (_column(location, f"{location} names {name}, which", name, declared.name, columns), most)
        for name, most in limits
    ]
    names = [column.name for column, _ in found]
    for name in names:
        if names.count(name) > 1:
            raise location.invalid(f"names {name} twice", "Remove one of them")
    return tuple((column.name, most) for column, most in found)


def _alone(column: ColumnDeclaration) -> Column:
    if column.kind is None:
        fix = f'Add a type to {column.name}, for example type = "integer", or open the data'
        raise column.location.invalid("has no declared type", fix)
    return resolve_column(column, column.kind)


def _overlaid(table: TableDeclaration, found: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return the columns of the schema, with everything that is declared about them."""
    _check_case(table, found)
    by_name = {each.name.casefold(): each for each in table.columns}
    known = {each.name.casefold() for each in found}
    for name, column in by_name.items():
        if name not in known:
            rule = f"is not a column of {table.name}"
            fix = _near(column.name, found, otherwise="Remove it, or correct the name")
            raise column.location.invalid(rule, fix)
    return tuple(_over(by_name.get(each.name.casefold()), each) for each in found)


def _check_case(table: TableDeclaration, found: tuple[Column, ...]) -> None:
    seen: dict[str, str] = {}
    for each in found:
        if (other := seen.setdefault(each.name.casefold(), each.name)) != each.name:
            rule = f"has columns {other} and {each.name}, which differ only in letter case"
            raise table.location.invalid(rule, "Rename one of them in the data")


def _over(declared: ColumnDeclaration | None, found: Column) -> Column:
    if declared is None:
        return found
    if declared.kind is not None and declared.kind is not found.kind:
        rule = f'is "{declared.kind.value}", but the column is "{found.kind.value}"'
        fix = f'Write type = "{found.kind.value}", or remove type'
        raise declared.location.at("type").invalid(rule, fix)
    column = resolve_column(replace(declared, name=found.name), found.kind)
    return replace(column, is_rounded=found.is_rounded)


def _near(name: str, found: tuple[Column, ...], *, otherwise: str) -> str:
    return did_you_mean(name, [each.name for each in found], otherwise=otherwise)


# --------------------------------------------------------------------------- units and keys


def _spelling(
    table: TableDeclaration, setting: str, name: str | None, columns: tuple[Column, ...]
) -> str | None:
    """Return the name of a column as the schema spells it."""
    if name is None:
        return None
    location = table.location.at(setting)
    return _column(location, location.set_to(name), name, table.name, columns).name


def _column(
    location: Location, written: str, name: str, table: str, columns: tuple[Column, ...]
) -> Column:
    found = next((each for each in columns if each.name.casefold() == name.casefold()), None)
    if found is None:
        listed = ", ".join(each.name for each in columns[:8]) + (
            ", ..." if len(columns) > 8 else ""
        )
        fix = _near(name, columns, otherwise=f"Name a column of {table}: {listed}")
        raise location.error(f"{written} is not a column of {table}", fix)
    return found


def _unit(table: TableDeclaration, unit: Unit, columns: tuple[Column, ...]) -> Unit:
    if isinstance(unit, RowUnit):
        return unit
    column = _identifier(table.location.at("unit"), unit, unit.column, table.name, columns)
    return replace(unit, column=column.name)


def _identifier(
    location: Location, unit: Unit, name: str, table: str, columns: tuple[Column, ...]
) -> Column:
    """Return a column that identifies units or rows, or reject it."""
    is_path = isinstance(unit, PathUnit)
    written = f"{location} names {name}, which" if is_path else location.set_to(name)
    column = _column(location, written, name, table, columns)
    if column.kind is Kind.OTHER or column.is_rounded:
        rule = f"uses {table}.{column.name}, whose values cannot be compared reliably"
        text = f'{written_key(column.name)} = {{ type = "text" }}'
        fix = (
            "Use a column of whole numbers, text or dates. "
            f"If the table is a CSV file, you can write {text}"
        )
        raise location.invalid(rule, fix)
    return column


def _resolve_path_key(declared: TableDeclaration, tables: dict[str, Table]) -> None:
    """Spell the key of a path as its table does, and reject columns of different types."""
    table = tables[declared.name]
    if not isinstance(table, PrivateTable) or not isinstance(table.unit, PathUnit):
        return
    location, unit = declared.location.at("unit"), table.unit
    key = _identifier(location, unit, unit.key, unit.table, tables[unit.table].columns)
    here = column_of(table, unit.column)
    if here is not None and here.kind is not key.kind:
        rule = (
            f"compares {declared.name}.{here.name}, which is {here.kind.value}, with "
            f"{unit.table}.{key.name}, which is {key.kind.value}"
        )
        raise location.invalid(rule, "Give both columns the same type in the data")
    tables[declared.name] = replace(table, unit=replace(unit, key=key.name))
