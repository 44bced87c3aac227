"""Rewrites the columns of a grouped SELECT as columns of a table of groups."""

from typing import Protocol

from sqlglot import exp

from discreet.errors import NotGroupedError, QuestionError
from discreet.query.check.opened import without_spreads, written_name
from discreet.query.check.rowscope import RowScope
from discreet.query.check.sources import Named, Open, Private
from discreet.query.expressions.rejections import row_level
from discreet.query.expressions.translate import translate
from discreet.query.parse import DIALECT
from discreet.query.places import span_of
from discreet.query.tree import Expression, Released, UnitIsIn
from discreet.query.walk import columns_in, parts_of

GROUPS = "__groups"
"""What the groups of a GROUP BY are called while their columns are found."""


class Inner(Protocol):
    """The walk through the query, for queries inside."""

    def query(self, node: exp.Expr, named: Named) -> Private | Open: ...


class Grouped(Protocol):
    """A SELECT with groups."""

    node: exp.Select
    scope: RowScope
    named: Named

    @property
    def walker(self) -> Inner: ...


class Regroup:
    """Rewrites what a SELECT says of its groups as columns of a table of groups."""

    def __init__(
        self,
        select: Grouped,
        keys: list[Expression],
        names: dict[int, str],
        *,
        table: str,
    ) -> None:
        self.select, self.keys, self.names, self.table = select, keys, names, table
        self.aliases = {
            each.alias.casefold() for each in select.node.expressions if isinstance(each, exp.Alias)
        }
        self.prefers_aliases = False
        self.has_query = any(
            isinstance(part, Released | UnitIsIn) for key in keys for part in parts_of(key)
        )

        self.has_constant = not all(any(True for _ in columns_in(key)) for key in keys)

    def column(self, node: exp.Expr) -> exp.Expr:
        """Return a column of the SELECT, with the name it had."""
        name = written_name(node)
        return exp.alias_(self.rewritten(node.unalias()), name, quoted=True, copy=False)

    def rewritten(self, node: exp.Expr) -> exp.Expr:
        """Return a node with its aggregates and keys as columns."""
        if id(node) in self.names:
            return self._column(self.names[id(node)])
        if isinstance(node, exp.Query):
            return self._inner(node)
        is_alias = (
            isinstance(node, exp.Column) and not node.table and node.name.casefold() in self.aliases
        )
        if is_alias and self.prefers_aliases:
            return node
        place = self._key_place(node, is_alias=is_alias)
        if place is not None:
            return self._column(f"k{place}")
        if is_alias:
            return node
        if isinstance(node, exp.Column):
            raise NotGroupedError(
                f"{node.sql(dialect=DIALECT)} must appear in GROUP BY or inside an aggregate",
                f"Add it to GROUP BY, or write COUNT(DISTINCT {node.sql(dialect=DIALECT)})",
                span=span_of(node),
            )
        return self._children(node)

    def _children(self, node: exp.Expr) -> exp.Expr:
        for name, value in list(node.args.items()):
            if isinstance(value, exp.Expr):
                node.set(name, self.rewritten(value))
            elif isinstance(value, list):
                node.set(
                    name,
                    [
                        self.rewritten(each) if isinstance(each, exp.Expr) else each
                        for each in value
                    ],
                )
        return node

    def _column(self, name: str) -> exp.Column:
        return exp.column(
            exp.to_identifier(name, quoted=True), table=exp.to_identifier(self.table, quoted=True)
        )

    def _key_place(self, node: exp.Expr, *, is_alias: bool) -> int | None:
        """Return which key a node is, if it is one."""
        if not self.keys or not isinstance(node, exp.Condition) or isinstance(node, exp.Literal):
            return None
        if node.find(exp.Column) is None and not self.has_constant:
            return None
        if any(id(each) in self.names for each in node.walk()):
            return None
        if node.find(exp.Query) is not None and not self.has_query:
            return None
        try:
            found = translate(node, self.select.scope)
        except QuestionError:
            if isinstance(node, exp.Column) and not is_alias:
                raise
            return None
        return next((i for i, each in enumerate(self.keys) if each == found), None)

    def _inner(self, node: exp.Query) -> exp.Expr:
        if self.table == GROUPS:  # still about private rows, which are yet to be translated
            return node
        result = self.select.walker.query(node, self.select.named)
        if isinstance(result, Private):
            raise row_level(node, is_per_unit=result.is_per_unit)
        tree = without_spreads(result)
        return tree if isinstance(tree, exp.Subquery) else exp.Subquery(this=tree)
