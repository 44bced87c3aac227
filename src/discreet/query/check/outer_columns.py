"""Which columns of a query are those of the row around it.

Names mean what they mean in SQL: a column of the query's own FROM comes first, then an alias of its
SELECT, then the query around it. Only names are looked at here, before any query is checked. What
cannot be told is taken for the query's own, and is rejected when the query is checked.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from sqlglot import exp

from discreet.query.check.post_select import written_name

KnownColumns = Callable[[str], tuple[str, ...] | None]
"""Returns the columns of a table of the catalog or of WITH, by its name; None if there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visible:
    """The columns that the relations of one FROM have, in lower case."""

    sources: Mapping[str, frozenset[str] | None]
    """By the relation's name; None if its columns cannot be told."""

    def has(self, column: exp.Column) -> bool:
        """Return whether a column is of these relations, or may be."""
        return any(True for _ in self.places(column))

    def places(self, column: exp.Column) -> Iterator[str]:
        """Yield the relations that have, or may have, a column."""
        table, name = column.table.casefold(), column.name.casefold()
        for source, columns in self.sources.items():
            if table in ("", source) and (columns is None or name in columns):
                yield source


def visible_in(select: exp.Select, known: KnownColumns) -> Visible:
    """Return the columns that a SELECT's own FROM offers."""
    inside = _with_common(select, known)
    sources: dict[str, frozenset[str] | None] = {}
    for each in relations_of(select):
        columns = _columns_of(each, inside)
        folded = None if columns is None else frozenset(name.casefold() for name in columns)
        sources[each.alias_or_name.casefold()] = folded
    return Visible(sources=sources)


def relations_of(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield what stands in FROM."""
    clause = select.args.get("from_")
    if clause is None:
        return
    yield clause.this
    for each in (*(clause.this.args.get("joins") or ()), *(select.args.get("joins") or ())):
        yield each.this


def free_columns(query: exp.Expr, known: KnownColumns) -> list[exp.Column]:
    """Return the columns that a query reads of what is around it."""
    match query:
        case exp.Subquery() | exp.CTE():
            return free_columns(query.this, known)
        case exp.SetOperation():
            inside = _with_common(query, known)
            return [*free_columns(query.this, inside), *free_columns(query.expression, inside)]
        case exp.Select():
            return _free_in(query, known)
        case _:
            return []


def _free_in(select: exp.Select, known: KnownColumns) -> list[exp.Column]:
    visible, inside = visible_in(select, known), _with_common(select, known)
    own = own_columns(select)
    nested = [each for query in nested_queries(select) for each in free_columns(query, inside)]
    found = [each for each in (*own, *nested) if not visible.has(each)]
    aliases = {each.alias.casefold() for each in select.expressions if isinstance(each, exp.Alias)}
    free = [each for each in found if each.table or each.name.casefold() not in aliases]
    for each in relations_of(select):
        inner = each.this if isinstance(each, exp.Lateral) else each
        if isinstance(inner, exp.Subquery):
            free += free_columns(inner, inside)
    clause = select.args.get("with_")
    for each in () if clause is None else clause.expressions:
        free += free_columns(each, inside)
    return free


def own_columns(select: exp.Select) -> list[exp.Column]:
    """Return the columns that a SELECT itself names, queries inside it left out."""
    return [each for each in _parts(select) if isinstance(each, exp.Column)]


def nested_queries(select: exp.Select) -> list[exp.Expr]:
    """Return the outermost queries in a SELECT's expressions, FROM and WITH left out."""
    return [each for each in _parts(select) if isinstance(each, exp.Query)]


def _parts(select: exp.Select) -> Iterator[exp.Expr]:
    for name, value in select.args.items():
        if name in ("from_", "with_"):
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, exp.Join):
                on = each.args.get("on")
                yield from () if on is None else shallow(on)
            elif isinstance(each, exp.Expr):
                yield from shallow(each)


def shallow(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yield a node and what is in it; queries are yielded, what is in them is not."""
    yield node
    if isinstance(node, exp.Query):
        return
    for each in node.iter_expressions():
        yield from shallow(each)


def _with_common(query: exp.Expr, known: KnownColumns) -> KnownColumns:
    """Return what names mean inside a query that has WITH."""
    clause = query.args.get("with_")
    if clause is None:
        return known
    common: dict[str, tuple[str, ...] | None] = {}

    def inside(name: str) -> tuple[str, ...] | None:
        return common[name] if name in common else known(name)

    for each in clause.expressions:
        given = tuple(column.name for column in each.args["alias"].columns)
        common[each.alias.casefold()] = _renamed(_columns_of(each.this, inside), given)
    return inside


def _renamed(columns: tuple[str, ...] | None, given: tuple[str, ...]) -> tuple[str, ...] | None:
    return None if columns is None else (*given, *columns[len(given) :])


def _columns_of(node: exp.Expr, known: KnownColumns) -> tuple[str, ...] | None:
    alias = node.args.get("alias")
    given = tuple(each.name for each in alias.columns) if isinstance(alias, exp.TableAlias) else ()
    match node:
        case exp.Table():
            return _renamed(known(node.name.casefold()), given)
        case exp.Subquery() | exp.Lateral():
            return _renamed(_columns_of(node.this, known), given)
        case exp.SetOperation():
            return _columns_of(node.this, _with_common(node, known))
        case exp.Select():
            return _selected(node, _with_common(node, known))
        case _:
            return None


def _selected(select: exp.Select, known: KnownColumns) -> tuple[str, ...] | None:
    names: list[str] = []
    for each in select.expressions:
        star = each.this if isinstance(each, exp.Column) else each
        if not isinstance(star, exp.Star):
            names.append(written_name(each))
            continue
        for source in relations_of(select):
            wanted = each.table.casefold() if isinstance(each, exp.Column) else ""
            if wanted in ("", source.alias_or_name.casefold()):
                columns = _columns_of(source, known)
                if columns is None:
                    return None
                names += columns
    return tuple(names)
