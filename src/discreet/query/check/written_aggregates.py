"""Aggregates that people write in other words, rewritten as those that the checker knows.

A list of quantiles is a list of quantiles, each released by itself: QUANTILE_CONT(x, [0.1, 0.9])
is [QUANTILE_CONT(x, 0.1), QUANTILE_CONT(x, 0.9)]. Of a list with an index only that one is asked.
"""

import re
from collections.abc import Callable
from fractions import Fraction

from sqlglot import exp

from discreet.errors import UnsupportedError
from discreet.query.check.aggregates import is_aggregate
from discreet.query.check.post_select import written_name
from discreet.query.parse import DIALECT, span_of

MOST_QUANTILES = 100
"""The most quantiles of one list."""

LONGEST = 4
"""Digits of the number of parts of APPROX_QUANTILES."""

CLAUSES = ("expressions", "having", "qualify", "windows", "order")
"""The clauses of SELECT in which aggregates may stand."""

ORDERLESS = (
    *(exp.Sum, exp.Avg, exp.Min, exp.Max, exp.Count, exp.Median, exp.Mode, exp.Variance),
    *(exp.VariancePop, exp.Stddev, exp.StddevSamp, exp.StddevPop, exp.LogicalOr, exp.LogicalAnd),
)
"""Aggregates whose value does not depend on the order of rows."""


def rewrite_aggregates(node: exp.Select) -> None:
    """Rewrite the aggregates of a SELECT over private rows; its columns keep their names."""
    node.set("expressions", [_column(each) for each in node.expressions])
    for clause in CLAUSES[1:]:
        value = node.args.get(clause)
        if isinstance(value, list):
            node.set(clause, [_rewritten(each) for each in value])
        elif isinstance(value, exp.Expr):
            node.set(clause, _rewritten(value))


def _column(node: exp.Expr) -> exp.Expr:
    name, inner = written_name(node), node.unalias()
    found = _rewritten(inner)
    return node if found is inner else exp.alias_(found, name, quoted=True, copy=False)


def _rewritten(node: exp.Expr) -> exp.Expr:
    """Return a node, itself if nothing at its top changes, with its aggregates rewritten."""
    if isinstance(node, exp.Query):
        return node
    found = _chosen(node) if isinstance(node, exp.Bracket) else None
    if is_aggregate(node):
        _drop_order(node)
        found = _listed(node) or _mean_of_different(node) or _plain_mode(node)
    if found is not None:
        return found
    for each in list(node.iter_expressions()):
        changed = _rewritten(each)
        if changed is not each:
            each.replace(changed)
    return node


def _drop_order(node: exp.Expr) -> None:
    bare = _bare(node)
    if isinstance(bare, ORDERLESS) and isinstance(bare.this, exp.Order):
        bare.set("this", bare.this.this)


def _plain_mode(node: exp.Expr) -> exp.Expr | None:
    """Return MODE() WITHIN GROUP (ORDER BY x) as MODE(x); None of other nodes."""
    bare = _bare(node)
    if not isinstance(bare, exp.WithinGroup) or not isinstance(bare.this, exp.Mode):
        return None
    ordered = bare.expression.expressions
    if bare.this.this is not None or len(ordered) != 1:
        return None
    mode = exp.Mode(this=ordered[0].this)
    return mode if bare is node else exp.Filter(this=mode, expression=node.args["expression"])


def _bare(node: exp.Expr) -> exp.Expr:
    """Return an aggregate without brackets and FILTER around it."""
    while isinstance(node, exp.Paren | exp.Filter):
        node = node.this
    return node


# --------------------------------------------------------------------------- one of a list


def _chosen(node: exp.Bracket) -> exp.Expr | None:
    """Return the one value of a list of aggregates that an index asks for; None of others."""
    inner, bare = node.this.unnest(), _bare(node.this)
    if not is_aggregate(inner):
        return None
    place = _place(node)
    if isinstance(bare, exp.ArrayAgg):
        return _first(inner, bare, place)
    listed = _quantiles(inner)
    if listed is None:
        return None
    if place is None or not 1 <= place <= len(listed):
        raise UnsupportedError(
            f"The index of this list must be a number from 1 to {len(listed)}",
            "Write one of them, or select the list and take its parts in an outer query",
            span=span_of(node),
        )
    return listed[place - 1]


def _place(node: exp.Bracket) -> int | None:
    """Return which value an index asks for, 1 for the first, however the dialect counts."""
    index = node.expressions[0] if len(node.expressions) == 1 else None
    if isinstance(index, exp.Anonymous) and len(index.expressions) == 1:
        first = {"OFFSET": 1, "SAFE_OFFSET": 1, "ORDINAL": 0, "SAFE_ORDINAL": 0}
        number = str(index.expressions[0].this)
        is_known = index.name.upper() in first and number.isdecimal()
        return int(number) + first[index.name.upper()] if is_known else None
    found = re.search(r"\[([0-9]{1,9})\]$", node.sql(dialect=DIALECT))
    return None if found is None else int(found[1])


def _first(inner: exp.Expr, bare: exp.ArrayAgg, place: int | None) -> exp.Expr | None:
    """Return (ARRAY_AGG(x ORDER BY y))[1] as FIRST(x ORDER BY y)."""
    ordered = bare.this.this if isinstance(bare.this, exp.Limit) else bare.this
    if place != 1 or not isinstance(ordered, exp.Order) or isinstance(ordered.this, exp.Distinct):
        return None
    first = exp.First(this=ordered)
    return exp.Filter(this=first, expression=inner.expression) if bare is not inner else first


def _mean_of_different(node: exp.Expr) -> exp.Expr | None:
    """Return AVG(DISTINCT x) as the sum of the different values, divided by their number."""
    bare = _bare(node)
    if not isinstance(bare, exp.Avg) or not isinstance(bare.this, exp.Distinct):
        return None
    parts: list[exp.Expr] = [exp.Sum(this=bare.this.copy()), exp.Count(this=bare.this.copy())]
    if isinstance(node, exp.Filter):
        parts = [exp.Filter(this=each, expression=node.expression.copy()) for each in parts]
    return exp.Paren(this=exp.Div(this=parts[0], expression=parts[1]))


# --------------------------------------------------------------------------- lists of quantiles


def _listed(node: exp.Expr) -> exp.Expr | None:
    """Return a list of quantiles as a list of aggregates; None of other nodes."""
    made = _quantiles(node)
    if made is None:
        return None
    if not 1 <= len(made) <= MOST_QUANTILES:
        raise UnsupportedError(
            f"A list of quantiles must have 1 to {MOST_QUANTILES} values, and this one has "
            f"{len(made)}",
            "Write a shorter list",
            span=span_of(node),
        )
    return exp.Array(expressions=made)


def _quantiles(node: exp.Expr) -> list[exp.Expr] | None:
    """Return the quantiles of a list, each as an aggregate of its own; None of other nodes."""
    around = node if isinstance(node, exp.Filter) else None
    made = _unfiltered(node.this if around is not None else node)
    if made is None:
        return None
    if around is None:
        return made
    return [exp.Filter(this=each, expression=around.expression.copy()) for each in made]


def _unfiltered(node: exp.Expr) -> list[exp.Expr] | None:
    match node:
        case (
            exp.WithinGroup(this=exp.PercentileCont(this=exp.Array() as listed))
            | exp.WithinGroup(this=exp.PercentileDisc(this=exp.Array() as listed))
        ):
            return _each(node, listed, lambda copy, at: copy.this.set("this", at))
        case (
            exp.PercentileCont(expression=exp.Array() as listed)
            | exp.PercentileDisc(expression=exp.Array() as listed)
        ):
            return _each(node, listed, lambda copy, at: copy.set("expression", at))
        case exp.Quantile() | exp.ApproxQuantile():
            given = node.args.get("quantile")
            if not isinstance(given, exp.Array):
                return None
            return _each(node, given, lambda copy, at: copy.set("quantile", at))
        case exp.ApproxQuantiles():
            return _equal_parts(node)
        case _:
            return None


def _each(
    node: exp.Expr, listed: exp.Array, put: Callable[[exp.Expr, exp.Expr], None]
) -> list[exp.Expr]:
    made = []
    for each in listed.expressions:
        copy = node.copy()
        put(copy, each.copy())
        made.append(copy)
    return made


def _equal_parts(node: exp.ApproxQuantiles) -> list[exp.Expr]:
    """Return the ends of n parts with equally many rows: the least, n - 1 between, the greatest."""
    number = str(node.expression.this) if isinstance(node.expression, exp.Literal) else ""
    parts = int(number) if number.isdecimal() and len(number) <= LONGEST else 0
    if not parts or isinstance(node.this, exp.Distinct):
        raise UnsupportedError(
            "APPROX_QUANTILES needs a column and a number of parts",
            "Write APPROX_QUANTILES(x, 4), for example",
            span=span_of(node),
        )
    return [
        exp.ApproxQuantile(
            this=node.this.copy(), quantile=exp.Literal.number(_decimal(Fraction(place, parts)))
        )
        for place in range(parts + 1)
    ]


def _decimal(fraction: Fraction) -> str:
    return repr(float(fraction))
