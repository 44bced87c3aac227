"""Prepared forms on every engine: one way to make each, and what must hold of all of them."""

# ruff: noqa: S608 - names are made here

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.catalog.catalog import BudgetPolicy, Catalog
from discreet.catalog.schema import Column, ColumnUnit, Kind, PrivateTable
from discreet.engines.base import PreparedTables, as_prepared, scans_to_prepare
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.postgresql import PostgreSqlEngine
from discreet.engines.postgresql.forms import made_forms, marked
from discreet.engines.spark import SparkEngine
from tests.engines.on_postgresql import run, stored
from tests.postgresql import shared_server
from tests.spark import shared_session

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What a prepared form of one table has: rows of the unit and the columns."""

    kept: list[Row]
    rest: list[Row]
    every: list[Row]
    units: int


NAMES = ("id", "who", "amount")


def visits(who: Kind, limit: int) -> PrivateTable:
    kinds = (Kind.INTEGER, who, Kind.REAL)
    return PrivateTable(
        name="visits",
        columns=tuple(Column(name=n, kind=k) for n, k in zip(NAMES, kinds, strict=True)),
        unit=ColumnUnit(column="who"),
        rows_per_unit=limit,
    )


def catalog_of(*tables: PrivateTable) -> Catalog:
    return as_prepared(Catalog(budget=BudgetPolicy(epsilon=Fraction(1)), tables=tables))


def table_of(rows: Iterable[Row], who: pa.DataType) -> pa.Table:
    columns = zip(*rows, strict=True)
    types = (pa.int64(), who, pa.float64())
    return pa.table({n: pa.array(c, t) for n, c, t in zip(NAMES, columns, types, strict=True)})


def _in_duckdb(table: pa.Table, catalog: Catalog) -> Contents:
    with closing(DuckDbEngine.load({"visits": table})) as engine:
        engine.prepare(scans_to_prepare(catalog))
        with engine._store.cursor() as cursor:
            kept, rest, every = (
                cursor.execute(f"FROM {each}.visits").fetchall()
                for each in ("kept", "rest", "every")
            )
            counted = cursor.execute("SELECT sum(units) FROM about.parts").fetchone()
    return Contents(kept=kept, rest=rest, every=every, units=int((counted or (0,))[0]))


def _in_postgresql(table: pa.Table, catalog: Catalog) -> Contents:
    schema = stored({"visits": table})
    form = PreparedTables(tables={"visits": f"{schema}.visits"}, declared="")
    with closing(PostgreSqlEngine.open(shared_server(), form.tables)) as engine:
        engine.prepare(form, scans_to_prepare(catalog))
        with engine._sessions.transaction() as connection:
            (made,) = made_forms(connection, form)
    names = marked(made.key)
    kept, rest, every = (
        run(f"SELECT * FROM {names.prepared('visits', each)}") for each in ("kept", "rest", "every")
    )
    ((units,),) = run(f"SELECT sum(units) FROM {names.prepared('parts', 'about')}")
    run(f"DROP SCHEMA {schema} CASCADE")
    return Contents(kept=kept, rest=rest, every=every, units=int(units))


def _in_spark(table: pa.Table, catalog: Catalog) -> Contents:
    with tempfile.TemporaryDirectory() as folder:
        file, place = Path(folder) / "visits.parquet", Path(folder) / "prepared"
        pq.write_table(table, file)
        form = PreparedTables(tables={"visits": str(file)}, declared="", place=place)
        with closing(SparkEngine.open(shared_session(), form.tables)) as engine:
            engine.prepare(form, scans_to_prepare(catalog))
        with closing(SparkEngine.open(shared_session(), form.tables, form=form)) as engine:
            assert engine.is_prepared
            kept, every = (_read_in_spark(engine, f"__{each}_visits") for each in ("kept", "every"))
            ((units,),) = _read_in_spark(engine, "__about_parts", "units")
    return Contents(
        kept=kept, rest=list((Counter(every) - Counter(kept)).elements()), every=every, units=units
    )


def _read_in_spark(engine: SparkEngine, view: str, *columns: str) -> list[Row]:
    found = engine._session.table(view)
    return [tuple(row) for row in (found.select(*columns) if columns else found).collect()]


FORMS: dict[str, Callable[[pa.Table, Catalog], Contents]] = {
    "duckdb": _in_duckdb,
    "postgresql": _in_postgresql,
    "spark": _in_spark,
}
"""How a prepared form of a table of visits is made, by the name of the engine."""


def faults(made: Contents, rows: Iterable[Row], limit: int) -> set[str]:
    """Return what is wrong with a form of these rows."""
    given = Counter(_read(row) for row in rows if row[1] is not None)
    kept, rest, every = (
        Counter(row[1:] for row in each) for each in (made.kept, made.rest, made.every)
    )
    of_unit = Counter(row[0] for row in made.kept)
    have = Counter(row[1] for row in given.elements())
    found = {
        "rows are lost or made": kept + rest != given or every != given,
        "a unit keeps too many": any(each > limit for each in of_unit.values()),
        "a unit keeps too few": any(of_unit[who] != min(n, limit) for who, n in have.items()),
        "units are miscounted": made.units != len(have),
    }
    return {what for what, is_so in found.items() if is_so}


def _read(row: Row) -> Row:
    """Return a row as engines read it: what is not finite is NULL."""
    return tuple(None if isinstance(x, float) and not isfinite(x) else x for x in row)
