"""The prepared copy: whole or not there, of one state of the data, for its owner alone."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from discreet.engines.duckdb import DuckDbEngine, copies, prepared
from discreet.engines.duckdb.copied import key_of
from discreet.errors import CatalogError, SourceError
from discreet.opening import (
    bounding_key,
    copy_of,
    forget_catalog,
    is_copy_outdated,
    prepare_catalog,
)

CATALOG = """
[budget]
epsilon = 1000
delta = 1e-3

[tables.visits]
from = "visits.parquet"
unit = "who"
rows_per_unit = 3

[tables.visits.columns]
cost = { bounds = [0, 10] }
sex = { values = ["f", "m"] }

[tables.sales]
from = "sales.csv"
unit = "row"

[tables.rooms]
from = "rooms.csv"
public = true
"""

QUESTIONS = [
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex ORDER BY sex",
    "SELECT COUNT(DISTINCT who) AS n FROM visits",
    "SELECT COUNT(*) AS n FROM visits WHERE cost > 5",
    "SELECT COUNT(*) AS n FROM sales",
    "SELECT COUNT(*) AS n FROM visits v JOIN rooms r ON v.room = r.room",
    "SELECT COUNT(*) AS n FROM (SELECT who, SUM(cost) AS s FROM visits GROUP BY who) WHERE s > 20",
]


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    count = 600
    visits = pa.table(
        {
            "who": [f"p{n % 150 if n < 500 else 7}" for n in range(count)],
            "cost": [float(n % 11) for n in range(count)],
            "sex": ["fm"[n % 2] for n in range(count)],
            "room": [n % 3 for n in range(count)],
        }
    )
    pq.write_table(visits, tmp_path / "visits.parquet")
    (tmp_path / "sales.csv").write_text("x\n1\n2\n3\n")
    (tmp_path / "rooms.csv").write_text("room,floor\n1,0\n2,1\n2,2\n")
    path = tmp_path / "discreet.toml"
    path.write_text(CATALOG)
    return path


def answers(path: Path, ledger: Path) -> list[list[dict[str, object]]]:
    with discreet.open(path, ledger=ledger) as curator:
        return [curator.ask(each, epsilon=50, delta=1e-6).rows for each in QUESTIONS]


def test_a_copy_answers_as_the_files_do(catalog: Path, tmp_path: Path) -> None:
    before = answers(catalog, tmp_path / "one.ledger")
    assert prepare_catalog(catalog)
    after = answers(catalog, tmp_path / "two.ledger")
    for one, other in zip(before, after, strict=True):
        for here, there in zip(one, other, strict=True):
            assert here["n"] == pytest.approx(there["n"], abs=10)


def test_no_rows_are_missed_where_every_unit_exceeds_its_limit(catalog: Path) -> None:
    """DuckDB 2.0 hides what is ordered and inserted after nothing, if two threads do it."""
    count = 150_000
    rows = pa.table(
        {
            "who": [f"p{n % 3000}" for n in range(count)],
            "cost": [1.0] * count,
            "sex": ["f"] * count,
            "room": [1] * count,
        }
    )
    pq.write_table(rows, catalog.with_name("visits.parquet"))
    catalog.write_text(CATALOG.replace("rows_per_unit = 3", "rows_per_unit = 48"))
    for _ in range(2):
        with discreet.open(catalog, ledger=":memory:") as curator:
            (row,) = curator.ask(QUESTIONS[0], epsilon=50).rows
        assert row["n"] == pytest.approx(144_000, abs=50)
        prepare_catalog(catalog)


def test_what_was_answered_before_the_copy_is_still_free(catalog: Path) -> None:
    with discreet.open(catalog) as curator:
        paid = curator.ask(QUESTIONS[1], epsilon=1)
    prepare_catalog(catalog)
    with discreet.open(catalog) as curator:
        again = curator.ask(QUESTIONS[1], epsilon=1)
    assert again.rows == paid.rows


def test_the_copy_is_read_and_the_files_are_not(
    catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare_catalog(catalog)

    def no_loading(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr(DuckDbEngine, "load", no_loading)
    with discreet.open(catalog) as curator, discreet.open(catalog, ledger=":memory:") as other:
        assert curator.ask(QUESTIONS[0], epsilon=1).rows
        assert other.ask(QUESTIONS[0], epsilon=1).rows


def test_only_its_owner_may_read_it(catalog: Path) -> None:
    prepare_catalog(catalog)
    assert stat.S_IMODE(copy_of(catalog).stat().st_mode) == 0o600


def test_nobody_else_can_read_it_while_it_is_made(catalog: Path) -> None:
    """DuckDB keeps a log of what is written beside a file, readable by all."""
    before, seen = set(catalog.parent.iterdir()), set()

    def told(*_: object) -> None:
        for each in set(catalog.parent.iterdir()) - before:
            seen.add(each.name)
            assert not stat.S_IMODE(each.stat().st_mode) & 0o077, each.name

    prepare_catalog(catalog, told)
    assert seen == {"discreet.prepared.lock", "discreet.prepared.part"}
    assert set(catalog.parent.iterdir()) - before == {
        catalog.with_name("discreet.prepared"),
        catalog.with_name("discreet.prepared.lock"),
    }


def test_it_is_not_made_in_a_folder_of_others(catalog: Path) -> None:
    folder = catalog.with_name("discreet.prepared.part")
    folder.mkdir(mode=0o755)
    with pytest.raises(SourceError, match="other users have access to it"):
        prepare_catalog(catalog)
    assert not list(folder.iterdir())


def test_a_copy_that_others_could_have_written_is_not_used(catalog: Path) -> None:
    prepare_catalog(catalog)
    copy_of(catalog).chmod(0o666)
    assert key_of(copy_of(catalog)) is None
    assert is_copy_outdated(catalog)
    with discreet.open(catalog) as curator:
        assert curator.ask(QUESTIONS[0], epsilon=1).rows


def test_a_copy_that_takes_the_place_of_the_one_that_was_looked_at_is_not_used(
    catalog: Path,
) -> None:
    prepare_catalog(catalog)
    with pytest.raises(SourceError, match="changed while it was opened"):
        copies.open_copy(copy_of(catalog), "another key")


def test_it_is_made_once(catalog: Path) -> None:
    assert prepare_catalog(catalog)
    assert not prepare_catalog(catalog)


def test_what_was_begun_and_is_not_wanted_any_more_is_removed(catalog: Path) -> None:
    """A kill leaves private rows, which may be of people who are deleted by now."""
    prepare_catalog(catalog)
    begun = catalog.with_name("discreet.prepared.part")
    begun.mkdir(mode=0o700)
    (begun / "loaded").touch(mode=0o600)
    with copies.alone(copy_of(catalog)):
        assert not prepare_catalog(catalog)
    assert begun.exists()  # somebody needs it now
    assert not prepare_catalog(catalog)
    assert not begun.exists()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rows_per_unit = 3", "rows_per_unit = 4"),
        ('unit = "who"', 'unit = "room"'),
        ("cost = { bounds = [0, 10] }", 'cost = { bounds = [0, 10], type = "real" }'),
    ],
)
def test_a_copy_under_another_catalog_is_not_used(catalog: Path, old: str, new: str) -> None:
    prepare_catalog(catalog)
    assert not is_copy_outdated(catalog)
    catalog.write_text(CATALOG.replace(old, new))
    assert is_copy_outdated(catalog)
    with discreet.open(catalog) as curator:
        assert curator.ask(QUESTIONS[0], epsilon=1).rows
    assert prepare_catalog(catalog)
    assert not is_copy_outdated(catalog)


def test_a_copy_by_another_limit_where_none_is_declared_is_not_used(
    catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later release may have another one: more rows would count than are paid for."""
    catalog.write_text(CATALOG.replace("rows_per_unit = 3", ""))
    prepare_catalog(catalog)
    assert not is_copy_outdated(catalog)
    monkeypatch.setattr(bounding_key, "DEFAULT_ROWS_PER_UNIT", 2)
    assert is_copy_outdated(catalog)


def test_a_copy_of_files_that_changed_is_not_used(catalog: Path) -> None:
    prepare_catalog(catalog)
    visits = pq.read_table(catalog.with_name("visits.parquet"))
    pq.write_table(visits.slice(0, 30), catalog.with_name("visits.parquet"))
    assert is_copy_outdated(catalog)
    with discreet.open(catalog) as curator:
        (row,) = curator.ask(QUESTIONS[0], epsilon=50).rows
    assert row["n"] == pytest.approx(30, abs=5)


def test_bounds_and_budgets_do_not_make_it_another_copy(catalog: Path) -> None:
    prepare_catalog(catalog)
    catalog.write_text(CATALOG.replace("[0, 10]", "[0, 8]").replace("1000", "2000"))
    assert not is_copy_outdated(catalog)


def test_a_damaged_copy_is_not_used(catalog: Path) -> None:
    prepare_catalog(catalog)
    copy_of(catalog).write_bytes(b"not a database")
    assert key_of(copy_of(catalog)) is None
    with discreet.open(catalog) as curator:
        assert curator.ask(QUESTIONS[0], epsilon=1).rows
    assert prepare_catalog(catalog)


def test_forgetting_leaves_nothing(catalog: Path) -> None:
    before = set(catalog.parent.iterdir())
    prepare_catalog(catalog)
    assert forget_catalog(catalog)
    assert set(catalog.parent.iterdir()) == before
    assert not forget_catalog(catalog)


def test_two_do_not_make_it_at_once(catalog: Path) -> None:
    with copies.alone(copy_of(catalog)), pytest.raises(SourceError, match="Another process"):
        prepare_catalog(catalog)


def test_a_catalog_that_chooses_by_question_has_nothing_to_prepare(catalog: Path) -> None:
    catalog.write_text('[source]\nbounding = "per-query"\n' + CATALOG)
    with pytest.raises(CatalogError, match="per-query"):
        prepare_catalog(catalog)


KILLED = """
import os, signal, sys
from pathlib import Path
from discreet.engines.duckdb import prepared
from discreet.opening import prepare_catalog
prepared.PART = 100
left = int(sys.argv[2])
def told(name, number, parts):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
prepare_catalog(Path(sys.argv[1]), told)
"""


@pytest.mark.parametrize("after", [0, 2, 5, 8])
def test_a_start_that_was_killed_goes_on_where_it_ended(
    catalog: Path, after: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    killed = subprocess.run(  # noqa: S603 - our own code
        [sys.executable, "-c", KILLED, str(catalog), str(after)], check=False, env=dict(os.environ)
    )
    assert killed.returncode == -signal.SIGKILL
    assert not copy_of(catalog).exists()
    monkeypatch.setattr(prepared, "PART", 100)
    begun: list[tuple[str, int, int]] = []
    assert prepare_catalog(catalog, lambda *each: begun.append(each))
    assert len(begun) <= 11 - after + 1
    after_all = answers(catalog, tmp_path / "two.ledger")
    forget_catalog(catalog)
    fresh = answers(catalog, tmp_path / "one.ledger")
    for one, other in zip(after_all, fresh, strict=True):
        for here, there in zip(one, other, strict=True):
            assert here["n"] == pytest.approx(there["n"], abs=10)


def test_a_link_in_the_place_of_the_lock_is_not_followed(catalog: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    catalog.with_name("discreet.prepared.lock").symlink_to(target)
    with pytest.raises(SourceError, match="Check that it is not a link"):
        prepare_catalog(catalog)
    assert not target.exists()
