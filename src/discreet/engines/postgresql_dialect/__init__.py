"""PostgreSQL's SQL: a total form of each function, without functions installed by us.

PostgreSQL raises an error where DuckDB gives NULL, an infinity or 0. So every expression decides
first whether there is a value, in CASE, whose order PostgreSQL keeps: constants are the exception,
and with constant arguments the decision is constant too, and taken first. Integers that may
need more than 64 bits are computed as NUMERIC and cast back. Texts are compared by their bytes.
"""

from collections.abc import Mapping

from discreet.catalog.schema import Kind
from discreet.engines.dialect import Dialect
from discreet.engines.postgresql_dialect.casts import CASTS
from discreet.engines.postgresql_dialect.choices import CHOICES, CONDITIONS
from discreet.engines.postgresql_dialect.numbers import ARITHMETIC
from discreet.engines.postgresql_dialect.parts import (
    canonical,
    finite,
    narrow,
    quoted_text,
    real_text,
    whole_number,
)
from discreet.engines.postgresql_dialect.reals import REALS
from discreet.engines.postgresql_dialect.texts import TEXTS
from discreet.engines.postgresql_dialect.times import TIMES
from discreet.engines.templates import CALENDAR

__all__ = ["CALENDAR", "POSTGRESQL", "ROW_ID"]

ROW_ID = '"__row_id"'
"""What tables are read with beside their columns."""

TYPES: Mapping[Kind, str] = {
    Kind.BOOLEAN: "BOOLEAN",
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE PRECISION",
    Kind.TEXT: "TEXT",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
    Kind.TIMESTAMP_TZ: "TIMESTAMPTZ",
    Kind.INTERVAL: "INTERVAL",
    Kind.OTHER: "TEXT",
}

POSTGRESQL = Dialect(
    name="postgresql",
    functions={**ARITHMETIC, **REALS, **CONDITIONS, **CHOICES, **TEXTS, **TIMES, **CASTS},
    types=TYPES,
    reads={},  # tables are read with finite reals, 64 bits and times inside the calendar
    keys={Kind.REAL: canonical("{0}")},
    row_id=ROW_ID,
    hash='md5(CAST(ROW({all}) AS TEXT)) COLLATE "C"',  # fields of a row as text can be told apart
    whole=narrow("{0}"),
    wide_sum="coalesce(sum(CAST({0} AS BIGINT)), 0)",
    as_wide="CAST({0} AS BIGINT)",
    as_real="CAST({0} AS DOUBLE PRECISION)",
    finite=finite,
    quantile="percentile_cont(0.5) WITHIN GROUP (ORDER BY {0})",
    aggregates={("min", Kind.BOOLEAN): "bool_and", ("max", Kind.BOOLEAN): "bool_or"},
    text=quoted_text,
    real=real_text,
    number=whole_number,
    longest_name=63,
    fence=" OFFSET 0",
    schemas="discreet_{0}",
)
