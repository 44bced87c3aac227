"""A declared column and a declared privacy unit, before the table's schema is known."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from discreet.catalog.entries import (
    BLANK,
    LARGEST,
    Location,
    check_flag,
    check_list,
    check_number,
    check_section,
    check_text,
    time_from,
    value_text,
)
from discreet.catalog.schema import (
    AUTO,
    MICROSECOND,
    Auto,
    Bounds,
    Column,
    ColumnUnit,
    Kind,
    RowUnit,
    Value,
    number_from_time,
)
from discreet.catalog.time_steps import DAY, time_step_from
from discreet.parameters import did_you_mean

COLUMN = ("type", "bounds", "step", "values", "nulls")

KINDS = {each.value: each for each in Kind if each is not Kind.INTERVAL}
"""The types that a column may be declared with: intervals occur in expressions only."""

OTHER_NAMES = {
    "bool": "boolean",
    "int": "integer",
    "bigint": "integer",
    "smallint": "integer",
    "long": "integer",
    "float": "real",
    "double": "real",
    "decimal": "real",
    "numeric": "real",
    "number": "real",
    "string": "text",
    "str": "text",
    "varchar": "text",
    "char": "text",
    "category": "text",
    "datetime": "timestamp",
    "timestamptz": "timestamp with time zone",
}
"""Names of types in other systems. They improve the error message; they are not accepted."""

MOST_STEPS = 2**63
BOUNDS_FIX = "Write the lowest and the highest possible value: bounds = [0, 120]"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnDeclaration:
    """A column as declared. The meaning of its bounds and values depends on its type."""

    name: str
    location: Location
    kind: Kind | None = None
    bounds: tuple[object, object] | Auto | None = None
    step: Fraction | None = None
    time_step: Fraction | None = None
    values: tuple[object, ...] | None = None
    nulls: bool | None = None


def column_declaration(location: Location, name: str, value: object) -> ColumnDeclaration:
    """Return the column that an entry of [tables.NAME.columns] declares, as far as checked."""
    entries = check_section(location, value, COLUMN)
    step, time_step = (
        _step(location.at("step"), entries["step"]) if "step" in entries else (None, None)
    )
    column = ColumnDeclaration(
        name=name,
        location=location,
        kind=_kind(location.at("type"), entries["type"]) if "type" in entries else None,
        bounds=_pair(location.at("bounds"), entries["bounds"]) if "bounds" in entries else None,
        step=step,
        time_step=time_step,
        values=_list(location.at("values"), entries["values"]) if "values" in entries else None,
        nulls=check_flag(location.at("nulls"), entries["nulls"]) if "nulls" in entries else None,
    )
    if (kind := column.kind or _likely_kind(column)) is not None:
        resolve_column(column, kind)
    return column


def _kind(location: Location, value: object) -> Kind:
    if isinstance(value, Kind) and value in KINDS.values():
        return value
    if isinstance(value, str) and value in KINDS:
        return KINDS[value]
    names = ", ".join(f'"{name}"' for name in KINDS)
    raise location.invalid(f"must be one of {names}, not {value_text(value)}", _kind_fix(value))


def _kind_fix(value: object) -> str:
    fix = "Write one of these"
    if not isinstance(value, str):
        return fix
    known = OTHER_NAMES.get(value.casefold(), value)
    return did_you_mean(known, list(KINDS), otherwise=fix)


def _pair(location: Location, value: object) -> tuple[object, object] | Auto:
    if value in ("AUTO", AUTO):
        return AUTO
    ends = check_list(location, value, BOUNDS_FIX)
    if len(ends) != 2:
        raise location.invalid(f"must have two values, not {len(ends)}", BOUNDS_FIX)
    return (ends[0], ends[1])


TIME_FIX = 'Write a span of seconds, minutes, hours, days or weeks, such as "15 minutes"'


def _step(location: Location, value: object) -> tuple[Fraction | None, Fraction | None]:
    """Return a step of numbers, or else one of times, in microseconds."""
    fix = "Write the step between values, such as 0.01 for money, or remove step"
    if isinstance(value, str) and re.search("[A-Za-z]", value):
        span = time_step_from(value)
        if span is None:
            rule = (
                f"must be a number, or a span of time of at most 10 years, not {value_text(value)}"
            )
            raise location.invalid(rule, TIME_FIX)
        return None, span
    step = check_number(location, value, fix)
    if step <= 0:
        raise location.invalid(f"must be more than 0, not {value_text(value)}", fix)
    return step, None


def _list(location: Location, value: object) -> tuple[object, ...]:
    fix = "List all values of the column, or remove values"
    items = check_list(location, value, fix)
    if not items:
        raise location.invalid("must contain at least one value", fix)
    for i, item in enumerate(items):
        if item is None:
            raise location.at(i).invalid("is NULL", "Remove it, and write nulls = true instead")
    return items


def _likely_kind(column: ColumnDeclaration) -> Kind | None:
    """Return the type that allows most of the entries, to find mistakes before the schema does."""
    if isinstance(column.bounds, Auto) or column.step is not None:
        return Kind.REAL
    if column.bounds is not None:
        times = [time_from(each) for each in column.bounds]
        if None not in times:
            is_date = column.time_step is None and not any(
                isinstance(each, datetime) for each in times
            )
            return Kind.DATE if is_date else Kind.TIMESTAMP_TZ
        return Kind.REAL
    first = None if column.values is None else column.values[0]
    return next((kind for kinds, kind in _LIKELY if isinstance(first, kinds)), None)


_LIKELY: tuple[tuple[type | tuple[type, ...], Kind], ...] = (
    (bool, Kind.BOOLEAN),
    (str, Kind.TEXT),
    (date, Kind.TIMESTAMP_TZ),
    ((int, float, Decimal, Fraction), Kind.REAL),
)


def resolve_column(column: ColumnDeclaration, kind: Kind) -> Column:
    """Return the column, with every entry checked against its type."""
    bounds = _resolve_bounds(column, kind)
    _check_step(column, kind, bounds)
    return Column(
        name=column.name,
        kind=kind,
        bounds=bounds,
        step=column.step,
        time_step=column.time_step,
        values=None if column.values is None else _resolve_values(column, kind, bounds),
        nulls=column.nulls,
    )


# --------------------------------------------------------------------------- bounds and steps


def _resolve_bounds(column: ColumnDeclaration, kind: Kind) -> Bounds | Auto | None:
    location = column.location.at("bounds")
    if column.bounds is None:
        return None
    if isinstance(column.bounds, Auto):
        if not kind.is_number:
            rule = f'cannot be "AUTO" for a {kind.value} column: Discreet finds bounds of numbers'
            raise location.invalid(rule, "Remove it")
        return AUTO
    if not (kind.is_number or kind.is_time):
        fix = "Remove it. If there are few values and you know them, list them as values"
        raise location.invalid(f"cannot be given for a {kind.value} column", fix)
    low, high = (_end(location.at(i), end, kind) for i, end in enumerate(column.bounds))
    return _range(location, low, high)


def _range(location: Location, low: Fraction, high: Fraction) -> Bounds:
    if low == high:
        fix = "The upper bound must be greater than the lower one: bounds = [0, 120]"
        raise location.error(f"{location.fact} are equal", fix)
    if low > high:
        fix = "Put the lower bound first: bounds = [0, 120]"
        raise location.error(f"{location.fact} are in the wrong order", fix)
    if high - low > LARGEST:
        raise location.invalid("must not be wider than 1e300", BOUNDS_FIX)
    return Bounds(low=low, high=high)


def _end(location: Location, value: object, kind: Kind) -> Fraction:
    if kind.is_time:
        moment = _moment(location, value, kind, BOUNDS_FIX)
        number = number_from_time(moment)
        # A day as the upper bound of timestamps includes the whole day.
        is_whole_day = location.path[-1] == 1 and not isinstance(time_from(value), datetime)
        is_long = is_whole_day and kind is not Kind.DATE
        return number + (timedelta(days=1) // MICROSECOND - 1 if is_long else 0)
    number = check_number(location, value, BOUNDS_FIX)
    if kind is Kind.INTEGER and number.denominator != 1:
        rule = f"must be a whole number for an integer column, not {value_text(value)}"
        raise location.invalid(rule, BOUNDS_FIX)
    return number


def _moment(location: Location, value: object, kind: Kind, fix: str) -> date:
    """Return a date for a date column, else a timestamp, in UTC if the column has time zones."""
    moment = time_from(value)
    if moment is None or (kind is Kind.DATE and isinstance(moment, datetime)):
        example = "2024-12-31" if kind is Kind.DATE else "2024-12-31T23:59:59"
        rule = f"must be a {kind.value}, not {value_text(value)}"
        raise location.invalid(rule, f"Write it as {example}")
    if kind is Kind.DATE:
        return moment
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    if kind is Kind.TIMESTAMP and moment.tzinfo is not None:
        rule = "has a UTC offset, but the column has no time zone"
        raise location.invalid(rule, "Remove the offset")
    return _in_utc(location, moment, fix) if kind is Kind.TIMESTAMP_TZ else moment


def _in_utc(location: Location, moment: datetime, fix: str) -> datetime:
    try:
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except OverflowError:
        raise location.invalid("is outside the years 1 to 9999", fix) from None


def _check_step(column: ColumnDeclaration, kind: Kind, bounds: Bounds | Auto | None) -> None:
    location, step = column.location.at("step"), column.step
    if column.time_step is not None:
        _check_time_step(location, column.time_step, kind)
    if step is None:
        return
    if kind.is_time:
        raise location.invalid(f"must be a span of time for a {kind.value} column", TIME_FIX)
    if not kind.is_number:
        raise location.invalid(f"cannot be given for a {kind.value} column", "Remove it")
    if isinstance(bounds, Auto):
        rule = 'needs a declared lower bound, and the bounds are "AUTO"'
        raise location.invalid(rule, "Declare bounds, or remove step")
    if kind is Kind.INTEGER and step.denominator != 1:
        rule = f"must be a whole number for an integer column, not {value_text(step)}"
        raise location.invalid(rule, "Write a whole number, or remove step")
    if bounds is not None and ((steps := (bounds.high - bounds.low) / step).denominator != 1):
        fits = value_text(bounds.low + step * steps.__floor__())
        name = f"{location.path[1]}.{column.name}"
        subject = str(location) if location.is_argument else f"The step {value_text(step)}"
        what = f"{subject} does not divide the bounds of {name} evenly"
        raise location.error(what, f"Change the upper bound to {fits}, or remove step")
    if bounds is not None and steps > MOST_STEPS:
        rule = "is too small: the bounds have more steps than 64 bits can count"
        raise location.invalid(rule, "Write a larger step, or remove step")


def _check_time_step(location: Location, step: Fraction, kind: Kind) -> None:
    if not kind.is_time:
        rule = f"cannot be a span of time for a {kind.value} column"
        raise location.invalid(rule, "Write a number, or remove step")
    if kind is Kind.DATE and step % DAY:
        raise location.invalid("must be whole days for a date column", 'Write "1 day" or more')


# --------------------------------------------------------------------------- values


def _resolve_values(
    column: ColumnDeclaration, kind: Kind, bounds: Bounds | Auto | None
) -> tuple[Value, ...]:
    location = column.location.at("values")
    values = [_value(location.at(i), each, kind) for i, each in enumerate(column.values or ())]
    first: dict[Value, int] = {}
    for i, value in enumerate(values):
        if first.setdefault(value, i) != i:
            rule = f"repeats the value {value_text(value)}"
            raise location.at(i).invalid(rule, "List every value once")
        if isinstance(bounds, Bounds) and not bounds.low <= _as_number(value) <= bounds.high:
            rule = f"is {value_text(value)}, which is outside the bounds of the column"
            raise location.at(i).invalid(rule, "Remove it, or widen the bounds")
    return tuple(values)


def _as_number(value: Value) -> Fraction:
    if isinstance(value, date):
        return number_from_time(value)
    return Fraction(str(value))


def _value(location: Location, value: object, kind: Kind) -> Value:
    fix = f"List values of the column's type, {kind.value}"
    if kind.is_time:
        return _moment(location, value, kind, fix)
    if kind.is_number:
        return _numeric(location, value, kind, fix)
    if kind is Kind.BOOLEAN and isinstance(value, bool):
        return value
    if kind is Kind.TEXT and isinstance(value, str):
        return _encodable(location, value, fix)
    if kind is Kind.OTHER:
        raise location.invalid("cannot be listed for a column of type other", "Remove values")
    raise location.invalid(f"must be {kind.value}, not {value_text(value)}", fix)


def _numeric(location: Location, value: object, kind: Kind, fix: str) -> int | float:
    exact = check_number(location, value, fix)
    if kind is Kind.REAL:
        try:
            return float(exact)
        except OverflowError:
            raise location.invalid("is too large for a floating-point number", fix) from None
    if exact.denominator != 1:
        raise location.invalid(f"must be a whole number, not {value_text(value)}", fix)
    if not -(2**63) <= exact < 2**63:
        raise location.invalid("must be a whole number of at most 64 bits", "Remove it")
    return int(exact)


def _encodable(location: Location, value: str, fix: str) -> str:
    if value == BLANK:
        raise location.invalid("must be filled in", "List all values of the column")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise location.invalid("is not valid UTF-8 text", fix) from None
    return value


# --------------------------------------------------------------------------- privacy units

ROW = "row"
UNITS = (
    'unit = "COLUMN" with the column that identifies the person, unit = "row" to protect each '
    "row separately, or public = true if anyone may see the table"
)
UNIT_FIX = f"Write {UNITS}"
PATH_FIX = 'Write the path as unit = "TABLE.COLUMN via COLUMN_OF_THIS_TABLE"'


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitPath:
    """The privacy unit of a row is that of the row of `table` that `via`, a column here, refers to.

    `column` is the unit's column, in the table where the path ends.
    """

    table: str
    column: str
    via: str | None


UnitDeclaration = RowUnit | ColumnUnit | UnitPath

# A name in quotes may hold anything, as in SQL; a bare one has no dots and no quotes.
_NAME = r'"(?:[^"]|"")+"|[^".]+'
_COLUMN = re.compile(rf"({_NAME})")
_PATH = re.compile(rf'({_NAME})\.("(?:[^"]|"")+"|[^".]+?)(?:\s+via\s+({_NAME}))?')


def unit_from(location: Location, value: object) -> UnitDeclaration:
    """Return the privacy unit that a text declares."""
    text = check_text(location, value, UNIT_FIX).strip()
    if text == ROW:
        return RowUnit()
    if found := _PATH.fullmatch(text):
        table, column, via = (None if each is None else _unquoted(each) for each in found.groups())
        return UnitPath(table=table or "", column=column or "", via=via)
    if not _COLUMN.fullmatch(text):
        raise location.invalid(
            f"is {text!r}, which is neither a column nor a path to one", UNIT_FIX
        )
    if " via " in text and not text.startswith('"'):
        raise location.invalid(f"is {text!r}, a path without a column", PATH_FIX)
    return ColumnUnit(column=_unquoted(text))


def written_unit(column: str, *, table: str | None = None, via: str | None = None) -> str:
    """Return the text that declares a column, or a path to one, as the privacy unit."""
    if table is None:
        return _quoted(column)
    return f"{_quoted(table)}.{_quoted(column)}" + ("" if via is None else f" via {_quoted(via)}")


def _quoted(name: str) -> str:
    is_plain = re.fullmatch(r"\w+( \w+)*", name) and name != ROW and " via " not in f" {name} "
    return name if is_plain else '"' + name.replace('"', '""') + '"'


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name.strip()
