"""PEP 249, point by point: https://peps.python.org/pep-0249/."""

import time
from collections.abc import Callable, Iterator
from datetime import date, datetime
from threading import Thread
from typing import Any

import pyarrow as pa
import pytest

import discreet
from discreet import dbapi
from discreet.curator import Curator
from discreet.dbapi import Connection, Cursor
from discreet.dbapi.type_objects import type_code

REGIONS = "SELECT region, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY region"
COUNT = "SELECT COUNT(*) AS n FROM visits"
PUBLIC = "SELECT town, beds FROM clinics ORDER BY town"


@pytest.fixture(scope="module")
def curator() -> Iterator[Curator]:
    visits = pa.table(
        {
            "who": [n % 100 for n in range(400)],
            "region": [("north", "south", "west")[n % 3] for n in range(400)],
            "age": [n % 100 for n in range(400)],
        }
    )
    clinics = pa.table({"town": ["Bern", "Oslo", "Rome"], "beds": [20, 10, 30]})
    with discreet.open(
        {"visits": visits, "clinics": clinics},
        unit={"visits": "who"},
        rows_per_unit=4,
        bounds={"visits.age": (0, 100)},
        values={"visits.region": ["north", "south", "west"]},
        public=["clinics"],
        epsilon=10**6,
        delta=1e-6,
    ) as opened:
        yield opened


@pytest.fixture
def connection(curator: Curator) -> Iterator[Connection]:
    with dbapi.connect(curator, epsilon=1) as connected:
        yield connected


@pytest.fixture
def cursor(connection: Connection) -> Cursor:
    return connection.cursor()


# --------------------------------------------------------------------------- the module


def test_the_module_has_the_globals_of_pep_249() -> None:
    assert (dbapi.apilevel, dbapi.paramstyle, dbapi.threadsafety) == ("2.0", "qmark", 2)


def test_threads_may_share_a_connection(connection: Connection) -> None:
    """What `threadsafety = 2` promises: each thread has a cursor of its own."""
    found: list[tuple[int, int]] = []

    def asked(age: int) -> None:
        mine = connection.cursor().execute(f"{COUNT} WHERE age < ?", [age], epsilon=1000)
        row = mine.fetchone()
        assert row is not None
        found.append((age, row[0]))

    threads = [Thread(target=asked, args=(age,)) for age in range(10, 90, 10)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert {age: round(n / 40) for age, n in found} == {age: age // 10 for age in range(10, 90, 10)}


def test_exceptions_form_the_tree_of_pep_249() -> None:
    parents = {
        "Warning": Exception,
        "InterfaceError": dbapi.Error,
        "DatabaseError": dbapi.Error,
        "DataError": dbapi.DatabaseError,
        "OperationalError": dbapi.DatabaseError,
        "IntegrityError": dbapi.DatabaseError,
        "InternalError": dbapi.DatabaseError,
        "ProgrammingError": dbapi.DatabaseError,
        "NotSupportedError": dbapi.DatabaseError,
    }
    for name, parent in parents.items():
        assert parent in getattr(dbapi, name).__bases__
    assert issubclass(dbapi.Error, Exception)


@pytest.mark.parametrize(
    ("made", "value"),
    [
        (dbapi.Date(2024, 2, 3), date(2024, 2, 3)),
        (dbapi.Timestamp(2024, 2, 3, 4, 5, 6), datetime(2024, 2, 3, 4, 5, 6)),
        (dbapi.Time(4, 5, 6), datetime(2024, 2, 3, 4, 5, 6).time()),
        (dbapi.Binary(b"x"), b"x"),
    ],
)
def test_constructors_make_values(made: object, value: object) -> None:
    assert made == value


def test_constructors_from_ticks_give_local_times() -> None:
    ticks = time.mktime((2024, 2, 3, 4, 5, 6, 0, 0, -1))
    assert dbapi.DateFromTicks(ticks) == date(2024, 2, 3)
    assert dbapi.TimeFromTicks(ticks) == dbapi.Time(4, 5, 6)
    assert dbapi.TimestampFromTicks(ticks) == datetime(2024, 2, 3, 4, 5, 6)


TYPES = {
    pa.bool_(): dbapi.NUMBER,
    pa.int64(): dbapi.NUMBER,
    pa.int32(): dbapi.NUMBER,
    pa.float64(): dbapi.NUMBER,
    pa.decimal128(10, 2): dbapi.NUMBER,
    pa.list_(pa.float64()): dbapi.NUMBER,
    pa.string(): dbapi.STRING,
    pa.large_string(): dbapi.STRING,
    pa.null(): dbapi.STRING,
    pa.date32(): dbapi.DATETIME,
    pa.time64("us"): dbapi.DATETIME,
    pa.timestamp("us"): dbapi.DATETIME,
    pa.timestamp("us", "UTC"): dbapi.DATETIME,
    pa.month_day_nano_interval(): dbapi.DATETIME,
    pa.binary(): dbapi.BINARY,
}


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_every_type_code_equals_exactly_one_type_object(kind: pa.DataType) -> None:
    objects = (dbapi.STRING, dbapi.BINARY, dbapi.NUMBER, dbapi.DATETIME, dbapi.ROWID)
    assert [each for each in objects if type_code(kind) == each] == [TYPES[kind]]
    assert TYPES[kind] == type_code(kind)


def test_type_objects_are_equal_to_themselves_alone() -> None:
    assert len({dbapi.STRING, dbapi.BINARY, dbapi.NUMBER, dbapi.DATETIME, dbapi.ROWID}) == 5
    assert dbapi.NUMBER != dbapi.STRING
    assert dbapi.NUMBER != "number"
    assert repr(dbapi.NUMBER) == "discreet.dbapi.NUMBER"


# --------------------------------------------------------------------------- connections


def test_a_closed_connection_refuses_everything(curator: Curator) -> None:
    connection = dbapi.connect(curator, epsilon=1)
    cursor = connection.cursor().execute(COUNT)
    connection.close()
    connection.close()  # as files do, it closes twice
    for use in (
        connection.cursor,
        connection.commit,
        connection.rollback,
        connection.__enter__,
        cursor.fetchone,
        cursor.fetchall,
        lambda: cursor.execute(COUNT),
    ):
        with pytest.raises(dbapi.InterfaceError, match=r"This connection is closed\."):
            use()
    assert curator.remaining.epsilon > 0  # the curator stays open: it was not opened here


def test_commit_and_rollback_change_nothing(connection: Connection, curator: Curator) -> None:
    cursor = connection.cursor().execute(f"{COUNT} WHERE age < 51")
    before = curator.remaining
    connection.commit()
    connection.rollback()
    assert curator.remaining == before
    assert cursor.rowcount == 1


def test_a_connection_has_the_exceptions_as_attributes(connection: Connection) -> None:
    names = [each for each in dbapi.__all__ if each.endswith("Error") or each == "Warning"]
    assert len(names) == 10
    for name in names:
        assert getattr(connection, name) is getattr(dbapi, name)


def test_a_connection_closes_at_the_end_of_its_block(curator: Curator) -> None:
    with dbapi.connect(curator) as connection, connection.cursor() as cursor:
        assert cursor.execute(PUBLIC).rowcount == 3
    with pytest.raises(dbapi.InterfaceError, match="cursor is closed"):
        cursor.fetchone()
    with pytest.raises(dbapi.InterfaceError, match="connection is closed"):
        connection.cursor()


# --------------------------------------------------------------------------- cursors


def test_before_the_first_query_there_is_nothing(cursor: Cursor) -> None:
    assert (cursor.description, cursor.rowcount, cursor.rownumber) == (None, -1, None)
    assert cursor.answer is None
    assert cursor.lastrowid is None
    for fetch in (cursor.fetchone, cursor.fetchmany, cursor.fetchall, lambda: next(cursor)):
        with pytest.raises(dbapi.ProgrammingError, match="Run a query first, with execute"):
            fetch()


def test_description_has_seven_facts_of_each_column(cursor: Cursor) -> None:
    cursor.execute(REGIONS)
    assert cursor.description == (
        ("region", "VARCHAR", None, None, None, None, True),
        ("n", "BIGINT", None, None, None, None, True),
        ("age", "DOUBLE", None, None, None, None, True),
    )
    kinds = [each[1] for each in cursor.description]
    assert kinds == [dbapi.STRING, dbapi.NUMBER, dbapi.NUMBER]


def test_a_decimal_has_precision_and_scale(cursor: Cursor) -> None:
    cursor.execute("SELECT CAST(1.5 AS DECIMAL(6, 2)) AS x, DATE '2024-01-31' AS day")
    assert cursor.description is not None
    assert cursor.description[0] == ("x", "DECIMAL(6,2)", None, None, 6, 2, True)
    assert cursor.description[1][1] == dbapi.DATETIME
    assert cursor.fetchall()[0][1] == date(2024, 1, 31)


def test_rows_are_fetched_one_by_one_in_parts_and_all_together(cursor: Cursor) -> None:
    cursor.execute(PUBLIC)
    assert (cursor.rowcount, cursor.rownumber) == (3, 0)
    assert cursor.fetchone() == ("Bern", 20)
    assert cursor.rownumber == 1
    assert cursor.fetchmany() == [("Oslo", 10)]  # arraysize is 1
    assert cursor.fetchall() == [("Rome", 30)]
    assert (cursor.fetchone(), cursor.fetchmany(5), cursor.fetchall()) == (None, [], [])
    assert (cursor.rowcount, cursor.rownumber) == (3, 3)


def test_fetchmany_takes_a_size_or_arraysize(cursor: Cursor) -> None:
    assert cursor.arraysize == 1
    cursor.execute(PUBLIC)
    assert len(cursor.fetchmany(2)) == 2
    assert len(cursor.fetchmany(2)) == 1
    cursor.execute(PUBLIC)
    cursor.arraysize = 3
    assert len(cursor.fetchmany()) == 3
    with pytest.raises(dbapi.DataError, match="size must be 0 or more"):
        cursor.fetchmany(-1)


def test_a_cursor_is_iterated_over_rows(cursor: Cursor) -> None:
    assert [town for town, _ in cursor.execute(PUBLIC)] == ["Bern", "Oslo", "Rome"]
    assert list(cursor) == []


def test_a_second_query_replaces_the_first_even_if_it_fails(cursor: Cursor) -> None:
    cursor.execute(PUBLIC)
    with pytest.raises(dbapi.ProgrammingError):
        cursor.execute("SELECT town FROM nowhere")
    assert (cursor.description, cursor.rowcount, cursor.answer) == (None, -1, None)
    assert cursor.execute(COUNT).rowcount == 1


def test_parameters_are_sequences_or_mappings(cursor: Cursor) -> None:
    in_order = "SELECT town FROM clinics WHERE beds > ? AND town <> ?"
    assert cursor.execute(in_order, [15, "Rome"]).fetchall() == [("Bern",)]
    by_name = cursor.execute("SELECT town FROM clinics WHERE beds > :least", {"least": 25})
    assert by_name.fetchall() == [("Rome",)]
    assert cursor.execute(PUBLIC, ()).rowcount == 3


def test_values_of_parameters_are_never_sql(cursor: Cursor) -> None:
    town = "Rome' OR 'a' = 'a"
    assert cursor.execute("SELECT beds FROM clinics WHERE town = ?", [town]).fetchall() == []


def test_executemany_is_for_statements_without_a_result(cursor: Cursor) -> None:
    with pytest.raises(dbapi.NotSupportedError, match=r"Call execute\(\) for each list"):
        cursor.executemany(f"{COUNT} WHERE age > ?", [[1], [2]])


def test_sizes_are_accepted_and_ignored(cursor: Cursor) -> None:
    cursor.setinputsizes([10])
    cursor.setoutputsize(1000)
    cursor.setoutputsize(1000, 2)
    assert cursor.execute(PUBLIC).rowcount == 3


def test_a_closed_cursor_refuses_everything(connection: Connection) -> None:
    cursor = connection.cursor().execute(PUBLIC)
    cursor.close()
    cursor.close()
    uses: list[Callable[[], Any]] = [
        cursor.fetchone,
        cursor.fetchmany,
        cursor.fetchall,
        cursor.__enter__,
        lambda: cursor.execute(PUBLIC),
        lambda: cursor.executemany(PUBLIC, []),
        lambda: cursor.setinputsizes([]),
        lambda: cursor.setoutputsize(1),
    ]
    for use in uses:
        with pytest.raises(dbapi.InterfaceError, match=r"This cursor is closed\."):
            use()
    assert connection.cursor().execute(PUBLIC).rowcount == 3


def test_cursors_of_a_connection_do_not_disturb_each_other(connection: Connection) -> None:
    first, second = connection.cursor(), connection.cursor()
    first.execute(PUBLIC)
    second.execute(PUBLIC)
    assert (first.fetchone(), second.fetchone()) == (("Bern", 20), ("Bern", 20))
    assert first.connection is second.connection is connection
