"""Heavy units: those with more rows of a table than its limit, the only ones that must be bounded.

A unit that is not heavy in any table that a query reads has no more rows in the query than the
product of the limits, by Lemma 5 of docs/proofs/measures.md. Where that is within the limit of the
query, all its rows count, and nobody needs to order them. So units are divided in two: rows of
units that may be heavy are ordered and cut as always, all others are summed as they are.

An engine may take a unit for heavy that is not: its rows are ordered then, and all of them count.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import prod

from discreet.catalog.schema import ColumnUnit, RowUnit
from discreet.engines.heavy import HeavyTable
from discreet.query.tree import (
    Call,
    ContributionBounding,
    ExactQuery,
    GroupByUnit,
    Join,
    JoinKind,
    Literal,
    PublicRelation,
    Relation,
    Scan,
    Select,
    UnionAll,
    Window,
    WindowFunction,
    parts_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """A query by the units that may be heavy and those that are not."""

    tables: tuple[HeavyTable, ...]
    light: ExactQuery
    """What is computed of units that are heavy in none of the tables; all their rows count."""
    heavy: ExactQuery


def division_of(query: ExactQuery) -> Division | None:
    """Return how a query is divided; None where it must choose rows of every unit, or of none."""
    if query.is_bounded:
        return _by_numbers(query)
    if not _is_bounding(query):
        return None
    tables = _by_name(_tables(query.rows))
    most = most_light_rows(query.rows)
    if not tables or most is None or most > query.contribution_limit:
        return None
    return Division(tables=tables, light=replace(query, is_bounded=True), heavy=query)


def whole_of(rows: Relation) -> HeavyTable | None:
    """Return the table of which these are all rows, each once, if there is one."""
    match rows:
        case Scan(table=table, parents=parents):
            is_whole = rows == Scan(table=table, parents=parents)
            return next(_tables(rows), None) if is_whole else None
        case Select(source=source, joins=joins, where=where, qualify=only):
            is_filtered = joins or where is not None or only is not None
            return None if is_filtered else whole_of(source)
        case _:
            return None


def _by_name(tables: Iterable[HeavyTable]) -> tuple[HeavyTable, ...]:
    """Return each table once."""
    return tuple({each.name: each for each in tables}.values())


def _is_bounding(query: ExactQuery) -> bool:
    """Return whether rows of units are cut, and results of disjoint units add up."""
    match query.bounding:
        case ContributionBounding.ROWS:
            return True
        case ContributionBounding.UNITS_ONLY:
            return bool(query.keys) and query.group_bounding is None
        case _:
            return False


def most_light_rows(rows: Relation, limit: int | None = None) -> int | None:
    """Return how many rows a unit can have that is heavy nowhere; None if nobody knows.

    `limit` is taken for that of each table that is counted, if there is one.
    """
    match rows:
        case Scan(table=table, parents=parents, is_bounded=is_kept):
            if isinstance(table.unit, RowUnit) and not parents:
                return 1
            counted = table.rows_per_unit if is_kept or limit is None else limit
            return counted if _is_of_column(rows) else None
        case Select(source=source, joins=joins):
            return _product(
                [most_light_rows(source, limit), *(_most_partners(each, limit) for each in joins)]
            )
        case GroupByUnit(source=source, keys=keys):
            return most_light_rows(source, limit) if keys else 1
        case UnionAll(parts=parts):
            found = [most_light_rows(each, limit) for each in parts]
            return None if None in found else sum(each for each in found if each is not None)


def _most_partners(join: Join, limit: int | None) -> int | None:
    source = join.source
    most = join.fan_out if isinstance(source, PublicRelation) else most_light_rows(source, limit)
    return most if most is None or join.kind is JoinKind.INNER else max(1, most)


def _product(factors: Iterable[int | None]) -> int | None:
    known = list(factors)
    return None if None in known else prod(each for each in known if each is not None)


def _tables(rows: Relation, limit: int | None = None) -> Iterator[HeavyTable]:
    """Yield the tables whose rows make up those of a relation, each by how it is counted."""
    match rows:
        case Scan(table=table, parents=parents, is_bounded=is_kept):
            if not is_kept and _is_of_column(rows):
                whole = Scan(table=table, parents=parents)
                own = table.rows_per_unit if limit is None else limit
                yield HeavyTable(scan=whole, limit=own)
        case Select(source=source, joins=joins):
            yield from _tables(source, limit)
            for each in joins:
                if not isinstance(each.source, PublicRelation):
                    yield from _tables(each.source, limit)
        case GroupByUnit(source=source):
            yield from _tables(source, limit)
        case UnionAll(parts=parts):
            for part in parts:
                yield from _tables(part, limit)


def _is_of_column(scan: Scan) -> bool:
    return isinstance((scan.table, *scan.parents)[-1].unit, ColumnUnit)


# --------------------------------------------------------------------------- numbered rows


def _by_numbers(query: ExactQuery) -> Division | None:
    """Return how rows are divided of which the first n of each unit are taken.

    A unit with no more rows than n in the table has none that is not among the first n.
    """
    rows = query.rows
    is_of_rows = query.bounding is ContributionBounding.ROWS and query.group_bounding is None
    if not isinstance(rows, Select) or not is_of_rows:
        return None
    most = _most_numbered(rows)
    if most is None:
        return None
    tables = _by_name(_tables(rows, most))
    light = most_light_rows(rows, most)
    if not tables or light is None or light > most:
        return None
    return Division(
        tables=tables, light=replace(query, rows=replace(rows, qualify=None)), heavy=query
    )


def _most_numbered(select: Select) -> int | None:
    """Return n where a SELECT takes the first n rows of each unit, and does no more than that."""
    columns = [part for each in select.columns for part in parts_of(each.expression)]
    is_plain = select.where is None and not select.joins
    if not is_plain or any(isinstance(each, Window) for each in columns):
        return None
    match select.qualify:
        case Call(
            function="less_or_equal",
            arguments=(
                Window(function=WindowFunction.ROW_NUMBER, partition=()),
                Literal(value=int(most)),
            ),
        ):
            return most
    return None
