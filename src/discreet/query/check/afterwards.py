"""Post-processing: the SQL that is allowed on noisy results and public tables."""

from sqlglot import exp, parse_one

from discreet.errors import UnsupportedError
from discreet.query.expressions.functions import FUNCTIONS
from discreet.query.expressions.patterns import settle_escape
from discreet.query.expressions.rejections import (
    NONDETERMINISTIC,
    nondeterministic,
    unhandled,
    unknown_function,
)
from discreet.query.expressions.translate import PLAIN, TRANSLATIONS
from discreet.query.parse import DIALECT
from discreet.query.places import span_of

CLAUSES = {
    *("expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset"),
    *("distinct", "qualify", "windows", "with_"),
}
"""The clauses of SELECT that are supported. Any other is rejected."""

MORE_FUNCTIONS = {
    *("format", "printf", "strftime", "strptime", "monthname", "dayname", "bar", "ordinal"),
    *("list_value", "list_sum", "list_avg", "list_min", "list_max", "cume_dist", "percent_rank"),
    *("ntile", "nth_value", "even", "cbrt", "gamma", "lgamma", "factorial", "isfinite", "isnan"),
    *("isinf", "to_days", "to_months", "to_years", "epoch", "last_day", "make_timestamp", "try"),
    *("string_agg", "list", "array_agg", "arg_min", "arg_max", "first", "last", "any_value"),
    *("corr", "regr_slope", "regr_intercept", "product", "histogram", "mode", "entropy", "mad"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "degrees", "radians", "md5", "sha256"),
    *("reverse", "split_part", "instr", "strpos", "position", "concat_ws"),
    *("greatest_common_divisor", "gcd", "lcm", "bit_count", "chr", "ascii", "initcap", "typeof"),
    *("var_samp", "mean", "median", "quantile", "row_number", "clamp", "century", "decade", "era"),
}
"""Functions of DuckDB that are allowed in post-processing, as well as those for private rows."""

REFUSED = (
    *(exp.Lateral, exp.Unnest, exp.TableSample, exp.Pivot, exp.Placeholder, exp.Parameter),
    *(exp.SessionParameter, exp.Command, exp.Into, exp.Lock, exp.MatchRecognize, exp.Hint),
    exp.Columns,
)
"""Nodes that are rejected in every query."""


WINDOWS = (
    *(exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile),
    *(exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue),
)
MORE_NODES = tuple(
    getattr(exp, each)
    for each in (
        *("TimeToStr", "StrToTime", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Atan2", "Cbrt"),
        *("Degrees", "Radians", "Initcap", "Reverse", "Chr", "Ascii", "Unicode", "MD5", "SHA2"),
        *("Dayname", "Monthname", "LastDay", "IsNan", "IsInf", "ConcatWs", "SplitPart", "Format"),
        *("Typeof", "Factorial", "Try", "TsOrDsToDate", "TsOrDsAdd", "DateSub", "TimestampAdd"),
        *("TimestampFromParts", "DateStrToDate", "UnixToTime", "Gcd", "Lcm", "BitwiseCount"),
    )
    if hasattr(exp, each)
)
ALLOWED = (exp.AggFunc, exp.Anonymous, *TRANSLATIONS, *PLAIN, *WINDOWS, *MORE_NODES)
"""The parser's nodes of allowed functions. None makes a result of unlimited size."""


def check_clauses(select: exp.Select) -> None:
    """Reject a clause that is not supported. No clause is ignored."""
    for name, value in select.args.items():
        if value and name not in CLAUSES:
            clause = name.strip("_").upper()
            node = value[0] if isinstance(value, list) else value
            raise unhandled(clause, node if isinstance(node, exp.Expr) else None)


def check_functions(tree: exp.Expr) -> None:
    """Reject functions that read other data, change with every run, or are unknown.

    Patterns with an escape character are rewritten in a form that every database can read.
    """
    for node in tree.walk():
        if isinstance(node, REFUSED):
            raise unhandled(node.key.upper(), node)
        if isinstance(node, exp.Func):
            _check_function(node)
        if isinstance(node, exp.Escape):
            settle_escape(node)


def _check_function(node: exp.Func) -> None:
    name = (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).casefold()
    if name in NONDETERMINISTIC or isinstance(node, NONDETERMINISTIC_NODES):
        raise nondeterministic(node, name)
    if isinstance(node, exp.Anonymous) and name not in MORE_FUNCTIONS and name not in FUNCTIONS:
        raise unknown_function(node, name, sorted(MORE_FUNCTIONS | set(FUNCTIONS)))
    if not isinstance(node, ALLOWED):
        raise UnsupportedError(
            f"{name.upper()} is not supported",
            "Write the query without it",
            span=span_of(node),
        )


NONDETERMINISTIC_NODES = tuple(
    getattr(exp, each)
    for each in (
        "Rand", "Randn", "Uuid", "CurrentDate", "CurrentTime", "CurrentTimestamp",
        "CurrentDatetime", "CurrentUser", "Localtime", "Localtimestamp", "UtcDate", "UtcTime",
        "UtcTimestamp", "CurrentSchema", "CurrentCatalog", "CurrentRole", "SessionUser",
        "CurrentTimezone", "Version", "CurrentDatabase", "Randstr", "Uniform", "Normal", "Zipf",
    )
    if hasattr(exp, each)
)  # fmt: skip


# --------------------------------------------------------------------------- what fails is NULL

FALLIBLE = (exp.Func, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg)
INFALLIBLE = (exp.Try, exp.TryCast, exp.Case, exp.If, exp.Coalesce, exp.Connector)
"""Nodes that cannot fail, or that are only parts of functions."""
NOT_TRIED = (exp.AggFunc, *WINDOWS, exp.Window, exp.Query)
"""Nodes that must not be inside DuckDB's TRY."""
AGGREGATES = {
    *("product", "histogram", "mode", "entropy", "mad", "list", "array_agg", "string_agg"),
    *("regr_slope", "regr_intercept", "corr", "arg_min", "arg_max", "first", "last", "any_value"),
    *("var_samp", "mean", "median", "quantile", "countif", "count_if"),
}
"""Aggregates that the parser may not recognize as aggregates."""


def null_for_failures(sql: str) -> str:
    """Return SQL in which a function that fails on a row gives NULL, as it does on private rows."""
    tree = parse_one(sql, dialect=DIALECT)
    for node in reversed(list(tree.walk())):
        if isinstance(node, FALLIBLE) and not isinstance(node, INFALLIBLE):
            _try(node)
    return tree.sql(dialect=DIALECT, identify=True)


def _try(node: exp.Expr) -> None:
    if isinstance(node.parent, exp.Try) or any(map(_is_of_rows, node.walk())):
        return
    tried = exp.Try()
    node.replace(tried)
    tried.set("this", node)


def _is_of_rows(node: exp.Expr) -> bool:
    """Return whether a node is computed from several rows, or by an inner query."""
    name = node.name.casefold() if isinstance(node, exp.Anonymous) else ""
    return isinstance(node, NOT_TRIED) or name in AGGREGATES
