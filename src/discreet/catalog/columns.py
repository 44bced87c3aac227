"""A declared column, before and after its kind is known."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from discreet.catalog.fields import (
    BLANK,
    LARGEST,
    a_flag,
    a_list,
    a_number,
    a_section,
    a_time,
    meant,
    told,
)
from discreet.catalog.places import Place
from discreet.catalog.policy import nearest
from discreet.catalog.schema import AUTO, Auto, Bounds, Column, Kind, Value
from discreet.catalog.times import MICROSECOND, number_from_time

KEYS = ("type", "bounds", "step", "values", "nulls")

KINDS = {each.value: each for each in Kind if each is not Kind.INTERVAL}
"""What a column's type may be called: spans of time stand in expressions only."""

MEANT = {
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
"""What other systems call our kinds: used to say what is meant, never to guess it."""

MOST_STEPS = 2**63
BOUNDS_FIX = "write bounds = [low, high], the range that values can have at all"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredColumn:
    """What the owner says of a column; what bounds and values mean depends on its kind."""

    name: str
    place: Place
    kind: Kind | None = None
    bounds: tuple[object, object] | Auto | None = None
    step: Fraction | None = None
    values: tuple[object, ...] | None = None
    nulls: bool | None = None


def declared_column(place: Place, name: str, value: object) -> DeclaredColumn:
    """Return what an entry of [tables.NAME.columns] declares, checked as far as it can be."""
    entries = a_section(place, value, KEYS)
    column = DeclaredColumn(
        name=name,
        place=place,
        kind=_kind(place.at("type"), entries["type"]) if "type" in entries else None,
        bounds=_pair(place.at("bounds"), entries["bounds"]) if "bounds" in entries else None,
        step=_step(place.at("step"), entries["step"]) if "step" in entries else None,
        values=_list(place.at("values"), entries["values"]) if "values" in entries else None,
        nulls=a_flag(place.at("nulls"), entries["nulls"]) if "nulls" in entries else None,
    )
    if (kind := column.kind or _likely_kind(column)) is not None:
        settled(column, kind)
    return column


def _kind(place: Place, value: object) -> Kind:
    if isinstance(value, Kind) and value in KINDS.values():
        return value
    if isinstance(value, str) and value in KINDS:
        return KINDS[value]
    names = ", ".join(f'"{name}"' for name in KINDS)
    near = None
    if isinstance(value, str):
        near = MEANT.get(value.casefold()) or nearest(value, list(KINDS))
    fix = "write one of these" if near is None else meant(near)
    raise place.refused(f"must be one of {names}, not {told(value)}", fix)


def _pair(place: Place, value: object) -> tuple[object, object] | Auto:
    if value in ("AUTO", AUTO):
        return AUTO
    ends = a_list(place, value, BOUNDS_FIX)
    if len(ends) != 2:
        raise place.refused(f"must have a low and a high end, not {len(ends)} items", BOUNDS_FIX)
    return (ends[0], ends[1])


def _step(place: Place, value: object) -> Fraction:
    fix = "write the step between values, as 0.01 for money, or leave it out"
    step = a_number(place, value, fix)
    if step <= 0:
        raise place.refused(f"must be more than 0, not {told(value)}", fix)
    return step


def _list(place: Place, value: object) -> tuple[object, ...]:
    fix = "list all the values that there are, or leave it out"
    items = a_list(place, value, fix)
    if not items:
        raise place.refused("must list at least one value", fix)
    for i, item in enumerate(items):
        if item is None:
            raise place.at(i).refused("is NULL", "write nulls = true for a column that has NULLs")
    return items


def _likely_kind(column: DeclaredColumn) -> Kind | None:
    """Return the kind that allows most of what was written, so that mistakes show early."""
    if isinstance(column.bounds, Auto) or column.step is not None:
        return Kind.REAL
    if column.bounds is not None:
        times = [a_time(each) for each in column.bounds]
        if None not in times:
            is_date = not any(isinstance(each, datetime) for each in times)
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


def settled(column: DeclaredColumn, kind: Kind) -> Column:
    """Return the column, all that is declared of it being right for this kind."""
    bounds = _settled_bounds(column, kind)
    _check_step(column, kind, bounds)
    return Column(
        name=column.name,
        kind=kind,
        bounds=bounds,
        step=column.step,
        values=None if column.values is None else _settled_values(column, kind, bounds),
        nulls=column.nulls,
    )


# --------------------------------------------------------------------------- bounds and steps


def _settled_bounds(column: DeclaredColumn, kind: Kind) -> Bounds | Auto | None:
    place = column.place.at("bounds")
    if column.bounds is None:
        return None
    if isinstance(column.bounds, Auto):
        if not kind.is_number:
            rule = f'cannot be "AUTO" for a {kind.value} column: only numbers have bounds to find'
            raise place.refused(rule, "leave it out")
        return AUTO
    if not (kind.is_number or kind.is_time):
        fix = "leave it out, and list values instead if they are few and known"
        raise place.refused(f"cannot be given for a {kind.value} column", fix)
    low, high = (_end(place.at(i), end, kind) for i, end in enumerate(column.bounds))
    return _range(place, low, high)


def _range(place: Place, low: Fraction, high: Fraction) -> Bounds:
    if low >= high:
        order = "equal" if low == high else "in the wrong order"
        raise place.refused(f"has ends that are {order}: low must be less than high", BOUNDS_FIX)
    if high - low > LARGEST:
        raise place.refused("must not be wider than 1e300", BOUNDS_FIX)
    return Bounds(low=low, high=high)


def _end(place: Place, value: object, kind: Kind) -> Fraction:
    if kind.is_time:
        moment = _moment(place, value, kind, BOUNDS_FIX)
        number = number_from_time(moment)
        # A day as the upper end of a timestamp is meant to its end.
        is_whole_day = place.path[-1] == 1 and not isinstance(a_time(value), datetime)
        is_long = is_whole_day and kind is not Kind.DATE
        return number + (timedelta(days=1) // MICROSECOND - 1 if is_long else 0)
    number = a_number(place, value, BOUNDS_FIX)
    if kind is Kind.INTEGER and number.denominator != 1:
        rule = f"must be whole for an integer column, not {told(value)}"
        raise place.refused(rule, BOUNDS_FIX)
    return number


def _moment(place: Place, value: object, kind: Kind, fix: str) -> date:
    """Return a date for a date column, else a timestamp, in UTC if the column has time zones."""
    moment = a_time(value)
    if moment is None or (kind is Kind.DATE and isinstance(moment, datetime)):
        example = "2024-12-31" if kind is Kind.DATE else "2024-12-31T23:59:59"
        rule = f"must be a {kind.value}, not {told(value)}"
        raise place.refused(rule, f"write it as {example}")
    if kind is Kind.DATE:
        return moment
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day)
    if kind is Kind.TIMESTAMP and moment.tzinfo is not None:
        raise place.refused("has an offset, but the column has no time zone", fix)
    return _in_utc(place, moment, fix) if kind is Kind.TIMESTAMP_TZ else moment


def _in_utc(place: Place, moment: datetime, fix: str) -> datetime:
    try:
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except OverflowError:
        raise place.refused("lies outside the years 1 to 9999", fix) from None


def _check_step(column: DeclaredColumn, kind: Kind, bounds: Bounds | Auto | None) -> None:
    place, step = column.place.at("step"), column.step
    if step is None:
        return
    if not kind.is_number:
        raise place.refused(f"cannot be given for a {kind.value} column", "leave it out")
    if isinstance(bounds, Auto):
        rule = 'needs a lower bound to count from, which "AUTO" does not give'
        raise place.refused(rule, "declare bounds, or leave step out")
    if kind is Kind.INTEGER and step.denominator != 1:
        rule = f"must be whole for an integer column, not {told(step)}"
        raise place.refused(rule, "write a whole number, or leave it out")
    if bounds is not None and ((steps := (bounds.high - bounds.low) / step).denominator != 1):
        fits = told(bounds.low + step * steps.__floor__())
        rule = f"must divide the bounds into whole steps, which {told(step)} does not"
        raise place.refused(rule, f"end the bounds at {fits}, say, or leave step out")
    if bounds is not None and steps > MOST_STEPS:
        rule = "divides the bounds into more steps than 64 bits can count"
        raise place.refused(rule, "write a wider step, or leave it out")


# --------------------------------------------------------------------------- values


def _settled_values(
    column: DeclaredColumn, kind: Kind, bounds: Bounds | Auto | None
) -> tuple[Value, ...]:
    place = column.place.at("values")
    values = [_value(place.at(i), each, kind) for i, each in enumerate(column.values or ())]
    first: dict[Value, int] = {}
    for i, value in enumerate(values):
        if first.setdefault(value, i) != i:
            rule = f"is {told(value)} a second time"
            raise place.at(i).refused(rule, "list every value once")
        if isinstance(bounds, Bounds) and not bounds.low <= _as_number(value) <= bounds.high:
            rule = f"is {told(value)}, which lies outside the column's bounds"
            raise place.at(i).refused(rule, "leave it out, or widen the bounds")
    return tuple(values)


def _as_number(value: Value) -> Fraction:
    if isinstance(value, date):
        return number_from_time(value)
    return Fraction(str(value))


def _value(place: Place, value: object, kind: Kind) -> Value:
    fix = f"list values of the column's kind, {kind.value}"
    if kind.is_time:
        return _moment(place, value, kind, fix)
    if kind.is_number:
        return _numeric(place, value, kind, fix)
    if kind is Kind.BOOLEAN and isinstance(value, bool):
        return value
    if kind is Kind.TEXT and isinstance(value, str):
        return _encodable(place, value, fix)
    if kind is Kind.OTHER:
        raise place.refused("cannot be listed for a column of another kind", "leave values out")
    raise place.refused(f"must be {kind.value}, not {told(value)}", fix)


def _numeric(place: Place, value: object, kind: Kind, fix: str) -> int | float:
    exact = a_number(place, value, fix)
    if kind is Kind.REAL:
        try:
            return float(exact)
        except OverflowError:
            raise place.refused("is beyond what a floating-point number can be", fix) from None
    if exact.denominator != 1:
        raise place.refused(f"must be a whole number, not {told(value)}", fix)
    if not -(2**63) <= exact < 2**63:
        raise place.refused("must be a whole number of 64 bits at most", "leave it out")
    return int(exact)


def _encodable(place: Place, value: str, fix: str) -> str:
    if value == BLANK:
        raise place.refused("is still to be filled in", "list all the values that there are")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise place.refused("is not a text that UTF-8 can hold", fix) from None
    return value
