"""Refusals of a question's shape, which several parts of the check share."""

from sqlglot import exp

from discreet.catalog.policy import nearest
from discreet.errors import RowLevelError, UnknownNameError, UnsupportedError
from discreet.query.places import span_of


def unknown_name(name: str, what: str, known: list[str], node: exp.Expr) -> UnknownNameError:
    """Return a refusal with the nearest name, or with the first names that there are."""
    near = nearest(name, known)
    few = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
    fix = f"did you mean {near}" if near else f"there are {few}" if known else "there is none"
    return UnknownNameError(f"{name} is not {what}", fix, span=span_of(node))


def row_level(node: exp.Expr, *, is_per_unit: bool) -> RowLevelError:
    """Return the refusal of rows as a result."""
    if is_per_unit:
        return RowLevelError(
            "the unit is a group key, so each row of the result would be about one unit",
            "aggregate over the units around it, or group by something else",
            span=span_of(node),
        )
    return RowLevelError(
        "the result would show rows of units",
        "ask for an aggregate such as COUNT, SUM or AVG over them",
        span=span_of(node),
    )


def below(node: exp.Expr, clause: str) -> UnsupportedError:
    """Return the refusal of an order or a limit on private rows."""
    return UnsupportedError(
        f"{clause} below an aggregate would choose among rows of units",
        "order and limit the released result instead",
        span=span_of(node),
    )


def unhandled(what: str, node: exp.Expr | None) -> UnsupportedError:
    """Return the refusal of SQL that has no meaning here."""
    return UnsupportedError(
        f"{what} is not handled",
        "write the question without it",
        span=None if node is None else span_of(node),
    )
