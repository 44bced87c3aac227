"""SQL for engines that are not run here: parsed by others' rules, translated and run as DuckDB's.

`python -m tests.engines.test_generated` writes the golden files anew.
"""

import re
from collections.abc import Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
import sqlglot

import discreet
from discreet.catalog.schema import Kind, RowUnit
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.generated import DIALECTS, FOREIGN, write_for
from discreet.engines.spark.dialect import SPARK
from discreet.errors import ParameterError, UnsupportedError
from discreet.query.expressions.facts import literal
from discreet.query.expressions.functions import call
from discreet.query.tree import ExactQuery, Scan
from tests.attacks.clinic import tables
from tests.engines.contract import _plain
from tests.engines.corpus import QUESTIONS, RELEASED, expected, plan_of
from tests.engines.made import column, count, loaded, private, select

ROOT = Path(__file__).parent.parent.parent
GOLDEN = ROOT / "tests" / "golden" / "dialects"

EVERY = 9
"""Of so many questions of the corpus, one is in the golden files."""


@cache
def queries(sql: str) -> list[ExactQuery]:
    return [query for planned in plan_of(sql).releases for query in planned.queries]


@cache
def statements(sql: str, dialect: str) -> list[str]:
    return [write_for(each, dialect) for each in queries(sql)]


def written(dialect: str) -> str:
    """Return the golden file of a dialect: questions, and what would be run or why it is not."""
    found = []
    for sql in QUESTIONS[::EVERY]:
        try:
            answer = ";\n".join(statements(sql, dialect)) + ";"
        except UnsupportedError as refusal:
            answer = f"-- refused: {refusal}"
        found.append(f"-- {' '.join(sql.split())}\n{answer}\n")
    return "\n".join(found)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_written_is_what_was_decided_on(dialect: str) -> None:
    golden = (GOLDEN / f"{dialect}.sql").read_text(encoding="utf-8")
    assert written(dialect) == golden


def total(dialect: str, every: int = 1) -> Iterator[tuple[str, list[str]]]:
    """Yield the questions that can be written, each with its statements."""
    for sql in QUESTIONS[::every]:
        try:
            yield sql, statements(sql, dialect)
        except UnsupportedError:
            continue


SOME = pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.slow)])


def test_most_questions_can_be_written() -> None:
    for dialect in DIALECTS:
        assert len(list(total(dialect))) >= 0.9 * len(QUESTIONS)


@SOME
@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_statement_is_read_by_its_dialects_grammar(dialect: str, every: int) -> None:
    for _, each in total(dialect, every):
        for text in each:
            sqlglot.parse_one(with_numbers(text), read=dialect)


def with_numbers(text: str) -> str:
    return re.sub(r"\$released_\d+", f"{RELEASED[0]}e0", text)


SAFE = {"safe_add": "+", "safe_subtract": "-", "safe_multiply": "*"}
"""BigQuery's functions that DuckDB has not, by what they compute or are NULL."""


@pytest.fixture(scope="module")
def clinic() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("SET default_null_order = 'NULLS_LAST'")
        for name, each in tables().items():
            connection.register("given", each)
            connection.execute(f"CREATE TABLE {name} AS FROM given")
        for name, sign in SAFE.items():
            body = f"TRY_CAST(CAST(a AS HUGEINT) {sign} b AS BIGINT)"
            connection.execute(f"CREATE MACRO {name}(a, b) AS {body}")
        text = "CREATE MACRO safe_convert_bytes_to_string(bytes) AS decode(bytes)"
        connection.execute(text)
        yield connection


@SOME
@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "trino"])
def test_translated_to_an_engine_at_hand_statements_give_the_same_exact_tables(
    clinic: duckdb.DuckDBPyConnection, dialect: str, every: int
) -> None:
    """It says nothing of the engines themselves: only that the statements mean what they should."""
    for sql, texts in total(dialect, every):
        for text, rows in zip(texts, expected(sql), strict=True):
            (ours,) = sqlglot.transpile(with_numbers(text), read=dialect, write="duckdb")
            found = clinic.sql(ours).to_arrow_table().to_pylist()
            plain = [tuple((name, _plain(each)) for name, each in row.items()) for row in found]
            assert sorted(plain, key=repr) == rows, sql


def test_databricks_has_what_spark_has() -> None:
    assert FOREIGN["databricks"].functions is SPARK.functions


def test_the_page_lists_what_is_left_out() -> None:
    page = (ROOT / "docs" / "reference" / "databases.md").read_text(encoding="utf-8")
    (line,) = (each for each in page.splitlines() if each.startswith("| BigQuery, Snowflake"))
    for name in ("bigquery", "snowflake", "trino"):
        left_out = sorted(set(DUCKDB.functions) - set(FOREIGN[name].functions))
        assert re.findall(r"`(\w+)`", line) == left_out


# --------------------------------------------------------------------------- totality

WORST: dict[str, Any] = {
    "i": pa.array([2**63 - 1, -(2**63), 0, None, 7], pa.int64()),
    "r": pa.array([1.7e308, -1.7e308, 0.0, None, 1e-320]),
    "d": pa.array([0, 1, 2, 3, None], pa.date32()),
    "patient_id": pa.array([1, 2, 3, 4, 5], pa.int64()),
}


@pytest.mark.parametrize("dialect", ["snowflake", "trino"])
def test_arithmetic_of_the_worst_values_gives_null_and_no_error(dialect: str) -> None:
    whole, real = column("i"), column("r", Kind.REAL)
    ends = (literal(-(2**63)), literal(2**63 - 1))
    expressions = [
        *(call(name, whole, whole) for name in ("add", "subtract", "multiply")),
        *(call(name, real, real) for name in ("add", "subtract", "multiply", "divide")),
        call("to_integer", real, *ends),
        call("to_real", whole),
        call("days_between", column("d", Kind.DATE), column("d", Kind.DATE)),
    ]
    with closing(loaded(visits=WORST)) as engine, duckdb.connect() as connection:
        connection.register("visits", pa.table(WORST))
        for each in expressions:
            rows = select(Scan(table=private(engine)), each)
            query = count(rows, keys=(column("c0", each.facts.kind),))
            (ours,) = sqlglot.transpile(write_for(query, dialect), read=dialect, write="duckdb")
            found = connection.sql(ours).fetchall()
            assert any(row[0] is None for row in found)
            assert all(row[0] is None or abs(row[0]) <= 1.7976931348623157e308 for row in found)


def test_texts_that_a_parser_could_misread_are_written_as_bytes() -> None:
    for dialect in DIALECTS:
        text = FOREIGN[dialect].text
        assert text("north") == "'north'"
        for odd in ("it's", "back\\slash", "ß", "$x", "new\nline", "\0"):
            assert odd.encode().hex() in text(odd)
            assert odd not in text(odd)


def test_what_cannot_be_told_is_refused() -> None:
    with closing(loaded(visits={"patient_id": [1], "we`ird": [2]})) as engine:
        for dialect in DIALECTS:
            with pytest.raises(UnsupportedError, match="each row is a privacy unit"):
                write_for(count(private(engine, unit=RowUnit())), dialect)
        odd = count(private(engine), sums=(column("we`ird"),))
        for dialect in ("bigquery", "databricks"):
            with pytest.raises(UnsupportedError, match="backtick"):
                write_for(odd, dialect)
        assert '"we`ird"' in write_for(odd, "trino")
    median = "SELECT AVG(m) AS a FROM (SELECT MEDIAN(cost) AS m FROM visits GROUP BY patient_id)"
    rows = tables()["visits"]
    with discreet.open(
        rows, name="visits", unit="patient_id", bounds={"cost": (0, 500)}, epsilon=1
    ) as curator:
        for dialect in ("bigquery", "trino"):
            with pytest.raises(UnsupportedError, match="median"):
                curator.explain(median, epsilon=1, sql_for=dialect)
        told = curator.explain(median, epsilon=1, sql_for="snowflake").to_text(sql=True)
        assert "MEDIAN(" in told


def test_an_explanation_has_the_statements_of_another_dialect() -> None:
    with discreet.open(tables()["visits"], name="visits", unit="patient_id", epsilon=1) as curator:
        sql = "SELECT COUNT(*) AS n FROM visits WHERE diagnosis = 'flu'"
        told = curator.explain(sql, epsilon=1, sql_for="bigquery").to_text(sql=True)
        assert "BIGNUMERIC" in told
        assert '"kept"' not in told
        assert '"kept"' in curator.explain(sql, epsilon=1).to_text(sql=True)
        with pytest.raises(ParameterError, match="Did you mean bigquery"):
            curator.explain(sql, epsilon=1, sql_for="bigquerry")


if __name__ == "__main__":
    for each in DIALECTS:
        (GOLDEN / f"{each}.sql").write_text(written(each), encoding="utf-8")
