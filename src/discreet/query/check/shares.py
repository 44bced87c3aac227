"""Shares of rows: COUNT(*) FILTER (WHERE c) / COUNT(*) as the average of 1 and 0.

Both have the same noise. But the margin of an average is that of the share itself, while a quotient
has that of two counts as if their noises were apart.
"""

from collections.abc import Iterator

from sqlglot import exp

from discreet.query.check.aggregates import is_aggregate, same_level
from discreet.query.check.post_select import written_name


def write_shares(node: exp.Select) -> None:
    """Rewrite the only share of a SELECT, if its count stands nowhere else.

    Several counts under conditions are left as they are: they may be one histogram.
    """
    found = [each for each in _same_level(node) if _is_share(each)]
    counts = [each for each in _same_level(node) if _condition(each) is not None]
    if len(found) != 1 or len(counts) != 1:
        return
    (share,) = found
    is_shown = any(share is part for column in node.expressions for part in column.walk())
    condition = _condition(counts[0])
    if not is_shown or condition is None:
        return
    case = exp.Case(
        ifs=[exp.If(this=condition.copy(), true=exp.Literal.number(1))],
        default=exp.Literal.number(0),
    )
    _name_columns(node)
    counts[0].replace(exp.Avg(this=case))
    share.replace(exp.Paren(this=share.this))


def _name_columns(node: exp.Select) -> None:
    """Let the columns keep their names, whatever they are rewritten to."""
    named = [
        each
        if isinstance(each, exp.Alias | exp.Column)
        else exp.alias_(each, written_name(each), quoted=True, copy=False)
        for each in node.expressions
    ]
    node.set("expressions", named)


def _same_level(node: exp.Select) -> Iterator[exp.Expr]:
    parts = [*node.expressions, *(node.args.get(name) for name in ("having", "qualify", "order"))]
    for each in parts:
        if isinstance(each, exp.Expr):
            yield from same_level(each)


def _is_share(node: exp.Expr) -> bool:
    """Return whether a node is a count, or a multiple of it, divided by COUNT(*)."""
    is_divided = isinstance(node, exp.Div) and _is_count_of_rows(node.expression)
    return is_divided and _is_multiple(node.this)


def _is_multiple(node: exp.Expr) -> bool:
    match node:
        case exp.Mul():
            one, other = node.this, node.expression
            is_left = isinstance(other, exp.Literal) and _is_multiple(one)
            return is_left or (isinstance(one, exp.Literal) and _is_multiple(other))
        case exp.Paren():
            return _is_multiple(node.this)
        case _:
            return _condition(node) is not None


def _is_count_of_rows(node: exp.Expr) -> bool:
    match node:
        case exp.Paren():
            return _is_count_of_rows(node.this)
        case exp.Nullif():
            is_zero = isinstance(node.expression, exp.Literal) and node.expression.this == "0"
            return is_zero and _is_count_of_rows(node.this)
        case exp.Count():
            return node.this is None or isinstance(node.this, exp.Star)
        case _:
            return False


def _condition(node: exp.Expr) -> exp.Expr | None:
    """Return under which condition an aggregate counts rows, if it does."""
    match node:
        case exp.Filter(this=exp.Count() as count) if _is_count_of_rows(count):
            condition: exp.Expr = node.expression.this
            return condition
        case exp.CountIf() if is_aggregate(node):
            return node.this if isinstance(node.this, exp.Expr) else None
        case _:
            return None
