"""Finds the rule that translates an SQL node. A node without a rule is rejected.

Nodes that are plain functions of their arguments are listed here. The rules of all others are in
`translate`, which registers them; import `translate` and `condition` from there.
"""

from collections.abc import Callable, Iterator
from typing import Protocol

from sqlglot import exp

from discreet.catalog.schema import Kind
from discreet.errors import UnsupportedError
from discreet.query.expressions.coercion import coerce
from discreet.query.expressions.rejections import rejection, written_name
from discreet.query.parse import span_of
from discreet.query.tree import Call, Expression


class NameScope(Protocol):
    """What names mean where an expression stands, and what is decided outside it."""

    def column(self, node: exp.Column) -> Expression:
        """Return the column of this name, or reject."""
        ...

    def window(self, node: exp.Window) -> Expression:
        """Return a function over rows of the same unit, or reject."""
        ...

    def subquery(self, node: exp.Expr) -> Expression:
        """Return EXISTS (...), x IN (SELECT ...) or a scalar subquery, or reject."""
        ...


NodeRule = Callable[[exp.Expr, NameScope], Expression]


TRANSLATIONS: dict[type[exp.Expr], NodeRule] = {}
"""Rules of nodes that are more than a plain function. `query.expressions.translate` adds them."""


def translate(node: exp.Expr, scope: NameScope) -> Expression:
    """Return what a node computes of a row; anything that is not on the list is rejected."""
    found = with_spans(node, scope)
    if is_span(found):
        raise UnsupportedError(
            "The value here is an interval, which is not supported on private rows",
            "Write EXTRACT(epoch FROM ...) to get seconds, or DATE_DIFF('day', earlier, later)",
            span=span_of(node),
        )
    return found


def with_spans(node: exp.Expr, scope: NameScope) -> Expression:
    """Return what a node computes of a row, which may be a span of time that no engine has."""
    while isinstance(node, exp.Paren):
        node = node.this
    rule = TRANSLATIONS.get(type(node))
    if rule is not None:
        return rule(node, scope)
    if type(node) not in PLAIN:
        raise rejection(node)
    name, keys = PLAIN[type(node)]
    return coerce(name, arguments_of(node, keys, scope), node)


SPAN, DIFFERENCE = "span", "difference"
"""The functions by which a span of time is known until something is made of it."""


def is_span(expression: Expression) -> bool:
    """Return whether an expression is a span of time, which engines do not have."""
    return isinstance(expression, Call) and expression.function in (SPAN, DIFFERENCE)


def condition(node: exp.Expr, scope: NameScope) -> Expression:
    """Return a condition on rows, for WHERE, ON and FILTER; numbers other than 0 are true."""
    found = translate(node, scope)
    return found if found.facts.kind is Kind.BOOLEAN else coerce("is_true", (found,), node)


# --------------------------------------------------------------------------- plain functions

PLAIN: dict[type[exp.Expr], tuple[str, tuple[str, ...]]] = {
    exp.Abs: ("abs", ("this",)),
    exp.Sign: ("sign", ("this",)),
    exp.Ceil: ("ceil", ("this",)),
    exp.Floor: ("floor", ("this",)),
    exp.Sqrt: ("sqrt", ("this",)),
    exp.Exp: ("exp", ("this",)),
    exp.Ln: ("ln", ("this",)),
    exp.Pow: ("power", ("this", "expression")),
    exp.Div: ("divide", ("this", "expression")),
    exp.EQ: ("equal", ("this", "expression")),
    exp.NEQ: ("not_equal", ("this", "expression")),
    exp.LT: ("less", ("this", "expression")),
    exp.LTE: ("less_or_equal", ("this", "expression")),
    exp.GT: ("greater", ("this", "expression")),
    exp.GTE: ("greater_or_equal", ("this", "expression")),
    exp.NullSafeEQ: ("not_distinct", ("this", "expression")),
    exp.NullSafeNEQ: ("distinct", ("this", "expression")),
    exp.Not: ("not", ("this",)),
    exp.Coalesce: ("coalesce", ("this", "expressions")),
    exp.Greatest: ("greatest", ("this", "expressions")),
    exp.Least: ("least", ("this", "expressions")),
    exp.Lower: ("lower", ("this",)),
    exp.Upper: ("upper", ("this",)),
    exp.Substring: ("substring", ("this", "start", "length")),
    exp.Left: ("left", ("this", "expression")),
    exp.Right: ("right", ("this", "expression")),
    exp.StartsWith: ("starts_with", ("this", "expression")),
    exp.EndsWith: ("ends_with", ("this", "expression")),
    exp.Contains: ("contains", ("this", "expression")),
    exp.StrPosition: ("position", ("this", "substr")),
    exp.DateFromParts: ("make_date", ("year", "month", "day")),
    exp.Ascii: ("ascii", ("this",)),
    exp.Translate: ("translate", ("this", "from_", "to")),
}
"""Nodes that are a function of their arguments, and sqlglot's names of these, in order."""


WITHOUT_MEANING = frozenset({"safe", "typed", "big_int", "coalesce", "ignore_nulls"})
"""What sqlglot notes about DuckDB's functions themselves."""


def arguments_of(node: exp.Expr, keys: tuple[str, ...], scope: NameScope) -> list[Expression]:
    """Return what these parts of a node compute, and reject a node with any other."""
    check_parts(node, keys)
    return [translate(each, scope) for each in parts_in(node, keys)]


def parts_in(node: exp.Expr, keys: tuple[str, ...]) -> Iterator[exp.Expr]:
    """Yield these parts of a node, lists one by one."""
    for key in keys:
        part = node.args.get(key)
        yield from part if isinstance(part, list) else [] if part is None else [part]


def check_parts(node: exp.Expr, keys: tuple[str, ...]) -> None:
    """Reject a node with any part besides these: nothing is left out unseen."""
    for key, part in node.args.items():
        if key not in keys and key not in WITHOUT_MEANING and part not in (None, False, []):
            raise UnsupportedError(
                f"This form of {written_name(node)} is not supported on private rows",
                "Write it with fewer arguments or keywords",
                span=span_of(node),
            )
