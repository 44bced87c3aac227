"""ROW_NUMBER over the rows of a unit: how many rows of it a condition on the number lets pass.

ROW_NUMBER() OVER (PARTITION BY unit ...) gives the rows of a unit the numbers 1, 2, 3, ..., each
once, whatever the data. So no more rows of a unit pass `number <= k` than k, and none of them need
be cut. RANK and DENSE_RANK give rows that tie one number, so they bound nothing.
"""

from collections.abc import Iterator
from dataclasses import replace

from discreet.query.check.joins import Joined
from discreet.query.check.relations import Names
from discreet.query.expressions.narrowing import MIRRORED
from discreet.query.questions import NumberedRows, OneRowPerUnit
from discreet.query.tree import Call, ColumnOf, Expression, Literal, Window, WindowFunction


def is_row_number(expression: Expression) -> bool:
    """Return whether an expression numbers all rows of a unit, each with a number of its own."""
    return (
        isinstance(expression, Window)
        and expression.function is WindowFunction.ROW_NUMBER
        and not expression.partition
    )


def picked_by_where(joined: Joined, where: Expression | None, names: Names) -> Joined:
    """Return rows with the limit that WHERE sets by numbers that an inner query gave them.

    A join would repeat a number, so the rows must be those of one relation.
    """
    if where is None or joined.joins:
        return joined
    columns = [part for part in _tested(where) if _is_numbered(part, names)]
    return _picked(joined, where, columns)


def picked_by_qualify(joined: Joined, qualify: Expression | None) -> Joined:
    """Return rows with the limit that QUALIFY sets; the rows that joins make are numbered."""
    if qualify is None:
        return joined
    return _picked(joined, qualify, [part for part in _tested(qualify) if is_row_number(part)])


def _is_numbered(expression: Expression, names: Names) -> bool:
    out = names.out(expression) if isinstance(expression, ColumnOf) else None
    return out is not None and out.is_row_number


def _picked(joined: Joined, condition: Expression, numbers: list[Expression]) -> Joined:
    found = [
        rows
        for each in _conjuncts(condition)
        if isinstance(each, Call) and (rows := _most(each, numbers)) is not None
    ]
    limit = min(found, default=None)
    if limit is None or joined.one_row_per_unit:
        return joined
    if limit <= 1:
        reason = OneRowPerUnit()
        return replace(joined, contribution_limit=1, one_row_per_unit=True, reason=reason)
    if limit >= joined.contribution_limit:
        return joined
    return replace(joined, contribution_limit=limit, reason=NumberedRows(rows=limit))


def _tested(condition: Expression) -> Iterator[Expression]:
    for each in _conjuncts(condition):
        if isinstance(each, Call):
            yield from each.arguments


def _conjuncts(condition: Expression) -> Iterator[Expression]:
    if isinstance(condition, Call) and condition.function == "and":
        for each in condition.arguments:
            yield from _conjuncts(each)
    else:
        yield condition


def _most(test: Call, numbers: list[Expression]) -> int | None:
    """Return how many of the numbers 1, 2, 3, ... pass a test, if that is known and limited."""
    first, *others = test.arguments
    if test.function == "in" and first in numbers:
        values = [_integer(each) for each in others]
        return None if None in values else len(set(values))
    if test.function not in MIRRORED or len(others) != 1:
        return None
    function, number, constant = test.function, first, others[0]
    if number not in numbers:
        function, number, constant = MIRRORED[function], constant, number
    value = _integer(constant)
    if number not in numbers or value is None:
        return None
    highest = {"equal": 1, "not_distinct": 1, "less": value - 1, "less_or_equal": value}
    return highest.get(function)


def _integer(expression: Expression) -> int | None:
    value = expression.value if isinstance(expression, Literal) else None
    return value if type(value) is int else None
