"""What data and what is made of them are known by: contents and declarations, not names or times.

An answer that was kept applies to the same data, and to no other; a prepared copy to the same rows
of the same units.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.catalog.catalog import Per
from discreet.catalog.columns import UnitPath
from discreet.catalog.declaration import TableDeclaration
from discreet.catalog.resolve import read
from discreet.catalog.schema import Kind
from discreet.engines.base import PreparedTables
from discreet.engines.duckdb.loading import DuckDbTable
from discreet.known_releases import DataVersion
from discreet.ledger import SqliteLedger, existing_ledger
from discreet.opening import copy_of, is_copy_outdated, prepare_catalog, registry
from discreet.opening import sources as opened_sources
from discreet.opening.bounding_key import DECIDES_NOTHING, bounding_key
from discreet.opening.sources import earlier_version, form_of

COUNT = "SELECT COUNT(*) AS n FROM people"


def content_of(table: Any) -> str:
    """Return the digest of a table in memory, for which no file is read."""
    return registry.content_of(table, str)


def was_kept(source: Any, ledger: Path, **more: Any) -> bool:
    """Return whether what is asked about a table had been answered before."""
    given = {"name": "people", "unit": "who", "rows_per_unit": 1, "epsilon": 99, **more}
    with discreet.open(source, ledger=ledger, **given) as people:
        return people.ask(COUNT, epsilon=1).from_ledger


# --------------------------------------------------------------------------- data frames

MAKERS: Mapping[str, Callable[[Mapping[str, list[Any]]], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "reader": lambda columns: pa.table(columns).to_reader(),
    "lazy polars": lambda columns: pl.DataFrame(columns).lazy(),
    "relation": lambda columns: duckdb.from_arrow(pa.table(columns)),
    "connection": lambda columns: connection_of(people=columns),
}


def connection_of(**tables: Mapping[str, list[Any]]) -> duckdb.DuckDBPyConnection:
    """Return a connection whose database holds these tables."""
    connection = duckdb.connect()
    for name, columns in tables.items():
        connection.register("given", pa.table(columns))
        connection.execute(f"CREATE TABLE {name} AS FROM given")
        connection.unregister("given")
    return connection


@pytest.mark.parametrize("make", MAKERS)
def test_a_new_frame_never_gets_another_frames_answer(make: str, tmp_path: Path) -> None:
    """Frames that are dropped leave their place in memory to the next ones."""
    given: dict[str, Any] = {"name": "people", "unit": "who", "rows_per_unit": 1, "epsilon": 99}
    for number in range(12 if make == "pandas" else 4):
        frame = MAKERS[make]({"who": list(range(number, number + 50))})
        with discreet.open(frame, ledger=tmp_path / "l", **given) as people:
            assert not people.ask(COUNT, epsilon=1).from_ledger
        del frame


@pytest.mark.parametrize("make", MAKERS)
def test_a_frame_of_the_same_contents_is_the_same_data(make: str, tmp_path: Path) -> None:
    columns: dict[str, list[Any]] = {
        "who": [3, 1, None],
        "name": ["a", None, ""],
        "x": [0.5, None, 1.0],
    }
    assert [was_kept(MAKERS[make](columns), tmp_path / "l") for _ in range(2)] == [False, True]


def test_how_a_table_is_cut_and_encoded_changes_no_content() -> None:
    values = [True, None, False] * 50_000
    texts = [None, "ä", "", "b"] * 37_500
    whole = pa.table({"x": values, "t": texts})
    cut = pa.concat_tables([whole.slice(0, 7), whole.slice(7, 99_999), whole.slice(100_006)])
    padded = pa.concat_tables([whole.slice(0, 3), whole]).slice(3)
    nulls = pa.array([1, 2], mask=pa.array([True, False]).to_numpy(zero_copy_only=False))
    assert len({content_of(each) for each in (whole, cut, padded)}) == 1
    assert content_of(pa.table({"x": nulls})) == content_of(
        pa.table({"x": pa.array([None, 2], pa.int64())})
    )


@pytest.mark.parametrize(
    "other",
    [
        {"x": [1, 2], "y": ["a", "c"]},
        {"x": [1, None], "y": ["a", "b"]},
        {"x": [1.0, 2.0], "y": ["a", "b"]},
        {"x": [1, 2], "z": ["a", "b"]},
        {"y": ["a", "b"], "x": [1, 2]},
        {"x": [1, 2], "y": ["ab", ""]},
        {"x": [2, 1], "y": ["a", "b"]},
        {"x": [1], "y": ["a"]},
        {"x": [], "y": []},
    ],
)
def test_tables_that_differ_have_other_contents(other: dict[str, list[Any]]) -> None:
    assert content_of(pa.table(other)) != content_of(pa.table({"x": [1, 2], "y": ["a", "b"]}))


def test_a_value_that_moves_to_the_next_column_is_another_content() -> None:
    one = pa.table({"x": ["a", "b"], "y": ["c", None]})
    assert content_of(one) != content_of(pa.table({"x": ["a", None], "y": ["b", "c"]}))


def test_nested_and_encoded_values_have_contents() -> None:
    lists = pa.array([[1, 2], None, []])
    coded = pa.array(["a", None, "a"]).dictionary_encode()
    table = pa.table({"l": lists, "c": coded})
    assert content_of(table) == content_of(pa.concat_tables([table.slice(0, 1), table.slice(1)]))
    assert content_of(pa.table({"l": pa.array([[1], [2], []]), "c": coded})) != content_of(table)


def nested(kind: str, texts: list[str], codes: list[int]) -> Any:
    """Return one text for each code, coded by a dictionary, in a list, a struct or a map."""
    coded = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(texts))
    places = list(range(len(codes) + 1))
    match kind:
        case "list":
            return pa.ListArray.from_arrays(places, coded)
        case "fixed":
            return pa.FixedSizeListArray.from_arrays(coded, 1)
        case "struct":
            return pa.StructArray.from_arrays([coded], ["f"])
        case "map":
            keys: Any = pa.array(["k"] * len(codes))
            return pa.MapArray.from_arrays(pa.array(places), keys, coded)
        case _:
            return pa.UnionArray.from_sparse(pa.array([0] * len(codes), pa.int8()), [coded])


@pytest.mark.parametrize("kind", ["list", "fixed", "struct", "map", "union"])
def test_what_a_dictionary_inside_of_nested_values_holds_is_content(kind: str) -> None:
    """Codes alone say nothing: two frames of one shape would be the same data."""
    who = pa.array(range(3))
    one, other, swapped = (
        content_of(pa.table({"who": who, "x": nested(kind, texts, codes)}))
        for texts, codes in (
            (["yes", "no"], [0, 1, 0]),
            (["no", "maybe"], [0, 1, 0]),
            (["no", "yes"], [1, 0, 1]),
        )
    )
    assert one != other
    assert one == swapped


def test_what_lies_below_nested_nulls_is_no_content() -> None:
    mask = pa.array([False, True, False])
    one, other = (
        pa.StructArray.from_arrays(
            [pa.array([1, below, 3]), pa.array([[1], [below], None])], ["a", "b"], mask=mask
        )
        for below in (2, 7)
    )
    assert content_of(pa.table({"x": one})) == content_of(pa.table({"x": other}))
    padded = pa.concat_arrays([other, one]).slice(3)
    assert content_of(pa.table({"x": padded})) == content_of(pa.table({"x": one}))


def test_a_frame_with_other_nested_categories_gets_no_answer_of_another(tmp_path: Path) -> None:
    for texts in (["yes", "no"], ["no", "maybe"]):
        values = [texts[each % 2] for each in range(50)]
        plain = pl.Series(values, dtype=pl.Categorical)
        lists = pl.Series([[each] for each in values], dtype=pl.List(pl.Categorical))
        frame = pl.DataFrame({"who": range(50), "x": lists, "y": plain})
        assert not was_kept(frame.select("who", "x"), tmp_path / "l")
        assert not was_kept(frame.select("who", "y"), tmp_path / "l")


# --------------------------------------------------------------------------- files


def test_tables_of_one_file_are_told_apart(tmp_path: Path) -> None:
    file = tmp_path / "two.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute("CREATE TABLE a AS SELECT range AS who FROM range(50)")
        connection.execute("CREATE TABLE b AS SELECT range AS who FROM range(90)")
    one, other = (DuckDbTable(file=file, table=each) for each in "ab")
    kept = [was_kept({"people": each}, tmp_path / "l", name=None) for each in (one, other, one)]
    assert kept == [False, False, True]


def test_what_an_older_version_charged_for_files_is_still_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It called data by places, sizes and times of their files."""
    file, ledger = tmp_path / "people.parquet", tmp_path / "l"
    pq.write_table(pa.table({"who": list(range(50))}), file)
    older = earlier_version({"people": file})
    state = file.stat()
    told = "\n".join(
        [
            f"people:{file}:{state.st_ino}:{state.st_size}:{state.st_mtime_ns}:{state.st_ctime_ns}",
            f"people:{file}.wal:none",
        ]
    )
    assert older == sha256(told.encode()).hexdigest()
    with monkeypatch.context() as patch:
        named = DataVersion(name=older)
        patch.setattr("discreet.opening.open.note_version", lambda *_: named)
        assert not was_kept(file, ledger)
    assert was_kept(file, ledger)
    dearer = "SELECT COUNT(*) AS n, COUNT(DISTINCT who) AS m FROM people"
    given: dict[str, Any] = {"name": "people", "unit": "who", "rows_per_unit": 1, "epsilon": 99}
    with discreet.open(file, ledger=ledger, **given) as people:
        people.ask(COUNT, epsilon=0.5)  # is read off the dearer one
        assert people.remaining.epsilon == 98
        assert not people.ask(dearer, epsilon=2).from_ledger
    pq.write_table(pa.table({"who": list(range(51))}), file)
    assert not was_kept(file, ledger)


def test_who_reads_the_ledger_can_check_no_guess_of_the_data(tmp_path: Path) -> None:
    """Whoever knows the question and all of the data cannot compute what the ledger calls it."""
    frame, ledger = pa.table({"who": list(range(50))}), tmp_path / "l"
    assert not was_kept(frame, ledger)
    assert not was_kept(frame, tmp_path / "other")
    names = []
    for place in (ledger, tmp_path / "other"):
        with existing_ledger(place) as book:
            names += [each.question for each in book.entries() if each.kind == "charge"]
            content = content_of(frame)
            assert not any(content in str(each) for each in book.entries())
    assert len(set(names)) == 2
    key = ledger.with_name("l.key")
    assert key.stat().st_mode & 0o777 == 0o600
    assert key.read_bytes() not in ledger.read_bytes()
    key.unlink()
    assert not was_kept(frame, ledger)


@pytest.mark.parametrize("damage", ["short", "link", "folder"])
def test_a_key_that_is_none_is_refused_in_one_sentence(tmp_path: Path, damage: str) -> None:
    frame, key = pa.table({"who": [1]}), tmp_path / "l.key"
    was_kept(frame, tmp_path / "l")
    key.unlink()
    match damage:
        case "short":
            key.write_bytes(b"short")
        case "link":
            key.symlink_to(tmp_path / "l")
        case _:
            key.mkdir()
    with pytest.raises(discreet.errors.LedgerError, match=r"ledger's key.*cannot be read"):
        was_kept(frame, tmp_path / "l")


def test_a_ledger_in_memory_has_no_key() -> None:
    with SqliteLedger(budget=discreet.accounting.Budget(epsilon=1)) as ledger:
        assert ledger.keyed("text") is None


# --------------------------------------------------------------------------- prepared tables

CATALOG = """
[budget]
epsilon = 1000

[tables.patients]
from = "patients.csv"
unit = "person"
key = "old_number"

[tables.visits]
from = "visits.csv"
unit = "patients.person via patient"
rows_per_unit = 2
"""


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """Return a catalog of visits that belong to other people by another key."""
    (tmp_path / "patients.csv").write_text(
        "person,old_number,new_number\n" + "".join(f"{n},{n},{n % 2}\n" for n in range(20))
    )
    (tmp_path / "visits.csv").write_text("patient\n" + "".join(f"{n % 20}\n" for n in range(100)))
    path = tmp_path / "discreet.toml"
    path.write_text(CATALOG)
    return path


def test_a_copy_is_made_anew_when_a_parents_key_changes(catalog: Path) -> None:
    assert prepare_catalog(catalog)
    assert not is_copy_outdated(catalog)
    catalog.write_text(CATALOG.replace("old_number", "new_number"))
    assert is_copy_outdated(catalog)
    with discreet.open(catalog, ledger=catalog.with_name("l")) as curator:
        # Visits of 0 and 1 alone lead to patients now, and each counts for ten people.
        found = curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=50).rows[0]["n"]
    assert prepare_catalog(catalog)
    with discreet.open(catalog, ledger=catalog.with_name("m")) as curator:
        copied = curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=50).rows[0]["n"]
    assert copied == pytest.approx(found, abs=5)


CHANGES: Mapping[str, Any] = {
    "name": "others",
    "unit": UnitPath(table="patients", column="person", via="other"),
    "rows_per_unit": 3,
    "key": "id",
    "groups_per_unit": (("who", 1),),
    "arrival": "came",
}


@pytest.mark.parametrize("field", [each.name for each in fields(TableDeclaration)])
def test_whatever_decides_whose_a_row_is_makes_another_copy_and_another_form(
    catalog: Path, field: str
) -> None:
    """A field that is new is either told, or known to decide nothing."""
    declared = read(catalog)
    declared = replace(declared, budget=replace(declared.budget, per=Per.MONTH))
    table = declared.tables[1]
    if field in DECIDES_NOTHING:
        assert field not in CHANGES
        return
    changed = replace(
        declared, tables=(declared.tables[0], replace(table, **{field: CHANGES[field]}))
    )
    assert bounding_key(changed) != bounding_key(declared)
    keys = {form.key("the same state") for form in map(form_at, (declared, changed))}
    assert len(keys) == 2


def form_at(declared: Any) -> PreparedTables:
    form = form_of(declared, {each.name: each.name for each in declared.tables})
    assert form is not None
    return form


def test_a_kind_by_which_units_are_compared_makes_another_copy(catalog: Path) -> None:
    assert prepare_catalog(catalog)
    kind = "\n[tables.visits.columns]\npatient = { type = 'text' }\n"
    catalog.write_text(CATALOG + kind)
    assert bounding_key(read(catalog)).count(str(Kind.TEXT)) == 1
    assert is_copy_outdated(catalog)


def test_bounds_make_no_other_copy(catalog: Path) -> None:
    assert prepare_catalog(catalog)
    catalog.write_text(f"{CATALOG}\n[tables.visits.columns]\npatient = {{ bounds = [0, 9] }}\n")
    assert not is_copy_outdated(catalog)


def test_a_copy_is_used_for_the_same_contents_whatever_their_times(catalog: Path) -> None:
    assert prepare_catalog(catalog)
    file = catalog.with_name("visits.csv")
    os.utime(file, (1, 1))
    assert not is_copy_outdated(catalog)
    file.write_text(file.read_text().replace("19", "18"))
    os.utime(file, (1, 1))
    assert is_copy_outdated(catalog)


def test_files_that_are_as_they_were_when_the_copy_was_made_are_not_read_again(
    catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opened_sources, "SETTLED", 0.0)
    assert prepare_catalog(catalog)

    def no_reading(*_: object) -> str:
        raise AssertionError

    monkeypatch.setattr("discreet.opening.sources.content_of", no_reading)
    with discreet.open(catalog) as curator:
        assert curator.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1).rows
    monkeypatch.setattr(opened_sources, "SETTLED", 60.0)
    with pytest.raises(AssertionError):
        is_copy_outdated(catalog)
    assert copy_of(catalog).is_file()
