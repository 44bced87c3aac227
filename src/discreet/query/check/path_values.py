"""IN (SELECT ...) along a declared path: whether a row of the same unit has the same key.

A key of a path belongs to one unit, so rows of others cannot have it. Where only TRUE counts, it
makes no difference that SQL says NULL in place of FALSE as soon as a key is NULL.
"""

from sqlglot import exp

from discreet.errors import JoinError
from discreet.query.check.relations import Names, PrivateRows
from discreet.query.parse import span_of

INNER = "__inner"
"""What the rows of the inner query are called."""

KEEPS_TRUE = "keeps rows for which it is true"


def for_true_rows(node: exp.Expr) -> exp.Expr:
    """Return a condition that keeps the rows for which it is TRUE, and is known to do so."""
    node.meta[KEEPS_TRUE] = True
    return node


def only_true_counts(node: exp.Expr) -> bool:
    """Return whether a part of a condition on rows may as well be FALSE where it is NULL."""
    root = node
    while isinstance(root.parent, exp.And | exp.Or | exp.Paren):
        root = root.parent
    return root.parent is None and KEEPS_TRUE in root.meta


def path_tie(left: exp.Expr, result: PrivateRows, names: Names) -> exp.EQ | None:
    """Return the equality of both sides of IN, if both are keys of one path; else None."""
    if not isinstance(left, exp.Column) or len(result.columns) != 1 or not names.has(left):
        return None
    (inner,), (source, out) = result.columns, names.find(left)
    if not inner.leads_to & out.leads_to:
        return None
    return exp.EQ(
        this=exp.column(inner.name, table=INNER, quoted=True),
        expression=exp.column(left.this.copy(), table=exp.to_identifier(source.name, quoted=True)),
    )


def other_than_unit(node: exp.In, unit: str) -> JoinError:
    """Return the error for IN with a column by which rows of different units could be equal."""
    return JoinError(
        "IN (SELECT ...) on private rows is only supported for the privacy unit, or in WHERE for "
        "keys of a declared path",
        f"Select the privacy unit in it, and write {unit} IN (SELECT ...)",
        span=span_of(node),
    )
