"""Margins of error in SQL after the noise: where they follow, where they are exact, what is noisy.

A margin goes along as a hidden column where an expression is computed row by row. `is_exact` says
where that margin is as good as those it follows from. All others are resampled with the answer.
"""

from collections.abc import Iterator

from sqlglot import exp

from discreet.query.check.relations import PostQuery, TableRef
from discreet.query.questions import ColumnOrigin

READS_NOISE = "discreet_reads_noise"
CHOOSES = "discreet_chooses"
"""Marks of an inner query: it reads noisy numbers; it chooses among them."""

NUMERIC = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.Abs, exp.Round),
    *(exp.Sqrt, exp.Ln, exp.Log, exp.Exp, exp.Pow, exp.Ceil, exp.Floor, exp.Coalesce),
    *(exp.Greatest, exp.Least, exp.Nullif),
)
"""Expressions that are numbers whenever a number with an error bar is in them."""


OPAQUE = (exp.Window, exp.AggFunc, exp.Query, exp.Anonymous, exp.Case)
"""What is not followed: their margins of error would need the other rows, or are not numbers."""


def margin_expression(node: exp.Expr, sources: tuple[TableRef, ...]) -> exp.Expr | None:
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


def _spread_column(node: exp.Column, sources: tuple[TableRef, ...]) -> exp.Column | None:
    found = _found(node, sources)
    if found is None or found[1] not in found[0].spreads:
        return None
    relation, name, source = found
    return exp.column(
        exp.to_identifier(relation.spreads[name], quoted=True),
        table=exp.to_identifier(source, quoted=True),
    )


def origin_of(node: exp.Expr, sources: tuple[TableRef, ...]) -> ColumnOrigin | None:
    """Return the column of a release that an expression is, unchanged."""
    plain = node.unnest()
    found = _found(plain, sources) if isinstance(plain, exp.Column) else None
    return None if found is None else found[0].origins.get(found[1])


def released_numbers(node: exp.Expr, sources: tuple[TableRef, ...]) -> frozenset[ColumnOrigin]:
    """Return the released numbers that an expression comes from; none if others are among them."""
    found: set[ColumnOrigin] = set()
    for each in node.find_all(exp.Column):
        relation, name, _ = _found(each, sources) or (None, "", "")
        if relation is None or name not in relation.noisy:
            continue
        origin = relation.origins.get(name)
        numbers = relation.reads.get(name, frozenset()) if origin is None else {origin}
        if not numbers:
            return frozenset()
        found |= numbers
    return frozenset(found)


def _found(node: exp.Column, sources: tuple[TableRef, ...]) -> tuple[PostQuery, str, str] | None:
    """Return the relation, the column's name there, and the relation's name here."""
    table, name = node.table.casefold(), node.name.casefold()
    for source in sources:
        if table and source.name.casefold() != table:
            continue
        for out in source.columns:
            if out.name.casefold() == name and isinstance(source.relation, PostQuery):
                names = [each.name for each in source.columns]
                inner = source.relation.columns[names.index(out.name)]
                return source.relation, inner, source.name
    return None


# --------------------------------------------------------------------------- exact, noisy, chosen


def is_exact(node: exp.Expr, sources: tuple[TableRef, ...]) -> bool:
    """Return whether the margin is that of one noisy number, times what is not noisy."""
    plain = node.unnest()
    noisy = [each for each in plain.find_all(exp.Column) if _spread_column(each, sources)]
    if len({each.sql() for each in noisy}) != 1:
        return False
    relation, name, _ = _found(noisy[0], sources) or (None, "", "")
    if relation is None or name in relation.rough:
        return False
    others = (each for each in plain.find_all(exp.Column) if each != noisy[0])
    return _degree(plain, noisy[0]) == 1 and not any(_is_noisy_column(x, sources) for x in others)


def _degree(node: exp.Expr, column: exp.Column) -> int:
    """Return the degree of an expression in a column, 2 for all that is not linear."""
    if node == column:
        return 1
    match node:
        case exp.Paren(this=inner) | exp.Neg(this=inner):
            return _degree(inner, column)
        case exp.Add(this=left, expression=right) | exp.Sub(this=left, expression=right):
            return max(_degree(left, column), _degree(right, column))
        case exp.Mul(this=left, expression=right):
            return min(2, _degree(left, column) + _degree(right, column))
        case exp.Div(this=left, expression=right):
            return _degree(left, column) if _degree(right, column) == 0 else 2
        case _:
            return 2 if node.find(exp.Column) is not None else 0


def is_noisy(node: exp.Expr, select: exp.Select, sources: tuple[TableRef, ...]) -> bool:
    """Return whether an expression of a SELECT reads noisy numbers, or counts rows they chose."""
    if any(_is_noisy_part(each, select, sources) for each in node.walk()):
        return True
    counts_rows = node.find(exp.AggFunc, exp.Window) is not None
    return counts_rows and (chooses_rows(select, sources) or any(map(_is_chosen_relation, sources)))


def chooses_rows(select: exp.Select, sources: tuple[TableRef, ...]) -> bool:
    """Return whether noisy numbers decide which rows or values a query gives.

    What is shown of many numbers because it is large is too large more often than not.
    """
    if any(map(_is_chosen_relation, sources)):
        return True
    if any(each.meta.get(CHOOSES) for each in select.find_all(exp.Query) if each is not select):
        return True
    return any(
        _is_noisy_part(part, select, sources) for each in _choices(select) for part in each.walk()
    )


def _choices(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield the parts of a SELECT that choose among rows or values."""
    for clause in ("where", "having", "qualify"):
        if select.args.get(clause):
            yield select.args[clause]
    if select.args.get("limit") or select.args.get("offset"):
        order = select.args.get("order")
        yield from _ordered(order, select) if order else select.expressions
    yield from select.expressions if select.args.get("distinct") else ()
    for join in select.args.get("joins") or ():
        if join.args.get("on"):
            yield join.args["on"]
    for each in select.expressions:
        yield from each.find_all(*CHOOSING)
        yield from (found.args["order"] for found in each.find_all(exp.Window) if _order(found))
        for found in each.find_all(exp.Anonymous):
            if found.name.casefold() in CHOOSING_NAMES:
                yield found


def _order(window: exp.Window) -> bool:
    return window.args.get("order") is not None


def _ordered(order: exp.Expr, select: exp.Select) -> Iterator[exp.Expr]:
    """Yield what rows are ordered by; a number stands for a column."""
    for each in order.expressions:
        by = each.this if isinstance(each, exp.Ordered) else each
        place = int(by.name) if isinstance(by, exp.Literal) and by.name.isdecimal() else 0
        yield select.expressions[place - 1] if 1 <= place <= len(select.expressions) else by


CHOOSING = (
    *(exp.Max, exp.Min, exp.ArgMax, exp.ArgMin, exp.Median, exp.Quantile, exp.PercentileCont),
    *(exp.PercentileDisc, exp.Mode, exp.First, exp.Last, exp.FirstValue, exp.LastValue),
    exp.NthValue,
)
"""Aggregates and window functions that give one of many numbers."""


CHOOSING_NAMES = {"arg_max", "arg_min", "first", "last", "mad", "median", "mode", "quantile"}


def _is_chosen_relation(source: TableRef) -> bool:
    return isinstance(source.relation, PostQuery) and source.relation.is_chosen


def _is_noisy_part(node: exp.Expr, select: exp.Select, sources: tuple[TableRef, ...]) -> bool:
    if isinstance(node, exp.Query):
        return bool(node.meta.get(READS_NOISE))
    if not isinstance(node, exp.Column):
        return False
    if _relation_of(node, sources) is None and not node.table:
        named = [each.unalias() for each in select.expressions if each.alias == node.name]
        return any(
            _is_noisy_part(part, select, sources)
            for each in named
            for part in each.walk()
            if not (isinstance(part, exp.Column) and part.name == node.name)
        )
    return _is_noisy_column(node, sources)


def _is_noisy_column(node: exp.Column, sources: tuple[TableRef, ...]) -> bool:
    found = _found(node, sources)
    return found is not None and found[1] in found[0].noisy


def _relation_of(node: exp.Column, sources: tuple[TableRef, ...]) -> TableRef | None:
    table, name = node.table.casefold(), node.name.casefold()
    for source in sources:
        if table and source.name.casefold() != table:
            continue
        if any(out.name.casefold() == name for out in source.columns):
            return source
    return None
