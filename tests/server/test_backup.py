"""A ledger is copied while its server runs; an old copy that was put back is noticed."""

import shutil
import stat
from pathlib import Path

import pytest

from tests.cli.conftest import Discreet
from tests.cli.conftest import discreet as discreet  # noqa: PLC0414 - a fixture
from tests.server.running import BASE, serving, write_catalog

COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_REGION = "SELECT region, COUNT(*) AS n FROM visits GROUP BY region"


def test_a_copy_is_made_while_the_server_runs_and_an_old_one_is_noticed(
    tmp_path: Path, discreet: Discreet
) -> None:
    catalog = write_catalog(tmp_path / "clinic")
    ledger, copy = catalog.with_suffix(".ledger"), tmp_path / "copy.ledger"
    with serving(catalog) as served:
        first = served.ask(COUNT, epsilon=1).json()
        made = discreet("ledger", "backup", str(copy), "--catalog", str(catalog))
        assert made.code == 0, made.err
        noted = made.out.splitlines()[-1].removeprefix("Digest of the last entry: ")
        assert served.ask(BY_REGION, epsilon=1).status_code == 200
        verified = served.call("POST", f"{BASE}/verify", "boss", json={"head": noted}).json()
        later = verified["head"]
        assert later != noted
        assert served.stop() == 0

    assert discreet("ledger", "verify", str(ledger), "--head", later).code == 0
    for old in (*ledger.parent.glob("discreet.ledger*"), *ledger.parent.glob("*.records*")):
        old.unlink()
    for each in tmp_path.glob("copy.*"):
        shutil.copy(each, ledger.with_name(each.name.replace("copy", "discreet")))

    assert discreet("ledger", "verify", str(ledger), "--head", noted).code == 0
    noticed = discreet("ledger", "verify", str(ledger), "--head", later)
    assert noticed.code == 1
    assert "entries were removed or replaced" in noticed.err

    with serving(catalog) as served:
        assert (
            served.call("POST", f"{BASE}/verify", "boss", json={"head": later}).status_code >= 400
        )
    with serving(catalog) as served:
        again = served.ask(COUNT, epsilon=1).json()
        assert again["rows"] == first["rows"]
        assert again["charged"]["epsilon"] == 0, "the key was copied, so the answer is known"


def test_a_copy_is_private_whole_and_replaces_nothing(tmp_path: Path, discreet: Discreet) -> None:
    catalog = write_catalog(tmp_path)
    assert discreet("ask", COUNT, "--epsilon", "1", "--catalog", str(catalog)).code == 0
    made = discreet("ledger", "backup", str(tmp_path / "copy.ledger"), "--catalog", str(catalog))
    assert made.code == 0, made.err
    copies = sorted(tmp_path.glob("copy.*"))
    assert [each.name for each in copies] == ["copy.ledger", "copy.ledger.key"]
    assert {stat.S_IMODE(each.stat().st_mode) for each in copies} == {0o600}
    before = [each.read_bytes() for each in copies]
    again = discreet("ledger", "backup", str(tmp_path / "copy.ledger"), "--catalog", str(catalog))
    assert (again.code, again.out) == (1, "")
    assert "must be a new file" in again.err
    assert [each.read_bytes() for each in copies] == before
    shown = discreet("ledger", "verify", str(tmp_path / "copy.ledger"))
    assert made.out.splitlines()[-1] in shown.out


def test_a_copy_that_fails_leaves_nothing_behind(tmp_path: Path, discreet: Discreet) -> None:
    catalog = write_catalog(tmp_path)
    assert discreet("ask", COUNT, "--epsilon", "1", "--catalog", str(catalog)).code == 0
    (tmp_path / "discreet.records").write_bytes(b"not a database at all, but long enough" * 100)
    failed = discreet("ledger", "backup", str(tmp_path / "copy.ledger"), "--catalog", str(catalog))
    assert failed.code == 1
    assert "could not be written" in failed.err
    assert not list(tmp_path.glob("copy.*"))


@pytest.mark.parametrize("place", ["absent.ledger", "postgresql://reader@host/books#clinic"])
def test_what_cannot_be_copied_is_one_sentence(
    tmp_path: Path, discreet: Discreet, place: str
) -> None:
    ended = discreet("ledger", "backup", str(tmp_path / "copy.ledger"), place)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.count("\n") == 1
    assert not list(tmp_path.glob("copy*"))
