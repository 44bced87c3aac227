"""Times of a query rounded down to the steps of the columns that they are compared with.

Dashboards write the time of a refresh into every query, so each refresh is a new query. With times
rounded down to the column's step, it is the same query until the next step begins, and free. This
happens before a query is asked, and only where a program wants it: nothing here reads data.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction

from sqlglot import ErrorLevel, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError

from discreet.catalog.catalog import Catalog
from discreet.catalog.schema import Column, Kind
from discreet.catalog.time_steps import DAY, UNITS, rounded_down, step_of_times
from discreet.errors import QuestionError
from discreet.query.moments import MOMENTS, Moment, moment_of, truncated, unit_named
from discreet.query.parse import DIALECTS, read_tree
from discreet.written import WrittenQuery

COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)

DEEPEST = 20
"""So many queries in FROM are followed to the table that a column comes from."""


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
    found = _Snapping(tree=tree, catalog=catalog, now=now, dialect=DIALECTS[query.dialect])
    found.snap()
    text = found.text() if found.changes else None
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


class _Snapping:
    """One walk through the comparisons of a query."""

    def __init__(
        self, *, tree: exp.Query, catalog: Catalog, now: datetime, dialect: type[Dialect]
    ) -> None:
        self.tree, self.catalog, self.now, self.dialect = tree, catalog, now, dialect
        self.changes: list[SnappedTime] = []
        self.without_step: dict[str, None] = {}

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
                select = node.find_ancestor(exp.Select)
                return None if select is None else self.found(node.name, node.table, select, 0)
            case exp.Cast():
                inner = self.compared(node.this)
                if inner is None or not (node.to.this in MOMENTS or node.to.this is exp.DType.DATE):
                    return None
                return _cast(inner, node.to.this)
            case exp.TimestampTrunc() | exp.DateTrunc():
                inner, unit = self.compared(node.this), unit_named(node.args.get("unit"))
                return None if inner is None or unit is None else _cut(inner, unit)
        return None

    def found(self, name: str, table: str, select: exp.Select, depth: int) -> _Compared | None:
        """Return what a name means in a SELECT, None if that is not one column of the catalog."""
        if depth > DEEPEST:
            return None
        known = [
            each
            for source in _sources(select)
            if not table or source.alias_or_name.casefold() == table.casefold()
            for each in self.in_source(name, source, depth)
        ]
        if not known:
            around = select.find_ancestor(exp.Select)
            return None if around is None else self.found(name, table, around, depth + 1)
        return known[0] if len(known) == 1 else None

    def in_source(self, name: str, source: exp.Expr, depth: int) -> Iterator["_Compared | None"]:
        """Yield what a name means in one relation of FROM, if it has such a column."""
        query = source.this if isinstance(source, exp.Subquery) else None
        if isinstance(source, exp.Table):
            query = _named_query(source)
            if query is None:
                yield from self.in_table(name, source.name)
        while isinstance(query, exp.SetOperation | exp.Subquery):
            query = query.this
        if isinstance(query, exp.Select):
            yield from self.in_query(name, query, depth)

    def in_table(self, name: str, table: str) -> Iterator["_Compared | None"]:
        """Yield a column of the catalog."""
        found = self.catalog.table(table)
        for each in () if found is None else found.columns:
            if found is not None and each.name.casefold() == name.casefold():
                yield _of_column(f"{found.name}.{each.name}", each)

    def in_query(self, name: str, query: exp.Select, depth: int) -> Iterator["_Compared | None"]:
        """Yield the column of a query that has a name."""
        for column in query.expressions:
            if column.is_star:
                found = self.found(
                    name, column.table if isinstance(column, exp.Column) else "", query, depth + 1
                )
                if found is not None:
                    yield found
            elif column.alias_or_name.casefold() == name.casefold():
                yield self.compared(column.unalias())


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
    """Yield the relations of FROM."""
    clause = select.args.get("from_")
    if clause is not None:
        yield clause.this
        yield from (each.this for each in clause.this.args.get("joins") or ())
    yield from (each.this for each in select.args.get("joins") or ())


def _named_query(table: exp.Table) -> exp.Expr | None:
    """Return the query that WITH gives a table's name to, the nearest one."""
    around: exp.Expr | None = table
    while around is not None:
        clause = around.args.get("with_")
        for each in reversed(clause.expressions) if clause is not None else ():
            if each.alias.casefold() == table.name.casefold() and not table.args.get("db"):
                named: exp.Expr = each.this
                return named
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
    has_zone = to in (exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ)
    return replace(inner, kind=Kind.TIMESTAMP_TZ if has_zone else Kind.TIMESTAMP)


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
