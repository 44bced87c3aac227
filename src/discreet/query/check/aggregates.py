"""Which statistic an SQL aggregate is."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from sqlglot import exp

from discreet.catalog.schema import Kind
from discreet.errors import UnsupportedError
from discreet.query.check.aggregate_rejections import no_form
from discreet.query.check.relations import Names
from discreet.query.check.tuple_texts import are_tuple_kinds, tuple_text, when_all_known
from discreet.query.expressions.literals import number_from_text
from discreet.query.expressions.translate import NameScope, condition, translate
from discreet.query.parse import DIALECT, span_of
from discreet.query.questions import Aggregate, Statistic
from discreet.query.tree import Case, Expression, Facts, Interval, Literal

WRITTEN = "written"
"""Under this name the meta data of a node say how people read it."""


WRAPPERS = (exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls)


SIMPLE: dict[type[exp.Expr], Statistic] = {
    exp.Sum: Statistic.SUM,
    exp.Avg: Statistic.AVG,
    exp.Min: Statistic.MIN,
    exp.Max: Statistic.MAX,
    exp.Mode: Statistic.MODE,
    exp.Variance: Statistic.VAR_SAMP,
    exp.VariancePop: Statistic.VAR_POP,
    exp.Stddev: Statistic.STDDEV_SAMP,
    exp.StddevSamp: Statistic.STDDEV_SAMP,
    exp.StddevPop: Statistic.STDDEV_POP,
}


PAIRS: dict[type[exp.Expr], Statistic] = {
    exp.Corr: Statistic.CORR,
    exp.CovarPop: Statistic.COVAR_POP,
    exp.CovarSamp: Statistic.COVAR_SAMP,
    exp.RegrSlope: Statistic.REGR_SLOPE,
    exp.RegrIntercept: Statistic.REGR_INTERCEPT,
    exp.RegrR2: Statistic.REGR_R2,
    exp.RegrCount: Statistic.REGR_COUNT,
    exp.RegrAvgx: Statistic.REGR_AVGX,
    exp.RegrAvgy: Statistic.REGR_AVGY,
    exp.RegrSxx: Statistic.REGR_SXX,
    exp.RegrSyy: Statistic.REGR_SYY,
    exp.RegrSxy: Statistic.REGR_SXY,
}
"""Statistics of pairs, written with y first and x second."""


WHEN_DISTINCT = {
    Statistic.SUM: Statistic.SUM_DISTINCT,
    Statistic.MIN: Statistic.MIN,
    Statistic.MAX: Statistic.MAX,
}
"""The statistic of an aggregate with DISTINCT."""


OTHER_NAMES = {
    "mean": exp.Avg,
    "var_samp": exp.Variance,
    "countif": exp.CountIf,
    "every": exp.LogicalAnd,
}


NO_FORM = {
    *("string_agg", "group_concat", "listagg", "array_agg", "list", "first", "last", "any_value"),
    *("arg_min", "arg_max", "min_by", "max_by", "top_k", "approx_top_k", "histogram", "bit_and"),
    *("bit_or", "bit_xor", "bool_and", "bool_or", "product", "kurtosis", "skewness", "entropy"),
    *("mad", "favg", "fsum", "reservoir_quantile", "bitstring_agg", "arbitrary", "geomean", "sem"),
    *("kahan_sum", "sumkahan"),
}
"""Aggregates that are not supported on private tables."""


def is_aggregate(node: exp.Expr) -> bool:
    """Return whether a node is an aggregate over rows; the function of a window is not one."""
    if isinstance(node, WRAPPERS):
        return is_aggregate(node.this)
    if isinstance(node, exp.Anonymous):
        return node.name.casefold() in OTHER_NAMES or node.name.casefold() in NO_FORM
    is_of_window = isinstance(node.parent, exp.Window) and node.arg_key == "this"
    return isinstance(node, exp.AggFunc) and not is_of_window


def has_aggregate(node: exp.Expr) -> bool:
    """Return whether a node contains an aggregate over rows, except in inner queries."""
    if is_aggregate(node):
        return True
    if isinstance(node, exp.Query):
        return False
    inner = node.this if isinstance(node, exp.Window) else None
    return any(
        has_aggregate(each)
        for each in (*node.iter_expressions(), *(inner.iter_expressions() if inner else ()))
        if each is not inner
    )


def same_level(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield what is in a node, aggregates' insides and inner queries left out.

    A window's own function is not an aggregate over rows, but what it is applied to may be.
    """
    yield node
    if is_aggregate(node) or isinstance(node, exp.Query):
        return
    for each in node.iter_expressions():
        if isinstance(node, exp.Window) and each is node.this:
            for inner in each.iter_expressions():
                yield from same_level(inner)
        else:
            yield from same_level(each)


def bare_aggregate(node: exp.Expr) -> exp.Expr:
    """Return an aggregate without FILTER, by the node of its usual name."""
    bare = node.this if isinstance(node, exp.Filter) else node
    if not isinstance(bare, exp.Anonymous) or bare.name.casefold() not in OTHER_NAMES:
        return bare
    if len(bare.expressions) != 1:
        raise no_form(node)
    return OTHER_NAMES[bare.name.casefold()](this=bare.expressions[0])


def aggregate_from(node: exp.Expr, scope: NameScope, names: Names) -> Aggregate:
    """Return the meaning of an aggregate, or reject one that is not supported."""
    bare = bare_aggregate(node)
    made = _Reading(node=node, scope=scope, names=names).aggregate(bare)
    return replace(
        made,
        text=node.meta.get(WRITTEN) or node.sql(dialect=DIALECT),
        argument_text=_argument_text(bare),
        second_text="" if made.second is None else bare.expression.sql(dialect=DIALECT),
        span=span_of(node),
        kind=kind_of(made),
    )


def _argument_text(bare: exp.Expr) -> str:
    inner = bare.this
    if isinstance(inner, exp.Distinct) and inner.expressions:
        inner = inner.expressions[0]
    if not isinstance(inner, exp.Expr):
        return ""
    return str(inner.meta.get(WRITTEN) or inner.sql(dialect=DIALECT))


ONE = Literal(
    value=1,
    facts=Facts(
        kind=Kind.INTEGER,
        interval=Interval(low=Fraction(1), high=Fraction(1)),
        step=Fraction(1),
        domain=(1,),
        nullable=False,
    ),
)


def when_counted(argument: Expression, node: exp.Expr, scope: NameScope) -> Expression:
    """Return an argument that is NULL where FILTER, if the aggregate has one, is not true."""
    if not isinstance(node, exp.Filter):
        return argument
    is_counted = condition(node.expression.this, scope)
    domain = argument.facts.domain
    with_null = domain if domain is None or None in domain else (*domain, None)
    facts = replace(argument.facts, nullable=True, domain=with_null)
    null = Literal(value=None, facts=replace(facts, domain=(None,)))
    return Case(branches=((is_counted, argument),), otherwise=null, facts=facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """One aggregate while it is read. FILTER makes its argument NULL where it is not true."""

    node: exp.Expr
    scope: NameScope
    names: Names

    def argument(self, inner: exp.Expr) -> Expression:
        return self.filtered(translate(inner, self.scope))

    def filtered(self, argument: Expression) -> Expression:
        return when_counted(argument, self.node, self.scope)

    def aggregate(self, bare: exp.Expr) -> Aggregate:
        if isinstance(bare, exp.CountIf):
            case = exp.Case(ifs=[exp.If(this=bare.this.copy(), true=exp.Literal.number(1))])
            return Aggregate(statistic=Statistic.COUNT, argument=self.argument(case))
        if isinstance(bare, exp.Count):
            return self.count(bare)
        if isinstance(bare, exp.ApproxDistinct):
            return self._different(translate(bare.this, self.scope))
        if quantile := _quantile(bare, self.node):
            inner, fraction, discrete = quantile
            return _checked(
                Aggregate(
                    statistic=Statistic.QUANTILE,
                    argument=self.argument(inner),
                    fraction=fraction,
                    discrete=discrete,
                ),
                self.node,
            )
        return self.pair(bare) if type(bare) in PAIRS else self.simple(bare)

    def pair(self, bare: exp.Expr) -> Aggregate:
        """Return a statistic of pairs; FILTER makes y NULL, and a pair without y is none."""
        if set(_given(bare)) - {"this", "expression"}:
            raise no_form(self.node)
        y, x = self.argument(bare.this), translate(bare.expression, self.scope)
        for each in (y, x):
            _check_number(each.facts.kind, self.node)
        return Aggregate(statistic=PAIRS[type(bare)], argument=y, second=x)

    def simple(self, bare: exp.Expr) -> Aggregate:
        statistic, inner = SIMPLE.get(type(bare)), bare.this
        if statistic is None or set(_given(bare)) - {"this"}:
            raise no_form(self.node)
        if isinstance(inner, exp.Distinct):
            statistic = WHEN_DISTINCT.get(statistic)
            if statistic is None or len(inner.expressions) != 1:
                raise no_form(self.node)
            inner = inner.expressions[0]
        return _checked(Aggregate(statistic=statistic, argument=self.argument(inner)), self.node)

    def count(self, bare: exp.Count) -> Aggregate:
        if set(_given(bare)) - {"this", "big_int"}:
            raise no_form(self.node)
        if bare.this is None or isinstance(bare.this, exp.Star):
            return self._counted(ONE)
        if isinstance(bare.this, exp.Distinct):
            return self._count_distinct(bare.this)
        return self._counted(translate(bare.this, self.scope))

    def _counted(self, value: Expression) -> Aggregate:
        """Count the rows where a value is not NULL: all of them, if it never is."""
        is_always = self.names.is_unit(value) or (
            isinstance(value, Literal) and value.value is not None
        )
        if not is_always:
            return Aggregate(statistic=Statistic.COUNT, argument=self.filtered(value))
        if isinstance(self.node, exp.Filter):
            return Aggregate(statistic=Statistic.COUNT, argument=self.filtered(ONE))
        return Aggregate(statistic=Statistic.COUNT_ROWS)

    def _count_distinct(self, distinct: exp.Distinct) -> Aggregate:
        if distinct.args.get("on"):
            raise no_form(self.node)
        first = distinct.expressions[0]
        if len(distinct.expressions) > 1 or isinstance(first, exp.Tuple):
            return self._different_tuples(distinct)
        return self._different(translate(first, self.scope))

    def _different_tuples(self, distinct: exp.Distinct) -> Aggregate:
        """Count different rows of values; COUNT(DISTINCT a, b) leaves out those with a NULL."""
        first, *others = distinct.expressions
        nodes = first.expressions if isinstance(first, exp.Tuple) else distinct.expressions
        values = [translate(each, self.scope) for each in nodes]
        if (isinstance(first, exp.Tuple) and others) or not are_tuple_kinds(values):
            raise no_form(self.node)
        text = tuple_text(nodes)
        if not isinstance(first, exp.Tuple):
            text = when_all_known(text, nodes)
        return self._different(translate(text, self.scope))

    def _different(self, value: Expression) -> Aggregate:
        """Count different values: units, if all of them are, and each row has its own."""
        if self.names.is_unit(value) and not isinstance(self.node, exp.Filter):
            return Aggregate(statistic=Statistic.COUNT_UNITS)
        return Aggregate(
            statistic=Statistic.COUNT_DISTINCT,
            argument=self.filtered(value),
            is_of_unit=self._is_unit_or_null(value),
        )

    def _is_unit_or_null(self, value: Expression) -> bool:
        if isinstance(value, Case):
            results = (*(result for _, result in value.branches), value.otherwise)
            return all(map(self._is_unit_or_null, results))
        return self.names.is_unit(value) or (isinstance(value, Literal) and value.value is None)


def _quantile(bare: exp.Expr, node: exp.Expr) -> tuple[exp.Expr, Fraction, bool] | None:
    """Return argument, fraction and whether it is discrete, however a quantile is written."""
    match bare:
        case exp.Median():
            return bare.this, Fraction(1, 2), False
        case exp.WithinGroup(this=exp.PercentileCont() | exp.PercentileDisc() as function):
            ordered = bare.expression.expressions
            if len(ordered) != 1 or function.args.get("expression"):
                raise no_form(node)
            fraction = _fraction(function.this, node)
            is_descending = bool(ordered[0].args.get("desc"))
            is_discrete = isinstance(function, exp.PercentileDisc)
            return ordered[0].this, 1 - fraction if is_descending else fraction, is_discrete
        case exp.PercentileCont() | exp.PercentileDisc() if bare.expression:
            is_discrete = isinstance(bare, exp.PercentileDisc)
            return bare.this, _fraction(bare.expression, node), is_discrete
        case exp.Quantile() | exp.ApproxQuantile():
            is_discrete = isinstance(bare, exp.Quantile)
            return bare.this, _fraction(bare.args["quantile"], node), is_discrete
        case _:
            return None


def _fraction(node: exp.Expr, whole: exp.Expr) -> Fraction:
    is_number = isinstance(node, exp.Literal) and not node.is_string
    fraction = number_from_text(str(node.this)) if is_number else None
    if fraction is None or not 0 <= fraction <= 1:
        raise UnsupportedError(
            "The fraction of a quantile must be a number from 0 to 1",
            "Write it as a number, for example PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x)",
            span=span_of(whole),
        )
    return Fraction(node.this)  # whose exponent is a small one


NUMBERS = {
    *(Statistic.SUM, Statistic.SUM_DISTINCT, Statistic.AVG, Statistic.VAR_SAMP),
    *(Statistic.VAR_POP, Statistic.STDDEV_SAMP, Statistic.STDDEV_POP),
}


ORDERED = {Statistic.QUANTILE, Statistic.MIN, Statistic.MAX}


def _check_number(kind: Kind, node: exp.Expr) -> None:
    if not kind.is_number:
        raise UnsupportedError(
            f"{node.sql(dialect=DIALECT)} is not supported for values of type {kind.value}",
            "Use two columns of numbers",
            span=span_of(node),
        )


def _checked(made: Aggregate, node: exp.Expr) -> Aggregate:
    kind = made.argument.facts.kind if made.argument else Kind.INTEGER
    is_fit = (
        kind.is_number
        if made.statistic in NUMBERS
        else kind.is_number or kind.is_time
        if made.statistic in ORDERED
        else made.statistic is not Statistic.MODE or kind not in (Kind.OTHER, Kind.INTERVAL)
    )
    if not is_fit:
        dates = ", dates or timestamps" if made.statistic in ORDERED else ""
        raise UnsupportedError(
            f"{node.sql(dialect=DIALECT)} is not supported for values of type {kind.value}",
            f"Use a column of numbers{dates}, or {_count_instead(node)}",
            span=span_of(node),
        )
    return made


LARGEST_WHOLE = 2**31
"""Sums of larger integers are released as reals, because they may exceed 64 bits."""


def kind_of(made: Aggregate) -> Kind:
    """Return the kind of the released value, from the facts of the argument."""
    kind = made.argument.facts.kind if made.argument else Kind.INTEGER
    match made.statistic:
        case Statistic.SUM | Statistic.SUM_DISTINCT:
            return kind if _is_small(made.argument) else Kind.REAL
        case Statistic.MIN | Statistic.MAX | Statistic.MODE:
            return kind
        case Statistic.QUANTILE:
            return kind if made.discrete or kind.is_time else Kind.REAL
        case Statistic.REGR_COUNT:
            return Kind.INTEGER
        case _ if made.statistic in NUMBERS or made.second is not None:
            return Kind.REAL
        case _:
            return Kind.INTEGER


def _is_small(argument: Expression | None) -> bool:
    ends = () if argument is None else (argument.facts.interval.low, argument.facts.interval.high)
    return all(each is None or abs(each) <= LARGEST_WHOLE for each in ends)


def _given(node: exp.Expr) -> list[str]:
    return [name for name, value in node.args.items() if value not in (None, [], False)]


def _count_instead(node: exp.Expr) -> str:
    bare = node.this if isinstance(node, exp.Filter) else node
    column = bare.find(exp.Column)
    return "COUNT(*)" if column is None else f"COUNT(DISTINCT {column.sql(dialect=DIALECT)})"
