"""UNION, INTERSECT and EXCEPT of private rows.

UNION ALL puts rows of both sides together, each with its own unit. UNION is DISTINCT over that.
INTERSECT and EXCEPT are DISTINCT over the rows of the left side whose own unit has, or does not
have, an equal row on the right. They are written as SELECT DISTINCT ... WHERE [NOT] EXISTS, which
is then checked like any other SELECT.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.catalog.schema import ColumnUnit, Kind, PrivateTable
from discreet.errors import (
    JoinError,
    QuestionError,
    RowLevelError,
    UnsupportedError,
)
from discreet.query.check.given_names import renamed_rows
from discreet.query.check.group_counts import REPEATS
from discreet.query.check.private_select import KEY_KINDS, PrivateSelect
from discreet.query.check.relations import (
    CommonTables,
    OutputColumn,
    PostQuery,
    PrivateRows,
    TableRef,
    united_column,
)
from discreet.query.check.row_scope import QuestionWalk
from discreet.query.check.selections import Selection
from discreet.query.check.sizes import MOST_TABLES, many_reads, tables_read
from discreet.query.expressions.rejections import below, unhandled
from discreet.query.parse import span_of
from discreet.query.questions import UnionSum
from discreet.query.tree import (
    ColumnOf,
    NamedExpression,
    Relation,
    Scan,
    Select,
    UnionAll,
)

LEFT, RIGHT, COLUMN = "__left", "__right", "__column"
"""What the two sides are called while they are compared, and the only column of a public side."""

HANDLED = {"this", "expression", "distinct", "by_name"}
AROUND = {"with_", "order", "limit", "offset"}
"""The parts of a set operation: those of its own, and those that SELECT has as well."""


def word_of(node: exp.SetOperation) -> str:
    """Return how a set operation is written."""
    is_all = node.args.get("distinct") is False
    named = " BY NAME" if node.args.get("by_name") else ""
    return f"{node.key.upper()}{' ALL' if is_all else ''}{named}"


def mark_repeats(node: exp.SetOperation) -> None:
    """Note in the parts of a UNION that they may keep repeated rows, which it drops itself."""
    if isinstance(node, exp.Union) and (is_distinct(node) or node.meta.get(REPEATS)):
        for each in (node.this, node.expression):
            each.unnest().meta[REPEATS] = True


def is_distinct(node: exp.SetOperation) -> bool:
    """Return whether a set operation gives each row once."""
    return node.args.get("distinct") is not False


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateSets:
    """A set operation with private rows on at least one side."""

    node: exp.SetOperation
    written: exp.SetOperation
    """The node as it was before its two sides were checked."""
    walker: QuestionWalk
    named: CommonTables

    def result(
        self, left: PrivateRows | PostQuery, right: PrivateRows | PostQuery
    ) -> PrivateRows | PostQuery:
        """Return private rows, or groups to release if the unit is not among the columns."""
        _check_form(self.node)
        if isinstance(left, PrivateRows) and isinstance(right, PrivateRows):
            return self._combined(left, right)
        if isinstance(left, PrivateRows) and isinstance(right, PostQuery):
            return self._beside(left, right, self.written.expression)
        if isinstance(left, PostQuery) and isinstance(right, PrivateRows):
            if isinstance(self.node, exp.Except) and left.is_public:
                raise _public_without_private(self.node)
            return self._beside(renamed_rows(right, left.columns[:1]), left, self.written.this)
        raise TypeError(word_of(self.node))

    def _combined(self, left: PrivateRows, right: PrivateRows) -> PrivateRows | PostQuery:
        node = self.node
        _check_size(node, left, right)
        if node.args.get("by_name"):
            right = _by_name(node, left, right)
        _check_width(node, left, right)
        _check_kinds(node, left, right)
        if not isinstance(node, exp.Union):
            where = _has_equal(node, left, right)
            known = replace(self, named={**self.named, RIGHT: right})
            return known.distinct(left, _coerced(left, right), where)
        _check_units(node, left, right)
        both = united(left, right)
        if not is_distinct(node) or node.meta.get(REPEATS):
            return both
        return self.distinct(both, _columns(both))

    def _beside(
        self, private: PrivateRows, other: PostQuery, written: exp.Expr
    ) -> PrivateRows | PostQuery:
        """Return private rows that are (not) among those of a public query, each once."""
        node = self.node
        if not other.is_public:
            raise _half_released(node, self.written)
        if isinstance(node, exp.Union):
            raise _of_no_unit(node)
        if len(private.columns) != 1 or len(other.columns) != 1:
            how = "NOT IN" if isinstance(node, exp.Except) else "IN"
            raise UnsupportedError(
                f"{word_of(node)} of private and public rows is only supported for one column",
                f"Select one column on both sides, or write WHERE column {how} (SELECT ...)",
                span=span_of(node),
            )
        only = private.columns[0]
        test = _is_listed(_column(LEFT, only.name), written, is_nullable=not only.is_unit)
        where = exp.Not(this=exp.Paren(this=test)) if isinstance(node, exp.Except) else test
        return self.distinct(private, _columns(private), where)

    def distinct(
        self, rows: PrivateRows, columns: list[exp.Expr], where: exp.Expr | None = None
    ) -> PrivateRows | PostQuery:
        """Return different rows: groups by unit if the unit is among the columns, or a release."""
        select = exp.Select(
            expressions=columns,
            distinct=exp.Distinct(),
            where=None if where is None else exp.Where(this=where),
            **{name: self.node.args[name] for name in AROUND if self.node.args.get(name)},
        )
        first = TableRef(name=LEFT, relation=rows)
        selection = Selection(node=select, first=first, joinings=())
        try:
            return PrivateSelect(self.walker, selection, self.named).result()
        except QuestionError as error:
            error.span = error.span or span_of(self.node)
            raise


def _is_listed(column: exp.Column, public: exp.Expr, *, is_nullable: bool) -> exp.Expr:
    """Return whether a value is in a public column; NULL is equal to NULL here."""

    def values(condition: exp.Expr, selected: exp.Expr) -> exp.Subquery:
        inner = exp.Subquery(
            this=public.copy(),
            alias=exp.TableAlias(
                this=exp.to_identifier(RIGHT, quoted=True),
                columns=[exp.to_identifier(COLUMN, quoted=True)],
            ),
        )
        select = exp.Select(
            expressions=[selected], from_=exp.From(this=inner), where=exp.Where(this=condition)
        )
        return exp.Subquery(this=select)

    theirs = exp.column(exp.to_identifier(COLUMN, quoted=True))
    is_null = exp.Is(this=theirs, expression=exp.Null())
    known = values(exp.Not(this=is_null.copy()), theirs.copy())
    found = exp.In(this=column, query=known)
    if not is_nullable:
        return found
    count = values(is_null, exp.Count(this=exp.Star()))
    has_null = exp.GT(this=count, expression=exp.Literal.number(0))
    mine = exp.Is(this=column.copy(), expression=exp.Null())
    return exp.Case(ifs=[exp.If(this=mine, true=has_null)], default=found)


def _columns(rows: PrivateRows) -> list[exp.Expr]:
    return [_column(LEFT, each.name) for each in rows.columns]


# --------------------------------------------------------------------------- rows of both sides


def united(left: PrivateRows, right: PrivateRows) -> PrivateRows:
    """Return the rows of both, column by column."""
    return PrivateRows(
        rows=UnionAll(parts=(left.rows, right.rows)),
        columns=tuple(map(united_column, left.columns, right.columns)),
        unit_kind=left.unit_kind,
        contribution_limit=left.contribution_limit + right.contribution_limit,
        reason=UnionSum(left=left.contribution_limit, right=right.contribution_limit),
        left_out=tuple(dict.fromkeys((*left.left_out, *right.left_out))),
    )


def _by_name(node: exp.SetOperation, left: PrivateRows, right: PrivateRows) -> PrivateRows:
    """Return the right side with its columns in the order of the left one's."""
    theirs = {each.name.casefold(): each for each in right.columns}
    names = [each.name.casefold() for each in left.columns]
    if set(names) != set(theirs):
        raise UnsupportedError(
            f"The two sides of {word_of(node)} have columns of different names",
            "Select columns of the same names on both sides",
            span=span_of(node),
        )
    return _selected(right, [theirs[each] for each in names])


def _selected(rows: PrivateRows, outs: list[OutputColumn]) -> PrivateRows:
    columns = tuple(
        NamedExpression(
            name=each.name, expression=ColumnOf(source=RIGHT, name=each.name, facts=each.facts)
        )
        for each in outs
    )
    inner = Select(source=rows.rows, name=RIGHT, columns=columns)
    return replace(rows, rows=inner, columns=tuple(outs))


def _coerced(left: PrivateRows, right: PrivateRows) -> list[exp.Expr]:
    """Return the columns of the left side, integers as real numbers where the right side's are."""
    columns: list[exp.Expr] = []
    for here, there in zip(left.columns, right.columns, strict=True):
        column: exp.Expr = _column(LEFT, here.name)
        if here.facts.kind is not there.facts.kind:
            column = exp.cast(column, exp.DataType.Type.DOUBLE)
        columns.append(exp.alias_(column, here.name, quoted=True))
    return columns


def _has_equal(node: exp.SetOperation, left: PrivateRows, right: PrivateRows) -> exp.Expr:
    """Return whether the row's own unit has an equal row on the right, or that it has none."""
    pairs = list(zip(left.columns, right.columns, strict=True))
    if not any(here.is_unit and there.is_unit for here, there in pairs):
        raise _without_unit(node, left, right)
    _check_units(node, left, right)
    tests = [
        (exp.EQ if here.is_unit and there.is_unit else exp.NullSafeEQ)(
            this=_column(RIGHT, there.name), expression=_column(LEFT, here.name)
        )
        for here, there in pairs
    ]
    rows = exp.Select(
        expressions=[exp.Literal.number(1)],
        from_=exp.From(this=exp.Table(this=exp.to_identifier(RIGHT, quoted=True))),
        where=exp.Where(this=exp.and_(*tests, copy=False)),
    )
    found = exp.Exists(this=rows)
    return exp.Not(this=found) if isinstance(node, exp.Except) else found


def _column(table: str, name: str) -> exp.Column:
    return exp.column(
        exp.to_identifier(name, quoted=True), table=exp.to_identifier(table, quoted=True)
    )


# --------------------------------------------------------------------------- rejections


def _check_form(node: exp.SetOperation) -> None:
    is_distinct_here = is_distinct(node) and not node.meta.get(REPEATS)
    for name, value in node.args.items():
        if value and name in AROUND and name != "with_" and not is_distinct_here:
            raise below(value, name.upper())
        if value and name not in HANDLED | AROUND:
            raise unhandled(f"{name.strip('_').upper()} with {word_of(node)}", node)
    if not isinstance(node, exp.Union) and node.args.get("distinct") is False:
        raise UnsupportedError(
            f"{word_of(node)} is not supported on private rows",
            f"Write {node.key.upper()}, which keeps each row once",
            span=span_of(node),
        )


def _check_size(node: exp.SetOperation, left: PrivateRows, right: PrivateRows) -> None:
    """Reject rows that are put together from too many tables: a CTE may repeat one many times."""
    number = tables_read(left.rows, right.rows)
    if number > MOST_TABLES:
        raise many_reads(number, word_of(node), node)


def _check_width(node: exp.SetOperation, left: PrivateRows, right: PrivateRows) -> None:
    if len(left.columns) != len(right.columns):
        raise UnsupportedError(
            f"The two sides of {word_of(node)} have {len(left.columns)} and "
            f"{len(right.columns)} columns",
            "Select the same number of columns on both sides",
            span=span_of(node),
        )


def _check_kinds(node: exp.SetOperation, left: PrivateRows, right: PrivateRows) -> None:
    is_all = isinstance(node, exp.Union) and node.args.get("distinct") is False
    for here, there in zip(left.columns, right.columns, strict=True):
        a, b = here.facts.kind, there.facts.kind
        if not (a is b is not Kind.OTHER) and not (a.is_number and b.is_number):
            raise UnsupportedError(
                f"{word_of(node)} cannot combine columns of types {a.value} and {b.value}",
                "Cast one of them with CAST(... AS ...)",
                span=span_of(node),
            )
        if not is_all and a not in KEY_KINDS:
            raise UnsupportedError(
                f"{word_of(node)} cannot compare values of type {a.value}",
                f"Leave out {here.name}, or cast it with CAST(... AS ...)",
                span=span_of(node),
            )


def _check_units(node: exp.SetOperation, left: PrivateRows, right: PrivateRows) -> None:
    if left.unit_kind is None or left.unit_kind is not right.unit_kind:
        raise UnsupportedError(
            f"{word_of(node)} combines rows with different kinds of privacy unit",
            "Combine tables whose privacy units have the same type",
            span=span_of(node),
        )


def _without_unit(node: exp.SetOperation, left: PrivateRows, right: PrivateRows) -> JoinError:
    """Return the error for rows that would be looked for among those of other units."""
    owners = [owner for side in (left, right) for owner in _owners(side.rows)]
    units = [table.unit.column for table, _ in owners if isinstance(table.unit, ColumnUnit)]
    if not units:
        return JoinError(
            f"{word_of(node)} compares rows of different privacy units: each row of "
            f"{owners[0][0].name} is a privacy unit",
            "Write a condition in WHERE",
            span=span_of(node),
        )
    far = dict.fromkeys(table.name for table, is_far in owners if is_far)
    joined = f", joining {' and '.join(far)} where a table does not have it" if far else ""
    return JoinError(
        f"{word_of(node)} on private rows must compare rows of the same {units[0]}",
        f"Select {units[0]} at the same place on both sides{joined}",
        span=span_of(node),
    )


def _owners(rows: Relation) -> Iterator[tuple[PrivateTable, bool]]:
    """Yield the tables that say whose rows these are, and whether a path leads there."""
    match rows:
        case Scan(table=table, parents=parents):
            yield (parents[-1], True) if parents else (table, False)
        case UnionAll(parts=parts):
            for each in parts:
                yield from _owners(each)
        case _:
            yield from _owners(rows.source)


def _half_released(node: exp.SetOperation, written: exp.SetOperation) -> RowLevelError:
    tables = [each.name for each in written.find_all(exp.Table)]
    of = f" of {tables[0]}" if len(set(tables)) == 1 else ""
    return RowLevelError(
        f"One side of {word_of(node)} is an aggregate, and the other would return individual "
        f"rows{of}",
        f"Aggregate both sides. Or aggregate neither, and the rows of {word_of(node)} around them",
        span=span_of(node),
    )


def _public_without_private(node: exp.SetOperation) -> UnsupportedError:
    return UnsupportedError(
        "EXCEPT would show which public values no private row has",
        "Count the private rows of each public value, with GROUP BY",
        span=span_of(node),
    )


def _of_no_unit(node: exp.SetOperation) -> UnsupportedError:
    return UnsupportedError(
        f"{word_of(node)} combines private rows with public rows, which belong to no privacy unit",
        "Aggregate each side first, then combine the results",
        span=span_of(node),
    )
