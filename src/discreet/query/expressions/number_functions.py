"""Arithmetic and real functions: their table, and what is known of their results."""

from collections.abc import Callable
from fractions import Fraction

from discreet.catalog.schema import Kind
from discreet.query.expressions import intervals
from discreet.query.expressions.facts import (
    INTEGER,
    NUMBER,
    REAL,
    Arguments,
    Function,
    Rule,
    any_nullable,
    number_facts,
)
from discreet.query.expressions.intervals import at, between
from discreet.query.tree import ANYWHERE, Expression, Facts, Interval, Literal


def arithmetic(
    rule: Callable[..., Interval], kind: Kind | None = None, *, zero: bool = False
) -> Rule:
    """Return the rule of a function of numbers; with `zero` it is NULL if the last one is 0."""

    def facts(arguments: Arguments) -> Facts:
        inner = [each.facts.interval for each in arguments]
        nullable = any_nullable(arguments) or (zero and intervals.has(inner[-1], 0))
        return number_facts(kind or arguments[0].facts.kind, rule(*inner), nullable=nullable)

    return facts


def partial(rule: Callable[[Interval], Interval], domain: Interval, *, is_open: bool) -> Rule:
    """Return the rule of a real function that is NULL outside its domain of definition."""

    def facts(arguments: Arguments) -> Facts:
        x = arguments[0].facts
        inside = intervals.is_within(x.interval, domain)
        inside = inside and not (is_open and intervals.has(x.interval, 0))
        return number_facts(Kind.REAL, rule(x.interval), nullable=x.nullable or not inside)

    return facts


def quotient(a: Interval, b: Interval) -> Interval:
    """Return where the whole part of x / y lies."""
    return intervals.truncated(intervals.divide(a, b), 0)


def to_digits(rule: Callable[[Interval, int], Interval]) -> Rule:
    """Return the rule of rounding to a literal number of decimal digits."""

    def facts(arguments: Arguments) -> Facts:
        x, digits = arguments[0].facts, integer(arguments[1])
        return number_facts(x.kind, rule(x.interval, digits), nullable=x.nullable)

    return facts


def decimal(arguments: Arguments) -> Facts:
    """Return the facts of an integer divided by a literal power of ten."""
    x, digits = arguments[0].facts, integer(arguments[1])
    interval = intervals.multiply(x.interval, at(Fraction(1, 10**digits)))
    return Facts(kind=Kind.REAL, interval=interval, nullable=x.nullable)


def integer(argument: Expression) -> int:
    """Return the integer that a literal argument states."""
    value = argument.value if isinstance(argument, Literal) else None
    if not isinstance(value, int):
        raise TypeError("a literal integer was promised")
    return value


def logarithm(base: int | None) -> Rule:
    """Return the rule of a logarithm."""
    return partial(lambda x: intervals.log(x, base), between(0, None), is_open=True)


def any_real(_: Arguments) -> Facts:
    """Return the facts of a real of which nothing is known."""
    return Facts(kind=Kind.REAL)


def power(arguments: Arguments) -> Facts:
    """Return the facts of x to the power of y, bounded for a literal y."""
    x, y = arguments
    interval = ANYWHERE
    if isinstance(y, Literal) and isinstance(y.value, Fraction | int):
        interval = intervals.power(x.facts.interval, Fraction(y.value))
    nullable = any_nullable(arguments) or interval == ANYWHERE
    return number_facts(Kind.REAL, interval, nullable=nullable)


# --------------------------------------------------------------------------- rules for casts


def to_integer(arguments: Arguments) -> Facts:
    """Return the facts of a cast to integers between two literals."""
    x, low, high = arguments[0].facts, integer(arguments[1]), integer(arguments[2])
    if x.kind is Kind.BOOLEAN:
        return number_facts(Kind.INTEGER, between(0, 1), nullable=x.nullable)
    interval = intervals.nearest_integer(x.interval)
    nullable = x.nullable or not intervals.is_within(interval, between(low, high))
    # Where nothing of x lies between the ends, all is NULL, and any whole number bounds it.
    bounded = intervals.monotone(interval, lambda end: min(max(end, Fraction(low)), Fraction(high)))
    return number_facts(Kind.INTEGER, bounded, nullable=nullable)


def to_real(arguments: Arguments) -> Facts:
    """Return the facts of a cast to a real."""
    x = arguments[0].facts
    interval = between(0, 1) if x.kind is Kind.BOOLEAN else x.interval
    nullable = x.nullable or x.kind is Kind.TEXT
    return Facts(kind=Kind.REAL, interval=interval, nullable=nullable)


def to_single(arguments: Arguments) -> Facts:
    """Return the facts of a cast to a 32-bit real."""
    x = to_real(arguments)
    slack = Fraction(1, 2**24)
    around = between(1 - slack, 1 + slack)
    return number_facts(Kind.REAL, intervals.multiply(x.interval, around), nullable=x.nullable)


def to_decimal(arguments: Arguments) -> Facts:
    """Return the facts of a cast to a decimal of literal width and scale."""
    x, width, scale = to_real(arguments[:1]), integer(arguments[1]), integer(arguments[2])
    largest = Fraction(10) ** (width - scale)
    interval = intervals.rounded(x.interval, scale)
    fits = intervals.is_within(interval, between(-largest, largest))
    return number_facts(Kind.REAL, interval, nullable=x.nullable or not fits)


ARITHMETIC = (
    Function(
        name="add",
        meaning="x + y; NULL on overflow",
        accepts=(NUMBER, NUMBER),
        facts=arithmetic(intervals.add),
        is_alike=True,
    ),
    Function(
        name="subtract",
        meaning="x - y; NULL on overflow",
        accepts=(NUMBER, NUMBER),
        facts=arithmetic(intervals.subtract),
        is_alike=True,
    ),
    Function(
        name="multiply",
        meaning="x · y; NULL on overflow",
        accepts=(NUMBER, NUMBER),
        facts=arithmetic(intervals.multiply),
        is_alike=True,
    ),
    Function(
        name="divide",
        meaning="x / y in floating point; NULL if y is 0 or on overflow",
        accepts=(REAL, REAL),
        facts=arithmetic(intervals.divide, zero=True),
    ),
    Function(
        name="integer_divide",
        meaning="x / y with the fraction cut off, towards 0; NULL if y is 0 or on overflow",
        accepts=(INTEGER, INTEGER),
        facts=arithmetic(quotient, zero=True),
    ),
    Function(
        name="modulo",
        meaning="x - y · trunc(x / y), of x's sign; NULL if y is 0",
        accepts=(NUMBER, NUMBER),
        facts=arithmetic(intervals.modulo, zero=True),
        is_alike=True,
    ),
    Function(
        name="decimal",
        meaning="x / 10 to the power of y, a real: the floating-point number nearest to a decimal",
        accepts=(INTEGER, INTEGER),
        facts=decimal,
        literals=frozenset({1}),
    ),
    Function(
        name="negate",
        meaning="-x; NULL on overflow",
        accepts=(NUMBER,),
        facts=arithmetic(intervals.negate),
    ),
    Function(
        name="abs",
        meaning="|x|; NULL on overflow",
        accepts=(NUMBER,),
        facts=arithmetic(intervals.absolute),
    ),
    Function(
        name="sign",
        meaning="-1, 0 or 1, an integer",
        accepts=(NUMBER,),
        facts=arithmetic(intervals.sign, Kind.INTEGER),
    ),
    Function(
        name="round",
        meaning="x rounded to y decimal digits, to tens and hundreds if y < 0, halves away from 0; "
        "an integer stays one; NULL on overflow",
        accepts=(NUMBER, INTEGER),
        facts=to_digits(intervals.rounded),
        literals=frozenset({1}),
    ),
    Function(
        name="trunc",
        meaning="x with all but y decimal digits cut off, tens and hundreds too if y < 0; an "
        "integer stays one",
        accepts=(NUMBER, INTEGER),
        facts=to_digits(intervals.truncated),
        literals=frozenset({1}),
    ),
)


REALS = (
    Function(
        name="ceil",
        meaning="the least whole real ≥ x",
        accepts=(REAL,),
        facts=arithmetic(intervals.ceil),
    ),
    Function(
        name="floor",
        meaning="the largest whole real ≤ x",
        accepts=(REAL,),
        facts=arithmetic(intervals.floor),
    ),
    Function(
        name="sqrt",
        meaning="the square root of x; NULL if x < 0",
        accepts=(REAL,),
        facts=partial(intervals.sqrt, between(0, None), is_open=False),
    ),
    Function(
        name="exp",
        meaning="e to the power of x; NULL on overflow",
        accepts=(REAL,),
        facts=arithmetic(intervals.exp),
    ),
    Function(
        name="power",
        meaning="x to the power of y; NULL on overflow, for 0 to a negative power and for a "
        "negative number to a power that is not whole",
        accepts=(REAL, REAL),
        facts=power,
    ),
    Function(
        name="ln",
        meaning="the natural logarithm of x; NULL if x ≤ 0",
        accepts=(REAL,),
        facts=logarithm(None),
    ),
    Function(
        name="log2",
        meaning="the logarithm of x to the base 2; NULL if x ≤ 0",
        accepts=(REAL,),
        facts=logarithm(2),
    ),
    Function(
        name="log10",
        meaning="the logarithm of x to the base 10; NULL if x ≤ 0",
        accepts=(REAL,),
        facts=logarithm(10),
    ),
    Function(
        name="log",
        meaning="the logarithm of y to the base x, as log10(y) / log10(x); NULL if x ≤ 0, y ≤ 0 or "
        "x = 1",
        accepts=(REAL, REAL),
        facts=any_real,
    ),
)
