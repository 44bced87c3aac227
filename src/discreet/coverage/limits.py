"""Which tables a plan takes only some rows of, and which columns it clamps.

All of it follows from the plan, so it is public.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from discreet.bounds.histogram import ColumnRef
from discreet.catalog.catalog import Catalog, column_of
from discreet.catalog.schema import Bounds, ColumnUnit, PrivateTable, RowUnit
from discreet.query.plan import Plan
from discreet.query.plan.plan import PlannedRelease
from discreet.query.questions import Clamped, ContributionLimit
from discreet.query.tree import (
    ColumnOf,
    Expression,
    PublicRelation,
    Relation,
    Scan,
    Select,
    UnionAll,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Tables whose rows may be left out, and columns whose values may be clamped."""

    tables: tuple[PrivateTable, ...] = ()
    columns: tuple[ColumnRef, ...] = ()


def limits_of(plan: Plan, catalog: Catalog) -> Limits:
    """Return what coverage can tell about, each once."""
    tables = {each.name: each for planned in plan.releases for each in tables_cut(planned)}
    columns = {
        str(each): each
        for planned in plan.releases
        for rows in planned.left_out
        if isinstance(rows, Clamped) and (each := clamped_column(planned, rows, catalog))
    }
    return Limits(tables=tuple(tables.values()), columns=tuple(columns.values()))


# --------------------------------------------------------------------------- rows


def tables_cut(planned: PlannedRelease) -> tuple[PrivateTable, ...]:
    """Return the tables of which rows may be left out because a unit has more than the limit."""
    if not isinstance(planned.contribution, ContributionLimit):
        return ()
    found = {scan.table.name: scan.table for scan in _scans(planned.aggregation.rows)}
    return tuple(each for each in found.values() if may_be_cut(each))


def reads_tables(planned: PlannedRelease) -> bool:
    """Return whether rows of tables are counted as they are."""
    return any(True for _ in _scans(planned.aggregation.rows))


def may_be_cut(table: PrivateTable) -> bool:
    """Return whether a unit can have more rows than the limit, by what the catalog declares."""
    match table.unit:
        case RowUnit():
            return False
        case ColumnUnit(column=column):
            return table.key is None or table.key.casefold() != column.casefold()
        case _:
            return True


def _scans(rows: Relation) -> Iterator[Scan]:
    """Yield the tables whose rows are counted as they are, not computed for each unit first."""
    match rows:
        case Scan():
            yield rows
        case Select(source=source, joins=joins):
            inner = [each.source for each in joins if not isinstance(each.source, PublicRelation)]
            for each in (source, *inner):
                yield from _scans(each)
        case UnionAll(parts=parts):
            for each in parts:
                yield from _scans(each)
        case _:
            return


# --------------------------------------------------------------------------- values


def clamped_column(planned: PlannedRelease, clamped: Clamped, catalog: Catalog) -> ColumnRef | None:
    """Return the column that is clamped to the bounds of the catalog; None for anything else."""
    release = planned.aggregation
    for aggregate in release.aggregates:
        text = aggregate.argument_text or getattr(aggregate.argument, "name", "")
        if aggregate.argument is None or text != clamped.text:
            continue
        found = _column(aggregate.argument, release.rows, release.name, catalog)
        if found is None:
            continue
        bounds = found.column.bounds
        if isinstance(bounds, Bounds) and (bounds.low, bounds.high) == (clamped.low, clamped.high):
            return found
    return None


def _column(
    expression: Expression, rows: Relation, name: str, catalog: Catalog
) -> ColumnRef | None:
    """Return the column of a table that an expression over these rows is, if it is just that."""
    if not isinstance(expression, ColumnOf) or expression.source != name:
        return None
    match rows:
        case Scan(table=table):
            return _declared(table, expression.name, catalog)
        case Select(source=source, name=inner, joins=joins, columns=columns):
            made = {each.name: each.expression for each in columns}.get(expression.name)
            sources = {each.name: each.source for each in joins} | {inner: source}
            if not isinstance(made, ColumnOf) or made.source not in sources:
                return None
            below = sources[made.source]
            return (
                None
                if isinstance(below, PublicRelation)
                else _column(made, below, made.source, catalog)
            )
        case _:
            return None


def _declared(table: PrivateTable, name: str, catalog: Catalog) -> ColumnRef | None:
    declared = catalog.table(table.name)
    column = None if declared is None else column_of(declared, name)
    if column is None or not isinstance(declared, PrivateTable):
        return None
    return ColumnRef(table=declared, column=column)
