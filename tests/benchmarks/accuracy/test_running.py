"""Trials of Discreet itself, what is missing, and the tables that say so."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.accuracy import ours
from benchmarks.accuracy.child import Told, serve, told_from
from benchmarks.accuracy.data import make_visits, truths
from benchmarks.accuracy.judging import figure_of
from benchmarks.accuracy.questions import BY_NAME, QUESTIONS, ROWS_PER_UNIT
from benchmarks.accuracy.run import trials_of
from benchmarks.accuracy.systems import OPENDP, OURS, SETTINGS, System
from benchmarks.accuracy.tables import Trials, report_of
from benchmarks.environments import PeerError
from benchmarks.report import Report

ROWS = 3000
TRIALS = 30


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_visits(ROWS, tmp_path_factory.mktemp("accuracy"))


def report() -> Report:
    """Return a report in which OpenDP has a tenth of our error in COUNT and no MEDIAN."""
    own = Trials(system=OURS, figures={"COUNT": [10.0 + n for n in range(TRIALS)]})
    own.figures["SUM"] = own.figures["MEDIAN"] = own.figures["COUNT"]
    peer = Trials(system=OPENDP, reasons={"MEDIAN": "no medians", "q90": "no medians"})
    peer.figures["COUNT"] = [1.0 + n / 10 for n in range(TRIALS)]
    peer.figures["SUM"] = own.figures["SUM"]
    return report_of([[own, peer]], TRIALS)


def test_each_trial_is_a_new_answer_within_the_noise(folder: Path) -> None:
    question, opening = BY_NAME["COUNT"], ours.opening_of(ours.BY_UNIT, folder)
    ask = ours.asked(question)
    answers = [ask(opening, number)[0][0] for number in range(8)]
    assert len(set(answers)) > 1
    truth = truths(folder)["COUNT"]
    errors = [figure_of(question, [[float(str(each))]], truth) for each in answers]
    assert max(errors) < 40 * ROWS_PER_UNIT  # all 8 are, but for 8 times in 10^17


def test_a_failing_question_leaves_the_others(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(_: Path, number: int) -> list[tuple[float]]:
        raise ValueError(f"too hard: {number}\nand more")

    asking = {"COUNT": fail, "SUM": lambda _, number: [(number,)]}
    monkeypatch.setattr("sys.argv", ["child", str(tmp_path), "2"])
    serve(lambda each: each, asking, {"AVG": "no averages"})
    lines = [told_from(line) for line in capsys.readouterr().out.splitlines()]
    told = [each for each in lines if each is not None]
    assert told[0] == Told(question="COUNT", reason="too hard: 0")
    assert [each.rows for each in told[1:3]] == [[[0]], [[1]]]
    assert told[3] == Told(question="AVG", reason="no averages")
    assert len(told) == len(QUESTIONS) + 1


def test_a_peer_that_cannot_be_installed_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lines(_: System, __: Path, ___: int) -> Iterator[str]:
        raise PeerError("OpenDP is not installed: no network")

    monkeypatch.setattr(System, "lines", lines)
    found = trials_of(OPENDP, folder, truths(folder), 1, lambda _: None)
    assert "no network" in capsys.readouterr().err
    table = report_of([[Trials(system=OURS), found]], 1).tables[1]
    assert {str(row[2]) for row in table.rows} == {"see below"}
    assert "OpenDP is not installed: no network." in table.notes


def test_figures_stand_beside_ratios_and_reasons() -> None:
    table = report().tables[1]
    rows = {str(row[0]): list(map(str, row[1:])) for row in table.rows}
    assert rows["COUNT"][0] == "24.5"
    assert rows["COUNT"][1].startswith("2.45 (0.1×, ")
    assert rows["MEDIAN"] == ["24.5", "not supported"]
    assert "OpenDP, MEDIAN, q90: no medians." in table.notes


def test_it_says_plainly_where_we_are_not_best() -> None:
    table = report().tables[-1]
    assert [row[0] for row in table.rows] == ["COUNT"]
    assert table.notes == [
        "Discreet is better in 0 of 2 comparisons, equal within trial noise in 1, and worse in 1."
    ]
    (target,) = report().targets
    assert (target.measured, target.verdict) == (50, "not met")


def test_systems_are_compared_with_the_same_unit_and_neighbours() -> None:
    for systems in SETTINGS:
        assert len({(each.unit, each.neighbours) for each in systems}) == 1
        assert systems[0].peer is None
