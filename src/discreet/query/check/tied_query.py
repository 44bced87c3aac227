"""A query that reads the row around it, as one that does not, beside columns that tie both.

`SELECT COUNT(*) FROM visits v WHERE v.patient_id = p.patient_id` becomes `SELECT v.patient_id AS
key, COUNT(*) FROM visits v GROUP BY v.patient_id`, tied by `key = p.patient_id`. What else is read
of the outer row is joined inside: the different outer rows, and groups by all that is read.
Nothing is decided here about privacy. What is made is checked as if it had been written so.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from discreet.errors import JoinError, UnsupportedError
from discreet.query.check.aggregates import is_aggregate, same_level
from discreet.query.check.outer_columns import (
    KnownColumns,
    Visible,
    free_columns,
    nested_queries,
    relations_of,
    shallow,
    visible_in,
)
from discreet.query.check.selections import conjuncts
from discreet.query.expressions.rejections import unhandled
from discreet.query.parse import DIALECT, span_of

OUTER = "__outer"
"""What the different outer rows are called inside the query."""

KEY = "__key_"
"""What columns that tie both are called, with their number."""

COUNTS = (exp.Count, exp.CountIf, exp.ApproxDistinct)
"""Aggregates that are 0 where there are no rows; all others are NULL."""

HANDLED = {"expressions", "from_", "joins", "where", "group", "having", "order", "limit"} | {
    *("distinct", "with_")
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tie:
    """What must be equal: something of the query, and something of the row around it."""

    inner: exp.Expr
    outer: exp.Expr
    with_null: bool = False
    """Whether NULL equals NULL."""

    def condition(self, key: exp.Column) -> exp.Expr:
        """Return that a column of the query equals that of the outer row."""
        made = exp.NullSafeEQ if self.with_null else exp.EQ
        return made(this=key, expression=self.outer.copy())


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """The SELECT around a query, and what names mean there."""

    node: exp.Select
    visible: Visible
    known: KnownColumns


@dataclass(kw_only=True)
class TiedQuery:
    """A query on its way to one that reads nothing of the outer row; its tree is used up."""

    node: exp.Select
    around: Around
    own: Visible = field(init=False)
    ties: list[Tie] = field(default_factory=list)
    mixed: list[exp.Expr] = field(default_factory=list)
    """Conditions that read both, other than equalities of one with the other."""

    def __post_init__(self) -> None:
        self.own = visible_in(self.node, self.around.known)
        self._check()
        conditions = [*self._from_joins(), *conjuncts(self._where())]
        plain = []
        for each in conditions:
            tie = self._tie(each)
            if tie is not None:
                self.ties.append(tie)
            elif self.reads_outer(each):
                self.mixed.append(exp.paren(each, copy=False))
            else:
                plain.append(each)
        if not self.ties:
            raise untied(self.node)
        self._set_where(plain)

    def reads_outer(self, node: exp.Expr) -> bool:
        """Return whether an expression reads the outer row."""
        return any(True for _ in self.outer_columns(node))

    def outer_columns(self, node: exp.Expr) -> Iterator[exp.Column]:
        """Yield the columns of the outer row in an expression."""
        aliases = {each.alias.casefold() for each in self.node.expressions if each.alias}
        for each in shallow(node):
            if not isinstance(each, exp.Column) or self.own.has(each):
                continue
            is_alias = not each.table and each.name.casefold() in aliases
            if not is_alias and self.around.visible.has(each):
                yield each

    def inner_columns(self, node: exp.Expr) -> Iterator[exp.Column]:
        """Yield the query's own columns in an expression."""
        outer = {id(each) for each in self.outer_columns(node)}
        for each in shallow(node):
            if isinstance(each, exp.Column) and id(each) not in outer:
                yield each

    # ----------------------------------------------------------------------- conditions

    def _check(self) -> None:
        for name, value in self.node.args.items():
            if value and name not in HANDLED:
                raise unhandled(
                    f"{name.strip('_').upper()} in a subquery that reads the outer row", self.node
                )
        inside = [*nested_queries(self.node), *relations_of(self.node)]
        for each in inside:
            query = each.this if isinstance(each, exp.Lateral) else each
            free = free_columns(query, self.around.known)
            if any(not self.own.has(one) and self.around.visible.has(one) for one in free):
                raise UnsupportedError(
                    "A subquery inside a subquery reads the outermost row",
                    "Move the condition that ties it into the WHERE clause of the outer subquery",
                    span=span_of(each),
                )

    def _where(self) -> exp.Expr | None:
        clause = self.node.args.get("where")
        return None if clause is None else clause.this

    def _set_where(self, conditions: Sequence[exp.Expr]) -> None:
        where = exp.Where(this=exp.and_(*conditions, copy=False)) if conditions else None
        self.node.set("where", where)

    def _from_joins(self) -> list[exp.Expr]:
        """Take conditions on the outer row out of joins, where that changes nothing."""
        moved: list[exp.Expr] = []
        for join in self.node.args.get("joins") or ():
            on = join.args.get("on")
            if on is None or not self.reads_outer(on):
                continue
            if join.args.get("side"):
                raise unhandled(f"{join.args['side']} JOIN with a condition on the outer row", join)
            moved += conjuncts(on)
            join.set("on", exp.true())
        return moved

    def _tie(self, condition: exp.Expr) -> Tie | None:
        if not isinstance(condition, exp.EQ) or condition.find(exp.Query) is not None:
            return None
        for one, other in (
            (condition.this, condition.expression),
            (condition.expression, condition.this),
        ):
            is_inner = any(self.inner_columns(one)) and not self.reads_outer(one)
            is_outer = self.reads_outer(other) and not any(self.inner_columns(other))
            if is_inner and is_outer:
                return Tie(inner=one, outer=other)
        return None

    # ----------------------------------------------------------------------- outer rows inside

    def take_in(self, *others: exp.Expr) -> None:
        """Join the different outer rows inside, if more is read of them than the ties say."""
        read = [*self.mixed, *others]
        columns: dict[str, exp.Column] = {}
        for each in read:
            for column in self.outer_columns(each):
                columns.setdefault(_text(column), column.copy())
        if not columns:
            return
        source = self._outer_source([*columns.values(), *(each.outer for each in self.ties)])
        conditions: list[exp.Expr] = list(conjuncts(self._where()))
        kept, inside = list(self.ties), []
        for number, tie in enumerate(kept):
            name = f"{KEY}{number}"
            inside.append(exp.alias_(tie.outer.copy(), name, quoted=True))
            conditions.append(exp.EQ(this=tie.inner, expression=column_of(OUTER, name)))
        names = {}
        for number, (text, column) in enumerate(columns.items(), len(kept)):
            names[text] = f"{KEY}{number}"
            inside.append(exp.alias_(column.copy(), names[text], quoted=True))
        for each in read:
            for column in list(self.outer_columns(each)):
                column.replace(column_of(OUTER, names[_text(column)]))
        conditions += self.mixed
        self._read_from(exp.Select(expressions=inside, distinct=exp.Distinct()), source)
        self._set_where(conditions)
        self.mixed = []
        self.ties = [
            *(
                Tie(inner=column_of(OUTER, f"{KEY}{i}"), outer=tie.outer)
                for i, tie in enumerate(kept)
            ),
            *(
                Tie(inner=column_of(OUTER, name), outer=columns[text], with_null=True)
                for text, name in names.items()
            ),
        ]

    def _outer_source(self, read: Sequence[exp.Expr]) -> exp.Table:
        """Return the one table of the outer FROM that is read, or reject."""
        visible = self.around.visible
        places = {
            tuple(visible.places(each)) for part in read for each in part.find_all(exp.Column)
        }
        found = [
            each
            for each in relations_of(self.around.node)
            if places == {(each.alias_or_name.casefold(),)}
        ]
        if not found or not isinstance(found[0], exp.Table):
            raise UnsupportedError(
                "This subquery compares its rows with the outer row in a way that is not supported",
                "Join both tables in FROM on the privacy unit, and compare them there",
                span=span_of(read[0]),
            )
        table = found[0].copy()
        table.set("joins", None)
        return table

    def _read_from(self, rows: exp.Select, source: exp.Table) -> None:
        rows.set("from_", exp.From(this=source))
        alias = exp.TableAlias(this=exp.to_identifier(OUTER, quoted=True))
        clause = self.node.args["from_"]
        joins = [exp.Join(this=clause.this, kind="CROSS"), *(self.node.args.get("joins") or ())]
        extra = clause.this.args.get("joins") or []
        clause.this.set("joins", None)
        self.node.set("joins", [joins[0], *extra, *joins[1:]])
        self.node.set("from_", exp.From(this=exp.Subquery(this=rows, alias=alias)))

    # ----------------------------------------------------------------------- groups

    def aggregates(self, *nodes: exp.Expr | None) -> list[exp.Expr]:
        """Return the outermost aggregates in expressions."""
        return [
            part
            for each in nodes
            if each is not None
            for part in same_level(each)
            if is_aggregate(part)
        ]

    def keys(self) -> list[exp.Expr]:
        """Return the query's sides of the ties, with names."""
        return [
            exp.alias_(each.inner.copy(), f"{KEY}{i}", quoted=True)
            for i, each in enumerate(self.ties)
        ]

    def key_copies(self) -> list[exp.Expr]:
        """Return the query's sides of the ties, without names."""
        return [each.inner.copy() for each in self.ties]

    def conditions(self, table: str) -> list[exp.Expr]:
        """Return the ties, for a query that is called so."""
        return [each.condition(column_of(table, f"{KEY}{i}")) for i, each in enumerate(self.ties)]


def untied(node: exp.Expr) -> JoinError:
    """Return the error for a query whose rows are not tied to the outer row."""
    return JoinError(
        "This subquery reads the outer row, and nothing ties its rows to it",
        "Add an equality of both privacy units to its WHERE clause, joined to the rest by AND",
        span=span_of(node),
    )


def column_of(table: str, name: str) -> exp.Column:
    """Return a column that is made here."""
    return exp.column(
        exp.to_identifier(name, quoted=True), table=exp.to_identifier(table, quoted=True)
    )


def is_zero_for_none(aggregate: exp.Expr) -> bool:
    """Return whether an aggregate of no rows is 0; else it is NULL."""
    inner = aggregate
    while isinstance(inner, exp.Filter | exp.WithinGroup):
        inner = inner.this
    return isinstance(inner, COUNTS)


def _text(column: exp.Column) -> str:
    return column.sql(dialect=DIALECT).casefold()
