"""Ranges cut into equal steps, and expressions for the step at which a value stands."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor

from discreet.catalog.schema import Kind, Value, time_from_number
from discreet.errors import UnboundedError
from discreet.query.expressions.facts import case_of, literal
from discreet.query.expressions.functions import call
from discreet.query.expressions.rejections import argument_text, unbounded, with_clamp
from discreet.query.tree import Case, Expression, Facts, Relation


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueGrid:
    """A range cut into equal steps; values are moved to the nearest of the steps + 1 points."""

    low: Fraction
    high: Fraction
    steps: int

    @property
    def width(self) -> Fraction:
        return self.high - self.low

    @property
    def step(self) -> Fraction:
        return self.width / self.steps


def grid_for(argument: Expression, *, most: int, least: int = 1) -> ValueGrid:
    """Return the steps of an expression's own values, if they are at most `most`, else so many.

    Own steps are cut further until there are `least` of them or more.
    """
    low, high = bounds_of(argument)
    own, grain = native_steps(argument), native_step(argument.facts)
    if own is None or grain is None or own > most:
        return ValueGrid(low=low, high=high, steps=most)
    return ValueGrid(
        low=low, high=low + own * grain, steps=own * min(-(-least // own), most // own)
    )


WIDEST_WHOLE = 2**63 - 1
"""The difference of two whole numbers that are farther apart overflows, and would be NULL."""

WIDEST = 10**200
"""Noise for wider ranges, or narrower than its inverse, may have no size in floating point."""


def bounds_of(
    argument: Expression, text: str = "", rows: Relation | None = None
) -> tuple[Fraction, Fraction]:
    """Return the range that values are clamped to. A single point is widened by 1.

    Raises an error if there is no range; `text` is the aggregate as the query has it, and `rows`
    what it is over.
    """
    low, high = argument.facts.interval.low, argument.facts.interval.high
    if argument.facts.kind is Kind.BOOLEAN:
        low, high = Fraction(0), Fraction(1)
    if low is None or high is None:
        raise unbounded(argument, text, rows)
    if max(abs(low), abs(high)) > WIDEST or 0 < high - low < Fraction(1, WIDEST):
        raise UnboundedError(
            f"The bounds of {argument_text(text)} are beyond 1e200, or less than 1e-200 apart",
            f"Give it a smaller or larger range: {with_clamp(text)}",
        )
    if is_discrete(argument.facts):
        low, high = Fraction(ceil(low)), Fraction(floor(high))
    return low, high if low < high else low + 1


def native_steps(argument: Expression) -> int | None:
    """Return how many steps the expression's own values are apart at most, if they have any."""
    low, high = bounds_of(argument)
    grain = native_step(argument.facts)
    return None if grain is None else ceil((high - low) / grain)


def native_step(facts: Facts) -> Fraction | None:
    """Return what all values are multiples of, counted from the lower bound, if anything."""
    return Fraction(1) if is_discrete(facts) else facts.step


def is_discrete(facts: Facts) -> bool:
    """Return whether values are whole numbers: of things, days or microseconds."""
    return facts.kind in (Kind.INTEGER, Kind.BOOLEAN) or facts.kind.is_time


def quantize(argument: Expression, ruler: ValueGrid) -> Expression:
    """Return the number of the ruler's point that is nearest to a value; NULL for NULL.

    It lies in 0, …, steps whatever the row contains: that is all that privacy rests on.
    """
    away, is_exact = _above_low(argument, ruler)
    times = ruler.steps / ruler.width
    if is_exact and times.denominator == 1:
        return away if times == 1 else call("multiply", away, literal(int(times)))
    real = call("to_real", away) if is_exact else away
    scaled = call("multiply", real, literal(times, Kind.REAL))
    steps = ruler.steps
    if _rounds_within(ruler):
        return call("to_integer", scaled, literal(0), literal(steps))
    whole = call("to_integer", scaled, literal(-steps), literal(2 * steps))
    return call("clamp", whole, literal(0), literal(steps))


def _rounds_within(ruler: ValueGrid) -> bool:
    """Return whether rounding moves no value by as much as half a step beyond the ends.

    Both ends, their difference and the product are off by 2^-53 of themselves at most, in all by
    less than 2^-50 of the largest of them. What goes further is NULL, so that this decides about
    accuracy, not about privacy.
    """
    reach = max(abs(ruler.low), abs(ruler.high), ruler.width)
    return ruler.steps * reach < ruler.width * 2**49


def coarsest(argument: Expression, ruler: ValueGrid) -> tuple[ValueGrid, int]:
    """Return the ruler of the fewest points, and how many times its places are those of this one.

    Values that are counted exactly stand only on points of their own: their places are multiples.
    """
    times = ruler.steps / ruler.width
    if times.denominator > 1 or not _above_low(argument, ruler)[1]:
        return ruler, 1
    return replace(ruler, steps=ruler.steps // times.numerator), times.numerator


def is_given(argument: Expression) -> Case:
    """Return 1 where an expression has a value and 0 where it is NULL."""
    return case_of(((call("is_null", argument), literal(0)),), literal(1))


def _above_low(argument: Expression, ruler: ValueGrid) -> tuple[Expression, bool]:
    """Return how far a value, moved into the range, lies above its low end; whether it is whole."""
    kind = argument.facts.kind
    if kind is Kind.BOOLEAN:
        return call("to_integer", argument, literal(0), literal(1)), True
    low, high = (_end(each, kind) for each in (ruler.low, ruler.high))
    if low is None or high is None or ruler.width > WIDEST_WHOLE:
        argument = call("to_real", argument) if kind is Kind.INTEGER else argument
        kind, low, high = Kind.REAL, ruler.low, ruler.high
    inside = call("clamp", argument, literal(low, kind), literal(high, kind))
    match kind:
        case Kind.DATE:
            return call("days_between", inside, literal(low, kind)), True
        case Kind.TIMESTAMP | Kind.TIMESTAMP_TZ:
            return call("date_diff", literal("microsecond"), literal(low, kind), inside), True
        case _ if low == 0:
            return inside, kind is Kind.INTEGER
        case _:
            return call("subtract", inside, literal(low, kind)), kind is Kind.INTEGER


def _end(number: Fraction, kind: Kind) -> Value:
    """Return an end of a ruler as a value of this kind; None if it has none there."""
    if kind.is_time:
        return time_from_number(number, kind)
    if kind is Kind.INTEGER:
        return int(number) if number.denominator == 1 else None
    return number
