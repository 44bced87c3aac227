"""What PostgreSQL and BigQuery spell as DuckDB does and mean otherwise: rewritten, or rejected.

Functions that are not in a table here were not compared, and are rejected by name.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial

from sqlglot import exp

from discreet.catalog.schema import Kind
from discreet.errors import QuestionError, UnsupportedError
from discreet.query.dialect_kinds import Kinds
from discreet.query.spans import span_of
from discreet.written import SqlDialect

NAMES = {SqlDialect.POSTGRES: "PostgreSQL", SqlDialect.BIGQUERY: "BigQuery"}

SAME = {
    *(exp.And, exp.Or, exp.Case, exp.If, exp.Cast, exp.TryCast, exp.Coalesce, exp.Nullif),
    *(exp.Abs, exp.Ceil, exp.Floor, exp.Round, exp.Trunc, exp.Sign, exp.Sqrt, exp.Pow),
    *(exp.Exp, exp.Ln, exp.Log, exp.Mod, exp.IntDiv, exp.Greatest, exp.Least, exp.SafeDivide),
    *(exp.Count, exp.CountIf, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.AnyValue),
    *(exp.Stddev, exp.StddevPop, exp.StddevSamp, exp.Variance, exp.VariancePop),
    *(exp.Corr, exp.CovarPop, exp.CovarSamp, exp.LogicalOr, exp.LogicalAnd, exp.ApproxDistinct),
    *(exp.PercentileCont, exp.PercentileDisc, exp.Median, exp.RowNumber, exp.Rank, exp.DenseRank),
    *(exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.Ntile),
    *(exp.Lower, exp.Upper, exp.Length, exp.Trim, exp.Replace, exp.Left, exp.Right),
    *(exp.Substring, exp.StrPosition, exp.StartsWith, exp.EndsWith, exp.Concat, exp.SplitPart),
    *(exp.Extract, exp.DateTrunc, exp.TimestampTrunc, exp.DatetimeTrunc, exp.DateDiff),
    *(exp.DateAdd, exp.DateSub, exp.DatetimeAdd, exp.DatetimeSub, exp.DatetimeDiff),
    *(exp.TimestampAdd, exp.TimestampSub, exp.LastDay, exp.DateFromParts, exp.Date),
    *(exp.TimeToStr, exp.Array, exp.Any, exp.All, exp.Exists, exp.Unnest, exp.Filter),
    *(exp.CurrentDate, exp.CurrentTimestamp, exp.CurrentTime, exp.CurrentDatetime, exp.Rand),
    *(exp.Grouping, exp.TsOrDsToDate, exp.WeekStart, exp.StrToDate, exp.StrToTime),
}
"""Functions whose meaning was compared, or that are rejected later in any dialect."""

SAME_NAMES = frozenset({"clamp", "now", "random", "make_date", "width_bucket"})
"""Functions that the parser has no class for."""

FIELDS = {
    SqlDialect.POSTGRES: {
        *("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "QUARTER", "DOW", "DAYOFWEEK", "ISODOW"),
        *("DOY", "DAYOFYEAR", "WEEK", "ISOYEAR", "EPOCH", "CENTURY", "DECADE"),
    },
    SqlDialect.BIGQUERY: {
        *("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "QUARTER", "DAYOFYEAR", "ISOYEAR"),
        *("DAYOFWEEK", "ISOWEEK", "DATE"),
    },
}
"""Parts of a time that are the same numbers, or are rewritten below."""

FORMATS = {
    SqlDialect.POSTGRES: re.compile(r"(?:%[YmdHMS]|[-/: ._])*"),
    SqlDialect.BIGQUERY: re.compile(r"(?:%[YmdHMSjF]|[-/: ._T])*"),
}
"""Formats of times, as the parser writes them."""

STATED_TIMES = frozenset(
    ["%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S"]
)
"""Formats of constants that are read as times; the parser writes them so."""

TRUNCATED = {"YEAR", "QUARTER", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "WEEK", "ISOWEEK"}

Rule = Callable[[exp.Expr, Kinds], exp.Expr]


def with_our_meaning(tree: exp.Query, dialect: SqlDialect, kinds: Kinds) -> exp.Query:
    """Return the tree with everything that means another thing in DuckDB rewritten, or reject."""
    for node in list(tree.walk()):
        _check_known(node, dialect)
    rules = RULES[dialect]
    for node in reversed(list(tree.walk())):  # what is inside first
        rule = rules.get(type(node))
        if rule is not None:
            changed = rule(node, kinds)
            if changed is not node:
                node.replace(changed)
    return tree


def _check_known(node: exp.Expr, dialect: SqlDialect) -> None:
    if isinstance(node, exp.SimilarTo | exp.RegexpLike | exp.RegexpILike):
        raise _unread(node, "A regular expression", dialect)
    if isinstance(node, exp.BitString | exp.HexString):
        raise _unread(node, "A string of bits", dialect)
    if isinstance(node, exp.Anonymous):
        if str(node.this).lower() not in SAME_NAMES:
            raise _unread(node, str(node.this).upper(), dialect)
    elif isinstance(node, exp.Func) and type(node) not in SAME:
        raise _unread(node, node.sql(dialect=dialect.value).partition("(")[0].upper(), dialect)


def _unread(node: exp.Expr, what: str, dialect: SqlDialect) -> QuestionError:
    shown = what if what.replace("_", "").replace(" ", "").isalnum() else "This"
    return UnsupportedError(
        f"{shown} is not read in the dialect of {NAMES[dialect]}",
        "Write it as DuckDB does, and leave dialect out",
        span=span_of(node),
    )


def _other_meaning(node: exp.Expr, dialect: SqlDialect, what: str, fix: str) -> QuestionError:
    return UnsupportedError(f"{what} in {NAMES[dialect]}", fix, span=span_of(node))


# --------------------------------------------------------------------------- numbers


def _division(node: exp.Expr, kinds: Kinds) -> exp.Expr:
    """Divide integers without a remainder, as PostgreSQL does."""
    left, right = kinds.of(node.this), kinds.of(node.expression)
    if Kind.REAL in (left, right):
        return exp.Div(this=node.this, expression=node.expression)
    if left is right is Kind.INTEGER:
        return exp.IntDiv(this=node.this, expression=node.expression)
    raise _other_meaning(
        node,
        SqlDialect.POSTGRES,
        "Whether this division leaves a remainder depends on types that are not known here",
        "Write CAST(... AS double precision) around its first part, or div(a, b) without remainder",
    )


def _whole_division(node: exp.Expr, kinds: Kinds) -> exp.Expr:
    """Return div(a, b), which has no decimals for numerics either."""
    if kinds.of(node.this) is kinds.of(node.expression) is Kind.INTEGER:
        return node
    return exp.Trunc(this=exp.Div(this=node.this, expression=node.expression))


def _plain_division(node: exp.Expr, _: Kinds) -> exp.Expr:
    return exp.Div(this=node.this, expression=node.expression)


NUMERIC = "is numeric"
"""What is noted of a cast to a numeric, which is a cast to a double here."""


TIME = r"\d{4}-\d{1,2}-\d{1,2}(?:[ T]\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d(?::\d\d)?)?"
READ = {
    exp.DType.BOOLEAN: re.compile("t|true|f|false|1|0|yes|no", re.IGNORECASE),
    exp.DType.DATE: re.compile(r"\d{4}-\d{1,2}-\d{1,2}"),
    **dict.fromkeys((exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ), re.compile(TIME)),
    **dict.fromkeys(exp.DataType.INTEGER_TYPES, re.compile(r"\s*[+-]?\d+\s*")),
}
"""Texts that DuckDB reads as values of a type. It takes others for NULL."""


def _postgres_cast(node: exp.Expr, kinds: Kinds) -> exp.Expr:
    kind = node.args["to"]
    read = READ.get(kind.this)
    if node.this.is_string and read is not None and read.fullmatch(node.this.name) is None:
        fix = "Write dates as '2024-12-31', times as '2024-12-31 23:59:59', conditions as 'true'"
        raise _other_meaning(node, SqlDialect.POSTGRES, "This text is read otherwise", fix)
    if kind.this in exp.DataType.TEXT_TYPES:
        _check_text_cast(node, kinds, SqlDialect.POSTGRES)
    if kind.this is exp.DType.DECIMAL and not kind.expressions:
        node.set("to", exp.DataType(this=exp.DType.DOUBLE, nested=False))
        node.meta[NUMERIC] = True
    is_of_rows = not any(node.find_all(exp.AggFunc))
    if kind.this in exp.DataType.INTEGER_TYPES and is_of_rows and _may_have_decimals(node, kinds):
        return _rounded_cast(node, kinds)
    return node


MAY_BE_MIXED = (exp.Coalesce, exp.Case, exp.Greatest, exp.Least, exp.Round, exp.Trunc)


def _may_have_decimals(node: exp.Expr, kinds: Kinds) -> bool:
    inner, kind = node.this.unnest(), kinds.of(node.this)
    is_mixed = isinstance(inner, MAY_BE_MIXED)
    return kind is Kind.REAL or (kind is None and is_mixed)


def _rounded_cast(node: exp.Expr, kinds: Kinds) -> exp.Expr:
    """Round halves of a numeric away from 0, and those of a double to the even number."""
    if _is_whole(node.this):
        return node
    if _is_exact(node.this, kinds):
        node.set("this", exp.Round(this=node.this))
    elif not _is_double(node.this, kinds):
        what = "How a cast rounds halves depends on types that are not known here"
        fix = "Write ROUND(x::numeric) or FLOOR(x) around what is cast"
        raise _other_meaning(node, SqlDialect.POSTGRES, what, fix)
    return node


def _is_whole(node: exp.Expr) -> bool:
    """Return whether a number has no decimals, whatever its type is."""
    inner = node.unnest()
    if isinstance(inner, exp.Extract):
        return bool(inner.this.name.upper() != "EPOCH")
    is_round = isinstance(inner, exp.Round) and inner.args.get("decimals") is None
    return is_round or isinstance(inner, exp.Floor | exp.Ceil)


def _bigquery_cast(node: exp.Expr, kinds: Kinds) -> exp.Expr:
    """Round to the nearest integer, halves away from 0, as BigQuery does."""
    kind = node.args["to"]
    if kind.this in exp.DataType.TEXT_TYPES:
        _check_text_cast(node, kinds, SqlDialect.BIGQUERY)
    if kind.this in (exp.DType.DECIMAL, exp.DType.BIGDECIMAL) and not kind.expressions:
        node.set("to", exp.DataType(this=exp.DType.DOUBLE, nested=False))
    if kind.this in exp.DataType.INTEGER_TYPES:
        found = kinds.of(node.this)
        if found is None:
            fix = "Write CAST(ROUND(x) AS INT64) for a number with decimals"
            raise _other_meaning(node, SqlDialect.BIGQUERY, "A cast rounds halves up", fix)
        if found is Kind.REAL and not isinstance(node.this, exp.Round):
            node.set("this", exp.Round(this=node.this))
    return node


def _check_text_cast(node: exp.Expr, kinds: Kinds, dialect: SqlDialect) -> None:
    if node.args["to"].expressions:
        what = "A cast to a text of a given length cuts it"
        raise _other_meaning(node, dialect, what, "Write LEFT(x, n)")
    if kinds.of(node.this) in (None, Kind.REAL):
        what = "A number with decimals is written differently as a text"
        raise _other_meaning(node, dialect, what, "Compare or group by the number itself")


def _postgres_round(node: exp.Expr, kinds: Kinds) -> exp.Expr:
    is_of_rows = not any(node.find_all(exp.AggFunc))
    if node.args.get("decimals") is None and is_of_rows and not _is_exact(node.this, kinds):
        what = "ROUND takes halves of a double to the even number"
        raise _other_meaning(node, SqlDialect.POSTGRES, what, "Write ROUND(x::numeric) or FLOOR(x)")
    return node


def _is_exact(node: exp.Expr, kinds: Kinds) -> bool:
    """Return whether a number is an integer or a numeric in PostgreSQL, and not a double."""
    if isinstance(node, exp.Cast) and (NUMERIC in node.meta or node.is_type("decimal")):
        return True
    if isinstance(node, exp.Paren | exp.Neg | exp.Abs | exp.Round | exp.Floor | exp.Ceil):
        return _is_exact(node.this, kinds)
    if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div):
        return _is_exact(node.left, kinds) and _is_exact(node.right, kinds)
    return node.is_number or isinstance(node, exp.Extract) or kinds.of(node) is Kind.INTEGER


def _is_double(node: exp.Expr, kinds: Kinds) -> bool:
    """Return whether a number is a double in PostgreSQL, and not a numeric."""
    if isinstance(node, exp.Cast):
        return NUMERIC not in node.meta and node.to.this in exp.DataType.FLOAT_TYPES
    if isinstance(node, exp.Paren | exp.Neg | exp.Abs | exp.Round | exp.Floor | exp.Ceil):
        return _is_double(node.this, kinds)
    if isinstance(node, exp.Add | exp.Sub | exp.Mul | exp.Div):
        return _is_double(node.left, kinds) or _is_double(node.right, kinds)
    return isinstance(node, exp.Column) and kinds.columns.get(node.name.casefold()) is Kind.REAL


# --------------------------------------------------------------------------- texts and times


def _substring(node: exp.Expr, _: Kinds, *, dialect: SqlDialect) -> exp.Expr:
    start = node.args.get("start")
    is_number = isinstance(start, exp.Literal) and start.name.isdigit()
    if start is None or (is_number and int(start.name) > 0):
        return node
    what = "A start of a substring before 1 has another meaning"
    raise _other_meaning(node, dialect, what, "Write a start of 1 or more, or use RIGHT(x, n)")


def _extract(node: exp.Expr, _: Kinds, *, dialect: SqlDialect) -> exp.Expr:
    field = node.this.name.upper()
    if field not in FIELDS[dialect]:
        fix = f"Use one of {', '.join(sorted(FIELDS[dialect]))}"
        raise _other_meaning(node, dialect, f"{field} is another number", fix)
    if dialect is SqlDialect.BIGQUERY and field == "DAYOFWEEK":
        day = exp.Extract(this=exp.var("DOW"), expression=node.expression)
        return exp.Paren(this=exp.Add(this=day, expression=exp.Literal.number(1)))
    if field == "ISOWEEK":
        return exp.Extract(this=exp.var("WEEK"), expression=node.expression)
    if field == "DATE":
        return exp.Cast(this=node.expression, to=exp.DataType(this=exp.DType.DATE, nested=False))
    return node


def _format(node: exp.Expr, _: Kinds, *, dialect: SqlDialect) -> exp.Expr:
    written = node.args.get("format")
    is_plain = isinstance(written, exp.Literal) and FORMATS[dialect].fullmatch(written.name)
    if not is_plain:
        fix = "Use the year, month, day, hour, minute and second as numbers only"
        raise _other_meaning(node, dialect, "This format has another meaning", fix)
    return node


def _stated_time(node: exp.Expr, _: Kinds) -> exp.Expr:
    """Return TO_DATE('2024-01-31', 'YYYY-MM-DD') as the date that it is; of constants only."""
    is_date = isinstance(node, exp.StrToDate)
    text, form = node.this, node.args.get("format")
    stated = form.name if isinstance(form, exp.Literal) else ""
    if isinstance(text, exp.Literal) and stated in STATED_TIMES:
        with suppress(ValueError):  # which is not a time
            found = datetime.strptime(text.name, stated)
            kind = exp.DType.DATE if is_date else exp.DType.TIMESTAMP
            written = str(found.date()) if is_date else str(found)
            return exp.Cast(
                this=exp.Literal.string(written), to=exp.DataType(this=kind, nested=False)
            )
    name = "TO_DATE" if is_date else "TO_TIMESTAMP"
    raise UnsupportedError(
        f"{name} is read only of a constant, with a usual format",
        f"Write {'DATE' if is_date else 'TIMESTAMP'} '2024-01-31', or cast the column",
        span=span_of(node),
    )


def _unread_time(node: exp.Expr, _: Kinds) -> exp.Expr:
    raise _unread(node, "A time in a given format", SqlDialect.BIGQUERY)


def _truncated(node: exp.Expr, _: Kinds, *, dialect: SqlDialect) -> exp.Expr:
    unit = node.args.get("unit")
    name = "" if unit is None else unit.sql().upper().strip("'")
    if name not in TRUNCATED and not name.startswith(("WEEK(", "WEEKSTART")):
        fix = f"Use one of {', '.join(sorted(TRUNCATED))}"
        raise _other_meaning(node, dialect, "This unit of time has another meaning", fix)
    if node.args.get("zone") is not None:
        raise _other_meaning(node, dialect, "A time zone is given", "Leave it out: it is UTC")
    return node


def _of_ordered(node: exp.Expr, _: Kinds) -> exp.Expr:
    """Return PERCENTILE_CONT(p) WITHIN GROUP (ORDER BY x) as DuckDB's parser has it."""
    keys = node.expression.expressions if isinstance(node.expression, exp.Order) else []
    if not isinstance(node.this, exp.PercentileCont | exp.PercentileDisc) or len(keys) != 1:
        return node
    if keys[0].args.get("desc"):
        what = "A percentile counts from the largest value"
        fix = "Leave DESC out, and write 1 - p"
        raise _other_meaning(node, SqlDialect.POSTGRES, what, fix)
    return type(node.this)(this=keys[0].this, expression=node.this.this)


def _like(node: exp.Expr, _: Kinds) -> exp.Expr:
    """Let a backslash in a pattern escape the next character, unless ESCAPE says what does."""
    pattern = node.expression
    is_plain = isinstance(pattern, exp.Literal) and "\\" not in pattern.name
    if is_plain or isinstance(node.parent, exp.Escape):
        return node
    return exp.Escape(this=node.copy(), expression=exp.Literal.string("\\"))


def _joined(node: exp.Expr, kinds: Kinds) -> exp.Expr:
    """Reject numbers with decimals in a text; and conditions, of which CONCAT takes a letter."""
    differ = {Kind.REAL, Kind.BOOLEAN} if isinstance(node, exp.Concat) else {Kind.REAL}
    parts = node.expressions if isinstance(node, exp.Concat) else [node.this, node.expression]
    if any(kinds.of(each) in differ for each in parts):
        what = "A number with decimals or a condition is written differently in a text"
        raise _other_meaning(node, SqlDialect.POSTGRES, what, "Select it as a column of its own")
    return node


def _of_rows(node: exp.Expr, _: Kinds) -> exp.Expr:
    """Reject a comparison of rows, which is unknown in PostgreSQL where a value is NULL."""
    if isinstance(node.this, exp.Tuple) or isinstance(node.args.get("expression"), exp.Tuple):
        what = "A comparison of several values at once has another meaning for NULL"
        raise _other_meaning(node, SqlDialect.POSTGRES, what, "Write a = 1 AND b = 2")
    return node


def _equals(node: exp.Expr, kinds: Kinds) -> exp.Expr:
    return _any_of_array(_of_rows(node, kinds), kinds)


def _any_of_array(node: exp.Expr, _: Kinds) -> exp.Expr:
    """Return x = ANY(ARRAY[1, 2]) as x IN (1, 2)."""
    array = node.expression.this if isinstance(node.expression, exp.Any) else None
    while isinstance(array, exp.Paren):
        array = array.this
    if isinstance(array, exp.Array) and array.expressions:
        return exp.In(this=node.this, expressions=array.expressions)
    return node


def _in_array(node: exp.Expr, _: Kinds) -> exp.Expr:
    """Return x IN UNNEST([1, 2]) as x IN (1, 2)."""
    unnest = node.args.get("unnest")
    array = unnest.expressions[0] if isinstance(unnest, exp.Unnest) else None
    if isinstance(array, exp.Array) and array.expressions:
        return exp.In(this=node.this, expressions=array.expressions)
    return node


def _without_project(node: exp.Expr, _: Kinds) -> exp.Expr:
    """Leave out project and dataset, without which no table of BigQuery is named."""
    if isinstance(node.this, exp.Identifier):
        node.set("db", None)
        node.set("catalog", None)
    return node


RULES: Mapping[SqlDialect, Mapping[type[exp.Expr], Rule]] = {
    SqlDialect.POSTGRES: {
        exp.Div: _division,
        exp.IntDiv: _whole_division,
        exp.Cast: _postgres_cast,
        exp.EQ: _equals,
        **dict.fromkeys((exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.In), _of_rows),
        **dict.fromkeys((exp.Concat, exp.DPipe), _joined),
        **dict.fromkeys((exp.Like, exp.ILike), _like),
        exp.Round: _postgres_round,
        exp.WithinGroup: _of_ordered,
        exp.Substring: partial(_substring, dialect=SqlDialect.POSTGRES),
        exp.Extract: partial(_extract, dialect=SqlDialect.POSTGRES),
        exp.TimeToStr: partial(_format, dialect=SqlDialect.POSTGRES),
        exp.StrToDate: _stated_time,
        exp.StrToTime: _stated_time,
        exp.DateTrunc: partial(_truncated, dialect=SqlDialect.POSTGRES),
        exp.TimestampTrunc: partial(_truncated, dialect=SqlDialect.POSTGRES),
    },
    SqlDialect.BIGQUERY: {
        exp.StrToDate: _unread_time,
        exp.StrToTime: _unread_time,
        exp.Div: _plain_division,
        exp.Cast: _bigquery_cast,
        exp.In: _in_array,
        exp.Table: _without_project,
        exp.Substring: partial(_substring, dialect=SqlDialect.BIGQUERY),
        exp.Extract: partial(_extract, dialect=SqlDialect.BIGQUERY),
        exp.TimeToStr: partial(_format, dialect=SqlDialect.BIGQUERY),
        exp.DateTrunc: partial(_truncated, dialect=SqlDialect.BIGQUERY),
        exp.TimestampTrunc: partial(_truncated, dialect=SqlDialect.BIGQUERY),
        exp.DatetimeTrunc: partial(_truncated, dialect=SqlDialect.BIGQUERY),
    },
}
"""By dialect and node of the tree: what is rewritten or rejected."""
