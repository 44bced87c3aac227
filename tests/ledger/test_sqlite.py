"""Files that are missing, foreign, full, lost or taken away: nothing is answered without a book."""

import os
import resource
import shutil
import sqlite3
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from discreet.accounting import Budget, DiscreteLaplaceEvent
from discreet.errors import (
    AccountError,
    DiscreetError,
    DiscreetWarning,
    LedgerError,
    ParameterError,
)
from discreet.ledger import Receipt, SavedAnswer, SqliteLedger
from discreet.ledger.sqlite import SqliteStorage
from discreet.ledger.state import NewEntry
from tests.ledger.stores import ONE, TENTH, FileStore, child, connection_of, end_of


def test_a_ledger_is_for_its_owner_only_and_leaves_nothing_else_behind(file: FileStore) -> None:
    file.open().close()
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600
    assert list(file.path.parent.iterdir()) == [file.path]


def test_a_path_may_have_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a?mode=memory", "ε#1", "100%41 sure", ":memory:x"):
        with SqliteLedger(name, budget=ONE) as ledger:
            ledger.charge("q", [TENTH])
        with SqliteLedger.existing(tmp_path / name) as ledger:
            assert isinstance(ledger.find("q"), Receipt)
    assert len(list(tmp_path.iterdir())) == 4


def test_a_ledger_stays_the_same_when_the_process_goes_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with SqliteLedger("ledger.db", budget=ONE) as ledger:
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        ledger.verify()
        ledger.charge("q", [TENTH])
    assert not list((tmp_path / "elsewhere").iterdir())


def not_a_database(path: Path) -> None:
    path.write_text("name,age\n" * 1000)


def another_database(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE people (name, age)")


def from_the_future(path: Path) -> None:
    SqliteLedger(path, budget=ONE).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 2")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (not_a_database, "is not a ledger"),
        (another_database, "is not a ledger"),
        (Path.touch, "is not a ledger"),
        (Path.mkdir, "does not exist or cannot be created"),
        (from_the_future, "written by a newer version"),
    ],
)
def test_what_is_no_ledger_of_ours_is_refused_and_left_as_it_is(
    file: FileStore, make: Callable[[Path], None], words: str
) -> None:
    make(file.path)
    before = file.path.read_bytes() if file.path.is_file() else b""
    with pytest.raises(LedgerError, match=words):
        file.open()
    with pytest.raises(LedgerError, match=words):
        SqliteLedger.existing(file.path)
    assert (file.path.read_bytes() if file.path.is_file() else b"") == before
    assert list(file.path.parent.iterdir()) == [file.path]


def test_a_ledger_that_lost_its_first_entry_is_refused(file: FileStore) -> None:
    """Until a ledger is closed its entries are in SQLite's log: without it the file has none."""
    with file.open() as ledger:
        ledger.charge("q", [TENTH])
        copy = FileStore(file.path.parent / "copy")
        copy.path.parent.mkdir()
        shutil.copy(file.path, copy.path)
    for opened in (copy.open, copy.existing):
        with pytest.raises(
            LedgerError, match=r"lost its first entry.*a copy that passes discreet ledger verify"
        ):
            opened()


def test_a_process_that_ends_while_it_makes_a_ledger_leaves_one_that_can_be_begun(
    file: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    class EndError(Exception):
        pass

    def end(*_: object, **__: object) -> None:
        raise EndError

    with monkeypatch.context() as patch:
        patch.setattr("discreet.ledger.storage.Turn.declare", end)
        with pytest.raises(EndError):
            file.open()
    with file.open() as ledger:
        ledger.charge("q", [TENTH])
    assert list(file.path.parent.iterdir()) == [file.path]


def test_a_link_where_a_new_ledger_is_marked_is_not_followed(file: FileStore) -> None:
    target = file.path.with_name("target")
    file.path.with_name(f"{file.path.name}-new").symlink_to(target)
    with pytest.raises(LedgerError, match="cannot be created"):
        file.open()
    assert not target.exists()


@pytest.mark.parametrize("path", ["a\0b", "", None, 5, b"bytes"])
def test_what_is_no_path_is_refused_in_one_sentence(path: Any) -> None:
    with pytest.raises(ParameterError, match="path must be the path of a file"):
        SqliteLedger(path, budget=ONE)
    with pytest.raises(ParameterError, match="path must be the path of a file"):
        SqliteLedger.existing(path)


@pytest.mark.parametrize("mode", [0o666, 0o660, 0o622])
def test_a_ledger_that_others_may_write_is_opened_with_a_warning(
    file: FileStore, mode: int
) -> None:
    file.open().close()
    file.path.chmod(mode)
    for opened in (file.open, file.existing):
        with pytest.warns(
            DiscreetWarning, match=r"Other users may write to the ledger .*chmod go-w"
        ):
            opened().close()
    file.path.chmod(0o640)
    file.open().close()


def test_a_missing_folder_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="Check that its folder exists"):
        SqliteLedger(tmp_path / "missing" / "ledger.db", budget=ONE)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("path", ["nowhere.db", ":memory:"])
def test_an_existing_ledger_must_exist(tmp_path: Path, path: str) -> None:
    with pytest.raises(LedgerError, match="does not exist"):
        SqliteLedger.existing(path if path == ":memory:" else tmp_path / path)


def test_an_existing_ledger_is_opened_under_the_total_it_records(file: FileStore) -> None:
    file.open(Budget(epsilon=2, delta=1e-6), neighbours="replace").close()
    with SqliteLedger.existing(file.path) as ledger:
        assert ledger.remaining().epsilon == 2
        assert len(list(ledger.entries())) == 1


def as_nobody(act: Callable[[], None]) -> int:
    """Return how act ends in a process without privileges, for which permissions count."""

    def run() -> None:
        if os.geteuid() == 0:
            os.seteuid(65534)
        act()

    return end_of(child(run))


def test_a_ledger_that_cannot_be_written_is_refused() -> None:
    with tempfile.TemporaryDirectory() as name:
        file, other = FileStore(Path(name)), FileStore(Path(name) / "other")
        file.open().close()

        def refused() -> None:
            with pytest.raises(LedgerError, match=r"permissions|may write to it"):
                file.open()
            with pytest.raises(LedgerError, match="may write to it"):
                other.open()

        file.path.chmod(0o444)
        Path(name).chmod(0o555)
        other.path.parent.mkdir(mode=0o555)
        assert as_nobody(refused) == 0
        other.path.parent.chmod(0o777)
        assert as_nobody(lambda: other.open().close()) == 0
        Path(name).chmod(0o755)


# --------------------------------------------------------------------------- lost while open


def deleted(path: Path) -> None:
    path.unlink()


def moved(path: Path) -> None:
    path.rename(path.with_name("moved.db"))


def replaced(path: Path) -> None:
    fresh = path.with_name("fresh.db")
    SqliteLedger(fresh, budget=ONE).close()
    fresh.replace(path)


def cut_short(path: Path) -> None:
    os.truncate(path, 4096)


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def without_its_log(path: Path) -> None:
    Path(f"{path}-wal").unlink()


def with_another_log(path: Path) -> None:
    without_its_log(path)
    Path(f"{path}-wal").touch()


def without_its_locks(path: Path) -> None:
    Path(f"{path}-shm").unlink()


@pytest.mark.parametrize(
    "harm",
    [
        deleted,
        moved,
        replaced,
        cut_short,
        emptied,
        without_its_log,
        with_another_log,
        without_its_locks,
    ],
)
def test_a_ledger_that_is_lost_while_it_is_open_answers_nothing_more(
    file: FileStore, harm: Callable[[Path], None]
) -> None:
    with file.open() as ledger:
        receipt = ledger.charge("q", [TENTH])
        harm(file.path)
        with pytest.raises(LedgerError, match="moved, replaced or truncated"):
            ledger.keep(receipt, b"42")
        with pytest.raises(LedgerError, match="moved, replaced or truncated"):
            ledger.charge("p", [TENTH])
        with pytest.raises(LedgerError, match="moved, replaced or truncated"):
            ledger.find("q")


def test_a_ledger_that_is_lost_during_the_commit_answers_nothing(
    file: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite reports success: it has written to a file that nobody will find."""
    checks = iter([None, deleted])
    check = SqliteStorage._check_files

    def harmed(storage: SqliteStorage) -> None:
        harm = next(checks)
        if harm is not None:
            harm(file.path)
        check(storage)

    with file.open() as ledger:
        monkeypatch.setattr(SqliteStorage, "_check_files", harmed)
        with pytest.raises(LedgerError, match="moved, replaced or truncated"):
            ledger.charge("q", [TENTH])


def test_an_older_copy_put_back_while_it_is_open_is_not_gone_on_with(file: FileStore) -> None:
    file.open().close()
    copy = file.path.with_name("copy.db")
    shutil.copy(file.path, copy)
    with file.open() as ledger:
        ledger.charge("q", [TENTH])
        ledger._storage.rest()
        shutil.copyfile(copy, file.path)
        with pytest.raises(LedgerError):
            ledger.charge("p", [TENTH])


# --------------------------------------------------------------------------- failing disks


class FailingConnection:
    """A connection on which one kind of statement fails as a disk fails."""

    def __init__(self, connection: sqlite3.Connection, failing: str) -> None:
        self.connection, self.failing = connection, failing

    def execute(self, text: str, *values: object) -> sqlite3.Cursor:
        if text.startswith(self.failing):
            raise sqlite3.OperationalError("disk I/O error in /secret/place")
        return self.connection.execute(text, *values)  # type: ignore[arg-type]

    def __getattr__(self, name: str) -> object:
        return getattr(self.connection, name)


@pytest.mark.parametrize("failing", ["BEGIN", "SELECT number", "INSERT", "COMMIT"])
def test_after_a_failure_everything_is_refused_in_fixed_words(
    file: FileStore, failing: str
) -> None:
    ledger = file.open()
    receipt = ledger.charge("q", [TENTH])
    storage: Any = ledger._storage
    storage._connection = FailingConnection(connection_of(ledger), failing)
    with pytest.raises(LedgerError) as refusal:
        ledger.charge("p", [TENTH])
    words = "The ledger could not be read or written, so Discreet will not answer queries. "
    assert str(refusal.value) == words + "Check the disk and open the ledger again."
    for act in (
        lambda: ledger.keep(receipt, b"42"),
        lambda: ledger.find("q"),
        ledger.remaining,
        ledger.charged,
        ledger.head,
        ledger.verify,
        lambda: list(ledger.entries()),
    ):
        with pytest.raises(LedgerError, match="could not be read or written"):
            act()
    with file.open() as again:
        assert again.find("p") is None
        assert again.remaining().epsilon == Fraction(9, 10)


def test_a_refusal_is_no_failure(file: FileStore) -> None:
    with file.open() as ledger:
        for _ in range(3):
            with pytest.raises(DiscreetError):
                ledger.charge("q", [TENTH] * 11)
        ledger.charge("q", [TENTH] * 10)


def test_a_full_disk_ends_the_answers_and_nothing_that_was_told_is_lost(file: FileStore) -> None:
    file.open(Budget(epsilon=10**6)).close()

    def fill() -> None:
        with file.open(Budget(epsilon=10**6)) as ledger:
            resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY))
            kept = []

            def answer_all() -> None:
                for i in range(1000):
                    answer = ledger.keep(ledger.charge(f"q{i}", [TENTH]), b"x" * 5000)
                    kept.append(len(answer))

            with pytest.raises(LedgerError, match="could not be read or written"):
                answer_all()
            with pytest.raises(LedgerError):
                ledger.find("q0")
        (file.path.parent / "kept").write_text(str(len(kept)))

    assert end_of(child(fill)) == 0
    kept = int((file.path.parent / "kept").read_text())
    assert kept > 10
    with file.open(Budget(epsilon=10**6)) as ledger:
        ledger.verify()
        answers = sum(entry.kind == "answer" for entry in ledger.entries())
        assert kept <= answers <= kept + 1


# --------------------------------------------------------------------------- copies, size, speed


def test_a_copy_made_while_it_is_open_is_a_whole_beginning(file: FileStore) -> None:
    with file.open() as ledger:
        ledger.charge("q0", [TENTH])
        copy = file.path.with_name("copy.db")
        with (
            closing(sqlite3.connect(file.path)) as source,
            closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
        head = ledger.head()
        ledger.charge("q1", [TENTH])
    with SqliteLedger.existing(copy) as ledger:
        ledger.verify(head)
        assert ledger.remaining().epsilon == Fraction(9, 10)


def test_entries_are_listed_in_order_while_others_write(
    file: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.ledger.stored.BATCH", 3)
    with file.open() as ledger, file.open() as other:
        for i in range(6):
            ledger.charge(f"q{i}", [TENTH])
        listed = ledger.entries()
        next(listed)
        other.charge("later", [TENTH])
        assert [entry.number for entry in listed] == list(range(2, 9))


def test_a_ledger_of_the_first_version_opens_for_ever(file: FileStore) -> None:
    """Written when accounts were not declared yet; what they were charged counts once they are."""
    written = Path(__file__).parent.parent / "golden" / "ledger_1.sql"
    with closing(sqlite3.connect(file.path)) as connection:
        connection.executescript(written.read_text(encoding="utf-8"))
    with file.existing() as ledger:
        ledger.verify("65c22bbd6649803004bed252476a2f6a3a20cb16e39398f70d0d4e177b5fc2cd")
        assert ledger.charged().rho == Fraction(331, 4000)
        assert ledger.charged().delta == Fraction(1, 10**8)
        assert isinstance(found := ledger.find("count"), SavedAnswer)
        assert found.answer == b"12418"
        with pytest.raises(AccountError):
            ledger.charge("more", [TENTH], account="eve")
        ledger.declare_analyst("eve", epsilon=Fraction(1, 2))
        assert ledger.remaining("eve").epsilon == Fraction(1, 4)


@pytest.mark.slow
def test_a_ledger_of_100_000_entries_opens_in_two_seconds_and_charges_in_milliseconds(
    file: FileStore,
) -> None:
    total = Budget(epsilon=10**6, delta=1e-6)
    with file.open(total) as ledger, ledger._turn("write") as turn:
        for i in range(100_000):
            event = DiscreteLaplaceEvent(sensitivity=1, scale=Fraction(1000 + i % 500, 7))
            turn.append(NewEntry(kind="charge", question=f"{i:064x}", events=(event,), about={}))
    start = time.process_time()
    with file.open(total) as ledger:
        opened = time.process_time() - start
        start = time.process_time()
        for i in range(100):
            ledger.keep(ledger.charge(f"q{i}", [TENTH]), b"x" * 1000)
        answered = (time.process_time() - start) / 100
    assert opened < 2
    assert answered < 0.02
