"""Error propagation: the margins of error of columns that post-processing computes row by row."""

from sqlglot import exp

from discreet.query.check.sources import Open, Source
from discreet.query.questions import ColumnOrigin

NUMERIC = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.Abs, exp.Round),
    *(exp.Sqrt, exp.Ln, exp.Log, exp.Exp, exp.Pow, exp.Ceil, exp.Floor, exp.Coalesce),
    *(exp.Greatest, exp.Least, exp.Nullif),
)
"""Expressions that are numbers whenever a number with an error bar is in them."""

OPAQUE = (exp.Window, exp.AggFunc, exp.Query, exp.Anonymous, exp.Case)
"""What is not followed: their margins of error would need the other rows, or are not numbers."""


def spread_of(node: exp.Expr, sources: tuple[Source, ...]) -> exp.Expr | None:
    """Return the half width of an expression: how far it moves when its numbers move by theirs.

    Half the distance between the values at both ends, added up over its numbers; exact for an
    expression that is linear in one of them.
    """
    plain = node.unnest()
    if isinstance(plain, exp.Column):
        return _spread_column(plain, sources)
    if not isinstance(plain, NUMERIC) or plain.find(*OPAQUE) is not None:
        return None
    noisy = {
        each.sql(): (each, spread)
        for each in plain.find_all(exp.Column)
        if (spread := _spread_column(each, sources)) is not None
    }
    terms = [_moved(plain, column, spread) for column, spread in noisy.values()]
    if not terms:
        return None
    total = terms[0]
    for each in terms[1:]:
        total = exp.Add(this=total, expression=each)
    return total


def _moved(node: exp.Expr, column: exp.Column, spread: exp.Expr) -> exp.Expr:
    up, down = (
        node.transform(
            lambda each, kind=kind: (
                exp.Paren(this=kind(this=column.copy(), expression=spread.copy()))
                if isinstance(each, exp.Column) and each == column
                else each
            )
        )
        for kind in (exp.Add, exp.Sub)
    )
    apart = exp.Sub(this=exp.Paren(this=up), expression=exp.Paren(this=down))
    return exp.Div(this=exp.Abs(this=apart), expression=exp.Literal.number(2))


def _spread_column(node: exp.Column, sources: tuple[Source, ...]) -> exp.Column | None:
    found = _found(node, sources)
    if found is None or found[1] not in found[0].spreads:
        return None
    relation, name, source = found
    return exp.column(
        exp.to_identifier(relation.spreads[name], quoted=True),
        table=exp.to_identifier(source, quoted=True),
    )


def origin_of(node: exp.Expr, sources: tuple[Source, ...]) -> ColumnOrigin | None:
    """Return the column of a release that an expression is, unchanged."""
    plain = node.unnest()
    found = _found(plain, sources) if isinstance(plain, exp.Column) else None
    return None if found is None else found[0].origins.get(found[1])


def _found(node: exp.Column, sources: tuple[Source, ...]) -> tuple[Open, str, str] | None:
    """Return the relation, the column's name there, and the relation's name here."""
    table, name = node.table.casefold(), node.name.casefold()
    for source in sources:
        if table and source.name.casefold() != table:
            continue
        for out in source.outs:
            if out.name.casefold() == name and isinstance(source.relation, Open):
                names = [each.name for each in source.outs]
                inner = source.relation.columns[names.index(out.name)]
                return source.relation, inner, source.name
    return None
