"""What each unit of a crowd adds to exact tables, on any engine: one statement tells it of all.

The statement is the one that an engine is sent, up to its last step: rows that are bounded are
grouped by unit as well. So a single run has the neighbours of a database by any of its units.
"""

# ruff: noqa: S608 - names are quoted, and the rest is written by what is tested

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from discreet.engines import postgresql, writer
from discreet.engines.base import PreparedTables, scans_to_prepare
from discreet.engines.dialect import Dialect
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.postgresql import PostgreSqlEngine
from discreet.engines.spark import SparkEngine
from discreet.engines.spark.conditions import with_our_names
from discreet.engines.spark.sessions import collected
from discreet.engines.writer import tables_counted
from discreet.engines.writer.bounded import bounded_rows
from discreet.engines.writer.expressions import WriteContext
from discreet.noise import Entropy
from discreet.query.plan import Plan
from discreet.query.tree import ContributionBounding, ExactQuery
from tests.engines.on_postgresql import stored
from tests.postgresql import shared_server
from tests.properties.databases import COLUMNS, PUBLIC, WILD, Row, catalog, table_of
from tests.properties.movement import CONSTANTS
from tests.spark import shared_session

T = TypeVar("T")

Tables = Mapping[str, Sequence[Row]]
Engine = DuckDbEngine | PostgreSqlEngine | SparkEngine


# --------------------------------------------------------------------------- crowds


@dataclass(frozen=True, slots=True)
class Draw:
    """Choices that follow from bytes."""

    entropy: Entropy

    def choice(self, values: Sequence[T]) -> T:
        return values[int.from_bytes(self.entropy.draw(8), "big") % len(values)]

    def sample(self, values: Iterable[T], size: int) -> list[T]:
        """Return so many of the values, in any order."""
        rest = list(values)
        return [rest.pop(self.choice(range(len(rest)))) for _ in range(size)]


def crowd(draw: Draw, size: int) -> dict[str, list[Row]]:
    """Return rows of so many patients, few or more than count, with values of any kind."""

    def row(name: str, **given: Any) -> Row:
        return tuple(
            given[each] if each in given else draw.choice(WILD[each]) for each in COLUMNS[name]
        )

    patients, visits = [], []
    for number in range(1, size + 1):
        person = number * 7 if number % 3 else -number
        patients += [row("patients", patient_id=person) for _ in range(draw.choice((0, 1, 1, 3)))]
        own = [
            row("visits", visit_id=100 * number + place, patient_id=person)
            for place in range(draw.choice((0, 1, 3, 4, 9)))
        ]
        visits += own + own[::3]
    visits += [row("visits", visit_id=3, patient_id=None) for _ in range(3)]
    return {"patients": patients, "visits": visits}


def part_of(tables: Tables, people: set[int], draw: Draw) -> dict[str, list[Row]]:
    """Return the rows of some patients, in another order."""
    places = {"patients": 0, "visits": 1}
    found = {
        name: [each for each in rows if each[places[name]] in people]
        for name, rows in tables.items()
    }
    return {name: draw.sample(rows, len(rows)) for name, rows in found.items()}


# --------------------------------------------------------------------------- engines


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The same rows as they are, and prepared."""

    plain: Engine
    prepared: Engine

    def close(self) -> None:
        self.plain.close()
        self.prepared.close()


def _sources(tables: Tables) -> dict[str, pa.Table]:
    every: dict[str, Sequence[Row]] = {**tables, **PUBLIC}
    return {name: table_of(name, rows) for name, rows in every.items()}


def _scans(tables: Tables) -> Any:
    scans = scans_to_prepare(catalog(is_prepared=True, are_limited=True))
    return tuple(each for each in scans if each.table.name in tables)


def _in_duckdb(tables: Tables, _: Path) -> Held:
    plain, prepared = (DuckDbEngine.load(_sources(tables)) for _ in range(2))
    prepared.prepare(_scans(tables))
    return Held(plain=plain, prepared=prepared)


def _in_postgresql(tables: Tables, _: Path) -> Held:
    sources = _sources(tables)
    schema = stored(sources)
    places = {name: f"{schema}.{name}" for name in sources}
    form = PreparedTables(tables={name: places[name] for name in tables}, declared="")
    plain = PostgreSqlEngine.open(shared_server(), places)
    plain.prepare(form, _scans(tables))
    return Held(plain=plain, prepared=PostgreSqlEngine.open(shared_server(), places, form=form))


def _in_spark(tables: Tables, folder: Path) -> Held:
    folder.mkdir()
    sources = _sources(tables)
    places = {name: str(folder / f"{name}.parquet") for name in sources}
    for name, table in sources.items():
        pq.write_table(table, places[name])
    own = {name: places[name] for name in tables}
    form = PreparedTables(tables=own, declared="", place=folder / "prepared")
    plain = SparkEngine.open(shared_session(), places)
    plain.prepare(form, _scans(tables))
    return Held(plain=plain, prepared=SparkEngine.open(shared_session(), places, form=form))


HOLDERS: dict[str, Callable[[Tables, Path], Held]] = {
    "duckdb": _in_duckdb,
    "postgresql": _in_postgresql,
    "spark": _in_spark,
}


# --------------------------------------------------------------------------- statements

Contributions = dict[int, pa.Table]
"""What an exact query gives of each unit alone."""


def contributions(engine: Engine, query: ExactQuery) -> tuple[Contributions, pa.Table]:
    """Return what each unit adds to an exact query, and a table of none."""
    match engine:
        case DuckDbEngine():
            form = engine._form(query)
            tables = tables_counted(form, engine._dialect)
            engine._heavy.count(tables, monotonic() + 60)
            text = _by_unit(form, engine._dialect)
            with engine._store.cursor() as cursor:
                found = cursor.sql(text).to_arrow_table()
        case PostgreSqlEngine():
            tables = tables_counted(query, engine._dialect)
            text = _by_unit(query, engine._dialect)
            fresh = {each.name: each.is_late for each in engine._tables.values() if tables}
            read = engine._reads(text, fresh=fresh)
            schema = postgresql._schema(query).append(pa.field("__unit", pa.int64()))
            with engine._sessions.transaction() as connection:
                arguments = engine._heavy.of(connection, tables) if tables else None
                whole = f"WITH {read} {text}" if read else text
                found = postgresql._fetched(connection, whole, schema, arguments)
            late = [each for each in found.column_names if each == "fresh"]
            assert not any(found.column("fresh").to_pylist() if late else ()), "fresh rows"
            found = found.drop_columns(late)
        case SparkEngine():
            tables, until = tables_counted(query, engine._dialect), monotonic() + 600
            collect = partial(engine._collected, until=until)
            assert not tables or engine._heavy.count(tables, collect, until)
            text = with_our_names(_by_unit(query, engine._dialect))
            found = collected(engine._session, text, timeout=600)
    return _apart(found)


def _by_unit(query: ExactQuery, dialect: Dialect) -> str:
    place = writer._place(dialect, CONSTANTS)
    division = writer.division_in(query, dialect)
    arms = [(query, place)] if division is None else writer.arms(division, place)
    whole = writer.write_query(query, dialect, CONSTANTS)
    texts = [_of_units(*each, whole) for each in arms]
    if len(texts) > 1 and dialect.fresh:
        texts[1] = f'SELECT *, 0 AS "fresh" FROM ({texts[1]}) AS "heavy"'
    return " UNION ALL ".join(texts)


def _of_units(query: ExactQuery, place: WriteContext, whole: str) -> str:
    groups = writer._groups(query)
    if query.is_bounded and query.group_bounding is not None and writer._adds_up(query):
        text, by = writer._by_groups(query, place), f"GROUP BY {', '.join(groups)}"
        assert text in whole, "other groups are chosen"
        inner = text.removeprefix("SELECT ").removesuffix(by)
        return f'SELECT "__unit", {inner}GROUP BY "__unit", {", ".join(groups)}'
    rows = bounded_rows(query, groups, place)
    # Rows that are counted only are not listed.
    is_counted = writer._is_plain_count(query) or writer.whole_table(query) is not None
    assert is_counted or f"({rows})" in whole, "other rows are bounded"
    outputs = ", ".join(['"__unit"', *groups, *writer._measures(query, groups, place)])
    by = ", ".join(['"__unit"', *groups])
    return f'SELECT {outputs} FROM ({rows}) AS "bounded" GROUP BY {by}'


def _apart(table: pa.Table) -> tuple[Contributions, pa.Table]:
    rest, places = table.drop_columns(["__unit"]), dict[int, list[int]]()
    units: list[Any] = table.column("__unit").to_pylist()
    for place, unit in enumerate(units):
        places.setdefault(int(unit), []).append(place)
    return {unit: rest.take(found) for unit, found in places.items()}, rest.slice(0, 0)


Sides = list[tuple[pa.Table, ...]]


@dataclass(frozen=True, slots=True)
class Crowd:
    """What each unit adds to all exact tables of a plan."""

    releases: list[list[tuple[Contributions, pa.Table]]]
    are_shared: list[list[bool]]
    """Of each query, whether one unit may stand in for another: of values that are summed once."""

    @classmethod
    def of(cls, plan: Plan, engine: Engine) -> "Crowd":
        queries = [each.queries for each in plan.releases]
        return cls(
            [[contributions(engine, each) for each in release] for release in queries],
            [
                [each.bounding is ContributionBounding.PAIRS and bool(each.sums) for each in some]
                for some in queries
            ],
        )

    @property
    def units(self) -> list[int]:
        return sorted({unit for some in self.releases for found, _ in some for unit in found})

    def alone(self, unit: int | None) -> Sides:
        """Return the tables of a database of this unit; of an empty one for None."""
        return [
            tuple(none if unit is None else found.get(unit, none) for found, none in some)
            for some in self.releases
        ]

    def counted(self, unit: int) -> list[Counter[str]]:
        """Return the rows of a unit's tables, as far as they are its own."""
        return [
            Counter(map(repr, table.to_pylist()))
            for tables, shared in zip(self.alone(unit), self.are_shared, strict=True)
            for table, is_shared in zip(tables, shared, strict=True)
            if not is_shared
        ]
