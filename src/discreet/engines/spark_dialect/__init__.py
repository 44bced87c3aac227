"""Spark's SQL: a total and deterministic form of each function.

It is written for a session without ANSI mode, in which nothing raises whatever the rows hold, and
does not rely on it: overflow is NULL by `try_add` and its like, and arguments that would raise are
NULL before. NaN is larger than all numbers and equal to itself here, and 0.0 equals -0.0; NaN and
infinities become NULL before anything that would hide them. Sums are decimals of 30 digits.
"""

from collections.abc import Mapping

from discreet.catalog.schema import Kind
from discreet.engines.dialect import Dialect
from discreet.engines.spark_dialect.casts import CASTS
from discreet.engines.spark_dialect.choices import CHOICES, CONDITIONS
from discreet.engines.spark_dialect.numbers import ARITHMETIC, REALS
from discreet.engines.spark_dialect.parts import (
    CALENDAR,
    canonical,
    finite,
    text_literal,
    with_our_names,
)
from discreet.engines.spark_dialect.texts import TEXTS
from discreet.engines.spark_dialect.times import TIMES

__all__ = ["CALENDAR", "ROW_ID", "SPARK", "with_our_names"]

ROW_ID = "__row_id"
"""The column that tells the rows of a table apart, added where tables are registered."""

TYPES: Mapping[Kind, str] = {
    Kind.BOOLEAN: "BOOLEAN",
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "STRING",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP_NTZ",
    Kind.TIMESTAMP_TZ: "TIMESTAMP_LTZ",
    Kind.INTERVAL: "INTERVAL",
    Kind.OTHER: "STRING",
}

MEDIAN = (
    "transform(array(array_sort(collect_list({0}))), v -> "
    "v[CAST((size(v) - 1) div 2 AS INT)] + "
    "(v[CAST(size(v) div 2 AS INT)] - v[CAST((size(v) - 1) div 2 AS INT)]) * 0.5e0)[0]"
)
"""Spark's own percentile rounds otherwise than other engines do."""

SPARK = Dialect(
    name="spark",
    functions={**ARITHMETIC, **REALS, **CONDITIONS, **CHOICES, **TEXTS, **TIMES, **CASTS},
    types=TYPES,
    reads={
        Kind.OTHER: "try_cast({0} AS STRING)"
    },  # the rest is as it must be since it was registered
    keys={
        Kind.INTEGER: "try_cast({0} AS BIGINT)",
        Kind.REAL: canonical("{0}"),
    },
    row_id=ROW_ID,
    hash="md5(CAST(concat({all}) AS BINARY))",
    hashed="coalesce(concat(length(CAST({0} AS STRING)), ':', CAST({0} AS STRING)), '-')",
    whole="try_cast({0} AS BIGINT)",
    wide_sum="CAST(coalesce(sum(CAST({0} AS DECIMAL(20, 0))), 0) AS DECIMAL(38, 0))",
    as_wide="CAST({0} AS DECIMAL(20, 0))",
    as_real="CAST({0} AS DOUBLE)",
    finite=finite,
    quantile=MEDIAN,
    text=text_literal,
    addend="CAST({0} AS DECIMAL(20, 0))",
    quote="`",
    nulls_last=" NULLS LAST",
    schemas="__{0}",
    has_schemas=False,  # views of a session are in none
)
