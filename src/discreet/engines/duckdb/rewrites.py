"""Rewrites of exact queries for DuckDB alone: stored levels, and joins without repeated conditions.

Beside each bounded number of its kept rows a prepared table may have the places of it on the rulers
by which it is summed. Where a question would compute such a place of each row, it reads it instead:
the same expression of the same row, so that every sum is the same to the last digit.

A kept place is called by its column and ruler. So one that was made for other bounds is never read
in place of what is asked for, whatever the catalog says by then.

An engine ties private rows by their unit, whatever a question says. One that joins them ON the
columns of the unit asks for the same once more, and by two keys a join takes several times as long.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from discreet.catalog.schema import Bounds, ColumnUnit, Kind, PrivateTable
from discreet.catalog.schema import Column as Declared
from discreet.engines.writer import rank_name
from discreet.errors import UnboundedError
from discreet.query.expressions.facts import facts_from_column, literal
from discreet.query.expressions.functions import call
from discreet.query.plan.components import grids_of
from discreet.query.plan.quantization import WIDEST_WHOLE, ValueGrid, quantize
from discreet.query.tree import (
    Call,
    Case,
    ColumnOf,
    ContributionBounding,
    ExactQuery,
    Expression,
    Facts,
    GroupByUnit,
    Join,
    NamedExpression,
    PublicRelation,
    Relation,
    Scan,
    Select,
    UnionAll,
    columns_in,
    parts_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredColumn:
    """Places of a column on a ruler."""

    column: Declared
    grid: ValueGrid

    @property
    def name(self) -> str:
        """What tells it from all others of its table."""
        ruler = self.grid
        ends = f"{ruler.low} to {ruler.high}"
        return f"{self.column.name} in {ruler.steps} steps from {ends}"

    def expression(self, source: str, name: str | None = None) -> Expression:
        """Return what it is made of, where rows of this name have the column."""
        facts = facts_from_column(self.column)
        return quantize(
            ColumnOf(source=source, name=name or self.column.name, facts=facts), self.grid
        )


Stored = Callable[[str, str], bool]
"""Whether kept rows of a table, by name, have places of this name, and not a column of its own."""


def stored_columns(table: PrivateTable) -> tuple[StoredColumn, ...]:
    """Return what a prepared table keeps beside its columns; follows from the catalog alone."""
    taken = {each.name.casefold() for each in table.columns}
    found = (each for column in table.columns for each in _placed(table.rows_per_unit, column))
    return tuple(each for each in found if each.name.casefold() not in taken)


def ranked_columns(table: PrivateTable) -> tuple[str, ...]:
    """Return the columns of which a prepared table keeps which value of its unit a row has."""
    limits = table.groups_per_unit
    if limits is None or isinstance(limits, int):
        return ()
    taken = {each.name.casefold() for each in table.columns}
    return tuple(name for name, _ in limits if rank_name(name).casefold() not in taken)


def read_stored_ranks(rows: Relation, stored: Stored) -> Relation:
    """Return the same rows, with ranks of groups read where they are kept."""
    match rows:
        case Scan(table=table, group_limits=limits):
            names = (name for name, _ in limits)
            ranked = frozenset(each for each in names if stored(table.name, rank_name(each)))
            return replace(rows, ranked=ranked) if ranked else rows
        case Select(source=source, joins=joins):
            changed = tuple(
                each
                if isinstance(each.source, PublicRelation)
                else replace(each, source=read_stored_ranks(each.source, stored))
                for each in joins
            )
            return replace(rows, source=read_stored_ranks(source, stored), joins=changed)
        case _:
            return rows


def read_stored_columns(query: ExactQuery, stored: Stored) -> ExactQuery:
    """Return the query with places read where they are kept, instead of computed."""
    query = replace(query, rows=read_stored_ranks(query.rows, stored))
    if not query.is_bounded or query.bounding is not ContributionBounding.ROWS:
        return query
    reader = _Reader(query, stored)
    sums = tuple(map(reader.read, query.sums))
    cell = None if query.cell is None else reader.read(query.cell)
    return replace(query, rows=reader.rows, sums=sums, cell=cell)


@lru_cache
def _placed(rows: int, column: Declared) -> tuple[StoredColumn, ...]:
    """Return the places of a column by which units of so many rows are summed."""
    if not column.kind.is_number or not isinstance(column.bounds, Bounds):
        return ()
    argument = ColumnOf(source="", name=column.name, facts=facts_from_column(column))
    try:
        rulers = grids_of(argument, rows)
    except UnboundedError:  # bounds that no sum is computed within: questions must narrow them
        return ()
    # Older releases stored NULL where the range is wider than 64 bits: places there are computed.
    narrow = (each for each in rulers if column.kind is Kind.REAL or each.width <= WIDEST_WHOLE)
    return tuple(StoredColumn(column=column, grid=each) for each in narrow)


class _Reader:
    """Exchanges places for columns, which it adds to the rows."""

    def __init__(self, query: ExactQuery, stored: Stored) -> None:
        self.rows, self._name, self._stored = query.rows, query.name, stored
        self._found: dict[int, ColumnOf | None] = {}
        """By the identity of a call: those that are equal may be of different kinds."""

    def read(self, expression: Expression) -> Expression:
        match expression:
            case Call():
                if id(expression) not in self._found:
                    self._found[id(expression)] = self._kept(expression)
                found = self._found[id(expression)]
                if found is not None:
                    return found
                return replace(expression, arguments=tuple(map(self.read, expression.arguments)))
            case Case():
                branches = tuple((self.read(a), self.read(b)) for a, b in expression.branches)
                otherwise = self.read(expression.otherwise)
                return replace(expression, branches=branches, otherwise=otherwise)
            case _:
                return expression

    def _kept(self, expression: Call) -> ColumnOf | None:
        """Return the column that has the places that this computes, if there is one."""
        columns = set(columns_in(expression))
        if expression.facts.kind is not Kind.INTEGER or len(columns) != 1:
            return None
        (column,) = columns
        if column.source != self._name:
            return None

        def choice(table: PrivateTable, name: str) -> StoredColumn | None:
            return self._choice(table, name, expression, column)

        found = _with_column(self.rows, column.name, choice)
        if found is None:
            return None
        self.rows, placed = found
        return _read(self._name, placed)

    def _choice(
        self, table: PrivateTable, name: str, expression: Expression, column: ColumnOf
    ) -> StoredColumn | None:
        declared = next(each for each in table.columns if each.name == name)
        for each in _placed(table.rows_per_unit, declared):
            is_same = _is_same(expression, each.expression(column.source, column.name))
            if is_same and self._stored(table.name, each.name):
                return each
        return None


def _is_same(one: Expression, other: Expression) -> bool:
    """Return whether two expressions are written alike: literals that are equal may differ."""
    return one == other and all(
        a.facts.kind is b.facts.kind for a, b in zip(parts_of(one), parts_of(other), strict=True)
    )


def _read(source: str, placed: StoredColumn) -> ColumnOf:
    steps = placed.grid.steps
    return ColumnOf(
        source=source, name=placed.name, facts=Facts(kind=Kind.INTEGER), within=(0, steps)
    )


Choice = Callable[[PrivateTable, str], StoredColumn | None]
"""What is read of a column of a table, if anything."""


def _with_column(rows: Relation, name: str, choice: Choice) -> tuple[Relation, StoredColumn] | None:
    """Return rows that have the places of one of their columns besides; None if none are kept."""
    match rows:
        case Scan(table=table, is_bounded=True):
            placed = choice(table, name)
            return None if placed is None else (_scan(rows, placed), placed)
        case Select():
            return _select(rows, name, choice)
        case _:
            return None


def _scan(scan: Scan, placed: StoredColumn) -> Scan:
    columns = scan.table.columns
    if any(each.name == placed.name for each in columns):
        return scan
    added = Declared(name=placed.name, kind=Kind.INTEGER)
    return replace(scan, table=replace(scan.table, columns=(*columns, added)))


def _select(select: Select, name: str, choice: Choice) -> tuple[Select, StoredColumn] | None:
    shown = next(each.expression for each in select.columns if each.name == name)
    if not isinstance(shown, ColumnOf):
        return None
    found = _with_source(select, shown, choice)
    if found is None:
        return None
    changed, placed = found
    added = NamedExpression(name=placed.name, expression=_read(shown.source, placed))
    same = [each for each in select.columns if each.name.casefold() == placed.name.casefold()]
    if same:
        return (changed, placed) if same == [added] else None
    return replace(changed, columns=(*select.columns, added)), placed


def _with_source(
    select: Select, column: ColumnOf, choice: Choice
) -> tuple[Select, StoredColumn] | None:
    """Return the SELECT with one of its sources changed: NULL of a LEFT JOIN is in no place."""
    if column.source == select.name:
        found = _with_column(select.source, column.name, choice)
        return None if found is None else (replace(select, source=found[0]), found[1])
    for number, join in enumerate(select.joins):
        if join.name == column.source:
            return _with_joined(select, number, join, column, choice)
    return None


def _with_joined(
    select: Select, number: int, join: Join, column: ColumnOf, choice: Choice
) -> tuple[Select, StoredColumn] | None:
    if isinstance(join.source, PublicRelation):
        return None
    found = _with_column(join.source, column.name, choice)
    if found is None:
        return None
    joins = list(select.joins)
    joins[number] = replace(join, source=found[0])
    return replace(select, joins=tuple(joins)), found[1]


def without_repeated_unit_joins(rows: Relation) -> Relation:
    """Return the same rows, with joins that leave it to the tie whether units are equal."""
    match rows:
        case Scan():
            return rows
        case Select(source=source):
            joins = tuple(_join(each, rows) for each in rows.joins)
            return replace(rows, source=without_repeated_unit_joins(source), joins=joins)
        case GroupByUnit(source=source):
            return replace(rows, source=without_repeated_unit_joins(source))
        case UnionAll(parts=parts):
            return replace(rows, parts=tuple(map(without_repeated_unit_joins, parts)))


def _join(join: Join, select: Select) -> Join:
    if isinstance(join.source, PublicRelation):
        return join
    units = {select.name: select.source, join.name: join.source}
    conditions = list(_conditions(join.on))
    left = [each for each in conditions if not _is_tie(each, units)]
    return replace(
        join, source=without_repeated_unit_joins(join.source), on=_all_of(left, conditions, join.on)
    )


def _all_of(left: list[Expression], among: list[Expression], whole: Expression) -> Expression:
    if len(left) == len(among):
        return whole
    if len(left) < 2:
        return left[0] if left else literal(True)
    return call("and", *left)


def _conditions(expression: Expression) -> Iterator[Expression]:
    """Yield what must all be true."""
    if isinstance(expression, Call) and expression.function == "and":
        for each in expression.arguments:
            yield from _conditions(each)
    else:
        yield expression


def _is_tie(condition: Expression, units: dict[str, Relation]) -> bool:
    """Return whether it says that both relations are of the same unit, and no more."""
    match condition:
        case Call(function="equal", arguments=(ColumnOf() as one, ColumnOf() as other)):
            is_same_kind = one.facts.kind is other.facts.kind
            are_both = {one.source, other.source} == units.keys()
            return is_same_kind and are_both and all(_is_unit(x, units) for x in (one, other))
    return False


def _is_unit(column: ColumnOf, units: dict[str, Relation]) -> bool:
    """Return whether a column has the unit of its row, and so is never NULL."""
    rows, name = units[column.source], column.name
    match rows:
        case Scan(table=table, parents=parents):
            unit = table.unit
            return not parents and isinstance(unit, ColumnUnit) and unit.column == name
        case Select(columns=columns) | GroupByUnit(keys=columns):
            shown = [each.expression for each in columns if each.name == name]
            inner = {rows.name: rows.source}
            return all(
                isinstance(each, ColumnOf) and each.source in inner and _is_unit(each, inner)
                for each in shown
            ) and bool(shown)
        case _:
            return False
