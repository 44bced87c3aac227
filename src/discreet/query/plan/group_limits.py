"""How many groups of a query a unit is counted in, where the owner or the analyst limits them.

A limit is a choice between noise and bias, and no promise about the data: of a unit with more
groups the database counts as many as the limit says, by a hash of the unit and the group. So a
limit lowers the noise whatever the data are. Proof: docs/proofs/measures.md, section 12.

The limit is used only where it lowers the noise. Elsewhere a release is what it was without it.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import isqrt, prod

from discreet.catalog.catalog import Catalog
from discreet.catalog.schema import PrivateTable
from discreet.parameters import integer
from discreet.query.plan.components import OF_ROWS
from discreet.query.plan.families import counts_few_cells, families_of
from discreet.query.questions import (
    Aggregate,
    Aggregation,
    DeclaredGroups,
    GroupLimit,
    Question,
    Statistic,
)
from discreet.query.tree import (
    ColumnOf,
    Expression,
    Join,
    JoinKind,
    PublicRelation,
    Relation,
    Scan,
    Select,
    columns_in,
)

MOST_GROUPS = 10**9

UNITS_TAKE = 3
"""A selection by units costs about a third of epsilon where one by rows costs nothing."""

DISTINCT = {Statistic.COUNT_DISTINCT, Statistic.SUM_DISTINCT}

Column = tuple[Scan, str]
"""A column of a private table, as a query scans it."""


def with_groups_per_unit(catalog: Catalog, most: int | None) -> Catalog:
    """Return the catalog with this limit in place of those that it declares, for one query."""
    if most is None:
        return catalog
    checked = integer("groups_per_unit", most, least=1, most=MOST_GROUPS)
    return replace(catalog, groups_per_unit=checked)


def with_group_limits(question: Question, catalog: Catalog) -> Question:
    """Return the question with the groups of a unit limited, wherever that lowers the noise."""
    found = (_limited(each, catalog.groups_per_unit) for each in question.aggregations)
    return replace(question, aggregations=tuple(found))


def selects_by_rows(release: Aggregation, most: int | None) -> bool:
    """Return whether undeclared groups are selected by their noisy number of rows.

    So they are where that is released anyway: nothing is paid for a number of units then. A limit
    on groups makes units the better choice where it is small beside the rows of a unit, which is
    taken to have the root of its limit.
    """
    families = families_of(each for each in release.aggregates if each.statistic in OF_ROWS)
    counts_units = any(each.statistic is Statistic.COUNT_UNITS for each in release.aggregates)
    if counts_units or not any(map(counts_few_cells, families)):
        return False
    return most is None or UNITS_TAKE * most > isqrt(release.contribution_limit)


def _limited(release: Aggregation, asked: int | None) -> Aggregation:
    if not release.keys or release.one_row_per_unit:
        return release
    columns = [_columns_of(release, each.expression) for each in release.keys]
    most = asked or _declared(release, columns)
    if most is None or not _is_useful(release, most):
        return release
    rows = _limited_rows(release, most, is_asked=asked is not None)
    if rows is None:
        return replace(release, group_limit=GroupLimit(most=most))
    return replace(release, rows=rows, group_limit=GroupLimit(most=most, is_in_rows=True))


def _is_useful(release: Aggregation, most: int) -> bool:
    """Return whether a unit could be in more groups, and less noise is needed if it is not."""
    groups = release.groups
    if most >= release.contribution_limit:
        return False
    if any(each.statistic is Statistic.COUNT_UNITS for each in release.aggregates):
        is_less = True
    elif isinstance(groups, DeclaredGroups):
        values = (release.contribution_limit - 1) // most
        is_less = any(_has_few_values(each, values) for each in release.aggregates)
    else:
        is_less = not selects_by_rows(release, most)
    return is_less and not (isinstance(groups, DeclaredGroups) and most >= len(groups.rows))


def _has_few_values(aggregate: Aggregate, most: int) -> bool:
    """Return whether different values are counted, of which each group has at most so many."""
    argument = aggregate.argument
    if aggregate.statistic not in DISTINCT or argument is None:
        return False
    domain = ("the unit",) if aggregate.is_of_unit else argument.facts.domain
    return domain is not None and sum(each is not None for each in domain) <= most


# --------------------------------------------------------------------------- limits in the catalog


def _declared(release: Aggregation, columns: Iterable[tuple[Column, ...]]) -> int | None:
    """Return the limit that the catalog declares for this GROUP BY, if it declares one.

    Tables whose columns are grouped by have a say, each for its own columns: what they allow is
    multiplied. Where none has, as in GROUP BY a column of a public table, it is the first table.
    """
    found = [each for key in columns for each in key]
    if not found:
        first = _first_scan(release.rows)
        limit = None if first is None else first.table.groups_per_unit
        return limit if isinstance(limit, int) else None
    tables: dict[PrivateTable, set[str]] = {}
    for scan, name in found:
        tables.setdefault(scan.table, set()).add(name)
    limits = [_table_limit(table, names) for table, names in tables.items()]
    return None if None in limits else prod(each for each in limits if each is not None)


def _table_limit(table: PrivateTable, names: Iterable[str]) -> int | None:
    limits = table.groups_per_unit
    if limits is None or isinstance(limits, int):
        return limits
    known = dict(limits)
    found = [known.get(each) for each in names]
    return None if None in found else prod(each for each in found if each is not None)


def _first_scan(rows: Relation) -> Scan | None:
    while isinstance(rows, Select):
        rows = rows.source
    return rows if isinstance(rows, Scan) else None


def _columns_of(release: Aggregation, expression: Expression) -> tuple[Column, ...]:
    """Return the columns of private tables that a key is made of."""
    found: list[Column] = []

    def note(scan: Scan, name: str) -> Scan:
        found.append((scan, name))
        return scan

    for each in columns_in(expression):
        if each.source == release.name:
            _changed(release.rows, each.name, note, is_anywhere=True)
    return tuple(found)


# --------------------------------------------------------------------------- limits in the rows


def _limited_rows(release: Aggregation, most: int, *, is_asked: bool) -> Relation | None:
    """Return rows of prepared tables in which a unit has no more groups; None if a query chooses.

    Each key must be a column that the catalog limits. Then a unit has at most so many values of
    each, before any filter, and the database has stored which.
    """
    rows, groups = release.rows, 1
    if is_asked and len(release.keys) > 1:
        return None

    def limited(scan: Scan, name: str) -> Scan | None:
        nonlocal groups
        limits = scan.table.groups_per_unit
        if not scan.is_bounded or limits is None or isinstance(limits, int):
            return None
        known = dict(limits)
        if name not in known:
            return None
        values = most if is_asked else known[name]
        groups *= values
        kept = dict(scan.group_limits) | {name: values}
        return replace(scan, group_limits=tuple(sorted(kept.items())))

    for key in release.keys:
        column = key.expression
        if not isinstance(column, ColumnOf) or column.source != release.name:
            return None
        found = _changed(rows, column.name, limited)
        if found is None:
            return None
        rows = found
    return rows if groups <= most else None  # as it is not with the same table twice


Change = Callable[[Scan, str], Scan | None]


def _changed(
    rows: Relation, name: str, change: Change, *, is_anywhere: bool = False
) -> Relation | None:
    """Return rows with the scan changed that a column is taken from unchanged; None if none is.

    `is_anywhere` follows what columns are computed from, and optional sides of joins, as well.
    """
    match rows:
        case Scan():
            return change(rows, name)
        case Select():
            shown = next(each.expression for each in rows.columns if each.name == name)
            if isinstance(shown, ColumnOf):
                return _in_select(rows, shown, change, is_anywhere=is_anywhere)
            if is_anywhere:
                for each in columns_in(shown):
                    _in_select(rows, each, change, is_anywhere=True)
    return None


def _in_select(
    select: Select, column: ColumnOf, change: Change, *, is_anywhere: bool
) -> Select | None:
    if column.source == select.name:
        source = _changed(select.source, column.name, change, is_anywhere=is_anywhere)
        return None if source is None else replace(select, source=source)
    for number, join in enumerate(select.joins):
        if join.name == column.source and not isinstance(join.source, PublicRelation):
            if join.kind is JoinKind.LEFT and not is_anywhere:
                return None  # rows without a partner are a group more
            source = _changed(join.source, column.name, change, is_anywhere=is_anywhere)
            if source is None:
                return None
            joins: list[Join] = list(select.joins)
            joins[number] = replace(join, source=source)
            return replace(select, joins=tuple(joins))
    return None
