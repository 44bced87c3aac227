"""Which tables have no unit in common, as the owner declares it: they are charged apart."""

from collections.abc import Sequence
from math import prod
from typing import Protocol

from discreet.catalog.fields import a_list, a_section, a_text, meant
from discreet.catalog.places import Place
from discreet.catalog.policy import nearest
from discreet.catalog.schema import RowUnit
from discreet.catalog.units import DeclaredUnit, UnitPath
from discreet.mechanisms.sensitivity import ADD_REMOVE, Neighbours

Groups = tuple[tuple[str, ...], ...]
"""Names of tables, group by group: a unit is in one table of a group at most."""

MOST_CHOICES = 1000
"""The sizes of all groups multiply to no more: each choice of tables has a balance of its own."""


class Listed(Protocol):
    """A table as declared; without a unit it is public."""

    @property
    def name(self) -> str: ...

    @property
    def unit(self) -> DeclaredUnit | None: ...

    @property
    def source(self) -> str | None: ...


FIX = 'write [[disjoint]] and tables = ["visits_2023", "visits_2024"], say'


def groups_from(
    place: Place, value: object, tables: Sequence[Listed], neighbours: Neighbours
) -> Groups:
    """Return the groups that a catalog declares, or refuse the first that cannot be right."""
    found = [
        _group(place.at(number), each, tables)
        for number, each in enumerate(a_list(place, value, FIX))
    ]
    if found and neighbours is not ADD_REMOVE:
        rule = (
            "needs add-remove neighbours: where a unit's data are replaced, it may leave one table "
            "for another, and is touched by what was asked about both"
        )
        raise place.refused(rule, 'leave it out, or write neighbours = "add-remove"')
    _check_apart(place, found)
    if prod(map(len, found)) > MOST_CHOICES:
        rule = f"has groups whose sizes multiply to more than {MOST_CHOICES}"
        raise place.refused(rule, "declare fewer groups, or smaller ones")
    return tuple(tuple(each.name for each in group) for group in found)


def _group(place: Place, value: object, tables: Sequence[Listed]) -> tuple[Listed, ...]:
    given = a_section(place, value, ("tables",))
    at = place.at("tables")
    names = a_list(at, given.get("tables"), FIX)
    if len(names) < 2:
        raise at.refused("must name two tables or more", FIX)
    group = tuple(_table(at.at(i), name, tables) for i, name in enumerate(names))
    rows = [each for each in group if isinstance(each.unit, RowUnit)]
    if rows and len(rows) < len(group):
        rule = f"holds {rows[0].name!r}, where every row is a unit, beside tables with other units"
        raise at.refused(rule, "group tables whose units are of the same kind")
    return group


def _table(place: Place, value: object, tables: Sequence[Listed]) -> Listed:
    name = a_text(place, value, FIX)
    by_name = {each.name.casefold(): each for each in tables}
    table = by_name.get(name.casefold())
    if table is None:
        near = nearest(name, [each.name for each in tables])
        fix = FIX if near is None else meant(near)
        raise place.refused(f"names {name!r}, which is no table of the catalog", fix)
    if table.unit is None:
        raise place.refused(
            f"names {table.name!r}, a public table, which has no units", "leave it out"
        )
    if isinstance(table.unit, UnitPath):
        end = _end(table, by_name)
        rule = f"names {table.name!r}, whose units are those of {end!r}, where its path ends"
        raise place.refused(rule, f"name {end!r}: it stands for all tables whose paths end there")
    return table


def _end(table: Listed, by_name: dict[str, Listed]) -> str:
    while isinstance(table.unit, UnitPath):
        table = by_name[table.unit.table.casefold()]
    return table.name


def _check_apart(place: Place, groups: Sequence[tuple[Listed, ...]]) -> None:
    """Refuse a table that stands twice, and tables of a group that are read from the same file."""
    seen: set[str] = set()
    for number, group in enumerate(groups):
        sources: dict[str, str] = {}
        for i, each in enumerate(group):
            at = place.at(number, "tables", i)
            if each.name in seen:
                raise at.refused(f"names {each.name!r} for the second time", "name each table once")
            seen.add(each.name)
            if each.source is None:
                continue
            if (other := sources.setdefault(each.source, each.name)) != each.name:
                rule = f"names {each.name!r}, which is read from the same place as {other!r}"
                raise at.refused(rule, "leave one of them out: they have the same units")
