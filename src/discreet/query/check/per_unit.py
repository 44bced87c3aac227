"""Aggregates of one unit's rows, and the facts known about their values."""

from fractions import Fraction

from sqlglot import exp

from discreet.catalog.schema import Kind
from discreet.errors import UnboundedError
from discreet.query.expressions.rejections import unbounded, with_clamp
from discreet.query.parse import DIALECT
from discreet.query.places import span_of
from discreet.query.questions import Aggregate, Statistic
from discreet.query.tree import Expression, Facts, Interval, UnitFunction

UNIT_FUNCTIONS = {
    Statistic.COUNT_ROWS: UnitFunction.COUNT_ROWS,
    Statistic.COUNT: UnitFunction.COUNT,
    Statistic.COUNT_DISTINCT: UnitFunction.COUNT_DISTINCT,
    Statistic.SUM: UnitFunction.SUM,
    Statistic.AVG: UnitFunction.AVG,
    Statistic.MIN: UnitFunction.MIN,
    Statistic.MAX: UnitFunction.MAX,
}


def unit_facts(function: UnitFunction, argument: Expression | None, limit: int) -> Facts:
    """Return what is known of an aggregate of at most `limit` rows."""
    if argument is None or function in (UnitFunction.COUNT, UnitFunction.COUNT_DISTINCT):
        least = Fraction(1 if function is UnitFunction.COUNT_ROWS else 0)
        interval = Interval(low=least, high=Fraction(limit))
        return Facts(kind=Kind.INTEGER, interval=interval, step=Fraction(1), nullable=False)
    low, high = argument.facts.interval.low, argument.facts.interval.high
    if function is UnitFunction.SUM:
        interval = Interval(
            low=None if low is None else min(low, limit * low),
            high=None if high is None else max(high, limit * high),
        )
        return Facts(kind=argument.facts.kind, interval=interval, step=_whole_step(argument))
    if function in (UnitFunction.MIN, UnitFunction.MAX):
        return argument.facts
    kind = argument.facts.kind if argument.facts.kind.is_time else Kind.REAL
    return Facts(kind=kind, interval=Interval(low=low, high=high), nullable=argument.facts.nullable)


def _whole_step(argument: Expression) -> Fraction | None:
    return Fraction(1) if argument.facts.kind is Kind.INTEGER else None


def check_bounded(argument: Expression, node: exp.Expr) -> None:
    """Reject a sum of reals without bounds: only fixed point gives the same sum in every run."""
    interval = argument.facts.interval
    is_open = interval.low is None or interval.high is None
    if argument.facts.kind is Kind.REAL and is_open:
        error = unbounded(argument, node.sql(dialect=DIALECT))
        error.span = span_of(node)
        raise error


SQUARES = {
    *(Statistic.VAR_SAMP, Statistic.VAR_POP, Statistic.STDDEV_SAMP, Statistic.STDDEV_POP),
}
WIDEST_SQUARED = 10**150
"""Squares of larger numbers are beyond what a real number can be."""


def check_square(aggregate: Aggregate, node: exp.Expr) -> None:
    """Reject a variance whose values may have squares that no number can hold."""
    if aggregate.argument is None or aggregate.statistic not in SQUARES:
        return
    interval = aggregate.argument.facts.interval
    ends = [each for each in (interval.low, interval.high) if each is not None]
    if any(abs(each) > WIDEST_SQUARED for each in ends):
        raise UnboundedError(
            f"The values of {node.sql(dialect=DIALECT)} are too large: their squares cannot be "
            "computed",
            f"Give them a smaller range: {with_clamp(node.sql(dialect=DIALECT))}",
            span=span_of(node),
        )
