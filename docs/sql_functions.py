"""Write docs/reference/sql-functions.md from the tables that the checker of queries uses."""

import re
from collections.abc import Iterable, Iterator

from sqlglot import exp

from discreet.query.check.aggregates import NO_FORM, OTHER_NAMES, PAIRS, SIMPLE, WHEN_DISTINCT
from discreet.query.check.post_select import MORE_FUNCTIONS
from discreet.query.check.row_scope import FUNCTIONS as WINDOW_FUNCTIONS
from discreet.query.expressions.facts import Function
from discreet.query.expressions.formats import DIRECTIVES, PATTERNS
from discreet.query.expressions.functions import FUNCTIONS
from discreet.query.expressions.time_functions import PARTS
from discreet.query.expressions.translate import ANONYMOUS, PLAIN
from discreet.query.questions import Statistic

HEAD = """# SQL functions

This page lists the functions that you can use in a query. It is generated from the tables that
Discreet checks queries against, so it is complete. [SQL](sql.md) describes the rest of the
language.

Three rules hold for all functions of private rows:

- They never raise an error. Where SQL would fail, the value is NULL.
- NaN and infinities are NULL. Integers have 64 bits, and real numbers are IEEE doubles.
- They give the same value in every run. Times with a time zone are computed in UTC.

"""

SPELLINGS = {
    "add": "x + y",
    "subtract": "x - y",
    "multiply": "x * y",
    "integer_divide": "x // y",
    "modulo": "x % y",
    "negate": "-x",
    "round": "ROUND(x, y)",
    "trunc": "TRUNC(x, y)",
    "log": "LOG(x, y)",
    "log2": "LOG2(x)",
    "log10": "LOG10(x)",
    "in": "x IN (y, z)",
    "length": "LENGTH(x)",
    "regexp_matches": "REGEXP_MATCHES(x, y)",
    "regexp_extract": "REGEXP_EXTRACT(x, y, z)",
    "regexp_replace": "REGEXP_REPLACE(x, y, z)",
    "regexp_replace_all": "REGEXP_REPLACE(x, y, z, 'g')",
    "byte_length": "STRLEN(x)",
    "ascii": "ASCII(x)",
    "split_part": "SPLIT_PART(x, y, z)",
    "part_count": "LEN(STRING_SPLIT(x, y))",
    "translate": "TRANSLATE(x, y, z)",
    "lpad": "LPAD(x, y, z)",
    "rpad": "RPAD(x, y, z)",
    "add_microseconds": "time + TO_MICROSECONDS(y)",
    "time_bucket": "TIME_BUCKET(INTERVAL '15 minutes', time)",
    "and": "x AND y",
    "or": "x OR y",
    "is_null": "x IS NULL",
    "is_true": "x IS TRUE",
    "is_false": "x IS FALSE",
    "like": "x LIKE y",
    "ilike": "x ILIKE y",
    "trim": "TRIM(x)",
    "ltrim": "LTRIM(x)",
    "rtrim": "RTRIM(x)",
    "concat": "CONCAT(x, y)",
    "concatenate": "x || y",
    "replace": "REPLACE(x, y, z)",
    "date_part": "DATE_PART(x, y)",
    "date_trunc": "DATE_TRUNC(x, y)",
    "date_diff": "DATE_DIFF(x, y, z)",
    "greatest": "GREATEST(x, y)",
    "least": "LEAST(x, y)",
    "clamp": "CLAMP(x, y, z)",
    "add_days": "day + y",
    "days_between": "day - other_day",
    "add_interval": "time + INTERVAL 1 MONTH",
    "to_integer": "CAST(x AS INTEGER)",
    "to_real": "CAST(x AS DOUBLE)",
    "to_single": "CAST(x AS REAL)",
    "to_decimal": "CAST(x AS DECIMAL(10, 2))",
    "to_boolean": "CAST(x AS BOOLEAN)",
    "to_text": "CAST(x AS TEXT)",
    "to_date": "CAST(x AS DATE)",
    "to_timestamp": "CAST(x AS TIMESTAMP)",
    "to_timestamp_tz": "CAST(x AS TIMESTAMPTZ)",
}
"""How functions are written in SQL that are not a node of the parser by themselves."""

AGGREGATES = {
    "COUNT(*)": "number of rows",
    "COUNT(x)": "number of rows in which x is not NULL",
    "COUNT(DISTINCT unit)": "number of privacy units; has the smallest margin of error",
    "COUNT(DISTINCT x)": "number of different values",
    "COUNT_IF(x)": "number of rows in which the condition x holds",
    "QUANTILE(x, p)": "value below which the share p of the rows lies, chosen privately; needs "
    "bounds. Also `QUANTILE_CONT`, `QUANTILE_DISC`, `PERCENTILE_CONT` and `PERCENTILE_DISC`",
    "MEDIAN(x)": "`QUANTILE(x, 0.5)`",
    "QUANTILE(x, [p, q])": "a list of quantiles, each with its own share of ε; also "
    "`PERCENTILE_CONT(ARRAY[p, q])` and `APPROX_QUANTILES(x, 4)`",
    "COUNT(DISTINCT (x, y))": "number of different pairs",
    "AVG(DISTINCT x)": "`SUM(DISTINCT x) / COUNT(DISTINCT x)`",
}
"""Aggregates that the checker reads one by one."""

OF_ONE_UNIT = {
    "COUNT(*)": "and `COUNT(x)`, `COUNT(DISTINCT x)`, `SUM(x)`, `AVG(x)`, `MEDIAN(x)`",
    "MIN(x)": "smallest value: numbers, texts (by bytes), dates, timestamps, booleans",
    "MAX(x)": "largest value, likewise",
    "BOOL_OR(x)": "whether the condition x holds in some row",
    "BOOL_AND(x)": "whether it holds in all rows; also `EVERY(x)`",
    "ARG_MAX(x, y)": "x where y is largest, among rows in which neither is NULL; also `MAX_BY`",
    "ARG_MIN(x, y)": "x where y is smallest, likewise; also `MIN_BY`",
    "FIRST(x ORDER BY y)": "x of the first row; also `(ARRAY_AGG(x ORDER BY y))[1]`",
    "LAST(x ORDER BY y)": "x of the last row",
    "ANY_VALUE(x)": "the smallest value, so that it is the same in every run",
}
"""Aggregates of the rows of one unit."""

MEANINGS = {
    Statistic.SUM: "sum; needs bounds",
    Statistic.AVG: "average; needs bounds",
    Statistic.MIN: "smallest value, chosen privately; needs bounds",
    Statistic.MAX: "largest value, chosen privately; needs bounds",
    Statistic.MODE: "most frequent value; needs declared values",
    Statistic.VAR_SAMP: "sample variance; needs bounds",
    Statistic.VAR_POP: "population variance; needs bounds",
    Statistic.STDDEV_SAMP: "sample standard deviation; needs bounds",
    Statistic.STDDEV_POP: "population standard deviation; needs bounds",
    Statistic.CORR: "correlation",
    Statistic.COVAR_POP: "population covariance",
    Statistic.COVAR_SAMP: "sample covariance",
    Statistic.REGR_SLOPE: "slope of the regression line",
    Statistic.REGR_INTERCEPT: "intercept of the regression line",
    Statistic.REGR_R2: "square of the correlation",
    Statistic.REGR_COUNT: "number of pairs; needs no bounds",
    Statistic.REGR_AVGX: "average of x over the pairs",
    Statistic.REGR_AVGY: "average of y over the pairs",
    Statistic.REGR_SXX: "sum of squares of x about its average",
    Statistic.REGR_SYY: "sum of squares of y about its average",
    Statistic.REGR_SXY: "sum of products of x and y about their averages",
}

MADE = {
    "STRFTIME(x, y)": "the time x as text, by the format y: plain text and "
    + ", ".join(f"`{each}`" for each in DIRECTIVES)
    + "; y must be constant",
    "TO_CHAR(x, y)": "the time x as text, by a format of PostgreSQL: "
    + ", ".join(f"`{each}`" for each in PATTERNS)
    + ", punctuation, and other text in double quotes; y must be constant",
    "x ~ y, x ~* y, x !~ y": "REGEXP_MATCHES(x, y), without regard to case with `*`, or not",
    "REGEXP_FULL_MATCH(x, y), x SIMILAR TO y": "whether all of x is a match of y; SIMILAR TO "
    "without %, _, ., ^, $ and \\\\",
    "LAST_DAY(x)": "the last day of the month of x",
    "YEARWEEK(x)": "the ISO year and week of x, such as 202409",
    "EPOCH_MS(x), EPOCH_US(x)": "milliseconds and microseconds of the time x since 1970",
    "TO_TIMESTAMP(x), EPOCH_MS(x)": "the time x seconds or milliseconds after 1970, for an integer",
    "DATE_SUB(x, y, z)": "how many whole units x lie between the times y and z; no months or years",
    "time - other_time": "an interval. Compare it with another, as in `t - u > INTERVAL 3 DAY`, "
    "add it to a time, or take `EXTRACT(epoch FROM t - u)`, which is seconds. Intervals of months "
    "can only be added to a time",
    "TO_DAYS(x), TO_HOURS(x), ...": "an interval of so many units, for an integer",
    "CONCAT_WS(x, y, z)": "the texts y, z, ... with the constant x between them, NULL left out",
    "REPEAT(x, y)": "x, y times; y must be constant, and at most 100",
    "STRING_SPLIT(x, y)[z]": "part z of the text x; NULL if there is none",
    "BIT_LENGTH(x)": "8 * STRLEN(x)",
    "ISNAN(x), ISINF(x)": "FALSE, or NULL if x is NULL: numbers of private rows are finite",
    "x = ANY([y, z]), x <> ALL([y, z])": "x IN (y, z) and its opposite; other comparisons work too",
    "LIST_CONTAINS([y, z], x)": "whether x is one of these constants",
    "x BETWEEN SYMMETRIC y AND z": "x BETWEEN y AND z OR x BETWEEN z AND y",
    "DAYNAME(x)": "the English name of the day of the week",
    "MONTHNAME(x)": "the English name of the month",
    "WIDTH_BUCKET(x, y, z, n)": "which of n equal ranges from y to z the number x is in, an "
    "integer from 1 on; 0 if x < y, n + 1 if x ≥ z; y, z and n must be constant",
}
"""Functions that are made of others, on private rows."""

INTERNAL = {"decimal"}
"""Functions that no query names: a decimal literal is one."""


def spelling_of(name: str) -> str:
    """Return how a function is written in SQL, with x, y and z for its arguments."""
    plain = {function: (node, keys) for node, (function, keys) in PLAIN.items()}
    return SPELLINGS.get(name) or _written(*plain[name])


def sql_functions_page() -> str:
    """Return docs/reference/sql-functions.md."""
    return HEAD + "\n".join([*_aggregates(), *_functions(), *_windows(), *_afterwards()]) + "\n"


def _aggregates() -> Iterator[str]:
    yield "## Aggregates of private rows\n"
    yield "Each gets noise, and each can have `FILTER (WHERE ...)`.\n"
    yield "| aggregate | meaning |"
    yield "|---|---|"
    for name, meaning in AGGREGATES.items():
        yield f"| `{name}` | {meaning} |"
    for node, statistic in SIMPLE.items():
        yield f"| `{_written(node, ('this',))}` | {MEANINGS[statistic]} |"
    for statistic in PAIRS.values():
        yield f"| `{statistic.value}(y, x)` | {MEANINGS[statistic]} |"
    yield "\nAggregates of y and x use rows in which neither is NULL. They need bounds for both.\n"
    named = ", ".join(
        f"`{name.upper()}` for `{node.sql_name()}`" for name, node in OTHER_NAMES.items()
    )
    distinct = ", ".join(f"`{each.name}(DISTINCT x)`" for each in WHEN_DISTINCT)
    yield f"Other names: {named}. With DISTINCT: {distinct}.\n"
    without = NO_FORM - {each.partition("(")[0].casefold() for each in OF_ONE_UNIT}
    yield "Not supported on private rows: " + _listed(without - {"min_by", "max_by"}) + ".\n"
    yield "## Aggregates of one unit's rows\n"
    yield "With `GROUP BY` on the privacy unit, in a subquery. They are exact, because the outer"
    yield "query adds noise. Rows that `ORDER BY` or y leaves equal are ordered by x.\n"
    yield "| aggregate | meaning |"
    yield "|---|---|"
    for name, meaning in OF_ONE_UNIT.items():
        yield f"| `{name}` | {meaning} |"
    yield ""


def _functions() -> Iterator[str]:
    yield "## Functions of one row\n"
    yield "Use them in SELECT, WHERE, GROUP BY and inside aggregates.\n"
    yield "In the meanings, x, y and z are the first three arguments.\n"
    yield "| SQL | meaning |"
    yield "|---|---|"
    for name, function in FUNCTIONS.items():
        if name not in INTERNAL:
            yield f"| `{_cell(spelling_of(name))}` | {_meaning(function)} |"
    for name, meaning in MADE.items():
        yield f"| `{name}` | {meaning} |"
    others = ", ".join(
        f"`{name.upper()}` for `{_cell(spelling_of(function))}`"
        for name, function in ANONYMOUS.items()
        if name != function
    )
    yield f"\nOther names: {others}.\n"
    yield f"Parts of a date: {', '.join(f'`{each}`' for each in PARTS)}.\n"


def _windows() -> Iterator[str]:
    names = (_written(node, ("this",)).partition("(")[0] for node in WINDOW_FUNCTIONS)
    yield "## Window functions of private rows\n"
    yield "They need `PARTITION BY` the privacy unit: " + _listed(names) + ".\n"


def _afterwards() -> Iterator[str]:
    yield "## Functions of noisy results\n"
    yield "You can use all functions above on the results of aggregates, with the usual aggregates"
    yield "and window functions of DuckDB's SQL, and these: " + _listed(MORE_FUNCTIONS) + "."


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name.upper()}`" for name in sorted(names))


def _written(node: type[exp.Expr], keys: tuple[str, ...]) -> str:
    """Return a call of the node as SQL, with x, y and z for its arguments."""
    letters = [exp.column(each) for each in "xyz"]
    values = dict(zip(keys, letters, strict=False))
    if "expressions" in values:
        values["expressions"] = [values["expressions"]]  # type: ignore[assignment]
    return node(**values).sql(dialect="duckdb")


def _meaning(function: Function) -> str:
    plain = re.sub(r" \((a name )?of (facts|moments)\.\w+\)", "", function.meaning)
    letters = [letter for place, letter in enumerate("xyz") if place in function.literals]
    constant = f"; {' and '.join(letters)} must be constant" if letters else ""
    return _cell(plain + constant)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
