"""Tables in memory are read as they are: lazy frames once, connections without their views."""

import duckdb
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet.engines.duckdb.frames import frame_table, tables_at
from discreet.errors import SourceError


@pytest.fixture
def connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE people AS SELECT range AS who FROM range(7)")
    connection.execute('CREATE TABLE "odd "" name" AS SELECT 1 AS x')
    connection.execute("CREATE VIEW seen AS FROM people")
    connection.execute("CREATE SCHEMA other; CREATE TABLE other.hidden AS SELECT 1 AS x")
    connection.execute("CREATE TEMP VIEW people AS SELECT 1 AS who")
    connection.execute("CREATE TEMP MACRO range(x) AS TABLE SELECT 1")
    return connection


def test_a_connection_has_its_tables_and_no_views(connection: duckdb.DuckDBPyConnection) -> None:
    assert tables_at(connection) == ['odd " name', "people"]
    assert frame_table("PEOPLE", connection).num_rows == 7
    assert frame_table('odd " name', connection).to_pydict() == {"x": [1]}


@pytest.mark.parametrize("name", ["seen", "hidden", "nothing"])
def test_nothing_else_of_a_connection_is_read(
    connection: duckdb.DuckDBPyConnection, name: str
) -> None:
    with pytest.raises(SourceError, match="is a view" if name == "seen" else "has no table"):
        frame_table(name, connection)


def test_all_tables_of_a_connection_are_opened(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute('DROP TABLE "odd "" name"')
    connection.execute("SELECT 1")
    with discreet.open(connection, unit="who", rows_per_unit=1, epsilon=100) as people:
        assert people.ask("SELECT COUNT(*) AS n FROM people", epsilon=90).rows == [{"n": 7}]
    assert connection.fetchall() == [(1,)]


def test_a_lazy_frame_runs_once() -> None:
    runs: list[int] = []
    frame = pl.DataFrame({"who": [1, 2, 3]}).lazy()

    def noted(rows: pl.DataFrame) -> pl.DataFrame:
        runs.append(len(rows))
        return rows

    counted = frame.map_batches(noted, schema=frame.collect_schema())
    with discreet.open(counted, name="people", unit="who", rows_per_unit=1, epsilon=100) as people:
        assert people.ask("SELECT COUNT(*) AS n FROM people", epsilon=90).rows == [{"n": 3}]
    assert len(runs) == 1


def test_what_cannot_be_computed_says_so() -> None:
    with pytest.raises(SourceError, match="could not be computed"):
        frame_table("people", pl.DataFrame({"a": [1]}).lazy().select("b"))
    relation = duckdb.sql("SELECT error('secret') AS who")
    assert relation is not None
    with pytest.raises(SourceError, match="could not be read") as found:
        frame_table("people", relation)
    assert "secret" not in str(found.value)


@pytest.mark.parametrize("thing", [3, object(), pa.schema([])])
def test_what_is_no_table_is_called_by_its_type(thing: object) -> None:
    with pytest.raises(SourceError, match=f"given as a {type(thing).__name__}"):
        frame_table("people", thing)  # type: ignore[arg-type]
