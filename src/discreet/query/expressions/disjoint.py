"""Whether two conditions cannot both be true of a row, as far as the query and the catalog say.

Sound if the catalog is, and not complete. Nothing that protects privacy may rest on it.
"""

from collections.abc import Iterator

from discreet.catalog.schema import Value
from discreet.query.expressions.functions import call
from discreet.query.expressions.narrowing import OPPOSITES, narrow
from discreet.query.tree import Call, Expression, Facts, Literal


def are_disjoint(one: Expression, other: Expression) -> bool:
    """Return whether no row fulfils both conditions."""
    mine, theirs = list(_conjuncts(one)), list(_conjuncts(other))
    return any(_exclude(a, b) for a in mine for b in theirs) or _differ(one, other)


def _conjuncts(condition: Expression) -> Iterator[Expression]:
    """Yield conditions that all hold where this one is true."""
    if isinstance(condition, Call) and condition.function == "and":
        for each in condition.arguments:
            yield from _conjuncts(each)
    else:
        yield condition


def _exclude(one: Expression, other: Expression) -> bool:
    """Return whether one is false or NULL where the other is true, by their form alone."""
    if _opposite(one) == other or _opposite(other) == one:
        return True
    mine, theirs = _values(one), _values(other)
    return (
        mine is not None and theirs is not None and mine[0] == theirs[0] and not mine[1] & theirs[1]
    )


def _opposite(condition: Expression) -> Expression | None:
    if not isinstance(condition, Call):
        return None
    if condition.function in OPPOSITES:
        return call(OPPOSITES[condition.function], *condition.arguments)
    return condition.arguments[0] if condition.function == "not" else None


def _values(condition: Expression) -> tuple[Expression, frozenset[Value]] | None:
    """Return an expression, and the values one of which it has where the condition is true."""
    if not isinstance(condition, Call) or condition.function not in {"equal", "in"}:
        return None
    first, *others = condition.arguments
    values = [each.value for each in others if isinstance(each, Literal)]
    if isinstance(first, Literal) or len(values) < len(others):
        return None
    return first, frozenset(values)


def _differ(one: Expression, other: Expression) -> bool:
    """Return whether some column cannot have the values that both conditions ask for."""
    mine, theirs = narrow(one), narrow(other)
    return any(_are_apart(mine[each], theirs[each]) for each in mine.keys() & theirs.keys())


def _are_apart(one: Facts, other: Facts) -> bool:
    if one.domain is not None and other.domain is not None:
        return not set(one.domain) & set(other.domain)
    if one.nullable and other.nullable:
        return False
    if (None,) in {one.domain, other.domain}:
        return True
    ends = (one.interval.low, one.interval.high, other.interval.low, other.interval.high)
    low, high, least, most = ends
    return (low is not None and most is not None and low > most) or (
        high is not None and least is not None and high < least
    )
