"""Whose units a release is about: every private table that its queries read, wherever it stands.

The walk goes through all that a tree is made of, so that no kind of node, joined rows, rows inside
EXISTS or a kind that is yet to come, can hide a table from it.
"""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from discreet.catalog.schema import PrivateTable
from discreet.query.plan.plan import PlannedRelease
from discreet.query.questions import DeclaredGroups, UndeclaredGroups
from discreet.query.tree import Facts, Scan

PLAIN_VALUES = (Facts, DeclaredGroups, UndeclaredGroups)
"""What is known of values, and may be long; it reads no rows."""


def scope_of(planned: PlannedRelease) -> frozenset[str]:
    """Return the tables whose units a release depends on: those where the paths to units end.

    A row belongs to the unit of the row that its path ends at, so that a unit that has no row in
    that table has none on the way to it either.
    """
    return frozenset(_tables((planned.aggregation, planned.queries)))


def root_of(scan: Scan) -> PrivateTable:
    """Return the table that holds the units of a scanned one."""
    return scan.parents[-1] if scan.parents else scan.table


def _tables(part: object) -> Iterator[str]:
    if isinstance(part, Scan | PrivateTable):
        # A table on a path that stands by itself is in no group, so that it is about everybody.
        table = root_of(part) if isinstance(part, Scan) else part
        yield table.name.casefold()
    elif isinstance(part, tuple):
        for each in part:
            yield from _tables(each)
    elif not isinstance(part, PLAIN_VALUES):
        for name in _field_names(type(part)):
            yield from _tables(getattr(part, name))


def _field_names(kind: type) -> tuple[str, ...]:
    found = _NAMES.get(kind)
    if found is None:
        found = tuple(each.name for each in fields(kind)) if is_dataclass(kind) else ()
        _NAMES[kind] = found
    return found


_NAMES: dict[type, tuple[str, ...]] = {}
