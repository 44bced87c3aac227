"""SELECT over released and public tables: names for its columns, and their margins of error."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from sqlglot import exp

from discreet.query.check.aggregates import is_aggregate
from discreet.query.check.carry import origin_of, spread_of
from discreet.query.check.sources import Names, Open, Private, Source
from discreet.query.expressions.rejections import unhandled
from discreet.query.parse import DIALECT
from discreet.query.questions import ColumnOrigin

CLAUSES = ("expressions", "where", "group", "having", "order", "qualify", "limit")
"""The clauses of SELECT in which queries may stand as values."""


def finish_open(node: exp.Select, sources: tuple[Source, ...]) -> Open:
    """Return a SELECT whose every column has a name of its own, with error bars after them."""
    names = _named_columns(node)
    is_row_by_row = not (
        node.args.get("group") or node.args.get("distinct") or _has_aggregate(node)
    )
    spreads: dict[str, str] = {}
    origins: dict[str, ColumnOrigin] = {}
    hidden: list[exp.Expr] = []
    for name, each in zip(names, list(node.expressions), strict=True):
        origin = origin_of(each.unalias(), sources)
        if origin is not None:
            origins[name] = origin
        spread = spread_of(each.unalias(), sources) if is_row_by_row else None
        if spread is not None:
            spreads[name] = unused_name("__spread", [*names, *spreads.values()])
            hidden.append(exp.alias_(spread, spreads[name], quoted=True, copy=False))
    node.set("expressions", [*node.expressions, *hidden])
    inner = [each.relation for each in sources]
    return Open(
        tree=node,
        columns=names,
        spreads=spreads,
        origins=origins,
        is_public=all(not isinstance(each, Open) or each.is_public for each in inner),
        is_single=is_first_only(node)
        or (not node.args.get("group") and _has_aggregate(node))
        or all(isinstance(each, Open) and each.is_single for each in inner),
    )


def shown_of(tree: exp.Expr, table: str) -> tuple[tuple[str, str], ...] | None:
    """Return names and columns of a SELECT that only names columns of a table, else None."""
    if not isinstance(tree, exp.Select) or _clauses(tree) != {"expressions", "from_"}:
        return None
    source = tree.args["from_"].this
    if not isinstance(source, exp.Table) or _clauses(source) != {"this"} or source.name != table:
        return None
    pairs = [(each.alias, each.unalias()) for each in tree.expressions]
    if not all(isinstance(column, exp.Column) for _, column in pairs):
        return None
    return tuple((name, column.name) for name, column in pairs)


def _clauses(node: exp.Expr) -> set[str]:
    return {name for name, value in node.args.items() if value}


def is_first_only(node: exp.Expr) -> bool:
    """Return whether a query keeps one row at most."""
    limit = node.args.get("limit")
    return isinstance(limit, exp.Limit) and limit.expression.sql() in ("0", "1")


def _has_aggregate(node: exp.Select) -> bool:
    return any(is_aggregate(each) for column in node.expressions for each in _shallow(column))


def _shallow(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield a node and what is in it, but not what is in inner queries."""
    yield node
    if not isinstance(node, exp.Query):
        for each in node.iter_expressions():
            yield from _shallow(each)


def _named_columns(node: exp.Select) -> tuple[str, ...]:
    """Give every column a name: its alias, its own name, or how the query writes it."""
    names: list[str] = []
    for i, each in enumerate(node.expressions):
        name = unused_name(written_name(each), names)
        names.append(name)
        node.expressions[i] = exp.alias_(each.unalias(), name, quoted=True, copy=False)
    node.set("expressions", node.expressions)
    return tuple(names)


def written_name(node: exp.Expr) -> str:
    """Return what a column of SELECT is called: its alias, its own name, or how it is written."""
    if isinstance(node, exp.Alias | exp.Subquery) and node.alias:
        return node.alias
    return node.name if isinstance(node, exp.Column) else node.sql(dialect=DIALECT)


def unused_name(wanted: str, taken: list[str]) -> str:
    """Return the wanted name, or one like it that is not taken."""
    folded = {each.casefold() for each in taken}
    name, number = wanted, 2
    while name.casefold() in folded:
        name, number = f"{wanted}_{number}", number + 1
    return name


def expand_stars(node: exp.Select, names: Names) -> None:
    """Write out what every star stands for."""
    columns: list[exp.Expr] = []
    for each in node.expressions:
        star = each.this if isinstance(each, exp.Column) else each
        if not isinstance(star, exp.Star):
            columns.append(each)
            continue
        columns += star_columns(each, star, names)
    node.set("expressions", columns)


def star_columns(node: exp.Expr, star: exp.Star, names: Names) -> list[exp.Expr]:
    """Return the columns that a star stands for, without those it excludes."""
    if star.args.get("replace") or star.args.get("rename"):
        raise unhandled("* with REPLACE or RENAME", node)
    excluded = {each.name.casefold() for each in star.args.get("except_") or ()}
    table = node.table if isinstance(node, exp.Column) and node.table else None
    return [
        exp.column(
            exp.to_identifier(out.name, quoted=True),
            table=exp.to_identifier(source.name, quoted=True),
        )
        for source, out in names.all(table)
        if out.name.casefold() not in excluded
    ]


def inner_queries(node: exp.Select) -> list[exp.Expr]:
    """Return the outermost queries inside a SELECT's expressions, FROM and WITH left out."""
    found: list[exp.Expr] = []
    for clause in CLAUSES:
        values = node.args.get(clause)
        for each in values if isinstance(values, list) else [values]:
            if isinstance(each, exp.Expr):
                _outermost(each, found)
    for join in node.args.get("joins") or ():
        if join.args.get("on"):
            _outermost(join.args["on"], found)
    return found


def _outermost(node: exp.Expr, found: list[exp.Expr]) -> None:
    if isinstance(node, exp.Query):
        found.append(node)
        return
    for each in node.iter_expressions():
        _outermost(each, found)


def without_spreads(opened: Open) -> exp.Query:
    """Return the query with its asked columns alone."""
    if not opened.spreads:
        return opened.tree
    columns = [exp.column(exp.to_identifier(each, quoted=True)) for each in opened.columns]
    inner = opened.tree
    if isinstance(inner, exp.Subquery):
        inner = exp.Select().select("*").from_(inner, copy=False)
    return exp.Select(expressions=columns, from_=exp.From(this=inner.subquery("t", copy=False)))


def whole(tree: exp.Query, named: Mapping[str, Private | Open]) -> exp.Query:
    """Return a query that can be run by itself, with the entries of WITH that it reads."""
    read = _tables_in(tree)
    entries: list[exp.CTE] = []
    for name, each in reversed(list(named.items())):
        if name in read and isinstance(each, Open) and each.entry is not None:
            entries.insert(0, each.entry.copy())
            read |= _tables_in(each.entry)
    if not entries:
        return tree
    return exp.Select(
        expressions=[exp.Star()],
        from_=exp.From(this=exp.Subquery(this=tree, alias=exp.to_identifier("whole"))),
        with_=exp.With(expressions=entries),
    )


def _tables_in(tree: exp.Expr) -> set[str]:
    return {each.name.casefold() for each in tree.find_all(exp.Table)}


def renamed(opened: Open, names: tuple[str, ...]) -> Open:
    """Return the query as it is known by the names that stand behind its own."""
    change = dict(zip(opened.columns, names, strict=False))
    return replace(
        opened,
        columns=tuple(change.get(each, each) for each in opened.columns),
        spreads={change.get(each, each): spread for each, spread in opened.spreads.items()},
        origins={change.get(each, each): origin for each, origin in opened.origins.items()},
    )
