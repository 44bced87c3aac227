"""GROUPING SETS, ROLLUP and CUBE over private rows: one release for each set of keys.

The released tables are put together by UNION ALL, with NULL for the keys that a set lacks. What
the SELECT says of its groups is then said of that table. Every release costs its part of ε: sums of
the finest groups would cost less where they are few, but they would be less accurate where they
are many, and only counts and sums can be added up.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod

from sqlglot import exp

from discreet.errors import NotGroupedError, QuestionSizeError, UnsupportedError
from discreet.query.check.intervals import WITH_INTERVAL, ends_of
from discreet.query.check.relations import Names, PostQuery
from discreet.query.check.released_tables import CHOSEN, table_named
from discreet.query.parse import DIALECT, span_of
from discreet.query.questions import Aggregate, Aggregation
from discreet.query.tree import Expression

MOST_SETS = 64
"""No more sets of keys are released for one SELECT."""

SETS = "__sets"
"""What the groups of all sets are called while they are put together."""

GROUPINGS = (exp.Grouping, exp.GroupingId)
"""GROUPING(a, b): which of these keys a group lacks."""

KeySet = tuple[exp.Expr, ...]


# --------------------------------------------------------------------------- what GROUP BY says


def key_sets(node: exp.Select) -> list[KeySet] | None:
    """Return the sets of keys that GROUP BY lists; None if it has one only and does not say so."""
    group = node.args.get("group")
    if group is None:
        return [()] if _asks_for_sets(node) else None
    if group.args.get("all"):
        return None
    parts = [*group.expressions]
    for name, kind in (("rollup", exp.Rollup), ("cube", exp.Cube)):
        for each in group.args.get(name) or ():  # GROUP BY a, b WITH ROLLUP
            parts = [*parts, each] if each.expressions else [kind(expressions=parts)]
    has_sets = any(isinstance(each, exp.Rollup | exp.Cube | exp.GroupingSets) for each in parts)
    is_empty = any(isinstance(each, exp.Tuple) and not each.expressions for each in parts)
    if not has_sets and not is_empty and not _asks_for_sets(node):
        return None
    number = prod(map(_number, parts))
    if number > MOST_SETS:
        raise QuestionSizeError(
            f"GROUP BY has {number:,} sets of keys, and at most {MOST_SETS} are allowed",
            "Use fewer columns in CUBE, or list the sets with GROUPING SETS",
            span=span_of(group),
        )
    return [tuple(key for each in one for key in each) for one in product(*map(_sets, parts))]


def _asks_for_sets(node: exp.Select) -> bool:
    clauses = (*node.expressions, node.args.get("having"), node.args.get("order"))
    return any(each is not None and each.find(*GROUPINGS) is not None for each in clauses)


def _number(node: exp.Expr) -> int:
    """Return how many sets a part of GROUP BY stands for, without listing them."""
    match node:
        case exp.Rollup():
            return len(node.expressions) + 1
        case exp.Cube():
            return int(2 ** min(len(node.expressions), 99))
        case exp.GroupingSets():
            return sum(map(_number, node.expressions))
        case _:
            return 1


def _sets(node: exp.Expr) -> list[KeySet]:
    match node:
        case exp.Rollup():
            keys = [_columns(each) for each in node.expressions]
            return [_joined(keys[:size]) for size in range(len(keys), -1, -1)]
        case exp.Cube():
            keys = [_columns(each) for each in node.expressions]
            sizes = range(len(keys), -1, -1)
            return [_joined(each) for size in sizes for each in combinations(keys, size)]
        case exp.GroupingSets():
            return [found for each in node.expressions for found in _sets(each)]
        case _:
            return [_columns(node)]


def _columns(node: exp.Expr) -> KeySet:
    return tuple(node.expressions) if isinstance(node, exp.Tuple) else (node.unnest(),)


def _joined(keys: Sequence[KeySet]) -> KeySet:
    return tuple(key for each in keys for key in each)


def refuse_unit(keys: Mapping[Expression, exp.Expr], names: Names) -> None:
    """Reject sets of keys with the unit among them: some would be groups of one unit each."""
    for key, node in keys.items():
        if names.is_unit(key):
            unit = node.sql(dialect=DIALECT)
            raise UnsupportedError(
                f"GROUPING SETS, ROLLUP and CUBE cannot contain the privacy unit, {unit}",
                f"Write GROUP BY {unit} in a subquery, and leave {unit} out of this GROUP BY",
                span=span_of(node),
            )


def refuse_empty(sets: Sequence[Sequence[exp.Expr]], node: exp.Select) -> None:
    """Reject a set without keys in a SELECT without aggregates: nothing is asked of all rows."""
    if not all(sets):
        raise UnsupportedError(
            "GROUP BY has a set without keys, and there is no aggregate to compute for it",
            "Add an aggregate such as COUNT(*)",
            span=span_of(node.args.get("group") or node),
        )


# --------------------------------------------------------------------------- released sets


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedSet:
    """The release of one set of keys."""

    number: int
    keys: tuple[Expression, ...]
    """In the order of the release's k0, k1, ..."""
    places: tuple[int, ...]
    """Where the release has each aggregate of the SELECT."""


def missing_keys(
    node: exp.Expr, asked: Iterable[Expression], sets: Sequence[ReleasedSet]
) -> list[int]:
    """Return GROUPING of keys for each set: a bit for each key, which is 1 where it is missing."""
    known = [*asked]
    if not all(any(key in each.keys for each in sets) for key in known):
        text = node.sql(dialect=DIALECT)
        raise NotGroupedError(
            f"{text} must name columns of GROUP BY",
            "Write columns of GROUP BY in its brackets",
            span=span_of(node),
        )
    return [
        sum(2**bit for bit, key in enumerate(reversed(known)) if key not in each.keys)
        for each in sets
    ]


def put_together(
    sets: Sequence[ReleasedSet],
    releases: Sequence[Aggregation],
    keys: Sequence[Expression],
    groupings: Sequence[Sequence[int]],
) -> PostQuery:
    """Return the groups of all sets: keys k0, ..., aggregates a0, ... and GROUPING as g0, ..."""
    made = [releases[sets[0].number].aggregates[place] for place in sets[0].places]
    branches = [
        _branch(each, keys, made, [values[place] for values in groupings])
        for place, each in enumerate(sets)
    ]
    tree: exp.Query = branches[0]
    for each in branches[1:]:
        tree = exp.Union(this=tree, expression=each, distinct=False)
    names = [f"a{i}" for i in range(len(made))]
    return PostQuery(
        tree=tree,
        columns=(
            *(f"k{i}" for i in range(len(keys))),
            *names,
            *(f"g{i}" for i in range(len(groupings))),
        ),
        spreads={
            name: f"{name}_spread"
            for name, each in zip(names, made, strict=True)
            if each.statistic not in CHOSEN
        },
        noisy=frozenset(names),
        ends=ends_of(made),
        is_public=False,
        is_single=len(sets) == 1 and not sets[0].keys,
    )


def _branch(
    one: ReleasedSet,
    keys: Sequence[Expression],
    made: Sequence[Aggregate],
    groupings: Sequence[int],
) -> exp.Select:
    columns = [
        _named(_column(f"k{one.keys.index(key)}") if key in one.keys else exp.Null(), f"k{i}")
        for i, key in enumerate(keys)
    ]
    for i, (place, each) in enumerate(zip(one.places, made, strict=True)):
        ends = ("", "_low", "_high") if each.statistic in WITH_INTERVAL else ("",)
        bars = () if each.statistic in CHOSEN else ("_spread",)
        columns += [_named(_column(f"a{place}{end}"), f"a{i}{end}") for end in (*ends, *bars)]
    columns += [_named(exp.Literal.number(value), f"g{i}") for i, value in enumerate(groupings)]
    return exp.Select(expressions=columns, from_=exp.From(this=table_named(one.number)))


def _named(node: exp.Expr, name: str) -> exp.Expr:
    return exp.alias_(node, name, quoted=True, copy=False)


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True))
