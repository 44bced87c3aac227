"""Tables and the picture hold what was measured, and say what is missing."""

from pathlib import Path

import pytest

from benchmarks.report import Report
from benchmarks.workloads.cells import Cell, Cells, Sized
from benchmarks.workloads.distance import Distance
from benchmarks.workloads.picture import draw
from benchmarks.workloads.questions import WORKLOADS
from benchmarks.workloads.running import Ask, Measured, Missing, Outcome
from benchmarks.workloads.systems import OURS, PEERS, RAW_IN_MEMORY, System
from benchmarks.workloads.tables import report_of

ROWS = 10**5
SPEED = {RAW_IN_MEMORY: 0.01, OURS: 0.015, PEERS[0]: 0.5}


def measured(seconds: float) -> Measured:
    asks = tuple(Ask(wall=seconds * n, cpu=seconds, rows=[[1]]) for n in (2, 1, 3))
    return Measured(opening=1.0, opening_peak=10**8, asking_peak=2 * 10**8, asks=asks)


def outcome(system: System) -> Outcome:
    if system in SPEED:
        return measured(SPEED[system])
    return Missing(words="cannot", reason="it has no joins")


@pytest.fixture(scope="module")
def sized() -> Sized:
    cells = [
        Cell(
            system=system,
            workload=workload,
            rows=ROWS,
            outcome=outcome(system),
            distance=Distance(error=0.01, shown=0.5) if system in SPEED else None,
        )
        for workload in WORKLOADS
        for system in (RAW_IN_MEMORY, OURS, *PEERS)
    ]
    return Sized(rows=ROWS, cut=0.005, preparing=2.0, preparing_peak=None, cells=tuple(cells))


@pytest.fixture(scope="module")
def report(sized: Sized) -> Report:
    return report_of([sized], busy=None)


def test_costs_are_in_times_of_plain_sql_in_the_same_run(sized: Sized) -> None:
    cost = Cells(sized.cells).cost(OURS, WORKLOADS[0], ROWS)
    assert cost is not None
    assert cost.wall == pytest.approx(1.5)


def test_times_stand_beside_ratios(report: Report) -> None:
    columns, first = report.tables[0].columns, report.tables[0].rows[0]
    by_name = dict(zip(columns, map(str, first), strict=True))
    assert by_name["plain SQL"] == "10.0"
    assert by_name["discreet"] == "15.0 (1.5×)"
    assert by_name["Tumult"] == "cannot"


def test_a_reason_is_told_once_for_all_its_workloads(report: Report) -> None:
    told = "Tumult, W1, W2, W3, W4, W5, W6, W7: it has no joins."
    assert told in report.tables[0].notes


def test_errors_say_how_much_was_shown(report: Report) -> None:
    errors = next(each for each in report.tables if "error" in each.title)
    assert str(errors.rows[2][2]) == "1.0 % (50 % shown)"


def test_targets_are_judged(report: Report) -> None:
    verdicts = [each.verdict for each in report.targets]
    assert verdicts == ["met", "not measured", "met"]


def test_the_picture_names_every_system_and_is_small(sized: Sized, tmp_path: Path) -> None:
    drawn = draw(Cells(sized.cells), tmp_path / "picture.svg")
    text = drawn.read_text(encoding="utf-8")
    assert all(each.name in text for each in (OURS, *PEERS))
    assert len(text) < 200_000
