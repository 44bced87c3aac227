"""Opening data: what files hold, what they are declared to be, and when they are others."""

import os
import shutil
from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import discreet
from discreet.catalog.schema import Kind
from discreet.errors import CatalogError, DiscreetError, ParameterError, SourceError
from discreet.ledger import make_token
from discreet.opening import ledger_place, open_books
from tests.ledger.stores import PostgresStore
from tests.opening.people import AGES, COUNT, declare, written


@pytest.mark.parametrize("row", ["777,37.5,2024-02-01", "777,x,2024-02-01", "777,40,soon", ",4,"])
def test_no_row_decides_what_a_declared_column_is(tmp_path: Path, row: str) -> None:
    with discreet.open(written(tmp_path, AGES)) as without:
        alone = without.catalog, without.ask("SELECT SUM(age) FROM people", epsilon=1).to_arrow()
    for file in tmp_path.glob("*.ledger*"):
        file.unlink()
    with discreet.open(written(tmp_path, f"{AGES}{row}\n")) as within:
        answer = within.ask("SELECT SUM(age) FROM people", epsilon=1)
        assert within.catalog == alone[0]
        assert answer.to_arrow().schema == alone[1].schema


def test_what_a_declared_column_cannot_hold_is_null(tmp_path: Path) -> None:
    text = "who,age,day\n1,10,2024-01-01\n2,x,never\n3,,\n"
    with discreet.open(written(tmp_path, text)) as people:
        answer = people.ask("SELECT COUNT(*), COUNT(age), COUNT(day) FROM people", epsilon=99)
    assert list(answer.rows[0].values()) == [3, 1, 1]


def test_a_column_that_is_not_declared_is_what_all_its_values_are(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("who,x\n1,2\n2,2.5\n", encoding="utf-8")
    with discreet.open(tmp_path / "t.csv", unit="who", epsilon=1) as curator:
        assert [each.kind for each in curator.catalog.tables[0].columns] == [
            Kind.INTEGER,
            Kind.REAL,
        ]


def test_a_file_written_again_is_asked_again(tmp_path: Path) -> None:
    catalog = written(tmp_path, AGES)
    with discreet.open(catalog) as people:
        assert not people.ask(COUNT, epsilon=1).from_ledger
    with discreet.open(catalog) as people:
        assert people.ask(COUNT, epsilon=1).from_ledger
    file = tmp_path / "people.csv"
    state = file.stat()
    file.write_text(AGES.replace("20", "21"), encoding="utf-8")
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    with discreet.open(catalog) as people:
        assert not people.ask(COUNT, epsilon=1).from_ledger


def asked(catalog: Path) -> tuple[bool, int]:
    """Return whether the answer was kept, and what is left."""
    with discreet.open(catalog) as people:
        return people.ask(COUNT, epsilon=1).from_ledger, int(people.remaining.epsilon)


def test_the_budget_continues_when_the_data_change(tmp_path: Path) -> None:
    catalog = written(tmp_path, AGES)
    assert [asked(catalog), asked(catalog)] == [(False, 99), (True, 99)]
    written(tmp_path, f"{AGES}777,40,2024-01-01\n")
    assert [asked(catalog), asked(catalog)] == [(False, 98), (True, 98)]


def test_a_file_is_the_same_data_as_long_as_its_contents_are(tmp_path: Path) -> None:
    catalog = written(tmp_path, AGES)
    assert asked(catalog) == (False, 99)
    file, copy = tmp_path / "people.csv", tmp_path / "copy.csv"
    shutil.copy(file, copy)
    copy.replace(file)
    assert asked(catalog) == (True, 99)
    state = file.stat()
    copy.write_text(AGES.replace("20", "21"), encoding="utf-8")
    os.utime(copy, ns=(state.st_atime_ns, state.st_mtime_ns))
    copy.replace(file)
    assert asked(catalog) == (False, 98)


def test_a_declared_version_stands_for_the_state_of_the_files(tmp_path: Path) -> None:
    catalog = written(tmp_path, AGES)
    declare(catalog, '[source]\nversion = "2024-11"')
    assert asked(catalog) == (False, 99)
    (tmp_path / "people.csv").write_text(f"{AGES}777,40,2024-01-01\n", encoding="utf-8")
    assert asked(catalog) == (True, 99)
    declare(catalog, '[source]\nversion = "2024-12"')
    assert [asked(catalog), asked(catalog)] == [(False, 98), (True, 98)]
    declare(catalog, '[source]\nversion = "2024-11"')
    assert asked(catalog) == (True, 98)


def test_data_frames_may_have_a_version(tmp_path: Path) -> None:
    frame = pa.table({"who": list(range(50))})
    kept = []
    for version in (None, None, "1", "1", "2"):
        with discreet.open(
            frame, name="people", unit="who", rows_per_unit=1, epsilon=9,
            ledger=tmp_path / "l", version=version,
        ) as people:  # fmt: skip
            kept.append(people.ask(COUNT, epsilon=1).from_ledger)
            frame = pa.table({"who": list(range(50))})
    assert kept == [False, True, False, True, False]


@pytest.mark.parametrize("version", [7, "", ["1"]])
def test_a_version_is_text(tmp_path: Path, version: object) -> None:
    with pytest.raises(DiscreetError, match="version"):
        discreet.open(
            pa.table({"who": [1]}), unit="who", epsilon=1, version=version,  # type: ignore[arg-type]
            ledger=tmp_path / "l",
        )  # fmt: skip


def test_another_schema_is_asked_again_under_the_same_version(tmp_path: Path) -> None:
    catalog = written(tmp_path, AGES)
    declare(catalog, '[source]\nversion = "1"')
    assert asked(catalog) == (False, 99)
    wider = catalog.read_text().replace("[0, 120]", "[0, 130]")
    catalog.write_text(wider, encoding="utf-8")
    assert asked(catalog) == (False, 98)


# --------------------------------------------------------------------------- where charges are kept


@pytest.mark.postgresql
def test_a_catalog_may_name_a_server_for_its_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = written(tmp_path, AGES)
    address = PostgresStore(tmp_path).address
    declare(catalog, f'[source]\nledger = "{address}"')
    assert [asked(catalog), asked(catalog)] == [(False, 99), (True, 99)]
    monkeypatch.setenv("BOOKS", address)
    declare(catalog, '[source]\nledger = "env:BOOKS"')
    assert ledger_place(catalog) == address
    assert asked(catalog) == (True, 99)
    assert not list(tmp_path.glob("*.ledger*"))
    assert address not in catalog.read_text()


def test_a_variable_may_name_a_file_beside_the_catalog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = written(tmp_path, AGES)
    declare(catalog, '[source]\nledger = "env:BOOKS"')
    monkeypatch.setenv("BOOKS", "books.ledger")
    asked(catalog)
    assert (tmp_path / "books.ledger").exists()
    monkeypatch.delenv("BOOKS")
    with pytest.raises(CatalogError, match="the environment variable BOOKS, which is not set"):
        discreet.open(catalog)


def test_a_variable_must_have_a_name(tmp_path: Path) -> None:
    catalog = written(tmp_path, AGES)
    declare(catalog, '[source]\nledger = "env:not a name"')
    with pytest.raises(CatalogError, match="must have the name of an environment variable"):
        discreet.open(catalog)


# --------------------------------------------------------------------------- accounts


def test_a_catalogs_analysts_have_their_caps_when_it_is_opened(tmp_path: Path) -> None:
    catalog = written(tmp_path, AGES)
    declare(catalog, "[analysts.eve]\nepsilon = 2")
    with discreet.open(catalog) as people:
        people.ask(COUNT, epsilon=1.5, account="eve")
        assert people.remaining_of("eve").epsilon == Fraction(1, 2)
    with open_books(catalog) as ledger:
        entries = len(list(ledger.entries()))
        token = make_token()
        ledger.declare_analyst("eve", epsilon=2, token_hash=token.hash)
    with discreet.open(catalog) as people:
        assert people.as_analyst(token.text).remaining.epsilon == Fraction(1, 2)
    with open_books(catalog) as ledger:
        assert len(list(ledger.entries())) == entries + 1  # nothing new, nothing written
    declare(catalog, "[analysts.eve]\nepsilon = 3\n[analysts.bob]\nepsilon = 1")
    with discreet.open(catalog) as people:
        eve = people.as_analyst(token.text)
        assert eve.remaining.epsilon == Fraction(3, 2)
        assert eve.remaining.total_epsilon == 3
        assert people.remaining_of("bob").epsilon == 1


def test_all_tables_of_a_duckdb_file_are_opened(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute("CREATE TABLE visits AS SELECT range AS who, range AS x FROM range(9)")
        connection.execute("CREATE TABLE people AS SELECT range AS who FROM range(9)")
    file = tmp_path / "clinic.duckdb"
    with discreet.open(file, unit="who", rows_per_unit=1, epsilon=100) as clinic:
        sql = "SELECT COUNT(*) AS n FROM visits JOIN people USING (who)"
        assert clinic.ask(sql, epsilon=90).rows == [{"n": 9}]


@pytest.mark.parametrize(
    ("source", "given", "error", "says"),
    [
        ("nowhere.csv", {"epsilon": 1, "unit": "who"}, SourceError, "does not exist"),
        ("people.csv", {"unit": "who"}, ParameterError, "epsilon"),
        ("people.csv", {"epsilon": 1}, DiscreetError, "unit"),
        ("people.csv", {"epsilon": 1, "unit": "whom"}, DiscreetError, "who"),
        ("discreet.toml", {"epsilon": 1}, ParameterError, "declared in the catalog"),
        ("people.xlsx", {"epsilon": 1, "unit": "who"}, SourceError, "not a supported kind"),
    ],
)
def test_what_cannot_be_opened_is_said_in_a_sentence(
    tmp_path: Path, source: str, given: dict[str, object], error: type[Exception], says: str
) -> None:
    written(tmp_path, AGES)
    (tmp_path / "people.xlsx").write_bytes(b"PK")
    with pytest.raises(error, match=says):
        discreet.open(tmp_path / source, **given)  # type: ignore[arg-type]
