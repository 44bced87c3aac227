"""Small databases, wild and tame, and the neighbours of each: what one unit can change.

A wild database breaks every promise that a catalog makes: units without a name, values outside
bounds, keys that lead nowhere or to several rows, units of more rows than count. A tame one keeps
them all, so that nothing of it is clamped or left out.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cache
from math import inf, nan
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

from discreet.catalog import Catalog
from discreet.catalog.arguments import declare
from discreet.catalog.resolve import resolve
from discreet.engines.base import ResourceLimits, as_prepared, scans_to_prepare
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.duckdb.heavy import HeavyInStore
from discreet.engines.duckdb.loading import load
from discreet.engines.duckdb.prepared import prepare
from discreet.engines.public_store import PublicStore
from discreet.mechanisms.sensitivity import ADD_REMOVE, Neighbours

Row = tuple[Any, ...]
Rows = tuple[Row, ...]

WHOLE, REAL, TEXT, DAY = pa.int64(), pa.float64(), pa.string(), pa.date32()
SMALL, FLAG, MOMENT = pa.int32(), pa.bool_(), pa.timestamp("us")

COLUMNS: Mapping[str, Mapping[str, pa.DataType]] = {
    "patients": {
        "patient_id": WHOLE,
        "birth_year": SMALL,
        "sex": TEXT,
        "region": TEXT,
        "insured": FLAG,
        "smoker": FLAG,
        "joined": DAY,
        "income": REAL,
    },
    "visits": {
        "visit_id": WHOLE,
        "patient_id": WHOLE,
        "clinic_id": SMALL,
        "day": DAY,
        "cost": REAL,
        "minutes": SMALL,
        "diagnosis": TEXT,
        "note": TEXT,
    },
    "prescriptions": {"visit_id": WHOLE, "drug": TEXT, "dose": REAL},
    "sales": {"amount": REAL, "items": WHOLE, "shop": TEXT, "at": MOMENT},
    "clinics": {"clinic_id": SMALL, "name": TEXT, "region": TEXT, "beds": SMALL},
    "rooms": {"clinic_id": SMALL, "floor": SMALL},
}
"""Those of the corpus, sales whose every row is a unit, and a public table with several matches."""

PRIVATE = ("patients", "visits", "prescriptions", "sales")

PUBLIC: Mapping[str, Rows] = {
    "clinics": ((1, "A", "north", 10), (2, "B", "south", 20), (3, "C", "north", 5)),
    "rooms": ((1, 0), (1, 1), (2, 0), (4, 7)),
}

ROWS_PER_UNIT = {"patients": 1, "visits": 3, "prescriptions": 4}
GROUPS_PER_UNIT = {"visits": {"diagnosis": 1, "clinic_id": 2, "note": 2}, "prescriptions": 2}
"""Of tests of limits on groups alone."""


def table_of(name: str, rows: Iterable[Row]) -> pa.Table:
    """Return rows as a table in memory."""
    kinds = COLUMNS[name]
    columns = list(zip(*rows, strict=True)) or [()] * len(kinds)
    arrays = [pa.array(each, kind) for each, kind in zip(columns, kinds.values(), strict=True)]
    return pa.Table.from_arrays(arrays, names=list(kinds))


def loaded(tables: Mapping[str, Rows]) -> DuckDbEngine:
    """Return an engine that holds these rows and the public ones."""
    sources = {name: table_of(name, rows) for name, rows in {**tables, **PUBLIC}.items()}
    return DuckDbEngine.load(sources, limits=ResourceLimits(threads=1))


_engines: dict[str, DuckDbEngine] = {}


def refilled(role: str, tables: Mapping[str, Rows]) -> DuckDbEngine:
    """Return the engine of a role, with these private rows in place of those it held.

    Loading anew is quicker than opening anew.
    """
    kept = _engines.get(role) or loaded(dict.fromkeys(PRIVATE, ()))
    _engines[role] = kept
    connection = kept._store.connection
    kept._bound.clear()
    kept._heavy = HeavyInStore(kept._store)
    for schema in ("every", "kept", "rest", "about", "heavy"):
        connection.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE")
    for name, rows in tables.items():
        connection.execute(f"DROP TABLE {name}")
        load(connection, name, table_of(name, rows))
    prepare(connection, scans_to_prepare(catalog(is_prepared=True, are_limited=True)))
    kept._placed = kept._placed_columns()
    return kept


@cache
def catalog(
    neighbours: Neighbours = ADD_REMOVE,
    accounting: str = "basic",
    *,
    is_prepared: bool = False,
    are_limited: bool = False,
) -> Catalog:
    """Return what is declared of these tables, whose rows are chosen before or by a question.

    With `are_limited` the groups of a unit are limited as well.
    """
    if is_prepared:
        return as_prepared(catalog(neighbours, accounting, are_limited=are_limited))
    declared = declare(
        dict.fromkeys(COLUMNS),
        epsilon=10**9,
        delta=0.5,
        question_delta=1e-4,
        neighbours=neighbours,
        accounting=accounting,
        unit={
            "patients": "patient_id",
            "visits": "patient_id",
            "prescriptions": "visits.patient_id via visit_id",
            "sales": "row",
        },
        rows_per_unit=ROWS_PER_UNIT,
        groups_per_unit=GROUPS_PER_UNIT if are_limited else None,
        public=("clinics", "rooms"),
        bounds={
            "patients.birth_year": (1920, 2020),
            "patients.income": (0, 200_000),
            "patients.joined": ("2015-01-01", "2025-12-31"),
            "visits.cost": (0, 500),
            "visits.minutes": (0, 240),
            "visits.day": ("2024-01-01", "2024-12-31"),
            "prescriptions.dose": (-10, 1000),
            "sales.amount": (-50, 100),
            "sales.items": (2, 9),
            "sales.at": ("2024-01-01", "2024-12-31"),
        },
        step={"sales.amount": 0.01},
        values={
            "patients.sex": ["f", "m"],
            "patients.region": ["north", "south", "east", "west"],
            "sales.shop": ["old", "new"],
        },
        nulls={"patients.smoker": True},
    )
    with_none = loaded(dict.fromkeys(PRIVATE, ()))
    try:
        return resolve(declared, with_none.columns)
    finally:
        with_none.close()


@cache
def public_store() -> PublicStore:
    """Return the public tables, for checking questions and for what comes after the noise."""
    return PublicStore({name: table_of(name, rows) for name, rows in PUBLIC.items()})


def close_all() -> None:
    """Give back what is kept from test to test."""
    while _engines:
        _engines.popitem()[1].close()
    public_store().close()
    public_store.cache_clear()


# --------------------------------------------------------------------------- values

FAR = (0.0, -0.0, 1e-300, 5e-324, -1e308, 1e308, inf, -inf, nan)
LARGE = (-(2**31), 2**31 - 1)
DAYS = (date(1, 1, 1), date(1969, 12, 31), date(2023, 12, 31), date(2025, 1, 1), date(9999, 12, 31))
TEXTS = ("", "3", "-7.5e3", "2024-02-30", "2024-03-01", "fracture", "Allergy", "NULL", "é", "%_")

TAME: Mapping[str, Sequence[Any]] = {
    "birth_year": (1920, 1950, 1960, 1990, 2020),
    "sex": ("f", "m"),
    "region": ("north", "south", "east", "west"),
    "insured": (True, False),
    "smoker": (True, False, None),
    "joined": (date(2015, 1, 1), date(2019, 7, 31), date(2020, 2, 29), date(2025, 12, 31)),
    "income": (0.0, 1200.5, 30_000.0, 77_777.25, 200_000.0, None),
    "clinic_id": (1, 2, 3),
    "day": (date(2024, 1, 1), date(2024, 2, 29), date(2024, 6, 15), date(2024, 12, 31)),
    "cost": (0.0, 0.1, 33.25, 99.99, 250.0, 499.5, 500.0, None),
    "minutes": (0, 1, 29, 30, 31, 60, 120, 239, 240, None),
    "diagnosis": ("flu", "asthma", "fracture", "3", None),
    "note": ("allergic", "ALLERGY", "", "none", None),
    "drug": ("aspirin", "zinc", None),
    "dose": (-10.0, 0.0, 12.5, 500.0, 501.0, 1000.0, None),
    "amount": (-50.0, -0.01, 0.0, 19.99, 100.0, None),
    "items": (2, 3, 5, 9, None),
    "shop": ("old", "new"),
    "at": (datetime(2024, 1, 1), datetime(2024, 5, 5, 12, 30), datetime(2024, 12, 31)),
}
"""Values that keep what the catalog declares; NULL only where no known keys are."""

WILD: Mapping[str, Sequence[Any]] = {
    "birth_year": (*TAME["birth_year"], *LARGE, -5, 1919, 2021, None),
    "sex": (*TAME["sex"], "x", "", None),
    "region": (*TAME["region"], "mars", None),
    "insured": (True, False, None),
    "smoker": TAME["smoker"],
    "joined": (*TAME["joined"], *DAYS, None),
    "income": (*TAME["income"], *FAR, 200_000.5, -1.0),
    "clinic_id": (1, 2, 3, 4, -1, None),
    "day": (*TAME["day"], *DAYS, None),
    "cost": (*TAME["cost"], *FAR, 500.1, -0.1),
    "minutes": (*TAME["minutes"], *LARGE, -1, 241),
    "diagnosis": (*TAME["diagnosis"], *TEXTS),
    "note": (*TAME["note"], *TEXTS),
    "drug": (*TAME["drug"], *TEXTS),
    "dose": (*TAME["dose"], *FAR, -10.5, 1001.0),
    "amount": (*TAME["amount"], *FAR, 0.005, 101.0),
    "items": (*TAME["items"], -(2**63), 2**63 - 1, 0, 1, 10),
    "shop": ("old", "new", "other", None),
    "at": (*TAME["at"], datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999), None),
}

PEOPLE = (2, 3, -4, 2**62)
VICTIM, NEWCOMER = 1, 77
"""The unit by which neighbours differ, and one that may take its place."""
VISIT_IDS = (0, 1, 2, 3, 4, 5, None)


def _row(name: str, values: Mapping[str, Sequence[Any]]) -> st.SearchStrategy[Row]:
    return st.tuples(*(st.sampled_from(values[each]) for each in COLUMNS[name]))


# --------------------------------------------------------------------------- neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class Database:
    """The private rows."""

    patients: Rows
    visits: Rows
    prescriptions: Rows
    sales: Rows

    @property
    def tables(self) -> dict[str, Rows]:
        return {name: getattr(self, name) for name in PRIVATE}

    def held(self, role: str) -> DuckDbEngine:
        """Return an engine that holds it, until another takes this role."""
        return refilled(role, self.tables)

    def reversed(self) -> "Database":
        """Return the same rows in another physical order."""
        return Database(**{name: rows[::-1] for name, rows in self.tables.items()})

    def owners(self, prescription: Row) -> set[int]:
        """Return whose prescription it is: of all to whom its visit leads, who may be several."""
        return {
            visit[1]
            for visit in self.visits
            if visit[1] is not None and visit[0] is not None and visit[0] == prescription[0]
        }

    def without_person(self, person: int) -> "Database":
        """Return it without a person's rows, and without prescriptions of that person alone."""
        return replace(
            self,
            patients=tuple(each for each in self.patients if each[0] != person),
            visits=tuple(each for each in self.visits if each[1] != person),
            prescriptions=tuple(
                each for each in self.prescriptions if self.owners(each) != {person}
            ),
        )

    def only_person(self, person: int) -> "Database":
        """Return a person's rows alone."""
        return Database(
            patients=tuple(each for each in self.patients if each[0] == person),
            visits=tuple(each for each in self.visits if each[1] == person),
            prescriptions=tuple(each for each in self.prescriptions if person in self.owners(each)),
            sales=(),
        )

    def without_sale(self, place: int) -> "Database":
        """Return it without one row of sales."""
        return replace(self, sales=self.sales[:place] + self.sales[place + 1 :])


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbouring:
    """Two databases that one unit tells apart, and what that unit has of its own."""

    here: Database
    there: Database
    own: Database
    """The rows that `here` has and `there` lacks: the unit's alone."""
    neighbours: Neighbours


@st.composite
def neighbouring(draw: st.DrawFn, neighbours: Neighbours) -> Neighbouring:
    """Return a database that breaks every promise, and one in which a unit's rows differ."""
    others = draw(_others())
    if draw(st.integers(0, 4)) == 0:
        sale, place = draw(_row("sales", WILD)), draw(st.integers(0, len(others.sales)))
        here = replace(others, sales=(*others.sales[:place], sale, *others.sales[place:]))
        if neighbours is not ADD_REMOVE:
            others = replace(others, sales=(draw(_row("sales", WILD)), *others.sales))
        own = Database(patients=(), visits=(), prescriptions=(), sales=(sale,))
    else:
        here = draw(_with_rows_of(others, VICTIM))
        others, own = here.without_person(VICTIM), here.only_person(VICTIM)
        if neighbours is not ADD_REMOVE:
            others = draw(_with_rows_of(others, draw(st.sampled_from((VICTIM, NEWCOMER)))))
    return Neighbouring(here=here, there=others, own=own, neighbours=neighbours)


def _others() -> st.SearchStrategy[Database]:
    """Return the rows of all others, and of nobody."""
    values = {**WILD, "patient_id": (*PEOPLE, None), "visit_id": VISIT_IDS}
    return st.builds(
        Database,
        patients=st.lists(_row("patients", values), max_size=4).map(tuple),
        visits=st.lists(_row("visits", values), max_size=8).map(_some_twice),
        prescriptions=st.lists(_row("prescriptions", values), max_size=8).map(_some_twice),
        sales=st.lists(_row("sales", values), max_size=5).map(_some_twice),
    )


def _some_twice(rows: list[Row]) -> Rows:
    """Return the rows with every third of them repeated."""
    return (*rows, *rows[::3])


def _with_rows_of(database: Database, person: int) -> st.SearchStrategy[Database]:
    """Return the database with rows of one person more, few or more than count."""
    values = {**WILD, "patient_id": (person,), "visit_id": VISIT_IDS}
    few = st.integers(0, 1)
    return st.builds(
        lambda patients, visits, many: replace(
            database,
            patients=(*patients, *database.patients),
            visits=(*visits * (1 + 3 * many), *database.visits),
        ),
        st.lists(_row("patients", values), max_size=3),
        st.lists(_row("visits", values), max_size=7),
        few,
    )


# --------------------------------------------------------------------------- tame databases


@st.composite
def tame_databases(draw: st.DrawFn) -> Database:
    """Return a database that keeps every promise: no unit over the limit, all values declared."""
    people = range(1, draw(st.integers(2, 8)) + 1)
    patients = [(person, *draw(_values("patients", "patient_id"))) for person in people]
    visits: list[Row] = []
    prescriptions: list[Row] = []
    for person in people:
        few = draw(st.integers(0, ROWS_PER_UNIT["visits"]))
        for _ in range(few):
            first, *rest = (len(visits), *draw(_values("visits", "visit_id", "patient_id")))
            visits.append((first, person, *rest))
        if few:
            for _ in range(draw(st.integers(0, ROWS_PER_UNIT["prescriptions"]))):
                visit = draw(st.integers(len(visits) - few, len(visits) - 1))
                prescriptions.append((visit, *draw(_values("prescriptions", "visit_id"))))
    sales = draw(st.lists(_row("sales", TAME), max_size=8))
    return Database(
        patients=tuple(patients),
        visits=tuple(visits),
        prescriptions=tuple(prescriptions),
        sales=tuple(sales),
    )


def _values(table: str, *besides: str) -> st.SearchStrategy[Row]:
    names = [each for each in COLUMNS[table] if each not in besides]
    return st.tuples(*(st.sampled_from(TAME[each]) for each in names))
