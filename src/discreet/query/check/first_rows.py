"""DISTINCT ON with the unit: the first row of each unit, or of each unit and key.

SELECT DISTINCT ON (unit, k) a, b FROM t ORDER BY unit, k, x is SELECT a, b FROM t QUALIFY
ROW_NUMBER() OVER (PARTITION BY unit, k ORDER BY unit, k, x) = 1: its order only matters within
rows that agree in unit and k.
"""

from sqlglot import exp

from discreet.errors import UnsupportedError
from discreet.query.check.relations import Names
from discreet.query.expressions.rejections import unhandled
from discreet.query.parse import DIALECT, span_of


def is_distinct_on(node: exp.Select) -> bool:
    """Return whether a SELECT keeps one row of those that agree in some columns."""
    distinct = node.args.get("distinct")
    return distinct is not None and distinct.args.get("on") is not None


def distinct_on(node: exp.Select) -> list[exp.Expr]:
    """Return what rows must agree in, of which one is kept."""
    on = node.args["distinct"].args["on"]
    parts = list(on.expressions) if isinstance(on, exp.Tuple) else [on.unnest()]
    return [_meant(each, node) for each in parts]


def number_rows(node: exp.Select, parts: list[exp.Expr]) -> None:
    """Write DISTINCT ON as a condition on ROW_NUMBER; `parts` are those of `distinct_on`."""
    if node.args.get("qualify"):
        raise unhandled(
            "QUALIFY with DISTINCT ON", node.args["qualify"], "Write QUALIFY in a subquery"
        )
    order = node.args.get("order")
    window = exp.Window(
        this=exp.RowNumber(), partition_by=[each.copy() for each in parts], over="OVER"
    )
    if order is not None:
        for each in order.expressions:
            each.set("this", _meant(each.this, node))
        window.set("order", order)
    first = exp.EQ(this=window, expression=exp.Literal.number(1))
    node.set("distinct", None)
    node.set("order", None)
    node.set("qualify", exp.Qualify(this=first))


def _meant(node: exp.Expr, select: exp.Select) -> exp.Expr:
    """Return what a part of ORDER BY or DISTINCT ON means: a number or an alias is a column."""
    columns: list[exp.Expr] = select.expressions
    if isinstance(node, exp.Literal) and node.is_int and 1 <= int(node.this) <= len(columns):
        return columns[int(node.this) - 1].unalias().copy()
    if isinstance(node, exp.Column) and not node.table:
        for each in columns:
            if isinstance(each, exp.Alias) and each.alias.casefold() == node.name.casefold():
                return each.unalias().copy()
    return node


def refuse_other_units(parts: list[exp.Expr], names: Names) -> UnsupportedError:
    """Return the error for DISTINCT ON without the unit: rows of one unit would hide others'."""
    unit = next((out.name for each in names.sources for out in each.columns if out.is_unit), None)
    columns = ", ".join(each.sql(dialect=DIALECT) for each in parts)
    with_unit = f"DISTINCT ON ({unit}, {columns})" if unit else "GROUP BY with aggregates"
    return UnsupportedError(
        f"DISTINCT ON ({columns}) chooses between rows of different privacy units",
        f"Write {with_unit}{' in a subquery, and aggregate its rows' if unit else ''}",
        span=span_of(parts[0]),
    )
