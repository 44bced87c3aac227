"""Answers through the Arrow PyCapsule interface, as other libraries read them."""

from datetime import date

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.answer import Answer
from tests.curated import Columns, curator_of

SQL = """
    SELECT region, COUNT(*) AS n, AVG(age) AS age, DATE '2024-01-31' AS day
    FROM visits GROUP BY region ORDER BY region
"""


@pytest.fixture(scope="module")
def answer() -> Answer:
    columns: Columns = {"region": ["north", "south"] * 200, "age": [n % 100 for n in range(400)]}
    values, bounds = {"region": ["north", "south"]}, {"age": (0, 100)}
    return curator_of(columns, values=values, bounds=bounds).ask(SQL, epsilon=10)


def test_arrow_reads_an_answer_with_its_types(answer: Answer) -> None:
    table = pa.table(answer)
    assert table.equals(answer.to_arrow())
    assert table.schema.types == [pa.string(), pa.int64(), pa.float64(), pa.date32()]
    assert pa.RecordBatchReader.from_stream(answer).read_all().equals(table)


def test_the_schema_is_read_without_the_rows(answer: Answer) -> None:
    assert pa.schema(answer) == answer.table.schema  # type: ignore[arg-type]


def test_another_schema_may_be_requested(answer: Answer) -> None:
    wanted = answer.table.schema.set(0, pa.field("region", pa.large_string()))
    assert pa.RecordBatchReader.from_stream(answer, schema=wanted).schema == wanted


def test_polars_reads_an_answer(answer: Answer) -> None:
    frame = pl.DataFrame(answer)
    assert dict(frame.schema) == {
        "region": pl.String,
        "n": pl.Int64,
        "age": pl.Float64,
        "day": pl.Date,
    }
    assert frame.rows(named=True) == answer.rows


def test_duckdb_finds_an_answer_by_the_name_of_its_variable(answer: Answer) -> None:
    found = duckdb.sql("SELECT region, n, day FROM answer WHERE region = 'north'")
    assert found is not None
    assert found.fetchall() == [("north", answer.rows[0]["n"], date(2024, 1, 31))]


def test_pandas_reads_an_answer(answer: Answer) -> None:
    frame = pd.DataFrame.from_arrow(answer)  # type: ignore[attr-defined]  # stubs lack it
    assert frame["n"].tolist() == [each["n"] for each in answer.rows]
    assert frame.columns.tolist() == list(answer.columns)


def test_an_answer_without_rows_has_its_columns() -> None:
    curator = curator_of({"region": ["north"], "age": [1]}, delta=1e-6)
    empty = curator.ask("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", epsilon=0.1)
    assert len(empty) == 0
    assert pa.table(empty).schema.names == ["region", "n"]
    assert pl.DataFrame(empty).columns == ["region", "n"]
