"""PostgreSQL's SQL: a total form of each function, without functions installed by us.

PostgreSQL raises an error where DuckDB gives NULL, an infinity or 0. So every expression decides
first whether there is a value, in CASE, whose order PostgreSQL keeps: constants are the exception,
and with constant arguments the decision is constant too, and taken first. Integers that may
need more than 64 bits are computed as NUMERIC and cast back. Texts are compared by their bytes.
"""

# ruff: noqa: S608 - this file writes SQL; texts are inserted as whole expressions

from collections.abc import Mapping, Sequence
from itertools import accumulate

from discreet.catalog.schema import Kind
from discreet.engines.dialect import (
    CALENDAR,
    CALENDAR_ENDS,
    Dialect,
    FunctionTemplate,
    Written,
    number,
    plain,
    words,
)
from discreet.engines.postgresql.casts import CASTS
from discreet.engines.postgresql.conditions import (
    CHOICES,
    CONDITIONS,
    TEXTS,
    canonical_real,
    finite,
    in_calendar,
    integer_number,
    let,
    narrow,
    quoted_text,
    real_text,
)
from discreet.engines.postgresql.numbers import ARITHMETIC, REALS

__all__ = ["CALENDAR", "POSTGRESQL", "ROW_ID"]


FARTHEST_BACK = 1_700_000
"""Days before the year 1 that PostgreSQL's calendar still has, all but a few."""


def moment(argument: Written) -> str:
    """Return a time as a timestamp of UTC."""
    match argument.kind:
        case Kind.DATE:
            return f"CAST({argument.text} AS TIMESTAMP)"
        case Kind.TIMESTAMP_TZ:
            return f"({argument.text} AT TIME ZONE 'UTC')"
        case _:
            return argument.text


def _as_kind_of(text: str, argument: Written) -> str:
    """Return a timestamp of UTC with a time zone if the argument has one, inside the calendar."""
    inside = in_calendar(text, Kind.TIMESTAMP)
    return f"({inside} AT TIME ZONE 'UTC')" if argument.kind is Kind.TIMESTAMP_TZ else inside


def _part(name: str, text: str) -> str:
    return f"CAST(floor(extract({name} FROM {text})) AS BIGINT)"


def _date_part(arguments: Sequence[Written]) -> str:
    name, text = words(arguments[0]), moment(arguments[1])
    if name == "epoch":
        return f"CAST(extract(epoch FROM {text}) AS DOUBLE PRECISION)"
    return _part(name, text)


def _date_trunc(arguments: Sequence[Written]) -> str:
    unit, x = arguments
    if words(unit) != "century":
        return _as_kind_of(f"date_trunc('{words(unit)}', {moment(x)})", x)
    year = "CAST(extract(year FROM {0}) AS INTEGER) / 100 * 100"
    first = f"CASE WHEN {year} > 0 THEN make_timestamp({year}, 1, 1, 0, 0, 0) END"
    return _as_kind_of(let(first, moment(x)), x)


MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}


DAY_LENGTH = 86_400_000_000


LENGTHS = {
    "microsecond": 1,
    "millisecond": 1000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": DAY_LENGTH,
}
"""Microseconds of a unit."""


def _index(text: str, unit: str) -> str:
    """Return a number that grows by one from each unit of time to the next."""
    if unit in MONTHS:
        months = "extract(year FROM {0}) * 12 + extract(month FROM {0}) - 1"
        return let(f"CAST(floor(({months}) / {MONTHS[unit]}) AS BIGINT)", text)
    return f"CAST(floor(extract(epoch FROM {text}) * 1000000 / {LENGTHS[unit]}) AS BIGINT)"


def _date_diff(arguments: Sequence[Written]) -> str:
    unit, start, end = arguments
    if words(unit) == "week":
        first, last = (f"CAST({moment(each)} AS DATE)" for each in (start, end))
        return f"CAST(({last} - {first}) / 7 AS BIGINT)"
    first, last = (_index(moment(each), words(unit)) for each in (start, end))
    return f"({last} - {first})"


def _add_days(arguments: Sequence[Written]) -> str:
    body = (
        "CASE WHEN {1} BETWEEN -4000000 AND 4000000 THEN CASE WHEN {0} - DATE '0001-01-01' + {1} "
        "BETWEEN 0 AND 3652058 THEN {0} + CAST({1} AS INTEGER) END END"
    )
    return let(body, *(each.text for each in arguments))


def _add_interval(arguments: Sequence[Written]) -> str:
    x, *numbers = arguments
    months, days, microseconds = map(number, numbers)
    if abs(months) > 120_000 or abs(days) > 4_000_000 or abs(microseconds) > 4 * 10**17:
        kind = "TIMESTAMPTZ" if x.kind is Kind.TIMESTAMP_TZ else "TIMESTAMP"
        return f"CAST(NULL AS {kind})"
    steps = (
        (months * 31, f"make_interval(months => {months})" if months else ""),
        (days, f"make_interval(days => {days})" if days else ""),
        (microseconds // DAY_LENGTH, f"{_clock(microseconds)}" if microseconds else ""),
    )
    lowest = min(accumulate(each for each, _ in steps))
    moved = " + ".join(["{0}", *(interval for _, interval in steps if interval)])
    if lowest < -FARTHEST_BACK:
        after = f"TIMESTAMP '0001-01-01' + make_interval(days => {-lowest - FARTHEST_BACK})"
        moved = f"CASE WHEN {{0}} >= {after} THEN {moved} END"
    return _as_kind_of(let(moved, moment(x)), x)


def _clock(microseconds: int) -> str:
    """Return an interval of microseconds, exactly: days would be lost in one real number."""
    days, rest = divmod(microseconds, DAY_LENGTH)
    seconds, parts = divmod(rest, 1_000_000)
    return f"make_interval(days => {days}, secs => {seconds}) + {parts} * INTERVAL '1 microsecond'"


def _moved(shift: str) -> str:
    """Return a time moved by microseconds that keep it inside the calendar.

    Days go apart: a product with an interval is computed in floating point.
    """
    days = f"make_interval(days => CAST(({shift}) / {DAY_LENGTH} AS INTEGER))"
    return f"{{0}} + {days} + (({shift}) % {DAY_LENGTH}) * INTERVAL '1 microsecond'"


_MICROSECONDS_AT = "CAST(extract(epoch FROM {0}) * 1000000 AS BIGINT)"


def _add_microseconds(arguments: Sequence[Written]) -> str:
    x, shift = arguments
    low, high = CALENDAR_ENDS
    body = (
        f"CASE WHEN {{1}} BETWEEN {low - high} AND {high - low} THEN "
        f"CASE WHEN {_MICROSECONDS_AT} + {{1}} BETWEEN {low} AND {high} "
        f"THEN {_moved('{1}')} END END"
    )
    return _as_kind_of(let(body, moment(x), shift.text), x)


def _time_bucket(arguments: Sequence[Written]) -> str:
    x, width, origin = arguments
    size, first = number(width), number(origin) % number(width)
    back = f"((({_MICROSECONDS_AT} - {first}) % {size} + {size}) % {size})"
    moved = _moved(f"-{back}")
    inside = f"{_MICROSECONDS_AT} - {back} >= {CALENDAR_ENDS[0]}"
    return _as_kind_of(let(f"CASE WHEN {inside} THEN {moved} END", moment(x)), x)


def _make_date(arguments: Sequence[Written]) -> str:
    first = "make_date(CAST({0} AS INTEGER), CAST({1} AS INTEGER), 1)"
    body = (
        "CASE WHEN {0} BETWEEN 1 AND 9999 AND {1} BETWEEN 1 AND 12 AND {2} BETWEEN 1 AND 31 THEN "
        f"CASE WHEN extract(month FROM {first} + CAST({{2}} - 1 AS INTEGER)) = {{1}} "
        f"THEN {first} + CAST({{2}} - 1 AS INTEGER) END END"
    )
    return let(body, *(each.text for each in arguments))


# --------------------------------------------------------------------------- texts

_DATE = r"^[ \t\n\v\f\r]*([0-9]{{1,6}})([-/ \\])([0-9]{{1,2}})\2([0-9]{{1,2}})"


_TIME = (
    r"[T \t\n\v\f\r][ \t\n\v\f\r]*([0-9]{{1,2}}):([0-9]{{1,2}})(:([0-9]{{1,2}})(\.[0-9]*)?)?"
    r"([ \t\n\v\f\r]*(Z|[+-][0-9]{{1,2}}(:?[0-9]{{2}})?|[A-Za-z][A-Za-z_/+-]*)?)[ \t\n\v\f\r]*"
)


DAY = f"{_DATE}({_TIME}|[ \\t\\n\\v\\f\\r]*)$"


MOMENT = f"{_DATE}({_TIME})?$"
"""A year, month and day, parted by the same sign; then a time, whose zone is not looked at."""


_YMD = "CAST({0}[1] AS INTEGER), CAST({0}[3] AS INTEGER), 1"


_DAY = f"make_date({_YMD}) + (CAST({{0}}[4] AS INTEGER) - 1)"


_IS_DAY = (
    "CAST({0}[1] AS INTEGER) BETWEEN 1 AND 9999 AND CAST({0}[3] AS INTEGER) BETWEEN 1 AND 12 "
    "AND CAST({0}[4] AS INTEGER) BETWEEN 1 AND 31"
)


_HAS_DAY = f"extract(month FROM {_DAY}) = CAST({{0}}[3] AS INTEGER)"


_PARTS = tuple(f"CAST(coalesce({{0}}[{n}], '0') AS INTEGER)" for n in (6, 7, 9))


_IS_TIME = (
    f"(({_PARTS[0]} <= 23 AND {_PARTS[1]} <= 59 AND {_PARTS[2]} <= 59) OR ({_PARTS[0]} = 24 "
    f"AND {_PARTS[1]} = 0 AND {_PARTS[2]} = 0 AND coalesce({{0}}[10], '') !~ '[1-9]'))"
)


_MICROSECONDS = "CAST(rpad(substring(coalesce({0}[10], ''), 2, 6), 6, '0') AS INTEGER)"


_CLOCK = (
    f"make_interval(hours => {_PARTS[0]}, mins => {_PARTS[1]}, secs => {_PARTS[2]}) "
    f"+ {_MICROSECONDS} * INTERVAL '1 microsecond'"
)


LONGEST_TIME = 100
"""Longer texts are no times."""


def _matched(text: str, pattern: str, body: str) -> str:
    """Return what a body makes of the parts of a text that has a pattern, computed once."""
    written = body.format("m.p")
    short = f"CASE WHEN length({{0}}) <= {LONGEST_TIME} THEN regexp_match({{0}}, '{pattern}') END"
    parts = let(short, text)
    found = f"(SELECT {parts} AS p OFFSET 0) AS m"
    return f"(SELECT CASE WHEN m.p IS NOT NULL THEN {written} END FROM {found})"


_TEXT_TO_DATE = f"CASE WHEN {_IS_DAY} AND {_IS_TIME} THEN CASE WHEN {_HAS_DAY} THEN {_DAY} END END"


_TEXT_TO_MOMENT = (
    f"CASE WHEN {_IS_DAY} AND {_IS_TIME} THEN CASE WHEN {_HAS_DAY} "
    f"THEN CAST({_DAY} AS TIMESTAMP) + ({_CLOCK}) END END"
)


def _to_date(arguments: Sequence[Written]) -> str:
    x = arguments[0]
    if x.kind is Kind.TEXT:
        return _matched(x.text, DAY, _TEXT_TO_DATE)
    return x.text if x.kind is Kind.DATE else f"CAST({moment(x)} AS DATE)"


def _to_timestamp(arguments: Sequence[Written]) -> str:
    x = arguments[0]
    if x.kind is Kind.TEXT:
        return in_calendar(_matched(x.text, MOMENT, _TEXT_TO_MOMENT), Kind.TIMESTAMP)
    return moment(x)


TIMES = {
    "date_part": FunctionTemplate(template=_date_part, range=lambda _: (-(10**8), 10**8)),
    "date_trunc": plain(_date_trunc),
    "date_diff": plain(_date_diff),
    "add_days": plain(_add_days),
    "days_between": FunctionTemplate(
        template="CAST({0} - {1} AS BIGINT)", range=lambda _: (-(10**7), 10**7)
    ),
    "add_interval": plain(_add_interval),
    "add_microseconds": plain(_add_microseconds),
    "time_bucket": plain(_time_bucket),
    "make_date": plain(_make_date),
    "to_date": plain(_to_date),
    "to_timestamp": plain(_to_timestamp),
}


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
    keys={Kind.REAL: canonical_real("{0}")},
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
    number=integer_number,
    longest_name=63,
    fence=" OFFSET 0",
    schemas="discreet_{0}",
)
