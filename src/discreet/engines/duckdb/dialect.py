"""DuckDB's SQL: a total and deterministic form of each function.

Integers are computed in 128 bits and cast back, which is NULL on overflow and never raises.
Reals are computed in IEEE arithmetic, where nothing raises, and NaN and infinities become NULL
before anything that would hide them. Times lie in the years 1 to 9999; others are NULL.
"""

from collections.abc import Mapping, Sequence

from discreet.catalog.schema import Kind
from discreet.engines.dialect import (
    CALENDAR,
    CALENDAR_ENDS,
    FIRST_DAY,
    LAST_DAY,
    Dialect,
    FunctionTemplate,
    Written,
    number,
    plain,
    words,
)
from discreet.engines.duckdb.conditions import (
    CHOICES,
    CONDITIONS,
    TEXTS,
    canonical_real,
    finite,
    in_calendar,
    integer_text,
    only,
)
from discreet.engines.duckdb.numbers import ARITHMETIC, CASTS, REALS

__all__ = ["CALENDAR", "DUCKDB"]


EPOCH = "DATE '1970-01-01'"


def moment(argument: Written) -> str:
    """Return a time as a timestamp of UTC."""
    match argument.kind:
        case Kind.DATE:
            return f"CAST({argument.text} AS TIMESTAMP)"
        case Kind.TIMESTAMP_TZ:
            return f"timezone('UTC', {argument.text})"
        case _:
            return argument.text


def _as_kind_of(text: str, argument: Written) -> str:
    """Return a timestamp of UTC with a time zone if the argument has one, inside the calendar."""
    inside = in_calendar(text, Kind.TIMESTAMP)
    return f"timezone('UTC', {inside})" if argument.kind is Kind.TIMESTAMP_TZ else inside


def _date_trunc(arguments: Sequence[Written]) -> str:
    unit, x = arguments
    return _as_kind_of(f"date_trunc({unit.text}, {moment(x)})", x)


def _date_diff(arguments: Sequence[Written]) -> str:
    unit, start, end = arguments
    if words(unit) in ("decade", "century"):
        years = 10 if words(unit) == "decade" else 100
        first, last = (f"date_part('year', {moment(each)}) // {years}" for each in (start, end))
        return f"({last} - {first})"
    if words(unit) == "week":
        first, last = (f"CAST({moment(each)} AS DATE)" for each in (start, end))
        return f"(({last} - {first}) // 7)"
    return f"date_diff({unit.text}, {moment(start)}, {moment(end)})"


def _add_days(arguments: Sequence[Written]) -> str:
    day, days = arguments
    moved = f"CAST({day.text} - {EPOCH} AS HUGEINT) + {integer_text(days)}"
    inside = only(f"({moved})", f"{{0}} BETWEEN {FIRST_DAY} AND {LAST_DAY}")
    return f"({EPOCH} + CAST({inside} AS INTEGER))"


def _add_interval(arguments: Sequence[Written]) -> str:
    x, *numbers = arguments
    months, days, microseconds = map(number, numbers)
    if abs(months) > 120_000 or abs(days) > 4_000_000 or abs(microseconds) > 4 * 10**17:
        kind = "TIMESTAMPTZ" if x.kind is Kind.TIMESTAMP_TZ else "TIMESTAMP"
        return f"CAST(NULL AS {kind})"
    moved = moment(x)
    moved += f" + to_months({months})" if months else ""
    moved += f" + to_days({days})" if days else ""
    moved += f" + to_microseconds(CAST({microseconds} AS BIGINT))" if microseconds else ""
    return _as_kind_of(f"({moved})", x)


def _since_1970(argument: Written) -> str:
    return f"epoch_us({moment(argument)})"


def _at(microseconds: str, argument: Written) -> str:
    """Return the time so many microseconds after 1970, inside the calendar."""
    low, high = CALENDAR_ENDS
    inside = only(f"({microseconds})", f"{{0}} BETWEEN {low} AND {high}")
    return _as_kind_of(f"make_timestamp(CAST({inside} AS BIGINT))", argument)


def _add_microseconds(arguments: Sequence[Written]) -> str:
    x, microseconds = arguments
    return _at(f"CAST({_since_1970(x)} AS HUGEINT) + {integer_text(microseconds)}", x)


def _time_bucket(arguments: Sequence[Written]) -> str:
    x, width, origin = arguments
    size, first = number(width), number(origin) % number(width)
    start = f"CAST({_since_1970(x)} AS HUGEINT) - {first}"
    return _at(f"{start} - (({start}) % {size} + {size}) % {size} + {first}", x)


def _make_date(arguments: Sequence[Written]) -> str:
    parts = ", ".join(map(integer_text, arguments))
    digits = "{{:04d}}-{{:02d}}-{{:02d}}".format()
    return in_calendar(f"TRY_CAST(format('{digits}', {parts}) AS DATE)", Kind.DATE)


def _date_part(arguments: Sequence[Written]) -> str:
    part, x = arguments
    return f"date_part({part.text}, {moment(x)})"


def _of_digits(x: Written) -> str:
    """Return a text that is to be a time, NULL for the word epoch, which no other engine reads."""
    return f"CASE WHEN {x.text} NOT ILIKE '%epoch%' THEN {x.text} END"


def _to_date(arguments: Sequence[Written]) -> str:
    x = arguments[0]
    if x.kind is Kind.TEXT:
        return in_calendar(f"TRY_CAST({_of_digits(x)} AS DATE)", Kind.DATE)
    return x.text if x.kind is Kind.DATE else f"CAST({moment(x)} AS DATE)"


def _to_timestamp(arguments: Sequence[Written]) -> str:
    x = arguments[0]
    if x.kind is Kind.TEXT:
        return in_calendar(f"TRY_CAST({_of_digits(x)} AS TIMESTAMP)", Kind.TIMESTAMP)
    return moment(x)


TIMES = {
    "date_part": FunctionTemplate(template=_date_part, range=lambda _: (-(10**8), 10**8)),
    "date_trunc": plain(_date_trunc),
    "date_diff": plain(_date_diff),
    "add_days": plain(_add_days),
    "days_between": FunctionTemplate(template="({0} - {1})", range=lambda _: (-(10**7), 10**7)),
    "add_interval": plain(_add_interval),
    "add_microseconds": plain(_add_microseconds),
    "time_bucket": plain(_time_bucket),
    "make_date": plain(_make_date),
    "to_date": plain(_to_date),
    "to_timestamp": plain(_to_timestamp),
}


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


AS_REAL = "coalesce(CAST(TRY_CAST({0} AS BIGINT) AS DOUBLE), CAST(CAST({0} AS VARCHAR) AS DOUBLE))"
"""The nearest real to a wide integer; DuckDB's own cast of 128 bits rounds negative ones twice."""


MEDIAN = "(quantile_disc({0}, 0.5) + (-quantile_disc(-{0}, 0.5) - quantile_disc({0}, 0.5)) * 0.5e0)"
"""The lower middle value and half the way to the upper one, as PostgreSQL computes it. DuckDB's own
median adds two halves, which rounds otherwise."""


DUCKDB = Dialect(
    name="duckdb",
    functions={**ARITHMETIC, **REALS, **CONDITIONS, **CHOICES, **TEXTS, **TIMES, **CASTS},
    types=TYPES,
    reads={Kind.OTHER: "TRY_CAST({0} AS VARCHAR)"},  # the rest is as it must be since it was loaded
    keys={
        Kind.INTEGER: "TRY_CAST({0} AS BIGINT)",
        Kind.REAL: canonical_real("{0}"),
    },
    row_id="rowid",
    hash="hash({all})",
    whole="TRY_CAST({0} AS BIGINT)",
    wide_sum="CAST(coalesce(sum({0}), 0) AS HUGEINT)",
    total="CAST(coalesce(sum({0}), 0) AS HUGEINT)",
    as_wide="CAST({0} AS HUGEINT)",
    as_real=AS_REAL,
    finite=finite,
    quantile=MEDIAN,
)
