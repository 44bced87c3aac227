"""What only a server can do to a ledger: cut it off, crash, deny, be edited by its admin."""

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import psycopg
import pytest

from discreet.accounting import Budget
from discreet.errors import LedgerError, MissingExtraError, ParameterError
from discreet.ledger import (
    PostgresLedger,
    Receipt,
    SavedAnswer,
    SqliteLedger,
    existing_ledger,
    is_on_server,
    open_ledger,
)
from discreet.ledger.postgres import parted
from discreet.ledger.state import NewEntry
from discreet.ledger.stored import StoredLedger
from tests.ledger.stores import ONE, TENTH, PostgresStore, connection_of
from tests.postgresql import server_in


@pytest.fixture
def admin(server: PostgresStore) -> Iterator[psycopg.Connection]:
    with closing(psycopg.connect(server.server, autocommit=True)) as connection:
        yield connection


def backend(ledger: StoredLedger) -> int:
    """Return the number of the server's process that serves this ledger."""
    number: int = connection_of(ledger).info.backend_pid
    return number


def filled(server: PostgresStore) -> PostgresLedger:
    """Return a ledger of one answered question and one that was paid for."""
    ledger = server.open()
    ledger.keep(ledger.charge("q0", [TENTH]), b"42")
    ledger.charge("q1", [TENTH])
    return ledger


# --------------------------------------------------------------------------- connections


def cut(admin: psycopg.Connection, ledger: StoredLedger) -> None:
    admin.execute("SELECT pg_terminate_backend(%s, 10000)", (backend(ledger),))


def test_a_connection_that_was_cut_while_idle_is_made_anew(
    server: PostgresStore, admin: psycopg.Connection
) -> None:
    with server.open() as ledger:
        cut(admin, ledger)
        assert ledger.charge("q", [TENTH]).number == 2
        cut(admin, ledger)
        assert isinstance(ledger.find("q"), Receipt)
        ledger.verify()


class CutConnection:
    """A connection that is cut before or after the server runs a statement."""

    def __init__(
        self, connection: Any, admin: psycopg.Connection, statement: str, *, runs: bool
    ) -> None:
        self.connection, self.admin = connection, admin
        self.statement, self.runs = statement, runs

    def execute(self, query: Any, *given: Any) -> Any:
        text = query.decode() if isinstance(query, bytes) else query
        if not text.startswith(self.statement):
            return self.connection.execute(query, *given)
        if self.runs:
            self.connection.execute(query, *given)
        number = self.connection.info.backend_pid
        self.admin.execute("SELECT pg_terminate_backend(%s, 10000)", (number,))
        if self.runs:
            raise psycopg.OperationalError("the connection was lost")
        return self.connection.execute(query, *given)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.connection, name)


def cut_at(
    ledger: StoredLedger, admin: psycopg.Connection, statement: str, *, runs: bool = False
) -> None:
    storage: Any = ledger._storage
    storage._connection = CutConnection(connection_of(ledger), admin, statement, runs=runs)


@pytest.mark.parametrize("statement", ["SELECT number", "INSERT", "COMMIT"])
def test_a_charge_whose_backend_dies_is_not_made_and_can_be_made_again(
    server: PostgresStore, admin: psycopg.Connection, statement: str
) -> None:
    with server.open() as ledger:
        cut_at(ledger, admin, statement)
        with pytest.raises(LedgerError, match="server failed while it was read or written"):
            ledger.charge("q", [TENTH])
        assert ledger.find("q") is None
        assert not ledger.charge("q", [TENTH]).already_paid
        assert ledger.remaining().epsilon == Fraction(9, 10)
        ledger.verify()


def test_a_charge_that_was_committed_unheard_is_found_and_not_made_twice(
    server: PostgresStore, admin: psycopg.Connection
) -> None:
    with server.open() as ledger:
        cut_at(ledger, admin, "COMMIT", runs=True)
        with pytest.raises(LedgerError, match="A charge is not made twice"):
            ledger.charge("q", [TENTH])
        assert ledger.charge("q", [TENTH]).already_paid
        assert ledger.remaining().epsilon == Fraction(9, 10)
        ledger.verify()


def test_an_answer_that_was_kept_unheard_is_the_answer(
    server: PostgresStore, admin: psycopg.Connection
) -> None:
    with server.open() as ledger:
        receipt = ledger.charge("q", [TENTH])
        cut_at(ledger, admin, "COMMIT", runs=True)
        with pytest.raises(LedgerError):
            ledger.keep(receipt, b"first")
        assert ledger.keep(receipt, b"second") == b"first"


def test_a_commit_that_rolled_back_is_not_taken_for_one(server: PostgresStore) -> None:
    with server.open() as ledger:
        with (
            pytest.raises(LedgerError, match="server failed"),
            ledger._storage.transaction("write"),
            suppress(psycopg.Error),
        ):
            connection_of_open(ledger).execute("SELECT 1 / 0")  # COMMIT will answer ROLLBACK
        assert ledger.charge("q", [TENTH]).number == 2


def connection_of_open(ledger: StoredLedger) -> Any:
    storage: Any = ledger._storage
    return storage._connection


def test_a_writer_that_is_slow_is_waited_for_and_then_named(
    server: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server.open() as ledger, server.open() as other:
        with other._storage.transaction("write"):
            monkeypatch.setattr("discreet.ledger.postgres.PATIENCE", 0.1)
            with pytest.raises(LedgerError, match="Another process locked the ledger for too long"):
                ledger.charge("q", [TENTH])
            assert ledger.remaining().epsilon == 1
        assert not ledger.charge("q", [TENTH]).already_paid


def test_a_writer_that_stops_loses_its_turn_and_writes_nothing(
    server: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server.open() as ledger, server.open() as stopped:
        monkeypatch.setattr("discreet.ledger.postgres.PATIENCE", 0.1)
        with (  # noqa: PT012 - one turn
            pytest.raises(LedgerError, match="server failed"),
            stopped._turn("write") as turn,
        ):
            monkeypatch.undo()
            write_both(ledger, turn)
        assert ledger.remaining().epsilon == Fraction(2, 10)
        assert isinstance(stopped.find("other"), Receipt)
        assert stopped.find("mine") is None


def test_of_two_that_write_without_the_lock_one_is_refused(
    server: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock is for patience only: the key of the table alone keeps the balance right."""
    monkeypatch.setattr("discreet.ledger.postgres.LOCK", "SELECT 1")
    with server.open() as ledger, server.open() as other:
        with (
            pytest.raises(LedgerError, match="server failed"),
            ledger._turn("write") as turn,
        ):
            write_both(other, turn)
        assert ledger.remaining().epsilon == Fraction(2, 10)
        ledger.verify()


def write_both(other: StoredLedger, turn: Any) -> None:
    events = (TENTH * 8,)
    other.charge("other", events)
    line = NewEntry(kind="charge", question="mine", account="owner", events=events, about={})
    turn.state.check_affordable("owner", [line])
    turn.append(line)


def test_a_server_that_is_not_there_is_named_and_nothing_of_its_address(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="server cannot be reached") as refusal:
        PostgresLedger(f"postgresql://me:secret@/books?host={tmp_path}", budget=ONE)
    assert "secret" not in str(refusal.value)
    assert str(tmp_path) not in str(refusal.value)


@pytest.mark.slow
def test_a_server_that_crashes_comes_back_with_all_that_was_returned() -> None:
    """One backend is killed outright: the server ends all of them and recovers from its log."""
    folder = Path(tempfile.mkdtemp(prefix="discreet-postgres-crash-"))
    address = server_in(folder)
    with PostgresLedger(address, budget=Budget(epsilon=100)) as ledger:
        for i in range(20):
            ledger.keep(ledger.charge(f"q{i}", [TENTH]), b"42")
            if i % 5 == 0:
                os.kill(backend(ledger), signal.SIGKILL)
                while not answers(ledger):
                    pass
            assert isinstance(ledger.find(f"q{i}"), SavedAnswer)
        ledger.verify()
        assert ledger.charged().epsilon == 2


def answers(ledger: PostgresLedger) -> bool:
    try:
        ledger.remaining()
    except LedgerError:
        return False
    return True


# --------------------------------------------------------------------------- edits and rights


@pytest.mark.parametrize(
    "text",
    [
        "UPDATE {}.entries SET account = 'mallory'",
        "DELETE FROM {}.entries",
        "TRUNCATE {}.entries",
        "INSERT INTO {}.entries SELECT 9, kind, written, 'q9', account, events, about, digest,"
        " answer FROM {}.entries WHERE number = 2",
        "SET session_replication_role = replica; DELETE FROM {}.entries",
    ],
)
def test_the_server_itself_refuses_edits_even_to_its_admin(
    server: PostgresStore, admin: psycopg.Connection, text: str
) -> None:
    with filled(server) as ledger:
        with pytest.raises(psycopg.errors.RaiseException, match="a ledger is not edited"):
            admin.execute(text.replace("{}", server.schema).encode())
        ledger.verify()


EDITS = {
    "events": "UPDATE {}.entries SET events = replace(events, '1/10', '1/99') WHERE number = 2",
    "account": "UPDATE {}.entries SET account = 'mallory' WHERE number = 2",
    "name": "UPDATE {}.entries SET account = '\\xff' WHERE number = 2",
    "gap": "DELETE FROM {}.entries WHERE number = 3",
    "total": """UPDATE {}.entries SET about = replace(about, '"1"', '"9"') WHERE number = 1""",
}

SCHEMES = {
    "triggers": "DROP TRIGGER no_edit ON {}.entries",
    "trigger off": "ALTER TABLE {}.entries DISABLE TRIGGER no_truncate",
    "trigger body": "CREATE OR REPLACE FUNCTION {}.refuse_edit() RETURNS trigger LANGUAGE plpgsql"
    " AS $$BEGIN RETURN new; END$$",
    "more triggers": "CREATE TRIGGER more AFTER INSERT ON {}.entries"
    " FOR EACH ROW EXECUTE FUNCTION {}.refuse_gap()",
    "index": "DROP INDEX {}.paid_once",
    "unlogged": "ALTER TABLE {}.entries SET UNLOGGED",
    "hidden rows": "ALTER TABLE {}.entries ENABLE ROW LEVEL SECURITY",
    "heirs": "CREATE TABLE {}.more () INHERITS ({}.entries)",
    "columns": "ALTER TABLE {}.entries ADD COLUMN more text",
}


def edit(admin: psycopg.Connection, server: PostgresStore, text: str) -> None:
    """Change a ledger as one who may do anything would: disable the triggers, put them back."""
    names = ("no_edit", "no_gap", "no_truncate")
    for statement in (
        "ALTER TABLE {}.entries DISABLE TRIGGER ALL",
        text,
        *(f"ALTER TABLE {{}}.entries ENABLE ALWAYS TRIGGER {name}" for name in names),
    ):
        admin.execute(statement.replace("{}", server.schema).encode())


@pytest.mark.parametrize("text", EDITS.values(), ids=EDITS)
def test_an_edited_entry_keeps_the_ledger_from_opening(
    server: PostgresStore, admin: psycopg.Connection, text: str
) -> None:
    with filled(server) as ledger:
        edit(admin, server, text)
        with pytest.raises(LedgerError, match="has been changed since it was written"):
            server.open()
        with pytest.raises(LedgerError, match="has been changed since it was written"):
            ledger.verify()
        with pytest.raises(LedgerError, match="has been changed since it was written"):
            ledger.remaining()


@pytest.mark.parametrize("text", SCHEMES.values(), ids=SCHEMES)
def test_a_table_that_is_not_as_it_was_made_keeps_the_ledger_from_opening(
    server: PostgresStore, admin: psycopg.Connection, text: str
) -> None:
    filled(server).close()
    admin.execute(text.replace("{}", server.schema).encode())
    with pytest.raises(LedgerError, match="has been changed since it was written"):
        server.open()


@pytest.mark.parametrize(
    ("comment", "words"),
    [("discreet ledger 2", "newer version"), ("something else", "not a ledger")],
)
def test_a_table_of_somebody_else_is_refused(
    server: PostgresStore, admin: psycopg.Connection, comment: str, words: str
) -> None:
    filled(server).close()
    admin.execute(f"COMMENT ON TABLE {server.schema}.entries IS '{comment}'".encode())
    with pytest.raises(LedgerError, match=words):
        server.open()


def test_a_dropped_tail_is_seen_by_who_has_it_open_and_by_who_noted_the_head(
    server: PostgresStore, admin: psycopg.Connection
) -> None:
    with filled(server) as ledger, server.open() as other:
        head = ledger.head()
        edit(admin, server, "DELETE FROM {}.entries WHERE number = 4")
        with pytest.raises(LedgerError, match="has been changed since it was written"):
            other.charge("q2", [TENTH])
        with server.open() as again, pytest.raises(LedgerError, match="does not contain the entry"):
            again.verify(head)


def as_role(server: PostgresStore, admin: psycopg.Connection) -> str:
    """Return the address of the server for a new role that may read and add entries, no more."""
    role = f"role_{server.schema}"
    for statement in (
        f"CREATE ROLE {role} LOGIN",
        f"GRANT USAGE ON SCHEMA {server.schema} TO {role}",
        f"GRANT SELECT, INSERT ON {server.schema}.entries TO {role}",
    ):
        admin.execute(statement.encode())
    return server.address.replace("//postgres:@", f"//{role}@")


def test_a_role_that_may_only_read_and_add_is_all_that_it_takes(
    server: PostgresStore, admin: psycopg.Connection
) -> None:
    filled(server).close()
    address = as_role(server, admin)
    with PostgresLedger(address, budget=ONE) as ledger:
        ledger.keep(ledger.charge("q2", [TENTH]), b"42")
        ledger.verify()
        connection = connection_of(ledger)
        for statement in ("DELETE FROM", "TRUNCATE", "DROP TABLE"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"{statement} {server.schema}.entries".encode())


def test_all_who_may_read_the_key_have_the_same_one(
    server: PostgresStore, admin: psycopg.Connection
) -> None:
    filled(server).close()
    address = as_role(server, admin)
    with server.open() as ledger, PostgresLedger(address, budget=ONE) as asking:
        assert asking.keyed("data") is None
        admin.execute(f"GRANT SELECT ON {server.schema}.secret TO role_{server.schema}".encode())
        assert asking.keyed("data") == ledger.keyed("data") != ledger.keyed("other data")


def test_a_ledger_of_an_older_version_is_given_a_key(
    server: PostgresStore, admin: psycopg.Connection
) -> None:
    filled(server).close()
    admin.execute(f"DROP TABLE {server.schema}.secret".encode())
    with server.open() as ledger, server.open() as other:
        assert ledger.keyed("data") == other.keyed("data") is not None
        ledger.verify()


def test_a_table_that_lost_its_entries_is_refused(
    server: PostgresStore, admin: psycopg.Connection
) -> None:
    """As a restore of the schema alone leaves it."""
    filled(server).close()
    edit(admin, server, "DELETE FROM {}.entries")
    for opened in (server.open, server.existing):
        with pytest.raises(LedgerError, match="lost its first entry"):
            opened()


def test_a_role_without_rights_is_denied_in_fixed_words(
    server: PostgresStore, admin: psycopg.Connection
) -> None:
    role = f"role_{server.schema}"
    admin.execute(f"CREATE ROLE {role} LOGIN".encode())
    address = server.address.replace("//postgres:@", f"//{role}@")
    with pytest.raises(LedgerError, match="lacks rights"):
        PostgresLedger(address, budget=ONE)


@pytest.mark.parametrize(
    ("settings", "words"), [("'off', false", "fsync = off"), ("'on', true", "read-only replica")]
)
def test_a_server_that_could_forget_is_refused(
    server: PostgresStore, monkeypatch: pytest.MonkeyPatch, settings: str, words: str
) -> None:
    monkeypatch.setattr("discreet.ledger.postgres.SERVER", f"SELECT {settings}")
    with pytest.raises(LedgerError, match=words):
        server.open()


# --------------------------------------------------------------------------- addresses


def test_an_address_picks_the_store(server: PostgresStore, tmp_path: Path) -> None:
    with open_ledger(server.address, budget=ONE) as ledger:
        assert isinstance(ledger, PostgresLedger)
        ledger.charge("q", [TENTH])
    with existing_ledger(server.address) as ledger:
        assert ledger.remaining().epsilon == Fraction(9, 10)
    for place in (tmp_path / "a.db", str(tmp_path / "b.db"), ":memory:"):
        assert not is_on_server(place)
        with open_ledger(place, budget=ONE) as ledger:
            assert isinstance(ledger, SqliteLedger)
    with existing_ledger(tmp_path / "a.db") as ledger:
        assert isinstance(ledger, SqliteLedger)


def test_a_ledger_that_is_not_there_is_not_made_to_be_shown(server: PostgresStore) -> None:
    with pytest.raises(LedgerError, match="no ledger in this schema"):
        server.existing()


def test_ledgers_of_two_schemas_know_nothing_of_each_other(server: PostgresStore) -> None:
    with server.open() as ledger:
        ledger.charge("q", [TENTH])
        server.renew()
        with server.open() as other:
            assert other.remaining().epsilon == 1


def test_an_address_names_its_schema_after_a_hash() -> None:
    assert parted("postgresql://me@db/books") == ("postgresql://me@db/books", "discreet")
    assert parted("postgresql://me@db/books#clinic") == ("postgresql://me@db/books", "clinic")


@pytest.mark.parametrize("schema", ["Clinic", "1st", 'x"; DROP TABLE y', "a" * 64, "a b"])
def test_schemas_that_would_need_quotes_are_refused(server: PostgresStore, schema: str) -> None:
    with pytest.raises(ParameterError, match="schema must be"):
        PostgresLedger(f"{server.server}#{schema}", budget=ONE)


def test_a_schema_may_be_called_like_a_word_of_sql(server: PostgresStore) -> None:
    with PostgresLedger(f"{server.server}#select", budget=ONE) as ledger:
        ledger.charge("q", [TENTH])
        ledger.verify()


def test_without_psycopg_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"discreet\[postgres\]"):
        PostgresLedger("postgresql://nowhere/books", budget=ONE)
