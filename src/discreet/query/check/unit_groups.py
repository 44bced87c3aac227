"""GROUP BY the unit; what SELECT says of groups, rewritten."""

from fractions import Fraction

from sqlglot import exp

from discreet.catalog.schema import Kind
from discreet.errors import NotGroupedError, QuestionError, UnboundedError, UnsupportedError
from discreet.query.check.aggregates import PAIRS
from discreet.query.check.filtered_rows import Rebase
from discreet.query.check.post_select import without_margins, written_name
from discreet.query.check.relations import PrivateRows
from discreet.query.check.row_scope import RowScope
from discreet.query.expressions.rejections import row_level, unbounded, with_clamp
from discreet.query.expressions.translate import translate
from discreet.query.parse import DIALECT, span_of
from discreet.query.questions import Aggregate, Statistic
from discreet.query.tree import (
    Expression,
    Facts,
    InReleasedRows,
    Interval,
    ReleasedScalar,
    UnitAggregate,
    UnitFunction,
    UnitSemiJoin,
    columns_in,
    parts_of,
)

UNIT_FUNCTIONS = {
    Statistic.COUNT_ROWS: UnitFunction.COUNT_ROWS,
    Statistic.COUNT: UnitFunction.COUNT,
    Statistic.COUNT_DISTINCT: UnitFunction.COUNT_DISTINCT,
    Statistic.SUM: UnitFunction.SUM,
    Statistic.AVG: UnitFunction.AVG,
    Statistic.MIN: UnitFunction.MIN,
    Statistic.MAX: UnitFunction.MAX,
}


def unit_facts(
    function: UnitFunction, argument: Expression | None, *, is_single_row: bool
) -> Facts:
    """Return what is known of an aggregate over all rows of a unit.

    However many rows a unit may contribute to an answer, all of them are aggregated here. So a
    number of rows has no upper bound unless each unit has a single row.
    """
    if argument is None or function in (UnitFunction.COUNT, UnitFunction.COUNT_DISTINCT):
        least = Fraction(1 if function is UnitFunction.COUNT_ROWS else 0)
        most = Fraction(1) if is_single_row else _most_values(function, argument)
        interval = Interval(low=least, high=most)
        return Facts(kind=Kind.INTEGER, interval=interval, step=Fraction(1), nullable=False)
    low, high = argument.facts.interval.low, argument.facts.interval.high
    if function is UnitFunction.SUM and not is_single_row:
        interval = Interval(
            low=low if low is not None and low >= 0 else None,
            high=high if high is not None and high <= 0 else None,
        )
        return Facts(kind=argument.facts.kind, interval=interval, step=_whole_step(argument))
    if function is UnitFunction.SUM:
        interval = Interval(low=low, high=high)
        return Facts(kind=argument.facts.kind, interval=interval, step=_whole_step(argument))
    if function in (UnitFunction.MIN, UnitFunction.MAX):
        return argument.facts
    kind = argument.facts.kind if argument.facts.kind.is_time else Kind.REAL
    return Facts(kind=kind, interval=Interval(low=low, high=high), nullable=argument.facts.nullable)


def _most_values(function: UnitFunction, argument: Expression | None) -> Fraction | None:
    """Return how many different values there can be, if that is what is counted and known."""
    if function is not UnitFunction.COUNT_DISTINCT or argument is None:
        return None
    domain = argument.facts.domain
    return None if domain is None else Fraction(sum(each is not None for each in domain))


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


def unit_aggregate(
    name: str, aggregate: Aggregate, rebase: Rebase, node: exp.Expr, *, is_single_row: bool
) -> UnitAggregate:
    """Return an aggregate of all rows of one unit, its argument rebased, or reject it."""
    argument, function = aggregate.argument, UNIT_FUNCTIONS.get(aggregate.statistic)
    is_median = aggregate.statistic is Statistic.QUANTILE and aggregate.fraction == Fraction(1, 2)
    if is_median and argument is not None and argument.facts.kind.is_number:
        function = None if aggregate.discrete else UnitFunction.MEDIAN
    if function is None:
        raise UnsupportedError(
            f"{aggregate.text} is not supported with GROUP BY on the privacy unit",
            "Use COUNT, SUM, AVG, MIN, MAX, MEDIAN, BOOL_OR, BOOL_AND, ARG_MAX, ARG_MIN, FIRST or "
            "LAST",
            span=span_of(node),
        )
    facts = unit_facts(function, argument, is_single_row=is_single_row)
    if argument is not None and function in (UnitFunction.SUM, UnitFunction.AVG):
        check_bounded(argument, node)
    rebased = None if argument is None else rebase(argument)
    return UnitAggregate(name=name, function=function, argument=rebased, facts=facts)


SQUARES = {
    *(Statistic.VAR_SAMP, Statistic.VAR_POP, Statistic.STDDEV_SAMP, Statistic.STDDEV_POP),
    *(PAIRS.values()),
}


WIDEST_SQUARED = 10**150
"""Squares of larger numbers are beyond what a real number can be."""


def check_square(aggregate: Aggregate, node: exp.Expr) -> None:
    """Reject a variance whose values may have squares that no number can hold."""
    if aggregate.statistic not in SQUARES:
        return
    intervals = [each.facts.interval for each in aggregate.arguments]
    ends = [each for interval in intervals for each in (interval.low, interval.high)]
    if any(each is not None and abs(each) > WIDEST_SQUARED for each in ends):
        raise UnboundedError(
            f"The values of {node.sql(dialect=DIALECT)} are too large: their squares cannot be "
            "computed",
            f"Give them a smaller range: {with_clamp(node.sql(dialect=DIALECT))}",
            span=span_of(node),
        )


GROUPS = "__groups"
"""What the groups of a GROUP BY are called while their columns are found."""


class GroupRewriter:
    """Rewrites what a SELECT says of its groups as columns of a table of groups."""

    def __init__(
        self,
        node: exp.Select,
        scope: RowScope,
        keys: list[Expression],
        names: dict[int, str],
        *,
        table: str,
    ) -> None:
        self.scope, self.keys, self.names, self.table = scope, keys, names, table
        self.aliases = {
            each.alias.casefold() for each in node.expressions if isinstance(each, exp.Alias)
        }
        self.prefers_aliases = False
        self.has_query = any(
            isinstance(part, ReleasedScalar | InReleasedRows | UnitSemiJoin)
            for key in keys
            for part in parts_of(key)
        )

        self.has_constant = not all(any(True for _ in columns_in(key)) for key in keys)

    def column(self, node: exp.Expr) -> exp.Expr:
        """Return a column of the SELECT, with the name it had."""
        name = written_name(node)
        return exp.alias_(self.rewritten(node.unalias()), name, quoted=True, copy=False)

    def rewritten(self, node: exp.Expr) -> exp.Expr:
        """Return a node with its aggregates and keys as columns."""
        if id(node) in self.names:
            return self._column(self.names[id(node)])
        if isinstance(node, exp.Query):
            return self._inner(node)
        is_alias = (
            isinstance(node, exp.Column) and not node.table and node.name.casefold() in self.aliases
        )
        if is_alias and self.prefers_aliases:
            return node
        place = self._key_place(node, is_alias=is_alias)
        if place is not None:
            return self._column(f"k{place}")
        if is_alias:
            return node
        if isinstance(node, exp.Column):
            raise self._not_grouped(node)
        return self._children(node)

    def _not_grouped(self, node: exp.Column) -> NotGroupedError:
        text, interval = node.sql(dialect=DIALECT), self.scope.column(node).facts.interval
        is_bounded = interval.low is not None and interval.high is not None
        instead = f"AVG({text})" if is_bounded else f"COUNT(DISTINCT {text})"
        return NotGroupedError(
            f"{text} must appear in GROUP BY or inside an aggregate",
            f"Add it to GROUP BY, or write {instead}",
            span=span_of(node),
        )

    def _children(self, node: exp.Expr) -> exp.Expr:
        for name, value in list(node.args.items()):
            if isinstance(value, exp.Expr):
                node.set(name, self.rewritten(value))
            elif isinstance(value, list):
                node.set(
                    name,
                    [
                        self.rewritten(each) if isinstance(each, exp.Expr) else each
                        for each in value
                    ],
                )
        return node

    def _column(self, name: str) -> exp.Column:
        return exp.column(
            exp.to_identifier(name, quoted=True), table=exp.to_identifier(self.table, quoted=True)
        )

    def _key_place(self, node: exp.Expr, *, is_alias: bool) -> int | None:
        """Return which key a node is, if it is one."""
        if not self.keys or not isinstance(node, exp.Condition) or isinstance(node, exp.Literal):
            return None
        if node.find(exp.Column) is None and not self.has_constant:
            return None
        if any(id(each) in self.names for each in node.walk()):
            return None
        if node.find(exp.Query) is not None and not self.has_query:
            return None
        try:
            found = translate(node, self.scope)
        except QuestionError:
            if isinstance(node, exp.Column) and not is_alias:
                raise
            return None
        return next((i for i, each in enumerate(self.keys) if each == found), None)

    def _inner(self, node: exp.Query) -> exp.Expr:
        if self.table == GROUPS:  # still about private rows, which are yet to be translated
            return node
        result = self.scope.walker.query(node, self.scope.named)
        if isinstance(result, PrivateRows):
            raise row_level(node, is_per_unit=result.is_per_unit)
        tree = without_margins(result)
        return tree if isinstance(tree, exp.Subquery) else exp.Subquery(this=tree)
