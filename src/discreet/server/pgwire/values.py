"""Values as PostgreSQL sends them: in text and in binary form, out of answers and into parameters.

Appendix and section 8 of PostgreSQL's documentation have the forms; `src/backend/utils/adt` has
those of binary values.
"""

import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from struct import Struct, error
from typing import Any

import pyarrow as pa

from discreet.server.pgwire.frames import INT32, FrameReader, ProtocolError

BOOL, INT8, INT2, INT4, TEXT, FLOAT4, FLOAT8 = 16, 20, 21, 23, 25, 700, 701
UNKNOWN, BPCHAR, VARCHAR, NAME, DATE, TIMESTAMP, TIMESTAMPTZ, NUMERIC = (
    *(705, 1042, 1043, 19),
    *(1082, 1114, 1184, 1700),
)
ARRAYS = {
    1000: BOOL,
    1016: INT8,
    1005: INT2,
    1007: INT4,
    1009: TEXT,
    1015: VARCHAR,
    1021: FLOAT4,
    1022: FLOAT8,
    1182: DATE,
    1115: TIMESTAMP,
    1185: TIMESTAMPTZ,
    1231: NUMERIC,
}
"""Types of arrays, and of what is in them."""

TEXTS = frozenset([TEXT, UNKNOWN, BPCHAR, VARCHAR, NAME, 0])
SIZES = {BOOL: 1, INT8: 8, INT2: 2, INT4: 4, FLOAT4: 4, FLOAT8: 8, DATE: 4, TIMESTAMP: 8} | {
    TIMESTAMPTZ: 8
}
NO_VALUE = "not a value of its type"
FIRST_DAY, FIRST_MOMENT = date(2000, 1, 1), datetime(2000, 1, 1)


def type_of(kind: pa.DataType) -> int:
    """Return the type of a column of an answer."""
    for is_kind, found in OF_ARROW:
        if is_kind(kind):
            return found
    if pa.types.is_timestamp(kind):
        return TIMESTAMP if kind.tz is None else TIMESTAMPTZ
    return TEXT


OF_ARROW: tuple[tuple[Callable[[pa.DataType], bool], int], ...] = (
    (pa.types.is_boolean, BOOL),
    (pa.types.is_uint64, NUMERIC),
    (pa.types.is_integer, INT8),
    (pa.types.is_floating, FLOAT8),
    (pa.types.is_decimal, NUMERIC),
    (pa.types.is_date, DATE),
)


def coerced(value: Any, type_: int) -> Any:
    """Return a value of an answer as one of a type that was described before it was known."""
    if value is None or type_ in TEXTS:
        return value
    match type_:
        case 20 | 21 | 23 if isinstance(value, float | Decimal) and value == int(value):
            return int(value)
        case 700 | 701 if isinstance(value, int | Decimal):
            return float(value)
        case 1700 if isinstance(value, int | float):
            return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    return value


# --------------------------------------------------------------------------- out


def encoded(value: Any, type_: int, form: int) -> bytes | None:
    """Return a value as text (0) or in binary form (1)."""
    if value is None:
        return None
    if form == 0:
        return shown(value).encode("utf-8", "replace")
    write = BINARY.get(type_)
    if write is None:
        return shown(value).encode("utf-8", "replace")
    return write(value)


def shown(value: Any) -> str:
    """Return a value as PostgreSQL writes it."""
    match value:
        case bool():
            return "t" if value else "f"
        case float():
            return _float_text(value)
        case Decimal():
            return format(value, "f")
        case datetime():
            text = value.isoformat(sep=" ")
            return text.removesuffix(":00") if value.tzinfo is not None else text
        case date():
            return value.isoformat()
        case _:
            return _interval_text(*value) if isinstance(value, pa.MonthDayNano) else str(value)


def _interval_text(months: int, days: int, nanos: int) -> str:
    """Return an interval as PostgreSQL reads it."""
    return f"{months} months {days} days {nanos / 1_000_000_000!r} seconds"


def _float_text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    text = repr(value)
    return text.removesuffix(".0")


def _micros(value: datetime) -> int:
    moment = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
    return (moment - FIRST_MOMENT) // timedelta(microseconds=1)


def _numeric_bytes(value: Any) -> bytes:
    """Return a number as digits of base 10,000 with their weight."""
    number = value if isinstance(value, Decimal) else Decimal(str(value))
    if not number.is_finite():
        return Struct("!HhHH").pack(0, 0, 0xC000, 0)
    text = format(number.copy_abs(), "f")
    whole, _, part = text.partition(".")
    scale = len(part)
    whole = whole.rjust(-(-len(whole) // 4) * 4, "0")
    part = part.ljust(-(-len(part) // 4) * 4, "0")
    digits = [int((whole + part)[i : i + 4]) for i in range(0, len(whole) + len(part), 4)]
    weight = len(whole) // 4 - 1
    while digits and digits[0] == 0:
        digits, weight = digits[1:], weight - 1
    while digits and digits[-1] == 0:
        digits.pop()
    sign = 0x4000 if number < 0 and digits else 0
    head = Struct("!HhHH").pack(len(digits), weight if digits else 0, sign, scale)
    return head + b"".join(Struct("!H").pack(each) for each in digits)


def _whole(value: Any) -> int:
    """Return a whole number, or raise ValueError: nothing is cut off."""
    if value != int(value):
        raise ValueError("a value of a whole-number column has decimals")
    return int(value)


BINARY: Mapping[int, Callable[[Any], bytes]] = {
    BOOL: lambda value: b"\1" if value else b"\0",
    INT2: lambda value: Struct("!h").pack(_whole(value)),
    INT4: lambda value: Struct("!i").pack(_whole(value)),
    INT8: lambda value: Struct("!q").pack(_whole(value)),
    FLOAT4: lambda value: Struct("!f").pack(value),
    FLOAT8: lambda value: Struct("!d").pack(value),
    DATE: lambda value: Struct("!i").pack((value - FIRST_DAY).days),
    TIMESTAMP: lambda value: Struct("!q").pack(_micros(value)),
    TIMESTAMPTZ: lambda value: Struct("!q").pack(_micros(value)),
    NUMERIC: _numeric_bytes,
}


# --------------------------------------------------------------------------- in


def decoded(value: bytes | None, type_: int, form: int) -> Any:
    """Return a parameter of a client, or raise ValueError."""
    if value is None:
        return None
    try:
        if type_ in ARRAYS:
            return _array(value, type_) if form else _array_text(value.decode(), ARRAYS[type_])
        if form == 0:
            return _from_text(value.decode(), type_)
        return _from_binary(value, type_)
    except ProtocolError as cause:
        raise ValueError(NO_VALUE) from cause
    except (error, UnicodeDecodeError, OverflowError, InvalidOperation) as cause:
        raise ValueError(NO_VALUE) from cause


def _from_text(text: str, type_: int) -> Any:
    if "\0" in text:
        raise ValueError(NO_VALUE)
    read = FROM_TEXT.get(type_)
    return text if read is None else read(text.strip())


def _boolean(text: str) -> bool:
    folded = text.casefold()
    for value, words in ((True, "true yes on 1"), (False, "false no off 0")):
        if folded not in ("", "o") and any(each.startswith(folded) for each in words.split()):
            return value
    raise ValueError(NO_VALUE)


NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
INTEGER = re.compile(r"[+-]?[0-9]{1,40}")


def _integer(text: str) -> int:
    if INTEGER.fullmatch(text) is None:
        raise ValueError(NO_VALUE)
    return int(text)


def _number(text: str) -> str:
    if NUMBER.fullmatch(text) is None or len(text) > 400:
        raise ValueError(NO_VALUE)
    return text


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ValueError(NO_VALUE)
    return value


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as cause:
        raise ValueError(NO_VALUE) from cause


def _moment(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError as cause:
        raise ValueError(NO_VALUE) from cause


FROM_TEXT: Mapping[int, Callable[[str], Any]] = {
    BOOL: _boolean,
    **dict.fromkeys((INT2, INT4, INT8), _integer),
    **dict.fromkeys((FLOAT4, FLOAT8), lambda text: _finite(float(_number(text)))),
    NUMERIC: lambda text: Decimal(_number(text)),
    DATE: _day,
    **dict.fromkeys((TIMESTAMP, TIMESTAMPTZ), _moment),
}


def _from_binary(value: bytes, type_: int) -> Any:
    if type_ in TEXTS:
        return _from_text(value.decode(), TEXT)
    read = FROM_BINARY.get(type_)
    if read is None:
        raise ValueError(NO_VALUE)
    return read(value)


def _one(form: str) -> Callable[[bytes], Any]:
    return lambda value: Struct(form).unpack(value)[0]


def _instant(value: bytes) -> datetime:
    return FIRST_MOMENT + timedelta(microseconds=_one("!q")(value))


def _numeric(value: bytes) -> Decimal:
    count, weight, sign, scale = Struct("!HhHH").unpack(value[:8])
    if sign not in (0, 0x4000) or len(value) != 8 + 2 * count or count > 200:
        raise ValueError(NO_VALUE)
    digits = Struct(f"!{count}H").unpack(value[8:])
    if any(each > 9999 for each in digits) or abs(weight) > 200 or scale > 800:
        raise ValueError(NO_VALUE)
    text = "".join(f"{each:04d}" for each in digits) or "0"
    exponent = 4 * (weight - count + 1) if digits else 0
    return Decimal(f"{'-' if sign else ''}{text}E{exponent}")  # exact, unlike arithmetic


FROM_BINARY: Mapping[int, Callable[[bytes], Any]] = {
    BOOL: lambda value: bool(_one("!B")(value)),
    INT2: _one("!h"),
    INT4: _one("!i"),
    INT8: _one("!q"),
    FLOAT4: lambda value: _finite(_one("!f")(value)),
    FLOAT8: lambda value: _finite(_one("!d")(value)),
    DATE: lambda value: FIRST_DAY + timedelta(days=_one("!i")(value)),
    TIMESTAMP: _instant,
    TIMESTAMPTZ: lambda value: _instant(value).replace(tzinfo=UTC),
    NUMERIC: _numeric,
}

MOST_ITEMS = 10_000


def _array(value: bytes, type_: int) -> list[Any]:
    """Return an array of one dimension."""
    reader = FrameReader(value)
    dimensions, _, inner = (reader.number(INT32) for _ in range(3))
    if dimensions == 0:
        return []
    count, _ = (reader.number(INT32) for _ in range(2))
    if dimensions != 1 or inner != ARRAYS[type_] or not 0 <= count <= MOST_ITEMS:
        raise ValueError(NO_VALUE)
    items = []
    for _ in range(count):
        length = reader.number(INT32)
        items.append(None if length == -1 else decoded(reader.bytes_(length), inner, 1))
    return items


ITEM = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^",{}\\]*))\s*(,|$)', re.DOTALL)


def _array_text(text: str, inner: int) -> list[Any]:
    """Return an array of one dimension that is written as {a,"b c",NULL}."""
    if not (text.startswith("{") and text.endswith("}")):
        raise ValueError(NO_VALUE)
    content, place = text[1:-1], 0
    items: list[Any] = []
    while content.strip() and place <= len(content):
        found = ITEM.match(content, place)
        if found is None or len(items) >= MOST_ITEMS:
            raise ValueError(NO_VALUE)
        in_quotes, bare = found[1], found[2]
        if in_quotes is not None:
            items.append(_from_text(re.sub(r"\\(.)", r"\1", in_quotes), inner))
        else:
            plain = bare.strip()
            items.append(None if plain.upper() == "NULL" else _from_text(plain, inner))
        if found[3] != ",":
            break
        place = found.end()
    return items


EXAMPLES: Mapping[int, Any] = {
    BOOL: True,
    **dict.fromkeys((INT2, INT4, INT8), 1),
    **dict.fromkeys((FLOAT4, FLOAT8), 1.5),
    NUMERIC: Decimal("1.5"),
    DATE: FIRST_DAY,
    TIMESTAMP: FIRST_MOMENT,
    TIMESTAMPTZ: FIRST_MOMENT.replace(tzinfo=UTC),
}


def example(type_: int) -> Any:
    """Return a value of a type, to find out what columns a query would have."""
    if type_ in ARRAYS:
        return [example(ARRAYS[type_])]
    return EXAMPLES.get(type_, "")
