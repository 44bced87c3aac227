"""Copies that grow: what comes out is what a full preparation of the same files makes."""

import csv
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from errno import ENOSPC
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.engines.duckdb import added_files, copies, growing, growing_copies, held, prepared
from discreet.engines.duckdb.copied import key_of
from discreet.engines.growth import Anew, Grows, MadeAnew, Step
from discreet.opening import copy_of, forget_catalog, is_copy_outdated, prepare_catalog, stores
from tests.fuzzing.choices import Choices

CATALOG = """
[budget]
epsilon = 100000
delta = 1e-3

[tables.visits]
from = "visits-*.parquet"
unit = "who"
rows_per_unit = 3

[tables.visits.groups_per_unit]
sex = 1

[tables.visits.columns]
cost = { bounds = [0, 10] }
sex = { values = ["f", "m"] }

[tables.pills]
from = "pills-*.parquet"
unit = "visits.who via visit"
rows_per_unit = 4

[tables.sales]
from = "sales-*.csv"
unit = "buyer"
rows_per_unit = 2

[tables.log]
from = "log.csv"
unit = "who"
rows_per_unit = 5

[tables.steps]
from = "steps-*.csv"
unit = "row"

[tables.rooms]
from = "rooms.csv"
public = true
"""

PEOPLE = 1000


class Days:
    """Writes files of visits, pills and sales, day by day."""

    def __init__(self, folder: Path, seed: int = 0) -> None:
        self.folder, self.draws, self.day, self.visit = folder, Choices(f"days {seed}"), 0, 0
        (folder / "discreet.toml").write_text(CATALOG)
        (folder / "rooms.csv").write_text("room,floor\n1,0\n2,1\n2,2\n")
        (folder / "log.csv").write_text("who,told,n\n", newline="")

    @property
    def catalog(self) -> Path:
        return self.folder / "discreet.toml"

    def add(self, rows: int) -> None:
        """Add files of one more day; some rows are twice, of nobody, or of a visit to come."""
        who = [self._person() for _ in range(rows)]
        numbers = list(range(self.visit, self.visit + rows))
        reals = [0.0, -0.0, 1.5, 9.75, float("nan"), None, 12.0]
        visits: dict[str, Any] = {
            "visit": pa.array(numbers, pa.int64()),
            "who": pa.array(who, pa.string()),
            "cost": pa.array([self.draws.one(reals) for _ in who], pa.float64()),
            "sex": pa.array([self.draws.one(["f", "m", None]) for _ in who], pa.string()),
        }
        pq.write_table(pa.table(visits), self.folder / f"visits-{self.day:03}.parquet")
        of = [self.draws.below(self.visit + rows + rows // 3 + 1) for _ in range(rows)]
        pills: dict[str, list[Any]] = {
            "visit": of,
            "drug": [self.draws.one("abcé") for _ in of],
        }
        pq.write_table(pa.table(pills), self.folder / f"pills-{self.day:03}.parquet")
        self._write("sales", ["buyer", "price", "told"], (self._sale() for _ in range(rows)))
        self._write("steps", ["x", "y"], ((n % 5, "abc"[n % 3]) for n in range(rows // 4)))
        with (self.folder / "log.csv").open("a", newline="") as log:
            csv.writer(log, lineterminator="\n").writerows(
                (self._person(), self.draws.one(["a\nb", 'say "x"', "c,d", ""]), n % 4)
                for n in range(rows)
            )
        self.visit += rows
        self.day += 1

    def _person(self) -> str | None:
        if self.draws.is_one_of(50):
            return None
        return f"p{self.draws.below(20 if self.draws.is_one_of(5) else PEOPLE)}"

    def _sale(self) -> tuple[Any, ...]:
        price = self.draws.one([0.5, -0.0, ""] if self.draws.is_one_of(9) else [7, 12, 99])
        return self.draws.below(PEOPLE), price, self.draws.one(["x", "1", "é", ""])

    def _write(self, name: str, columns: list[str], rows: Iterable[Iterable[Any]]) -> None:
        file = self.folder / f"{name}-{self.day:03}.csv"
        with file.open("w", newline="", encoding="utf-8") as opened:
            csv.writer(opened, lineterminator="\n").writerows([columns, *rows])


FORMS = """
SELECT schema_name || '.' || table_name FROM duckdb_tables()
WHERE schema_name IN ('kept', 'rest', 'main', 'waiting', 'held') ORDER BY 1
"""


def contents(catalog: Path) -> dict[str, Any]:
    """Return all that queries can see of a copy: rows as multisets, numbers of units, columns."""
    with duckdb.connect(str(copy_of(catalog)), read_only=True) as copy:
        named = [name for (name,) in copy.execute(FORMS).fetchall()]
        found: dict[str, Any] = {
            name: (
                copy.execute(f"DESCRIBE {name}").fetchall(),
                Counter(map(repr, copy.execute(f"FROM {name}").fetchall())),
            )
            for name in named
        }
        for about in (
            "SELECT name, sum(units) FROM about.parts GROUP BY name ORDER BY name",
            "SELECT name, told FROM about.columns ORDER BY name",
            "SELECT key, contents, made_by FROM about.copy",
            "SELECT name, number, size, digest FROM about.files ORDER BY name, number",
        ):
            found[about] = copy.execute(about).fetchall()
    return found


def fresh(catalog: Path) -> dict[str, Any]:
    """Return what a full preparation of the same files makes; the copy that grew is gone then."""
    forget_catalog(catalog)
    assert prepare_catalog(catalog)
    return contents(catalog)


def prepare(catalog: Path) -> list[Step]:
    """Prepare, and return what was told."""
    told: list[Step] = []
    assert prepare_catalog(catalog, told=told.append)
    return told


def grown(told: Iterable[Step]) -> set[str]:
    """Return the tables that grew: of some it is seen only on the way that they cannot."""
    steps = list(told)
    begun = {each.table for each in steps if isinstance(each, Grows)}
    return begun - {each.table for each in steps if isinstance(each, MadeAnew)}


def anew(told: Iterable[Step]) -> set[tuple[str | None, Anew]]:
    return {(each.table, each.reason) for each in told if isinstance(each, MadeAnew)}


ALL = {"visits", "pills", "sales", "log", "steps"}


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2, 3))])
def test_a_grown_copy_is_what_a_full_preparation_makes(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Thousands of rows of a thousand people and more, in four steps, some in several parts."""
    for each in (prepared, growing):
        monkeypatch.setattr(each, "PART", 700)
    monkeypatch.setattr(growing, "SPAN", 500)
    if seed % 2 == 0:  # else the few rows of these people are counted whenever a copy grows
        monkeypatch.setattr(held, "FEWEST", 0)
    days = Days(tmp_path, seed)
    days.add(2500)
    assert prepare(days.catalog) == []
    for rows in (40, 1, 1500):
        days.add(rows)
        assert is_copy_outdated(days.catalog)
        told = prepare(days.catalog)
        assert (grown(told), anew(told)) == (ALL, set())
        assert not is_copy_outdated(days.catalog)
        assert not prepare_catalog(days.catalog)
    found = contents(days.catalog)
    assert sum(found["rest.visits"][1].values()) > 500
    assert sum(found["waiting.pills"][1].values()) > 100
    assert ("held.visits" in found) is (seed % 2 == 0)
    assert found == fresh(days.catalog)


WRONG = "UPDATE held.visits SET n = {} WHERE hash(__unit) % 2 = 0"


@pytest.mark.parametrize(
    "change",
    [
        None,
        WRONG.format(0),
        WRONG.format(1),
        "DELETE FROM about.parts WHERE part = -2",
    ],
)
def test_numbers_of_kept_rows_are_counted_again_unless_they_are_those_of_the_rows(
    tmp_path: Path, change: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A copy that was made without them has none, or some that its maker did not know.

    Believed, wrong ones keep too many rows.
    """
    days = Days(tmp_path)
    days.add(1500)
    monkeypatch.setattr(held, "FEWEST", 10**6 if change is None else 0)
    prepare(days.catalog)
    monkeypatch.setattr(held, "FEWEST", 0)
    if change is not None:
        with duckdb.connect(str(copy_of(days.catalog))) as copy:
            copy.execute(change)
    days.add(300)
    assert (grown(steps := prepare(days.catalog)), anew(steps)) == (ALL, set())
    assert contents(days.catalog) == fresh(days.catalog)


def test_rows_of_nobody_are_not_left_in_the_copy(tmp_path: Path) -> None:
    """Tables are loaded into another file: what is dropped from a file stays in it."""
    days = Days(tmp_path)
    days.add(100)
    (tmp_path / "log.csv").write_text("who,told,n\n,nobodysrow,1\np1,somebodysrow,1\n")
    prepare(days.catalog)
    found = copy_of(days.catalog).read_bytes()
    assert (b"nobodysrow" in found, b"somebodysrow" in found) == (False, True)


def test_tables_that_are_not_prepared_are_stored_wherever_they_were_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = Days(tmp_path)
    days.add(100)
    prepare(days.catalog)
    found = contents(days.catalog)
    assert {"main.steps", "main.rooms"} < found.keys()
    described = stores.copied_from
    monkeypatch.setattr(
        stores,
        "copied_from",
        lambda *of, **by: replace(described(*of, **by), undivided=frozenset()),
    )
    assert fresh(days.catalog) == found


def appending(scan: Any, rows: str) -> str:
    """Rank as if every row were within its limit."""
    return RANKED(scan, rows).replace("row_number() OVER", "0 * row_number() OVER")


def in_the_order_they_came(scan: Any, rows: str) -> str:
    """Rank by what came first: rows that were kept stay."""
    return RANKED(scan, rows).replace("ORDER BY ", 'ORDER BY "__row" NULLS LAST, ')


RANKED = prepared.ranked_rows


@pytest.mark.parametrize("broken", [appending, in_the_order_they_came])
def test_growth_that_ranks_wrongly_is_caught(
    tmp_path: Path, broken: Callable[[Any, str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    days = Days(tmp_path)
    days.add(1500)
    prepare(days.catalog)
    days.add(500)
    monkeypatch.setattr(growing, "ranked_rows", broken)
    prepare(days.catalog)
    found = contents(days.catalog)
    monkeypatch.undo()
    right = fresh(days.catalog)
    assert found["kept.visits"] != right["kept.visits"]
    assert found["kept.log"] != right["kept.log"]


def test_answers_over_a_grown_copy_are_those_over_a_fresh_one(tmp_path: Path) -> None:
    """The noise of two sums is 12 apart once in 10^15."""
    days = Days(tmp_path)
    days.add(1500)
    prepare(days.catalog)
    days.add(400)
    prepare(days.catalog)
    before = answers(days.catalog)
    fresh(days.catalog)
    for one, other in zip(before, answers(days.catalog), strict=True):
        assert one == pytest.approx(other, abs=12)


def answers(catalog: Path) -> list[float]:
    with discreet.open(catalog, ledger=":memory:") as curator:
        return [
            float(str(row["n"]))
            for sql in (
                "SELECT COUNT(*) AS n FROM visits",
                "SELECT SUM(cost) AS n FROM visits",
                "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex ORDER BY sex",
                "SELECT COUNT(DISTINCT who) AS n FROM visits",
                "SELECT COUNT(*) AS n FROM pills WHERE drug = 'a'",
                "SELECT COUNT(*) AS n FROM sales WHERE price > 5",
                "SELECT COUNT(*) AS n FROM steps",
            )
            for row in curator.ask(sql, epsilon=100, delta=1e-6).rows
        ]


# --------------------------------------------------------------------------- what cannot grow


def write_visits(days: Days) -> None:
    """Write the first day of visits again, without its last row."""
    file = days.folder / "visits-000.parquet"
    pq.write_table(pq.read_table(file).slice(0, 799), file)


def remove_sales(days: Days) -> None:
    (days.folder / "sales-000.csv").unlink()


def change_log(days: Days) -> None:
    text = (days.folder / "log.csv").read_text(encoding="utf-8")
    (days.folder / "log.csv").write_text(text.replace("p1", "p2", 1), encoding="utf-8")


def cut_log(days: Days) -> None:
    """End in the middle of a line, so that its end is not that of a row."""
    with (days.folder / "log.csv").open("a", encoding="utf-8") as log:
        log.write("p1,x,1")


def bring_texts(days: Days) -> None:
    """Bring a value by which another type is guessed for all rows."""
    (days.folder / "sales-900.csv").write_text("buyer,price,told\n7,cheap,x\n")


def bring_texts_of_nobody(days: Days) -> None:
    """Bring one to a table that is not prepared."""
    (days.folder / "steps-900.csv").write_text("x,y\nmany,a\n")


def bring_other_types(days: Days) -> None:
    one = pa.table({"visit": [7], "drug": [1]})
    pq.write_table(one, days.folder / "pills-900.parquet")


def repeat_a_key(days: Days) -> None:
    """Bring a second row of a visit, so that its pills have two units."""
    one = pq.read_table(days.folder / "visits-000.parquet").slice(0, 50)
    pq.write_table(
        one.set_column(1, "who", pa.array(["new"] * 50)), days.folder / "visits-1.parquet"
    )


def write_rooms(days: Days) -> None:
    (days.folder / "rooms.csv").write_text("room,floor\n1,1\n")


FALLING_BACK: dict[Callable[[Days], None], set[tuple[str | None, Anew]]] = {
    write_visits: {(None, Anew.CHANGED)},
    remove_sales: {(None, Anew.CHANGED)},
    change_log: {(None, Anew.CHANGED)},
    write_rooms: {("rooms", Anew.CHANGED)},
    bring_texts: {("sales", Anew.GUESSED)},
    bring_texts_of_nobody: {("steps", Anew.GUESSED)},
    bring_other_types: {("pills", Anew.TYPES)},
    repeat_a_key: {("pills", Anew.PATH)},
}


@pytest.mark.parametrize("change", FALLING_BACK)
def test_tables_whose_rows_changed_are_prepared_anew_and_the_others_grow(
    tmp_path: Path, change: Callable[[Days], None]
) -> None:
    days = Days(tmp_path)
    days.add(800)
    prepare(days.catalog)
    if change is not write_visits:
        days.add(100)
    change(days)
    told = prepare(days.catalog)
    assert anew(told) == FALLING_BACK[change]
    found = contents(days.catalog)
    assert found == fresh(days.catalog)
    days.add(50)
    assert grown(prepare(days.catalog)) >= {"visits", "pills", "log"}
    assert contents(days.catalog) == fresh(days.catalog)


def test_nothing_of_a_person_who_is_deleted_stays_in_the_copy(tmp_path: Path) -> None:
    days = Days(tmp_path)
    days.add(200)
    log = (tmp_path / "log.csv").read_text(encoding="utf-8")
    (tmp_path / "log.csv").write_text(f"{log}p1,deletemelater,1\n", encoding="utf-8")
    prepare(days.catalog)
    assert b"deletemelater" in copy_of(days.catalog).read_bytes()
    days.add(20)
    prepare(days.catalog)
    (tmp_path / "log.csv").write_text(log, encoding="utf-8")
    prepare(days.catalog)
    assert b"deletemelater" not in copy_of(days.catalog).read_bytes()


def test_a_file_that_ended_inside_of_a_line_is_read_anew(tmp_path: Path) -> None:
    days = Days(tmp_path)
    days.add(300)
    cut_log(days)
    prepare(days.catalog)
    with (days.folder / "log.csv").open("a", encoding="utf-8") as log:
        log.write("2\np9,y,3\n")
    assert ("log", Anew.CHANGED) in anew(prepare(days.catalog))
    assert contents(days.catalog) == fresh(days.catalog)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("rows_per_unit = 3", "rows_per_unit = 4", Anew.CATALOG),
        ("cost = { bounds = [0, 10] }", "cost = { bounds = [0, 8] }", Anew.TYPES),
    ],
)
def test_another_catalog_is_prepared_anew(tmp_path: Path, old: str, new: str, reason: Anew) -> None:
    days = Days(tmp_path)
    days.add(300)
    prepare(days.catalog)
    days.add(30)
    days.catalog.write_text(CATALOG.replace(old, new))
    told = prepare(days.catalog)
    assert reason in {each for _, each in anew(told)}
    assert contents(days.catalog) == fresh(days.catalog)


@pytest.mark.parametrize("release", ["FORM", "duckdb"])
def test_a_copy_of_another_release_is_made_anew(
    tmp_path: Path, release: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = Days(tmp_path)
    days.add(200)
    with monkeypatch.context() as patch:
        if release == "FORM":
            patch.setattr("discreet.engines.duckdb.copied.FORM", 0)
        else:
            patch.setattr(duckdb, "__version__", "0.1")
        prepare(days.catalog)
    days.add(20)
    reason = Anew.RELEASE if release == "FORM" else Anew.DATABASE
    assert anew(prepare(days.catalog)) == {(None, reason)}


class _StoppedError(Exception):
    """Stands for a process that ends."""


def test_parts_are_not_added_to_those_of_another_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version may hash in another way, so that units would be in two parts."""
    monkeypatch.setattr(prepared, "PART", 200)
    days = Days(tmp_path)
    days.add(2000)

    def stop(name: str, done: int, total: int) -> None:
        if (name, done, total > 2) == ("visits", 2, True):
            raise _StoppedError

    with pytest.raises(_StoppedError):
        prepare_catalog(days.catalog, stop)
    part = prepared._part
    monkeypatch.setattr(duckdb, "__version__", "99")
    monkeypatch.setattr(prepared, "_part", lambda *of: part(*of).replace("hash(", "hash(1, "))
    prepare(days.catalog)
    found = contents(days.catalog)
    units = Counter(row.split(",")[0] for row in found["kept.visits"][1].elements())
    assert max(units.values()) == 3
    assert found == fresh(days.catalog)


def test_first_months_are_chosen_anew(tmp_path: Path) -> None:
    days = Days(tmp_path)
    text = CATALOG.split("[tables.visits]", maxsplit=1)[0].replace(
        "epsilon = 100000", 'epsilon = 1000\nper = "month"\nmonths_per_unit = 2'
    )
    days.catalog.write_text(
        f'{text}[tables.dated]\nfrom = "dated-*.parquet"\nunit = "who"\narrival = "day"\n'
        'rows_per_unit = 2\n[tables.dated.columns]\nday = { type = "timestamp" }\n'
    )
    for months in (None, 2):
        for day in range(2):
            draws = Choices(f"months {day}")
            rows = [(f"p{draws.below(300)}", draws.below(240)) for _ in range(1200)]
            at = pa.array([n * 86_400_000_000 for _, n in rows], pa.timestamp("us"))
            table = pa.table({"who": [who for who, _ in rows], "day": at})
            pq.write_table(table, days.folder / f"dated-{day}-{months}.parquet")
            told = prepare(days.catalog)
        if months is None:
            assert anew(told) == {("dated", Anew.MONTHS)}
            days.catalog.write_text(days.catalog.read_text().replace("months_per_unit = 2", ""))
    assert (grown(told), anew(told)) == ({"dated"}, set())
    assert contents(days.catalog) == fresh(days.catalog)


LONG_PATH = """
[budget]
epsilon = 1
delta = 1e-6

[tables.stays]
from = "stays-*.parquet"
unit = "who"

[tables.visits]
from = "visits-*.parquet"
unit = "stays.who via stay"
rows_per_unit = 3

[tables.pills]
from = "pills-*.parquet"
unit = "visits.who via visit"
rows_per_unit = 4
"""


def test_rows_at_the_end_of_a_long_path_come_once_for_each_unit(tmp_path: Path) -> None:
    """A key that is repeated gives a visit two people; each of them has each of its pills once."""
    catalog = tmp_path / "discreet.toml"
    catalog.write_text(LONG_PATH)
    keys = list(range(1000))
    of_two = pa.table({"stay": [*keys, *keys], "who": [f"p{n % 1300}" for n in range(2000)]})
    pq.write_table(of_two, tmp_path / "stays-0.parquet")
    pq.write_table(pa.table({"stay": keys, "visit": keys}), tmp_path / "visits-0.parquet")
    pills = pa.table({"visit": keys, "drug": [n % 7 for n in keys]})
    pq.write_table(pills, tmp_path / "pills-0.parquet")
    prepare(catalog)
    pq.write_table(pills.slice(3), tmp_path / "pills-1.parquet")
    assert grown(prepare(catalog)) == {"pills"}
    found = contents(catalog)
    rows = found["kept.pills"][1] + found["rest.pills"][1]
    assert sum(rows.values()) == 2 * (1000 + 997)
    assert found == fresh(catalog)


def test_rows_that_their_own_transaction_does_not_see_are_not_missed_over_a_path(
    tmp_path: Path,
) -> None:
    """DuckDB 2.0 shows none of them, if two threads wrote them after all of many were deleted."""
    catalog = tmp_path / "discreet.toml"
    ranked = "rows_per_unit = 40\n[tables.stays.groups_per_unit]\nx = 1\n"
    catalog.write_text(
        LONG_PATH.split("[tables.pills]", maxsplit=1)[0].replace(
            'unit = "who"\n', f'unit = "who"\n{ranked}', 1
        )
    )
    for day, rows in enumerate((150_000, 260_000)):
        keys = range(day * 150_000, day * 150_000 + rows)
        stays = pa.table({"stay": keys, "who": [n % 9000 for n in keys], "x": [1] * rows})
        pq.write_table(stays, tmp_path / f"stays-{day}.parquet")
        visits = pa.table({"stay": keys[::50], "visit": keys[::50]})
        pq.write_table(visits, tmp_path / f"visits-{day}.parquet")
        prepare(catalog)
    with duckdb.connect(str(copy_of(catalog)), read_only=True) as copy:
        found = copy.execute(
            "SELECT (SELECT count(*) FROM every.visits), (SELECT count(*) FROM waiting.visits)"
        )
        assert found.fetchall() == [(8200, 0)]


# --------------------------------------------------------------------------- CSV files


def sales(folder: Path, number: int, text: str) -> None:
    (folder / f"sales-{number:03}.csv").write_text(text, encoding="utf-8", newline="")


HEAD = "buyer,price,told\n"
ADDED = {
    "7,,\n": True,
    "": True,
    "7,1,2\n": True,
    "7,1.5,2\n": True,
    '7,2,"a\nb"\n': True,
    "7,1,2026-01-02\n": True,
    "seven,1,x\n": False,
    "7,true,x\n": False,
    "7,1e400,x\n": None,
    "007,1,x\n": None,
    "7,1,x\r\n": None,
}
"""Rows of a new file, and whether a copy grows by them; None if a load of all files may fail."""


@pytest.mark.parametrize("text", ADDED)
def test_a_csv_file_brings_what_a_load_of_all_files_reads(tmp_path: Path, text: str) -> None:
    days = Days(tmp_path)
    days.add(40)
    sales(tmp_path, 0, f"{HEAD}1,0.5,x\n2,1,\n")
    prepare(days.catalog)
    sales(tmp_path, 1, HEAD + text)
    try:
        told = prepare(days.catalog)
    except discreet.DiscreetError as cause:
        forget_catalog(days.catalog)
        with pytest.raises(type(cause)):
            prepare_catalog(days.catalog)
        assert ADDED[text] is None
        return
    assert ADDED[text] is None or (grown(told) == {"sales"}) is ADDED[text]
    assert contents(days.catalog) == fresh(days.catalog)


def test_texts_that_were_all_empty_may_have_been_anything(tmp_path: Path) -> None:
    """Of no value at all a text is guessed; of integers that come then, an integer."""
    days = Days(tmp_path)
    days.add(40)
    sales(tmp_path, 0, f"{HEAD}1,0.5,\n2,1,\n")
    prepare(days.catalog)
    sales(tmp_path, 1, f"{HEAD}7,1,12\n")
    assert anew(prepare(days.catalog)) == {("sales", Anew.GUESSED)}
    assert contents(days.catalog) == fresh(days.catalog)


def test_files_that_were_renamed_are_the_same_and_those_that_come_before_others_too(
    tmp_path: Path,
) -> None:
    days = Days(tmp_path)
    days.add(100)
    prepare(days.catalog)
    (tmp_path / "sales-000.csv").rename(tmp_path / "sales-z.csv")
    days.add(50)
    assert (grown(told := prepare(days.catalog)), anew(told)) == (ALL, set())
    assert contents(days.catalog) == fresh(days.catalog)


def test_more_files_than_types_are_guessed_from(tmp_path: Path) -> None:
    days = Days(tmp_path)
    days.add(40)
    for number in range(added_files.SNIFFED + 2):
        sales(tmp_path, number, f"{HEAD}{number},1.5,x\n")
    prepare(days.catalog)
    sales(tmp_path, 900, f"{HEAD}7,1,x\n")
    assert grown(prepare(days.catalog)) == {"sales"}
    (tmp_path / "sales-000.csv").rename(tmp_path / "sales-001b.csv")
    sales(tmp_path, 0, f"{HEAD}7,1,x\n")
    assert anew(prepare(days.catalog)) == {("sales", Anew.GUESSED)}
    assert contents(days.catalog) == fresh(days.catalog)


# --------------------------------------------------------------------------- interrupted


KILLED = """
import os, signal, sys
from pathlib import Path
import discreet.engines.duckdb.growing_copies as growing_copies
from discreet.engines.duckdb.growing_copies import Growing
from discreet.opening import prepare_catalog
left = int(sys.argv[2])
def step(*_):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
def around(owner, name):
    act = getattr(owner, name)
    def watched(*given, **named):
        step()
        found = act(*given, **named)
        step()
        return found
    setattr(owner, name, watched)
for name in ("_copy_file", "grow_table", "load_added"):
    around(growing_copies, name)
around(Growing, "_settle")
prepare_catalog(Path(sys.argv[1]), step)
"""


@pytest.mark.parametrize("after", [0, 9, 24])
def test_a_growth_that_was_killed_leaves_the_old_copy_and_goes_on(
    tmp_path: Path, after: int
) -> None:
    days = Days(tmp_path)
    days.add(300)
    prepare(days.catalog)
    old = key_of(copy_of(days.catalog))
    days.add(60)
    killed = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", KILLED, str(days.catalog), str(after)],
        check=False,
        env=dict(os.environ),
    )
    assert killed.returncode == -signal.SIGKILL
    assert key_of(copy_of(days.catalog)) == old
    told = prepare(days.catalog)
    assert anew(told) == set()
    if after > 20:
        assert grown(told) < ALL  # what was done is not done again
    assert contents(days.catalog) == fresh(days.catalog)
    assert not list(tmp_path.glob("*.part"))


def test_a_growth_that_was_killed_after_tables_were_taken_out_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = Days(tmp_path)
    days.add(60)
    prepare(days.catalog)
    days.add(20)
    bring_texts(days)
    take_out = growing_copies.Growing._take_out

    def stop(*of: Any) -> None:
        take_out(*of)
        raise _StoppedError

    with monkeypatch.context() as patch:
        patch.setattr(growing_copies.Growing, "_take_out", stop)
        with pytest.raises(_StoppedError):
            prepare_catalog(days.catalog)
    assert anew(prepare(days.catalog)) == {(None, Anew.TYPES)}
    assert contents(days.catalog) == fresh(days.catalog)


KILLED_AS_IT_BEGINS = """
import os, signal, sys
from pathlib import Path
from discreet.engines.duckdb import copies
from discreet.opening import prepare_catalog
note = copies.note_growth
def noted(*given):
    note(*given)
    os.kill(os.getpid(), signal.SIGKILL)
copies.note_growth = noted
prepare_catalog(Path(sys.argv[1]))
"""


@pytest.mark.parametrize("is_same", [True, False])
def test_a_log_that_a_kill_left_is_not_read_into_the_copy_of_other_files(
    tmp_path: Path, is_same: bool
) -> None:
    days = Days(tmp_path)
    days.add(100)
    prepare(days.catalog)
    days.add(20)
    killed = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", KILLED_AS_IT_BEGINS, str(days.catalog)],
        check=False,
        env=dict(os.environ),
    )
    assert killed.returncode == -signal.SIGKILL
    assert list(tmp_path.glob("*.part/*.wal"))
    if not is_same:
        days.add(20)
    assert (grown(told := prepare(days.catalog)), anew(told)) == (ALL, set())
    assert contents(days.catalog) == fresh(days.catalog)


def test_a_copied_file_is_on_the_disk_before_a_log_tells_what_becomes_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a loss of power could leave a file without its end, and it would become the copy."""
    order: list[str] = []
    days = Days(tmp_path)
    days.add(20)
    prepare(days.catalog)
    days.add(20)
    sync, note = os.fsync, growing_copies.note_growth

    def synced(handle: int) -> None:
        copied = copy_of(days.catalog).read_bytes()
        sync(handle)
        (begun,) = tmp_path.glob("*.part/*.copying")
        order.append("whole" if begun.read_bytes() == copied else "in part")

    def noted(*of: Any) -> None:
        order.append("noted")
        note(*of)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(copies, "note_growth", noted)
    prepare(days.catalog)
    assert order == ["whole", "noted"]


@pytest.mark.parametrize(("owner", "name"), [(growing_copies, "_copy_file"), (added_files, "_end")])
def test_a_full_disk_is_told_and_leaves_the_old_copy(
    tmp_path: Path, owner: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(*_: Any) -> None:
        raise OSError(ENOSPC, "No space left on device")

    days = Days(tmp_path)
    days.add(100)
    prepare(days.catalog)
    old = key_of(copy_of(days.catalog))
    days.add(20)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, fill)
        with pytest.raises(discreet.SourceError, match="could not be made"):
            prepare_catalog(days.catalog)
    assert key_of(copy_of(days.catalog)) == old
    prepare(days.catalog)
    assert contents(days.catalog) == fresh(days.catalog)


def test_who_reads_a_copy_reads_on_while_it_grows(tmp_path: Path) -> None:
    days = Days(tmp_path)
    days.add(300)
    prepare(days.catalog)
    sql = "SELECT COUNT(*) AS n FROM steps"
    with discreet.open(days.catalog, ledger=":memory:") as curator:
        days.add(200)
        prepare(days.catalog)
        assert curator.ask(sql, epsilon=100).rows[0]["n"] == pytest.approx(75, abs=2)
    with discreet.open(days.catalog, ledger=":memory:") as curator:
        assert curator.ask(sql, epsilon=100).rows[0]["n"] == pytest.approx(125, abs=2)


def test_files_that_change_while_they_are_read_leave_the_old_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    days = Days(tmp_path)
    days.add(100)
    prepare(days.catalog)
    old = key_of(copy_of(days.catalog))
    days.add(20)
    load = added_files.load_added

    def meanwhile(*given: Any, **named: Any) -> None:
        load(*given, **named)
        change_log(days)

    monkeypatch.setattr(growing_copies, "load_added", meanwhile)
    with pytest.raises(discreet.SourceError, match="changed while it was read"):
        prepare_catalog(days.catalog)
    monkeypatch.undo()
    assert key_of(copy_of(days.catalog)) == old
    prepare(days.catalog)
    assert contents(days.catalog) == fresh(days.catalog)
