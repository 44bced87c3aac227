"""What tells the rows of SQL after the noise apart: groups of a release, or columns of its own."""

from collections.abc import Iterable, Sequence

from sqlglot import exp

from discreet.query.check.relations import PostQuery, TableRef


def groups_shown(
    node: exp.Select, sources: Sequence[TableRef], *, is_row_by_row: bool
) -> int | None:
    """Return the release whose groups the rows of a SELECT are, each at most once, if they are."""
    only = _only_source(node, sources)
    return only.groups_of if is_row_by_row and only is not None else None


def row_key(
    node: exp.Select, names: Sequence[str], sources: Sequence[TableRef], *, is_row_by_row: bool
) -> frozenset[str] | None:
    """Return columns of a SELECT in which no two rows agree, if the SELECT says so.

    `names` are those of its first columns.
    """
    columns = [each.unalias() for each in node.expressions[: len(names)]]
    if distinct := node.args.get("distinct"):
        return None if distinct.args.get("on") else frozenset(names)
    if group := node.args.get("group"):
        if any(value for name, value in group.args.items() if name != "expressions"):
            return None
        places = [_grouped(each, columns, names, sources) for each in group.expressions]
        return _named(names, places)
    only = _only_source(node, sources)
    if not is_row_by_row or only is None or only.row_key is None:
        return None
    pairs = zip(only.columns, sources[0].columns, strict=True)
    shown = {old: new.name.casefold() for old, new in pairs}
    return _named(names, [_place_of(shown[each], columns) for each in only.row_key])


def _only_source(node: exp.Select, sources: Sequence[TableRef]) -> PostQuery | None:
    relation = sources[0].relation if len(sources) == 1 and not node.args.get("joins") else None
    return relation if isinstance(relation, PostQuery) else None


def _named(names: Sequence[str], places: Iterable[int | None]) -> frozenset[str] | None:
    found = list(places)
    return None if None in found else frozenset(names[each] for each in found if each is not None)


def _grouped(
    node: exp.Expr, columns: Sequence[exp.Expr], names: Sequence[str], sources: Sequence[TableRef]
) -> int | None:
    """Return the place of the column that an expression of GROUP BY is."""
    if isinstance(node, exp.Literal):
        return int(node.this) - 1 if node.is_int and 1 <= int(node.this) <= len(names) else None
    if not isinstance(node, exp.Column):
        return next((place for place, each in enumerate(columns) if each == node), None)
    name = node.name.casefold()
    if any(out.name.casefold() == name for each in sources for out in each.columns):
        return _place_of(name, columns) if len(sources) == 1 else _same(node, columns)
    return next((place for place, each in enumerate(names) if each.casefold() == name), None)


def _same(node: exp.Column, columns: Sequence[exp.Expr]) -> int | None:
    return next((place for place, each in enumerate(columns) if each == node), None)


def _place_of(name: str, columns: Sequence[exp.Expr]) -> int | None:
    """Return where a column of the only source stands, unchanged."""
    for place, each in enumerate(columns):
        if isinstance(each, exp.Column) and each.name.casefold() == name:
            return place
    return None
