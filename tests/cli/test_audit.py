"""`discreet audit`: its tables, its exit code, its picture."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from discreet.audit import Finding, Subject
from discreet.audit.trial import Tell, findings
from tests.cli.runs import Ended, call

Screen = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch


def audit(capsys: Screen, monkeypatch: Patch, *options: str) -> Ended:
    return call(capsys, monkeypatch, "audit", "--quick", *options)


def test_claims_and_mistakes_stand_in_tables_of_their_own(
    capsys: Screen, monkeypatch: Patch
) -> None:
    ended = audit(capsys, monkeypatch, "--only", "response*5 cat")
    assert ended.code == 0
    assert re.match(r"claim +claimed ε +δ +measured ≥ +verdict\n", ended.out)
    assert "3 of 3 claims hold. 0 of 0 planted bugs are caught." in ended.out
    assert "planted bug " not in ended.out
    ended = audit(capsys, monkeypatch, "--only", "too honest")
    assert ended.code == 0
    assert ended.out.startswith("planted bug ")
    assert " caught\n" in ended.out


def test_everything_is_there_as_json_and_as_a_picture(
    capsys: Screen, monkeypatch: Patch, tmp_path: Path
) -> None:
    picture = tmp_path / "audit.svg"
    ended = audit(capsys, monkeypatch, "--only", "honest", "--json", "--plot", str(picture))
    (found,) = json.loads(ended.out)
    assert found["claimed"] == {"epsilon": 1.0, "delta": 0.0}
    assert found["measured"]["epsilon"] > 1
    assert found["is_violated"]
    assert found["is_right"]
    assert picture.exists()
    assert "Chart: " in ended.err


@pytest.mark.parametrize(("only", "verdict"), [("too honest", "VIOLATED"), ("coins", "NOT CAUGHT")])
def test_a_claim_that_is_refuted_and_a_mistake_that_is_not_caught_end_with_1(
    capsys: Screen, monkeypatch: Patch, only: str, verdict: str
) -> None:
    def other_way_round(subjects: Sequence[Subject], *, quick: bool, tell: Tell) -> list[Finding]:
        found = findings(subjects, quick=quick, tell=tell)
        return [replace(each, is_broken=not each.is_broken) for each in found]

    monkeypatch.setattr("discreet.cli.audit.findings", other_way_round)
    ended = audit(capsys, monkeypatch, "--only", only)
    assert ended.code == 1
    assert verdict in ended.out
    assert " here, " in ended.out


def test_a_pattern_that_nothing_has_is_refused(capsys: Screen, monkeypatch: Patch) -> None:
    ended = audit(capsys, monkeypatch, "--only", "nonsense")
    assert ended.code == 1
    assert ended.err.startswith("discreet: only must be part of a claim's or planted bug's name")
    near = audit(capsys, monkeypatch, "--only", "geometrik")
    assert "such as geometric, but" in near.err


def test_a_picture_of_no_format_is_refused_before_anything_is_run(
    capsys: Screen, monkeypatch: Patch
) -> None:
    ended = audit(capsys, monkeypatch, "--only", "honest", "--plot", "audit.gif")
    assert ended.code == 1
    assert ended.err.startswith("discreet: plot must end in one of .png")
    assert ended.out == ""
