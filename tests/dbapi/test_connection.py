"""What is ours beside PEP 249: costs, answers, intervals, sources, errors and other libraries."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet
from discreet import dbapi, errors
from discreet.client import ServerError
from discreet.curator import Curator
from discreet.dbapi.exceptions import error_for
from discreet.error_codes import classes, error_from
from discreet.ledger import make_token
from discreet.opening import open_books
from tests.server.running import Served, serving, write_catalog

REGIONS = "SELECT region, COUNT(*) AS n, MEDIAN(age) AS m FROM visits GROUP BY region"
COUNT = "SELECT COUNT(*) AS n FROM visits"
PUBLIC = "SELECT town FROM clinics"


@pytest.fixture
def curator() -> Iterator[Curator]:
    visits = pa.table(
        {
            "who": list(range(400)),
            "region": ["north", "south"] * 200,
            "age": [n % 100 for n in range(400)],
        }
    )
    with discreet.open(
        {"visits": visits, "clinics": pa.table({"town": ["Rome", "Oslo"]})},
        unit={"visits": "who"},
        bounds={"visits.age": (0, 100)},
        values={"visits.region": ["north", "south"]},
        public=["clinics"],
        epsilon=100,
        delta=1e-6,
        analysts={"ann": 1},
    ) as opened:
        yield opened


# --------------------------------------------------------------------------- costs


def test_nothing_is_spent_without_a_stated_cost(curator: Curator) -> None:
    cursor = dbapi.connect(curator).cursor()
    with pytest.raises(dbapi.ProgrammingError) as found:
        cursor.execute(COUNT)
    assert str(found.value) == (
        "No cost was given for this query. Add epsilon=0.1 or within=20 to execute(), or to "
        "connect() for all queries."
    )
    assert isinstance(found.value.__cause__, errors.ParameterError)
    assert curator.remaining.epsilon == 100
    assert cursor.execute(PUBLIC).rowcount == 2  # public tables need none


def test_a_cost_is_stated_for_all_queries_or_for_one(curator: Curator) -> None:
    cursor = dbapi.connect(curator, epsilon=2).cursor()
    cursor.execute(COUNT)
    assert curator.remaining.epsilon == 98
    cursor.execute(f"{COUNT} WHERE age > 10", epsilon=5)
    assert curator.remaining.epsilon == 93
    cursor.execute(f"{COUNT} WHERE age > 10", epsilon=5)  # a saved answer
    assert curator.remaining.epsilon == 93


def test_a_margin_for_one_query_replaces_the_epsilon_of_the_connection(curator: Curator) -> None:
    cursor = dbapi.connect(curator, epsilon=0.001).cursor()
    cursor.execute(COUNT, within=5)
    assert cursor.answer is not None
    assert cursor.answer.margins["n"][0] == 5
    assert cursor.answer.price.epsilon > Fraction(1, 1000)


def test_confidence_and_dialect_are_those_of_the_connection_or_of_one_query(
    curator: Curator,
) -> None:
    connection = dbapi.connect(curator, epsilon=1, confidence=0.9, dialect="postgres")
    cursor = connection.cursor().execute(f"{COUNT} WHERE age::text = '7'")
    assert cursor.answer is not None
    assert cursor.answer.confidence == Fraction(9, 10)
    cursor.execute(f"{COUNT} WHERE SAFE_CAST('7' AS INT64) = age", dialect="bigquery")
    cursor.execute(COUNT, confidence=0.5)
    assert cursor.answer.confidence == Fraction(1, 2)


def test_a_query_that_is_executed_is_the_query_that_is_asked(curator: Curator) -> None:
    cursor = dbapi.connect(curator, epsilon=1).cursor().execute(REGIONS)
    again = curator.ask(REGIONS, epsilon=1)
    assert again.is_free
    assert cursor.fetchall() == [tuple(each.values()) for each in again.rows]
    assert cursor.answer is not None
    assert cursor.answer.notes == again.notes


# --------------------------------------------------------------------------- intervals


def test_intervals_are_columns_beside_noisy_ones(curator: Curator) -> None:
    connection = dbapi.connect(curator, epsilon=20, intervals=True)
    cursor = connection.cursor().execute(REGIONS)
    assert cursor.description is not None
    names = [each[0] for each in cursor.description]
    assert names == ["region", "n", "n_low", "n_high", "m", "m_low", "m_high"]
    assert cursor.answer is not None
    margins, ends = cursor.answer.margins["n"], cursor.answer.intervals["m"]
    for row, margin, end in zip(cursor, margins, ends, strict=True):
        assert margin is not None
        assert (row[2], row[3]) == (row[1] - margin, row[1] + margin)
        assert (row[5], row[6]) == end
    connection.intervals = False
    assert len(connection.cursor().execute(REGIONS).description or ()) == 3


def test_a_row_without_a_margin_has_no_interval(curator: Curator) -> None:
    sql = "SELECT region, AVG(age) AS a FROM visits WHERE age < 1 GROUP BY region"
    connection = dbapi.connect(curator, epsilon=0.01, intervals=True)
    cursor = connection.cursor().execute(sql)
    assert cursor.answer is not None
    for row, margin in zip(cursor, cursor.answer.margins["a"], strict=True):
        assert (row[2] is None) == (row[3] is None) == (margin is None or row[1] is None)


def test_a_date_that_was_computed_from_a_noisy_number_has_no_interval(curator: Curator) -> None:
    sql = "SELECT DATE '2024-01-01' + CAST(COUNT(*) AS INT) AS day, COUNT(*) AS n FROM visits"
    cursor = dbapi.connect(curator, epsilon=20, intervals=True).cursor().execute(sql)
    assert [each[0] for each in cursor.description or ()] == ["day", "n", "n_low", "n_high"]
    assert cursor.answer is not None
    assert cursor.answer.margins["day"]


# --------------------------------------------------------------------------- sources


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(write_catalog(tmp_path_factory.mktemp("clinic"))) as found:
        yield found


def test_an_account_is_charged_as_itself(curator: Curator) -> None:
    with dbapi.connect(curator.on_account("ann"), epsilon=0.5) as connection:
        connection.cursor().execute(COUNT)
        with pytest.raises(dbapi.OperationalError, match="cap of analyst 'ann'"):
            connection.cursor().execute(f"{COUNT} WHERE age > 1", epsilon=0.6)
    assert curator.remaining_of("ann").epsilon == Fraction(1, 2)


def test_a_catalog_file_is_opened_and_closed_with_the_connection(tmp_path: Path) -> None:
    catalog = write_catalog(tmp_path)
    token = make_token()
    with open_books(catalog) as ledger:
        ledger.declare_analyst("ann", epsilon=1, token_hash=token.hash)
    for source in (catalog, str(catalog)):
        with dbapi.connect(source, token=token.text, epsilon=0.5) as connection:
            assert connection.cursor().execute(COUNT).rowcount == 1
            asked: Any = connection._session.answers
        with pytest.raises(errors.LedgerError, match="closed"):
            asked.ask(COUNT, epsilon=0.5)
    with pytest.raises(dbapi.OperationalError, match="token"):
        dbapi.connect(catalog, token="wrong")  # noqa: S106 - it is none
    with dbapi.connect(catalog) as connection:  # so the failed one has let the data go
        assert connection.cursor().execute(COUNT, epsilon=0.5).answer is not None


def test_a_server_is_asked_by_its_address_or_a_client(served: Served) -> None:
    token = served.tokens["ann"]
    with dbapi.connect(served.url, token=token, catalog="clinic", epsilon=0.5) as connection:
        cursor = connection.cursor().execute(f"{COUNT} WHERE age > ?", [10])
        rows = cursor.fetchall()
        client: Any = connection._session.answers
    with pytest.raises(ServerError, match=r"This client is closed\. Connect again"):
        _ = client.remaining
    with served.connect() as remote:
        connection = dbapi.connect(remote, epsilon=0.5)
        assert connection.cursor().execute(f"{COUNT} WHERE age > :a", {"a": 10}).fetchall() == rows
        connection.close()
        assert remote.remaining.epsilon > 0
        with pytest.raises(dbapi.ProgrammingError, match="No cost was given"):
            dbapi.connect(remote).cursor().execute(COUNT)
        with pytest.raises(dbapi.ProgrammingError) as found:
            dbapi.connect(remote, epsilon=1).cursor().execute("SELECT * FROM visits")
        assert isinstance(found.value.__cause__, errors.RowLevelError)
    with pytest.raises(dbapi.OperationalError, match="no catalog nothing"):
        dbapi.connect(served.url, token=token, catalog="nothing")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"source": None}, "source must be a curator, an account, a client of a server"),
        ({"source": object()}, "source must be a curator"),
        ({"epsilon": -1}, "epsilon must be more than 0"),
        ({"epsilon": "1"}, "epsilon must be a finite number"),
        ({"delta": 2}, "delta must be less than 1"),
        ({"confidence": 95}, "confidence must be less than 1"),
        ({"dialect": "oracle"}, "dialect must be 'duckdb', 'postgres' or 'bigquery'"),
        ({"intervals": 1}, "intervals must be True or False"),
        ({"token": "x"}, "token is for a catalog file or the address of a server"),
        ({"catalog": "x"}, "catalog is for the address of a server only"),
    ],
)
def test_a_wrong_argument_of_connect_is_one_sentence(
    curator: Curator, given: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(dbapi.DataError, match=sentence) as found:
        dbapi.connect(**{"source": curator, **given})
    assert "\n" not in str(found.value)


def test_a_catalog_that_is_not_there_is_an_operational_error(tmp_path: Path) -> None:
    with pytest.raises(dbapi.OperationalError):
        dbapi.connect(tmp_path / "nowhere.toml")


# --------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("sql", "given", "kind", "cause"),
    [
        ("SELECT COUNT( FROM visits", {}, dbapi.ProgrammingError, errors.SqlSyntaxError),
        ("SELECT COUNT(*) FROM visist", {}, dbapi.ProgrammingError, errors.UnknownNameError),
        ("SELECT * FROM visits", {}, dbapi.ProgrammingError, errors.RowLevelError),
        (f"{COUNT} WHERE age > ?", {}, dbapi.ProgrammingError, errors.PlaceholderError),
        ("DELETE FROM visits", {}, dbapi.NotSupportedError, errors.StatementError),
        ("SELECT STRING_AGG(region) FROM visits", {}, dbapi.NotSupportedError, None),
        (f"{COUNT} WHERE age > random()", {}, dbapi.NotSupportedError, None),
        (COUNT, {"epsilon": 1000}, dbapi.OperationalError, errors.BudgetError),
        (COUNT, {"epsilon": -1}, dbapi.DataError, errors.ParameterError),
        (COUNT, {"within": {"m": 2}}, dbapi.DataError, None),
        (f"{COUNT} WHERE age > ?", {"parameters": [b"x"]}, dbapi.DatabaseError, None),
    ],
)
def test_errors_keep_their_sentence_and_their_cause(
    curator: Curator,
    sql: str,
    given: dict[str, Any],
    kind: type[dbapi.Error],
    cause: type[errors.DiscreetError] | None,
) -> None:
    cursor = dbapi.connect(curator, epsilon=1).cursor()
    with pytest.raises(dbapi.Error) as found:
        cursor.execute(sql, **given)
    assert isinstance(found.value, kind)
    assert isinstance(found.value.__cause__, cause or errors.DiscreetError)
    assert str(found.value) == str(found.value.__cause__)
    assert found.value._render_traceback_() == [f"{type(found.value).__name__}: {found.value}"]
    assert curator.remaining.epsilon == 100


def test_every_error_of_discreet_has_one_of_pep_249() -> None:
    kinds = {
        kind.__name__: type(error_for(error_from({"code": code, "message": "It is wrong"})))
        for code, kind in classes().items()
    }
    assert len(kinds) > 30
    assert all(issubclass(each, dbapi.Error) for each in kinds.values())
    assert kinds["ServerError"] is dbapi.OperationalError
    assert kinds["SuspendedError"] is dbapi.OperationalError
    assert kinds["MissingExtraError"] is dbapi.InterfaceError
    assert kinds["EntropyError"] is dbapi.InternalError


def test_errors_of_pep_249_are_not_codes_of_servers() -> None:
    """A server's errors are found by the names of classes, and these are no errors of its own."""
    assert not issubclass(dbapi.Error, errors.DiscreetError)


# --------------------------------------------------------------------------- other libraries


def test_pandas_reads_queries_and_warns_that_it_does_not_know_the_driver(curator: Curator) -> None:
    connection: Any = dbapi.connect(curator, epsilon=1)
    with pytest.warns(UserWarning, match="pandas only supports SQLAlchemy"):
        frame = pd.read_sql(f"{COUNT} WHERE age > ?", connection, params=[5])
    assert frame.columns.tolist() == ["n"]
    assert frame["n"].dtype == np.int64
    with (
        pytest.warns(UserWarning, match="pandas only supports SQLAlchemy"),
        pytest.raises(dbapi.ProgrammingError, match="individual rows"),
    ):
        pd.read_sql("SELECT * FROM visits", connection)


def test_polars_reads_queries_with_their_types(curator: Curator) -> None:
    connection = dbapi.connect(curator, epsilon=1, intervals=True)
    sql = "SELECT region, COUNT(*) AS n, DATE '2024-01-31' AS day, true AS b FROM visits GROUP BY 1"
    frame = pl.read_database(sql, connection)
    assert dict(frame.schema) == {
        "region": pl.String,
        "n": pl.Int64,
        "n_low": pl.Float64,
        "n_high": pl.Float64,
        "day": pl.Date,
        "b": pl.Boolean,
    }
    options = {"parameters": [50], "epsilon": 2}
    found = pl.read_database(f"{COUNT} WHERE age > ?", connection, execute_options=options)
    assert found.height == 1
    assert curator.remaining.epsilon == 97
