"""The records of a server: lines of the audit log are added, and neither changed nor removed."""

import json
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet.errors import CatalogError, LedgerError
from discreet.server.records import AuditFile, Records, SavedReply, records_beside
from discreet.server.settings import read_settings
from tests.ledger.stores import PostgresStore
from tests.server.running import BASE, serving, write_catalog

HOSTILE = 'SELECT 1 -- \n{"who": "boss"}\r\x1b[2J\u2028\x00\x7fé'


@pytest.fixture(params=["file", "postgres"])
def records(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Records]:
    at = PostgresStore(tmp_path).address if request.param == "postgres" else tmp_path / "a.ledger"
    found = records_beside(at, AuditFile(path=tmp_path / "audit.jsonl", catalog="clinic"))
    yield found
    found.close()


@pytest.mark.parametrize(
    "sql",
    ["UPDATE {schema}log SET who = 'eve'", "DELETE FROM {schema}log WHERE number > 0"],
)
def test_lines_of_the_log_stay(records: Records, sql: str) -> None:
    records.log("ann", "ask", "charged", question="SELECT 1")
    before = records.entries()
    with pytest.raises(LedgerError):
        records._database.run(sql)
    assert records.entries() == before
    assert [each.who for each in before] == ["ann"]


@pytest.mark.postgresql
def test_the_log_cannot_be_emptied_at_once(tmp_path: Path) -> None:
    records = records_beside(PostgresStore(tmp_path).address)
    records.log("ann", "ask", "charged")
    with pytest.raises(LedgerError):
        records._database.run("TRUNCATE {schema}log")
    assert len(records.entries()) == 1
    records.close()


def test_nothing_that_a_caller_writes_makes_or_hides_a_line(
    records: Records, tmp_path: Path
) -> None:
    for number in range(3):
        records.log("ann\n", "ask", "charged", question=HOSTILE + str(number))
    lines = (tmp_path / "audit.jsonl").read_bytes().splitlines()
    assert len(lines) == 3
    assert all(0x20 <= byte < 0x7F for line in lines for byte in line.replace(b"\x7f", b""))
    told = [json.loads(each) for each in lines]
    assert [each["number"] for each in told] == [1, 2, 3]
    assert {each["catalog"] for each in told} == {"clinic"}
    kept = [each.to_json() for each in reversed(records.entries())]
    assert [{"catalog": "clinic", **each} for each in kept] == told
    assert told[2]["question"] == HOSTILE + "2"


def test_the_file_of_the_log_is_for_its_user_only(records: Records, tmp_path: Path) -> None:
    records.log("ann", "ask", "charged")
    assert stat.S_IMODE((tmp_path / "audit.jsonl").stat().st_mode) == 0o600


def test_a_line_that_does_not_fit_is_an_error(
    records: Records, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.server.records.os.write", lambda _, line: len(line) - 1)
    with pytest.raises(LedgerError):
        records.log("ann", "ask", "charged")


def test_records_are_for_their_user_only_and_follow_no_link(tmp_path: Path) -> None:
    records_beside(tmp_path / "a.ledger").close()
    assert stat.S_IMODE((tmp_path / "a.records").stat().st_mode) == 0o600
    (tmp_path / "b.records").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(LedgerError, match="records"):
        records_beside(tmp_path / "b.ledger")
    assert not (tmp_path / "elsewhere").exists()


def test_a_key_has_one_reply(records: Records) -> None:
    assert records.begin("ann", "key-0001", "a").answer is None
    assert records.finish("ann", "key-0001", "x" * 24, b"first").body == b"first"
    assert records.finish("ann", "key-0001", "y" * 24, b"second").body == b"first"
    again = records.begin("ann", "key-0001", "b")
    assert (again.call, again.answer, again.body) == ("a", "x" * 24, b"first")
    assert records.begin("bob", "key-0001", "b").answer is None


@pytest.mark.parametrize("id_", ["", "\x00", "x" * 5000, "é" * 24, "../" * 8])
def test_what_is_no_id_leads_to_nothing(records: Records, id_: str) -> None:
    assert records.reply(id_) is None
    saved = SavedReply(id="a" * 24, account="ann", written="", question="", terms="", body=b"x")
    records.save(saved)
    assert records.reply("a" * 24) == saved


def test_a_served_query_is_in_the_file_that_settings_name(tmp_path: Path) -> None:
    config, file = tmp_path / "server.toml", tmp_path / "audit.jsonl"
    config.write_text(f'audit_file = "{file}"\n')
    with serving(write_catalog(tmp_path), "--config", str(config)) as served:
        served.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1)
        served.ask("SELECT * FROM visits", epsilon=1)
        shown = served.call("GET", f"{BASE}/audit", "boss").json()["entries"]
    told = [json.loads(each) for each in file.read_text().splitlines()]
    assert [each["outcome"] for each in told] == ["charged", "row_level"]
    assert [{"catalog": "clinic", **each} for each in reversed(shown)] == told
    with sqlite3.connect(tmp_path / "discreet.records") as kept, pytest.raises(sqlite3.Error):
        kept.execute("DELETE FROM log")


def test_a_file_in_no_folder_is_rejected(tmp_path: Path) -> None:
    config = tmp_path / "server.toml"
    config.write_text('audit_file = "/nowhere/at/all/audit.jsonl"\n')
    with pytest.raises(CatalogError, match="audit_file"):
        read_settings(config)
