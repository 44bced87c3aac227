"""Joins as private rows of their own: in brackets, on the right of an outer join, and FULL JOIN.

Their columns are found by the tables that are joined there, as if these stood in FROM themselves.
FULL JOIN is the rows of a LEFT JOIN and, after UNION ALL, the rows of the right side that have no
partner on the left: those of the LEFT JOIN the other way round in which the left side is missing.
Both parts are tied to the unit, and each row is of the unit of the side that it begins with.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.errors import JoinError, QuestionSizeError
from discreet.query.check.joins import Joined, holds_unit, join_all, refuse_many_rows
from discreet.query.check.post_select import unused_name
from discreet.query.check.relations import (
    CommonTables,
    Names,
    OutputColumn,
    PrivateRows,
    TableRef,
    optional,
    private_of,
    table_of,
    united_column,
)
from discreet.query.check.row_scope import TRUTH, QuestionWalk, RowScope
from discreet.query.check.selections import Joining, Selection
from discreet.query.expressions.functions import call
from discreet.query.expressions.translate import condition
from discreet.query.parse import span_of
from discreet.query.questions import FullJoinSum, JoinProduct
from discreet.query.tree import (
    ColumnOf,
    Expression,
    GroupByUnit,
    JoinKind,
    Literal,
    NamedExpression,
    Select,
    UnionAll,
)

MOST_SCANS = 64
"""Each FULL JOIN reads its left side twice; a query may not read tables more often in this way."""

INNER_ROWS = "__side"
"""What the left side of FULL JOIN is called while it gets a column more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """Joined rows with all their columns."""

    joined: Joined
    names: Names
    where: Expression | None

    def select(self, columns: Sequence[tuple[str, ColumnOf]]) -> Select:
        return Select(
            source=self.joined.rows,
            name=self.joined.name,
            joins=self.joined.joins,
            where=self.where,
            columns=tuple(NamedExpression(name=name, expression=each) for name, each in columns),
        )


def bracketed_rows(selection: Selection, walker: QuestionWalk, named: CommonTables) -> TableRef:
    """Return joined private rows as one relation; rows without a private partner are not in it."""
    part = _part(selection, walker, named)
    found = [(source, out) for source in selection.sources for out in source.columns]
    outs: list[OutputColumn] = []
    columns: list[tuple[str, ColumnOf]] = []
    for source, out in found:
        mine = _inner_column(source, out, _taken(outs))
        outs.append(mine)
        columns.append((mine.name, _column(source, out)))
    joined = part.joined
    private = PrivateRows(
        rows=part.select(columns),
        columns=tuple(outs),
        unit_kind=joined.first.unit_kind,
        contribution_limit=joined.contribution_limit,
        reason=joined.reason,
        one_row_per_unit=joined.one_row_per_unit,
        left_out=joined.left_out,
    )
    return TableRef(name=_name_of(selection.sources), relation=private)


def full_join(
    left: TableRef,
    joining: Joining,
    shared: Sequence[str],
    walker: QuestionWalk,
    named: CommonTables,
) -> TableRef:
    """Return the rows of both sides of FULL JOIN, with and without a partner."""
    right = joining.source
    marked, marker = _marked(left)
    before = replace(joining, source=replace(right, is_optional=True), kind=JoinKind.LEFT)
    after = replace(joining, source=replace(marked, is_optional=True), kind=JoinKind.LEFT)
    node = exp.Select()
    both = frozenset(shared).union(
        out.written.casefold() for side in (left, right) for out in side.columns if out.is_merged
    )
    with_left, alone = (
        _part(Selection(node=node, first=side, joinings=(each,), shared=both), walker, named)
        for side, each in ((left, before), (right, after))
    )
    is_there = ColumnOf(source=left.name, name=marker, facts=replace(TRUTH, nullable=True))
    missing = call("is_null", is_there)
    alone = replace(alone, where=missing)
    outs: list[OutputColumn] = []
    first: list[tuple[str, ColumnOf]] = []
    second: list[tuple[str, ColumnOf]] = []
    for name in shared:
        here, there = _named(left, name), _named(right, name)
        _check_kinds(here, there, joining)
        merged = replace(united_column(here, there), name=here.written, origin=None)
        mine = _inner_column(left, replace(merged, table="", called=here.written), _taken(outs))
        outs.append(mine)
        first.append((mine.name, _column(left, here)))
        second.append((mine.name, _column(right, there)))
    for source in (left, right):
        for out in source.columns:
            mine = _inner_column(source, optional(out), _taken(outs))
            outs.append(mine)
            first.append((mine.name, _column(source, optional(out))))
            second.append((mine.name, _column(source, optional(out))))
    a, b = private_of(left).contribution_limit, private_of(right).contribution_limit
    limit = max(with_left.joined.contribution_limit, a + b)
    refuse_many_rows(limit, joining.node)
    rows = UnionAll(parts=(with_left.select(first), alone.select(second)))
    if _scans_in(rows) > MOST_SCANS:
        raise QuestionSizeError(
            f"FULL JOIN would read tables more than {MOST_SCANS} times",
            "Use fewer of them, or LEFT JOIN",
            span=span_of(joining.node),
        )
    reason = with_left.joined.reason
    if limit == a + b or not isinstance(reason, JoinProduct):
        reason = FullJoinSum(left=a, right=b)
    private = PrivateRows(
        rows=rows,
        columns=tuple(outs),
        unit_kind=private_of(left).unit_kind,
        contribution_limit=limit,
        reason=reason,
        left_out=with_left.joined.left_out,
    )
    return TableRef(name=_name_of((left, right)), relation=private)


def _check_kinds(here: OutputColumn, there: OutputColumn, joining: Joining) -> None:
    kinds = (here.facts.kind, there.facts.kind)
    if kinds[0] is not kinds[1] and not all(each.is_number for each in kinds):
        raise JoinError(
            f"{here.written} is of type {kinds[0].value} on one side of FULL JOIN and of type "
            f"{kinds[1].value} on the other",
            "Join with ON, and name the table of each column",
            span=span_of(joining.node),
        )


def _part(selection: Selection, walker: QuestionWalk, named: CommonTables) -> _Part:
    names = selection.names
    scope = RowScope(walker, names, named, {})

    def all_of(conditions: list[exp.Expr]) -> Expression:
        node = exp.and_(*conditions, copy=True) if conditions else exp.true()
        return condition(node, scope)

    joined = join_all(selection, None, names, walker.public, all_of)
    where = all_of(list(joined.conditions)) if joined.conditions else None
    return _Part(joined=joined, names=names, where=where)


def _scans_in(rows: object) -> int:
    """Return how often tables are read."""
    match rows:
        case Select(source=source, joins=joins):
            return _scans_in(source) + sum(_scans_in(each.source) for each in joins)
        case GroupByUnit(source=source):
            return _scans_in(source)
        case UnionAll(parts=parts):
            return sum(map(_scans_in, parts))
        case _:
            return 1


def _marked(source: TableRef) -> tuple[TableRef, str]:
    """Return private rows with a column that is true in each of them."""
    private = private_of(source)
    marker = unused_name("is there", [each.name for each in private.columns])
    there = Literal(value=True, facts=TRUTH)
    columns = [
        (each.name, ColumnOf(source=INNER_ROWS, name=each.name, facts=each.facts))
        for each in private.columns
    ]
    rows = Select(
        source=private.rows,
        name=INNER_ROWS,
        columns=(
            *(NamedExpression(name=name, expression=each) for name, each in columns),
            NamedExpression(name=marker, expression=there),
        ),
    )
    return replace(source, relation=replace(private, rows=rows)), marker


def _inner_column(source: TableRef, out: OutputColumn, taken: list[str]) -> OutputColumn:
    """Return a column of joined rows, found by the table that it comes from."""
    table = table_of(source, out)
    wanted = f"{table}.{out.written}" if table else out.written
    return replace(
        out,
        name=unused_name(wanted, taken),
        table=table,
        called=out.written,
        is_row_number=False,
        is_unit_or_null=_holds_unit(source, out),
    )


def _holds_unit(source: TableRef, out: OutputColumn) -> bool:
    is_there = any(each.name == out.name for each in source.columns)
    return is_there and isinstance(source.relation, PrivateRows) and holds_unit(source, out)


def _taken(outs: list[OutputColumn]) -> list[str]:
    return [each.name for each in outs]


def _named(source: TableRef, name: str) -> OutputColumn:
    found = [each for each in source.columns if each.written.casefold() == name.casefold()]
    return min(found, key=lambda each: not each.is_merged)


def _column(source: TableRef, out: OutputColumn) -> ColumnOf:
    return ColumnOf(source=source.name, name=out.name, facts=out.facts)


def _name_of(sources: Sequence[TableRef]) -> str:
    """Return what joined rows are called, in SQL and where a limit is explained."""
    names = [each.name.removeprefix("(").removesuffix(")") for each in sources]
    return f"({' and '.join(names)})"
