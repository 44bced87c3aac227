"""Facts about the values of expressions: one rule for each function of `functions`.

Rules see the arguments, and their facts, alone: nothing here depends on data.
"""

from collections.abc import Callable, Iterable
from datetime import MAXYEAR, date, datetime
from fractions import Fraction

from discreet.catalog.schema import Kind, Value, number_from_date, number_from_time
from discreet.query.expressions import intervals, moments
from discreet.query.expressions.intervals import at, between
from discreet.query.tree import ANYWHERE, Case, Expression, Facts, Interval, Literal

Arguments = tuple[Expression, ...]
Rule = Callable[[Arguments], Facts]

ONE = Fraction(1)


def literal(value: Value, kind: Kind | None = None) -> Literal:
    """Return a literal; NULL without a kind counts as an integer until it meets another kind."""
    if value is None:
        facts = Facts(kind=kind or Kind.INTEGER, domain=(None,))
        return Literal(value=None, facts=facts)
    found = kind or kind_of(value)
    number = number_of(value)
    facts = Facts(
        kind=found,
        interval=ANYWHERE if number is None else at(number),
        step=step_of(found),
        domain=(value,),
        nullable=False,
    )
    return Literal(value=value, facts=facts)


def kind_of(value: Value) -> Kind:
    """Return the kind of a value that is not NULL."""
    match value:
        case bool():
            return Kind.BOOLEAN
        case int():
            return Kind.INTEGER
        case str():
            return Kind.TEXT
        case datetime():
            return Kind.TIMESTAMP if value.tzinfo is None else Kind.TIMESTAMP_TZ
        case date():
            return Kind.DATE
        case _:
            return Kind.REAL


def number_of(value: Value) -> Fraction | None:
    """Return a number as it is, a time in days or microseconds, and None for all else."""
    if value is None or isinstance(value, bool | str):
        return None
    return number_from_time(value) if isinstance(value, date) else Fraction(value)


def step_of(kind: Kind) -> Fraction | None:
    """Return 1 for kinds whose values are integers of something."""
    return None if kind in (Kind.REAL, Kind.TEXT, Kind.BOOLEAN, Kind.OTHER) else ONE


def case_of(branches: tuple[tuple[Expression, Expression], ...], otherwise: Expression) -> Case:
    """Return a CASE whose values are all of one kind."""
    values = (*(value for _, value in branches), otherwise)
    facts = either(values, nullable=any(each.facts.nullable for each in values))
    return Case(branches=branches, otherwise=otherwise, facts=facts)


# --------------------------------------------------------------------------- rules for facts


def is_null(expression: Expression) -> bool:
    """Return whether the expression is the literal NULL."""
    return isinstance(expression, Literal) and expression.value is None


def any_nullable(arguments: Iterable[Expression]) -> bool:
    """Return whether some argument may be NULL."""
    return any(each.facts.nullable for each in arguments)


def truth(*, nullable: bool) -> Facts:
    """Return the facts of a condition."""
    domain: tuple[Value, ...] = (False, True, None) if nullable else (False, True)
    return Facts(kind=Kind.BOOLEAN, domain=domain, nullable=nullable)


def _number_facts(kind: Kind, interval: Interval, *, nullable: bool) -> Facts:
    limit = intervals.REALS if kind is Kind.REAL else intervals.INTEGERS
    fits = intervals.is_within(interval, limit)
    return Facts(kind=kind, interval=interval, step=step_of(kind), nullable=nullable or not fits)


def either(values: Arguments, *, nullable: bool) -> Facts:
    """Return the facts of one of these values, whichever it is."""
    known = [each.facts for each in values if not is_null(each)]
    kind = known[0].kind if known else values[0].facts.kind
    interval = intervals.hull(*(each.interval for each in known))
    domain = _union([each.facts.domain for each in values], nullable=nullable)
    return Facts(kind=kind, interval=interval, step=step_of(kind), domain=domain, nullable=nullable)


def _union(domains: list[tuple[Value, ...] | None], *, nullable: bool) -> tuple[Value, ...] | None:
    found: dict[Value, None] = {}
    for each in domains:
        if each is None:
            return None
        found.update(dict.fromkeys(each))
    return tuple(each for each in found if nullable or each is not None)


def condition(arguments: Arguments) -> Facts:
    """Return the facts of a condition that is NULL only if an argument is."""
    return truth(nullable=any_nullable(arguments))


def always_known(_: Arguments) -> Facts:
    """Return the facts of a condition that is never NULL."""
    return truth(nullable=False)


def arithmetic(
    rule: Callable[..., Interval], kind: Kind | None = None, *, zero: bool = False
) -> Rule:
    """Return the rule of a function of numbers; with `zero` it is NULL if the last one is 0."""

    def facts(arguments: Arguments) -> Facts:
        inner = [each.facts.interval for each in arguments]
        nullable = any_nullable(arguments) or (zero and intervals.has(inner[-1], 0))
        return _number_facts(kind or arguments[0].facts.kind, rule(*inner), nullable=nullable)

    return facts


def partial(rule: Callable[[Interval], Interval], domain: Interval, *, is_open: bool) -> Rule:
    """Return the rule of a real function that is NULL outside its domain of definition."""

    def facts(arguments: Arguments) -> Facts:
        x = arguments[0].facts
        inside = intervals.is_within(x.interval, domain)
        inside = inside and not (is_open and intervals.has(x.interval, 0))
        return _number_facts(Kind.REAL, rule(x.interval), nullable=x.nullable or not inside)

    return facts


def quotient(a: Interval, b: Interval) -> Interval:
    """Return where the whole part of x / y lies."""
    return intervals.truncated(intervals.divide(a, b), 0)


def to_digits(rule: Callable[[Interval, int], Interval]) -> Rule:
    """Return the rule of rounding to a literal number of decimal digits."""

    def facts(arguments: Arguments) -> Facts:
        x, digits = arguments[0].facts, whole(arguments[1])
        return _number_facts(x.kind, rule(x.interval, digits), nullable=x.nullable)

    return facts


def decimal(arguments: Arguments) -> Facts:
    """Return the facts of an integer divided by a literal power of ten."""
    x, digits = arguments[0].facts, whole(arguments[1])
    interval = intervals.multiply(x.interval, at(Fraction(1, 10**digits)))
    return Facts(kind=Kind.REAL, interval=interval, nullable=x.nullable)


def whole(argument: Expression) -> int:
    """Return the integer that a literal argument states."""
    value = argument.value if isinstance(argument, Literal) else None
    if not isinstance(value, int):
        raise TypeError("a literal integer was promised")
    return value


def words(argument: Expression) -> str:
    """Return the text that a literal argument states."""
    value = argument.value if isinstance(argument, Literal) else None
    if not isinstance(value, str):
        raise TypeError("a literal text was promised")
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
    return _number_facts(Kind.REAL, interval, nullable=nullable)


def clamped(arguments: Arguments) -> Facts:
    """Return the facts of a value that is moved to the nearer of two ends."""
    x, low, high = (each.facts for each in arguments)
    ends = Interval(low=low.interval.low, high=high.interval.high)
    interval = intervals.overlap(ends, x.interval)
    return Facts(kind=x.kind, interval=interval, step=step_of(x.kind), nullable=x.nullable)


def greatest(arguments: Arguments) -> Facts:
    """Return the facts of GREATEST, which skips NULL: only what is never NULL bounds from below."""
    known = _present(arguments)
    around = intervals.hull(*(each.interval for each in known))
    certain = [each.interval for each in known if not each.nullable]
    return _extreme(arguments, intervals.overlap(around, intervals.at_least_all(*certain)))


def least(arguments: Arguments) -> Facts:
    """Return the facts of LEAST, which skips NULL: only what is never NULL bounds from above."""
    known = _present(arguments)
    around = intervals.hull(*(each.interval for each in known))
    certain = [each.interval for each in known if not each.nullable]
    return _extreme(arguments, intervals.overlap(around, intervals.at_most_all(*certain)))


def _present(arguments: Arguments) -> list[Facts]:
    return [each.facts for each in arguments if not is_null(each)] or [arguments[0].facts]


def _extreme(arguments: Arguments, interval: Interval) -> Facts:
    kind = _present(arguments)[0].kind
    nullable = all(each.facts.nullable for each in arguments)
    return Facts(kind=kind, interval=interval, step=step_of(kind), nullable=nullable)


def first_known(arguments: Arguments) -> Facts:
    """Return the facts of the first argument that is not NULL."""
    return either(arguments, nullable=all(each.facts.nullable for each in arguments))


def text(arguments: Arguments) -> Facts:
    """Return the facts of a text that is NULL only if an argument is."""
    return Facts(kind=Kind.TEXT, nullable=any_nullable(arguments))


def joined_text(_: Arguments) -> Facts:
    """Return the facts of a text that is NULL if it would be too long."""
    return Facts(kind=Kind.TEXT, nullable=True)


def count(arguments: Arguments) -> Facts:
    """Return the facts of a number of characters."""
    return Facts(
        kind=Kind.INTEGER, interval=between(0, None), step=ONE, nullable=any_nullable(arguments)
    )


# --------------------------------------------------------------------------- rules for casts


def to_integer(arguments: Arguments) -> Facts:
    """Return the facts of a cast to integers between two literals."""
    x, low, high = arguments[0].facts, whole(arguments[1]), whole(arguments[2])
    if x.kind is Kind.BOOLEAN:
        return _number_facts(Kind.INTEGER, between(0, 1), nullable=x.nullable)
    interval = intervals.nearest_integer(x.interval)
    nullable = x.nullable or not intervals.is_within(interval, between(low, high))
    # Where nothing of x lies between the ends, all is NULL, and any whole number bounds it.
    bounded = intervals.monotone(interval, lambda end: min(max(end, Fraction(low)), Fraction(high)))
    return _number_facts(Kind.INTEGER, bounded, nullable=nullable)


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
    return _number_facts(Kind.REAL, intervals.multiply(x.interval, around), nullable=x.nullable)


def to_decimal(arguments: Arguments) -> Facts:
    """Return the facts of a cast to a decimal of literal width and scale."""
    x, width, scale = to_real(arguments[:1]), whole(arguments[1]), whole(arguments[2])
    largest = Fraction(10) ** (width - scale)
    interval = intervals.rounded(x.interval, scale)
    fits = intervals.is_within(interval, between(-largest, largest))
    return _number_facts(Kind.REAL, interval, nullable=x.nullable or not fits)


def to_boolean(arguments: Arguments) -> Facts:
    """Return the facts of a cast to a condition."""
    x = arguments[0].facts
    return truth(nullable=x.nullable or x.kind is Kind.TEXT)


def to_date(arguments: Arguments) -> Facts:
    """Return the facts of a cast to a date."""
    x = arguments[0].facts
    interval = x.interval if x.kind is Kind.DATE else moments.days(x.interval)
    return _time_facts(Kind.DATE, interval, nullable=x.nullable or x.kind is Kind.TEXT)


def to_timestamp(arguments: Arguments) -> Facts:
    """Return the facts of a cast to a timestamp."""
    x = arguments[0].facts
    interval = moments.moments(x.interval, x.kind)
    return _time_facts(Kind.TIMESTAMP, interval, nullable=x.nullable or x.kind is Kind.TEXT)


# --------------------------------------------------------------------------- rules for times


def _time_facts(kind: Kind, interval: Interval, *, nullable: bool) -> Facts:
    is_safe = interval.low is not None and interval.high is not None
    return Facts(kind=kind, interval=interval, step=ONE, nullable=nullable or not is_safe)


def _moments(argument: Expression) -> Interval:
    return moments.moments(argument.facts.interval, argument.facts.kind)


def _moment_kind(argument: Expression) -> Kind:
    zoned = argument.facts.kind is Kind.TIMESTAMP_TZ
    return Kind.TIMESTAMP_TZ if zoned else Kind.TIMESTAMP


def add_days(arguments: Arguments) -> Facts:
    """Return the facts of a date some days later."""
    day, number = (each.facts.interval for each in arguments)
    return _time_facts(Kind.DATE, intervals.add(day, number), nullable=any_nullable(arguments))


def add_interval(arguments: Arguments) -> Facts:
    """Return the facts of a time moved by months, days and microseconds."""
    x, months, days, microseconds = arguments
    moved = moments.shifted(
        _moments(x), months=whole(months), days=whole(days), microseconds=whole(microseconds)
    )
    return _time_facts(_moment_kind(x), moved, nullable=x.facts.nullable)


def date_trunc(arguments: Arguments) -> Facts:
    """Return the facts of the first moment of a unit of time."""
    unit, x = arguments
    found = moments.truncated(_moments(x), words(unit))
    return _time_facts(_moment_kind(x), found, nullable=x.facts.nullable)


def date_diff(arguments: Arguments) -> Facts:
    """Return the facts of a number of units of time between two times."""
    unit, first, second = arguments
    start, end = (
        intervals.monotone(_moments(each), lambda x: moments.index_of(x, words(unit)))
        for each in (first, second)
    )
    found = intervals.subtract(end, start)
    if words(unit) == "week":
        # Weeks are whole sevens of days, wherever they begin: one off at most.
        found = intervals.add(found, between(-1, 1))
    return _number_facts(Kind.INTEGER, found, nullable=any_nullable(arguments))


PARTS = {
    "microsecond": between(0, 59_999_999),
    "millisecond": between(0, 59_999),
    "second": between(0, 59),
    "minute": between(0, 59),
    "hour": between(0, 23),
    "day": between(1, 31),
    "dow": between(0, 6),
    "isodow": between(1, 7),
    "doy": between(1, 366),
    "week": between(1, 53),
    "month": between(1, 12),
    "quarter": between(1, 4),
    "year": ANYWHERE,
    "isoyear": ANYWHERE,
    "decade": ANYWHERE,
    "century": ANYWHERE,
    "epoch": ANYWHERE,
}
"""The parts of a time, and where each lies at any time."""


def date_part(arguments: Arguments) -> Facts:
    """Return the facts of a part of a time."""
    part, x = words(arguments[0]), arguments[1]
    interval = PARTS[part]
    if interval == ANYWHERE:
        interval = intervals.monotone(_moments(x), lambda moment: _growing_part(moment, part))
    if part in ("month", "quarter"):
        interval = _within_year(_moments(x), part) or interval
    kind = Kind.REAL if part == "epoch" else Kind.INTEGER
    bounded = PARTS[part] != ANYWHERE
    return Facts(
        kind=kind,
        interval=interval,
        step=step_of(kind),
        nullable=x.facts.nullable
        or not (bounded or intervals.is_within(interval, intervals.REALS)),
    )


def _growing_part(microseconds: Fraction, part: str) -> Fraction | int | None:
    if part == "epoch":
        return microseconds / 1_000_000
    moment = moments.moment_at(microseconds)
    if moment is None:
        return None
    return {
        "year": moment.year,
        "isoyear": moment.isocalendar().year,
        "decade": moment.year // 10,
        "century": (moment.year - 1) // 100 + 1,
    }[part]


def _within_year(a: Interval, unit: str) -> Interval | None:
    """Return where months or quarters lie if all is in one year."""
    ends = [None if each is None else moments.moment_at(each) for each in (a.low, a.high)]
    low, high = ends
    if low is None or high is None or low.year != high.year:
        return None
    size = 3 if unit == "quarter" else 1
    return between((low.month - 1) // size + 1, (high.month - 1) // size + 1)


def make_date(arguments: Arguments) -> Facts:
    """Return the facts of a date made of year, month and day."""

    def first(year: Fraction) -> Fraction | None:
        return number_from_date(date(int(year), 1, 1)) if 1 <= year <= MAXYEAR else None

    def last(year: Fraction) -> Fraction | None:
        return number_from_date(date(int(year), 12, 31)) if 1 <= year <= MAXYEAR else None

    year = arguments[0].facts.interval
    interval = Interval(
        low=None if year.low is None else first(year.low),
        high=None if year.high is None else last(year.high),
    )
    return Facts(kind=Kind.DATE, interval=interval, step=ONE, nullable=True)
