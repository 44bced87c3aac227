"""SQL after the noise: allowed functions, column names, and what goes along with them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp, parse_one

from discreet.errors import UnsupportedError
from discreet.query.check.aggregates import is_aggregate
from discreet.query.check.intervals import carry_ends, drop_ends
from discreet.query.check.margins import (
    CHOOSES,
    READS_NOISE,
    chooses_rows,
    is_exact,
    is_noisy,
    margin_expression,
    origin_of,
    released_numbers,
)
from discreet.query.check.relations import Names, PostQuery, PrivateRows, TableRef, column_node
from discreet.query.check.row_keys import groups_shown, row_key
from discreet.query.expressions.functions import FUNCTIONS
from discreet.query.expressions.literals import settle_escape
from discreet.query.expressions.rejections import (
    NONDETERMINISTIC,
    nondeterministic,
    unhandled,
    unknown_function,
)
from discreet.query.expressions.rejections import written_name as written_function
from discreet.query.expressions.translate import PLAIN, TRANSLATIONS
from discreet.query.parse import DIALECT, span_of
from discreet.query.questions import ColumnOrigin

POST_CLAUSES = ("expressions", "where", "group", "having", "order", "qualify", "limit")
"""The clauses of SELECT in which queries may stand as values."""


def finish_post_query(node: exp.Select, sources: tuple[TableRef, ...]) -> PostQuery:
    """Return a SELECT whose every column has a name of its own, with error bars after them."""
    names = _named_columns(node)
    is_row_by_row = not (
        node.args.get("group") or node.args.get("distinct") or _has_aggregate(node)
    )
    spreads: dict[str, str] = {}
    origins: dict[str, ColumnOrigin] = {}
    reads: dict[str, frozenset[ColumnOrigin]] = {}
    rough: set[str] = set()
    hidden: list[exp.Expr] = []
    noisy = [is_noisy(each.unalias(), node, sources) for each in node.expressions]
    is_chosen = chooses_rows(node, sources)
    for name, each in zip(names, list(node.expressions), strict=True):
        origin = origin_of(each.unalias(), sources)
        if origin is not None:
            origins[name] = origin
        spread = margin_expression(each.unalias(), sources) if is_row_by_row else None
        if spread is not None:
            spreads[name] = unused_name("__spread", [*names, *spreads.values()])
            reads[name] = released_numbers(each.unalias(), sources)
            if not is_exact(each.unalias(), sources):
                rough.add(name)
            hidden.append(exp.alias_(spread, spreads[name], quoted=True, copy=False))
    node.set("expressions", [*node.expressions, *hidden])
    ends = carry_ends(node, names, sources) if is_row_by_row else {}
    inner = [each.relation for each in sources]
    is_one = (not node.args.get("group") and _has_aggregate(node)) or all(
        isinstance(each, PostQuery) and each.is_single for each in inner
    )
    return PostQuery(
        tree=node,
        columns=names,
        spreads=spreads,
        rough=frozenset(rough),
        noisy=frozenset(name for name, is_one in zip(names, noisy, strict=True) if is_one),
        is_chosen=is_chosen,
        ends=ends,
        origins=origins,
        reads=reads,
        is_public=all(not isinstance(each, PostQuery) or each.is_public for each in inner),
        is_single=is_first_only(node) or (is_one and not _is_unnested(node)),
        groups_of=groups_shown(node, sources, is_row_by_row=is_row_by_row),
        row_key=row_key(node, names, sources, is_row_by_row=is_row_by_row),
    )


def shown_of(tree: exp.Expr, table: str) -> tuple[tuple[str, str], ...] | None:
    """Return names and columns of a SELECT that only names columns of a table, else None."""
    if not isinstance(tree, exp.Select) or _clauses(tree) != {"expressions", "from_"}:
        return None
    source = tree.args["from_"].this
    if not isinstance(source, exp.Table) or _clauses(source) != {"this"} or source.name != table:
        return None
    pairs = [(each.alias, each.unalias()) for each in tree.expressions]
    if not all(isinstance(column, exp.Column) for _, column in pairs):
        return None
    return tuple((name, column.name) for name, column in pairs)


def _clauses(node: exp.Expr) -> set[str]:
    return {name for name, value in node.args.items() if value}


def is_first_only(node: exp.Expr) -> bool:
    """Return whether a query keeps one row at most."""
    limit = node.args.get("limit")
    return isinstance(limit, exp.Limit) and limit.expression.sql() in ("0", "1")


def _is_unnested(node: exp.Select) -> bool:
    """Return whether a list is made into rows."""
    return any(
        isinstance(each, exp.Explode) for column in node.expressions for each in _shallow(column)
    )


def _has_aggregate(node: exp.Select) -> bool:
    return any(is_aggregate(each) for column in node.expressions for each in _shallow(column))


def _shallow(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield a node and what is in it, but not what is in inner queries."""
    yield node
    if not isinstance(node, exp.Query):
        for each in node.iter_expressions():
            yield from _shallow(each)


def _named_columns(node: exp.Select) -> tuple[str, ...]:
    """Give every column a name: its alias, its own name, or how the query writes it."""
    names = written_names(node.expressions)
    for i, (name, each) in enumerate(zip(names, node.expressions, strict=True)):
        node.expressions[i] = exp.alias_(each.unalias(), name, quoted=True, copy=False)
    node.set("expressions", node.expressions)
    return tuple(names)


def written_name(node: exp.Expr) -> str:
    """Return what a column of SELECT is called: its alias, its own name, or how it is written."""
    if isinstance(node, exp.Alias | exp.Subquery) and node.alias:
        return node.alias
    return node.name if isinstance(node, exp.Column) else node.sql(dialect=DIALECT)


def written_names(columns: Sequence[exp.Expr]) -> list[str]:
    """Return what the columns of SELECT are called, no two alike."""
    names: list[str] = []
    for each in columns:
        names.append(unused_name(written_name(each), names))
    return names


def unused_name(wanted: str, taken: list[str]) -> str:
    """Return the wanted name, or one like it that is not taken."""
    folded = {each.casefold() for each in taken}
    name, number = wanted, 2
    while name.casefold() in folded:
        name, number = f"{wanted}_{number}", number + 1
    return name


def expand_stars(node: exp.Select, names: Names) -> None:
    """Write out what every star stands for."""
    columns: list[exp.Expr] = []
    for each in node.expressions:
        star = each.this if isinstance(each, exp.Column) else each
        if not isinstance(star, exp.Star):
            columns.append(each)
            continue
        columns += star_columns(each, star, names)
    node.set("expressions", columns)


def star_columns(node: exp.Expr, star: exp.Star, names: Names) -> list[exp.Expr]:
    """Return the columns that a star stands for, without those it excludes."""
    if star.args.get("replace") or star.args.get("rename"):
        raise unhandled("* with REPLACE or RENAME", node)
    excluded = {each.name.casefold() for each in star.args.get("except_") or ()}
    table = node.table if isinstance(node, exp.Column) and node.table else None
    return [
        column_node(source, out, is_bare=table is None and names.is_coalesced(source, out))
        for source, out in names.all(table)
        if out.written.casefold() not in excluded
    ]


def inner_queries(node: exp.Select, joins: Iterable[exp.Join]) -> list[exp.Expr]:
    """Return the outermost queries inside a SELECT's expressions, FROM and WITH left out."""
    found: list[exp.Expr] = []
    for clause in POST_CLAUSES:
        values = node.args.get(clause)
        for each in values if isinstance(values, list) else [values]:
            if isinstance(each, exp.Expr):
                _outermost(each, found)
    for join in joins:
        if join.args.get("on"):
            _outermost(join.args["on"], found)
    return found


def _outermost(node: exp.Expr, found: list[exp.Expr]) -> None:
    if isinstance(node, exp.Query):
        found.append(node)
        return
    for each in node.iter_expressions():
        _outermost(each, found)


def without_margins(opened: PostQuery) -> exp.Query:
    """Return the query with its asked columns alone; it remembers that it reads noisy numbers."""
    bare = _without_margins(opened)
    bare.meta[READS_NOISE] = not opened.is_public
    bare.meta[CHOOSES] = opened.is_chosen
    return bare


def _without_margins(opened: PostQuery) -> exp.Query:
    drop_ends(opened)
    if not opened.spreads:
        return opened.tree
    columns = [exp.column(exp.to_identifier(each, quoted=True)) for each in opened.columns]
    inner = opened.tree
    if isinstance(inner, exp.Subquery):
        inner = exp.Select().select("*").from_(inner, copy=False)
    return exp.Select(expressions=columns, from_=exp.From(this=inner.subquery("t", copy=False)))


def all_rows(tree: exp.Query) -> exp.Query | None:
    """Return a query without its LIMIT and OFFSET, None if it has none."""
    if not tree.args.get("limit") and not tree.args.get("offset"):
        return None
    whole_tree = tree.copy()
    for clause in ("limit", "offset"):
        whole_tree.set(clause, None)
    return whole_tree


def whole(tree: exp.Query, named: Mapping[str, PrivateRows | PostQuery]) -> exp.Query:
    """Return a query that can be run by itself, with the entries of WITH that it reads."""
    read = _tables_in(tree)
    entries: list[exp.CTE] = []
    for name, each in reversed(list(named.items())):
        if name in read and isinstance(each, PostQuery) and each.entry is not None:
            entries.insert(0, each.entry.copy())
            read |= _tables_in(each.entry)
    if not entries:
        return tree
    return exp.Select(
        expressions=[exp.Star()],
        from_=exp.From(this=exp.Subquery(this=tree, alias=exp.to_identifier("whole"))),
        with_=exp.With(expressions=entries),
    )


def _tables_in(tree: exp.Expr) -> set[str]:
    return {each.name.casefold() for each in tree.find_all(exp.Table)}


def renamed(opened: PostQuery, names: tuple[str, ...]) -> PostQuery:
    """Return the query as it is known by the names that stand behind its own."""
    change = dict(zip(opened.columns, names, strict=False))
    return replace(
        opened,
        columns=tuple(change.get(each, each) for each in opened.columns),
        spreads={change.get(each, each): spread for each, spread in opened.spreads.items()},
        rough=frozenset(change.get(each, each) for each in opened.rough),
        noisy=frozenset(change.get(each, each) for each in opened.noisy),
        ends={change.get(each, each): ends for each, ends in opened.ends.items()},
        origins={change.get(each, each): origin for each, origin in opened.origins.items()},
        reads={change.get(each, each): numbers for each, numbers in opened.reads.items()},
        row_key=None
        if opened.row_key is None
        else frozenset(change.get(each, each) for each in opened.row_key),
    )


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
        *("ArrayMax", "ArrayMin", "ArraySum", "ArraySize", "ArraySort", "ArrayContains"),
        *("TimestampFromParts", "DateStrToDate", "UnixToTime", "Gcd", "Lcm", "BitwiseCount"),
    )
    if hasattr(exp, each)
)


GROWING = {exp.Pad, exp.Repeat}
"""Functions whose results are as long as the query asks; private rows have their own limit."""


ALLOWED = (
    *(exp.AggFunc, exp.Anonymous, exp.Array, exp.Explode),
    *({*TRANSLATIONS, *PLAIN, *WINDOWS, *MORE_NODES} - GROWING),
)
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
            f"{written_function(node)} is not supported",
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


INFALLIBLE = (exp.Try, exp.TryCast, exp.Case, exp.If, exp.Coalesce, exp.Connector, exp.Array)
"""Nodes that cannot fail, or that are only parts of functions."""


NOT_TRIED = (exp.AggFunc, *WINDOWS, exp.Window, exp.Query, exp.Explode)
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
