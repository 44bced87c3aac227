"""Keys that tell every unit apart: no group of one unit is ever shown."""

from collections.abc import Sequence

from sqlglot import exp

from discreet.errors import UnsupportedError
from discreet.query.check.relations import Names
from discreet.query.parse import DIALECT, span_of
from discreet.query.questions import DeclaredGroups, Groups, OneUnitEach, UndeclaredGroups
from discreet.query.tree import Call, Expression, Literal, columns_in

SHIFTS = {"add", "subtract", "concat", "concatenate"}
"""Functions that keep different values different if all other arguments are constants."""

FIRST = {"negate", "to_text", "to_real", "decimal", "coalesce"}
"""Functions that do so in their first argument, for values that are not NULL."""


def is_one_to_one(expression: Expression, names: Names) -> bool:
    """Return whether different units always have different values; false if that is not sure."""
    if names.is_unit_or_null(expression):
        return True
    if not isinstance(expression, Call):
        return False
    first, *others = expression.arguments
    if expression.function in FIRST:
        return is_one_to_one(first, names)
    if expression.function == "multiply" and any(_is_zero(each) for each in (first, *others)):
        return False
    if expression.function not in SHIFTS | {"multiply"}:
        return False
    moving = [each for each in (first, *others) if any(True for _ in columns_in(each))]
    fixed = [each for each in (first, *others) if not any(True for _ in columns_in(each))]
    is_known = all(isinstance(each, Literal) and each.value is not None for each in fixed)
    return is_known and len(moving) == 1 and is_one_to_one(moving[0], names)


def _is_zero(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value == 0


def refuse_one_unit_groups(
    keys: Sequence[Expression], nodes: Sequence[exp.Expr], names: Names
) -> None:
    """Reject groups of one unit each: they are never shown, so nothing would be answered."""
    for key, node in zip(keys, nodes, strict=True):
        if not is_one_to_one(key, names):
            continue
        column = next(each for each in columns_in(key) if names.is_unit_or_null(each))
        unit, text = column.name, node.sql(dialect=DIALECT)
        fix = (
            f"Write GROUP BY {unit} in a subquery, and aggregate its rows outside: COUNT(*) "
            f"is then the number of {unit} values"
        )
        if not names.is_unit(column):
            fix = (
                "Join with USING, and write GROUP BY with the shared column in a subquery: "
                f"{unit} is NULL in some rows of the join"
            )
        raise UnsupportedError(
            f"Every group of {text} holds one {unit}, and a group of one {unit} is never shown",
            fix,
            span=span_of(node),
        )


def with_reason(
    groups: Groups, keys: Sequence[Expression], nodes: Sequence[exp.Expr], names: Names
) -> Groups:
    """Return the groups, with the reason why none is shown if each is of one unit."""
    of_one = [
        node.sql(dialect=DIALECT)
        for key, node in zip(keys, nodes, strict=True)
        if names.is_of_one_unit(key)
    ]
    if isinstance(groups, DeclaredGroups) or not of_one:
        return groups
    return UndeclaredGroups(why=OneUnitEach(key=of_one[0]))
