"""Power that fails (case L8): what was returned is on the disk, whatever becomes of the rest.

What SQLite has synced stays as it is. What was written after that may be there, or not, or in part:
here the log is cut, or garbled, at every place behind the last charge that was returned.
"""

import shutil
from fractions import Fraction
from pathlib import Path

import pytest

from discreet.errors import LedgerError
from discreet.ledger import Receipt, SqliteLedger
from tests.ledger.stores import TENTH, FileStore, connection_of

STEP = 193
"""Every so many bytes the power fails; no multiple of SQLite's frames."""


def left_behind(path: Path, folder: Path, log: bytes) -> Path:
    """Return a copy of the ledger as the disk has it, with this log beside it."""
    shutil.copyfile(path, folder / "after.db")
    (folder / "after.db-wal").write_bytes(log)
    (folder / "after.db-shm").unlink(missing_ok=True)
    return folder / "after.db"


def test_l8_every_commit_is_synced(file: FileStore) -> None:
    """With a log, FULL syncs it before each commit returns; NORMAL would not."""
    with file.open() as ledger:
        connection = connection_of(ledger)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize("garbled", [False, True], ids=["cut", "garbled"])
def test_l8_power_that_fails_during_a_charge_takes_none_that_was_returned(
    file: FileStore, tmp_path: Path, garbled: bool
) -> None:
    with file.open() as ledger:
        ledger.charge("returned", [TENTH])
        synced = Path(f"{file.path}-wal").read_bytes()
        ledger.charge("on its way", [TENTH])
        whole = Path(f"{file.path}-wal").read_bytes()
        assert whole[: len(synced)] == synced
        found = []
        for end in [*range(len(synced), len(whole), STEP), len(whole)]:
            rest = b"\xa5" * (len(whole) - end) if garbled else b""
            after = left_behind(file.path, tmp_path, whole[:end] + rest)
            with SqliteLedger.existing(after) as again:
                again.verify()
                assert isinstance(again.find("returned"), Receipt)
                found.append(again.find("on its way") is not None)
                assert again.remaining().epsilon == Fraction(9 - found[-1], 10)
    assert found == sorted(found)
    assert found[-1]
    assert not found[0]


def test_l8_a_log_that_lost_what_was_synced_would_be_seen(file: FileStore, tmp_path: Path) -> None:
    """The broken twin: a disk that lies about syncing loses charges, which the head then shows."""
    with file.open() as ledger:
        begun = Path(f"{file.path}-wal").read_bytes()
        ledger.charge("returned", [TENTH])
        head = ledger.head()
        after = left_behind(file.path, tmp_path, begun)
    with SqliteLedger.existing(after) as again:
        assert again.find("returned") is None
        with pytest.raises(LedgerError, match="does not contain the entry"):
            again.verify(head)
