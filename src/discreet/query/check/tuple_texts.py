"""One text for several values: the same for the same values only, in which NULL is one of them."""

from collections.abc import Sequence

from sqlglot import exp

from discreet.catalog.schema import Kind
from discreet.query.parse import DIALECT
from discreet.query.tree import Expression

TUPLE_KINDS = set(Kind) - {Kind.OTHER, Kind.INTERVAL}
"""Kinds whose values have one text each."""


def are_tuple_kinds(values: Sequence[Expression]) -> bool:
    """Return whether each of some values has a text of its own."""
    return bool(values) and all(each.facts.kind in TUPLE_KINDS for each in values)


def tuple_text(nodes: Sequence[exp.Expr]) -> exp.Expr:
    """Return the text of several values, never NULL."""
    return _joined([_part(each) for each in nodes])


def when_all_known(text: exp.Expr, nodes: Sequence[exp.Expr]) -> exp.Expr:
    """Return a text, or NULL where one of some values is NULL."""
    known = [exp.Is(this=_bracketed(each), expression=exp.Null()).not_() for each in nodes]
    return exp.Case(ifs=[exp.If(this=exp.and_(*known), true=text)])


def _part(node: exp.Expr) -> exp.Expr:
    """Return a key's text behind its length, which says where it ends; N if it is NULL."""
    text = exp.cast(_bracketed(node), "TEXT", dialect=DIALECT)
    length = exp.cast(exp.Length(this=text.copy()), "TEXT", dialect=DIALECT)
    known = _joined([length, exp.Literal.string(":"), text])
    is_null = exp.Is(this=_bracketed(node), expression=exp.Null())
    return exp.Case(ifs=[exp.If(this=is_null, true=exp.Literal.string("N"))], default=known)


def _bracketed(node: exp.Expr) -> exp.Expr:
    return exp.paren(node.copy(), copy=False)


def _joined(parts: Sequence[exp.Expr]) -> exp.Expr:
    whole = parts[0]
    for each in parts[1:]:
        whole = exp.DPipe(this=whole, expression=each)
    return whole
