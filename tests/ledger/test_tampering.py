"""What an edited ledger shows, and what only a noted head shows."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from discreet.accounting import Budget, PureEvent
from discreet.errors import DiscreetError, LedgerError
from discreet.ledger import SqliteLedger
from discreet.ledger.sqlite_rows import FIELDS
from discreet.ledger.state import BEGINNING, StoredEntry, digest_after
from tests.ledger.stores import TENTH, FileStore
from tests.replay import ReplayableEntropy

Edit = Callable[[sqlite3.Connection], object]


@pytest.fixture
def filled(file: FileStore) -> FileStore:
    """Return a ledger of three questions: two answered, one paid for."""
    with file.open() as ledger:
        for i in range(2):
            ledger.keep(ledger.charge(f"q{i}", [TENTH]), b"a long answer" * 50)
        ledger.charge("q2", [TENTH])
    return file


def flips(count: int) -> list[tuple[float, int]]:
    """Return places, as parts of a file, and the bits to turn there: the same in every run."""
    drawn = ReplayableEntropy("flips").draw(5 * count)
    parts = [drawn[5 * n : 5 * n + 5] for n in range(count)]
    return [(int.from_bytes(each[:4]) / 2**32, 1 << each[4] % 8) for each in parts]


def read_all(path: Path) -> None:
    with SqliteLedger(path, budget=Budget(epsilon=1)) as ledger:
        ledger.find("q0")
        ledger.charges_with_prefix("q", 3)
        ledger.report()
        assert list(ledger.entries())
        ledger.charge("q9", [TENTH])
        ledger.verify()


@pytest.mark.parametrize("count", [400, pytest.param(4_000, marks=pytest.mark.slow)])
def test_whatever_byte_is_damaged_only_our_own_errors_come_out(
    filled: FileStore, tmp_path: Path, count: int
) -> None:
    """Some flips are in pages that nothing uses, and are not seen."""
    whole, damaged = filled.path.read_bytes(), tmp_path / "damaged" / "ledger.db"
    used = [n for n, byte in enumerate(whole) if byte]  # most of a small file is empty
    damaged.parent.mkdir()
    refused = 0
    for place, bit in flips(count):
        changed = bytearray(whole)
        changed[used[int(place * len(used))]] ^= bit
        damaged.write_bytes(changed)
        damaged.chmod(0o600)
        try:
            read_all(damaged)
        except DiscreetError:
            refused += 1
        for each in damaged.parent.iterdir():
            each.unlink()
    assert refused > count * 0.8


@pytest.mark.parametrize("column", ["kind", "question", "account", "events", "about", "written"])
def test_texts_that_are_no_texts_are_refused(filled: FileStore, column: str) -> None:
    broken = statement(f"UPDATE entries SET {column} = CAST(x'ff' AS TEXT) WHERE number = 2")  # noqa: S608 - constants
    edit(filled.path, broken)
    with pytest.raises(LedgerError):
        read_all(filled.path)


def edit(path: Path, act: Edit, *, mend: bool = True) -> None:
    """Change a ledger as one who knows SQLite would: drop the triggers, put them back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        triggers = connection.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        act(connection)
        for _, sql in triggers if mend else ():
            connection.execute(sql)


def statement(text: str, *values: object) -> Edit:
    return lambda connection: connection.execute(text, values)


def swap(connection: sqlite3.Connection) -> None:
    for old, new in ((2, 99), (4, 2), (99, 4)):
        connection.execute("UPDATE entries SET number = ? WHERE number = ?", (new, old))


def rehash(connection: sqlite3.Connection) -> None:
    """Write a chain anew, as one who knows this file's source could."""
    digest = BEGINNING
    for values in connection.execute(f"SELECT {FIELDS} FROM entries ORDER BY number").fetchall():  # noqa: S608 - constant
        digest = digest_after(digest, StoredEntry._make(values))
        connection.execute("UPDATE entries SET digest = ? WHERE number = ?", (digest, values[0]))


CHEAPER = statement("UPDATE entries SET events = replace(events, '1/10', '1/99') WHERE number = 2")

SEEN_ON_OPENING = {
    "events": CHEAPER,
    "account": statement("UPDATE entries SET account = 'mallory' WHERE number = 2"),
    "question": statement("UPDATE entries SET question = 'q9' WHERE number = 2"),
    "time": statement("UPDATE entries SET written = '2001-01-01T00:00:00+00:00' WHERE number = 4"),
    "note": statement("""UPDATE entries SET about = '{"sql":"?"}' WHERE number = 2"""),
    "total": statement("UPDATE entries SET about = replace(about, '\"1\"', '\"9\"')"),
    "kind": statement("UPDATE entries SET kind = 'answer' WHERE number = 6"),
    "digest": statement("UPDATE entries SET digest = zeroblob(32) WHERE number = 6"),
    "type": statement("UPDATE entries SET account = x'00ff' WHERE number = 2"),
    "order": swap,
    "gap": statement("DELETE FROM entries WHERE number = 3"),
    "first": statement("DELETE FROM entries WHERE number = 1"),
    "more": statement(
        "INSERT INTO entries SELECT 7, kind, written, 'q7', account, events, about, digest, answer"
        " FROM entries WHERE number = 6"
    ),
}

SEEN_BY_VERIFY = {
    "answer": statement("UPDATE entries SET answer = x'3432' WHERE number = 3"),
    "no answer": statement("UPDATE entries SET answer = NULL WHERE number = 3"),
    "answer to nothing": statement("UPDATE entries SET answer = x'3432' WHERE number = 6"),
}


@pytest.mark.parametrize("act", SEEN_ON_OPENING.values(), ids=SEEN_ON_OPENING)
def test_an_edited_entry_keeps_the_ledger_from_opening(filled: FileStore, act: Edit) -> None:
    edit(filled.path, act)
    with pytest.raises(LedgerError, match="has been changed since it was written"):
        filled.open()


def test_a_refused_ledger_holds_no_lock_however_long_its_refusal_is_kept(
    filled: FileStore,
) -> None:
    edit(filled.path, CHEAPER)
    with pytest.raises(LedgerError) as refusal:
        filled.open()
    with closing(sqlite3.connect(filled.path, timeout=0, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
    assert refusal.value.__traceback__ is not None


@pytest.mark.parametrize("act", SEEN_BY_VERIFY.values(), ids=SEEN_BY_VERIFY)
def test_an_edited_answer_is_seen_by_verify(filled: FileStore, act: Edit) -> None:
    edit(filled.path, act)
    with (
        filled.open() as ledger,
        pytest.raises(LedgerError, match="has been changed since it was written"),
    ):
        ledger.verify()


def test_an_edited_answer_is_not_handed_out(filled: FileStore) -> None:
    edit(filled.path, SEEN_BY_VERIFY["answer"])
    with (
        filled.open() as ledger,
        pytest.raises(LedgerError, match="has been changed since it was written"),
    ):
        ledger.find("q0")


@pytest.mark.parametrize("act", SEEN_ON_OPENING.values(), ids=SEEN_ON_OPENING)
def test_an_edit_under_an_open_ledger_is_seen_by_verify_and_ends_its_use(
    filled: FileStore, act: Edit
) -> None:
    with filled.open() as ledger:
        edit(filled.path, act)
        with pytest.raises(LedgerError, match="has been changed since it was written"):
            ledger.verify()
        with pytest.raises(LedgerError):
            ledger.charge("q3", [TENTH])


@pytest.mark.parametrize(
    "text",
    [
        "UPDATE entries SET account = 'mallory'",
        "DELETE FROM entries",
        "INSERT OR REPLACE INTO entries SELECT * FROM entries WHERE number = 2",
        "INSERT OR REPLACE INTO entries SELECT 7, kind, written, question, account, events, about,"
        " digest, answer FROM entries WHERE number = 2",
        "INSERT OR REPLACE INTO entries SELECT 7, kind, written, question, account, events, about,"
        " digest, answer FROM entries WHERE number = 3",
        "INSERT INTO entries SELECT 9, kind, written, 'q9', account, events, about, digest, answer"
        " FROM entries WHERE number = 2",
    ],
)
def test_the_file_itself_refuses_edits(filled: FileStore, text: str) -> None:
    with (
        closing(sqlite3.connect(filled.path)) as connection,
        pytest.raises(sqlite3.IntegrityError, match="a ledger is not edited"),
    ):
        connection.execute(text)
    with filled.open() as ledger:
        ledger.verify()


def test_a_ledger_without_its_triggers_is_not_opened(filled: FileStore) -> None:
    edit(filled.path, lambda _: None, mend=False)
    with pytest.raises(LedgerError, match="has been changed since it was written"):
        filled.open()


def test_no_byte_of_the_file_can_change_what_is_charged_or_answered_unseen(
    filled: FileStore,
) -> None:
    """A flipped byte is seen, or it lies where nothing is stored and nothing changes."""
    whole = filled.path.read_bytes()
    with filled.open() as ledger:
        entries, charged = list(ledger.entries()), ledger.charged()
    seen = 0
    for place in range(100, len(whole), 97):
        damaged = bytearray(whole)
        damaged[place] ^= 0x55
        filled.path.write_bytes(damaged)
        try:
            with SqliteLedger.existing(filled.path) as ledger:
                ledger.verify()
                assert (list(ledger.entries()), ledger.charged()) == (entries, charged)
        except LedgerError:
            seen += 1
    assert seen > 10


def harmed_pages(whole: bytes) -> Iterator[bytes]:
    """Yield the file cut short after each page and inside of it, and with each page zeroed."""
    size = int.from_bytes(whole[16:18], "big")
    for start in range(0, len(whole), size):
        yield whole[:start]
        yield whole[: start + size // 2]
        yield whole[:start] + bytes(size) + whole[start + size :]


def test_a_file_that_lost_a_page_or_its_end_is_refused_and_charges_nothing(
    filled: FileStore,
) -> None:
    whole = filled.path.read_bytes()
    harms = 0
    for damaged in harmed_pages(whole):
        filled.path.write_bytes(damaged)

        def used() -> None:
            with SqliteLedger.existing(filled.path) as ledger:
                ledger.verify()
                ledger.charge("more", [TENTH])

        with pytest.raises(LedgerError):
            used()
        harms += 1
    assert harms >= 9
    filled.path.write_bytes(whole)
    with filled.open() as ledger:
        ledger.verify()
        assert ledger.find("more") is None


def test_a_dropped_tail_is_seen_by_who_has_it_open(filled: FileStore) -> None:
    with filled.open() as ledger:
        edit(filled.path, statement("DELETE FROM entries WHERE number = 6"))
        with pytest.raises(LedgerError, match="has been changed since it was written"):
            ledger.charge("q3", [TENTH])


def test_a_dropped_tail_is_seen_by_who_noted_the_head(filled: FileStore) -> None:
    with filled.open() as ledger:
        head = ledger.head()
    edit(filled.path, statement("DELETE FROM entries WHERE number = 6"))
    with filled.open() as ledger:
        ledger.verify()  # the chain alone cannot tell
        with pytest.raises(LedgerError, match="does not contain the entry with this digest"):
            ledger.verify(head)


def test_a_chain_that_was_written_anew_is_seen_by_who_noted_the_head(filled: FileStore) -> None:
    with filled.open() as ledger:
        head = ledger.head()

    def forge(connection: sqlite3.Connection) -> None:
        CHEAPER(connection)
        rehash(connection)

    edit(filled.path, forge)
    with filled.open() as ledger:
        ledger.verify()  # the chain alone cannot tell
        with pytest.raises(LedgerError, match="does not contain the entry with this digest"):
            ledger.verify(head)


def test_an_old_head_stays_good_while_the_ledger_grows(filled: FileStore) -> None:
    with filled.open() as ledger:
        heads = [entry.digest for entry in ledger.entries()]
        ledger.charge("q3", [TENTH])
        for head in heads:
            ledger.verify(head)


@pytest.mark.parametrize(
    "act",
    [
        statement("UPDATE entries SET events = replace(events, 'pure/1', 'pure/9')"),
        statement("UPDATE entries SET kind = 'refund' WHERE number = 6"),
        statement("""UPDATE entries SET about = '{"scope":"[]"}' WHERE number = 6"""),
        statement("""UPDATE entries SET about = '{"scope":"all"}' WHERE number = 6"""),
        statement("""UPDATE entries SET about = '{"scope":5}' WHERE number = 6"""),
        statement("UPDATE entries SET about = replace(about, 'basic', 'newer') WHERE number = 1"),
        statement("UPDATE entries SET kind = 'charge', question = 'p' WHERE number = 1"),
    ],
)
def test_entries_of_a_later_version_are_refused_by_name(filled: FileStore, act: Edit) -> None:
    def write(connection: sqlite3.Connection) -> None:
        act(connection)
        rehash(connection)

    edit(filled.path, write)
    with pytest.raises(LedgerError, match="an entry that this version does not know"):
        filled.open()


def test_what_is_charged_is_computed_from_events_that_have_one_price(filled: FileStore) -> None:
    with filled.open(Budget(epsilon=5)) as ledger:
        priced = sum(
            event.epsilon
            for entry in ledger.entries()
            for event in entry.events
            if isinstance(event, PureEvent)
        )
        assert ledger.charged().epsilon == priced


def test_the_digest_of_an_answer_is_its_sha256(filled: FileStore) -> None:
    with filled.open() as ledger:
        answer = next(entry for entry in ledger.entries() if entry.kind == "answer")
    assert answer.about == {"sha256": sha256(b"a long answer" * 50).hexdigest()}
