"""Rejections of queries that several parts of the check share."""

import re
from collections.abc import Iterable

from sqlglot import ParseError, exp, parse_one

from discreet.errors import (
    NestedAggregateError,
    NondeterministicError,
    QuestionError,
    RowLevelError,
    UnboundedError,
    UnknownNameError,
    UnsupportedError,
)
from discreet.parameters import did_you_mean
from discreet.query.parse import DIALECT, span_of
from discreet.query.tree import (
    ColumnOf,
    Expression,
    GroupByUnit,
    PublicRelation,
    Relation,
    Select,
    UnionAll,
    columns_in,
)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


NONDETERMINISTIC = _names(
    """
    clock_timestamp current_catalog current_database current_date current_datetime current_role
    current_schema current_schemas current_setting current_time current_timestamp current_user
    currval gen_random_uuid get_current_time get_current_timestamp inet_client_addr localtime
    localtimestamp nextval now pg_backend_pid rand randn random session_user setseed
    statement_timestamp sysdate timeofday today transaction_timestamp txid_current user uuid uuidv4
    uuidv7 version
    """
)

AGGREGATES = _names(
    """
    any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_min array_agg
    avg bit_and bit_or bit_xor bool_and bool_or corr count count_if count_star countif covar_pop
    covar_samp entropy favg first fsum group_concat histogram kahan_sum kurtosis kurtosis_pop last
    list listagg mad max max_by mean median min min_by mode percentile_cont percentile_disc product
    quantile quantile_cont quantile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2
    regr_slope regr_sxx regr_sxy regr_syy reservoir_quantile sem skewness stddev stddev_pop
    stddev_samp string_agg sum sum_no_overflow sumkahan var_pop var_samp variance
    """
)

WINDOW_ONLY = _names(
    """
    cume_dist dense_rank fill first_value lag last_value lead nth_value ntile percent_rank rank
    rank_dense row_number
    """
)

WITHOUT_PRIVATE_FORM = _names(
    """
    acos age array_length array_slice array_to_string asin atan atan2 bar base64 bin bit_count
    cardinality cbrt chr cos cot damerau_levenshtein decode degrees divide editdist3 encode
    enum_code epoch_ns error even factorial fmod format format_bytes from_base64 gamma gcd
    generate_series getenv getvariable glob greatest_common_divisor hamming hash hex instr_regex
    isfinite jaccard jaro_similarity json_extract julian lcm levenshtein lgamma list_value
    make_time make_timestamp md5 md5_number nextafter pg_sleep pg_typeof printf query
    query_table radians range read_csv read_json read_parquet read_text regexp_extract_all
    regexp_split_to_array reverse round_even row sha1 sha256 signbit sin split str_split
    string_split string_to_array strip_accents strptime struct_pack tan timezone to_base64
    to_json try try_strptime typeof unhex unicode unnest url_decode url_encode write_log xor
    """
)

KNOWN = (
    *("abs", "ceil", "ceiling", "char_length", "clamp", "coalesce", "concat", "contains"),
    *("date_add", "date_diff", "date_part", "date_trunc", "datediff", "datepart", "datetrunc"),
    *("day", "dayofmonth", "dayofweek", "dayofyear", "ends_with", "epoch", "exp", "extract"),
    *("floor", "greatest", "hour", "if", "ifnull", "iif", "instr", "isodow", "lcase", "least"),
    *("left", "len", "length", "ln", "log", "log10", "log2", "lower", "ltrim", "make_date"),
    *("minute", "mod", "month", "nullif", "nvl", "pi", "position", "pow", "power", "prefix"),
    *("quarter", "replace", "right", "round", "rtrim", "second", "sign", "sqrt", "starts_with"),
    *("strpos", "substr", "substring", "suffix", "trim", "trunc", "ucase", "upper", "week"),
    *("weekday", "weekofyear", "year", "decade", "century", "isoyear", "dayname", "monthname"),
    *("strftime", "width_bucket", "ascii", "concat_ws", "epoch_ms", "isnan", "last_day", "lpad"),
    *("list_contains", "octet_length", "repeat", "rpad", "split_part", "strlen", "time_bucket"),
    *("regexp_extract", "regexp_full_match", "regexp_matches", "regexp_replace"),
    *("to_char", "to_days", "to_hours", "to_minutes", "to_timestamp", "translate", "yearweek"),
    *sorted(AGGREGATES & {"avg", "count", "max", "median", "min", "mode", "stddev", "sum"}),
)
"""The functions that "Did you mean ...?" proposes."""

_DIFFERS = "Databases compute different last digits. Apply it to the results in an outer query"
_HASHES = "Compare the text itself, which never leaves the database"
_SPLIT = "For a part of a text write SPLIT_PART(x, ',', 2)"
_ROWS = (
    "Write UNNEST(STRING_SPLIT(x, ' ')[1:5]) in SELECT: a limit on the parts of a text is needed"
)
_SECONDS = "Write DATE_DIFF('day', earlier, later)"

FIXES = {
    **dict.fromkeys(_names("sin cos tan cot asin acos atan atan2 cbrt radians degrees"), _DIFFERS),
    **dict.fromkeys(_names("sinh cosh tanh asinh acosh atanh gamma lgamma"), _DIFFERS),
    **dict.fromkeys(_names("md5 md5_number sha1 sha256 hash"), _HASHES),
    **dict.fromkeys(_names("string_split str_split split string_to_array list_slice"), _SPLIT),
    **dict.fromkeys(_names("array_slice list_extract regexp_split_to_array"), _SPLIT),
    **dict.fromkeys(_names("regexp_extract_all regexp_split_to_table"), _SPLIT),
    **dict.fromkeys(_names("unnest explode"), _ROWS),
    **dict.fromkeys(
        _names("strptime try_strptime"), "Write CAST(x AS DATE) or CAST(x AS TIMESTAMP)"
    ),
    **dict.fromkeys(
        _names("date_format format_date format_timestamp"), "Write STRFTIME(t, '%Y-%m')"
    ),
    "age": _SECONDS,
    "reverse": "Databases reverse accents differently. Use RIGHT or ENDS_WITH",
    "chr": "Write the character in quotes",
    "initcap": "Use UPPER(LEFT(x, 1)) || LOWER(SUBSTRING(x, 2))",
}
"""What to write instead of functions that are not supported on private rows."""

CLAUSES = {
    **dict.fromkeys(
        ("any", "all"),
        ("ANY and ALL are", "Write x = ANY([1, 2]), x <> ALL([1, 2]) or x IN (SELECT ...)"),
    ),
    "aliases": ("A list of names is", "Remove it"),
    "slice": ("A part of a list is", "For a part of a text write SPLIT_PART(x, ',', 2)"),
    "placeholder": ("A placeholder such as ? is", "Write the value itself"),
    "parameter": ("A placeholder such as ? is", "Write the value itself"),
    "glob": ("GLOB is", "Use LIKE"),
    "bytestring": ("E'...' is", "Write '...', with '' for a quote in it"),
    "tuple": ("A row of values is", "Compare the columns one by one, joined by AND"),
    "array": ("A list of values is", "Select its values as columns of their own"),
    "bracket": ("A list of values is", "Select its values as columns of their own"),
    "star": ("* is", "Name the columns"),
    "collate": ("COLLATE is", "Compare LOWER(...) of both sides"),
    "attimezone": (
        "AT TIME ZONE is",
        "Timestamps are in UTC. To shift one, write t + INTERVAL 1 HOUR",
    ),
}
"""SQL that is not supported, by sqlglot's names: the subject of the sentence, and what to do."""


def rejection(node: exp.Expr) -> QuestionError:
    """Return the error for a part of an expression that has no translation."""
    span = span_of(node)
    if isinstance(node, exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
        return rejection(node.this)
    name = function_name(node)
    if name in WINDOW_ONLY:
        return UnsupportedError(
            f"{name.upper()} needs OVER", f"Write {name.upper()}(...) OVER (...)", span=span
        )
    if isinstance(node, exp.AggFunc) or name in AGGREGATES:
        return nested_aggregate(node, name.upper())
    if name in NONDETERMINISTIC:
        return nondeterministic(node, name)
    return _unknown(node, name)


def nondeterministic(node: exp.Expr, name: str) -> NondeterministicError:
    """Return the error for a function whose value changes."""
    written = written_name(node)
    is_time = any(each in name for each in ("date", "time", "now", "today"))
    fix = "Remove it. To use fewer rows, add a condition on a column"
    return NondeterministicError(
        f"{written} is not allowed, because its value can change with every run",
        "Write a fixed value, such as DATE '2024-12-31'" if is_time else fix,
        span=span_of(node),
    )


def function_name(node: exp.Expr) -> str:
    """Return the function's name in lower case, or an empty text if the node is not a function."""
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return str(node.this).lower()
    return node.sql_name().lower() if isinstance(node, exp.Func) else ""


def written_name(node: exp.Expr) -> str:
    """Return what the query calls a function, in upper case; else what DuckDB calls it."""
    name = node.meta.get("name") or function_name(node).replace("j_s_o_n", "json")
    if name:
        return str(name).upper()
    found = re.match(r"(\w+)\(", node.sql(dialect=DIALECT))
    if found is not None:
        return found[1].upper()
    return "This operator" if isinstance(node, exp.Binary | exp.Unary) else node.key.upper()


def nested_aggregate(node: exp.Expr, name: str) -> NestedAggregateError:
    """Return the error for an aggregate, or an alias of one, where only rows can be."""
    outer = node.find_ancestor(exp.AggFunc, exp.Where, exp.Select)
    if isinstance(outer, exp.AggFunc):
        around = function_name(outer).upper()
        return NestedAggregateError(
            f"{name} cannot be nested inside {around}",
            f"Compute {name} in a subquery, then take {around} of the results",
            span=span_of(node),
        )
    test = node.parent.sql(dialect=DIALECT) if isinstance(node.parent, exp.Predicate) else ""
    filtered = "Filter groups with HAVING"
    if test:
        filtered = f"Remove this condition and write HAVING {test}"
    return NestedAggregateError(
        f"A condition on rows cannot contain {node.sql(dialect=DIALECT)}",
        f"{filtered}, or compute {name} in a subquery",
        span=span_of(node),
    )


def _unknown(node: exp.Expr, name: str) -> QuestionError:
    span = span_of(node)
    if node.key in CLAUSES:
        what, fix = CLAUSES[node.key]
        return UnsupportedError(f"{what} not supported on private rows", fix, span=span)
    written = written_name(node)
    is_known = name in WITHOUT_PRIVATE_FORM or written.lower() in FIXES
    if isinstance(node, exp.Anonymous) and not is_known:
        return unknown_function(node, name, KNOWN)
    return UnsupportedError(
        f"{written} is not supported on private rows",
        FIXES.get(written.lower(), "Remove it, or apply it to the results in an outer query"),
        span=span,
    )


def unknown_function(node: exp.Expr, name: str, known: Iterable[str]) -> UnknownNameError:
    """Return the error for a function that does not exist, with the nearest name."""
    return UnknownNameError(
        f"There is no function {name.upper()}",
        did_you_mean(
            name,
            [each.upper() for each in known],
            otherwise="Use a function that the SQL reference lists",
        ),
        span=span_of(node),
    )


def unknown_table(what: str, name: str, known: list[str], node: exp.Expr) -> UnknownNameError:
    """Return the error for an unknown table, with the nearest name or the first names."""
    return UnknownNameError(what, _names_to_use("tables", name, known), span=span_of(node))


def unknown_column(what: str, name: str, known: list[str], node: exp.Expr) -> UnknownNameError:
    """Return the error for an unknown column, with the nearest name or the first names."""
    fix = _names_to_use("columns", name, known)
    text = name.strip("\"'‘’“”")
    is_quoted = isinstance(node.this, exp.Identifier) and node.this.args.get("quoted")
    if text and (is_quoted or text != name):
        literal = exp.Literal.string(text).sql(dialect=DIALECT)
        fix = f"Write text in single quotes: {literal}. {fix}"
    return UnknownNameError(what, fix, span=span_of(node))


def unknown_window(name: str, known: list[str], node: exp.Expr) -> UnknownNameError:
    """Return the error for a window that WINDOW does not define, with the nearest name."""
    fix = _names_to_use("windows", name, known)
    return UnknownNameError(f"There is no window {name}", fix, span=span_of(node))


def _names_to_use(kind: str, name: str, known: list[str]) -> str:
    otherwise = available(f"Available {kind}", known) if known else f"There are no {kind} here"
    return did_you_mean(name, known, otherwise=otherwise)


def available(what: str, names: list[str]) -> str:
    """Return a list of names after a few words, cut off after eight of them."""
    return f"{what}: {', '.join(names[:8])}" + (", ..." if len(names) > 8 else "")


def row_level(node: exp.Expr, *, is_per_unit: bool) -> RowLevelError:
    """Return the error for a query whose result would be individual rows, or a row per unit."""
    if is_per_unit:
        group = node.args.get("group")
        clause = group.sql(dialect=DIALECT).strip() if group is not None else "This query"
        return RowLevelError(
            f"{clause} would return one row per privacy unit",
            "Group by another column, or aggregate these rows in an outer query, such as "
            "SELECT COUNT(*) FROM (SELECT ...)",
            span=span_of(node),
        )
    tables = [each.name for each in node.find_all(exp.Table) if not each.name.startswith("__")]
    rows = f"individual rows of {tables[0]}" if tables else "individual rows"
    return RowLevelError(
        f"This query would return {rows}",
        "Use an aggregate such as COUNT, SUM or AVG",
        span=span_of(node),
    )


CLAUSE_WORDS = {
    "ORDER": "ORDER BY",
    "JOINS": "A join",
    "LATERALS": "LATERAL",
    "PIVOTS": "PIVOT",
    "SAMPLE": "TABLESAMPLE",
    "WINDOWS": "WINDOW",
    "LOCKS": "FOR UPDATE",
    "HINT": "A hint",
    "MATCH": "MATCH_RECOGNIZE",
    "INTO": "SELECT INTO",
    "CLUSTER": "CLUSTER BY",
    "DISTRIBUTE": "DISTRIBUTE BY",
    "SORT": "SORT BY",
    "CONNECT": "CONNECT BY",
}
"""Clauses that the parser calls by other names."""


def clause_words(name: str) -> str:
    """Return what a clause is called in a query, by the parser's name of it."""
    return CLAUSE_WORDS.get(name, name)


def below(node: exp.Expr, clause: str) -> UnsupportedError:
    """Return the error for ORDER BY, LIMIT or OFFSET on private rows."""
    return UnsupportedError(
        f"{clause_words(clause)} cannot be used on private rows",
        "Move ORDER BY and LIMIT to the outer query, after the aggregate",
        span=span_of(node),
    )


def unhandled(
    what: str, node: exp.Expr | None, fix: str = "Write the query without it"
) -> UnsupportedError:
    """Return the error for SQL that is not supported, on private or on public tables."""
    return UnsupportedError(
        f"{clause_words(what)} is not supported",
        fix,
        span=None if node is None else span_of(node),
    )


# --------------------------------------------------------------------------- aggregates in words


def unbounded(argument: Expression, text: str, rows: Relation | None = None) -> UnboundedError:
    """Return the error for an aggregate without bounds, with the text that declares them.

    The catalog is named only for columns that are read from a table as they are.
    """
    names = tuple(dict.fromkeys(each.name for each in columns_in(argument) if _is_open(each)))
    if not names:
        inner, clamped = argument_text(text), with_clamp(text)
        return UnboundedError(f"The range of {inner} is not known", f"Give it one: {clamped}")
    declare = ", ".join(f"{name} = {{ bounds = [low, high] }}" for name in names)
    clamps = " and ".join(f"CLAMP({name}, low, high)" for name in names)
    if rows is not None and not all(_is_stored(rows, name) for name in names):
        return UnboundedError(
            f"{text} needs bounds for {' and '.join(names)}, which this query computes",
            f"Write {clamps} in place of {' and '.join(names)}",
        )
    return UnboundedError(
        f"{text or 'This aggregate'} needs bounds for {' and '.join(names)}",
        f"Give them in the query: write {clamps} in place of {' and '.join(names)}. Or ask the "
        f"data owner to declare them in the catalog: {declare}",
    )


def _is_stored(rows: Relation, name: str) -> bool:
    """Return whether a column of rows is a column of a table, as it is."""
    match rows:
        case UnionAll(parts=parts):
            return all(_is_stored(each, name) for each in parts)
        case Select(columns=columns):
            sources = {rows.name: rows.source, **{each.name: each.source for each in rows.joins}}
        case GroupByUnit(keys=columns):
            sources = {rows.name: rows.source}
        case _:
            return True
    found = next((each.expression for each in columns if each.name == name), None)
    if not isinstance(found, ColumnOf):
        return False
    source = sources.get(found.source)
    return source is None or isinstance(source, PublicRelation) or _is_stored(source, found.name)


def _is_open(column: ColumnOf) -> bool:
    interval, kind = column.facts.interval, column.facts.kind
    return (kind.is_number or kind.is_time) and (interval.low is None or interval.high is None)


def argument_text(text: str) -> str:
    """Return what an aggregate is of, as a query has it: LN(cost) for AVG(LN(cost))."""
    argument = _argument(text)
    return "this expression" if argument is None else argument.sql(dialect=DIALECT)


def with_clamp(text: str) -> str:
    """Return an aggregate with CLAMP around its argument, as errors propose it."""
    argument = _argument(text)
    if argument is None:
        return "CLAMP(x, low, high)"
    around = argument.root()
    inner = argument.sql(dialect=DIALECT)
    argument.replace(exp.column(exp.to_identifier(f"CLAMP({inner}, low, high)", quoted=False)))
    return around.sql(dialect=DIALECT)


def _argument(text: str) -> exp.Expr | None:
    """Return the argument of an aggregate, in a tree of its own."""
    try:
        node = parse_one(text, dialect=DIALECT)
    except ParseError:
        return None
    bare = node.this if isinstance(node, exp.Filter) else node
    if isinstance(bare, exp.WithinGroup):
        bare = bare.expression.expressions[0]
    if isinstance(order := bare.args.get("expression"), exp.Order):  # of a quantile
        if order.expressions[0].args.get("desc"):
            return None
        bare.set("expression", order.this)
    found = bare.this if isinstance(bare, exp.Func | exp.Ordered) else None
    return found if isinstance(found, exp.Expr) and not isinstance(found, exp.Distinct) else None
