"""Bounds of public columns, read off the public tables themselves.

They are read only for a query that is rejected without them, so that what was answered before keeps
its identity. They follow from the catalog, the query and public tables alone. Values are moved into
them where they are summed, so privacy does not rest on them: a table may change afterwards.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

from sqlglot import exp

from discreet.catalog.catalog import Catalog
from discreet.catalog.schema import (
    Bounds,
    Column,
    Kind,
    PublicRange,
    PublicTable,
    Value,
    number_from_time,
)
from discreet.query.check.relations import PublicReader, quoted
from discreet.query.questions import Aggregation, Question
from discreet.query.tree import (
    ConstantRows,
    GroupByUnit,
    PublicScan,
    Relation,
    ReleasedRows,
    Scan,
    Select,
    UnionAll,
    columns_in,
)

WIDEST = 10**300
"""No bounds are farther apart, as none that are declared."""


def with_public_bounds(tree: exp.Expr, catalog: Catalog, public: PublicReader) -> Catalog:
    """Return the catalog with bounds of the public columns that a query names and that lack them.

    It is the same catalog if there are none.
    """
    named = {each.name.casefold() for each in tree.find_all(exp.Table, exp.Column)}
    tables = tuple(
        _bounded(each, named, public)
        if isinstance(each, PublicTable) and each.name.casefold() in named
        else each
        for each in catalog.tables
    )
    return catalog if tables == catalog.tables else replace(catalog, tables=tables)


def _bounded(table: PublicTable, named: set[str], public: PublicReader) -> PublicTable:
    columns = tuple(
        replace(each, bounds=_range_of(table, each, public))
        if each.bounds is None and each.name.casefold() in named and _is_ordered(each.kind)
        else each
        for each in table.columns
    )
    return replace(table, columns=columns)


def _is_ordered(kind: Kind) -> bool:
    return kind.is_number or kind.is_time


def _range_of(table: PublicTable, column: Column, public: PublicReader) -> Bounds | None:
    """Return the least and the greatest value of a column; None if it has none."""
    name = quoted(column.name)
    finite = f" WHERE isfinite({name})" if column.kind is not Kind.INTEGER else ""
    sql = f"SELECT min({name}), max({name}) FROM {quoted(table.name)}{finite}"  # noqa: S608
    ((low, high),) = public.values(sql)
    ends = _number(low), _number(high)
    if ends[0] is None or ends[1] is None or ends[1] - ends[0] > WIDEST:
        return None
    return Bounds(low=ends[0], high=ends[1])


def _number(value: Value) -> Fraction | None:
    match value:
        case date():
            return number_from_time(value)
        case int() | float() | Decimal() | Fraction():
            return Fraction(value)
        case _:
            return None


# --------------------------------------------------------------------------- what is told


def with_ranges(question: Question, catalog: Catalog, bounded: Catalog) -> Question:
    """Return the question, whose aggregations tell which bounds are those of a public table."""
    found = {
        (table.name.casefold(), column.name): PublicRange(
            table=table.name, column=column.name, bounds=column.bounds, kind=column.kind
        )
        for table, before in zip(bounded.tables, catalog.tables, strict=True)
        for column, old in zip(table.columns, before.columns, strict=True)
        if isinstance(column.bounds, Bounds) and old.bounds is None
    }
    told = tuple(
        replace(each, left_out=(*each.left_out, *(found[x] for x in _read(each) if x in found)))
        for each in question.aggregations
    )
    return replace(question, aggregations=told)


def _read(release: Aggregation) -> list[tuple[str, str]]:
    """Return the public columns that aggregates read, by table and name, each once."""
    arguments = [part for each in release.aggregates for part in each.arguments]
    needed = frozenset(column.name for each in arguments for column in columns_in(each))
    return list(dict.fromkeys(_public_columns(release.rows, needed)))


def _public_columns(rows: Relation, needed: frozenset[str]) -> Iterator[tuple[str, str]]:
    match rows:
        case Select():
            sources = {rows.name: rows.source, **{each.name: each.source for each in rows.joins}}
            read = [
                column
                for each in rows.columns
                if each.name in needed
                for column in columns_in(each.expression)
            ]
            for name, source in sources.items():
                mine = frozenset(each.name for each in read if each.source == name)
                if isinstance(source, PublicScan):
                    yield from ((source.table.casefold(), each) for each in sorted(mine))
                elif not isinstance(source, ConstantRows | ReleasedRows):
                    yield from _public_columns(source, mine)
        case GroupByUnit():
            made = [each.argument for each in rows.aggregates if each.name in needed]
            made += [each.expression for each in rows.keys if each.name in needed]
            read = [column for each in made if each is not None for column in columns_in(each)]
            yield from _public_columns(rows.source, frozenset(each.name for each in read))
        case UnionAll(parts=parts):
            for each in parts:
                yield from _public_columns(each, needed)
        case Scan():
            return
