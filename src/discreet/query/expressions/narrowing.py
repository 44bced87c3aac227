"""Facts about the rows that satisfy a condition: tighter bounds, fewer values, no NULL."""

import math
import operator
from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from discreet.catalog.schema import Kind, Value
from discreet.query.expressions import intervals, time_functions
from discreet.query.expressions.facts import case_of, number_of
from discreet.query.expressions.functions import FUNCTIONS, call
from discreet.query.tree import Call, Case, ColumnOf, Expression, Facts, Interval, Literal

Narrowed = dict[tuple[str, str], Facts]
"""Facts of columns, by source and name, that hold wherever a condition is true."""

OPPOSITES = {
    "equal": "not_equal",
    "less": "greater_or_equal",
    "greater": "less_or_equal",
    "distinct": "not_distinct",
}
OPPOSITES |= {opposite: name for name, opposite in OPPOSITES.items()}

MIRRORED = {
    "less": "greater",
    "less_or_equal": "greater_or_equal",
    "greater": "less",
    "greater_or_equal": "less_or_equal",
    "equal": "equal",
    "not_equal": "not_equal",
    "not_distinct": "not_distinct",
}

TESTS: dict[str, Callable[[Any, Any], bool]] = {  # values of one kind have one order
    "equal": operator.eq,
    "not_distinct": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_or_equal": operator.le,
    "greater": operator.gt,
    "greater_or_equal": operator.ge,
}


def narrow(where: Expression) -> Narrowed:
    """Return what is known of columns in rows where the condition is true; sound, not complete."""
    if isinstance(where, ColumnOf) and where.facts.kind is Kind.BOOLEAN:
        return _about(where, _one_of(where.facts, (True,)))
    if not isinstance(where, Call):
        return {}
    return _WHERE_TRUE.get(where.function, _narrow_test)(where)


def _narrow_not(condition: Expression) -> Narrowed:
    """Return what is known where the condition is false."""
    if isinstance(condition, ColumnOf) and condition.facts.kind is Kind.BOOLEAN:
        return _about(condition, _one_of(condition.facts, (False,)))
    if not isinstance(condition, Call):
        return {}
    if condition.function in OPPOSITES:
        return narrow(call(OPPOSITES[condition.function], *condition.arguments))
    return _WHERE_FALSE.get(condition.function, _present)(condition)


def _narrow_null(condition: Call) -> Narrowed:
    (column,) = condition.arguments
    if not isinstance(column, ColumnOf):
        return {}
    return _about(column, _one_of(column.facts, (None,)))


def _present(expression: Expression) -> Narrowed:
    """Return that an expression which is not NULL has no NULL in what makes it NULL."""
    match expression:
        case ColumnOf():
            return _about(expression, _not_null(expression.facts))
        case Call() if FUNCTIONS[expression.function].is_strict:
            return _all_of(map(_present, expression.arguments))
        case Call(function="in"):
            return _present(expression.arguments[0])
        case _:
            return {}


def _narrow_test(condition: Call) -> Narrowed:
    """Return what a condition tells that is true: no NULL, and what it compares a column with."""
    present = _present(condition)
    if condition.function not in MIRRORED:
        return present
    left, right = condition.arguments
    if isinstance(left, Literal):
        told = _compare(MIRRORED[condition.function], right, left)
    else:
        told = _compare(condition.function, left, right)
    return _all_of([present, told])


def _narrow_in(condition: Call) -> Narrowed:
    first, *others = condition.arguments
    column = _column_under(first)
    values = _stated(others)
    if column is None or not values:
        return _present(first)
    numbers = [each for each in map(number_of, values) if each is not None]
    facts = _not_null(column.facts)
    if len(numbers) == len(values):
        ends = (min(numbers), max(numbers))
        facts = _bounded(facts, Interval(low=ends[0], high=ends[1]), is_plain=column is first)
    if column is first:
        known = values if facts.domain is None else facts.domain
        chosen = set(values)
        kept = tuple(each for each in dict.fromkeys(known) if each in chosen)
        facts = replace(facts, domain=kept)
    return _about(column, facts)


def _narrow_not_in(condition: Call) -> Narrowed:
    first, *others = condition.arguments
    if not isinstance(first, ColumnOf):
        return _present(first)
    facts = _not_null(first.facts)
    if facts.domain is not None:
        excluded = set(_stated(others))
        facts = replace(facts, domain=tuple(v for v in facts.domain if v not in excluded))
    return _about(first, facts)


def _stated(expressions: Iterable[Expression]) -> tuple[Value, ...]:
    """Return the values of literals, NULL left out; none at all if others are among them."""
    found = tuple(expressions)
    values = [each.value for each in found if isinstance(each, Literal)]
    return tuple(v for v in values if v is not None) if len(values) == len(found) else ()


def _compare(test: str, left: Expression, right: Expression) -> Narrowed:
    column = _column_under(left)
    if column is None or not isinstance(right, Literal):
        return {}
    if right.value is None:
        is_same = test == "not_distinct"
        return _about(column, _one_of(column.facts, (None,))) if is_same else {}
    facts = _not_null(column.facts)
    number = number_of(right.value)
    if number is not None:
        low = number if test in ("equal", "not_distinct", "greater", "greater_or_equal") else None
        high = number if test in ("equal", "not_distinct", "less", "less_or_equal") else None
        allowed = Interval(low=low, high=high)
        is_open = test in ("greater", "less")
        facts = _bounded(facts, allowed, is_plain=column is left, is_open=is_open)
    if column is left:
        facts = _filtered(facts, test, right.value)
    return _about(column, facts)


def _column_under(expression: Expression) -> ColumnOf | None:
    """Return the column that is compared, also through a change of kind that keeps its order."""
    match expression:
        case ColumnOf():
            return expression
        case Call(function="to_real", arguments=(ColumnOf() as column,)):
            return column if column.facts.kind is Kind.INTEGER else None
        case Call(function="to_timestamp", arguments=(ColumnOf() as column,)):
            return column if column.facts.kind is Kind.DATE else None
        case _:
            return None


def _bounded(facts: Facts, allowed: Interval, *, is_plain: bool, is_open: bool = False) -> Facts:
    """Return the facts of values that must lie in an interval, without its ends if it is open."""
    if not is_plain and facts.kind is Kind.DATE:
        allowed = intervals.divide(allowed, intervals.at(time_functions.DAY))
    if facts.step is not None:
        allowed = _on_steps(allowed, facts.interval.low or Fraction(0), facts.step, is_open=is_open)
    return replace(facts, interval=intervals.overlap(facts.interval, allowed))


def _on_steps(a: Interval, origin: Fraction, step: Fraction, *, is_open: bool) -> Interval:
    """Return the interval with its ends moved inwards, to steps from the origin."""
    low, high = a.low, a.high
    if low is not None:
        places = (low - origin) / step
        low = origin + (math.floor(places) + 1 if is_open else math.ceil(places)) * step
    if high is not None:
        places = (high - origin) / step
        high = origin + (math.ceil(places) - 1 if is_open else math.floor(places)) * step
    return Interval(low=low, high=high)


def _filtered(facts: Facts, test: str, value: Value) -> Facts:
    if facts.domain is None:
        return replace(facts, domain=(value,)) if test in ("equal", "not_distinct") else facts
    kept = tuple(each for each in facts.domain if each is not None and TESTS[test](each, value))
    return replace(facts, domain=kept)


def _not_null(facts: Facts) -> Facts:
    domain = facts.domain
    if domain is not None:
        domain = tuple(each for each in domain if each is not None)
    return replace(facts, domain=domain, nullable=False)


def _one_of(facts: Facts, values: tuple[Value, ...]) -> Facts:
    domain = values if facts.domain is None else tuple(v for v in values if v in facts.domain)
    return replace(facts, domain=domain, nullable=None in values)


# --------------------------------------------------------------------------- facts together


def _about(column: ColumnOf, facts: Facts) -> Narrowed:
    return {(column.source, column.name): facts}


def _all_of(parts: Iterable[Narrowed]) -> Narrowed:
    """Return what holds if every part does."""
    found: Narrowed = {}
    for part in parts:
        for key, facts in part.items():
            found[key] = meet(found[key], facts) if key in found else facts
    return found


def _some_of(parts: list[Narrowed]) -> Narrowed:
    """Return what holds if one part does, whichever it is."""
    shared = set.intersection(*(set(each) for each in parts))
    return {key: _join([each[key] for each in parts]) for key in sorted(shared)}


def meet(a: Facts, b: Facts) -> Facts:
    """Return facts that hold if both do, about values of one kind."""
    domain = a.domain if b.domain is None else b.domain
    if a.domain is not None and b.domain is not None:
        others = set(b.domain)
        domain = tuple(each for each in a.domain if each in others)
    return replace(
        a,
        interval=intervals.overlap(a.interval, b.interval),
        domain=domain,
        nullable=a.nullable and b.nullable,
    )


def _join(facts: list[Facts]) -> Facts:
    first = facts[0]
    domain: tuple[Value, ...] | None = None
    known = [each.domain for each in facts if each.domain is not None]
    if len(known) == len(facts):
        domain = tuple(dict.fromkeys(value for each in known for value in each))
    return replace(
        first,
        interval=intervals.hull(*(each.interval for each in facts)),
        domain=domain,
        nullable=any(each.nullable for each in facts),
    )


# --------------------------------------------------------------------------- rebuilding


def with_facts(expression: Expression, narrowed: Narrowed) -> Expression:
    """Return the expression with what is known of its columns taken into account everywhere."""
    match expression:
        case ColumnOf():
            known = narrowed.get((expression.source, expression.name))
            if known is None:
                return expression
            return replace(expression, facts=meet(expression.facts, known))
        case Call():
            arguments = (with_facts(each, narrowed) for each in expression.arguments)
            return call(expression.function, *arguments)
        case Case():
            branches = tuple(
                (known, _under(known, value, narrowed))
                for known, value in (
                    (with_facts(condition, narrowed), value)
                    for condition, value in expression.branches
                )
            )
            return case_of(branches, with_facts(expression.otherwise, narrowed))
        case _:
            return expression


def _under(condition: Expression, value: Expression, narrowed: Narrowed) -> Expression:
    return with_facts(value, _all_of([narrowed, narrow(condition)]))


def case_under(branches: tuple[tuple[Expression, Expression], ...], otherwise: Expression) -> Case:
    """Return a CASE in which each branch's value knows that its condition is true."""
    known = tuple((condition, _under(condition, value, {})) for condition, value in branches)
    return case_of(known, otherwise)


_WHERE_TRUE: dict[str, Callable[[Call], Narrowed]] = {
    "and": lambda condition: _all_of(map(narrow, condition.arguments)),
    "or": lambda condition: _some_of([narrow(each) for each in condition.arguments]),
    "not": lambda condition: _narrow_not(condition.arguments[0]),
    "is_true": lambda condition: narrow(condition.arguments[0]),
    "is_false": lambda condition: _narrow_not(condition.arguments[0]),
    "is_null": _narrow_null,
    "in": _narrow_in,
}
"""What is told by conditions that are true."""

_WHERE_FALSE: dict[str, Callable[[Call], Narrowed]] = {
    "and": lambda condition: _some_of([_narrow_not(each) for each in condition.arguments]),
    "or": lambda condition: _all_of(map(_narrow_not, condition.arguments)),
    "not": lambda condition: narrow(condition.arguments[0]),
    "is_null": lambda condition: _present(condition.arguments[0]),
    "in": _narrow_not_in,
}
"""What is told by conditions that are false."""
