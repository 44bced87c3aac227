"""What is said of an aggregate that is not supported over the rows of many units."""

from sqlglot import exp

from discreet.errors import UnsupportedError
from discreet.query.parse import DIALECT, span_of

SUPPORTED = (
    *("COUNT", "SUM", "AVG", "VARIANCE", "STDDEV", "MEDIAN", "QUANTILE", "MIN", "MAX", "MODE"),
    *("CORR", "COVAR_POP", "COVAR_SAMP", "REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2"),
)


COUNTED_INSTEAD: dict[type[exp.Expr], str] = {
    exp.LogicalOr: "Write COUNT_IF({this}) > 0",
    exp.LogicalAnd: "Write COUNT_IF(NOT ({this})) = 0",
    exp.ArgMax: "Write SELECT {this}, MAX({by}) ... GROUP BY {this}, and take the largest",
    exp.ArgMin: "Write SELECT {this}, MIN({by}) ... GROUP BY {this}, and take the smallest",
    exp.First: "Add {this} to GROUP BY, or write MODE({this}) for its most frequent value",
    exp.Last: "Add {this} to GROUP BY, or write MODE({this}) for its most frequent value",
    exp.AnyValue: "Add {this} to GROUP BY, or write MODE({this}) for its most frequent value",
}
"""What to write over the rows of many units for an aggregate that only those of one unit have."""


LISTS = (exp.ArrayAgg, exp.GroupConcat)
"""Aggregates that would show the values of single rows."""


def no_form(node: exp.Expr) -> UnsupportedError:
    """Return the error for an aggregate that is not supported, with what to write instead."""
    bare = _bare(node)
    # sqlglot writes STRING_AGG by its standard name.
    written = node.sql(dialect=DIALECT).replace("LISTAGG(", "STRING_AGG(", 1)
    name = written.partition("(")[0]
    if isinstance(bare, LISTS):
        text = _text(_unordered(bare.this))
        return UnsupportedError(
            f"{name} would list values of single rows",
            f"Write SELECT {text}, COUNT(*) ... GROUP BY {text} for the values and their frequency",
            span=span_of(node),
        )
    if type(bare) in COUNTED_INSTEAD:
        return _only_of_one_unit(bare, name, node)
    return UnsupportedError(
        f"{written[:80] if name in SUPPORTED else name} is not supported on private tables",
        f"Supported aggregates: {', '.join(SUPPORTED)}",
        span=span_of(node),
    )


def _only_of_one_unit(bare: exp.Expr, name: str, node: exp.Expr) -> UnsupportedError:
    text = _text(_unordered(bare.this))
    by = bare.args.get("expression")
    fix = COUNTED_INSTEAD[type(bare)].format(this=text, by=by.sql(dialect=DIALECT) if by else "")
    return UnsupportedError(
        f"{name} is supported only with GROUP BY on the privacy unit", fix, span=span_of(node)
    )


def _bare(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
        node = node.this
    is_every = isinstance(node, exp.Anonymous) and node.name.upper() == "EVERY"
    return exp.LogicalAnd(this=node.expressions[0]) if is_every and node.expressions else node


def _unordered(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Order | exp.Limit | exp.HavingMax):
        node = node.this
    return node


def _text(inner: object) -> str:
    if isinstance(inner, exp.Distinct) and inner.expressions:
        inner = inner.expressions[0]
    return inner.sql(dialect=DIALECT) if isinstance(inner, exp.Expr) else ""
