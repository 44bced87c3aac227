"""The meaning of names, windows and inner queries in an expression over private rows."""

import re
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from typing import Protocol

from sqlglot import exp

from discreet.catalog.schema import Kind
from discreet.errors import (
    JoinError,
    NestedAggregateError,
    QuestionSizeError,
    UnknownNameError,
    UnsupportedError,
)
from discreet.query.check.constant_tables import TableWalk, check_width, in_released
from discreet.query.check.path_values import INNER, only_true_counts, other_than_unit, path_tie
from discreet.query.check.post_select import check_functions, whole
from discreet.query.check.relations import (
    CommonTables,
    Names,
    PostQuery,
    PrivateRows,
    TableRef,
    table_of,
)
from discreet.query.check.selections import conjuncts
from discreet.query.expressions.rejections import nested_aggregate, row_level, unhandled
from discreet.query.expressions.translate import condition, translate
from discreet.query.parse import DIALECT, span_of
from discreet.query.tree import (
    Expression,
    Facts,
    Interval,
    Ordering,
    ReleasedScalar,
    UnitSemiJoin,
    Window,
    WindowFunction,
)

TRUTH = Facts(kind=Kind.BOOLEAN, domain=(False, True), nullable=False)


FUNCTIONS: dict[type[exp.Expr], WindowFunction] = {
    exp.RowNumber: WindowFunction.ROW_NUMBER,
    exp.Rank: WindowFunction.RANK,
    exp.DenseRank: WindowFunction.DENSE_RANK,
    exp.Lag: WindowFunction.LAG,
    exp.Lead: WindowFunction.LEAD,
    exp.FirstValue: WindowFunction.FIRST_VALUE,
    exp.LastValue: WindowFunction.LAST_VALUE,
    exp.Count: WindowFunction.COUNT,
    exp.Sum: WindowFunction.SUM,
    exp.Min: WindowFunction.MIN,
    exp.Max: WindowFunction.MAX,
}


RANKS = {WindowFunction.ROW_NUMBER, WindowFunction.RANK, WindowFunction.DENSE_RANK}


NEIGHBOURS = {WindowFunction.LAG, WindowFunction.LEAD}


MOST_COLUMNS = 20_000
"""How often columns may be read in one SELECT, aliases written out."""


MOST_LISTED = 10_000
"""No longer list of public values is put into a query."""


class QuestionWalk(TableWalk, Protocol):
    """The walk through the query, for the parts of it that meet queries inside."""

    outermost: exp.Expr | None
    """The SELECT whose result is the answer."""

    def query(self, node: exp.Expr, named: CommonTables) -> PrivateRows | PostQuery:
        """Return what a query is."""
        ...

    def source_of_only(self, node: exp.Select, named: CommonTables) -> TableRef:
        """Return the one relation that a SELECT reads."""
        ...

    def is_answer(self, node: exp.Expr) -> bool:
        """Return whether the rows of a query are those of the answer."""
        ...

    def scalar(self, node: exp.Expr, result: PostQuery, named: CommonTables) -> int:
        """Return the number under which a later release finds the only value of a query."""
        ...


class RowScope:
    """The meaning of names at one place; a `NameScope` for `translate`."""

    def __init__(
        self,
        walker: QuestionWalk,
        names: Names,
        named: CommonTables,
        aliases: dict[str, exp.Expr],
    ) -> None:
        self.walker, self.names, self.named, self.aliases = walker, names, named, aliases
        self.allows_windows = False
        self._open_aliases: set[str] = set()
        self._meanings: dict[str, tuple[Expression, int]] = {}
        self._size = 0

    def column(self, node: exp.Column) -> Expression:
        """Return a column of FROM, or what an alias of the SELECT stands for."""
        name = node.name.casefold()
        is_alias = not node.table and name in self.aliases and name not in self._open_aliases
        if is_alias and not self.names.has(node):
            try:
                return self._alias(name)
            except NestedAggregateError:
                raise nested_aggregate(node, node.name) from None
        self._grow(1)
        return self.names.column(node)

    def _alias(self, name: str) -> Expression:
        """Return what an alias stands for; aliases of aliases must not grow without bounds."""
        if name in self._meanings:
            meaning, size = self._meanings[name]
            self._grow(size)
            return meaning
        before = self._size
        self._open_aliases.add(name)
        try:
            meaning = translate(self.aliases[name], self)
        finally:
            self._open_aliases.discard(name)
        self._meanings[name] = (meaning, self._size - before)
        return meaning

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > MOST_COLUMNS:
            raise QuestionSizeError(
                f"The query reads columns more than {MOST_COLUMNS:,} times",
                "Use fewer aliases of aliases, or compute them in a subquery",
            )

    # ----------------------------------------------------------------------- windows

    def window(self, node: exp.Window) -> Expression:
        """Return a window inside one unit's rows; any other would tie units together."""
        if not self.allows_windows:
            raise unhandled("A window function in this place", node)
        for name, value in node.args.items():
            if value and name not in ("this", "partition_by", "order", "spec", "over"):
                raise unhandled(f"{name.upper()} in a window", node)
        partition = [translate(each, self) for each in node.args.get("partition_by") or ()]
        if not any(self.names.is_of_one_unit(each) for each in partition):
            raise UnsupportedError(
                "This window combines rows of different privacy units",
                f"In a subquery, write {self._by_unit(node)}. Then aggregate its result",
                span=span_of(node),
            )
        function = FUNCTIONS.get(type(node.this))
        if function is None:
            raise unhandled(f"{node.this.sql(dialect=DIALECT)} as a window function", node)
        arguments = self._window_arguments(node.this, function)
        order = tuple(map(self._ordering, (node.args.get("order") or exp.Order()).expressions))
        return Window(
            function=function,
            arguments=arguments,
            partition=tuple(each for each in partition if not self.names.is_unit(each)),
            order=order,
            frame=_frame(node, function),
            facts=_window_facts(function, arguments),
        )

    def _window_arguments(self, node: exp.Expr, function: WindowFunction) -> tuple[Expression, ...]:
        if function in RANKS or isinstance(node.this, exp.Star):
            return ()
        if isinstance(node.this, exp.Distinct):
            raise unhandled("DISTINCT in a window", node)
        first = translate(node.this, self)
        if function is WindowFunction.SUM and first.facts.kind is not Kind.INTEGER:
            raise UnsupportedError(
                "A running sum is only supported for integers",
                f"Cast to INTEGER, or sum with GROUP BY {self._unit_name()}",
                span=span_of(node),
            )
        if function not in NEIGHBOURS:
            return (first,)
        offset = node.args.get("offset")
        if offset is not None and not (isinstance(offset, exp.Literal) and offset.is_int):
            raise unhandled("A computed offset in LAG or LEAD", node)
        rest = [each for each in (offset, node.args.get("default")) if each is not None]
        return (first, *(translate(each, self) for each in rest))

    def _ordering(self, node: exp.Ordered) -> Ordering:
        return Ordering(
            expression=translate(node.this, self),
            descending=bool(node.args.get("desc")),
            nulls_first=bool(node.args.get("nulls_first")),
        )

    def _by_unit(self, node: exp.Window) -> str:
        """Return a window with PARTITION BY the unit, as SQL."""
        parts = [exp.column(self._unit_name()), *(node.args.get("partition_by") or ())]
        window = node.copy()
        window.set("partition_by", [each.copy() for each in parts])
        return window.sql(dialect=DIALECT)

    def _unit_name(self) -> str:
        units = [
            out.written for source in self.names.sources for out in source.columns if out.is_unit
        ]
        return units[0] if units else "the privacy unit"

    # ----------------------------------------------------------------------- inner queries

    def subquery(self, node: exp.Expr) -> Expression:
        """Return what EXISTS, IN or a query used as a number means for a row.

        The node is copied, because a check uses up its tree and an expression may be read twice.
        """
        match node.copy():
            case exp.Exists() as copied:
                return self._exists(copied)
            case exp.In() as copied:
                return self._is_in(copied, only_true_counts=only_true_counts(node))
            case copied:
                return self._number(copied)

    def _exists(self, node: exp.Exists) -> Expression:
        inner = node.this.unnest() if isinstance(node.this, exp.Subquery) else node.this
        if not isinstance(inner, exp.Select):
            raise unhandled("This form of EXISTS", node)
        for name, value in inner.args.items():
            if value and name not in ("expressions", "from_", "joins", "where"):
                raise unhandled(f"{name.strip('_').upper()} inside EXISTS", node)
        source = self.walker.source_of_only(inner, self.named)
        if not isinstance(source.relation, PrivateRows):
            raise UnsupportedError(
                f"EXISTS is not supported for {source.name}, which is not a private table",
                "Join it, or write IN (SELECT ...)",
                span=span_of(node),
            )
        names = Names((source,), parent=self.names)
        scope = RowScope(self.walker, names, self.named, {})
        asked = inner.args["where"].this if inner.args.get("where") else None
        self._check_tied(source, asked, names, node)
        where = None if asked is None else condition(asked, scope)
        return UnitSemiJoin(rows=source.relation.rows, name=source.name, where=where, facts=TRUTH)

    def _check_tied(
        self,
        source: TableRef,
        condition: exp.Expr | None,
        names: Names,
        node: exp.Expr,
    ) -> None:
        """Reject EXISTS over rows of other units."""
        for each in conjuncts(condition):
            if not isinstance(each, exp.EQ):
                continue
            sides = [side for side in (each.this, each.expression) if isinstance(side, exp.Column)]
            found = [names.find(side) for side in sides]
            if [place.name == source.name for place, _ in found] not in (
                [True, False],
                [False, True],
            ):
                continue
            if all(out.is_unit for _, out in found):
                self._check_kinds(source, [names.column(side) for side in sides], node)
                return
            if found[0][1].leads_to & found[1][1].leads_to:
                return
        there = next((out.name for out in source.columns if out.is_unit), None)
        here = next(
            (
                ".".join(filter(None, (table_of(each, o), o.written)))
                for each in self.names.sources
                for o in each.columns
                if o.is_unit
            ),
            None,
        )
        pair = f"{source.name}.{there} = {here}" if there and here else "an equality of both units"
        raise JoinError(
            f"The EXISTS subquery must look at rows of the same {there or 'privacy unit'}",
            f"Add {pair} to its WHERE clause",
            span=span_of(node),
        )

    def _check_kinds(self, source: TableRef, found: list[Expression], node: exp.Expr) -> None:
        kinds = {each.facts.kind for each in found}
        if len(kinds) > 1:
            raise JoinError(
                f"The privacy units of {source.name} and of the outer query have different types",
                "Ask the data owner to store both columns with the same type",
                span=span_of(node),
            )

    def _is_in(self, node: exp.In, *, only_true_counts: bool) -> Expression:
        result = self.walker.query(node.args["query"], self.named)
        left = node.this
        if isinstance(result, PrivateRows):
            mine = translate(left, self)
            is_unit = len(result.columns) == 1 and result.columns[0].is_unit
            if not (is_unit and self.names.is_unit(mine)):
                tie = path_tie(left, result, self.names) if only_true_counts else None
                if tie is not None:
                    rows = TableRef(name=INNER, relation=result)
                    inner = Names((rows,), parent=self.names)
                    where = condition(tie, RowScope(self.walker, inner, self.named, {}))
                    return UnitSemiJoin(rows=result.rows, name=INNER, where=where, facts=TRUTH)
                raise other_than_unit(node, self._unit_name())
            if mine.facts.kind is not result.columns[0].facts.kind:
                self._check_kinds(
                    TableRef(name="the inner query", relation=result),
                    [mine, replace(mine, facts=result.columns[0].facts)],
                    node,
                )
            return UnitSemiJoin(rows=result.rows, name=INNER, where=None, facts=TRUTH)
        if not result.is_public:
            return in_released(translate(left, self), result, node, self.named, self.walker)
        values = self._public_values(result, node)
        listed = [_constant(each) for (each,) in values]
        if not listed:
            return translate(exp.false(), self)
        return translate(exp.In(this=left, expressions=listed), self)

    def _public_values(self, result: PostQuery, node: exp.Expr) -> list[tuple[object, ...]]:
        check_width(result, node)
        tree = whole(result.tree, self.named)
        check_functions(tree)
        sql = tree.sql(dialect=DIALECT, identify=True)
        values = self.walker.public.values(f"SELECT * FROM ({sql}) LIMIT {MOST_LISTED + 1}")  # noqa: S608
        if len(values) > MOST_LISTED:
            raise UnsupportedError(
                f"The inner query returns more than {MOST_LISTED:,} values",
                "Join the public table instead",
                span=span_of(node),
            )
        return list(values)

    def _number(self, node: exp.Expr) -> Expression:
        """Return the only value of a query: public, or released and charged before it is used."""
        try:
            result = self.walker.query(node, self.named)
        except UnknownNameError as refusal:
            raise self._correlated(node) or refusal from None
        if isinstance(result, PrivateRows):
            raise row_level(node, is_per_unit=result.is_per_unit)
        if result.is_public:
            values = self._public_values(result, node)
            if len(values) > 1:
                raise UnsupportedError(
                    "A subquery that is used as a value returns several rows",
                    "Use an aggregate in it, such as MAX",
                    span=span_of(node),
                )
            return translate(_constant(values[0][0] if values else None), self)
        number = self.walker.scalar(node, result, self.named)
        return ReleasedScalar(number=number, facts=Facts(kind=Kind.REAL))

    def _correlated(self, node: exp.Expr) -> UnsupportedError | None:
        """Return the error for a query that reads the row around it, if it does."""
        around = {each.casefold() for each in self.names.tables}
        within = {each.alias_or_name.casefold() for each in node.find_all(exp.Table, exp.Subquery)}
        if not any(each.table.casefold() in around - within for each in node.find_all(exp.Column)):
            return None
        return UnsupportedError(
            "A subquery that refers to the outer row is not supported here",
            f"Compute it in FROM with GROUP BY {self._unit_name()}, and join it on "
            f"{self._unit_name()}",
            span=span_of(node),
        )


def _constant(value: object) -> exp.Expr:
    """Return a public value as SQL."""
    if isinstance(value, datetime):
        kind = "TIMESTAMP" if value.tzinfo is None else "TIMESTAMPTZ"
        return exp.cast(exp.Literal.string(value.isoformat(sep=" ")), kind, dialect=DIALECT)
    if isinstance(value, date):
        return exp.cast(exp.Literal.string(value.isoformat()), "DATE", dialect=DIALECT)
    return exp.convert(value)


def _frame(node: exp.Window, function: WindowFunction) -> str:
    """Return "whole", "running" or "2 preceding"; other frames are rejected."""
    if function in RANKS | NEIGHBOURS:
        return "whole"
    spec = node.args.get("spec")
    if spec is None:
        is_first = function is WindowFunction.FIRST_VALUE
        if not node.args.get("order") or is_first:
            return "whole"
        raise UnsupportedError(
            "A window with ORDER BY needs a frame",
            "Add ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
            span=span_of(node),
        )
    parts = {name: str(value).upper() for name, value in spec.args.items() if value}
    if parts.keys() - {"kind", "start", "start_side", "end", "end_side"}:
        raise unhandled("This window frame", node)
    is_rows = parts.get("kind") == "ROWS"
    is_before = parts.get("start_side") == "PRECEDING"
    is_from_start = parts.get("start") == "UNBOUNDED" and is_before
    if is_rows and is_before and parts.get("end", "CURRENT ROW") in ("CURRENT ROW", ""):
        if is_from_start:
            return "running"
        if re.fullmatch("[0-9]{1,6}", parts.get("start", "")):
            return f"{int(parts['start'])} preceding"
    if is_from_start and parts.get("end") == "UNBOUNDED":
        return "whole"
    raise unhandled("This window frame", node)


def _window_facts(function: WindowFunction, arguments: tuple[Expression, ...]) -> Facts:
    whole = Facts(
        kind=Kind.INTEGER, interval=Interval(low=Fraction(0)), step=Fraction(1), nullable=False
    )
    if function in RANKS or function is WindowFunction.COUNT:
        return whole
    if function is WindowFunction.SUM:
        return Facts(kind=Kind.INTEGER, step=Fraction(1))
    facts = arguments[0].facts
    domain = facts.domain
    with_null = domain if domain is None or None in domain else (*domain, None)
    return replace(facts, nullable=True, domain=with_null)
