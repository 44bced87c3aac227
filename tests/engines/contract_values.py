"""A table of awkward values of every kind, and expressions over it as an engine computes them."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import cache
from math import isclose, ulp
from typing import Any

import pyarrow as pa

from discreet.catalog.schema import Column, Kind, PrivateTable, RowUnit, Value
from discreet.engines.base import Engine
from discreet.query.expressions.facts import literal
from discreet.query.tree import (
    ContributionBounding,
    ExactQuery,
    Expression,
    Relation,
    Scan,
    map_columns,
)
from discreet.tables import ARROW_TYPES
from tests.attacks.clinic import spread
from tests.engines.made import column, select
from tests.statements import unbound

AWKWARD: dict[Kind, tuple[Value, ...]] = {
    Kind.BOOLEAN: (False, True, None),
    Kind.INTEGER: (
        *(0, 1, -1, 2, -7, 60, 2**31, -(2**31) - 1, 2**62, 2**63 - 1, -(2**63), None),
        2**60 + 2**36 + 1,  # as a double it is half way between two numbers of 32 bits
    ),
    Kind.REAL: (
        *(
            0.0,
            -0.0,
            1.0,
            -1.0,
            -1.5,
            0.5,
            2.5,
            0.1,
            0.3,
            7.0,
            1e15,
            123456789012345.6,
            1e16,
            -3e-5,
        ),
        *(5e-324, -5e-324, 2.0**-1022, 1e-160, 1e160, 1.7976931348623157e308, -1e308, 2.0**63),
        *(2.0**53 + 2, 0.49999999999999994, 1e300, -1e-300, 709.7827128933841, -745.2, None),
    ),
    Kind.TEXT: (
        *("", "a", "A", "'; DROP TABLE t --", "nan", "1e400", "-1e-400", "-7", " 7.5\t", "1_000"),
        *(
            "ß👍%_",
            "É",
            "é",
            "Zebra",
            "ǅ",
            "2024-02-30",
            "2024-2-9",
            "2024/02/09 24:00",
            "0x1F",
            ".",
        ),
        *(" Epoch", "infinity"),
        *("2024-02-29 23:59:59.9999999+02", "true", "NO", "  a  ", "{0}", "a\\b", '"', "1e3", None),
        "0.5000000298023223877",  # likewise
    ),
    Kind.DATE: (
        *(date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29), date(1969, 12, 31)),
        *(date(2000, 1, 1), date(1999, 12, 31), date(99, 3, 31), None),
    ),
    Kind.TIMESTAMP: (
        *(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999), datetime(1970, 1, 1)),
        *(datetime(2024, 2, 29, 12, 30, 15, 250001), datetime(1969, 12, 31, 23, 59, 59, 999999)),
        *(datetime(1901, 1, 1, 0, 0, 1), None),
    ),
    Kind.TIMESTAMP_TZ: (
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        datetime(2024, 3, 31, 1, 59, 59, 5, tzinfo=UTC),
        None,
    ),
}

ROWS = max(map(len, AWKWARD.values())) ** 2
PLACES = 3
"""So many columns of each kind."""


def name_of(kind: Kind, place: int) -> str:
    return f"{kind.name.casefold()}_{place}"


@cache
def awkward_table() -> pa.Table:
    """Return rows in which all values of a kind meet each other, NULL among them."""
    columns: dict[str, Any] = {"row": pa.array(range(ROWS), pa.int64())}
    for kind, values in AWKWARD.items():
        for place in range(PLACES):
            chosen = [values[_chosen(i, place, len(values))] for i in range(ROWS)]
            columns[name_of(kind, place)] = pa.array(chosen, ARROW_TYPES[kind])
    return pa.table(columns)


def _chosen(row: int, place: int, size: int) -> int:
    """Return which value stands in a row: those of the first two columns meet, all with all."""
    return row // size**place % size if place < 2 else spread(row, size)


def _private() -> PrivateTable:
    columns = [Column(name="row", kind=Kind.INTEGER)]
    columns += [
        Column(name=name_of(kind, place), kind=kind) for kind in AWKWARD for place in range(PLACES)
    ]
    return PrivateTable(name="awkward", columns=tuple(columns), unit=RowUnit())


def over_table(expression: Expression) -> Expression:
    """Return an expression over columns x0, x1, ... as one over the table's."""
    return map_columns(
        expression,
        lambda each: column(name_of(each.facts.kind, int(each.name[1:])), each.facts.kind),
    )


def evaluated(
    engine: Engine, expressions: Sequence[Expression], *, inside: bool = False
) -> list[tuple[object, ...]]:
    """Return what expressions are in each row, as keys or as columns of an inner SELECT."""
    keys = (column("row"), *map(over_table, expressions))
    rows: Relation = Scan(table=_private())
    if inside:
        rows = select(rows, *keys)
        keys = tuple(column(f"c{n}", each.facts.kind, "rows") for n, each in enumerate(keys))
    query = ExactQuery(
        rows=rows,
        name="rows" if inside else "v",
        keys=keys,
        bounding=ContributionBounding.NONE,
        contribution_limit=1,
        sums=(literal(1),),
    )
    found = engine.run(unbound(query), ()).unseal().sort_by("k0")
    return list(
        zip(*(found.column(f"k{n + 1}").to_pylist() for n in range(len(expressions))), strict=True)
    )


def is_same(found: object, expected: object, ulps: int = 0) -> bool:
    """Return whether two values are equal; reals may be so many units of the last place apart."""
    if isinstance(found, float) and isinstance(expected, float):
        return found == expected or isclose(
            found, expected, rel_tol=0, abs_tol=ulps * ulp(expected)
        )
    return type(found) is type(expected) and found == expected
