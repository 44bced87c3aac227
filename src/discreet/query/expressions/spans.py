"""Reads intervals and units of time from the nodes of a query."""

from sqlglot import exp

from discreet.errors import UnsupportedError
from discreet.query.expressions.literals import UNIT_NAMES, Span, span_from_text
from discreet.query.places import span_of


def unit_in(node: exp.Expr | None, whole: exp.Expr, allowed: tuple[str, ...]) -> str:
    """Return the unit or part of time that a node names, or reject."""
    is_named = isinstance(node, exp.Var | exp.Literal | exp.Identifier)
    name = UNIT_NAMES.get(str(node.name).lower()) if is_named and node is not None else None
    if name not in allowed or name is None:
        raise UnsupportedError(
            "Unknown unit of time",
            f"Use one of {', '.join(allowed)}",
            span=span_of(whole),
        )
    return name


def span_in(node: exp.Expr) -> Span | None:
    """Return the span of time that a node states; None if it is something else."""
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Neg):
        inner = span_in(node.this)
        return None if inner is None else Span(*(-each for each in inner))
    if not isinstance(node, exp.Interval):
        return None
    text = node.this.name if isinstance(node.this, exp.Literal) else ""
    unit = node.args.get("unit")
    if isinstance(unit, exp.Var):
        text = f"{text} {unit.name}"
    found = span_from_text(text) if isinstance(unit, exp.Var | None) else None
    if found is None:
        raise UnsupportedError(
            "This interval is not valid",
            "Write integers and units, such as INTERVAL '1 month 2 days'. To add n days to a date "
            "d, write d + n",
            span=span_of(node),
        )
    return found
