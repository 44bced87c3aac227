"""What the owner declares, checked as far as it can be without knowing the tables' columns."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from discreet.catalog.addresses import EMBEDDED, beside, is_spark
from discreet.catalog.columns import DeclaredColumn, declared_column
from discreet.catalog.disjoint import Groups, groups_from
from discreet.catalog.fields import (
    a_choice,
    a_flag,
    a_number,
    a_number_within,
    a_section,
    a_text,
    a_whole_number,
    meant,
    named_entries,
    told,
)
from discreet.catalog.places import Place
from discreet.catalog.policy import (
    Accounting,
    AnalystPolicy,
    BudgetPolicy,
    SourcePolicy,
    Suspends,
    nearest,
)
from discreet.catalog.schema import ColumnUnit, PathUnit, RowUnit
from discreet.catalog.source import a_file, declared_source
from discreet.catalog.units import PATH_FIX, UNIT_FIX, DeclaredUnit, UnitPath, unit_from
from discreet.mechanisms.sensitivity import Neighbours

SECTIONS = ("budget", "source", "tables", "disjoint", "analysts")
BUDGET = (
    "epsilon",
    "delta",
    "neighbours",
    "accounting",
    "question_delta",
    "least_epsilon",
    "incident_suspends",
)
TABLE = ("from", "unit", "rows_per_unit", "public", "key", "columns")
ANALYST = ("epsilon", "delta")

EPSILON_LEAST, EPSILON_MOST = Fraction(1, 10**12), Fraction(10**12)
MOST_ROWS_PER_UNIT = 10**9
EPSILON_FIX = "write for example epsilon = 1.0"

Named = TypeVar("Named", bound=Enum)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredTable:
    """A table as declared; without a unit it is public."""

    name: str
    place: Place
    unit: DeclaredUnit | None
    rows_per_unit: int | None
    key: str | None
    columns: tuple[DeclaredColumn, ...]
    source: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A whole catalog as declared; `complete` adds what the tables' own schemas say."""

    budget: BudgetPolicy
    source: SourcePolicy
    tables: tuple[DeclaredTable, ...]
    analysts: tuple[AnalystPolicy, ...] = ()
    ledger: str | None = None
    disjoint: Groups = ()

    @property
    def sources(self) -> dict[str, str]:
        """Where tables are read from, by name."""
        return {each.name: each.source for each in self.tables if each.source is not None}


def declared_from(
    entries: Mapping[str, object], *, folder: Path | None = None, place: Place | None = None
) -> Declared:
    """Return what the entries of a catalog declare, or refuse the first that cannot be used.

    Paths of files are taken from `folder`, or left as they are without one.
    """
    top = Place() if place is None else place
    given = a_section(top, entries, SECTIONS)
    budget = _budget(top.at("budget"), _needed(top, given, "budget"))
    source, ledger = declared_source(top.at("source"), given.get("source", {}), folder)
    at = folder if source.engine == EMBEDDED else None
    tables = _tables(top.at("tables"), _needed(top, given, "tables"), at)
    if is_spark(source.engine):
        tables = tuple(replace(each, source=beside(each.source, folder)) for each in tables)
    apart = top.at("disjoint"), given.get("disjoint", ())
    return Declared(
        budget=budget,
        source=source,
        tables=tables,
        analysts=_analysts(top.at("analysts"), given.get("analysts", {})),
        ledger=ledger,
        disjoint=groups_from(*apart, tables, budget.neighbours),
    )


NEEDED = {"budget": "[budget] with epsilon = 1.0", "tables": "[tables.visits] with its unit, say"}


def _needed(top: Place, given: Mapping[str, object], name: str) -> object:
    if name not in given:
        raise top.at(name).refused("is missing", f"add {NEEDED[name]}")
    return given[name]


# --------------------------------------------------------------------------- budget


def _budget(place: Place, value: object) -> BudgetPolicy:
    given = a_section(place, value, BUDGET)
    epsilon = _epsilon(place, given)
    delta = _delta(place.at("delta"), given.get("delta", 0))
    accounting = _choice(place, given, "accounting", Accounting.BASIC)
    if accounting is Accounting.CONCENTRATED and delta == 0:
        fix = 'add delta = 1e-6, or write accounting = "basic"'
        raise place.at("accounting").refused('"concentrated" needs a delta', fix)
    return BudgetPolicy(
        epsilon=epsilon,
        delta=delta,
        neighbours=_choice(place, given, "neighbours", Neighbours.ADD_REMOVE),
        accounting=accounting,
        question_delta=_part(place, given, "question_delta", ("delta", delta), "a hundredth"),
        least_epsilon=_part(place, given, "least_epsilon", ("epsilon", epsilon), "a millionth"),
        incident_suspends=_choice(place, given, "incident_suspends", Suspends.ACCOUNT),
    )


def _choice(place: Place, given: Mapping[str, object], key: str, default: Named) -> Named:
    return a_choice(place.at(key), given.get(key, default), type(default))


def _epsilon(place: Place, given: Mapping[str, object]) -> Fraction:
    if "epsilon" not in given:
        raise place.at("epsilon").refused("is missing", EPSILON_FIX)
    value = given["epsilon"]
    return a_number_within(place.at("epsilon"), value, EPSILON_LEAST, EPSILON_MOST, EPSILON_FIX)


def _delta(place: Place, value: object) -> Fraction:
    fix = "write for example delta = 1e-6, or 0 for none"
    delta = a_number(place, value, fix)
    if not 0 <= delta < 1:
        raise place.refused(f"must be 0 or more and less than 1, not {told(value)}", fix)
    return delta


def _part(
    place: Place, given: Mapping[str, object], name: str, whole: tuple[str, Fraction], usual: str
) -> Fraction | None:
    """Return what is declared as a part of an amount, by the amount's own name; None if nothing."""
    if name not in given:
        return None
    of, most = whole
    fix = f"write a small part of {of}, or leave it out for {usual} of it"
    own = a_number(place.at(name), given[name], fix)
    if not 0 < own <= most:
        raise place.at(name).refused(
            f"must be more than 0 and no more than {of}, not {told(own)}", fix
        )
    return own


def _analysts(place: Place, value: object) -> tuple[AnalystPolicy, ...]:
    return tuple(
        _analyst(place.at(name), name, entry)
        for name, entry in named_entries(place, value, "analyst").items()
    )


def _analyst(place: Place, name: str, value: object) -> AnalystPolicy:
    given = a_section(place, value, ANALYST)
    delta = _delta(place.at("delta"), given["delta"]) if "delta" in given else None
    return AnalystPolicy(name=name, epsilon=_epsilon(place, given), delta=delta)


# --------------------------------------------------------------------------- tables


def _tables(place: Place, value: object, folder: Path | None) -> tuple[DeclaredTable, ...]:
    entries = named_entries(place, value, "table")
    if not entries:
        raise place.refused("has no table", f"add {NEEDED['tables']}")
    tables = [_table(place.at(name), name, entry, folder) for name, entry in entries.items()]
    for each in tables:
        _check_path(each, tables)
    return tuple(tables)


def _table(place: Place, name: str, value: object, folder: Path | None) -> DeclaredTable:
    given = a_section(place, value, TABLE)
    if re.fullmatch(r"released_[0-9]+", name.casefold()):
        raise place.refused("is a name that answers use", "give the table another name")
    is_public = a_flag(place.at("public"), given.get("public", False))
    unit = _unit(place, given, is_public=is_public)
    columns = named_entries(place.at("columns"), given.get("columns", {}), "column")
    return DeclaredTable(
        name=name,
        place=place,
        unit=unit,
        rows_per_unit=_rows_per_unit(place.at("rows_per_unit"), given, unit),
        key=_key(place.at("key"), given.get("key")),
        columns=tuple(
            declared_column(place.at("columns", column), column, entry)
            for column, entry in columns.items()
        ),
        source=a_file(place.at("from"), given.get("from"), folder),
    )


def _unit(place: Place, given: Mapping[str, object], *, is_public: bool) -> DeclaredUnit | None:
    if is_public:
        for key in (each for each in ("unit", "rows_per_unit") if each in given):
            rule = "cannot be given for a public table, which protects nobody"
            fix = f"leave out {key}, or public = true if the table is about units"
            raise place.at(key).refused(rule, fix)
        return None
    if "unit" not in given:
        raise place.at("unit").refused("is missing", UNIT_FIX)
    return unit_from(place.at("unit"), given["unit"])


def _rows_per_unit(
    place: Place, given: Mapping[str, object], unit: DeclaredUnit | None
) -> int | None:
    if "rows_per_unit" not in given:
        return None
    fix = "write the most rows of one unit that shall count, for example rows_per_unit = 10"
    most = 1 if isinstance(unit, RowUnit) else MOST_ROWS_PER_UNIT
    if most == 1 and given["rows_per_unit"] != 1:
        raise place.refused("must be 1 where every row is a unit of its own", "leave it out")
    return a_whole_number(place, given["rows_per_unit"], 1, most, fix)


def _key(place: Place, value: object) -> str | None:
    fix = "name the column that tells the table's rows apart"
    return None if value is None else a_text(place, value, fix)


# --------------------------------------------------------------------------- paths to the unit


def path_unit(table: DeclaredTable, path: UnitPath, tables: Iterable[DeclaredTable]) -> PathUnit:
    """Return a declared path with both of its columns: here, and in the table that it leads to."""
    parent = _parent(table, path, tables)
    column = path.via or parent.key
    if column is None:
        fix = f'add "via COLUMN" to the unit, or key = "COLUMN" to [{parent.place}]'
        rule = f"does not say which column refers to {parent.name!r}"
        raise table.place.at("unit").refused(rule, fix)
    return PathUnit(column=column, table=parent.name, key=parent.key or column)


def _parent(table: DeclaredTable, path: UnitPath, tables: Iterable[DeclaredTable]) -> DeclaredTable:
    place = table.place.at("unit")
    by_name = {each.name.casefold(): each for each in tables}
    parent = by_name.get(path.table.casefold())
    if parent is None:
        near = nearest(path.table, [each.name for each in by_name.values()])
        fix = PATH_FIX if near is None else meant(near)
        raise place.refused(f"leads to {path.table!r}, which is no table of the catalog", fix)
    if parent.unit is None:
        rule = f"leads to {parent.name!r}, a public table, whose rows belong to nobody"
        raise place.refused(rule, UNIT_FIX)
    return parent


def _check_path(table: DeclaredTable, tables: Iterable[DeclaredTable]) -> None:
    """Refuse a path that runs in a circle or does not end at the column that it names."""
    if not isinstance(table.unit, UnitPath):
        return
    path_unit(table, table.unit, tables)
    place, seen, at = table.place.at("unit"), {table.name}, table
    while isinstance(at.unit, UnitPath):
        at = _parent(at, at.unit, tables)
        if at.name in seen:
            raise place.refused(f"leads in a circle, through {at.name!r} again", UNIT_FIX)
        seen.add(at.name)
    if not isinstance(at.unit, ColumnUnit):
        rule = f"leads to {at.name!r}, where every row is a unit of its own"
        raise place.refused(rule, f"make the column that tells rows apart the unit of {at.name!r}")
    if at.unit.column.casefold() != table.unit.column.casefold():
        rule = f"ends at {table.unit.column!r}, but the unit of {at.name!r} is {at.unit.column!r}"
        raise place.refused(rule, f"name {at.unit.column!r} there")
