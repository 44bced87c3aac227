"""A tree with the values of placeholders in their places.

A value never becomes text that is parsed: the node of a placeholder is replaced by a literal.
"""

from collections.abc import Sequence

from sqlglot import exp

from discreet.errors import PlaceholderError, QuestionSizeError
from discreet.query.parameter_values import (
    NOT_READ,
    NUMBERED,
    Placeholder,
    listed,
    literal_of,
    no_value,
    values_of,
)
from discreet.written import Parameters


def filled(
    tree: exp.Query, found: Sequence[Placeholder], given: Parameters, room: int
) -> exp.Query:
    """Return the tree with literals in place of placeholders.

    Written out they have at most `room` characters.
    """
    values = values_of(found, given)
    for node in list(tree.find_all(exp.Placeholder, exp.Parameter)):
        placeholder = found[_number_of(node)]
        check_place(node, placeholder)
        value = values[placeholder.key]
        literals = [literal_of(each, placeholder) for each in listed(value, placeholder)]
        room -= sum(2 + len(each.sql()) for each in literals)
        if room < 0:
            raise QuestionSizeError(
                "The query is too long with the values of its placeholders",
                "Put long lists into a public table",
                span=placeholder.span,
            )
        if isinstance(value, list | tuple):
            _replace_by_list(node, literals, placeholder)
        else:
            _replace(node, literals[0], placeholder)
    return tree


def _number_of(node: exp.Expr) -> int:
    """Return which placeholder a node is, by the name that its tokens were given."""
    name = str(node.this.name if isinstance(node.this, exp.Expr) else node.this)
    number = name.removeprefix(NUMBERED)
    if number == name or not (number.isascii() and number.isdigit()):
        raise PlaceholderError(*NOT_READ)
    return int(number)


def _replace(node: exp.Expr, literal: exp.Expr, placeholder: Placeholder) -> None:
    parent = node.parent
    if isinstance(parent, exp.In) and parent.args.get("field") is node:
        raise PlaceholderError(
            f"IN {placeholder.shown} takes a list, and its value is none",
            f"Give a list, or write = {placeholder.shown}",
            span=placeholder.span,
        )
    if isinstance(parent, exp.Interval) and isinstance(literal, exp.Literal | exp.Neg):
        literal = _of_interval(literal)
    node.replace(literal)


def _of_interval(literal: exp.Expr) -> exp.Expr:
    """Return a number as an interval has it."""
    is_negative = isinstance(literal, exp.Neg)
    number = literal.this if is_negative else literal
    text = exp.Literal.string(f"-{number.name}" if is_negative else number.name)
    text.meta.update(number.meta)
    return text


def _replace_by_list(
    node: exp.Expr, literals: Sequence[exp.Expr], placeholder: Placeholder
) -> None:
    """Put a list after IN, or in place of = ANY(...) and <> ALL(...)."""
    parent = node.parent
    if isinstance(parent, exp.In):
        if parent.args.get("field") is node:
            parent.set("field", None)
            parent.set("expressions", list(literals))
            return
        if node.arg_key == "expressions":
            at = parent.expressions.index(node)
            kept = parent.expressions
            parent.set("expressions", [*kept[:at], *literals, *kept[at + 1 :]])
            return
    quantified = _quantified(node)
    if quantified is not None:
        found = exp.In(this=quantified.this, expressions=list(literals))
        quantified.replace(exp.Not(this=found) if isinstance(quantified, exp.NEQ) else found)
        return
    raise PlaceholderError(
        f"The value for {placeholder.shown} is a list, which cannot stand here",
        f"Write IN {placeholder.shown} or = ANY({placeholder.shown}), or give a single value",
        span=placeholder.span,
    )


def _quantified(node: exp.Expr) -> exp.Expr | None:
    """Return the comparison x = ANY(node) or x <> ALL(node) around a node."""
    around = node.parent
    while isinstance(around, exp.Paren):
        around = around.parent
    comparison = None if around is None else around.parent
    if comparison is None or comparison.args.get("expression") is not around:
        return None
    is_all = isinstance(around, exp.All) or (
        isinstance(around, exp.Anonymous) and str(around.this).upper() == "ALL"
    )
    if isinstance(comparison, exp.EQ) and isinstance(around, exp.Any):
        return comparison
    return comparison if isinstance(comparison, exp.NEQ) and is_all else None


def check_place(node: exp.Expr, placeholder: Placeholder) -> None:
    """Reject a placeholder where no value can stand."""
    parent, key = node.parent, node.arg_key
    around = parent
    while isinstance(around, exp.Paren | exp.Tuple | exp.Rollup | exp.Cube | exp.GroupingSets):
        around = around.parent
    if isinstance(around, exp.Group | exp.Ordered) or (
        isinstance(around, exp.Distinct) and isinstance(around.parent, exp.Select)
    ):
        raise no_value(placeholder, "as a column to group or order by", "Write the column itself")
    if (
        isinstance(parent, exp.Table | exp.Column | exp.Dot | exp.TableAlias | exp.CTE)
        or key == "alias"
    ):
        raise no_value(placeholder, "in place of a name", "Write the table or column itself")
    if key in PLACES_OF_WORDS or (isinstance(parent, exp.Extract) and key == "this"):
        raise no_value(placeholder, "in place of a unit or a type", "Write the word itself")


NAMED = (exp.Table, exp.Column, exp.Dot, exp.TableAlias, exp.CTE)
"""Nodes that are made of names."""

PLACES_OF_WORDS = {"unit", "to", "zone", "format", "kind", "side", "method", "size", "percent"}
"""Arguments of a node that the parser reads as words."""
