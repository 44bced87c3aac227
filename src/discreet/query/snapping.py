"""Times of a query rounded down to the steps of the columns that they are compared with.

Dashboards write the time of a refresh into every query, so each refresh is a new query. With times
rounded down to the column's step, it is the same query until the next step begins, and free. This
happens before a query is asked, and only where a program wants it: nothing here reads data.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from typing import TypeAlias

from sqlglot import ErrorLevel, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from discreet.catalog.catalog import Catalog
from discreet.catalog.schema import Column, Kind
from discreet.catalog.time_steps import DAY, UNITS, rounded_down, step_of_times
from discreet.errors import QuestionError
from discreet.query.moments import MOMENTS, ZONED, Moment, moment_of, truncated, unit_cut_to
from discreet.query.parse import class_of, read_tree
from discreet.written import WrittenQuery

COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnappedTime:
    """A time that was rounded down."""

    written: str
    """As the query has it."""
    snapped: str
    column: str
    """The column that it is compared with: visits.day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapped:
    """A query with its times rounded down, and what was changed."""

    query: WrittenQuery
    """The same object if nothing was changed; else without placeholders."""
    changes: tuple[SnappedTime, ...] = ()
    without_step: tuple[str, ...] = ()
    """Timestamps that are compared with a time of day, and for which no step is declared."""


def snapped(query: WrittenQuery, catalog: Catalog, now: datetime) -> Snapped:
    """Return a query with times rounded down to the steps of the columns they are compared with.

    The clock (NOW(), CURRENT_DATE, ...) is replaced by `now` there, and stays elsewhere. Snapped
    again, the query is the same. One that cannot be read is left as it is, to be rejected later.
    """
    try:
        tree, options = read_tree(query)
    except (QuestionError, RecursionError):
        return Snapped(query=query)
    if options is not None:  # which the tree does not have
        return Snapped(query=query)
    found = _Snapping(tree=tree, catalog=catalog, now=now, dialect=class_of(query.dialect))
    try:
        found.snap()
        text = found.text() if found.changes else None
    except RecursionError:
        return Snapped(query=query)
    if text is None:
        return Snapped(query=query, without_step=tuple(found.without_step))
    return Snapped(
        query=replace(query, text=text, parameters=None),
        changes=tuple(found.changes),
        without_step=tuple(found.without_step),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """An expression of one column that times are compared with."""

    column: str
    kind: Kind
    round_down: Callable[[datetime], datetime] | None
    """None if nothing says how far."""


Meanings: TypeAlias = "tuple[_Compared | None, ...]"
"""Each column that a name may mean; None for one that is not a time, or is not known."""


class _Snapping:
    """One walk through the comparisons of a query."""

    def __init__(
        self, *, tree: exp.Query, catalog: Catalog, now: datetime, dialect: type[Dialect]
    ) -> None:
        self.tree, self.catalog, self.now, self.dialect = tree, catalog, now, dialect
        self.changes: list[SnappedTime] = []
        self.without_step: dict[str, None] = {}
        self.known: dict[tuple[int, str, str], Meanings] = {}

    def snap(self) -> None:
        """Round times down, in the tree."""
        for left, right in list(_pairs(self.tree)):
            moment = moment_of(right, self.now)
            compared = None if moment is None else self.compared(left)
            if moment is not None and compared is not None:
                self.snap_one(right, moment, compared)

    def text(self) -> str | None:
        """Return the query as SQL of its own dialect, None if that cannot be written."""
        try:
            return self.tree.sql(
                dialect=self.dialect, comments=False, unsupported_level=ErrorLevel.RAISE
            )
        except SqlglotError:
            return None

    def snap_one(self, node: exp.Expr, moment: Moment, compared: _Compared) -> None:
        """Round one time down, if that changes it or it reads the clock."""
        if moment.has_offset and compared.kind is not Kind.TIMESTAMP_TZ:
            return  # which no database reads alike
        if compared.round_down is None:
            if moment.reads_clock or moment.at != truncated(moment.at, "day"):
                self.without_step[compared.column] = None
            return
        try:
            value = compared.round_down(moment.at)
        except OverflowError:
            return
        is_same = value == moment.at and not moment.reads_clock
        if is_same and not _is_foreign(node, moment, compared.kind):
            return
        literal = _literal(value, compared.kind)
        self.changes.append(
            SnappedTime(
                written=node.sql(dialect=self.dialect),
                snapped=literal.sql(dialect=self.dialect),
                column=compared.column,
            )
        )
        node.replace(literal)

    # ----------------------------------------------------------------------- columns

    def compared(self, node: exp.Expr) -> _Compared | None:
        """Return the column that an expression is, or is computed of; None for other ones."""
        match node:
            case exp.Paren():
                return self.compared(node.this)
            case exp.Column():
                return self.found(node)
            case exp.Cast():
                inner = self.compared(node.this)
                if inner is None or not (node.to.this in MOMENTS or node.to.this is exp.DType.DATE):
                    return None
                return _cast(inner, node.to.this)
            case exp.TimestampTrunc() | exp.DateTrunc():
                inner, unit = self.compared(node.this), unit_cut_to(node)
                return None if inner is None or unit is None else _cut(inner, unit)
        return None

    def found(self, column: exp.Column) -> _Compared | None:
        """Return what a name means, None if that is not one column of the catalog."""
        name, table = column.name.casefold(), column.table.casefold()
        select = column.find_ancestor(exp.Select)
        is_late = column.find_ancestor(exp.Having, exp.Qualify, exp.Order, exp.Select) is not select
        while select is not None:
            is_alias = not table and any(each.alias.casefold() == name for each in select.selects)
            if is_alias and is_late:
                return None  # it may mean the result
            known = self.in_select(name, table, select)
            if known or is_alias:
                return known[0] if known else None
            select, is_late = select.find_ancestor(exp.Select), False
        return None

    def in_select(self, name: str, table: str, select: exp.Select) -> Meanings:
        """Return what a name may mean by the FROM of one SELECT."""
        key = (id(select), name, table)
        if key not in self.known:
            found = tuple(
                each
                for source in _sources(select)
                if not table or source.alias_or_name.casefold() == table
                for each in self.in_source(name, source)
            )
            self.known[key] = found if len(found) < 2 else (None,)
        return self.known[key]

    def in_source(self, name: str, source: exp.Expr) -> Meanings:
        """Return what a name may mean in one relation of FROM."""
        renamed = [each.casefold() for each in source.alias_column_names]
        if isinstance(source, exp.Subquery):
            return self.in_query(name, source.this, renamed)
        if isinstance(source, exp.Table):
            entry = _entry_named(source)
            if entry is not None:
                names = renamed or [each.casefold() for each in entry.alias_column_names]
                return self.in_query(name, entry.this, names)
            found = self.catalog.table(source.name)
            if found is not None:
                names = [each.name.casefold() for each in found.columns]
                names[: len(renamed)] = renamed
                return tuple(
                    _of_column(f"{found.name}.{column.name}", column)
                    for column, each in zip(found.columns, names, strict=False)
                    if each == name
                )
        return (None,) if name in renamed or not renamed else ()

    def in_query(self, name: str, query: exp.Expr, renamed: Sequence[str]) -> Meanings:
        """Return what a name may mean in the result of a query."""
        while isinstance(query, exp.Subquery) and not query.alias:
            query = query.this
        if isinstance(query, exp.SetOperation):
            return self.in_both(name, query, renamed)
        if not isinstance(query, exp.Select) or (renamed and query.is_star):
            return (None,)
        if query.is_star:
            return tuple(each for column in query.selects for each in self.in_column(name, column))
        return tuple(
            self.compared(column.unalias())
            for each, column in zip(_names(query, renamed), query.selects, strict=True)
            if each == name
        )

    def in_column(self, name: str, column: exp.Expr) -> Meanings:
        """Return what a name may mean in one item of a SELECT that has a star."""
        if not column.is_star:
            is_it = column.alias_or_name.casefold() == name
            return (self.compared(column.unalias()),) if is_it else ()
        select = column.find_ancestor(exp.Select)
        star = column.this if isinstance(column, exp.Column) else column
        if select is None or any(star.args.values()):  # * EXCLUDE (...), * REPLACE (...)
            return (None,)
        table = column.table.casefold() if isinstance(column, exp.Column) else ""
        return self.in_select(name, table, select)

    def in_both(self, name: str, query: exp.SetOperation, renamed: Sequence[str]) -> Meanings:
        """Return what a name may mean in a union: one column of the catalog, on both sides."""
        sides = [each.unnest() for each in (query.this, query.expression)]
        if not all(isinstance(each, exp.Select) and not each.is_star for each in sides):
            return (None,)
        places = [place for place, each in enumerate(_names(sides[0], renamed)) if each == name]
        if not places:
            return ()
        columns = [each.selects[places[0]] for each in sides if places[0] < len(each.selects)]
        found = [self.compared(each.unalias()) for each in columns]
        one = found[0]
        is_same = one is not None and all(
            each is not None and (each.column, each.kind) == (one.column, one.kind)
            for each in found
        )
        return (one if is_same and len(places) == 1 and len(found) == len(sides) else None,)


def _pairs(tree: exp.Query) -> Iterator[tuple[exp.Expr, exp.Expr]]:
    """Yield what is compared with what, each side once on the left."""
    for node in tree.walk():
        if isinstance(node, COMPARISONS):
            yield node.this, node.expression
            yield node.expression, node.this
        elif isinstance(node, exp.Between):
            yield node.this, node.args["low"]
            yield node.this, node.args["high"]
        elif isinstance(node, exp.In):
            yield from ((node.this, each) for each in node.expressions)


def _sources(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield the relations of FROM, those of a join in brackets one by one."""
    clause = select.args.get("from_")
    items = [] if clause is None else [clause.this]
    items += [each.this for each in select.args.get("joins") or ()]
    while items:
        item = items.pop()
        items += [each.this for each in item.args.get("joins") or ()]
        if isinstance(item, exp.Subquery) and isinstance(item.this, exp.Table) and not item.alias:
            items.append(item.this)
        else:
            yield item


def _names(select: exp.Select, renamed: Sequence[str]) -> list[str]:
    """Return the names of the columns of a SELECT, the first of them by other names."""
    names = [each.alias_or_name.casefold() for each in select.selects]
    return [*renamed[: len(names)], *names[len(renamed) :]]


def _entry_named(table: exp.Table) -> exp.CTE | None:
    """Return the entry of WITH that a table's name means, the nearest one above it."""
    around: exp.Expr | None = table
    inside: exp.Expr | None = None
    while around is not None and not table.args.get("db"):
        clause = around.args.get("with_")
        entries: list[exp.CTE] = [] if clause is None else clause.expressions
        known = next((place for place, each in enumerate(entries) if each is inside), len(entries))
        for each in reversed(entries[:known]):
            if each.alias.casefold() == table.name.casefold():
                return each
        inside = around if isinstance(around, exp.CTE) else inside
        around = around.parent
    return None


def _of_column(name: str, column: Column) -> _Compared | None:
    if not column.kind.is_time:
        return None
    step = step_of_times(column)
    return _Compared(
        column=name,
        kind=column.kind,
        round_down=None if step is None else lambda moment: rounded_down(moment, step),
    )


def _cast(inner: _Compared, to: exp.DType) -> _Compared:
    """Return a column as a date or as a timestamp."""
    if to is exp.DType.DATE:
        return replace(_stepped(inner, DAY), kind=Kind.DATE)
    return replace(inner, kind=Kind.TIMESTAMP_TZ if to in ZONED else Kind.TIMESTAMP)


def _cut(inner: _Compared, unit: str) -> _Compared:
    """Return a column that DATE_TRUNC has cut to a unit."""
    kind = Kind.TIMESTAMP if inner.kind is Kind.DATE else inner.kind
    if unit in UNITS:
        return replace(_stepped(inner, Fraction(UNITS[unit])), kind=kind)
    return replace(inner, kind=kind, round_down=lambda moment: truncated(moment, unit))


def _stepped(inner: _Compared, step: Fraction) -> _Compared:
    """Return a column whose values are multiples of a step, and of its own if that is longer."""
    own = inner.round_down

    def round_down(moment: datetime) -> datetime:
        by_step = rounded_down(moment, step)
        return by_step if own is None else min(by_step, rounded_down(own(moment), step))

    return replace(inner, round_down=round_down)


def _is_foreign(node: exp.Expr, moment: Moment, kind: Kind) -> bool:
    """Return whether a literal is not written as one of the column's own type.

    A date that is written with a time of day, a timestamp with an offset that its column lacks, or
    a type that is not read.
    """
    text = node.find(exp.Literal) if moment.is_literal else None
    if text is None:
        return False
    if kind is Kind.DATE:
        return len(text.name.strip()) != len("2024-12-31")
    if kind is Kind.TIMESTAMP_TZ:
        return any(each.to.this is exp.DType.TIMESTAMPTZ for each in node.find_all(exp.Cast))
    return datetime.fromisoformat(text.name.strip()).tzinfo is not None


def _literal(value: datetime, kind: Kind) -> exp.Expr:
    """Return a time as it is compared with a column of a kind."""
    if kind is Kind.DATE:
        return _typed(value.date().isoformat(), exp.DType.DATE)
    if kind is Kind.TIMESTAMP:
        text = value.replace(tzinfo=None).isoformat(sep=" ")
        return _typed(text, exp.DType.TIMESTAMPNTZ)
    return exp.Literal.string(value.isoformat(sep=" "))  # a cast to it is not read


def _typed(text: str, to: exp.DType) -> exp.Expr:
    return exp.Cast(this=exp.Literal.string(text), to=exp.DataType(this=to, nested=False))
