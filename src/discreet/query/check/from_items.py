"""FROM as it is written: relations, joins and brackets."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from sqlglot import exp

from discreet.query.check.relations import PrivateRows, TableRef
from discreet.query.expressions.rejections import unhandled

ASKED = "asked"
"""Under this name the meta data of a SEMI or ANTI JOIN hold its right side before it is checked."""

FILTERS = {"SEMI", "ANTI"}
"""Joins whose right side only says which rows of the left one stay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bracket:
    """A relation and what is joined to it, in brackets or as a whole FROM."""

    first: "Item"
    joins: "tuple[tuple[exp.Join, Item], ...]"


Item = TableRef | Bracket


def is_bracket(node: exp.Expr) -> bool:
    """Return whether a node is a table or a join in brackets, and not a query."""
    if not isinstance(node, exp.Subquery):
        return False
    inner = node.this
    if isinstance(inner, exp.Table):
        return True
    if not isinstance(inner, exp.Subquery):
        return False
    return bool(inner.alias or inner.args.get("joins")) or is_bracket(inner)


def leaves(item: Item) -> Iterator[TableRef]:
    """Yield the relations of FROM in the order of writing."""
    if isinstance(item, TableRef):
        yield item
        return
    yield from leaves(item.first)
    for _, each in item.joins:
        yield from leaves(each)


def with_leaves(item: Item, change: Callable[[TableRef], TableRef]) -> Item:
    """Return FROM with its relations changed."""
    if isinstance(item, TableRef):
        return change(item)
    joins = tuple((node, with_leaves(each, change)) for node, each in item.joins)
    return Bracket(first=with_leaves(item.first, change), joins=joins)


def all_joins(item: Item) -> Iterator[exp.Join]:
    """Yield the joins of FROM, those in brackets among them."""
    if isinstance(item, Bracket):
        yield from all_joins(item.first)
        for node, each in item.joins:
            yield node
            yield from all_joins(each)


def _without_alias(node: exp.Subquery) -> exp.Subquery | exp.Table:
    """Return brackets with an alias as a table of that alias, or as a query."""
    inner = node.this
    if isinstance(inner, exp.Table) and not inner.alias and not inner.args.get("joins"):
        inner.set("alias", node.args["alias"])
        node.set("alias", None)
        return node
    alias = node.args["alias"]
    node.set("alias", None)
    select = exp.Select(expressions=[exp.Star()], from_=exp.From(this=node.copy()))
    made = exp.Subquery(this=select, alias=alias)
    node.replace(made)
    return made


def is_private(item: Item) -> bool:
    """Return whether any relation is of private rows."""
    return any(isinstance(each.relation, PrivateRows) for each in leaves(item))


def item_from(node: exp.Select, source: Callable[[exp.Expr], TableRef]) -> Item | None:
    """Return what stands in the FROM of a SELECT; each relation is read by `source`."""
    clause = node.args.get("from_")
    if clause is None:
        return None
    return _joined(_bracket(clause.this, source), node.args.get("joins") or (), source)


def _bracket(node: exp.Expr, source: Callable[[exp.Expr], TableRef]) -> Item:
    """Return one relation, or several in brackets."""
    if isinstance(node, exp.Subquery) and is_bracket(node) and node.alias:
        node = _without_alias(node)
    if is_bracket(node):
        _check_bracket(node)
    joins = node.args.get("joins") or ()
    node.set("joins", None)
    inner = _bracket(node.this, source) if is_bracket(node) else source(node)
    node.set("joins", list(joins) or None)
    return _joined(inner, joins, source)


def _check_bracket(node: exp.Expr) -> None:
    """Reject clauses after brackets. No clause is ignored."""
    for name, value in node.args.items():
        if value and name not in ("this", "alias", "joins"):
            clause = {"sample": "TABLESAMPLE", "pivots": "PIVOT"}.get(name, name.strip("_").upper())
            raise unhandled(f"{clause} after a table or a join in brackets", node)


def _joined(first: Item, joins: Sequence[exp.Join], source: Callable[[exp.Expr], TableRef]) -> Item:
    found = []
    for each in joins:
        if each.kind in FILTERS:
            each.meta[ASKED] = each.this.copy()
        found.append((each, _bracket(each.this, source)))
    return Bracket(first=first, joins=tuple(found)) if found else first


# --------------------------------------------------------------------------- afterwards


def open_sources(item: Item) -> list[TableRef]:
    """Return the relations whose columns SQL over released and public tables can read."""
    if isinstance(item, TableRef):
        return [item]
    found = open_sources(item.first)
    for node, each in item.joins:
        method = (node.args.get("method") or "").upper()
        if method not in ("", "NATURAL"):
            raise unhandled(f"{method} JOIN", node)
        if node.kind not in FILTERS:
            found += open_sources(each)
    return found


def settle_natural(item: Item) -> frozenset[str]:
    """Write NATURAL joins with USING, and return their columns, which stand for both sides'.

    Noisy tables have further columns of the same names, which NATURAL would take for shared ones.
    """
    if isinstance(item, TableRef):
        return frozenset()
    found = settle_natural(item.first)
    left = _column_names(item.first)
    for node, each in item.joins:
        found |= settle_natural(each)
        right = _column_names(each)
        if node.args.get("method"):
            both = [name for folded, name in left.items() if folded in right]
            node.set("method", None)
            node.set("using", [exp.to_identifier(name, quoted=True) for name in both] or None)
            node.set("on", None if both else exp.true())
            found |= {name.casefold() for name in both}
        left = {**right, **left}
    return found


def _column_names(item: Item) -> dict[str, str]:
    return {
        out.written.casefold(): out.written
        for source in open_sources(item)
        for out in source.columns
    }
