"""Small trees and tables for tests of engines."""

from fractions import Fraction
from typing import Any

import pyarrow as pa

from discreet.catalog.schema import Column as StoredColumn
from discreet.catalog.schema import ColumnUnit, Kind, PrivateTable, Unit
from discreet.engines.base import Engine
from discreet.engines.duckdb import DuckDbEngine
from discreet.query.expressions.facts import literal
from discreet.query.tree import (
    ColumnOf,
    ContributionBounding,
    ExactQuery,
    Expression,
    Facts,
    Interval,
    NamedExpression,
    Relation,
    Scan,
    Select,
)
from tests.statements import unbound

TRUE = literal(True)


def between(low: float, high: float) -> Interval:
    return Interval(low=Fraction(low), high=Fraction(high))


def column(
    name: str, kind: Kind = Kind.INTEGER, source: str = "v", interval: Interval | None = None
) -> ColumnOf:
    facts = Facts(kind=kind, interval=interval or Interval())
    return ColumnOf(source=source, name=name, facts=facts)


def private(engine: Engine, table: str = "visits", unit: Unit | None = None) -> PrivateTable:
    return PrivateTable(
        name=table,
        columns=engine.columns(table),
        unit=unit or ColumnUnit(column="patient_id"),
    )


def table_of(name: str, unit: Unit, **kinds: Kind) -> PrivateTable:
    columns = tuple(StoredColumn(name=each, kind=kind) for each, kind in kinds.items())
    return PrivateTable(name=name, columns=columns, unit=unit)


def select(
    source: Relation, *columns: Expression, name: str = "v", where: Expression | None = None
) -> Select:
    """Return rows with columns c0, c1, ... of these expressions."""
    named = tuple(NamedExpression(name=f"c{n}", expression=each) for n, each in enumerate(columns))
    return Select(source=source, name=name, columns=named, where=where)


def listed(engine: Engine, rows: Relation, *kinds: Kind, unit: bool = False) -> list[Any]:
    """Return the rows (c0, c1, ...) as the engine has them, sorted as text."""
    keys = tuple(column(f"c{n}", kind, "rows") for n, kind in enumerate(kinds))
    query = ExactQuery(
        rows=rows,
        name="rows",
        keys=keys,
        bounding=ContributionBounding.NONE,
        contribution_limit=1,
        sums=(literal(1),),
        units=unit,
    )
    found = []
    for row in exact(engine, query):
        found += [tuple(row[f"k{n}"] for n in range(len(kinds)))] * int(row["s0"])
    return found


def count(scan: Relation | PrivateTable, *, limit: int = 10, **fields: Any) -> ExactQuery:
    """Return COUNT(*) over rows called v."""
    rows = Scan(table=scan) if isinstance(scan, PrivateTable) else scan
    given: dict[str, Any] = {
        "keys": (),
        "bounding": ContributionBounding.ROWS,
        "contribution_limit": limit,
        **fields,
    }
    given.setdefault("sums", (literal(1),))
    return ExactQuery(rows=rows, name="v", **given)


def exact(engine: Engine, query: ExactQuery, *released: float | None) -> list[dict[str, Any]]:
    """Return the rows of an exact query by their keys and cells: engines give them in any order."""
    return sorted(engine.run(unbound(query), released).unseal().to_pylist(), key=_key)


def _key(row: dict[str, Any]) -> list[tuple[bool, Any]]:
    groups = [value for name, value in row.items() if name[0] == "k" or name == "cell"]
    return [(value is None, 0 if value is None else value) for value in groups]


def loaded(**tables: dict[str, Any]) -> DuckDbEngine:
    return DuckDbEngine.load({name: pa.table(columns) for name, columns in tables.items()})
