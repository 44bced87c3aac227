"""Keys of every type that DuckDB has: a question is answered, or refused before it is charged."""

# ruff: noqa: S608 - questions are made here

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import discreet
from discreet.curator import Curator
from discreet.engines.duckdb import DuckDbEngine
from discreet.errors import CatalogError, DiscreetError, EngineError, UnsupportedError

MOST = 2**127 - 1
VALUES = {
    "BOOLEAN": ("true",),
    "TINYINT": ("-128",),
    "SMALLINT": ("-32768",),
    "INTEGER": ("2147483647",),
    "BIGINT": ("-9223372036854775808", "9223372036854775807"),
    "HUGEINT": (str(MOST), str(-MOST - 1), "5"),
    "UTINYINT": ("255",),
    "USMALLINT": ("65535",),
    "UINTEGER": ("4294967295",),
    "UBIGINT": ("18446744073709551615", "3"),
    "UHUGEINT": (str(2**128 - 1), "1"),
    "DECIMAL(38,0)": ("9" * 38, "2"),
    "DECIMAL(18,0)": ("9" * 18,),
    "DECIMAL(38,37)": ("9." + "9" * 37,),
    "DECIMAL(4,1)": ("999.9",),
    "FLOAT": ("nan", "inf", "3.4e38", "-0.0"),
    "DOUBLE": ("nan", "-inf", "1.7976931348623157e308", "5e-324", "-0.0", "0.0"),
    "VARCHAR": ("", "a", "\u202e"),
    "BLOB": (r"\xFF\x00",),
    "BIT": ("0101",),
    "UUID": ("ffffffff-ffff-ffff-ffff-ffffffffffff",),
    "JSON": ('{"a":1}',),
    "DATE": ("infinity", "-infinity", "5874897-12-31", "0001-01-01", "9999-12-31"),
    "TIME": ("24:00:00",),
    "TIME_NS": ("23:59:59.123456789",),
    "TIMETZ": ("00:00:00+15",),
    "TIMESTAMP": ("infinity", "294247-01-10 04:00:54", "9999-12-31 23:59:59.999999"),
    "TIMESTAMP_S": ("infinity", "2020-01-01"),
    "TIMESTAMP_MS": ("infinity", "2020-01-01"),
    "TIMESTAMP_NS": ("infinity", "2020-01-01 00:00:00.123456789"),
    "TIMESTAMPTZ": ("infinity", "0001-01-01 00:00:00+00"),
    "INTERVAL": ("1 month", "30 days"),
    "INTEGER[]": ("[1, NULL]", "[]"),
    "DOUBLE[]": ("[0.0]", "[-0.0]"),
    "INTEGER[2]": ("[1, 2]",),
    "STRUCT(a INTEGER, b VARCHAR)": ("{'a': 1, 'b': 'x'}",),
    "MAP(VARCHAR, INTEGER)": ("{a=1}",),
    "ENUM('x', 'y')": ("x",),
    "BIGNUM": ("9" * 60,),
}
NAMES = {kind: f"k{number}" for number, kind in enumerate(VALUES)}
MOST_ROWS = max(map(len, VALUES.values())) + 1

QUESTIONS = (
    "SELECT kinds.{k}, COUNT(*) FROM visits JOIN kinds ON visits.p = kinds.p GROUP BY 1",
    "SELECT CAST(kinds.{k} AS VARCHAR) AS g, COUNT(*) FROM visits LEFT JOIN kinds "
    "ON visits.p = kinds.p GROUP BY 1",
    "SELECT MODE(kinds.{k}) FROM visits JOIN kinds ON visits.p = kinds.p",
    "SELECT {k}, COUNT(*) FROM own GROUP BY {k}",
    "SELECT MODE({k}), COUNT(DISTINCT {k}) FROM own",
)

WIDE = ("HUGEINT", "UBIGINT", "DECIMAL(38,0)")


@pytest.fixture(scope="module")
def curator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Curator]:
    """Return a curator of a public table with a column of each type, and of private copies."""
    file = tmp_path_factory.mktemp("kinds") / "kinds.duckdb"
    columns = ", ".join(f"{name} {kind}" for kind, name in NAMES.items())
    with duckdb.connect(str(file)) as connection:
        connection.execute(f"CREATE TABLE kinds (p INTEGER, {columns})")
        for row in range(MOST_ROWS):
            values = [each[row] if row < len(each) else None for each in VALUES.values()]
            marks = ", ".join("?" for _ in range(len(values) + 1))
            connection.execute(f"INSERT INTO kinds VALUES ({marks})", [row, *values])
        connection.execute(
            f"CREATE TABLE visits AS SELECT i AS id, i % {MOST_ROWS} AS p FROM range(90) t(i)"
        )
        connection.execute("CREATE TABLE own AS FROM visits JOIN kinds USING (p)")
    units = {"visits": "id", "own": "id"}
    with discreet.open(file, unit=units, public=["kinds"], epsilon=10_000, delta=1e-3) as found:
        yield found


@pytest.mark.parametrize("kind", VALUES)
def test_a_key_of_any_type_is_answered_or_refused(kind: str, curator: Curator) -> None:
    for question in QUESTIONS:
        before = curator.remaining
        try:
            answer = curator.ask(question.format(k=NAMES[kind]), epsilon=1)
        except EngineError:
            pytest.fail(f"{question} was charged and has no answer")
        except DiscreetError:
            assert curator.remaining == before
        else:
            assert len(answer.rows) >= 0


@pytest.mark.parametrize("kind", WIDE)
def test_public_keys_beyond_64_bits_are_refused(kind: str, curator: Curator) -> None:
    with pytest.raises(UnsupportedError, match="more than 64 bits"):
        curator.explain(QUESTIONS[0].format(k=NAMES[kind]), epsilon=1)


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 2**70])
def test_declared_keys_beyond_64_bits_are_refused(value: int) -> None:
    table = pa.table({"id": [1, 2], "k": [1, 2]})
    with pytest.raises(CatalogError, match="64 bits"):
        discreet.open(table, unit="id", epsilon=1, values={"k": [value]})


def test_a_declared_real_beyond_floating_point_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,x\n1,1.5\n")
    path = tmp_path / "discreet.toml"
    path.write_text(
        '[budget]\nepsilon = 1\n[tables.t]\nfrom = "t.csv"\nunit = "id"\n'
        f'[tables.t.columns]\nx = {{ type = "real", values = [{10**400}.0] }}\n'
    )
    with pytest.raises(CatalogError):
        discreet.open(path)


def test_a_number_that_becomes_null_is_not_promised_to_be_given(tmp_path: Path) -> None:
    file = tmp_path / "t.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE t (k UHUGEINT NOT NULL, i INTEGER NOT NULL)")
        connection.execute(f"INSERT INTO t VALUES ({2**128 - 1}, 1)")
    engine = DuckDbEngine.load({"t": file})
    assert [each.nulls for each in engine.columns("t")] == [None, False]
    assert engine.table("t").column("k").to_pylist() == [None]
    engine.close()
