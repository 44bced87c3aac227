"""A catalog as the owner declared it, checked as far as possible without the tables' schemas."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import TypeVar

from discreet.catalog.analysts import analysts_from, check_delta, check_epsilon
from discreet.catalog.by_month import ARRIVAL_FIX, check_months, per_from
from discreet.catalog.catalog import Accounting, AnalystPolicy, BudgetPolicy, SourcePolicy, Suspends
from discreet.catalog.columns import (
    PATH_FIX,
    UNIT_FIX,
    UNITS,
    ColumnDeclaration,
    UnitDeclaration,
    UnitPath,
    column_declaration,
    unit_from,
)
from discreet.catalog.entries import (
    Location,
    check_choice,
    check_flag,
    check_integer,
    check_list,
    check_number,
    check_section,
    check_text,
    named_entries,
    value_text,
)
from discreet.catalog.schema import AUTO, Auto, ColumnUnit, GroupsPerUnit, PathUnit, RowUnit
from discreet.catalog.series import SeriesPolicy
from discreet.catalog.series_entries import series_from
from discreet.catalog.sources import EMBEDDED, beside, file_path, is_spark, source_policy
from discreet.deprecated import Renamed
from discreet.mechanisms.sensitivity import ADD_REMOVE, Neighbours
from discreet.parameters import did_you_mean

SECTIONS = ("budget", "source", "tables", "disjoint", "series", "analysts")
BUDGET = (
    "epsilon",
    "delta",
    "neighbours",
    "accounting",
    "question_delta",
    "least_epsilon",
    "incident_suspends",
    "per",
    "months_per_unit",
)
TABLE = ("from", "unit", "rows_per_unit", "groups_per_unit", "arrival", "public", "key", "columns")
UNIT_SETTINGS = ("unit", "rows_per_unit", "groups_per_unit", "arrival")

MOST_ROWS_PER_UNIT = 10**9

Choice = TypeVar("Choice", bound=Enum)

Groups = tuple[tuple[str, ...], ...]
"""Names of tables, by group. No unit has rows in two tables of a group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDeclaration:
    """A table as declared. Without a unit, it is public."""

    name: str
    location: Location
    unit: UnitDeclaration | None
    rows_per_unit: int | Auto | None
    groups_per_unit: GroupsPerUnit | None = None
    arrival: str | None = None
    key: str | None
    columns: tuple[ColumnDeclaration, ...]
    source: str | None

    place = Renamed("location")


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """A catalog as declared. `resolve` combines it with the tables' schemas."""

    budget: BudgetPolicy
    source: SourcePolicy
    tables: tuple[TableDeclaration, ...]
    analysts: tuple[AnalystPolicy, ...] = ()
    ledger: str | None = None
    disjoint: Groups = ()
    series: tuple[SeriesPolicy, ...] = ()

    @property
    def sources(self) -> dict[str, str]:
        """Where each table is read from, if declared."""
        return {each.name: each.source for each in self.tables if each.source is not None}


def declaration_from(
    entries: Mapping[str, object], *, folder: Path | None = None, location: Location | None = None
) -> Declaration:
    """Check the entries of a catalog and return its declaration.

    Paths of files are relative to `folder`; without a folder they are left unchanged.
    """
    top = Location() if location is None else location
    given = check_section(top, entries, SECTIONS)
    budget = _budget(top.at("budget"), _needed(top, given, "budget"))
    source, ledger = source_policy(top.at("source"), given.get("source", {}), folder)
    at = folder if source.engine == EMBEDDED else None
    tables = _tables(top.at("tables"), _needed(top, given, "tables"), at)
    if is_spark(source.engine):
        tables = tuple(replace(each, source=beside(each.source, folder)) for each in tables)
    apart = top.at("disjoint"), given.get("disjoint", ())
    if budget.per is not None:
        apart_from = {each for each in ("disjoint", "series") if given.get(each)}
        check_months(top.at("budget", "per"), tables, apart_from)
    return Declaration(
        budget=budget,
        source=source,
        tables=tables,
        analysts=analysts_from(top.at("analysts"), given.get("analysts", {})),
        ledger=ledger,
        disjoint=disjoint_groups(*apart, tables, budget.neighbours),
        series=series_from(top.at("series"), given.get("series", ())),
    )


NEEDED = {
    "budget": "[budget] with epsilon = 1.0",
    "tables": 'a section such as [tables.visits] with unit = "patient_id"',
}


def _needed(top: Location, given: Mapping[str, object], name: str) -> object:
    if name not in given:
        raise top.error(f"The section [{name}] is missing", f"Add {NEEDED[name]}")
    return given[name]


# --------------------------------------------------------------------------- budget


def _budget(location: Location, value: object) -> BudgetPolicy:
    given = check_section(location, value, BUDGET)
    epsilon = check_epsilon(location, given)
    delta = check_delta(location.at("delta"), given.get("delta", 0))
    accounting = _choice(location, given, "accounting", Accounting.BASIC)
    if accounting is Accounting.CONCENTRATED and delta == 0:
        fix = 'Add delta = 1e-6, or write accounting = "basic"'
        raise location.at("accounting").invalid('= "concentrated" needs a delta', fix)
    neighbours = _choice(location, given, "neighbours", Neighbours.ADD_REMOVE)
    per, months = per_from(location, given, neighbours)
    return BudgetPolicy(
        epsilon=epsilon,
        delta=delta,
        neighbours=neighbours,
        accounting=accounting,
        question_delta=_part(location, given, "question_delta", ("delta", delta), "a hundredth"),
        least_epsilon=_part(location, given, "least_epsilon", ("epsilon", epsilon), "a millionth"),
        incident_suspends=_choice(location, given, "incident_suspends", Suspends.ACCOUNT),
        per=per,
        months_per_unit=months,
    )


def _choice(location: Location, given: Mapping[str, object], key: str, default: Choice) -> Choice:
    return check_choice(location.at(key), given.get(key, default), type(default))


def _part(
    location: Location,
    given: Mapping[str, object],
    name: str,
    whole: tuple[str, Fraction],
    usual: str,
) -> Fraction | None:
    """Return a setting that is a share of an amount; None if it is not declared."""
    if name not in given:
        return None
    of, most = whole
    fix = f"Write a small part of {of}, or remove it to use {usual} of {of}"
    own = check_number(location.at(name), given[name], fix)
    if not 0 < own <= most:
        raise location.at(name).invalid(
            f"must be greater than 0 and at most {of}, not {value_text(own)}", fix
        )
    return own


# --------------------------------------------------------------------------- tables


def _tables(location: Location, value: object, folder: Path | None) -> tuple[TableDeclaration, ...]:
    entries = named_entries(location, value, "table")
    if not entries:
        raise location.error("The catalog has no table", f"Add {NEEDED['tables']}")
    tables = [_table(location.at(name), name, entry, folder) for name, entry in entries.items()]
    for each in tables:
        _check_path(each, tables)
    return tuple(tables)


def _table(location: Location, name: str, value: object, folder: Path | None) -> TableDeclaration:
    given = check_section(location, value, TABLE)
    if re.fullmatch(r"released_[0-9]+", name.casefold()):
        raise location.invalid(
            "is a name that Discreet uses for its own tables", "Rename the table"
        )
    is_public = check_flag(location.at("public"), given.get("public", False))
    unit = _unit(location, given, is_public=is_public)
    columns = named_entries(location.at("columns"), given.get("columns", {}), "column")
    return TableDeclaration(
        name=name,
        location=location,
        unit=unit,
        rows_per_unit=_rows_per_unit(location.at("rows_per_unit"), given, unit),
        groups_per_unit=_groups_per_unit(location.at("groups_per_unit"), given, unit),
        arrival=_named(location.at("arrival"), given.get("arrival"), ARRIVAL_FIX),
        key=_named(location.at("key"), given.get("key"), "Name the column that identifies a row"),
        columns=tuple(
            column_declaration(location.at("columns", column), column, entry)
            for column, entry in columns.items()
        ),
        source=file_path(location.at("from"), given.get("from"), folder),
    )


def _unit(
    location: Location, given: Mapping[str, object], *, is_public: bool
) -> UnitDeclaration | None:
    if is_public:
        for key in (each for each in UNIT_SETTINGS if each in given):
            rule = "cannot be given for a public table"
            fix = f"Remove {key}, or remove public = true if the table needs protection"
            raise location.at(key).invalid(rule, fix)
        return None
    if "unit" not in given:
        raise location.at("unit").error(f"{location} has no unit", f"Add {UNITS}")
    return unit_from(location.at("unit"), given["unit"])


def _rows_per_unit(
    location: Location, given: Mapping[str, object], unit: UnitDeclaration | None
) -> int | Auto | None:
    if "rows_per_unit" not in given:
        return None
    fix = "Write the most rows per unit that are used, for example rows_per_unit = 10"
    most = 1 if isinstance(unit, RowUnit) else MOST_ROWS_PER_UNIT
    if most == 1 and given["rows_per_unit"] != 1:
        raise location.invalid('must be 1 with unit = "row"', "Remove it")
    limit = given["rows_per_unit"]
    if limit is AUTO or (isinstance(limit, str) and limit.casefold() == AUTO.value):
        return AUTO
    return check_integer(location, limit, 1, most, fix)


GROUPS_FIX = (
    "Write the most groups that a unit is counted in, for example groups_per_unit = 3, or one "
    "limit for each column: groups_per_unit = { carrier = 1 }"
)


def _groups_per_unit(
    location: Location, given: Mapping[str, object], unit: UnitDeclaration | None
) -> GroupsPerUnit | None:
    value = given.get("groups_per_unit")
    if value is None:
        return None
    if isinstance(unit, RowUnit):
        raise location.invalid('cannot be given with unit = "row"', "Remove it")
    if not isinstance(value, Mapping):
        return check_integer(location, value, 1, MOST_ROWS_PER_UNIT, GROUPS_FIX)
    if not value:
        raise location.invalid("must name at least one column", GROUPS_FIX)
    return tuple(
        (name, check_integer(location.at(name), most, 1, MOST_ROWS_PER_UNIT, GROUPS_FIX))
        for name, most in value.items()
    )


def _named(location: Location, value: object, fix: str) -> str | None:
    """Return the name of a column, if one is declared."""
    return None if value is None else check_text(location, value, fix)


# --------------------------------------------------------------------------- paths to the unit


def path_unit(
    table: TableDeclaration, path: UnitPath, tables: Iterable[TableDeclaration]
) -> PathUnit:
    """Return a declared path with both of its columns: here, and in the table it leads to."""
    parent = _parent(table, path, tables)
    column = path.via or parent.key
    if column is None:
        fix = f'Add "via COLUMN" to the unit, or declare key = "COLUMN" for {parent.name}'
        rule = f"does not name the column that refers to {parent.name}"
        raise table.location.at("unit").invalid(rule, fix)
    return PathUnit(column=column, table=parent.name, key=parent.key or column)


def _parent(
    table: TableDeclaration, path: UnitPath, tables: Iterable[TableDeclaration]
) -> TableDeclaration:
    location = table.location.at("unit")
    by_name = {each.name.casefold(): each for each in tables}
    parent = by_name.get(path.table.casefold())
    if parent is None:
        fix = did_you_mean(path.table, [each.name for each in by_name.values()], otherwise=PATH_FIX)
        raise location.invalid(f"leads to {path.table}, which is not a table of the catalog", fix)
    if parent.unit is None:
        rule = f"leads to {parent.name}, a public table, which has no units"
        raise location.invalid(rule, UNIT_FIX)
    return parent


def _check_path(table: TableDeclaration, tables: Iterable[TableDeclaration]) -> None:
    """Reject a path that is circular or does not end at the column that it names."""
    if not isinstance(table.unit, UnitPath):
        return
    path_unit(table, table.unit, tables)
    location, seen, at = table.location.at("unit"), {table.name}, table
    while isinstance(at.unit, UnitPath):
        at = _parent(at, at.unit, tables)
        if at.name in seen:
            raise location.invalid(f"is circular: it leads through {at.name} twice", UNIT_FIX)
        seen.add(at.name)
    if not isinstance(at.unit, ColumnUnit):
        rule = f"leads to {at.name}, where each row is a unit"
        raise location.invalid(rule, f"Make the column that identifies a row the unit of {at.name}")
    if at.unit.column.casefold() != table.unit.column.casefold():
        rule = f"ends at {table.unit.column}, but the unit of {at.name} is {at.unit.column}"
        raise location.invalid(rule, f"Write {at.unit.column} in the path")


# --------------------------------------------------------------------------- disjoint tables

MOST_CHOICES = 1000
"""The most that the sizes of all groups may multiply to: each choice of tables has a balance."""


DISJOINT_FIX = 'Write [[disjoint]] and tables = ["visits_2023", "visits_2024"], for example'


def disjoint_groups(
    location: Location, value: object, tables: Sequence[TableDeclaration], neighbours: Neighbours
) -> Groups:
    """Check and return the groups of tables that have no unit in common.

    Queries about different tables of a group are charged separately.
    """
    found = [
        _group(location.at(number), each, tables)
        for number, each in enumerate(check_list(location, value, DISJOINT_FIX))
    ]
    if found and neighbours is not ADD_REMOVE:
        rule = (
            "needs add-remove neighbours: with replace, a unit may move from one table to another, "
            "so queries about both tables affect it"
        )
        raise location.invalid(rule, 'Remove it, or write neighbours = "add-remove"')
    _check_apart(location, found)
    if prod(map(len, found)) > MOST_CHOICES:
        rule = f"has groups whose sizes multiply to more than {MOST_CHOICES}"
        raise location.invalid(rule, "Declare fewer or smaller groups")
    return tuple(tuple(each.name for each in group) for group in found)


def _group(
    location: Location, value: object, tables: Sequence[TableDeclaration]
) -> tuple[TableDeclaration, ...]:
    given = check_section(location, value, ("tables",))
    at = location.at("tables")
    names = check_list(at, given.get("tables"), DISJOINT_FIX)
    if len(names) < 2:
        raise at.invalid("must name at least two tables", DISJOINT_FIX)
    group = tuple(_listed(at.at(i), name, tables) for i, name in enumerate(names))
    rows = [each for each in group if isinstance(each.unit, RowUnit)]
    if rows and len(rows) < len(group):
        rule = f"contains {rows[0].name}, where each row is a unit, and tables with other units"
        raise at.invalid(rule, "Group tables whose units are of the same kind")
    return group


def _listed(
    location: Location, value: object, tables: Sequence[TableDeclaration]
) -> TableDeclaration:
    name = check_text(location, value, DISJOINT_FIX)
    by_name = {each.name.casefold(): each for each in tables}
    table = by_name.get(name.casefold())
    if table is None:
        fix = did_you_mean(name, [each.name for each in tables], otherwise=DISJOINT_FIX)
        raise location.invalid(f"is {name}, which is not a table of the catalog", fix)
    if table.unit is None:
        raise location.invalid(f"is {table.name}, a public table, which has no units", "Remove it")
    if isinstance(table.unit, UnitPath):
        end = _path_end(table, by_name)
        rule = f"is {table.name}, whose units are those of {end}, where its path ends"
        raise location.invalid(
            rule, f"Name {end} instead. It includes all tables whose paths end there"
        )
    return table


def _path_end(table: TableDeclaration, by_name: dict[str, TableDeclaration]) -> str:
    while isinstance(table.unit, UnitPath):
        table = by_name[table.unit.table.casefold()]
    return table.name


def _check_apart(location: Location, groups: Sequence[tuple[TableDeclaration, ...]]) -> None:
    """Reject a table that is listed twice, and tables of a group that are read from one file."""
    seen: set[str] = set()
    for number, group in enumerate(groups):
        sources: dict[str, str] = {}
        for i, each in enumerate(group):
            at = location.at(number, "tables", i)
            if each.name in seen:
                raise at.invalid(f"repeats {each.name}", "Name each table once")
            seen.add(each.name)
            if each.source is None:
                continue
            if (other := sources.setdefault(each.source, each.name)) != each.name:
                rule = f"is {each.name}, which is read from the same file as {other}"
                raise at.invalid(rule, "Remove one of them: they have the same units")
