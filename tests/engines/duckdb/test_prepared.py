"""Prepared tables: divided by units alone, in parts that can be taken up again."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from discreet.catalog.catalog import BudgetPolicy, Catalog
from discreet.catalog.schema import Column, ColumnUnit, Kind, PathUnit, PrivateTable, RowUnit
from discreet.engines.base import as_prepared, scans_to_prepare
from discreet.engines.duckdb import DuckDbEngine, prepared
from discreet.engines.duckdb.prepared import drop_plain, prepare
from discreet.errors import SourceError
from discreet.query.tree import Scan

LIMIT = 3

VISITS = PrivateTable(
    name="visits",
    columns=(
        Column(name="id", kind=Kind.INTEGER),
        Column(name="who", kind=Kind.TEXT),
        Column(name="__unit", kind=Kind.REAL),
    ),
    unit=ColumnUnit(column="who"),
    rows_per_unit=LIMIT,
)
PILLS = PrivateTable(
    name="pills",
    columns=(Column(name="visit", kind=Kind.INTEGER), Column(name="dose", kind=Kind.REAL)),
    unit=PathUnit(column="visit", table="visits", key="id"),
    rows_per_unit=2,
)
SALES = PrivateTable(
    name="sales", columns=(Column(name="x", kind=Kind.INTEGER),), unit=RowUnit(), rows_per_unit=1
)
BUDGET = BudgetPolicy(epsilon=Fraction(1))
CATALOG = as_prepared(Catalog(budget=BUDGET, tables=(VISITS, PILLS, SALES)))
SCANS = scans_to_prepare(CATALOG)

Row = tuple[Any, ...]

ROWS: list[Row] = [
    *((number, "many", number / 2) for number in range(10)),
    *((number, "few", 1.5) for number in range(10, 12)),
    *((number, "as many", None) for number in range(20, 20 + LIMIT)),
    (30, None, 1.0),
    (31, "one", 0.0),
    (32, "", 7.0),
]


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


def loaded(connection: duckdb.DuckDBPyConnection, rows: list[Row]) -> None:
    connection.execute('CREATE TABLE visits (id BIGINT, who VARCHAR, "__unit" DOUBLE)')
    connection.execute("CREATE TABLE pills (visit BIGINT, dose DOUBLE)")
    connection.executemany("INSERT INTO visits VALUES (?, ?, ?)", rows)
    connection.execute("INSERT INTO pills SELECT id, 1.5 FROM visits, range(2)")


def read(connection: duckdb.DuckDBPyConnection, name: str) -> list[Row]:
    return sorted(connection.execute(f"FROM {name}").fetchall(), key=repr)


def test_tables_of_columns_are_prepared_and_those_of_rows_are_not() -> None:
    assert {each.name: getattr(each, "is_prepared", None) for each in CATALOG.tables} == {
        "visits": True,
        "pills": True,
        "sales": False,
    }
    assert [each.table.name for each in SCANS] == ["visits", "pills"]
    assert not any(table.is_prepared for each in SCANS for table in (each.table, *each.parents))


def test_no_unit_keeps_more_rows_than_its_limit_and_none_are_lost(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    loaded(connection, ROWS)
    prepare(connection, SCANS)
    kept, rest, every = (read(connection, f"{each}.visits") for each in ("kept", "rest", "every"))
    counted = Counter(row[0] for row in kept)
    assert counted == {"many": LIMIT, "few": 2, "as many": LIMIT, "one": 1, "": 1}
    assert Counter(row[0] for row in rest) == {"many": 10 - LIMIT}
    assert sorted(kept + rest, key=repr) == every
    assert sorted((row[1:] for row in every), key=repr) == sorted(
        (row for row in ROWS if row[1] is not None), key=repr
    )


def test_rows_on_a_path_are_kept_by_whom_they_belong_to(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    loaded(connection, ROWS)
    prepare(connection, SCANS)
    counted = Counter(row[0] for row in read(connection, "kept.pills"))
    assert counted == {"many": 2, "few": 2, "as many": 2, "one": 2, "": 2}
    assert len(read(connection, "every.pills")) == 2 * sum(row[1] is not None for row in ROWS)


def test_which_rows_are_kept_follows_from_the_units_own_alone() -> None:
    many = [row for row in ROWS if row[1] == "many"]
    others = [row for row in ROWS if row[1] != "many"]
    kept = set()
    for order in (many + others, others + many[::-1], many, [*others[:2], *many, *others[2:]]):
        with duckdb.connect() as connection:
            loaded(connection, order)
            prepare(connection, SCANS)
            own = connection.execute("FROM kept.visits WHERE who = 'many'").fetchall()
            kept.add(tuple(sorted(own)))
    assert len(kept) == 1


def test_units_with_like_rows_do_not_all_keep_the_same_ones(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    loaded(connection, [(n, f"unit {unit}", 0.5) for unit in range(40) for n in range(6)])
    prepare(connection, SCANS)
    numbers = Counter(row[1] for row in read(connection, "kept.visits"))
    assert set(numbers) == set(range(6))
    assert max(numbers.values()) < 40


def test_units_are_counted_on_the_way(connection: duckdb.DuckDBPyConnection) -> None:
    loaded(connection, ROWS)
    prepare(connection, SCANS)
    counted = connection.execute("SELECT name, sum(units) FROM about.parts GROUP BY name")
    assert dict(counted.fetchall()) == {"visits": 5, "pills": 5}


@pytest.mark.parametrize("size", [1, 4, 1000])
def test_parts_give_the_same_as_the_whole(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    loaded(connection, ROWS)
    prepare(connection, SCANS)
    with duckdb.connect() as other:
        loaded(other, ROWS)
        monkeypatch.setattr(prepared, "PART", size)
        told: list[tuple[str, int, int]] = []
        prepare(other, SCANS, lambda *each: told.append(each))
        for table in ("kept.visits", "rest.visits", "kept.pills", "every.pills"):
            assert read(other, table) == read(connection, table)
    assert told[-1][1] == told[-1][2] >= len(ROWS) // size


class _StoppedError(Exception):
    """Stands for a process that ends."""


@pytest.mark.parametrize("after", range(6))
def test_an_interrupted_start_is_taken_up_where_it_ended(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    loaded(connection, ROWS)
    with duckdb.connect() as whole:
        loaded(whole, ROWS)
        prepare(whole, SCANS)
        expected = {name: read(whole, name) for name in ("kept.visits", "rest.pills")}
    monkeypatch.setattr(prepared, "PART", 7)
    begun: list[tuple[str, int]] = []

    def stop(name: str, number: int, _: int) -> None:
        begun.append((name, number))
        if len(begun) > after:
            raise _StoppedError

    with pytest.raises(_StoppedError):
        prepare(connection, SCANS, stop)
    again: list[tuple[str, int]] = []
    prepare(connection, SCANS, lambda name, number, _: again.append((name, number)))
    assert not set(begun[:-1]) & set(again)
    assert {name: read(connection, name) for name in expected} == expected


def test_what_was_prepared_and_dropped_is_left_alone(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    loaded(connection, ROWS)
    prepare(connection, SCANS)
    drop_plain(connection, SCANS)
    before = read(connection, "every.visits")
    prepare(connection, SCANS)
    assert read(connection, "every.visits") == before
    assert connection.execute("SHOW TABLES FROM main").fetchall() == []


def test_an_engine_that_cannot_prepare_says_so() -> None:
    engine = DuckDbEngine.load({"visits": pa.table({"who": [1]})})
    wrong = Scan(table=VISITS)
    with pytest.raises(SourceError, match="could not be prepared"):
        engine.prepare([wrong])
    engine.close()


def test_equal_rows_are_interchangeable_and_nothing_else_is() -> None:
    rows = [(1, "u", 0.5), (1, "u", 0.5), (2, "u", 0.5), (3, "u", 1.5), (4, "u", None)]
    found = set()
    for order in list(permutations(rows))[::7]:
        with duckdb.connect() as connection:
            loaded(connection, list(order))
            prepare(connection, SCANS)
            found.add(tuple(read(connection, "kept.visits")))
    assert len(found) == 1
