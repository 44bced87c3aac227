"""Real clients against a real server: drivers, psql, SQLAlchemy, pandas, ADBC and JDBC."""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from datetime import date, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import adbc_driver_postgresql.dbapi as adbc
import asyncpg
import pandas as pd
import pg8000.dbapi
import psycopg
import psycopg2
import pytest
import sqlalchemy as sa
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from discreet.server.pgwire.hollow import binaries
from tests.server.pgwire.wired import Wired, wired, write_clinic

GROUPED = "SELECT region, COUNT(*) AS n FROM visits GROUP BY region ORDER BY region"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wired]:
    with wired(write_clinic(tmp_path_factory.mktemp("clients") / "clinic")) as found:
        yield found


def is_near(value: Any, exact: float) -> bool:
    """Return whether a noisy value is plausible: noise of these tests is small."""
    return isinstance(value, int | float) and abs(value - exact) < 200


# --------------------------------------------------------------------------- psql

PROGRAMS = {
    "16": binaries() / "psql",
    "18": binaries().parent.parent / "pginstall18" / "bin" / "psql",
}


def psql(served: Wired, *commands: str, version: str = "16", options: str = "") -> str:
    """Run psql; return what it prints, errors and notices included."""
    parts = served.parts()
    given = [f"--command={each}" for each in commands]
    place = ("-h", "127.0.0.1", "-p", str(served.port), "-U", "ana", "-d", "clinic")
    found = subprocess.run(  # noqa: S603 - our own command
        [str(PROGRAMS[version]), "-X", *place, *given],
        env={**os.environ, "PGPASSWORD": parts["password"], "PGOPTIONS": options},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return found.stdout + found.stderr


@pytest.mark.parametrize("version", PROGRAMS)
@pytest.mark.parametrize(
    ("command", "shown"),
    [
        (r"\dt", "visits"),
        (r"\d visits", "double precision"),
        (r"\d+ visits", "2 declared values."),
        (r"\dt+", "Private: protects"),
        (r"\l", "clinic"),
        (r"\dn", "public"),
        (r"\du", "analyst"),
        (r"\df", "(0 rows)"),
        (r"\dv", ""),
        (r"\dT", "(0 rows)"),
        (r"\di", "cities_pkey"),
        (r"\conninfo", "clinic"),
        ("SHOW server_version", "16"),
        ("SELECT 1 AS one", "one"),
    ],
)
def test_psql_describes_tables_and_the_server(
    served: Wired, version: str, command: str, shown: str
) -> None:
    found = psql(served, command, version=version)
    assert shown in found
    assert "ERROR" not in found


def test_psql_asks_after_a_cost_is_stated_and_shows_what_was_spent(served: Wired) -> None:
    found = psql(served, "SET discreet.epsilon = 0.25", GROUPED)
    assert "SET" in found
    assert "north" in found
    assert "(2 rows)" in found
    assert "NOTICE:  Spent ε = 0.25 · Remaining: ε = " in found
    assert "DETAIL:  Margin of error at 95% confidence: n ±" in found
    again = psql(served, "SET discreet.epsilon = 0.25", GROUPED)
    assert "NOTICE:  Spent nothing: this is the saved answer to this query" in again


def test_psql_shows_errors_with_their_place_and_a_hint(served: Wired) -> None:
    found = psql(served, "SELECT 1; SELECT zzzz FROM visits", options="-c discreet.epsilon=1")
    assert "ERROR:  visits has no column zzzz" in found
    assert "LINE 1: SELECT 1; SELECT zzzz FROM visits\n                         ^" in found
    assert "HINT:  Available columns: " in found


def test_psql_copies_an_answer_to_a_file(served: Wired, tmp_path: Path) -> None:
    file = tmp_path / "answer.csv"
    psql(
        served,
        "SET discreet.epsilon = 2",
        rf"\copy ({GROUPED}) to '{file}' csv header",
    )
    lines = file.read_text().splitlines()
    assert lines[0] == "region,n"
    assert [each.split(",")[0] for each in lines[1:]] == ["north", "south"]


# --------------------------------------------------------------------------- drivers in Python


def test_psycopg_gets_types_parameters_binary_values_and_cursors(served: Wired) -> None:
    with served.connect(epsilon=5) as connection:
        assert [each[0] for each in connection.execute(GROUPED)] == ["north", "south"]
        query = (
            "SELECT COUNT(*), AVG(cost) FROM visits WHERE region = %s AND cost > %s AND age < %s"
        )
        ((count, mean),) = connection.execute(query, ("north", 3.5, 200)).fetchall()
        assert is_near(count, 190)
        assert isinstance(mean, float)
        cursor = connection.cursor(binary=True)
        cursor.execute("SELECT day, COUNT(*) AS n FROM visits GROUP BY day ORDER BY day LIMIT 3")
        assert [each[0] for each in cursor] == [date(2024, 1, n) for n in (1, 2, 3)]
        assert [(each.name, each.type_code) for each in cursor.description] == [
            ("day", 1082),
            ("n", 20),
        ]
        prepared = "SELECT COUNT(*) FROM visits WHERE patient_id < %s"
        found = [connection.execute(prepared, (n,), prepare=True).fetchone() for n in (100, 200)]
        assert is_near(found[0][0], 100)
        assert is_near(found[1][0], 200)
        listed = "SELECT COUNT(*) FROM visits WHERE city = ANY(%s)"
        assert is_near(connection.execute(listed, (["city 1", "city 2"],)).fetchone()[0], 20)


def test_psycopg_reads_a_named_cursor_in_parts(served: Wired) -> None:
    with served.connect(epsilon=5, autocommit=False) as connection:
        cursor = connection.cursor("named", scrollable=True)
        cursor.execute("SELECT city, people FROM cities ORDER BY people")
        assert [each[1] for each in cursor.fetchmany(2)] == [0, 1000]
        assert len(cursor.fetchall()) == 38
        cursor.scroll(0, mode="absolute")
        assert cursor.fetchone() == ("city 0", 0)
        cursor.close()


def test_psycopg_recovers_from_an_error_in_a_transaction(served: Wired) -> None:
    with served.connect(autocommit=False) as connection:
        with pytest.raises(psycopg.errors.UndefinedColumn):
            connection.execute("SELECT nope FROM visits")
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            connection.execute("SELECT 1")
        connection.rollback()
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_psycopg_2_asks_and_reads_named_cursors(served: Wired) -> None:
    parts = served.parts()
    connection = psycopg2.connect(
        dbname="clinic", options="-c discreet.epsilon=5", **{**parts, "port": str(served.port)}
    )
    with connection.cursor() as cursor:
        cursor.execute("SELECT region, COUNT(*) FROM visits WHERE cost > %s GROUP BY 1", (3,))
        assert sorted(each[0] for each in cursor.fetchall()) == ["north", "south"]
    with connection.cursor(name="named") as named:
        named.itersize = 7
        named.execute("SELECT people FROM cities ORDER BY 1")
        assert [each[0] for each in named] == [1000 * i for i in range(40)]
    connection.close()


def test_asyncpg_infers_types_of_parameters_and_columns(served: Wired) -> None:
    async def act() -> None:
        connection = await asyncpg.connect(
            database="clinic", server_settings={"discreet.epsilon": "5"}, **served.parts()
        )
        rows = await connection.fetch(GROUPED)
        assert [each["region"] for each in rows] == ["north", "south"]
        query = (
            "SELECT COUNT(*) AS n, MAX(at) AS last FROM visits WHERE patient_id < $1 AND day >= $2"
        )
        row = await connection.fetchrow(query, 100, date(2024, 1, 1))
        assert is_near(row["n"], 100)
        assert row["last"] is None or isinstance(row["last"], datetime)
        listed = "SELECT COUNT(*) FROM visits WHERE city = ANY($1)"
        assert is_near(await connection.fetchval(listed, ["city 1", "city 2"]), 20)
        async with connection.transaction():
            found = [
                each["people"] async for each in connection.cursor("SELECT people FROM cities")
            ]
        assert len(found) == 40
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.fetch("SELECT * FROM visits LIMIT 200")
        await connection.close()

    asyncio.run(act())


def test_a_pool_of_asyncpg_resets_connections_and_uses_them_again(served: Wired) -> None:
    async def act() -> None:
        pool = await asyncpg.create_pool(
            database="clinic", min_size=1, max_size=1, **served.parts()
        )
        async with pool.acquire() as connection:
            await connection.execute("SET discreet.epsilon = 3")
            assert len(await connection.fetch(GROUPED)) == 2
        async with pool.acquire() as connection:  # what was set is undone
            with pytest.raises(asyncpg.InvalidParameterValueError):
                await connection.fetch("SELECT COUNT(*) AS nobody FROM visits WHERE age = 7")
        await pool.close()

    asyncio.run(act())


def test_pg8000_asks_after_set(served: Wired) -> None:
    connection = pg8000.dbapi.connect(database="clinic", **served.parts())
    cursor = connection.cursor()
    cursor.execute("SET discreet.epsilon = 5")
    cursor.execute("SELECT COUNT(*) FROM visits WHERE region = %s", ("north",))
    assert is_near(cursor.fetchone()[0], 200)
    connection.close()


# --------------------------------------------------------------------------- frames


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2", "pg8000"])
def test_sqlalchemy_reflects_tables_and_asks(served: Wired, driver: str) -> None:
    engine = sa.create_engine(served.url(f"postgresql+{driver}"))
    inspector = sa.inspect(engine)
    assert sorted(inspector.get_table_names()) == ["cities", "visits"]
    assert "public" in inspector.get_schema_names()
    kinds = {each["name"]: str(each["type"]) for each in inspector.get_columns("visits")}
    assert kinds["cost"] == "DOUBLE PRECISION"
    assert kinds["at"] == "TIMESTAMP"
    assert inspector.get_pk_constraint("cities")["constrained_columns"] == ["city"]
    assert inspector.get_foreign_keys("visits") == []
    assert inspector.get_indexes("visits") == []
    assert "Private" in str(inspector.get_table_comment("visits")["text"])
    visits = sa.Table("visits", sa.MetaData(), autoload_with=engine)
    counted = (
        sa.select(visits.c.region, sa.func.count().label("n"))
        .where(visits.c.age > 10)
        .group_by(visits.c.region)
        .order_by(visits.c.region)
    )
    with engine.connect() as connection:
        connection.execute(sa.text("SET discreet.epsilon = 5"))
        assert [each.region for each in connection.execute(counted)] == ["north", "south"]
    engine.dispose()


def test_pandas_reads_answers_and_tables(served: Wired) -> None:
    query = "?options=-c%20discreet.epsilon%3D5%20-c%20discreet.intervals%3Don"
    engine = sa.create_engine(served.url("postgresql+psycopg", query=query))
    frame = pd.read_sql(GROUPED, engine)
    assert list(frame.columns) == ["region", "n", "n_low", "n_high"]
    assert (frame["n_low"] < frame["n"]).all()
    assert (frame["n"] < frame["n_high"]).all()
    assert len(pd.read_sql_table("cities", engine)) == 40
    with pytest.raises(pd.errors.DatabaseError, match="individual rows"):
        pd.read_sql_table("visits", engine)
    engine.dispose()


def test_adbc_reads_answers_as_arrow(served: Wired) -> None:
    query = "?options=-c%20discreet.epsilon%3D5"
    with adbc.connect(served.url("postgresql", query=query)) as connection:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT region, COUNT(*) AS n, AVG(cost) AS c, MIN(day) AS d FROM visits GROUP BY 1"
            )
            table = cursor.fetch_arrow_table()
        assert [str(each) for each in table.schema.types] == [
            "string",
            "int64",
            "double",
            "date32[day]",
        ]
        assert sorted(table.column("region").to_pylist()) == ["north", "south"]
        found = connection.adbc_get_objects(depth="tables").read_all().to_pylist()
        assert "visits" in str(found)


# --------------------------------------------------------------------------- JDBC

DRIVER = Path("/usr/share/java/postgresql.jar")
"""Where Debian's package libpostgresql-jdbc-java puts the driver."""


@pytest.fixture(scope="module")
def java() -> Iterator[Any]:
    """Start a Java process with the PostgreSQL driver, which Python calls."""
    assert DRIVER.exists(), "apt-get install -y libpostgresql-jdbc-java"
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    (jar,) = (Path(spec.origin).parent / "jars").glob("py4j-*.jar")
    port = launch_gateway(jarpath=str(jar), classpath=str(DRIVER), die_on_exit=True)
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
    yield gateway.jvm
    gateway.shutdown()


def rows_of(found: Any, columns: int) -> list[tuple[Any, ...]]:
    """Return the rows of a result of JDBC."""
    rows = []
    while found.next():
        rows.append(tuple(found.getString(i + 1) for i in range(columns)))
    return rows


def test_jdbc_browses_and_asks(served: Wired, java: Any) -> None:
    parts = served.parts()
    url = (
        f"jdbc:postgresql://127.0.0.1:{served.port}/clinic"
        "?sslmode=disable&options=-c%20discreet.epsilon=5"
    )
    java.java.lang.Class.forName("org.postgresql.Driver")
    connection = java.java.sql.DriverManager.getConnection(url, "ana", parts["password"])
    about = connection.getMetaData()
    assert about.getDatabaseProductVersion().startswith("16")
    assert rows_of(about.getCatalogs(), 1) == [("clinic",)]
    assert ("public",) in rows_of(about.getSchemas(), 1)
    tables = rows_of(about.getTables(None, "public", "%", None), 4)
    assert {(each[2], each[3]) for each in tables} >= {("visits", "TABLE"), ("cities", "TABLE")}
    columns = rows_of(about.getColumns(None, "public", "visits", "%"), 6)
    assert ("cost", "float8") in {(each[3], each[5]) for each in columns}
    assert [each[3] for each in rows_of(about.getPrimaryKeys(None, "public", "cities"), 4)] == [
        "city"
    ]
    for found in (
        about.getImportedKeys(None, "public", "visits"),
        about.getIndexInfo(None, "public", "visits", False, False),
        about.getFunctions(None, "public", "%"),
        about.getProcedures(None, None, "%"),
        about.getTypeInfo(),
        about.getTableTypes(),
    ):
        rows_of(found, 1)
    assert about.getSQLKeywords()
    assert len(rows_of(connection.createStatement().executeQuery(GROUPED), 2)) == 2
    sql = "SELECT COUNT(*), AVG(cost), MAX(day) FROM visits WHERE patient_id < ? AND region = ?"
    prepared = connection.prepareStatement(sql)
    for i in range(8):  # from the sixth on, the driver prepares on the server and reads binary
        prepared.setInt(1, 100 + i)
        prepared.setString(2, "north")
        assert len(rows_of(prepared.executeQuery(), 3)) == 1
    assert prepared.getParameterMetaData().getParameterTypeName(2) == "varchar"
    assert prepared.getMetaData().getColumnTypeName(1) == "int8"
    connection.setAutoCommit(False)
    statement = connection.createStatement()
    statement.setFetchSize(7)
    assert len(rows_of(statement.executeQuery("SELECT city, people FROM cities"), 2)) == 40
    connection.commit()
    connection.setAutoCommit(True)
    assert _state_of(connection, "SELECT nope FROM visits") == "42703"
    assert rows_of(connection.createStatement().executeQuery("SELECT 1"), 1) == [("1",)]
    connection.setReadOnly(True)
    assert len(rows_of(connection.createStatement().executeQuery(GROUPED), 2)) == 2
    connection.close()


def _state_of(connection: Any, sql: str) -> str:
    """Return the code of the error that a statement has."""
    try:
        connection.createStatement().executeQuery(sql)
    except Exception as error:  # noqa: BLE001 - Java's
        return str(error.java_exception.getSQLState())  # type: ignore[attr-defined]
    return ""
