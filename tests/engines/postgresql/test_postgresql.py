"""PostgreSQL: what is read of the server, how long it may take, what is never told."""

# ruff: noqa: S608 - names are made here

import logging
from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from signal import SIGINT, raise_signal
from threading import Timer
from typing import Any

import psycopg
import pytest

from discreet.catalog.schema import ColumnUnit, Kind, PrivateTable, RowUnit
from discreet.engines.base import ResourceLimits
from discreet.engines.postgresql import PostgreSqlEngine
from discreet.engines.postgresql.sessions import Sessions
from discreet.errors import EngineError, SourceError, UnsupportedError
from discreet.query.expressions.facts import literal
from discreet.query.tree import Join, JoinKind, Scan, Select
from tests.engines.made import column, count, exact, private
from tests.engines.on_postgresql import run, stored
from tests.postgresql import shared_server
from tests.statements import unbound


@pytest.fixture
def schema() -> Iterator[str]:
    name = stored({})
    yield name
    run(f"DROP SCHEMA {name} CASCADE")


def opened(schema: str, *names: str, limits: ResourceLimits | None = None) -> PostgreSqlEngine:
    places = {name: f"{schema}.{name}" for name in names}
    return PostgreSqlEngine.open(shared_server(), places, limits=limits or ResourceLimits())


# --------------------------------------------------------------------------- schema

KINDS = {
    "smallint": Kind.INTEGER,
    "bigint": Kind.INTEGER,
    "numeric(30, 0)": Kind.INTEGER,
    "numeric(10, 2)": Kind.REAL,
    "numeric": Kind.REAL,
    "real": Kind.REAL,
    "double precision": Kind.REAL,
    "text": Kind.TEXT,
    "varchar(7)": Kind.TEXT,
    "char(7)": Kind.TEXT,
    "uuid": Kind.TEXT,
    "jsonb": Kind.TEXT,
    "boolean": Kind.BOOLEAN,
    "date": Kind.DATE,
    "timestamp": Kind.TIMESTAMP,
    "timestamptz": Kind.TIMESTAMP_TZ,
    "bytea": Kind.OTHER,
    "int[]": Kind.OTHER,
    "interval": Kind.OTHER,
}


def test_types_of_the_server_are_folded_into_kinds(schema: str) -> None:
    listed = ", ".join(f"c{number} {each}" for number, each in enumerate(KINDS))
    run(f"CREATE TABLE {schema}.kinds ({listed})")
    engine = opened(schema, "kinds")
    assert [each.kind for each in engine.columns("KINDS")] == list(KINDS.values())
    assert engine.columns("kinds")[3].step == Fraction(1, 100)
    assert engine.table("kinds").num_rows == 0
    engine.close()


def test_numerics_that_reals_cannot_tell_apart_are_no_units(schema: str) -> None:
    types = ["numeric", "numeric(20, 2)", "numeric(15, 2)", "numeric(30, 0)", "double precision"]
    types += ["numeric(3, 400)", "numeric(15, 330)", "numeric(15, 290)"]  # 1e-400 and 2e-400 are 0
    listed = ", ".join(f"c{number} {each}" for number, each in enumerate(types))
    run(f"CREATE TABLE {schema}.ids ({listed})")
    engine = opened(schema, "ids")
    assert [each.is_rounded for each in engine.columns("ids")] == [
        *(True, True, False, False, False),
        *(True, True, False),
    ]
    engine.close()


def test_documents_are_no_units_since_equal_ones_are_written_differently(schema: str) -> None:
    run(
        f"CREATE TABLE {schema}.documents (a jsonb, b json)",
        f"INSERT INTO {schema}.documents VALUES ('1.0', '1.0'), ('1.00', '1.00')",
    )
    engine = opened(schema, "documents")
    assert [each.is_rounded for each in engine.columns("documents")] == [True, True]
    assert len({row["a"] for row in engine.table("documents").to_pylist()}) == 2
    engine.close()


def test_domains_are_what_they_are_made_of_and_enumerations_are_texts(schema: str) -> None:
    run(
        f"CREATE DOMAIN {schema}.cents AS numeric(9, 2) CHECK (VALUE >= 0)",
        f"CREATE TYPE {schema}.mood AS ENUM ('sad', 'happy')",
        f"CREATE TABLE {schema}.moods (u int NOT NULL, spent {schema}.cents, mood {schema}.mood)",
        f"INSERT INTO {schema}.moods VALUES (1, 2.5, 'sad')",
    )
    engine = opened(schema, "moods")
    u, spent, mood = engine.columns("moods")
    assert (u.nulls, spent.step, mood.kind) == (False, Fraction(1, 100), Kind.TEXT)
    assert engine.table("moods").to_pylist() == [{"u": 1, "spent": 2.5, "mood": "sad"}]
    engine.close()


def test_values_that_no_kind_has_are_null(schema: str) -> None:
    run(
        f"CREATE TABLE {schema}.odd (n numeric, w numeric(40, 0), r float8, d date, t timestamptz)",
        f"INSERT INTO {schema}.odd VALUES ('NaN', 1e30, 'NaN', 'infinity', '-infinity'), "
        "('Infinity', -1e30, '-Infinity', '0044-03-15 BC', '10000-01-01'), "
        "(1e400, 9223372036854775807, 1e308, '9999-12-31', '0001-01-01'), "
        "(1e-400, 0, 0, NULL, NULL)",
    )
    engine = opened(schema, "odd")
    assert engine.table("odd").column("n").to_pylist() == [None, None, None, 0.0]
    assert engine.table("odd").column("w").to_pylist() == [None, None, 2**63 - 1, 0]
    assert engine.table("odd").column("r").to_pylist() == [None, None, 1e308, 0.0]
    assert engine.table("odd").column("d").to_pylist() == [None, None, date(9999, 12, 31), None]
    assert engine.table("odd").column("t").null_count == 3
    engine.close()


def test_names_are_taken_as_they_are(schema: str) -> None:
    run(
        f'CREATE TABLE {schema}."We""ird. Näme" ("__unit" int, "select" int, "Größe ☃" text)',
        f"""INSERT INTO {schema}."We""ird. Näme" VALUES (1, 7, 'x'), (1, 8, 'y')""",
    )
    engine = PostgreSqlEngine.open(shared_server(), {"odd": f'{schema}."We""ird. Näme"'})
    table = PrivateTable(
        name="odd", columns=engine.columns("odd"), unit=ColumnUnit(column="__unit")
    )
    query = count(table, keys=(column("Größe ☃", Kind.TEXT),), sums=(column("select"),))
    assert exact(engine, query) == [{"k0": "x", "s0": 7}, {"k0": "y", "s0": 8}]
    engine.close()


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("nowhere.visits", "no table"),
        ("a.b.c", "is not a table name"),
        ("no_such_table", "no table"),
    ],
)
def test_a_table_that_is_not_there_is_refused(source: str, says: str) -> None:
    with pytest.raises(SourceError, match=says):
        PostgreSqlEngine.open(shared_server(), {"visits": source})


def test_columns_that_the_role_may_not_read_do_not_exist(schema: str) -> None:
    role = f"half_{schema}"
    run(
        f"CREATE TABLE {schema}.visits (u int, cost int, secret text)",
        f"CREATE TABLE {schema}.others (u int)",
        f"CREATE ROLE {role} LOGIN",
        f"GRANT USAGE ON SCHEMA {schema} TO {role}",
        f"GRANT SELECT (u, cost) ON {schema}.visits TO {role}",
    )
    address = shared_server().replace("postgres:@", f"{role}@")
    engine = PostgreSqlEngine.open(address, {"visits": f"{schema}.visits"})
    assert [each.name for each in engine.columns("visits")] == ["u", "cost"]
    query = count(private(engine, unit=ColumnUnit(column="u")), sums=(column("cost"),))
    assert exact(engine, query) == [{"s0": 0}]
    engine.close()
    with pytest.raises(SourceError, match="may read no column"):
        PostgreSqlEngine.open(address, {"others": f"{schema}.others"})
    run(f"DROP OWNED BY {role}", f"DROP ROLE {role}")


def test_a_server_that_is_not_there_is_refused_without_its_words() -> None:
    with pytest.raises(SourceError, match="cannot be reached"):
        PostgreSqlEngine.open("postgresql://nobody@/none?host=/nowhere", {"visits": "visits"})


# --------------------------------------------------------------------------- rows as units


def test_rows_of_partitions_are_told_apart(schema: str) -> None:
    run(
        f"CREATE TABLE {schema}.parted (n int) PARTITION BY LIST (n)",
        *(
            f"CREATE TABLE {schema}.p{n} PARTITION OF {schema}.parted FOR VALUES IN ({n})"
            for n in (1, 2)
        ),
        f"INSERT INTO {schema}.parted VALUES (1), (2), (2)",
    )
    engine = opened(schema, "parted")
    query = count(private(engine, "parted", RowUnit()), units=True, sums=(column("n"),))
    assert exact(engine, query) == [{"s0": 5, "units": 3}]
    engine.close()


def test_rows_of_a_view_are_no_units(schema: str) -> None:
    run(
        f"CREATE TABLE {schema}.base (u int, n int)",
        f"INSERT INTO {schema}.base VALUES (1, 2), (1, 3)",
        f"CREATE VIEW {schema}.seen AS SELECT u, n FROM {schema}.base",
    )
    engine = opened(schema, "seen")
    with pytest.raises(UnsupportedError, match="row of seen is a privacy unit"):
        engine.bind(count(private(engine, "seen", RowUnit()), sums=(column("n"),)))
    query = count(private(engine, "seen", ColumnUnit(column="u")), sums=(column("n"),))
    assert exact(engine, query) == [{"s0": 5}]
    engine.close()


# --------------------------------------------------------------------------- what is never told


def broken(schema: str) -> tuple[PostgreSqlEngine, Any]:
    """Return an engine, and a query that its server cannot run any more."""
    run(f"CREATE TABLE {schema}.visits (patient_id int, cost int)")
    engine = opened(schema, "visits")
    query = count(private(engine), sums=(column("cost"),))
    run(f"ALTER TABLE {schema}.visits DROP COLUMN cost")
    return engine, query


def test_the_servers_words_stay_in_the_owners_log(
    schema: str, caplog: pytest.LogCaptureFixture
) -> None:
    engine, query = broken(schema)
    with caplog.at_level(logging.ERROR, "discreet.engine"), pytest.raises(EngineError) as found:
        engine.run(unbound(query), ())
    assert "does not exist" not in str(found.value)
    assert found.value.__cause__ is None
    assert found.value.__context__ is None
    assert "does not exist" not in caplog.text
    with pytest.raises(UnsupportedError) as refused:
        engine.bind(query)
    assert refused.value.__context__ is None
    engine.close()


def test_a_query_is_checked_without_reading_rows(schema: str) -> None:
    run(
        f"CREATE TABLE {schema}.visits (patient_id int, cost int)",
        f"INSERT INTO {schema}.visits SELECT 1, 1 FROM generate_series(1, 1000)",
    )
    engine = opened(schema, "visits")
    before = run(f"SELECT pg_stat_get_numscans('{schema}.visits'::regclass)")
    engine.bind(count(private(engine), sums=(column("cost"),)))
    assert run(f"SELECT pg_stat_get_numscans('{schema}.visits'::regclass)") == before
    engine.close()


# --------------------------------------------------------------------------- time


def endless(engine: PostgreSqlEngine) -> Any:
    """Return a query that joins rows of a unit with each other, and these again."""
    scan = Scan(table=private(engine))
    true = literal(True)
    rows = Select(
        source=scan,
        name="a",
        joins=tuple(Join(kind=JoinKind.INNER, source=scan, name=each, on=true) for each in "bcd"),
        columns=(),
    )
    return count(rows)


@pytest.fixture
def crowded(schema: str) -> str:
    run(
        f"CREATE TABLE {schema}.visits (patient_id int)",
        f"INSERT INTO {schema}.visits SELECT 1 FROM generate_series(1, 3000)",
    )
    return schema


def is_running(schema: str) -> bool:
    asked = f"SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%{schema}%'"
    return bool(run(f"{asked} AND pid <> pg_backend_pid()"))


def test_a_query_ends_when_its_time_is_over(crowded: str) -> None:
    engine = opened(crowded, "visits", limits=ResourceLimits(timeout=0.2))
    with pytest.raises(EngineError):
        engine.run(unbound(endless(engine)), ())
    assert not is_running(crowded)
    assert exact(engine, count(private(engine))) == [{"s0": 10}]
    engine.close()


def test_a_query_ends_when_it_is_interrupted(crowded: str) -> None:
    engine = opened(crowded, "visits")
    timer = Timer(0.3, raise_signal, [SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        engine.run(unbound(endless(engine)), ())
    assert not is_running(crowded)
    assert exact(engine, count(private(engine))) == [{"s0": 10}]
    engine.close()


def test_a_connection_that_was_cut_while_idle_is_replaced(crowded: str) -> None:
    engine = opened(crowded, "visits")
    ours = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'discreet'"
    )
    run(f"{ours} AND state = 'idle'")
    assert exact(engine, count(private(engine))) == [{"s0": 10}]
    engine.close()


def test_every_run_reads_one_snapshot_and_can_write_nothing() -> None:
    sessions = Sessions(shared_server())
    names = ("transaction_isolation", "transaction_read_only", "TimeZone", "search_path")
    with sessions.transaction() as connection:
        found = [connection.execute(f"SHOW {each}").fetchone() for each in names]
        assert [each[0] for each in found if each] == [
            "repeatable read",
            "on",
            "UTC",
            "pg_catalog, pg_temp",
        ]
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction), sessions.transaction() as connection:
        connection.execute("CREATE TABLE public.mine (n int)")
    sessions.close()
