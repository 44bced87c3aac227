"""SQL for BigQuery, Databricks, Snowflake and Trino: written, not run.

Whatever the rows hold, none of these may raise an error. Where a dialect has a form that gives NULL
instead, it is used; elsewhere an argument is NULL before the operation could fail, which does not
rest on the order in which parts of a CASE are computed. What is not here is rejected.

Databricks has the functions of Spark. For BigQuery, Snowflake and Trino only those are written that
cannot raise an error by what their manuals say; a query with another one is rejected. None of
this was run: engines that are run are held against each other to the last bit, these are not.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from discreet.catalog.schema import Kind
from discreet.engines.dialect import (
    COMPARISONS,
    INT64,
    LOGIC,
    Dialect,
    FunctionTemplate,
    Range,
    Template,
    Written,
    clamped,
    hull,
    plain,
    real_literal,
)
from discreet.engines.spark.conditions import with_our_names
from discreet.engines.spark.dialect import SPARK
from discreet.engines.spark.tables import STORED
from discreet.engines.writer import write_query
from discreet.errors import ParameterError, UnsupportedError
from discreet.parameters import did_you_mean
from discreet.query.tree import ExactQuery

LARGEST = 1.7976931348623157e308


SAFE_REACH = 1e150
"""Reals no farther from 0 have products and quotients that are finite, and sums besides."""


WHOLE_REACH = 2**62
"""Reals no farther from 0 are cast to 64 bits without overflow, however they are rounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """What differs between these dialects."""

    add: str
    subtract: str
    multiply: str
    """Of integers {0} and {1}: NULL on overflow of 64 bits."""
    to_whole: str
    """A real {0} without fraction, well inside 64 bits, as an integer."""
    as_real: str
    year: str = "EXTRACT({0} FROM {1})"
    days_between: str
    """Of the dates {0} and {1}: how many days the first is after the second."""


def within(text: str, reach: float) -> str:
    """Return a real, NULL if it is farther from 0."""
    return f"(CASE WHEN abs({text}) <= {real_literal(reach)} THEN {text} END)"


def finite(text: str) -> str:
    """Return a real, NULL for NaN and infinities, wherever these are in the order of numbers."""
    return within(text, LARGEST)


def functions_of(spelling: Spelling) -> Mapping[str, FunctionTemplate]:
    """Return all that can be written totally."""
    return {**CONDITIONS, **_numbers(spelling), **_times(spelling)}


# --------------------------------------------------------------------------- conditions


def _clamp(arguments: Sequence[Written]) -> str:
    x, low, high = (each.text for each in arguments)
    return f"(CASE WHEN {x} < {low} THEN {low} WHEN {x} > {high} THEN {high} ELSE {x} END)"


def _in(arguments: Sequence[Written]) -> str:
    x, *others = (each.text for each in arguments)
    return f"({x} IN ({', '.join(others)}))"


CONDITIONS: Mapping[str, FunctionTemplate] = {
    **{name: plain(f"({{0}} {sign} {{1}})") for name, sign in COMPARISONS.items()},
    **LOGIC,
    "in": plain(_in),
    "coalesce": FunctionTemplate(template="coalesce({all})", range=hull),
    "clamp": FunctionTemplate(template=_clamp, range=clamped),
}


# --------------------------------------------------------------------------- numbers


def _arithmetic(sign: str, whole: str) -> Template:
    def write(arguments: Sequence[Written]) -> str:
        first, second = arguments
        if first.kind is not Kind.REAL:
            return whole.format(first.text, second.text)
        return f"({_held(first)} {sign} {_held(second)})"

    return write


def _held(argument: Written) -> str:
    """Return a real that no sum or product of two takes beyond the largest one."""
    is_small = argument.reach is not None and argument.reach <= SAFE_REACH
    return argument.text if is_small else within(argument.text, SAFE_REACH)


def _divided(arguments: Sequence[Written]) -> str:
    x, y = arguments
    far = f"abs({y.text}) >= {real_literal(1 / SAFE_REACH)}"
    return f"({_held(x)} / (CASE WHEN {far} THEN {y.text} END))"


def _to_integer(to_whole: str) -> Template:
    """Return a number as a whole one between two ends; a text is rejected."""

    def write(arguments: Sequence[Written]) -> str:
        x, *ends = arguments
        low, high = (each.value for each in ends)
        if not isinstance(low, int) or not isinstance(high, int) or not x.kind.is_number:
            raise UnsupportedError(
                "This dialect can only cast numbers", "Compare texts without a cast"
            )
        least, most = max(low, -WHOLE_REACH), min(high, WHOLE_REACH)
        inside = f"(CASE WHEN {x.text} >= {least} AND {x.text} <= {most} THEN {x.text} END)"
        return inside if x.kind is Kind.INTEGER else to_whole.format(inside)

    return write


def _integer_range(arguments: Sequence[Written]) -> Range:
    low, high = (each.value for each in arguments[1:])
    if not isinstance(low, int) or not isinstance(high, int):
        return INT64
    return max(low, -WHOLE_REACH), min(high, WHOLE_REACH)


def _to_real(as_real: str) -> Template:
    def write(arguments: Sequence[Written]) -> str:
        (x,) = arguments
        if not x.kind.is_number:
            raise UnsupportedError(
                "This dialect can only cast numbers", "Compare texts without a cast"
            )
        return as_real.format(x.text)

    return write


def _to_boolean(arguments: Sequence[Written]) -> str:
    (x,) = arguments
    if not x.kind.is_number:
        raise UnsupportedError("This dialect can only cast numbers", "Compare texts without a cast")
    return f"({x.text} <> 0)"


def _numbers(spelling: Spelling) -> dict[str, FunctionTemplate]:
    return {
        "add": plain(_arithmetic("+", spelling.add)),
        "subtract": plain(_arithmetic("-", spelling.subtract)),
        "multiply": plain(_arithmetic("*", spelling.multiply)),
        "divide": plain(_divided),
        "to_integer": FunctionTemplate(
            template=_to_integer(spelling.to_whole), range=_integer_range
        ),
        "to_real": plain(_to_real(spelling.as_real)),
        "to_boolean": plain(_to_boolean),
    }


# --------------------------------------------------------------------------- times

PARTS = ("year", "quarter", "month", "day")
"""What is read off a date alike everywhere; weeks and days of the week are counted in many ways."""


def _date_part(template: str) -> Callable[[Sequence[Written]], str]:
    def write(arguments: Sequence[Written]) -> str:
        part, x = arguments
        if part.value not in PARTS or x.kind is not Kind.DATE:
            raise UnsupportedError(
                "This dialect only has the year, quarter, month and day of a date",
                "Use one of them",
            )
        return template.format(str(part.value).upper(), x.text)

    return write


def _times(spelling: Spelling) -> dict[str, FunctionTemplate]:
    return {
        "date_part": FunctionTemplate(
            template=_date_part(spelling.year), range=lambda _: (0, 10_000)
        ),
        "days_between": FunctionTemplate(
            template=spelling.days_between, range=lambda _: (-(10**7), 10**7)
        ),
    }


PLAIN_TEXT = re.compile(r"[A-Za-z0-9 .,:;_/@#&()<>=+*%^-]*", re.ASCII)
"""Texts in which no parser sees anything but themselves."""


INSIDE = "CASE WHEN {{0}} BETWEEN {0} '0001-01-01' AND {0} '9999-12-31' THEN {{0}} END"


REAL_KEY = "({0} + 0e0)"


class Missing(str):
    """Marks what a dialect does not support. A query that needs it is rejected."""

    __slots__ = ()

    def __format__(self, _: str) -> str:
        raise UnsupportedError(
            "This dialect does not support " + self, "Write the query without it"
        )

    def format(self, *_: object, **__: object) -> str:
        """Reject, as a template that is filled in."""
        return f"{self}"


def _texts(around: str) -> Callable[[str], str]:
    """Return how texts are written: as their bytes, unless they are plain."""

    def write(value: str) -> str:
        if PLAIN_TEXT.fullmatch(value):
            return f"'{value}'"
        return around.format(value.encode("utf-8", "replace").hex())

    return write


MEDIAN = Missing("the median of one unit's rows")


ROWS = Missing("tables in which each row is a privacy unit")


_BIGQUERY = Spelling(
    add="SAFE_ADD({0}, {1})",
    subtract="SAFE_SUBTRACT({0}, {1})",
    multiply="SAFE_MULTIPLY({0}, {1})",
    to_whole="SAFE_CAST({0} AS INT64)",
    as_real="CAST({0} AS FLOAT64)",
    days_between="DATE_DIFF({0}, {1}, DAY)",
)


BIGQUERY = Dialect(
    name="bigquery",
    functions=functions_of(_BIGQUERY),
    types={
        Kind.BOOLEAN: "BOOL",
        Kind.INTEGER: "INT64",
        Kind.REAL: "FLOAT64",
        Kind.TEXT: "STRING",
        Kind.DATE: "DATE",
        Kind.TIMESTAMP: "DATETIME",
        Kind.TIMESTAMP_TZ: "TIMESTAMP",
        Kind.INTERVAL: "INTERVAL",
        Kind.OTHER: "STRING",
    },
    reads={Kind.REAL: finite("CAST({0} AS FLOAT64)"), Kind.INTEGER: "SAFE_CAST({0} AS INT64)"},
    keys={Kind.REAL: REAL_KEY},
    row_id=ROWS,
    hash="TO_HEX(MD5(CONCAT({all})))",
    hashed=(
        "COALESCE(CONCAT(CAST(LENGTH(CAST({0} AS STRING)) AS STRING), ':', "
        "CAST({0} AS STRING)), '-')"
    ),
    whole="SAFE_CAST({0} AS INT64)",
    wide_sum="COALESCE(SUM(CAST({0} AS BIGNUMERIC)), 0)",
    as_wide="CAST({0} AS BIGNUMERIC)",
    as_real="CAST({0} AS FLOAT64)",
    finite=finite,
    quantile=MEDIAN,
    aggregates={("min", Kind.BOOLEAN): "LOGICAL_AND", ("max", Kind.BOOLEAN): "LOGICAL_OR"},
    text=_texts("SAFE_CONVERT_BYTES_TO_STRING(FROM_HEX('{0}'))"),
    addend="CAST({0} AS BIGNUMERIC)",
    quote="`",
    nulls_last=" NULLS LAST",
    has_prepared=False,
)


_BEYOND = (-(2**63) - 1, 2**63)


_HELD = f"GREATEST(LEAST({{0}}, {_BEYOND[1]}), {_BEYOND[0]})"


_NARROW = f"NULLIF(NULLIF({_HELD}, {_BEYOND[1]}), {_BEYOND[0]})"
"""An integer of up to 38 digits, NULL if it needs more than 64 bits; NULL stays NULL."""


_SNOWFLAKE = Spelling(
    add=_NARROW.format("({0} + {1})"),
    subtract=_NARROW.format("({0} - {1})"),
    multiply=_NARROW.format("({0} * {1})"),  # 2^126 has 38 digits
    to_whole="CAST(ROUND({0}) AS NUMBER(38, 0))",
    as_real="CAST({0} AS DOUBLE)",
    days_between="DATEDIFF('day', {1}, {0})",
)


SNOWFLAKE = Dialect(
    name="snowflake",
    functions=functions_of(_SNOWFLAKE),
    types={
        Kind.BOOLEAN: "BOOLEAN",
        Kind.INTEGER: "NUMBER(38, 0)",
        Kind.REAL: "DOUBLE",
        Kind.TEXT: "VARCHAR",
        Kind.DATE: "DATE",
        Kind.TIMESTAMP: "TIMESTAMP_NTZ",
        Kind.TIMESTAMP_TZ: "TIMESTAMP_TZ",
        Kind.OTHER: "VARCHAR",
    },
    reads={
        Kind.REAL: finite("CAST({0} AS DOUBLE)"),
        Kind.INTEGER: _NARROW,
        Kind.DATE: INSIDE.format("DATE"),
    },
    keys={Kind.REAL: REAL_KEY},
    row_id=ROWS,
    hash="MD5(CONCAT({all}))",
    hashed=(
        "COALESCE(CONCAT(CAST(LENGTH(CAST({0} AS VARCHAR)) AS VARCHAR), ':', "
        "CAST({0} AS VARCHAR)), '-')"
    ),
    whole=_NARROW,
    wide_sum="COALESCE(SUM(CAST({0} AS NUMBER(38, 0))), 0)",
    as_wide="CAST({0} AS NUMBER(38, 0))",
    as_real="CAST({0} AS DOUBLE)",
    finite=finite,
    quantile="MEDIAN({0})",
    aggregates={("min", Kind.BOOLEAN): "BOOLAND_AGG", ("max", Kind.BOOLEAN): "BOOLOR_AGG"},
    text=_texts("TO_VARCHAR(TO_BINARY('{0}', 'HEX'), 'UTF-8')"),
    nulls_last=" NULLS LAST",
    has_prepared=False,
)


_TRINO = Spelling(
    add="TRY_CAST(CAST({0} AS DECIMAL(19, 0)) + CAST({1} AS DECIMAL(19, 0)) AS BIGINT)",
    subtract="TRY_CAST(CAST({0} AS DECIMAL(19, 0)) - CAST({1} AS DECIMAL(19, 0)) AS BIGINT)",
    multiply="TRY_CAST(CAST({0} AS DECIMAL(19, 0)) * CAST({1} AS DECIMAL(19, 0)) AS BIGINT)",
    to_whole="TRY_CAST({0} AS BIGINT)",
    as_real="CAST({0} AS DOUBLE)",
    days_between="date_diff('day', {1}, {0})",
)


TRINO = Dialect(
    name="trino",
    functions=functions_of(_TRINO),
    types={
        Kind.BOOLEAN: "BOOLEAN",
        Kind.INTEGER: "BIGINT",
        Kind.REAL: "DOUBLE",
        Kind.TEXT: "VARCHAR",
        Kind.DATE: "DATE",
        Kind.TIMESTAMP: "TIMESTAMP(6)",
        Kind.TIMESTAMP_TZ: "TIMESTAMP(6) WITH TIME ZONE",
        Kind.OTHER: "VARCHAR",
    },
    reads={
        Kind.REAL: finite("CAST({0} AS DOUBLE)"),
        Kind.INTEGER: "TRY_CAST({0} AS BIGINT)",
        Kind.DATE: INSIDE.format("DATE"),
    },
    keys={Kind.REAL: REAL_KEY},
    row_id=ROWS,
    hash="to_hex(md5(to_utf8(concat({all}))))",
    hashed=(
        "coalesce(concat(CAST(length(CAST({0} AS VARCHAR)) AS VARCHAR), ':', "
        "CAST({0} AS VARCHAR)), '-')"
    ),
    whole="TRY_CAST({0} AS BIGINT)",
    wide_sum="coalesce(sum(CAST({0} AS DECIMAL(38, 0))), DECIMAL '0')",
    as_wide="CAST({0} AS DECIMAL(38, 0))",
    as_real="CAST({0} AS DOUBLE)",
    finite=finite,
    quantile=MEDIAN,
    aggregates={("min", Kind.BOOLEAN): "bool_and", ("max", Kind.BOOLEAN): "bool_or"},
    text=_texts("from_utf8(X'{0}')"),
    addend="CAST({0} AS DECIMAL(38, 0))",
    nulls_last=" NULLS LAST",
    has_prepared=False,
)


FOREIGN: Mapping[str, Dialect] = {
    "bigquery": BIGQUERY,
    "databricks": replace(
        SPARK,
        name="databricks",
        reads={**SPARK.reads, **STORED},
        row_id=ROWS,
        has_prepared=False,
    ),
    "snowflake": SNOWFLAKE,
    "trino": TRINO,
}
"""Dialects that are written and not run here."""


DIALECTS = tuple(FOREIGN)


def write_for(query: ExactQuery, dialect: str) -> str:
    """Return an exact query in a dialect by its name, over the tables as the catalog has them.

    Which rows of a unit count is chosen by the statement itself: nothing is prepared elsewhere.
    """
    found = FOREIGN.get(dialect) if isinstance(dialect, str) else None
    if found is None:
        fix = did_you_mean(dialect, DIALECTS, otherwise="") if isinstance(dialect, str) else ""
        raise ParameterError("sql_for", dialect, f"must be one of {', '.join(DIALECTS)}", fix)
    text = write_query(query, found)
    if found.quote != "`":
        return text
    if "``" in text or "\\" in text:
        raise UnsupportedError(
            "A name contains a backtick or a backslash, which this dialect does not support",
            "Give it another name in a view",
        )
    return with_our_names(text)
