"""Functions of times in Spark's SQL."""

from collections.abc import Sequence

from discreet.catalog.schema import Kind
from discreet.engines.dialect import (
    CALENDAR_ENDS,
    FIRST_DAY,
    LAST_DAY,
    FunctionTemplate,
    Written,
    integer_literal,
    number,
    plain,
    words,
)
from discreet.engines.spark.conditions import in_calendar, integer_text, only
from discreet.query.expressions.time_functions import DAY, LENGTHS, MONTHS

EPOCH = "DATE'1970-01-01'"


def moment(argument: Written) -> str:
    """Return a time as a timestamp of UTC."""
    if argument.kind is Kind.TIMESTAMP:
        return argument.text
    return f"CAST({argument.text} AS TIMESTAMP_NTZ)"


def microseconds(argument: Written) -> str:
    """Return how many microseconds lie between 1970 and a time."""
    return f"unix_micros(CAST({argument.text} AS TIMESTAMP_LTZ))"


def _as_kind_of(text: str, argument: Written) -> str:
    """Return a timestamp of UTC with a time zone if the argument has one, inside the calendar."""
    inside = in_calendar(f"CAST({text} AS TIMESTAMP_NTZ)", Kind.TIMESTAMP)
    return f"CAST({inside} AS TIMESTAMP_LTZ)" if argument.kind is Kind.TIMESTAMP_TZ else inside


def _date_trunc(arguments: Sequence[Written]) -> str:
    unit, x = words(arguments[0]), arguments[1]
    if unit in ("decade", "century"):
        years = MONTHS[unit] // 12
        year = f"year({moment(x)})"
        return _as_kind_of(f"make_date({year} - {year} % {years}, 1, 1)", x)
    return _as_kind_of(f"date_trunc('{unit}', {moment(x)})", x)


def _date_diff(arguments: Sequence[Written]) -> str:
    unit, start, end = words(arguments[0]), *arguments[1:]
    if unit == "week":
        return f"CAST(datediff({moment(end)}, {moment(start)}) div 7 AS BIGINT)"
    return f"({_index(unit, end)} - {_index(unit, start)})"


def _index(unit: str, time: Written) -> str:
    """Return a number that grows by one from each unit of time to the next."""
    if unit in LENGTHS:
        length = LENGTHS[unit]
        count = microseconds(time)
        return f"(({count} - pmod({count}, {length})) div {length})"
    months = f"(CAST(year({moment(time)}) AS BIGINT) * 12 + month({moment(time)}) - 1)"
    return f"({months} div {MONTHS[unit]})"


def _add_days(arguments: Sequence[Written]) -> str:
    day, days = arguments
    moved = f"try_add(CAST(datediff({day.text}, {EPOCH}) AS BIGINT), {integer_text(days)})"
    inside = only(moved, f"{{0}} BETWEEN {FIRST_DAY} AND {LAST_DAY}")
    return f"date_add({EPOCH}, CAST({inside} AS INT))"


def _add_interval(arguments: Sequence[Written]) -> str:
    x, *numbers = arguments
    months, days, rest = map(number, numbers)
    if abs(months) > 120_000 or abs(days) > 4_000_000 or abs(rest) > 4 * 10**17:
        kind = "TIMESTAMP_LTZ" if x.kind is Kind.TIMESTAMP_TZ else "TIMESTAMP_NTZ"
        return f"CAST(NULL AS {kind})"
    moved = (
        f"({moment(x)} + make_ym_interval(0, {integer_literal(months)}))" if months else moment(x)
    )
    further = days * DAY + rest
    if further:
        moved = f"timestamp_micros(unix_micros(CAST({moved} AS TIMESTAMP_LTZ)) + {further})"
    return _as_kind_of(moved, x)


def _at(number_of_them: str, argument: Written) -> str:
    """Return the time so many microseconds after 1970, inside the calendar."""
    low, high = CALENDAR_ENDS
    inside = only(f"({number_of_them})", f"{{0}} BETWEEN {low} AND {high}")
    return _as_kind_of(f"timestamp_micros({inside})", argument)


def _add_microseconds(arguments: Sequence[Written]) -> str:
    x, shift = arguments
    return _at(f"try_add({microseconds(x)}, {integer_text(shift)})", x)


def _time_bucket(arguments: Sequence[Written]) -> str:
    x, width, origin = arguments
    size, first = number(width), number(origin) % number(width)
    here = microseconds(x)
    return _at(f"{here} - pmod({here} - {first}, {size})", x)


def _make_date(arguments: Sequence[Written]) -> str:
    ends = ((1, 9999), (1, 12), (1, 31))
    parts = [
        only(integer_text(each), f"{{0}} BETWEEN {low} AND {high}")
        for each, (low, high) in zip(arguments, ends, strict=True)
    ]
    year, month, day = (
        f"lpad(CAST({each} AS STRING), {size}, '0')"
        for each, size in zip(parts, (4, 2, 2), strict=True)
    )
    return f"try_cast(concat({year}, '-', {month}, '-', {day}) AS DATE)"


PARTS = {
    "microsecond": "CAST(date_part('SECOND', {0}) * 1000000 AS BIGINT)",
    "millisecond": "CAST(floor(date_part('SECOND', {0}) * 1000) AS BIGINT)",
    "second": "second({0})",
    "minute": "minute({0})",
    "hour": "hour({0})",
    "day": "day({0})",
    "dow": "(dayofweek({0}) - 1)",
    "isodow": "(weekday({0}) + 1)",
    "doy": "dayofyear({0})",
    "week": "weekofyear({0})",
    "month": "month({0})",
    "quarter": "quarter({0})",
    "year": "year({0})",
    "isoyear": "CAST(date_part('YEAROFWEEK', {0}) AS BIGINT)",
    "decade": "(year({0}) div 10)",
    "century": "((year({0}) - 1) div 100 + 1)",
}


def _date_part(arguments: Sequence[Written]) -> str:
    part, x = words(arguments[0]), arguments[1]
    if part == "epoch":
        return f"(CAST({microseconds(x)} AS DOUBLE) / 1e6)"
    return PARTS[part].format(moment(x))


TIMES = {
    "date_part": FunctionTemplate(template=_date_part, range=lambda _: (-(10**8), 10**8)),
    "date_trunc": plain(_date_trunc),
    "date_diff": plain(_date_diff),
    "add_days": plain(_add_days),
    "days_between": FunctionTemplate(
        template="CAST(datediff({0}, {1}) AS BIGINT)", range=lambda _: (-(10**7), 10**7)
    ),
    "add_interval": plain(_add_interval),
    "add_microseconds": plain(_add_microseconds),
    "time_bucket": plain(_time_bucket),
    "make_date": plain(_make_date),
}
