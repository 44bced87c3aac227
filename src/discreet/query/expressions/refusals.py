"""What cannot be computed of a private row, and what a refusal says about it."""

from sqlglot import exp

from discreet.catalog.policy import nearest
from discreet.errors import (
    NestedAggregateError,
    NondeterministicError,
    QuestionError,
    UnknownNameError,
    UnsupportedError,
)
from discreet.query.places import span_of


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
    acos age array_length array_slice array_to_string ascii asin atan atan2 bar base64 bin bit_count
    bit_length cardinality cbrt chr cos cot damerau_levenshtein date_bin date_sub datesub dayname
    decode degrees divide editdist3 encode enum_code epoch_ms epoch_ns epoch_us error even factorial
    fmod format format_bytes from_base64 gamma gcd generate_series getenv getvariable glob
    greatest_common_divisor hamming hash hex instr_regex isfinite isinf isnan jaccard
    jaro_similarity json_extract julian last_day lcm levenshtein lgamma list_value lpad make_time
    make_timestamp md5 md5_number monthname nextafter pg_sleep pg_typeof printf query query_table
    radians range read_csv read_json read_parquet read_text regexp_extract regexp_extract_all
    regexp_full_match regexp_matches regexp_replace regexp_split_to_array repeat reverse round_even
    row rpad sha1 sha256 signbit sin split split_part str_split strftime string_split
    string_to_array strip_accents strlen strptime struct_pack tan time_bucket timezone to_base64
    to_days to_hours
    to_json to_months to_timestamp to_years translate try try_strptime typeof unhex unicode unnest
    url_decode url_encode write_log xor
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
    *("weekday", "weekofyear", "year", "decade", "century", "isoyear"),
    *sorted(AGGREGATES & {"avg", "count", "max", "median", "min", "mode", "stddev", "sum"}),
)
"""The functions an analyst can write, for the nearest name."""

CLAUSES = {
    "any": ("a comparison with ANY or ALL", "write IN (SELECT ...)"),
    "all": ("a comparison with ANY or ALL", "write IN (SELECT ...)"),
    "interval": ("a span of time by itself", "add it to a date, or use DATE_DIFF('day', a, b)"),
    "placeholder": ("a placeholder", "write the value in its place"),
    "parameter": ("a placeholder", "write the value in its place"),
    "regexplike": ("a regular expression", "use LIKE, STARTS_WITH or CONTAINS"),
    "regexpilike": ("a regular expression", "use ILIKE, or LOWER and CONTAINS"),
    "similarto": ("SIMILAR TO", "use LIKE"),
    "glob": ("GLOB", "use LIKE"),
    "tuple": ("a row of values", "compare the columns one by one, joined by AND"),
    "star": ("*", "name the columns"),
    "collate": ("COLLATE", "compare LOWER(...) of both sides"),
    "attimezone": ("AT TIME ZONE", "times are seen in UTC; shift them with + INTERVAL"),
}
"""Parts of SQL with a better way, by sqlglot's names."""


def refusal(node: exp.Expr) -> QuestionError:
    """Return the error for a part of an expression that has no translation."""
    span = span_of(node)
    if isinstance(node, exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
        return refusal(node.this)
    name = function_name(node)
    if name in WINDOW_ONLY:
        return UnsupportedError(
            f"{name.upper()} stands without OVER", "write OVER (...) after it", span=span
        )
    if isinstance(node, exp.AggFunc) or name in AGGREGATES:
        return NestedAggregateError(
            f"{name.upper()} stands inside another aggregate or in a condition on rows",
            "aggregate in a subquery first, or filter groups with HAVING",
            span=span,
        )
    if name in NONDETERMINISTIC:
        return NondeterministicError(
            f"{name.upper()} gives something else each time",
            "write the value that is meant, such as DATE '2024-12-31'",
            span=span,
        )
    return _unknown(node, name)


def function_name(node: exp.Expr) -> str:
    """Return the function's name in lower case; empty for what is no function."""
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return str(node.this).lower()
    return node.sql_name().lower() if isinstance(node, exp.Func) else ""


def _unknown(node: exp.Expr, name: str) -> QuestionError:
    span = span_of(node)
    if node.key in CLAUSES:
        what, fix = CLAUSES[node.key]
        return UnsupportedError(f"{what} has no private form here", fix, span=span)
    if isinstance(node, exp.Anonymous) and name not in WITHOUT_PRIVATE_FORM:
        near = nearest(name, list(KNOWN))
        fix = (
            "use one of the documented functions"
            if near is None
            else f"write {near.upper()} if that is meant"
        )
        return UnknownNameError(f"there is no function {name.upper()}", fix, span=span)
    what = name.upper() or node.key.upper()
    return UnsupportedError(
        f"{what} has no private form here",
        "leave it out, or compute it from the answer in an outer query",
        span=span,
    )
