"""Values of a column that stand for all others, where expressions of it are step functions.

`FLOOR(x / 10)` changes at multiples of 10, `DATE_TRUNC('month', t)` where a month begins, `x > 5`
at 5. Between two such cuts nothing changes. So the cuts, their neighbours and a value between any
two of them give all values that the expressions can have, together: an engine that evaluates them
there needs no other rule, and rounding is its own. There may be more cuts than changes.
"""

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction

from discreet.catalog.schema import Kind, Value, time_from_number
from discreet.query.expressions import intervals
from discreet.query.expressions.facts import number_of, words
from discreet.query.expressions.intervals import at
from discreet.query.expressions.number_functions import integer
from discreet.query.expressions.time_functions import DAY, finest_unit, starts_between
from discreet.query.tree import (
    Call,
    Case,
    ColumnOf,
    Expression,
    Facts,
    Interval,
    Literal,
    columns_in,
)

MOST_CUTS = 100_000
"""More are not listed."""


Cuts = frozenset[Fraction]


Line = tuple[Fraction, Fraction]
"""Slope and offset of a linear function of the column."""


HALF = Fraction(1, 2)


def cuts_of(expression: Expression, column: ColumnOf) -> Cuts | None:
    """Return where the expression can change as the column grows from bound to bound.

    None if it is no step function of the column, as far as can be seen, or has too many steps.
    """
    if column not in columns_in(expression):
        return frozenset()
    match expression:
        case Call(arguments=arguments):
            parts = arguments
        case Case(branches=branches, otherwise=otherwise):
            parts = (*(each for pair in branches for each in pair), otherwise)
        case _:
            return None
    found = _together(cuts_of(each, column) for each in parts)
    if found is None and isinstance(expression, Call) and expression.function in STEPS:
        return STEPS[expression.function](expression, column)
    return found


def _together(parts: Iterable[Cuts | None]) -> Cuts | None:
    found: set[Fraction] = set()
    for each in parts:
        if each is None or len(found) > MOST_CUTS:
            return None
        found |= each
    return frozenset(found) if len(found) <= MOST_CUTS else None


# --------------------------------------------------------------------------- step functions


def _at(values: Callable[[Interval], Iterable[Fraction] | None], argument: int = 0) -> "Step":
    """Return the rule of a function that changes where its argument has one of these values."""

    def cuts(call: Call, column: ColumnOf) -> Cuts | None:
        inner = call.arguments[argument]
        others = (each for n, each in enumerate(call.arguments) if n != argument)
        if any(column in columns_in(each) for each in others):
            return None
        return _crossings(inner, column, values)

    return cuts


Step = Callable[[Call, ColumnOf], Cuts | None]


def _crossings(
    inner: Expression, column: ColumnOf, values: Callable[[Interval], Iterable[Fraction] | None]
) -> Cuts | None:
    """Return where an expression that is made of lines reaches one of these values."""
    lines = _lines(inner, column)
    if lines is None:
        return None
    found: set[Fraction] = set()
    for slope, offset in lines:
        along = intervals.add(intervals.multiply(column.facts.interval, at(slope)), at(offset))
        reached = values(along if _is_bounded(along) else inner.facts.interval)
        if reached is None:
            return None
        found.update((each - offset) / slope for each in reached)
    return frozenset(found)


def _is_bounded(a: Interval) -> bool:
    return a.low is not None and a.high is not None


def _multiples(a: Interval, step: Fraction, first: Fraction = Fraction(0)) -> list[Fraction] | None:
    """Return first, first + step, ..., and so backwards, as far as they lie in the interval."""
    if a.low is None or a.high is None:
        return None
    low, high = math.ceil((a.low - first) / step), math.floor((a.high - first) / step)
    if high - low >= MOST_CUTS:
        return None
    return [first + number * step for number in range(low, high + 1)]


def _wholes(a: Interval) -> list[Fraction] | None:
    return _multiples(a, Fraction(1))


def _halves(a: Interval) -> list[Fraction] | None:
    return _multiples(a, Fraction(1), HALF)


def _to_digits(call: Call, column: ColumnOf) -> Cuts | None:
    """ROUND and TRUNC to a literal number of digits."""
    unit = Fraction(10) ** -max(-400, min(400, integer(call.arguments[-1])))
    first = Fraction(0) if call.function == "trunc" else unit / 2
    return _crossings(call.arguments[0], column, lambda a: _multiples(a, unit, first))


def _quotient(call: Call, column: ColumnOf) -> Cuts | None:
    divisor = _number(call.arguments[1])
    if not divisor:
        return None
    return _crossings(call.arguments[0], column, lambda a: _multiples(a, abs(divisor)))


def _compared(call: Call, column: ColumnOf) -> Cuts | None:
    """Comparisons of an expression with literals, and IN."""
    varying = [each for each in call.arguments if column in columns_in(each)]
    others = [each for each in call.arguments if not isinstance(each, Literal)]
    if len(varying) != 1 or len(others) != 1:
        return None
    numbers = [each for each in map(_number, call.arguments) if each is not None]
    return _crossings(varying[0], column, lambda _: numbers)


def _of_time(call: Call, column: ColumnOf) -> Cuts | None:
    """Parts and units of time; of two times, one must be a literal."""
    unit = finest_unit(call)
    times = [each for each in call.arguments if each.facts.kind.is_time]
    varying = [each for each in times if column in columns_in(each)]
    fixed = [each for each in times if isinstance(each, Literal)]
    if unit is None or len(varying) != 1 or len(varying) + len(fixed) != len(times):
        return None
    size = DAY if varying[0].facts.kind is Kind.DATE else 1

    def starts(a: Interval) -> list[Fraction] | None:
        if a.low is None or a.high is None:
            return None
        found = starts_between(Interval(low=a.low * size, high=a.high * size), unit, MOST_CUTS)
        return None if found is None else [each / size for each in found]

    return _crossings(varying[0], column, starts)


def _bucket(call: Call, column: ColumnOf) -> Cuts | None:
    """Buckets of time begin at multiples of their width."""
    size = DAY if call.arguments[0].facts.kind is Kind.DATE else 1
    width, first = (Fraction(integer(each), size) for each in call.arguments[1:])
    return _crossings(call.arguments[0], column, lambda a: _multiples(a, width, first))


def _to_integer(call: Call, column: ColumnOf) -> Cuts | None:
    is_number = call.arguments[0].facts.kind.is_number
    return _at(_halves)(call, column) if is_number else None


def _to_date(call: Call, column: ColumnOf) -> Cuts | None:
    return _of_time(call, column) if call.arguments[0].facts.kind.is_time else None


COMPARISONS = (
    *("equal", "not_equal", "less", "less_or_equal", "greater", "greater_or_equal"),
    *("distinct", "not_distinct", "in"),
)


def _of_wholes(call: Call, column: ColumnOf) -> Cuts | None:
    """Integers and days with bounds, as of LEAST and CLAMP, change from one to the next."""
    if call.facts.kind not in (Kind.INTEGER, Kind.DATE):
        return None
    return _crossings(call, column, lambda _: _wholes(call.facts.interval))


STEPS: dict[str, Step] = {
    "floor": _at(_wholes),
    "ceil": _at(_wholes),
    "sign": _at(lambda _: [Fraction(0)]),
    "round": _to_digits,
    "trunc": _to_digits,
    "to_decimal": _to_digits,
    "to_integer": _to_integer,
    "integer_divide": _quotient,
    "to_date": _to_date,
    "time_bucket": _bucket,
    **dict.fromkeys(("date_trunc", "date_part", "date_diff"), _of_time),
    **dict.fromkeys(COMPARISONS, _compared),
    "is_null": _at(lambda _: []),
    **dict.fromkeys(("least", "greatest", "clamp"), _of_wholes),
}
"""Functions that change only at some values of their argument."""


# --------------------------------------------------------------------------- lines


def _lines(expression: Expression, column: ColumnOf) -> list[Line] | None:
    """Return linear functions of the column of which the expression is one, everywhere.

    It is continuous, so it passes a value only where one of them does.
    """
    if expression == column:
        return [(Fraction(1), Fraction(0))]
    if not isinstance(expression, Call) or expression.function not in LINES:
        return None
    if expression.function in CHOSEN:
        choices = [each for each in expression.arguments if not isinstance(each, Literal)]
        found = [_lines(each, column) for each in choices]
        if None in found:
            return None
        return [line for each in found if each is not None for line in each]
    varying = [n for n, each in enumerate(expression.arguments) if not isinstance(each, Literal)]
    inner = _lines(expression.arguments[varying[0]], column) if len(varying) == 1 else None
    change = LINES[expression.function](expression) if inner is not None else None
    if inner is None or change is None:
        return None
    return [(a * slope, a * offset + b) for slope, offset in inner for a, b in change]


def _number(expression: Expression) -> Fraction | None:
    return number_of(expression.value) if isinstance(expression, Literal) else None


def _stated(call: Call) -> Fraction:
    """Return the literal of a function of two; 0 if it has none or it is no number."""
    return next((each for each in map(_number, call.arguments) if each is not None), Fraction(0))


def _is_first(call: Call) -> bool:
    return isinstance(call.arguments[0], Literal)


Change = list[Line] | None


def _difference(call: Call) -> Change:
    number = _stated(call)
    return [(Fraction(-1), number)] if _is_first(call) else [(Fraction(1), -number)]


def _product(call: Call) -> Change:
    number = _stated(call)
    return [(number, Fraction(0))] if number else None


def _ratio(call: Call) -> Change:
    number = _stated(call)
    return [(1 / number, Fraction(0))] if number and not _is_first(call) else None


def _decimal(call: Call) -> Change:
    return [(Fraction(1, 10 ** integer(call.arguments[1])), Fraction(0))]


def _real(call: Call) -> Change:
    return SAME if call.arguments[0].facts.kind.is_number else None


def _moment(call: Call) -> Change:
    kind = call.arguments[0].facts.kind
    if not kind.is_time:
        return None
    return [(Fraction(DAY), Fraction(0))] if kind is Kind.DATE else SAME


def _shifted(call: Call) -> Change:
    months, days, rest = map(integer, call.arguments[1:])
    start = _moment(call)
    return None if months or start is None else [(a, Fraction(days * DAY + rest)) for a, _ in start]


def _seconds(call: Call) -> Change:
    size = DAY if call.arguments[1].facts.kind is Kind.DATE else 1
    is_epoch = words(call.arguments[0]) == "epoch"
    return [(Fraction(size, 1_000_000), Fraction(0))] if is_epoch else None


SAME: list[Line] = [(Fraction(1), Fraction(0))]


CHOSEN = frozenset({"coalesce", "greatest", "least", "clamp"})
"""Functions that give one of their arguments."""


LINES: dict[str, Callable[[Call], Change]] = {
    "add": lambda call: [(Fraction(1), _stated(call))],
    "add_days": lambda call: [(Fraction(1), _stated(call))],
    "subtract": _difference,
    "days_between": _difference,
    "multiply": _product,
    "divide": _ratio,
    "decimal": _decimal,
    "negate": lambda _: [(Fraction(-1), Fraction(0))],
    "abs": lambda _: [(Fraction(1), Fraction(0)), (Fraction(-1), Fraction(0))],
    "to_real": _real,
    "to_single": _real,
    "to_timestamp": _moment,
    "add_interval": _shifted,
    "date_part": _seconds,
    **dict.fromkeys(CHOSEN, lambda _: SAME),
}
"""What functions of one expression, and of literals, make of a line."""


# --------------------------------------------------------------------------- values


LARGEST = Fraction(sys.float_info.max)
"""No real number is larger."""

FARTHEST = Fraction(2**63)
"""Integers lie below it, and not below its opposite."""


def values_around(facts: Facts, cuts: Iterable[Fraction]) -> tuple[Value, ...]:
    """Return values between the bounds, in order: on, beside and between all cuts."""
    cuts = sorted(cuts)
    low, high = facts.interval.low, facts.interval.high
    if not cuts and (low is None or high is None):
        return ()
    low = cuts[0] - abs(cuts[0]) - 1 if low is None else low
    high = max(low, cuts[-1] + abs(cuts[-1]) + 1 if high is None else high)
    if facts.kind is Kind.INTEGER:  # a column holds no others, whatever it is compared with
        low, high = (min(max(each, -FARTHEST), FARTHEST - 1) for each in (low, high))
    inside = sorted({low, high, *(each for each in cuts if low <= each <= high)})
    if facts.kind is Kind.REAL:
        return _reals([float(min(max(each, -LARGEST), LARGEST)) for each in inside])
    numbers = {
        near
        for each in inside
        for near in (math.floor(each) - 1, math.floor(each), math.ceil(each), math.ceil(each) + 1)
        if low <= near <= high
    }
    if facts.kind is Kind.INTEGER:
        return tuple(sorted(numbers))
    times = (time_from_number(Fraction(each), facts.kind) for each in sorted(numbers))
    return tuple(each for each in times if each is not None)


def _reals(points: list[float]) -> tuple[float, ...]:
    return tuple(sorted({each for each in _near(points) if points[0] <= each <= points[-1]}))


def _near(points: list[float]) -> Iterator[float]:
    for number, each in enumerate(points):
        yield from (each, math.nextafter(each, -math.inf), math.nextafter(each, math.inf))
        if number:
            yield each / 2 + points[number - 1] / 2
