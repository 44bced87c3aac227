"""What an engine would compute of one row, written plainly: the meaning that measures rely on."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

from discreet.query.tree import Call, Case, ColumnOf, Expression, Literal

Row = Mapping[str, Any]


def value_of(expression: Expression, row: Row) -> Any:
    """Return the value of an expression in a row, in exact arithmetic."""
    match expression:
        case ColumnOf(name=name):
            return row[name]
        case Literal(value=value):
            return value
        case Case():
            for condition, result in expression.branches:
                if value_of(condition, row):
                    return value_of(result, row)
            return value_of(expression.otherwise, row)
        case Call(function=name, arguments=arguments):
            values = [value_of(each, row) for each in arguments]
            if name != "is_null" and None in values:
                return None
            return FUNCTIONS[name](values)
    raise NotImplementedError(expression)


def _to_integer(values: Sequence[Any]) -> int | None:
    x, low, high = values
    whole = round(Fraction(x))
    return whole if low <= whole <= high else None


def _clamp(values: Sequence[Any]) -> Any:
    x, low, high = values
    return low if x < low else high if x > high else x


def _days(values: Sequence[date]) -> int:
    return (values[0] - values[1]).days


def _microseconds(values: Sequence[Any]) -> int:
    unit, start, end = values
    assert unit == "microsecond"
    assert isinstance(start, datetime)
    return int((end - start) / timedelta(microseconds=1))


FUNCTIONS: dict[str, Callable[[Sequence[Any]], Any]] = {
    "is_null": lambda values: values[0] is None,
    "clamp": _clamp,
    "add": lambda values: values[0] + values[1],
    "subtract": lambda values: values[0] - values[1],
    "multiply": lambda values: values[0] * values[1],
    "integer_divide": lambda values: int(Fraction(values[0], values[1])),
    "to_real": lambda values: Fraction(values[0]),
    "to_integer": _to_integer,
    "days_between": _days,
    "date_diff": _microseconds,
}


def sums_of(sums: Sequence[Expression], rows: Sequence[Row]) -> list[int]:
    """Return the exact sums of some rows; NULL counts as 0."""
    return [sum(value_of(each, row) or 0 for row in rows) for each in sums]
