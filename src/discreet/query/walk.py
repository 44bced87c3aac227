"""Going through expressions of the tree."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from discreet.query.tree import (
    Call,
    Case,
    ColumnOf,
    Expression,
    Ordering,
    UnitIsIn,
    Window,
)


def columns_in(expression: Expression) -> Iterator[ColumnOf]:
    """Yield every column of the rows at hand that an expression reads, repeats included."""
    for each in parts_of(expression):
        if isinstance(each, ColumnOf):
            yield each


def parts_of(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all that it is made of; columns of inner rows left out."""
    yield expression
    match expression:
        case Call():
            inner = expression.arguments
        case Case():
            pairs = [each for pair in expression.branches for each in pair]
            inner = (*pairs, expression.otherwise)
        case Window():
            order = [each.expression for each in expression.order]
            inner = (*expression.arguments, *expression.partition, *order)
        case UnitIsIn(where=where, name=name):
            outer = () if where is None else parts_of(where)
            yield from (
                each for each in outer if not (isinstance(each, ColumnOf) and each.source == name)
            )
            return
        case _:
            inner = ()
    for each in inner:
        yield from parts_of(each)


def map_columns(expression: Expression, change: Callable[[ColumnOf], Expression]) -> Expression:
    """Return the expression with each of its columns changed; columns of inner rows stay."""

    def go(each: Expression) -> Expression:
        return map_columns(each, change)

    match expression:
        case ColumnOf():
            return change(expression)
        case Call():
            return replace(expression, arguments=tuple(map(go, expression.arguments)))
        case Case():
            branches = tuple((go(condition), go(value)) for condition, value in expression.branches)
            return replace(expression, branches=branches, otherwise=go(expression.otherwise))
        case Window():
            return replace(
                expression,
                arguments=tuple(map(go, expression.arguments)),
                partition=tuple(map(go, expression.partition)),
                order=tuple(_ordering(each, go) for each in expression.order),
            )
        case UnitIsIn(where=where) if where is not None:
            outer_only = _outside(expression.name, change)
            return replace(expression, where=map_columns(where, outer_only))
        case _:
            return expression


def _ordering(ordering: Ordering, change: Callable[[Expression], Expression]) -> Ordering:
    return replace(ordering, expression=change(ordering.expression))


def _outside(
    inner: str, change: Callable[[ColumnOf], Expression]
) -> Callable[[ColumnOf], Expression]:
    return lambda column: column if column.source == inner else change(column)
