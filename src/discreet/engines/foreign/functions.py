"""The functions that have a total form in a dialect that is generated and not run here.

Whatever the rows hold, none of these may raise an error. Where a dialect has a form that gives NULL
instead, it is used; elsewhere an argument is NULL before the operation could fail, which does not
rest on the order in which parts of a CASE are computed. What is not here is rejected.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from discreet.catalog.schema import Kind
from discreet.engines.dialect import INT64, Function, Range, Template, Written, real_literal
from discreet.engines.templates import COMPARISONS, LOGIC, clamped, hull, plain
from discreet.errors import UnsupportedError

LARGEST = 1.7976931348623157e308
SAFE_REACH = 1e150
"""Reals no farther from 0 have products and quotients that are finite, and sums besides."""

WHOLE_REACH = 2**62
"""Reals no farther from 0 are cast to 64 bits without overflow, however they are rounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """What differs between these dialects."""

    add: str
    subtract: str
    multiply: str
    """Of integers {0} and {1}: NULL on overflow of 64 bits."""
    to_whole: str
    """A real {0} without fraction, well inside 64 bits, as an integer."""
    as_real: str
    year: str = "EXTRACT({0} FROM {1})"
    days_between: str
    """Of the dates {0} and {1}: how many days the first is after the second."""


def within(text: str, reach: float) -> str:
    """Return a real, NULL if it is farther from 0."""
    return f"(CASE WHEN abs({text}) <= {real_literal(reach)} THEN {text} END)"


def finite(text: str) -> str:
    """Return a real, NULL for NaN and infinities, wherever these are in the order of numbers."""
    return within(text, LARGEST)


def functions_of(spelling: Spelling) -> Mapping[str, Function]:
    """Return all that can be written totally."""
    return {**CONDITIONS, **_numbers(spelling), **_times(spelling)}


# --------------------------------------------------------------------------- conditions


def _clamp(arguments: Sequence[Written]) -> str:
    x, low, high = (each.text for each in arguments)
    return f"(CASE WHEN {x} < {low} THEN {low} WHEN {x} > {high} THEN {high} ELSE {x} END)"


def _in(arguments: Sequence[Written]) -> str:
    x, *others = (each.text for each in arguments)
    return f"({x} IN ({', '.join(others)}))"


CONDITIONS: Mapping[str, Function] = {
    **{name: plain(f"({{0}} {sign} {{1}})") for name, sign in COMPARISONS.items()},
    **LOGIC,
    "in": plain(_in),
    "coalesce": Function(template="coalesce({all})", range=hull),
    "clamp": Function(template=_clamp, range=clamped),
}

# --------------------------------------------------------------------------- numbers


def _arithmetic(sign: str, whole: str) -> Template:
    def write(arguments: Sequence[Written]) -> str:
        first, second = arguments
        if first.kind is not Kind.REAL:
            return whole.format(first.text, second.text)
        return f"({_held(first)} {sign} {_held(second)})"

    return write


def _held(argument: Written) -> str:
    """Return a real that no sum or product of two takes beyond the largest one."""
    is_small = argument.reach is not None and argument.reach <= SAFE_REACH
    return argument.text if is_small else within(argument.text, SAFE_REACH)


def _divided(arguments: Sequence[Written]) -> str:
    x, y = arguments
    far = f"abs({y.text}) >= {real_literal(1 / SAFE_REACH)}"
    return f"({_held(x)} / (CASE WHEN {far} THEN {y.text} END))"


def _to_integer(to_whole: str) -> Template:
    """Return a number as a whole one between two ends; a text is rejected."""

    def write(arguments: Sequence[Written]) -> str:
        x, *ends = arguments
        low, high = (each.value for each in ends)
        if not isinstance(low, int) or not isinstance(high, int) or not x.kind.is_number:
            raise UnsupportedError(
                "This dialect can only cast numbers", "Compare texts without a cast"
            )
        least, most = max(low, -WHOLE_REACH), min(high, WHOLE_REACH)
        inside = f"(CASE WHEN {x.text} >= {least} AND {x.text} <= {most} THEN {x.text} END)"
        return inside if x.kind is Kind.INTEGER else to_whole.format(inside)

    return write


def _integer_range(arguments: Sequence[Written]) -> Range:
    low, high = (each.value for each in arguments[1:])
    if not isinstance(low, int) or not isinstance(high, int):
        return INT64
    return max(low, -WHOLE_REACH), min(high, WHOLE_REACH)


def _to_real(as_real: str) -> Template:
    def write(arguments: Sequence[Written]) -> str:
        (x,) = arguments
        if not x.kind.is_number:
            raise UnsupportedError(
                "This dialect can only cast numbers", "Compare texts without a cast"
            )
        return as_real.format(x.text)

    return write


def _to_boolean(arguments: Sequence[Written]) -> str:
    (x,) = arguments
    if not x.kind.is_number:
        raise UnsupportedError("This dialect can only cast numbers", "Compare texts without a cast")
    return f"({x.text} <> 0)"


def _numbers(spelling: Spelling) -> dict[str, Function]:
    return {
        "add": plain(_arithmetic("+", spelling.add)),
        "subtract": plain(_arithmetic("-", spelling.subtract)),
        "multiply": plain(_arithmetic("*", spelling.multiply)),
        "divide": plain(_divided),
        "to_integer": Function(template=_to_integer(spelling.to_whole), range=_integer_range),
        "to_real": plain(_to_real(spelling.as_real)),
        "to_boolean": plain(_to_boolean),
    }


# --------------------------------------------------------------------------- times

PARTS = ("year", "quarter", "month", "day")
"""What is read off a date alike everywhere; weeks and days of the week are counted in many ways."""


def _date_part(template: str) -> Callable[[Sequence[Written]], str]:
    def write(arguments: Sequence[Written]) -> str:
        part, x = arguments
        if part.value not in PARTS or x.kind is not Kind.DATE:
            raise UnsupportedError(
                "This dialect only has the year, quarter, month and day of a date",
                "Use one of them",
            )
        return template.format(str(part.value).upper(), x.text)

    return write


def _times(spelling: Spelling) -> dict[str, Function]:
    return {
        "date_part": Function(template=_date_part(spelling.year), range=lambda _: (0, 10_000)),
        "days_between": Function(template=spelling.days_between, range=lambda _: (-(10**7), 10**7)),
    }
