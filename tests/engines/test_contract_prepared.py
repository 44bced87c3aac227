"""Prepared forms: alike on every engine, divided by units alone, whole or not there."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from math import inf, nan
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.catalog.catalog import RowChoice, budget_from
from discreet.catalog.schema import Kind
from discreet.curator import Curator
from discreet.engines.base import PreparedTables, as_prepared, scans_to_prepare
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.duckdb import prepared as embedded
from discreet.engines.postgresql import PostgreSqlEngine
from discreet.engines.postgresql import prepared as on_server
from discreet.engines.public_store import PublicStore
from discreet.engines.spark import SparkEngine
from discreet.ledger import SqliteLedger
from discreet.query.plan.bounded_rows import reads_bounded_rows
from discreet.query.plan.plan import EpsilonTarget
from tests.attacks.clinic import tables
from tests.engines.contract import Holder
from tests.engines.corpus import QUESTIONS, exact, expected, reference
from tests.engines.on_postgresql import stored
from tests.engines.prepared import FORMS, Contents, Row, catalog_of, faults, table_of, visits
from tests.postgresql import shared_server
from tests.spark import shared_session

LIMIT = 3

SLOW = pytest.param("spark", marks=pytest.mark.slow)

OWN: list[Row] = [(n % 7, "many", [n / 2, nan, None, -0.0][n % 4]) for n in range(12)]
OTHERS: list[Row] = [
    *((n, "few", 1.5) for n in range(2)),
    *((n, "as many", inf) for n in range(LIMIT)),
    *((n, f"u{n % 5}", n / 8) for n in range(40)),
    (30, None, 1.0),
    (31, "", None),
    (32, "É", 7.0),
    (33, "é ", 7.0),
]


def made(engine: str, rows: list[Row], limit: int = LIMIT) -> Contents:
    return FORMS[engine](table_of(rows, pa.string()), catalog_of(visits(Kind.TEXT, limit)))


@pytest.mark.parametrize(
    ("engine", "size"),
    [("duckdb", 9), ("duckdb", 10**6), ("postgresql", 9), ("postgresql", 10**6), ("spark", 10**6)],
)
def test_no_unit_keeps_more_than_its_limit_and_no_row_is_lost(
    engine: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in (embedded, on_server):
        monkeypatch.setattr(each, "PART", size)
    assert faults(made(engine, OWN + OTHERS), OWN + OTHERS, LIMIT) == set()
    assert faults(made(engine, OTHERS, 100), OTHERS, 100) == set()


@pytest.mark.parametrize("engine", ["duckdb", "postgresql", SLOW])
def test_units_that_are_equal_are_one_in_every_part(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in (embedded, on_server):
        monkeypatch.setattr(each, "PART", 5)
    rows: list[Row] = [(n, [0.0, -0.0, 1.5, nan, 1e300][n % 5], 1.0) for n in range(40)]
    found = FORMS[engine](table_of(rows, pa.float64()), catalog_of(visits(Kind.REAL, LIMIT)))
    whose = [(row[0], row[1], *row[2:]) for row in rows if row[1] == row[1]]
    assert faults(found, whose, LIMIT) == set()


def kept_of_many(engine: str, rows: list[Row]) -> list[Row]:
    return sorted((row for row in made(engine, rows).kept if row[0] == "many"), key=repr)


ORDERS = [OWN + OTHERS, OTHERS + OWN[::-1], OWN, [*OTHERS[:9], *OWN[5:], *OWN[:5], *OTHERS[20:]]]


@pytest.mark.parametrize("engine", FORMS)
def test_which_rows_are_kept_follows_from_the_units_own_alone(engine: str) -> None:
    orders = ORDERS[:2] if engine == "spark" else ORDERS
    found = [kept_of_many(engine, each) for each in orders]
    assert all(each == found[0] for each in found)


@pytest.mark.postgresql
def test_a_form_that_goes_by_where_rows_stand_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_server.Maker, "order", lambda *_: "1")
    found = [kept_of_many("postgresql", each) for each in ORDERS]
    assert any(each != found[0] for each in found)


@pytest.mark.postgresql
def test_a_form_whose_parts_share_units_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_server, "PART", 17)
    monkeypatch.setattr(
        on_server, "_part_of", lambda _: 'coalesce(hashtextextended("amount"::text, 0), 0) & 7'
    )
    assert "a unit keeps too many" in faults(made("postgresql", OWN + OTHERS), OWN + OTHERS, LIMIT)


@pytest.mark.parametrize("engine", ["duckdb", "postgresql", SLOW])
def test_units_with_like_rows_do_not_all_keep_the_same_ones(engine: str) -> None:
    rows: list[Row] = [(n, f"unit {unit}", 0.5) for unit in range(40) for n in range(6)]
    numbers = [row[1] for row in made(engine, rows).kept]
    assert set(numbers) == set(range(6))
    assert max(map(numbers.count, range(6))) < 40


# --------------------------------------------------------------------------- questions

PLAIN = reference().catalog
PREPARED = as_prepared(replace(PLAIN, source=replace(PLAIN.source, row_choice=RowChoice.ONCE)))
SCANS = scans_to_prepare(PREPARED)


def _embedded(_: Path) -> Holder:
    engine = DuckDbEngine.load(dict(tables()))
    engine.prepare(SCANS)
    return engine


def _on_server(_: Path) -> Holder:
    schema = stored(tables())
    places = {name: f"{schema}.{name}" for name in tables()}
    form = PreparedTables(
        tables={name: places[name] for name in places if name != "clinics"}, declared=""
    )
    with closing(PostgreSqlEngine.open(shared_server(), places)) as plain:
        plain.prepare(form, SCANS)
    return PostgreSqlEngine.open(shared_server(), places, form=form)


def _in_files(folder: Path) -> Holder:
    places = {name: str(folder / f"{name}.parquet") for name in tables()}
    for name, each in tables().items():
        pq.write_table(each, places[name])
    private = {name: places[name] for name in places if name != "clinics"}
    form = PreparedTables(tables=private, declared="", place=folder / "prepared")
    with closing(SparkEngine.open(shared_session(), places, public=["clinics"])) as plain:
        plain.prepare(form, SCANS)
    return SparkEngine.open(shared_session(), places, public=["clinics"], form=form)


SOME = 5
"""Of so many questions, one is asked on a push; `make test-long` asks all."""


@pytest.mark.parametrize("every", [SOME, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "made_by",
    [
        _embedded,
        pytest.param(_on_server, marks=pytest.mark.postgresql),
        pytest.param(_in_files, marks=[pytest.mark.slow, pytest.mark.spark], id="spark"),
    ],
)
def test_questions_over_a_form_have_the_same_exact_tables_as_per_query(
    made_by: Callable[[Path], Holder], every: int, tmp_path: Path
) -> None:
    """The tables of the corpus are within their limits, so that nothing is left out of either."""
    engine = made_by(tmp_path)
    curator = Curator(
        catalog=PREPARED,
        engine=engine,
        public=PublicStore({"clinics": engine.table("clinics")}),
        ledger=SqliteLedger(":memory:", budget=budget_from(PREPARED.budget)),
    )
    read = 0
    for sql in QUESTIONS[::every]:
        plan = curator._planner.draft(sql, EpsilonTarget(1), PREPARED)
        read += sum(reads_bounded_rows(each.aggregation.rows) for each in plan.releases)
        assert exact(engine, plan) == expected(sql), sql
    assert read > len(QUESTIONS[::every]) / 2
    engine.close()
