"""FROM with its joins and brackets: relations in a row, each joined with INNER or LEFT JOIN.

| written | joined as |
|---|---|
| NATURAL | USING of the columns that both sides have |
| a RIGHT JOIN b | b LEFT JOIN a |
| a JOIN (b JOIN c) | a JOIN b JOIN c, with the conditions in WHERE |
| a LEFT JOIN (b JOIN c) | a LEFT JOIN rows of its own |
| a FULL JOIN b | UNION ALL of two LEFT JOINs |
| a SEMI JOIN b, a ANTI JOIN b | a, with (NOT) EXISTS or IN in WHERE |
| public LEFT JOIN private | JOIN, and a note of the rows without a partner (`unmatched_rows`) |

Proof: docs/proofs/sql_forms.md, section on joins.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.errors import JoinError, UnsupportedError
from discreet.query.check.bracketed_rows import bracketed_rows, full_join
from discreet.query.check.from_items import ASKED, FILTERS, Bracket, Item
from discreet.query.check.relations import CommonTables, TableRef, is_listed
from discreet.query.check.row_scope import QuestionWalk
from discreet.query.check.selections import (
    Joining,
    Selection,
    Unmatched,
    conjuncts,
    shared_columns,
    using,
)
from discreet.query.parse import DIALECT, span_of
from discreet.query.tree import JoinKind

HANDLED = {"this", "on", "using", "side", "kind", "method"}
"""The parts of a JOIN that are looked at; any other is rejected."""

KINDS = {
    *(("", each) for each in ("", "INNER", "CROSS", "SEMI", "ANTI")),
    *((side, each) for side in ("LEFT", "RIGHT", "FULL") for each in ("", "OUTER")),
    *(("LEFT", each) for each in ("SEMI", "ANTI")),
}
"""The sides and kinds of joins that are joined."""


def selection_from(
    node: exp.Select, item: Item, walker: QuestionWalk, named: CommonTables
) -> Selection:
    """Return FROM as relations in a row."""
    return replace(_Folding(walker=walker, named=named).folded(item), node=node)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Folding:
    """Joins from left to right."""

    walker: QuestionWalk
    named: CommonTables

    def folded(self, item: Item) -> Selection:
        if isinstance(item, TableRef):
            return Selection(node=exp.Select(), first=item)
        found = self.folded(item.first)
        for node, each in _parts(item.joins):
            found = self.joined(found, node, self.folded(each))
        return found

    def joined(self, left: Selection, node: exp.Join, right: Selection) -> Selection:
        side, kind = _kind_of(node)
        if kind in FILTERS:
            return self.semi_joined(left, node, right, is_anti=kind == "ANTI")
        columns = shared_columns(node, left, right)
        conditions = (*conjuncts(node.args.get("on")), *using(columns, left, right))
        joining = Joining(node=node, source=right.first, kind=JoinKind.INNER, conditions=conditions)
        names = [each.name.casefold() for each in columns]
        match side:
            case "LEFT":
                found = self.left_joined(left, right, joining)
            case "RIGHT":
                found = self.right_joined(left, right, joining)
            case "FULL":
                found = self.full_joined(left, right, joining, names)
            case _:
                found = inner_joined(left, right, joining)
        return replace(found, shared=left.shared | right.shared | frozenset(names))

    def left_joined(self, left: Selection, right: Selection, joining: Joining) -> Selection:
        tables: tuple[str, ...] = ()
        if right.has_private:
            source = self.one(right, joining, is_tied=left.has_private)
        else:
            source = _only(right, joining, left)
            tables = (source.name,)
        if right.has_private and not left.has_private:
            missing = _unmatched(left, joining)
            return replace(left.joined(replace(joining, source=source)), unmatched=missing)
        found = left.joined(_optional(joining, source))
        kept = None if left.unmatched is None else left.unmatched.joined((), *tables)
        return replace(found, unmatched=kept)

    def right_joined(self, left: Selection, right: Selection, joining: Joining) -> Selection:
        if right.has_private or not left.has_private:
            if left.has_private:
                source = self.one(left, joining, is_tied=True)
            else:
                source = _only(left, joining, right)
            found = _turned(right, _optional(joining, source))
            if right.unmatched is not None and not left.has_private:
                return replace(found, unmatched=right.unmatched.joined((), source.name))
            return found
        if left.unmatched is not None:
            raise _twice_unmatched(joining)
        missing = _unmatched(right, joining)
        return replace(inner_joined(left, right, joining), unmatched=missing)

    def full_joined(
        self, left: Selection, right: Selection, joining: Joining, names: list[str]
    ) -> Selection:
        if left.unmatched is not None or right.unmatched is not None:
            raise _twice_unmatched(joining)
        if left.has_private and right.has_private:
            sides = [self.one(each, joining, is_tied=True) for each in (left, right)]
            whole = replace(joining, source=sides[1])
            rows = full_join(sides[0], whole, names, self.walker, self.named)
            return Selection(node=exp.Select(), first=rows)
        if not left.has_private and not right.has_private:
            raise _public_outer(joining)
        public, private = (right, left) if left.has_private else (left, right)
        source = _only(public, joining, private)
        missing = _unmatched(public, joining)
        optional = _optional(joining, source)
        found = left.joined(optional) if left.has_private else _turned(right, optional)
        return replace(found, unmatched=missing)

    def semi_joined(
        self, left: Selection, node: exp.Join, right: Selection, *, is_anti: bool
    ) -> Selection:
        """Return the left side with a condition: whether the right side has a partner."""
        columns = shared_columns(node, left, right)
        conditions = [*conjuncts(node.args.get("on")), *using(columns, left, right)]
        source = node.meta[ASKED]
        if right.has_private:
            if not left.has_private:
                raise JoinError(
                    f"{node.kind} JOIN would show which rows of a public table occur in private "
                    "ones",
                    "Count them: use LEFT JOIN, with GROUP BY and COUNT of a private column",
                    span=span_of(node),
                )
            inner = exp.Select(
                expressions=[exp.Literal.number(1)],
                from_=exp.From(this=source),
                where=exp.Where(this=exp.and_(*conditions, copy=True)) if conditions else None,
            )
            found: exp.Expr = exp.Exists(this=inner)
        else:
            found = _in_public(conditions, source, right, node)
        test = exp.Not(this=found) if is_anti else found
        kept = None if left.unmatched is None else left.unmatched.joined((test,))
        return replace(left, moved=(*left.moved, test), unmatched=kept)

    def one(self, side: Selection, joining: Joining, *, is_tied: bool) -> TableRef:
        """Return private rows as one relation.

        If they are tied to others by the unit, their rows without one are nobody's partners.
        """
        if side.is_one:
            return side.first
        if side.unmatched is not None and not is_tied:
            raise _twice_unmatched(joining)
        return bracketed_rows(side, self.walker, self.named)


def inner_joined(left: Selection, right: Selection, joining: Joining) -> Selection:
    """Return both, one after the other; conditions on a side of several relations go to WHERE."""
    missing = None
    if not (left.has_private and right.has_private):
        conditions = joining.conditions
        if left.unmatched is not None:
            there = (*conditions, *right.inner_conditions)
            missing = left.unmatched.joined(there, *_names(right))
        elif right.unmatched is not None:
            there = (*conditions, *left.inner_conditions)
            missing = right.unmatched.joined(there, *_names(left))
    if right.is_one:
        return replace(left.joined(joining), unmatched=missing)
    bare = replace(joining, conditions=())
    moved = (*left.moved, *right.moved, *joining.conditions)
    written = (*left.written, *right.written)
    found = left.joined(bare, *right.joinings)
    return replace(found, moved=moved, order=written, unmatched=missing)


def _parts(
    joins: tuple[tuple[exp.Join, Item], ...],
) -> Iterator[tuple[exp.Join, Item]]:
    """Yield joins from left to right; a comma binds less than those that need all of its side."""
    waiting: list[tuple[exp.Join, Item]] = []
    for node, item in joins:
        if _is_comma(node):
            yield from _segment(waiting)
            waiting = [(node, item)]
        elif waiting:
            waiting.append((node, item))
        else:
            yield node, item
    yield from _segment(waiting)


def _segment(joins: list[tuple[exp.Join, Item]]) -> Iterator[tuple[exp.Join, Item]]:
    rest = joins[1:]
    if not any(_looks_left(node) for node, _ in rest):
        yield from joins
        return
    node, first = joins[0]
    yield node, Bracket(first=first, joins=tuple(rest))


def _is_comma(node: exp.Join) -> bool:
    return not any(value for name, value in node.args.items() if name != "this")


def _looks_left(node: exp.Join) -> bool:
    return bool(
        (node.side or "").upper() in ("RIGHT", "FULL")
        or node.args.get("method")
        or node.args.get("using")
    )


def _kind_of(node: exp.Join) -> tuple[str, str]:
    """Return the side and the kind of a JOIN, or reject what is not handled."""
    method = (node.args.get("method") or "").upper()
    side, kind = (node.side or "").upper(), (node.kind or "").upper()
    extra = [name for name, value in node.args.items() if value and name not in HANDLED]
    if extra or method not in ("", "NATURAL") or (side, kind) not in KINDS:
        what = " ".join(each for each in (method, side, kind, "JOIN") if each)
        raise JoinError(
            f"{what} is not supported on private tables",
            "Use JOIN, LEFT JOIN, RIGHT JOIN or FULL JOIN with ON",
            span=span_of(node),
        )
    return side, kind


def _in_public(
    conditions: list[exp.Expr], source: exp.Expr, right: Selection, node: exp.Join
) -> exp.Expr:
    """Return a SEMI JOIN with a public table as a list of its values; NULL is not among them."""
    test = conditions[0] if len(conditions) == 1 else None
    sides = [test.this, test.expression] if isinstance(test, exp.EQ) else []
    there = [each for each in sides if isinstance(each, exp.Column) and right.names.has(each)]
    mine = [each for each in sides if each not in there]
    if len(there) != 1 or len(mine) != 1:
        raise JoinError(
            f"{node.kind} JOIN with a public table needs ON with one equality of two columns",
            "Write IN (SELECT ...) or NOT IN (SELECT ...) in WHERE",
            span=span_of(node),
        )
    inner = exp.Select(expressions=[there[0].copy()], from_=exp.From(this=source))
    listed = exp.In(this=mine[0].copy(), query=exp.Subquery(this=inner))
    return exp.Coalesce(this=listed, expressions=[exp.false()])


def _turned(right: Selection, joining: Joining) -> Selection:
    """Return the right side with the left one joined to it, in the order of writing."""
    found = right.joined(joining)
    return replace(found, order=(joining.source.name, *right.written))


def _optional(joining: Joining, source: TableRef) -> Joining:
    return replace(joining, source=replace(source, is_optional=True), kind=JoinKind.LEFT)


def _unmatched(public: Selection, joining: Joining) -> Unmatched:
    """Return the rows of public tables without a partner; all of their groups must be known."""
    for each in public.sources:
        if not is_listed(each):
            raise JoinError(
                f"Rows of the noisy result {each.name} without a private partner cannot be kept",
                "Use JOIN",
                span=span_of(joining.node),
            )
    return Unmatched(tables=_names(public), conditions=public.inner_conditions)


def _names(selection: Selection) -> frozenset[str]:
    return frozenset(each.name for each in selection.sources)


def _only(public: Selection, joining: Joining, other: Selection) -> TableRef:
    """Return the one public table on a side of an outer join, or reject several."""
    if public.is_one:
        return public.first
    tables = " and ".join(each.name for each in public.sources)
    raise JoinError(
        f"An outer join with several public tables, {tables}, on one side is not supported",
        f"Join them one by one, each with LEFT JOIN, beginning with {other.first.name}",
        span=span_of(joining.node),
    )


def _twice_unmatched(joining: Joining) -> JoinError:
    return JoinError(
        f"{_written(joining.node)} follows a join that keeps rows of a public table without a "
        "private partner",
        "Use JOIN for one of the two, or write the query as two queries",
        span=span_of(joining.node),
    )


def _public_outer(joining: Joining) -> UnsupportedError:
    return UnsupportedError(
        "FULL JOIN of two public tables is not supported next to a private table",
        "Use LEFT JOIN, or ask the data owner for a public table that holds both",
        span=span_of(joining.node),
    )


def _written(node: exp.Join) -> str:
    side = (node.side or "").upper()
    return f"{side} JOIN {node.this.sql(dialect=DIALECT)}".strip()
