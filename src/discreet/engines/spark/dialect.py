"""Spark's SQL: a total and deterministic form of each function.

It is written for a session without ANSI mode, in which nothing raises whatever the rows hold, and
does not rely on it: overflow is NULL by `try_add` and its like, and arguments that would raise are
NULL before. NaN is larger than all numbers and equal to itself here, and 0.0 equals -0.0; NaN and
infinities become NULL before anything that would hide them. Sums are decimals of 30 digits.
"""

from collections.abc import Mapping, Sequence

from discreet.catalog.schema import Kind
from discreet.engines.dialect import (
    INT64,
    Dialect,
    FunctionTemplate,
    Range,
    Written,
    braced,
    integer_literal,
    number,
    plain,
    real,
    real_literal,
)
from discreet.engines.spark.conditions import (
    CALENDAR,
    CHOICES,
    CONDITIONS,
    TEXTS,
    canonical_real,
    finite,
    in_calendar,
    integer_text,
    let,
    only,
    spark_text,
    with_our_names,
)
from discreet.engines.spark.numbers import ARITHMETIC, REALS
from discreet.engines.spark.times import TIMES, moment
from discreet.errors import UnsupportedError

__all__ = ["CALENDAR", "ROW_ID", "SPARK", "with_our_names"]


SPACES = spark_text(" \t\n\r\f\v")


DIGITS = "[0-9]++(?:_[0-9]++)*+"


NUMBER = spark_text(
    f"^[+-]?(?:{DIGITS}(?:[.](?:{DIGITS})?+)?+|[.]{DIGITS})(?:[eE][+-]?[0-9]{{1,3}}+)?+$"
)
"""Nothing in it is tried twice, and no power of ten is so large that reading it takes long."""


HEXADECIMAL = spark_text("^0[xX][0-9a-fA-F]{1,15}$")


DAY_PATTERN = "([0-9]{1,4}+)-([0-9]{1,2}+)-([0-9]{1,2}+)"


SECONDS = ":[0-9]{1,2}+(?:[.][0-9]{0,6}+)?+"


CLOCK = f"([0-9]{{1,2}}+:[0-9]{{1,2}}+(?:{SECONDS})?+)(?:(?<=[.][0-9]{{6}})[0-9]++)?+"


ZONE = "(?: ?+(?:Z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?))?+"


TIME = spark_text(f"^{DAY_PATTERN}(?:(?:T| ++){CLOCK}{ZONE})?+$")


SLASHES = spark_text("^[0-9]++/[0-9]++/")


MIDNIGHT = spark_text("^24:00?(?::00?(?:[.]0*)?)?$")
"""The end of a day, which is the first moment of the next."""


INSIDE = "{0} >= -9223372036854775808e0 AND {0} < 9223372036854775808e0"
"""Spark's own cast takes the first number beyond for the last inside."""


TRUE_WORDS = "('t', 'true', 'y', 'yes', '1')"


FALSE_WORDS = "('f', 'false', 'n', 'no', '0')"


def _trimmed(text: str) -> str:
    return f"trim(BOTH {SPACES} FROM {text})"


def _numeral(text: str) -> str:
    """Return a text that is a number, without what groups its digits, else NULL."""
    is_number = f"CASE WHEN {{0}} RLIKE {braced(NUMBER)} THEN replace({{0}}, '_', '') END"
    return let(_trimmed(text), is_number)


def _whole_numeral(text: str) -> str:
    """Return what a text that is a number in ten or sixteen digits is as an integer."""
    read = (
        f"CASE WHEN {{0}} RLIKE {braced(HEXADECIMAL)} "
        "THEN CAST(conv(substring({0}, 3), 16, 10) AS BIGINT) "
        f"ELSE try_cast(try_cast({_numeral('{0}')} AS DECIMAL(38, 0)) AS BIGINT) END"
    )
    return let(_trimmed(text), read)


def _to_integer(arguments: Sequence[Written]) -> str:
    x, *ends = arguments
    low, high = map(number, ends)
    match x.kind:
        case Kind.INTEGER:
            text = integer_text(x)
        case Kind.TEXT:
            text = _whole_numeral(x.text)
        case Kind.REAL:
            text = f"CAST({only(f'rint({x.text})', INSIDE)} AS BIGINT)"
        case _:
            text = f"CAST({x.text} AS BIGINT)"
    if low <= INT64[0] and high >= INT64[1]:
        return text
    return only(text, f"{{0}} BETWEEN {integer_literal(low)} AND {integer_literal(high)}")


def _integer_range(arguments: Sequence[Written]) -> Range:
    return max(INT64[0], number(arguments[1])), min(INT64[1], number(arguments[2]))


def _to_real(arguments: Sequence[Written]) -> str:
    x = arguments[0]
    return f"try_cast({_numeral(x.text) if x.kind is Kind.TEXT else x.text} AS DOUBLE)"


def _to_single(arguments: Sequence[Written]) -> str:
    return f"CAST(CAST({_to_real(arguments)} AS FLOAT) AS DOUBLE)"


def _to_decimal(arguments: Sequence[Written]) -> str:
    x, *numbers = arguments
    width, scale = map(number, numbers)
    if not (1 <= width <= 38 and 0 <= scale <= width):
        raise UnsupportedError(
            f"There is no type DECIMAL({width}, {scale})",
            "Use 1 to 38 digits, and at most as many of them after the decimal point",
        )
    if x.kind is Kind.REAL:
        scaled = f"round({x.text} * {real_literal(10.0**scale)})"
        inside = only(scaled, f"abs({{0}}) < {real_literal(10.0**width)}")
        return f"({inside} / {real_literal(10.0**scale)})"
    given = {Kind.TEXT: _numeral(x.text), Kind.BOOLEAN: f"CAST({x.text} AS INT)"}
    return f"CAST(try_cast({given.get(x.kind, x.text)} AS DECIMAL({width}, {scale})) AS DOUBLE)"


def _to_boolean(arguments: Sequence[Written]) -> str:
    x = arguments[0]
    if x.kind.is_number:
        return f"({x.text} <> 0)"
    if x.kind is Kind.BOOLEAN:
        return x.text
    body = f"CASE WHEN {{0}} IN {TRUE_WORDS} THEN TRUE WHEN {{0}} IN {FALSE_WORDS} THEN FALSE END"
    return let(f"lower({x.text})", body)


def _to_text(arguments: Sequence[Written]) -> str:
    x = arguments[0]
    match x.kind:
        case Kind.TEXT:
            return x.text
        case Kind.TIMESTAMP_TZ:
            return f"concat(CAST({x.text} AS STRING), '+00')"
        case Kind.REAL:
            return let(x.text, REAL_TEXT)
        case _:
            return f"CAST({x.text} AS STRING)"


PLAIN = "trim(TRAILING '0' FROM CAST(CAST(CAST({0} AS STRING) AS DECIMAL(38, 21)) AS STRING))"


MANTISSA = "regexp_replace(substring_index(CAST({0} AS STRING), 'E', 1), '[.]0$', '')".replace(
    "'[.]0$'", spark_text("[.]0$")
)


EXPONENT = "CAST(substring_index(CAST({0} AS STRING), 'E', -1) AS INT)"


REAL_TEXT = (
    "CASE WHEN {0} = 0e0 THEN '0.0' "
    "WHEN abs({0}) < 1e-323 THEN CASE WHEN {0} < 0e0 THEN '-5e-324' ELSE '5e-324' END "
    "WHEN abs({0}) >= 1e-4 AND abs({0}) < 1e16 "
    f"THEN concat({PLAIN}, CASE WHEN endswith({PLAIN}, '.') THEN '0' ELSE '' END) "
    f"ELSE concat({MANTISSA}, CASE WHEN abs({{0}}) < 1e0 THEN 'e-' ELSE 'e+' END, "
    f"CASE WHEN abs({EXPONENT}) < 10 THEN '0' ELSE '' END, CAST(abs({EXPONENT}) AS STRING)) END"
)
"""As few digits as tell the number from all others; with an exponent where it is very large or
small. 0.0 and -0.0 are equal, so that both are written alike."""


def _day(text: str) -> str:
    year, month, day = (f"regexp_extract({text}, {braced(TIME)}, {part})" for part in (1, 2, 3))
    return f"concat(lpad({year}, 4, '0'), '-', {month}, '-', {day})"


def _dashed(text: str) -> str:
    """Return a text whose date has dashes, if it had slashes."""
    body = f"CASE WHEN {{0}} RLIKE {braced(SLASHES)} THEN translate({{0}}, '/', '-') ELSE {{0}} END"
    return let(text, body)


def _to_date(arguments: Sequence[Written]) -> str:
    x = arguments[0]
    if x.kind is Kind.TEXT:
        read = f"CASE WHEN {{0}} RLIKE {braced(TIME)} THEN try_cast({_day('{0}')} AS DATE) END"
        return in_calendar(let(_dashed(_trimmed(x.text)), read), Kind.DATE)
    return x.text if x.kind is Kind.DATE else f"CAST({moment(x)} AS DATE)"


def _to_timestamp(arguments: Sequence[Written]) -> str:
    x = arguments[0]
    if x.kind is not Kind.TEXT:
        return moment(x)
    clock = f"regexp_extract({{0}}, {braced(TIME)}, 4)"
    is_midnight = f"{clock} RLIKE {braced(MIDNIGHT)}"
    first = f"CAST(try_cast({_day('{0}')} AS DATE) AS TIMESTAMP_NTZ)"
    exact = f"try_cast(concat({_day('{0}')}, ' ', {clock}) AS TIMESTAMP_NTZ)"
    read = (
        f"CASE WHEN NOT {{0}} RLIKE {braced(TIME)} THEN NULL WHEN {clock} = '' THEN {first} "
        f"WHEN {is_midnight} THEN {first} + INTERVAL '1' DAY ELSE {exact} END"
    )
    return in_calendar(let(_dashed(x.text), read), Kind.TIMESTAMP)


CASTS = {
    "to_integer": FunctionTemplate(template=_to_integer, range=_integer_range),
    "to_real": real(_to_real),
    "to_single": real(_to_single),
    "to_decimal": plain(_to_decimal),
    "to_boolean": plain(_to_boolean),
    "to_text": plain(_to_text),
    "to_date": plain(_to_date),
    "to_timestamp": plain(_to_timestamp),
}


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
        Kind.REAL: canonical_real("{0}"),
    },
    row_id=ROW_ID,
    hash="md5(CAST(concat({all}) AS BINARY))",
    hashed="coalesce(concat(length(CAST({0} AS STRING)), ':', CAST({0} AS STRING)), '-')",
    whole="try_cast({0} AS BIGINT)",
    wide_sum="CAST(coalesce(sum(CAST({0} AS DECIMAL(20, 0))), 0) AS DECIMAL(38, 0))",
    small_sum="CAST(coalesce(sum({0}), 0) AS DECIMAL(38, 0))",
    total="CAST(coalesce(sum({0}), 0) AS DECIMAL(38, 0))",
    as_wide="CAST({0} AS DECIMAL(20, 0))",
    as_real="CAST({0} AS DOUBLE)",
    finite=finite,
    quantile=MEDIAN,
    text=spark_text,
    addend="CAST({0} AS DECIMAL(20, 0))",
    quote="`",
    nulls_last=" NULLS LAST",
    semi_join="coalesce({0}, FALSE)",  # for NOT IN, Spark would collect all rows of one side
    schemas="__{0}",
    has_schemas=False,  # views of a session are in none
)
