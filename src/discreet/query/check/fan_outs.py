"""The most rows of a public table that one private row can match, for any private data.

Rows are counted by the columns that are tied to what is known before: to private rows, or to a
public table that was itself counted before. Two public tables that are tied to each other only are
no bound for both of them. Proof: docs/proofs/measures.md, Lemma 5.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from discreet.catalog.schema import Kind, PublicTable
from discreet.query.check.sources import Out, Private, PublicReader, Source, public_of, quoted

EXACT_KINDS = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.TEXT, Kind.DATE})
"""Kinds whose values are equal only if they are the same."""

Tie = tuple[tuple[Source, Out], tuple[Source, Out]]
"""Two columns that are equal in every row of the result, or of what an optional side adds to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tied:
    """What a JOIN adds, and what its columns are equal to."""

    source: Source
    is_inner: bool
    ties: tuple[Tie, ...]


def turned(tie: Tie, source: Source) -> Tie | None:
    """Return the tie with this source first, if it is one of the two."""
    left, right = tie
    if left[0].name == source.name:
        return left, right
    return (right, left) if right[0].name == source.name else None


def bounding_ties(joined: Sequence[Tied]) -> list[list[Tie]]:
    """Return for each JOIN the ties that bound it: those to private rows and to what comes before.

    Public tables are taken in an order of which each knows the ones before it, as far as there is
    one: ties that hold in every row may be used in any order. The optional side of a join comes
    when all before it are known.
    """
    waiting = [each for each in joined if not isinstance(each.source.relation, Private)]
    known: set[str] = set()
    found = {each.source.name: list(each.ties) for each in joined}
    while waiting:
        chosen = next(_told(waiting, known), waiting[0])
        found[chosen.source.name] = list(_known_ties(chosen, known))
        known.add(chosen.source.name)
        waiting.remove(chosen)
    return [found[each.source.name] for each in joined]


def _told(waiting: Sequence[Tied], known: Collection[str]) -> Iterator[Tied]:
    for number, each in enumerate(waiting):
        if (each.is_inner or number == 0) and any(_known_ties(each, known)):
            yield each


def _known_ties(tied: Tied, known: Collection[str]) -> Iterator[Tie]:
    for tie in tied.ties:
        mine = turned(tie, tied.source)
        if mine is None:
            continue
        other = mine[1][0]
        if isinstance(other.relation, Private) or other.name in known:
            yield tie


def fan_out(source: Source, ties: Iterable[Tie], public: PublicReader) -> int:
    """Return how many rows of a public table agree in all columns that are tied."""
    table, names = public_of(source), [each.name for each in source.outs]
    columns = dict.fromkeys(
        table.columns[names.index(mine[0][1].name)].name
        for tie in ties
        if (mine := turned(tie, source)) is not None
    )
    grouping = f" GROUP BY {', '.join(map(quoted, columns))}" if columns else ""
    counted = f"SELECT count(*) AS n FROM {quoted(table.name)}{grouping}"  # noqa: S608
    ((most,),) = public.values(f"SELECT max(n) FROM ({counted})")  # noqa: S608
    return max(1, int(most or 0))  # type: ignore[arg-type]


def sure_fan_out(source: Source, ties: Iterable[Tie], factors: Mapping[str, int]) -> int | None:
    """Return it if it holds whenever the query runs, or None.

    Rows that were counted must be those that are met, and equality of values that by which they
    were counted: no kinds are mixed.
    """
    if not isinstance(source.relation, PublicTable) or source.relation.may_change:
        return None
    kinds = [
        {out.facts.kind for _, out in mine}
        for tie in ties
        if (mine := turned(tie, source)) is not None
    ]
    is_sure = all(len(each) == 1 and each <= EXACT_KINDS for each in kinds)
    return factors[source.name] if is_sure else None
