"""The ledgers of a machine: two for the same data are told, and no opening fails by it."""

import json
import os
import shutil
import stat
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import discreet
from discreet.demo import write_clinic
from discreet.errors import DiscreetWarning
from discreet.ledger import existing_ledger
from discreet.opening import registry
from tests.cli.runs import call

CATALOG = """
[budget]
epsilon = 1

[tables.people]
from = "people.csv"
unit = "who"

[tables.rooms]
from = "rooms.csv"
public = true
"""

SAME = r"Another ledger covers the same data as .* Use one ledger"


@pytest.fixture(autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each test have a registry of its own."""
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path_factory.mktemp("state")))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a catalog and its data."""
    made = tmp_path / "clinic"
    made.mkdir()
    (made / "people.csv").write_text("who\n1\n2\n3\n")
    (made / "rooms.csv").write_text("room\n1\n")
    (made / "discreet.toml").write_text(CATALOG)
    return made


def state() -> Path:
    return registry.state_folder()


@contextmanager
def silence() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def opened(catalog: Path) -> None:
    discreet.open(catalog).close()


def test_one_ledger_is_opened_without_a_word(folder: Path) -> None:
    with silence():
        for _ in range(2):
            opened(folder / "discreet.toml")


def test_a_catalog_under_another_name_is_said_to_have_another_budget(folder: Path) -> None:
    opened(folder / "discreet.toml")
    shutil.copy(folder / "discreet.toml", folder / "again.toml")
    with pytest.warns(DiscreetWarning, match=SAME) as told:
        opened(folder / "again.toml")
    (warning,) = told
    assert str(folder / "discreet.ledger") in str(warning.message)
    with pytest.warns(DiscreetWarning, match=r"discreet.ledger: \S*again.ledger\. Their budgets"):
        opened(folder / "discreet.toml")


def test_one_process_warns_once_until_there_is_another_ledger(folder: Path) -> None:
    opened(folder / "discreet.toml")
    for name in ("second", "third"):
        shutil.copy(folder / "discreet.toml", folder / f"{name}.toml")
    with pytest.warns(DiscreetWarning, match="Another ledger"):
        opened(folder / "second.toml")
    with silence():
        opened(folder / "second.toml")
    with pytest.warns(DiscreetWarning, match="2 other ledgers cover the same data as .*, for exam"):
        opened(folder / "third.toml")
    with pytest.warns(DiscreetWarning, match="2 other ledgers cover the same data as .*second"):
        opened(folder / "second.toml")


def test_the_synthetic_clinics_may_have_many_ledgers(tmp_path: Path) -> None:
    with silence():
        for name in ("one", "two"):
            opened(write_clinic(tmp_path / name))
    real = tmp_path / "two" / "patients.csv"
    lines = real.read_text().splitlines(keepends=True)
    real.write_text("".join(lines[:-1]))
    shutil.copytree(tmp_path / "two", tmp_path / "three", ignore=shutil.ignore_patterns("*.led*"))
    opened(tmp_path / "two" / "discreet.toml")
    with pytest.warns(DiscreetWarning, match=SAME):
        opened(tmp_path / "three" / "discreet.toml")


def test_copied_data_are_the_same_and_changed_ones_at_the_same_place_too(folder: Path) -> None:
    opened(folder / "discreet.toml")
    other = folder.with_name("copy")
    shutil.copytree(folder, other, ignore=shutil.ignore_patterns("*.ledger*"))
    with pytest.warns(DiscreetWarning, match=SAME):
        opened(other / "discreet.toml")
    (folder / "people.csv").write_text("who\n1\n2\n3\n4\n")
    shutil.rmtree(other)
    shutil.copy(folder / "discreet.toml", folder / "again.toml")
    with pytest.warns(DiscreetWarning, match=SAME):
        opened(folder / "again.toml")


def test_other_data_and_the_same_public_tables_are_opened_without_a_word(folder: Path) -> None:
    opened(folder / "discreet.toml")
    other = folder.with_name("other")
    shutil.copytree(folder, other, ignore=shutil.ignore_patterns("*.ledger*"))
    (other / "people.csv").write_text("who\n7\n")
    with silence():
        opened(other / "discreet.toml")


def test_two_tables_of_one_file_are_different_data(tmp_path: Path) -> None:
    file = tmp_path / "both.duckdb"
    with duckdb.connect(str(file)) as connection:
        for table in ("north", "south"):
            connection.execute(f"CREATE TABLE {table} AS SELECT range AS who FROM range(9)")  # noqa: S608 - constants
    with silence():
        for table in ("north", "south"):
            ledger = tmp_path / table
            discreet.open(file, name=table, unit="who", epsilon=1, ledger=ledger).close()
    with pytest.warns(DiscreetWarning, match=SAME):
        discreet.open(file, name="north", unit="who", epsilon=1, ledger=tmp_path / "l").close()


def test_a_ledger_that_was_moved_is_one_ledger(folder: Path) -> None:
    opened(folder / "discreet.toml")
    moved = folder.rename(folder.with_name("moved"))
    with silence():
        opened(moved / "discreet.toml")


def test_frames_are_known_by_their_contents(tmp_path: Path) -> None:
    def frame(ledger: str, count: int) -> None:
        table = pa.table({"who": list(range(count))})
        discreet.open(table, unit="who", epsilon=1, ledger=tmp_path / ledger).close()

    frame("one", 5)
    with silence():
        frame("two", 6)
        discreet.open(pa.table({"who": list(range(5))}), unit="who", epsilon=1).close()
    with pytest.warns(DiscreetWarning, match=SAME):
        frame("three", 5)


def test_what_stands_for_data_is_noted_in_the_ledger_and_never_shown(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(folder / "discreet.toml")
    place = folder / "discreet.ledger"
    with existing_ledger(place) as ledger:
        (first,) = ledger.entries()
    prints = first.about["data"].split()
    assert sorted(json.loads((state() / "ledgers.json").read_text())[str(place)]) == sorted(prints)
    opened(folder / "discreet.toml")
    (folder / "people.csv").write_text("who\n1\n")
    opened(folder / "discreet.toml")
    with existing_ledger(place) as ledger:
        assert [each.kind for each in ledger.entries()] == ["policy", "policy"]
    for command, total in (("show", "ε = 1"), ("export", '"epsilon": "1"')):
        shown = call(capsys, monkeypatch, "ledger", command, str(place))
        assert total in shown.out
        assert not any(each in shown.out for each in prints)


def test_the_command_says_it_on_standard_error(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(folder / "discreet.toml")
    (folder / "discreet.toml").rename(folder / "again.toml")
    sql = "SELECT COUNT(*) AS n FROM people"
    monkeypatch.chdir(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        shown = call(capsys, monkeypatch, "ask", sql, "-e", "1", "-c", "again.toml")
    told = " ".join(shown.err.split())
    assert told.startswith("discreet: Another ledger covers the same data as ")
    assert told.endswith("Use one ledger.")
    assert "Warning" not in told
    assert "same data" not in shown.out


def test_only_its_user_can_read_it(folder: Path) -> None:
    opened(folder / "discreet.toml")
    modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in state().iterdir()}
    assert modes == dict.fromkeys(("key", "ledgers.json", "ledgers.lock"), 0o600)


def test_the_folder_is_that_of_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISCREET_STATE")
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_STATE_HOME", "/somewhere")
    assert state() == Path("/somewhere/discreet")
    for none in ("", "not/absolute"):
        monkeypatch.setenv("XDG_STATE_HOME", none)
        assert state() == Path.home() / ".local" / "state" / "discreet"
    monkeypatch.setattr("sys.platform", "darwin")
    assert state() == Path.home() / "Library" / "Application Support" / "discreet"


def no_folder(folder: Path) -> None:
    folder.rmdir()
    folder.write_text("a file")


def shared(folder: Path) -> None:
    folder.chmod(0o777)


def bad_key(folder: Path) -> None:
    (folder / "key").write_bytes(b"short")


def linked_key(folder: Path) -> None:
    (folder / "key").symlink_to(folder / "nowhere")


def damaged(folder: Path) -> None:
    (folder / "ledgers.json").write_text('{"a": 5, ')


def of_another_form(folder: Path) -> None:
    (folder / "ledgers.json").write_text("[1, 2]")


def binary(folder: Path) -> None:
    (folder / "ledgers.json").write_bytes(bytes(range(256)))


def a_folder_for_a_file(folder: Path) -> None:
    (folder / "ledgers.json").mkdir()


def a_pipe_for_a_file(folder: Path) -> None:
    os.mkfifo(folder / "ledgers.json")


def linked_lock(folder: Path) -> None:
    (folder / "ledgers.lock").symlink_to(folder / "elsewhere")


@pytest.mark.parametrize(
    "break_it",
    [
        *(no_folder, shared, bad_key, linked_key, damaged, of_another_form, binary),
        *(a_folder_for_a_file, a_pipe_for_a_file, linked_lock),
    ],
)
def test_whatever_is_wrong_with_it_data_are_opened_and_the_log_says_so(
    folder: Path, break_it: object, caplog: pytest.LogCaptureFixture
) -> None:
    assert callable(break_it)
    break_it(state())
    with silence(), discreet.open(folder / "discreet.toml") as curator:
        assert curator.ask("SELECT COUNT(*) AS n FROM people", epsilon=1).rows
    assert any(each.name == "discreet.opening" for each in caplog.records)
    assert not (state() / "elsewhere").exists()


def test_a_damaged_registry_is_put_aside_and_begun_anew(folder: Path) -> None:
    damaged(state())
    opened(folder / "discreet.toml")
    assert (state() / "ledgers.damaged").read_text() == '{"a": 5, '
    assert str(folder / "discreet.ledger") in json.loads((state() / "ledgers.json").read_text())


def test_who_holds_the_registry_for_long_is_not_waited_for(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "PATIENCE", 0.05)
    with registry._alone(state() / "ledgers.lock"):
        opened(folder / "discreet.toml")
    assert not (state() / "ledgers.json").exists()


def test_what_several_write_at_once_is_all_there(tmp_path: Path) -> None:
    def note(number: int) -> None:
        registry.register(tmp_path / str(number), frozenset([f"print{number}"]))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(note, range(40)))
    assert len(json.loads((state() / "ledgers.json").read_text())) == 40


def test_only_so_many_states_of_data_are_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "MOST", 3)
    for number in range(5):
        registry.register(tmp_path / "l", frozenset([str(number)]))
    assert json.loads((state() / "ledgers.json").read_text()) == {
        str(tmp_path / "l"): ["2", "3", "4"]
    }


def test_no_test_writes_into_the_home_of_who_runs_it() -> None:
    assert os.environ["DISCREET_STATE"] not in ("", str(Path.home()))
    assert not state().is_relative_to(Path.home() / ".local")
