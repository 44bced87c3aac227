"""Conditions with other numbers, made as the first ones were."""

from collections.abc import Iterator

from sqlglot import exp

from discreet.errors import QuestionError
from discreet.query.expressions.coercion import coerce
from discreet.query.expressions.facts import literal
from discreet.query.expressions.functions import COMPARISONS, call
from discreet.query.tree import Call, ColumnOf, Expression, Literal

TESTS = frozenset(each.name for each in COMPARISONS)

NOWHERE = exp.Null()
"""Stands for the node of a condition in errors, which nobody sees."""


def with_numbers(where: Expression, numbers: Iterator[int]) -> Expression | None:
    """Return comparisons of columns with these whole numbers instead, in their order.

    None if it is anything else, or if a column cannot be compared with its number.
    """
    try:
        return _compared(where, numbers)
    except QuestionError:
        return None


def _compared(where: Expression, numbers: Iterator[int]) -> Expression | None:
    match where:
        case Call(function="and", arguments=arguments):
            found = [_compared(each, numbers) for each in arguments]
            known = [each for each in found if each is not None]
            return call("and", *known) if len(known) == len(found) else None
        case Call(function=name, arguments=(ColumnOf() as column, Literal())) if name in TESTS:
            number = next(numbers, None)
            return None if number is None else coerce(name, (column, literal(number)), NOWHERE)
        case _:
            return None
