"""Forms that grow in Spark: they have the rows that a full preparation of the files has."""

import json
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.catalog.resolve import read
from discreet.engines.duckdb.loading import DataSource
from discreet.engines.growth import Anew, Grows, MadeAnew, Step
from discreet.engines.spark import SparkEngine, forms, growing, prepared
from discreet.errors import SourceError
from discreet.opening import copy_of, forget_catalog, is_copy_outdated, prepare_catalog
from discreet.opening.sources import form_of
from tests.fuzzing.choices import Choices
from tests.spark import AT, shared_session

CATALOG = f"""
[budget]
epsilon = 1000

[source]
engine = "{AT}"

[tables.visits]
from = "visits-*.parquet"
unit = "who"
rows_per_unit = 3

[tables.pills]
from = "pills-*.parquet"
unit = "visits.who via visit"
rows_per_unit = 4
"""

PEOPLE = 1000


class Days:
    """Writes files of visits and pills, day by day."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.draws, self.day, self.visit = folder, Choices("days"), 0, 0
        (folder / "discreet.toml").write_text(
            CATALOG.replace('from = "', f'from = "{folder}/'), encoding="utf-8"
        )

    @property
    def catalog(self) -> Path:
        return self.folder / "discreet.toml"

    def add(self, rows: int) -> None:
        """Add a day: rows that are twice, of nobody, or of a visit that is yet to come."""
        visits: dict[str, Any] = {
            "visit": pa.array(range(self.visit, self.visit + rows), pa.int64()),
            "who": pa.array([self._person() for _ in range(rows)], pa.string()),
            "cost": pa.array(
                [self.draws.one([0.0, -0.0, 1.5, None]) for _ in range(rows)], pa.float64()
            ),
        }
        pq.write_table(pa.table(visits), self.folder / f"visits-{self.day:03}.parquet")
        ahead = self.visit + rows + rows // 3 + 1
        pills: dict[str, list[Any]] = {
            "visit": [self.draws.below(ahead) for _ in range(rows)],
            "drug": [self.draws.one("abcé") for _ in range(rows)],
        }
        pq.write_table(pa.table(pills), self.folder / f"pills-{self.day:03}.parquet")
        self.visit += rows
        self.day += 1

    def _person(self) -> str | None:
        if self.draws.is_one_of(50):
            return None
        return f"p{self.draws.below(20 if self.draws.is_one_of(5) else PEOPLE)}"


@pytest.fixture
def days(tmp_path: Path) -> Days:
    shared_session()
    return Days(tmp_path)


def contents(catalog: Path) -> dict[str, Any]:
    """Return the rows that queries see of a form as multisets, and its numbers of units."""
    declared = read(catalog)
    tables: dict[str, DataSource] = {each.name: str(each.source) for each in declared.tables}
    form = form_of(declared, tables, copy_of(catalog))
    with closing(SparkEngine.open(AT, tables, form=form)) as engine:
        assert engine.is_prepared
        names = [f"__{each}_{name}" for each in ("kept", "every") for name in tables]
        return {
            name: Counter(map(repr, map(tuple, engine._session.table(f"`{name}`").collect())))
            for name in (*names, "__about_parts")
        }


def prepare(catalog: Path) -> list[Step]:
    """Prepare, and return what was told."""
    told: list[Step] = []
    assert prepare_catalog(catalog, told=told.append)
    return told


def fresh(catalog: Path) -> dict[str, Any]:
    """Return what a full preparation of the same files makes."""
    forget_catalog(catalog)
    assert prepare_catalog(catalog)
    return contents(catalog)


BOTH: list[Step] = [Grows(table="visits", files=1), Grows(table="pills", files=2)]
"""A pill is of a visit, so that files of visits bring pills too."""


@pytest.fixture
def few_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let most people share their slot with others."""
    for each in (forms, growing):
        monkeypatch.setattr(each, "SLOTS", 512)


@pytest.mark.usefixtures("few_slots")
def test_a_grown_form_is_what_a_full_preparation_makes(
    days: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of rows of a thousand people and more; before the last, units are counted again."""
    days.add(2500)
    assert prepare(days.catalog) == []
    for rows in (30, 100, 1500):
        monkeypatch.setattr(growing, "MOST_UNCOUNTED", 8 if rows < 1500 else 1)
        monkeypatch.setattr(growing, "MOST_MOVED", 2)
        days.add(rows)
        assert is_copy_outdated(days.catalog)
        assert prepare(days.catalog) == BOTH
    assert all(
        about["counted"] == 3
        for file in copy_of(days.catalog).glob("*/whole.json")
        for about in json.loads(file.read_text()).values()
    )
    assert list(copy_of(days.catalog).glob("*/*.since"))
    grown = contents(days.catalog)
    assert len(grown["__every_visits"]) > len(grown["__kept_visits"]) + 500
    assert grown == fresh(days.catalog)


def earlier_stay(columns: Any) -> str:
    """Rank by what came first: rows that were kept stay."""
    return growing_order(columns).replace("ORDER BY ", "ORDER BY is_new, ")


growing_order = forms.ranked


def no_counts(*given: Any) -> Any:
    """Forget how many rows units have, so that few are found to exceed their limit."""
    return forms.read_counts(*given).where("false")


BROKEN: dict[str, Callable[..., Any]] = {"ranked": earlier_stay, "read_counts": no_counts}


@pytest.mark.slow
@pytest.mark.parametrize("name", BROKEN)
def test_growth_that_keeps_other_rows_is_caught(
    days: Days, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    days.add(1500)
    prepare(days.catalog)
    days.add(500)
    monkeypatch.setattr(growing, name, BROKEN[name])
    prepare(days.catalog)
    monkeypatch.undo()
    assert contents(days.catalog)["__kept_visits"] != fresh(days.catalog)["__kept_visits"]


@pytest.mark.slow
def test_growth_that_forgets_which_rows_gave_way_is_caught(days: Days) -> None:
    for rows in (1500, 500):
        days.add(rows)
        prepare(days.catalog)
    lists = [*copy_of(days.catalog).glob("*/*.since")]
    for each in lists:
        each.write_bytes(bytes(forms.SLOTS))
    grown = contents(days.catalog)
    for each in lists:
        each.unlink()
    with pytest.raises(SourceError, match="could not be written or read"):
        contents(days.catalog)
    assert grown["__kept_visits"] != fresh(days.catalog)["__kept_visits"]


def rewrite(days: Days) -> None:
    file = days.folder / "visits-000.parquet"
    pq.write_table(pq.read_table(file).slice(0, 250), file)


def bring_reals(days: Days) -> None:
    """Bring a column that is left out of the table: its first file decides."""
    file = days.folder / "visits-001.parquet"
    table = pq.read_table(file)
    pq.write_table(table.append_column("more", pa.array([1] * table.num_rows)), file)


def rename_cost(days: Days) -> None:
    """Bring another column of the same type, in the file that comes first and decides."""
    file = days.folder / "visits-001.parquet"
    table = pq.read_table(file).rename_columns(["visit", "who", "price"])
    pq.write_table(table, days.folder / "visits-.parquet")
    file.unlink()


def count_nothing(days: Days) -> None:
    """Leave the form as it was made before rows of units were counted."""
    (file,) = copy_of(days.catalog).glob("*/whole.json")
    told = json.loads(file.read_text())
    for each in told.values():
        del each["counted"]
    file.write_text(json.dumps(told))


CHANGES: dict[Callable[[Days], None], Anew] = {
    rewrite: Anew.CHANGED,
    bring_reals: Anew.TYPES,
    rename_cost: Anew.TYPES,
    count_nothing: Anew.RELEASE,
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_files_that_changed_are_prepared_anew(days: Days, change: Callable[[Days], None]) -> None:
    days.add(300)
    prepare(days.catalog)
    days.add(60)
    change(days)
    told = prepare(days.catalog)
    assert MadeAnew(reason=CHANGES[change], table="visits") in told
    assert contents(days.catalog) == fresh(days.catalog)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "most"), [("MOST_LAYERS", 1), ("MOST_MOVED", 0.0)])
def test_too_many_layers_are_made_one(
    days: Days, name: str, most: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    days.add(300)
    prepare(days.catalog)
    days.add(60)
    monkeypatch.setattr(growing, name, most)
    assert MadeAnew(reason=Anew.MANY, table="visits") in prepare(days.catalog)
    assert contents(days.catalog) == fresh(days.catalog)


@pytest.mark.slow
def test_a_table_whose_name_is_another_one_and_new_has_its_own_rows(days: Days) -> None:
    text = days.catalog.read_text(encoding="utf-8")
    days.catalog.write_text(text.replace("[tables.pills]", '[tables."visits new"]'))
    for _ in range(2):
        days.add(100)
        told = prepare(days.catalog)
    assert told == [BOTH[0], Grows(table="visits new", files=2)]
    assert contents(days.catalog) == fresh(days.catalog)


class _StoppedError(Exception):
    """Stands for a process that ends."""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["_settle", "_store", "_write"])
def test_an_interrupted_growth_leaves_the_old_form_and_goes_on(
    days: Days, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    days.add(300)
    prepare(days.catalog)
    (old,) = copy_of(days.catalog).iterdir()
    act = getattr(growing.Layer, name)

    def stopping(self: growing.Layer, *given: Any) -> None:
        act(self, *given)
        raise _StoppedError

    with monkeypatch.context() as patch:
        patch.setattr(growing.Layer, name, stopping)
        days.add(60)
        with pytest.raises(_StoppedError):
            prepare(days.catalog)
    assert (old / "whole.json").is_file()
    assert prepare(days.catalog) == BOTH
    assert contents(days.catalog) == fresh(days.catalog)


@pytest.mark.slow
def test_layers_of_an_interrupted_growth_are_not_left_where_all_is_made_anew(
    days: Days, monkeypatch: pytest.MonkeyPatch
) -> None:
    days.add(300)
    prepare(days.catalog)
    write = growing.Layer._write

    def stopping(self: growing.Layer, *given: Any) -> None:
        write(self, *given)
        raise _StoppedError

    days.add(60)
    with monkeypatch.context() as patch:
        patch.setattr(growing.Layer, "_write", stopping)
        with pytest.raises(_StoppedError):
            prepare(days.catalog)
    monkeypatch.setattr(prepared, "_base", lambda *_: "of another Spark")
    assert prepare(days.catalog) == [MadeAnew(reason=Anew.CATALOG)]
    assert contents(days.catalog) == fresh(days.catalog)
