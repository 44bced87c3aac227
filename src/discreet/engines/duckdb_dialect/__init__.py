"""DuckDB's SQL: a total and deterministic form of each function.

Integers are computed in 128 bits and cast back, which is NULL on overflow and never raises.
Reals are computed in IEEE arithmetic, where nothing raises, and NaN and infinities become NULL
before anything that would hide them. Times lie in the years 1 to 9999; others are NULL.
"""

from collections.abc import Mapping

from discreet.catalog.schema import Kind
from discreet.engines.dialect import Dialect
from discreet.engines.duckdb_dialect.choices import CHOICES, CONDITIONS
from discreet.engines.duckdb_dialect.numbers import ARITHMETIC, CASTS, REALS
from discreet.engines.duckdb_dialect.parts import canonical, finite
from discreet.engines.duckdb_dialect.texts import TEXTS
from discreet.engines.duckdb_dialect.times import TIMES
from discreet.engines.templates import CALENDAR

__all__ = ["CALENDAR", "DUCKDB"]

TYPES: Mapping[Kind, str] = {
    Kind.BOOLEAN: "BOOLEAN",
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
    Kind.TIMESTAMP_TZ: "TIMESTAMPTZ",
    Kind.INTERVAL: "INTERVAL",
    Kind.OTHER: "VARCHAR",
}

DUCKDB = Dialect(
    name="duckdb",
    functions={**ARITHMETIC, **REALS, **CONDITIONS, **CHOICES, **TEXTS, **TIMES, **CASTS},
    types=TYPES,
    reads={Kind.OTHER: "TRY_CAST({0} AS VARCHAR)"},  # the rest is as it must be since it was loaded
    keys={
        Kind.INTEGER: "TRY_CAST({0} AS BIGINT)",
        Kind.REAL: canonical("{0}"),
    },
    row_id="rowid",
    hash="hash({all})",
    whole="TRY_CAST({0} AS BIGINT)",
    wide_sum="CAST(coalesce(sum({0}), 0) AS HUGEINT)",
    as_wide="CAST({0} AS HUGEINT)",
    as_real="CAST({0} AS DOUBLE)",
    finite=finite,
    quantile="quantile_cont({0}, 0.5)",
)
