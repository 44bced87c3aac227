"""Facts about the values of expressions: one rule for each function of `functions`.

Rules see the arguments, and their facts, alone: nothing here depends on data.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction

from discreet.catalog.schema import Bounds, Column, Kind, Value, number_from_time
from discreet.query.expressions import intervals
from discreet.query.expressions.intervals import at, between
from discreet.query.tree import ANYWHERE, Case, Expression, Facts, Interval, Literal


def facts_from_column(column: Column) -> Facts:
    """Return what the catalog declares of a column."""
    bounds = column.bounds if isinstance(column.bounds, Bounds) else None
    interval = ANYWHERE if bounds is None else Interval(low=bounds.low, high=bounds.high)
    values = (False, True) if column.kind is Kind.BOOLEAN else column.values
    domain = values if values is None or column.nulls is not True else (*values, None)
    return Facts(
        kind=column.kind,
        interval=interval,
        step=column.step,
        domain=domain,
        nullable=column.nulls is not False,
    )


NUMBER = frozenset({Kind.INTEGER, Kind.REAL})


INTEGER = frozenset({Kind.INTEGER})


REAL = frozenset({Kind.REAL})


TEXT = frozenset({Kind.TEXT})


BOOLEAN = frozenset({Kind.BOOLEAN})


DATE = frozenset({Kind.DATE})


TIME = frozenset({Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_TZ})


PLAIN = NUMBER | TEXT | BOOLEAN | TIME
"""All kinds whose values can be compared and ordered."""


SCALAR = NUMBER | TEXT | BOOLEAN


ANY = frozenset(Kind)


Arguments = tuple[Expression, ...]


Rule = Callable[[Arguments], Facts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """A function of values of one row."""

    name: str
    meaning: str
    """What it gives for every argument; x, y, z are the first three."""
    accepts: tuple[frozenset[Kind], ...]
    """The kinds of each argument; the last stands for all that follow if there can be more."""
    facts: Rule
    optional: int = 0
    """How many of the last arguments may be left out."""
    is_endless: bool = False
    """Whether there can be any number of arguments more."""
    literals: frozenset[int] = frozenset()
    """Which arguments, from 0, must be literals."""
    is_alike: bool = False
    """Whether all arguments are of one kind."""
    is_strict: bool = True
    """Whether it is NULL as soon as one argument is."""


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


def number_facts(kind: Kind, interval: Interval, *, nullable: bool) -> Facts:
    """Return the facts of a number in an interval, NULL where it leaves the type's range."""
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


def perhaps(_: Arguments) -> Facts:
    """Return the facts of a condition that can be NULL by itself."""
    return truth(nullable=True)


def always_known(_: Arguments) -> Facts:
    """Return the facts of a condition that is never NULL."""
    return truth(nullable=False)


def words(argument: Expression) -> str:
    """Return the text that a literal argument states."""
    value = argument.value if isinstance(argument, Literal) else None
    if not isinstance(value, str):
        raise TypeError("a literal text was promised")
    return value


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


def to_boolean(arguments: Arguments) -> Facts:
    """Return the facts of a cast to a condition."""
    x = arguments[0].facts
    return truth(nullable=x.nullable or x.kind is Kind.TEXT)
