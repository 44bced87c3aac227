"""SQL for databases that Discreet does not run, to be read or run by hand.

Databricks has the functions of Spark. For BigQuery, Snowflake and Trino only those are written that
cannot raise an error by what their manuals say; a query with another one is rejected. None of
this was run: engines that are run are held against each other to the last bit, these are not.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from discreet.catalog.schema import Kind
from discreet.engines.base import ExactQuery
from discreet.engines.dialect import Dialect
from discreet.engines.foreign.functions import Spelling, finite, functions_of
from discreet.engines.spark.tables import STORED
from discreet.engines.spark_dialect import SPARK, with_our_names
from discreet.engines.writer import write_query
from discreet.errors import ParameterError, UnsupportedError, did_you_mean

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
        raise ParameterError("dialect", dialect, f"must be one of {', '.join(DIALECTS)}", fix)
    text = write_query(query, found)
    if found.quote != "`":
        return text
    if "``" in text or "\\" in text:
        raise UnsupportedError(
            "A name contains a backtick or a backslash, which this dialect does not support",
            "Give it another name in a view",
        )
    return with_our_names(text)
