"""Aggregates that only rows of one unit have: the value of one of them, an extreme of any kind.

BOOL_OR and BOOL_AND are the greatest and the least truth value. ARG_MAX(x, y), FIRST(x ORDER BY y)
and their like are the value of x in the first row of a window of the unit and the keys. Rows that
the order leaves equal are ordered by x, so that the value follows from the unit's own rows alone
and is the same on every engine. The window gives every row of a group this value, and MIN takes it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.catalog.schema import Kind
from discreet.errors import UnsupportedError
from discreet.query.check.aggregates import aggregate_from, bare_aggregate, when_counted
from discreet.query.check.relations import Names
from discreet.query.expressions.facts import literal
from discreet.query.expressions.functions import call
from discreet.query.expressions.narrowing import case_under
from discreet.query.expressions.translate import NameScope, condition, translate
from discreet.query.parse import DIALECT, span_of
from discreet.query.questions import Aggregate, Statistic
from discreet.query.tree import Expression, Ordering, Window, WindowFunction

ANY_KIND = set(Kind) - {Kind.OTHER, Kind.INTERVAL}
"""Kinds whose values have an order that is the same on every engine."""

EXTREMES: dict[type[exp.Expr], Statistic] = {
    exp.Min: Statistic.MIN,
    exp.Max: Statistic.MAX,
    exp.AnyValue: Statistic.MIN,
    exp.LogicalOr: Statistic.MAX,
    exp.LogicalAnd: Statistic.MIN,
}
"""Which extreme of a unit's values each is; ANY_VALUE is the least, so that it never changes."""

ONE_ROW = (exp.ArgMax, exp.ArgMin, exp.First, exp.Last)
"""Aggregates that are the value of one row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitReading:
    """Where the aggregates of a GROUP BY with the unit are read."""

    scope: NameScope
    names: Names
    keys: Sequence[Expression]
    """What rows are grouped by, the unit among them."""
    known: Callable[[Expression], Expression]
    """Adds what WHERE tells of an expression."""

    def aggregate(self, node: exp.Expr) -> Aggregate:
        """Return the meaning of an aggregate over the rows of one unit, or reject it."""
        bare = _without_nulls(bare_aggregate(node))
        if isinstance(bare, ONE_ROW) or _is_ordered(bare):
            return Aggregate(statistic=Statistic.MIN, argument=self._of_one_row(bare, node))
        if type(bare) in EXTREMES and not isinstance(bare.this, exp.Distinct | exp.Order):
            return self._extreme(bare, node)
        made = aggregate_from(node, self.scope, self.names)
        return made.mapped(self.known)

    def _extreme(self, bare: exp.Expr, node: exp.Expr) -> Aggregate:
        _check_parts(bare, {"this"}, node)
        is_truth = isinstance(bare, exp.LogicalOr | exp.LogicalAnd)
        value = (condition if is_truth else translate)(bare.this, self.scope)
        _check_kind(value, node)
        argument = self.known(when_counted(value, node, self.scope))
        text = node.sql(dialect=DIALECT)
        return Aggregate(statistic=EXTREMES[type(bare)], argument=argument, text=text)

    # ----------------------------------------------------------------------- one row

    def _of_one_row(self, bare: exp.Expr, node: exp.Expr) -> Window:
        """Return x of the first row, as a window over the rows of the unit and the keys."""
        by_value = isinstance(bare, exp.ArgMax | exp.ArgMin)
        x, order = self._by_value(bare, node) if by_value else self._ordered(bare, node)
        _check_kind(x, node)
        needed = [each.expression for each in order] if by_value else []
        if by_value or isinstance(bare_aggregate(node), exp.IgnoreNulls):
            needed.append(x)
        counted = self._counted(needed, node)
        if counted is not None:
            x = case_under(((counted, x),), literal(None, x.facts.kind))
            last = case_under(((counted, literal(0)),), literal(1))
            order = (Ordering(expression=last), *order)
        x = self.known(x)
        domain = x.facts.domain
        with_null = domain if domain is None or None in domain else (*domain, None)
        return Window(
            function=WindowFunction.FIRST_VALUE,
            arguments=(x,),
            partition=tuple(each for each in self.keys if not self.names.is_unit(each)),
            order=(*order, Ordering(expression=x)),
            frame="whole",
            facts=replace(x.facts, nullable=True, domain=with_null),
        )

    def _ordered(self, bare: exp.Expr, node: exp.Expr) -> tuple[Expression, tuple[Ordering, ...]]:
        """Return x and the order of FIRST(x ORDER BY y), or the opposite one for LAST."""
        _check_parts(bare, {"this"}, node)
        ordered = bare.this
        if not isinstance(ordered, exp.Order):
            name, text = type(bare).__name__.upper(), bare.this.sql(dialect=DIALECT)
            raise UnsupportedError(
                f"{name}({text}) does not say which row is the {name.lower()}",
                f"Write {name}({text} ORDER BY ...), or MIN({text})",
                span=span_of(node),
            )
        is_last = isinstance(bare, exp.Last)
        order = []
        for each in ordered.expressions:
            by = translate(each.this, self.scope)
            _check_kind(by, node)
            order.append(
                Ordering(
                    expression=by,
                    descending=bool(each.args.get("desc")) is not is_last,
                    nulls_first=bool(each.args.get("nulls_first")) is not is_last,
                )
            )
        return translate(ordered.this, self.scope), tuple(order)

    def _by_value(self, bare: exp.Expr, node: exp.Expr) -> tuple[Expression, tuple[Ordering, ...]]:
        """Return x and the order of ARG_MAX(x, y) and ARG_MIN(x, y)."""
        _check_parts(bare, {"this", "expression"}, node)
        y = translate(bare.expression, self.scope)
        _check_kind(y, node)
        order = Ordering(expression=y, descending=isinstance(bare, exp.ArgMax))
        return translate(bare.this, self.scope), (order,)

    def _counted(self, needed: Sequence[Expression], node: exp.Expr) -> Expression | None:
        """Return which rows count: those of FILTER in which no value that is needed is NULL."""
        found: list[Expression] = [call("not", call("is_null", each)) for each in needed]
        if isinstance(node, exp.Filter):
            found.append(condition(node.expression.this, self.scope))
        return call("and", *found) if len(found) > 1 else next(iter(found), None)


def _without_nulls(bare: exp.Expr) -> exp.Expr:
    """Return an aggregate without IGNORE NULLS, in which the parser puts ANY_VALUE too."""
    return bare.this if isinstance(bare, exp.IgnoreNulls | exp.RespectNulls) else bare


def _is_ordered(bare: exp.Expr) -> bool:
    return isinstance(bare, exp.AnyValue) and isinstance(bare.this, exp.Order)


def _check_parts(bare: exp.Expr, handled: set[str], node: exp.Expr) -> None:
    given = {name for name, value in bare.args.items() if value not in (None, [], False)}
    if given != handled:
        text = node.sql(dialect=DIALECT)
        raise UnsupportedError(
            f"{text} is not supported with GROUP BY on the privacy unit",
            "Write it with one value, such as ARG_MAX(x, y) or MAX(x)",
            span=span_of(node),
        )


def _check_kind(value: Expression, node: exp.Expr) -> None:
    if value.facts.kind not in ANY_KIND:
        raise UnsupportedError(
            f"{node.sql(dialect=DIALECT)} is not supported for values of type "
            f"{value.facts.kind.value}",
            "Use a column of numbers, texts, dates, timestamps or booleans",
            span=span_of(node),
        )
