"""How many rows of a public, constant or released table one row can meet, for any private data.

Rows are counted by the columns that are tied to what is known before. Of a released table this
must be known before it is released. Proof: docs/proofs/measures.md, Lemma 5.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from sqlglot import exp

from discreet.catalog.schema import Kind, PublicTable, Value
from discreet.errors import UnsupportedError
from discreet.query.check.relations import (
    ConstantTable,
    OutputColumn,
    PublicReader,
    ReleasedTable,
    TableRef,
    public_of,
    quoted,
)
from discreet.query.parse import span_of

EXACT_KINDS = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.TEXT, Kind.DATE})
"""Kinds whose values are equal only if they are the same."""


JoinEquality = tuple[tuple[TableRef, OutputColumn], tuple[TableRef, OutputColumn]]
"""Two columns that are equal in every row of the result, or of what an optional side adds to it."""


def turned(tie: JoinEquality, source: TableRef) -> JoinEquality | None:
    """Return the tie with this source first, if it is one of the two."""
    left, right = tie
    if left[0].name == source.name:
        return left, right
    return (right, left) if right[0].name == source.name else None


def fan_out(
    source: TableRef, ties: Iterable[JoinEquality], public: PublicReader, node: exp.Expr
) -> int:
    """Return how many rows of a table agree in all columns that are tied, or reject if unknown."""
    tied = _tied_columns(source, ties)
    match source.relation:
        case ConstantTable() as constants:
            return most_alike(constants, tied)
        case ReleasedTable() as released:
            return _released_fan_out(source, released, tied, node)
    table, names = public_of(source), [each.name for each in source.columns]
    columns = [table.columns[names.index(each)].name for each in tied]
    grouping = f" GROUP BY {', '.join(map(quoted, columns))}" if columns else ""
    counted = f"SELECT count(*) AS n FROM {quoted(table.name)}{grouping}"  # noqa: S608
    ((most,),) = public.values(f"SELECT max(n) FROM ({counted})")  # noqa: S608
    return max(1, int(most or 0))  # type: ignore[arg-type]


def _tied_columns(source: TableRef, ties: Iterable[JoinEquality]) -> list[str]:
    found = (mine[0][1].name for tie in ties if (mine := turned(tie, source)) is not None)
    return list(dict.fromkeys(found))


def most_alike(table: ConstantTable, columns: Sequence[str]) -> int:
    """Return how many rows of a list of constants agree in these columns at most."""
    names = [each.name for each in table.columns]
    return _most_alike(table.rows, [names.index(each) for each in columns])


def _most_alike(rows: Iterable[tuple[Value, ...]], places: Sequence[int]) -> int:
    counted = Counter(tuple(row[place] for place in places) for row in rows)
    return max(counted.values(), default=1)


def _released_fan_out(
    source: TableRef, table: ReleasedTable, tied: Sequence[str], node: exp.Expr
) -> int:
    """Return how many rows can agree, whatever is released."""
    if table.key is not None and set(table.key) <= set(tied):
        return 1
    if table.groups is not None:
        return _most_alike(
            table.groups, [table.places[each] for each in tied if each in table.places]
        )
    fix = f"In {source.name}, GROUP BY the columns that the join compares, and no others"
    if table.key:
        fix = f"Join on {' and '.join(f'{source.name}.{each}' for each in table.key)} as well"
    raise UnsupportedError(
        f"One row may match any number of rows of {source.name}, which is a noisy result",
        fix,
        span=span_of(node),
    )


def sure_fan_out(
    source: TableRef, ties: Iterable[JoinEquality], factors: Mapping[str, int]
) -> int | None:
    """Return it if it holds whenever the query runs, or None.

    Rows that were counted must be those that are met, and equality of values that by which they
    were counted: no kinds are mixed.
    """
    found = list(ties)
    match source.relation:
        case PublicTable(may_change=False) | ConstantTable():
            pass
        case ReleasedTable(key=key) if key is not None and set(key) <= set(
            _tied_columns(source, found)
        ):
            pass
        case _:
            return None
    kinds = [
        {out.facts.kind for _, out in mine}
        for tie in found
        if (mine := turned(tie, source)) is not None
    ]
    is_sure = all(len(each) == 1 and each <= EXACT_KINDS for each in kinds)
    return factors[source.name] if is_sure else None
