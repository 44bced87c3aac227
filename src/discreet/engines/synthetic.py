"""Synthetic released tables, on which post-processing is tried before anything is charged."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from fractions import Fraction

import pyarrow as pa

from discreet.arrow_values import REALS, array_of
from discreet.catalog.schema import Kind, Value
from discreet.query.check.intervals import ends_of
from discreet.query.check.relations import RELEASED
from discreet.query.questions import Aggregation, DeclaredGroups, Key, Question
from discreet.tables import ARROW_TYPES

MOST_KEYS = 48
"""So many known groups are taken."""


FOUND = 4
"""The number of synthetic groups where groups are undeclared."""


NUMBERS: Mapping[str, tuple[tuple[float, ...], bool]] = {
    "small": ((7, 3, 12, 5), True),
    "large": ((1_200, 84_000, 950, 31_000), True),
    "zero": ((0,), False),
    "one": ((1,), False),
    "negative": ((-3, -41, -1, -1_000), False),
    "mixed": ((-2, 0, 5, 10**6), False),
    "extreme": ((10**15, -(10**15)), False),
}
"""Noisy numbers, and whether they are such as most tables hold."""


OTHERS: Mapping[Kind, tuple[Value, ...]] = {
    Kind.BOOLEAN: (True, False),
    Kind.TEXT: ("2024", "2024-02-29", "a", "12", "", "é%_{}", "x" * 100),
    Kind.DATE: (date(2024, 2, 29), date(1970, 1, 1), date(1, 1, 1), date(9999, 12, 31)),
    Kind.TIMESTAMP: (
        *(datetime(2024, 2, 29, 12, 30), datetime(1970, 1, 1), datetime(1, 1, 1)),
        datetime(9999, 12, 31, 23, 59, 59, 999_999),
    ),
    Kind.TIMESTAMP_TZ: (
        *(datetime(2024, 2, 29, 12, 30, tzinfo=UTC), datetime(1970, 1, 1, tzinfo=UTC)),
        *(datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, tzinfo=UTC)),
    ),
}
"""Values of other kinds: the first are usual."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticTables:
    """Tables such as a query may release."""

    tables: Mapping[str, pa.Table]
    is_usual: bool
    """Whether their numbers are such as most tables hold."""


def released_schemas(releases: Sequence[Aggregation]) -> dict[str, pa.Schema]:
    """Return the columns that SQL finds in each released table, before there is one."""
    return {f"{RELEASED}{i}": _schema(each) for i, each in enumerate(releases)}


def _schema(release: Aggregation) -> pa.Schema:
    keys = [(each.name, ARROW_TYPES[each.expression.facts.kind]) for each in release.keys]
    aggregates = [(f"a{i}", ARROW_TYPES[each.kind]) for i, each in enumerate(release.aggregates)]
    margins = [(f"{name}_spread", pa.float64()) for name, _ in aggregates]
    kinds = dict(aggregates)
    ends = [
        (end, kinds[name]) for name, pair in ends_of(release.aggregates).items() for end in pair
    ]
    return pa.schema([*keys, *aggregates, *margins, *ends])


def synthetic_tables(
    question: Question, schemas: Mapping[str, pa.Schema]
) -> Iterator[SyntheticTables]:
    """Yield tables that a query may release; they follow from it and public keys alone.

    Known groups are all there; of others there are some, one, or none.
    """
    if not question.aggregations:
        return
    releases = dict(zip(schemas, question.aggregations, strict=True))

    def tables(numbers: Sequence[float | None], found: range) -> dict[str, pa.Table]:
        return {
            name: _table(releases[name], schema, numbers, found) for name, schema in schemas.items()
        }

    for numbers, is_usual in NUMBERS.values():
        yield SyntheticTables(tables=tables(numbers, range(FOUND)), is_usual=is_usual)
    yield SyntheticTables(tables=tables((None,), range(FOUND)), is_usual=False)
    if any(not isinstance(each.groups, DeclaredGroups) for each in question.aggregations):
        yield SyntheticTables(tables=tables(NUMBERS["small"][0], range(0)), is_usual=False)
        for first in range(FOUND):
            found = range(first, first + 1)
            yield SyntheticTables(tables=tables(NUMBERS["small"][0], found), is_usual=True)


def _table(
    release: Aggregation, schema: pa.Schema, numbers: Sequence[float | None], found: range
) -> pa.Table:
    keys = _keys(release, found)
    rows = len(keys[0]) if keys else 1
    columns = [*keys, *(_values(each, rows, numbers) for each in list(schema)[len(keys) :])]
    return pa.Table.from_arrays(columns, schema=schema)


def _keys(release: Aggregation, found: range) -> list["pa.Array[pa.Scalar[pa.DataType]]"]:
    """Return the groups of a release: those that are known, or different ones."""
    known = release.groups.rows[:MOST_KEYS] if isinstance(release.groups, DeclaredGroups) else None
    return [
        _array([row[place] for row in known], key.expression.facts.kind)
        if known is not None
        else _different(key, found)
        for place, key in enumerate(release.keys)
    ]


def _different(key: Key, found: range) -> "pa.Array[pa.Scalar[pa.DataType]]":
    kind = key.expression.facts.kind
    values: Sequence[Value] = OTHERS.get(kind, (7, 1, -3, 2024))
    return _array([values[number % len(values)] for number in found], kind)


def _values(
    field: "pa.Field[pa.DataType]", rows: int, numbers: Sequence[float | None]
) -> "pa.Array[pa.Scalar[pa.DataType]]":
    """Return released numbers, or values of another kind that were chosen."""
    kind = next(kind for kind, type_ in ARROW_TYPES.items() if type_ == field.type)
    others = None if numbers == (None,) else OTHERS.get(kind)
    start = 0 if others is None else NUMBERS_BY_PLACE.get(tuple(numbers), 0)
    values: Sequence[Value] = numbers if others is None else others
    return _array([values[(start + row) % len(values)] for row in range(rows)], kind)


NUMBERS_BY_PLACE: dict[tuple[float | None, ...], int] = {
    numbers: place for place, (numbers, _) in enumerate(NUMBERS.values())
}
"""Each table begins with another of the other values."""


def _array(values: Sequence[Value], kind: Kind) -> "pa.Array[pa.Scalar[pa.DataType]]":
    if kind is not Kind.REAL:
        return array_of(values, ARROW_TYPES[kind])
    reals = [None if each is None else float(Fraction(each)) for each in values]  # type: ignore[arg-type]
    return array_of(reals, REALS)
