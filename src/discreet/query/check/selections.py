"""What stands in the FROM of a SELECT: relations one after the other, and how each is joined."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.errors import UnknownNameError
from discreet.query.check.relations import TIED, Names, PrivateRows, TableRef, column_node
from discreet.query.parse import span_of
from discreet.query.tree import JoinKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """A JOIN of the query: its node, what it joins, and the conditions that all must be true."""

    node: exp.Join
    source: TableRef
    kind: JoinKind
    conditions: tuple[exp.Expr, ...] = ()

    @property
    def is_lookup(self) -> bool:
        """Whether it stands for a subquery of the outer row: one match at most, by its keys."""
        return self.source.name.startswith(TIED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmatched:
    """Rows of public tables that stay without a private partner: they belong to no unit.

    They are not among the rows that are joined. Their columns are NULL but for those of `tables`.
    """

    tables: frozenset[str]
    conditions: tuple[exp.Expr, ...] = ()
    """What is true of them, as far as joins say."""

    def joined(self, conditions: tuple[exp.Expr, ...], *tables: str) -> "Unmatched":
        """Return the rows that are left of them after another join."""
        return Unmatched(
            tables=self.tables.union(tables), conditions=(*self.conditions, *conditions)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A SELECT and what stands in its FROM."""

    node: exp.Select
    first: TableRef
    joinings: tuple[Joining, ...] = ()
    moved: tuple[exp.Expr, ...] = ()
    """Conditions of joins that are part of WHERE, because the order of tables changed."""
    shared: frozenset[str] = frozenset()
    """The columns of USING and NATURAL, which stand for those of both sides."""
    order: tuple[str, ...] = ()
    """The names of relations in the order of writing, where they are joined in another."""
    unmatched: Unmatched | None = None

    @property
    def sources(self) -> tuple[TableRef, ...]:
        """The relations in the order of writing."""
        found = (self.first, *(each.source for each in self.joinings))
        if not self.order:
            return found
        return tuple(sorted(found, key=lambda each: self.order.index(each.name)))

    @property
    def is_one(self) -> bool:
        """Whether it is a single relation as it is."""
        return not self.joinings and not self.moved

    @property
    def has_private(self) -> bool:
        return any(isinstance(each.relation, PrivateRows) for each in self.sources)

    @property
    def names(self) -> Names:
        return Names(self.sources, shared=self.shared)

    @property
    def inner_conditions(self) -> tuple[exp.Expr, ...]:
        """What its joins say of every row."""
        inner = [each for each in self.joinings if each.kind is JoinKind.INNER]
        return (*(one for each in inner for one in each.conditions), *self.moved)

    def joined(self, *joinings: Joining) -> "Selection":
        """Return it with further joins, in the order of writing."""
        order = (*self.written, *(each.source.name for each in joinings))
        return replace(self, joinings=(*self.joinings, *joinings), order=order)

    @property
    def written(self) -> tuple[str, ...]:
        """The names of its relations in the order of writing."""
        return self.order or tuple(each.name for each in self.sources)


def conjuncts(node: exp.Expr | None) -> Iterator[exp.Expr]:
    """Yield the conditions that all must be true."""
    if node is None:
        return
    stack = [node]
    while stack:
        each = stack.pop()
        if isinstance(each, exp.Paren):
            stack.append(each.this)
        elif isinstance(each, exp.And):
            stack += [each.expression, each.this]
        else:
            yield each


def lookup_joining(node: exp.Join, source: TableRef) -> Joining:
    """Return the join of a query that stands for a subquery of the outer row."""
    return Joining(
        node=node,
        source=replace(source, is_optional=True),
        kind=JoinKind.LEFT,
        conditions=tuple(conjuncts(node.args["on"])),
    )


def shared_columns(node: exp.Join, left: Selection, right: Selection) -> list[exp.Identifier]:
    """Return the columns of USING; of NATURAL, those that both sides have."""
    if (node.args.get("method") or "").upper() != "NATURAL":
        return list(node.args.get("using") or ())
    mine, theirs = ([out.written for _, out in side.names.all()] for side in (left, right))
    folded = [[each.casefold() for each in side] for side in (mine, theirs)]
    both = [each for each in mine if each.casefold() in folded[1]]
    for each in both:
        if any(side.count(each.casefold()) > 1 for side in folded):
            raise UnknownNameError(
                f"NATURAL JOIN on {each} is ambiguous: one side has several columns of this name",
                "Write ON with the table of each column",
                span=span_of(node),
            )
    return [exp.to_identifier(each, quoted=True) for each in both]


def using(columns: list[exp.Identifier], left: Selection, right: Selection) -> list[exp.Expr]:
    """Return USING as equalities of what each side calls so."""
    made: list[exp.Expr] = []
    for each in columns:
        sides = [_reference(each, side) for side in (left, right)]
        made.append(exp.EQ(this=sides[0], expression=sides[1]))
    return made


def _reference(column: exp.Identifier, side: Selection) -> exp.Column:
    """Return the first column of this name that is not of the optional side of a join."""
    name = column.name.casefold()
    found = [
        (source, out)
        for source in side.sources
        for out in source.columns
        if out.written.casefold() == name
    ]
    if not found:
        return exp.column(column.copy(), table=side.first.name)
    found.sort(key=lambda each: (not each[1].is_merged, each[0].is_optional))
    made = column_node(*found[0])
    made.set("this", column.copy())
    return made
