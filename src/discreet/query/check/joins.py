"""Joins on the unit, fan-outs of public tables, rows of a unit.

The most rows of a public table that one private row can match, for any private data.

Rows are counted by the columns that are tied to what is known before: to private rows, or to a
public table that was itself counted before. Two public tables that are tied to each other only are
no bound for both of them. Proof: docs/proofs/measures.md, Lemma 5.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from math import prod

from sqlglot import exp

from discreet.catalog.schema import PublicTable
from discreet.errors import JoinError, QuestionSizeError
from discreet.query.check.fan_outs import JoinEquality, fan_out, sure_fan_out, turned
from discreet.query.check.paths import is_path
from discreet.query.check.relations import (
    ConstantTable,
    Names,
    OutputColumn,
    PrivateRows,
    PublicReader,
    ReleasedTable,
    TableRef,
    private_of,
)
from discreet.query.check.selections import Joining, Selection, conjuncts
from discreet.query.parse import span_of
from discreet.query.questions import JoinProduct, LeftOut, LimitReason
from discreet.query.tree import (
    ConstantColumn,
    ConstantRows,
    Expression,
    Join,
    JoinKind,
    PublicRelation,
    PublicScan,
    Relation,
    ReleasedRows,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedTable:
    """What a JOIN adds, and what its columns are equal to."""

    source: TableRef
    is_inner: bool
    ties: tuple[JoinEquality, ...]


def bounding_equalities(joined: Sequence[JoinedTable]) -> list[list[JoinEquality]]:
    """Return for each JOIN the ties that bound it: those to private rows and to what comes before.

    Public tables are taken in an order of which each knows the ones before it, as far as there is
    one: ties that hold in every row may be used in any order. The optional side of a join comes
    when all before it are known.
    """
    waiting = [each for each in joined if not isinstance(each.source.relation, PrivateRows)]
    known: set[str] = set()
    found = {each.source.name: list(each.ties) for each in joined}
    while waiting:
        chosen = next(_told(waiting, known), waiting[0])
        found[chosen.source.name] = list(_known_ties(chosen, known))
        known.add(chosen.source.name)
        waiting.remove(chosen)
    return [found[each.source.name] for each in joined]


def _told(waiting: Sequence[JoinedTable], known: Collection[str]) -> Iterator[JoinedTable]:
    for number, each in enumerate(waiting):
        if (each.is_inner or number == 0) and any(_known_ties(each, known)):
            yield each


def _known_ties(tied: JoinedTable, known: Collection[str]) -> Iterator[JoinEquality]:
    for tie in tied.ties:
        mine = turned(tie, tied.source)
        if mine is None:
            continue
        other = mine[1][0]
        if isinstance(other.relation, PrivateRows) or other.name in known:
            yield tie


MOST_ROWS = 10_000_000
"""Of one unit, made by joins: with more of them, noise would drown any answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """Private rows beside others, before any filter."""

    rows: Relation
    name: str
    joins: tuple[Join, ...]
    contribution_limit: int
    reason: LimitReason
    one_row_per_unit: bool
    left_out: tuple[LeftOut, ...]
    conditions: tuple[exp.Expr, ...]
    """Conditions of joins that moved to WHERE, because the order of tables changed."""

    first: PrivateRows


def join_equalities(conditions: Iterable[exp.Expr], names: Names) -> Iterator[JoinEquality]:
    """Yield the pairs of columns that must be equal."""
    for each in conditions:
        sides = (each.this, each.expression) if isinstance(each, exp.EQ) else ()
        if len(sides) == 2 and all(isinstance(side, exp.Column) for side in sides):
            left, right = names.find(sides[0]), names.find(sides[1])
            if left[0].name != right[0].name:
                yield left, right


def join_all(
    selection: Selection,
    where: exp.Expr | None,
    names: Names,
    public: PublicReader,
    to_expression: Callable[[list[exp.Expr]], Expression],
) -> Joined:
    """Return the rows of FROM; every private relation is tied to the others by the unit."""
    base, rest, moved = _private_first(selection)
    shared_where = list(conjuncts(where))
    rest, turned_conditions = _tied_order(base, rest, [*moved, *shared_where], names)
    moved += turned_conditions
    factors = {base.name: private_of(base).contribution_limit}
    seen = [base]
    tied: list[JoinedTable] = []
    for each in rest:
        is_inner = each.kind is JoinKind.INNER
        everywhere = [*shared_where, *moved] if is_inner else []
        found = tuple(join_equalities([*each.conditions, *everywhere], names))
        tied.append(JoinedTable(source=each.source, is_inner=is_inner, ties=found))
        seen.append(each.source)
    bounding = bounding_equalities(tied)
    seen = [base]
    joins = []
    for each, all_ties in zip(rest, bounding, strict=True):
        _count_rows(each, seen, all_ties, factors, public)
        joins.append(
            Join(
                kind=each.kind,
                source=_joined_rows(each.source),
                name=each.source.name,
                on=to_expression(list(each.conditions)),
                fan_out=sure_fan_out(each.source, all_ties, factors),
            )
        )
        seen.append(each.source)
    limit = prod(factors.values())
    if joins:
        refuse_many_rows(limit, rest[-1].node)
    privates = [each for each in seen if isinstance(each.relation, PrivateRows)]
    first_rows = private_of(base)
    return Joined(
        rows=first_rows.rows,
        name=base.name,
        joins=tuple(joins),
        contribution_limit=limit,
        reason=_reason(privates, factors),
        one_row_per_unit=first_rows.one_row_per_unit and not joins,
        left_out=tuple(
            dict.fromkeys(rows for each in privates for rows in private_of(each).left_out)
        ),
        conditions=tuple(moved),
        first=first_rows,
    )


def refuse_many_rows(limit: int, node: exp.Join) -> None:
    """Reject a join that can make more rows of one unit than are allowed."""
    if limit > MOST_ROWS:
        raise QuestionSizeError(
            f"The join can make {limit:,} rows of one privacy unit, and at most {MOST_ROWS:,} are "
            "allowed",
            "Join fewer tables, or join on columns that match fewer rows",
            span=span_of(node),
        )


def _private_first(
    selection: Selection,
) -> tuple[TableRef, tuple[Joining, ...], list[exp.Expr]]:
    """Return a private relation to begin with; if the order changes, conditions move."""
    first, joinings = selection.first, selection.joinings
    if isinstance(first.relation, PrivateRows):
        return first, joinings, list(selection.moved)
    chosen = next(each for each in joinings if isinstance(each.source.relation, PrivateRows))
    rest = [replace(chosen, source=first, conditions=())]
    moved: list[exp.Expr] = []
    for each in joinings:
        is_inner = each.kind is JoinKind.INNER
        if is_inner:
            moved += each.conditions
        if each is not chosen:
            rest.append(replace(each, conditions=()) if is_inner else each)
    return chosen.source, tuple(rest), [*moved, *selection.moved] or [exp.true()]


def _tied_order(
    base: TableRef, rest: tuple[Joining, ...], everywhere: list[exp.Expr], names: Names
) -> tuple[tuple[Joining, ...], list[exp.Expr]]:
    """Return joins in an order in which each private relation is tied to one before it.

    Only the inner joins before any outer one change their order. Their conditions move then.
    """
    inner = list(takewhile(lambda each: each.kind is JoinKind.INNER, rest))
    conditions = [one for each in inner for one in each.conditions]
    ties = list(join_equalities([*everywhere, *conditions], names))
    seen, waiting, order = [base], list(inner), []
    while waiting:
        chosen = next((each for each in waiting if _is_ready(each, seen, ties)), waiting[0])
        waiting.remove(chosen)
        seen.append(chosen.source)
        order.append(chosen)
    if order == inner:
        return rest, []
    begun = (replace(each, conditions=()) for each in order)
    return (*begun, *rest[len(inner) :]), conditions


def _is_ready(joining: Joining, seen: list[TableRef], ties: list[JoinEquality]) -> bool:
    source = joining.source
    if not isinstance(source.relation, PrivateRows):
        return True
    others = {each.name for each in seen if isinstance(each.relation, PrivateRows)}
    for tie in ties:
        mine = turned(tie, source)
        if mine is None or mine[1][0].name not in others:
            continue
        if _are_units(*mine[0], *mine[1]) or is_path(*mine) or is_path(*reversed(mine)):
            return True
    return False


def _joined_rows(source: TableRef) -> Relation | PublicRelation:
    match source.relation:
        case PrivateRows(rows=rows):
            return rows
        case PublicTable(name=name):
            return PublicScan(table=name)
        case ConstantTable(columns=columns, rows=rows):
            return ConstantRows(columns=_constant_columns(columns), rows=rows)
        case ReleasedTable(number=number, columns=columns, key=key):
            names = [each.name for each in columns]
            places = None if key is None else tuple(sorted(map(names.index, key)))
            listed = _constant_columns(columns)
            return ReleasedRows(number=number, columns=listed, key=places)
        case _:
            raise TypeError(source.name)


def _constant_columns(columns: Iterable[OutputColumn]) -> tuple[ConstantColumn, ...]:
    return tuple(ConstantColumn(name=each.name, kind=each.facts.kind) for each in columns)


def _count_rows(
    joining: Joining,
    seen: list[TableRef],
    all_ties: Sequence[JoinEquality],
    factors: dict[str, int],
    public: PublicReader,
) -> None:
    """Note how many rows of a unit the join can make of one, or reject it."""
    source = joining.source
    if not isinstance(source.relation, PrivateRows):
        factors[source.name] = fan_out(source, all_ties, public, joining.node)
        return
    mine = [each for each in (turned(tie, source) for tie in all_ties) if each is not None]
    others = [each for each in seen if isinstance(each.relation, PrivateRows)]
    for (here, out), (there, other) in mine:
        if not any(there.name == each.name for each in others):
            continue
        leads_to = out.leads_to & other.leads_to
        if _are_units(here, out, there, other) or (leads_to and joining.is_lookup):
            limit = source.relation.contribution_limit
            factors[source.name] = 1 if joining.is_lookup else limit
            return
        if is_path((here, out), (there, other)):
            alone = factors[there.name] if joining.kind is JoinKind.LEFT else 0
            factors[source.name] = source.relation.contribution_limit + alone
            factors[there.name] = 1 if other.table is None else factors[there.name]
            return
        if is_path((there, other), (here, out)):
            is_key = out.table is None  # else rows of a join in brackets may repeat it
            factors[source.name] = 1 if is_key else source.relation.contribution_limit
            return
        if leads_to:
            factors[source.name] = source.relation.contribution_limit
            return
    if joining.is_lookup:
        raise JoinError(
            "The subquery must look at rows of the same privacy unit as the outer row",
            "Add an equality of both privacy units to its WHERE clause",
            span=span_of(joining.node),
        )
    unit = _unit_of(source)
    raise JoinError(
        f"Private tables must be joined on the privacy unit{'' if unit is None else f', {unit}'}",
        _join_fix(joining, others),
        span=span_of(joining.node),
    )


def _are_units(here: TableRef, out: OutputColumn, there: TableRef, other: OutputColumn) -> bool:
    if not (holds_unit(here, out) and holds_unit(there, other)):
        return False
    if private_of(here).unit_kind is not private_of(there).unit_kind:
        raise JoinError(
            f"The privacy units of {here.name} and {there.name} have different types",
            "Ask the data owner to store both columns with the same type",
        )
    return True


def holds_unit(source: TableRef, out: OutputColumn) -> bool:
    """Return whether a column holds the unit there, be it the optional side of a join or not."""
    place = next(i for i, each in enumerate(source.columns) if each.name == out.name)
    own = private_of(source).columns[place]
    return own.is_unit or own.is_unit_or_null


def _join_fix(joining: Joining, others: list[TableRef]) -> str:
    source = joining.source
    left = next((each for each in others if _unit_of(each)), None)
    if left is None or _unit_of(source) is None:
        return "Join them on the column of the privacy unit, or query each table separately"
    pair = f"{left.name}.{_unit_of(left)} = {source.name}.{_unit_of(source)}"
    if shared := joining.node.args.get("using"):
        names = dict.fromkeys([str(_unit_of(source)), *(each.name for each in shared)])
        is_same = _unit_of(left) == _unit_of(source)
        return f"Write USING ({', '.join(names)})" if is_same else f"Join them with ON {pair}"
    return f"Add {pair} to the {'ON' if joining.node.args.get('on') else 'WHERE'} clause"


def _unit_of(source: TableRef) -> str | None:
    """Return the name of the unit's column, on the optional side of a join as well."""
    pairs = zip(source.columns, private_of(source).columns, strict=True)
    return next((out.name for out, own in pairs if own.is_unit), None)


def _reason(privates: list[TableRef], factors: dict[str, int]) -> LimitReason:
    if len(factors) == 1:
        return private_of(privates[0]).reason
    return JoinProduct(factors=tuple(factors.items()))
