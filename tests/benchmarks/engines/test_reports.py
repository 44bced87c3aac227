"""Figures are kept between runs of parts, and tables, targets and the picture hold them."""

from argparse import Namespace
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.__main__ import engine_options
from benchmarks.engines import kept
from benchmarks.engines.growth import exponent, last_exponent, points
from benchmarks.engines.kept import Kept, Preparing
from benchmarks.engines.picture import draw
from benchmarks.engines.run import QUICK_LIMIT, QUICK_SIZES, Options
from benchmarks.engines.systems import STORAGES, SYSTEMS
from benchmarks.engines.tables import report_of
from benchmarks.engines.ticks import Tick
from benchmarks.report import Report
from benchmarks.workloads.cells import Cell, Cells
from benchmarks.workloads.distance import Distance
from benchmarks.workloads.questions import BY_NAME, WORKLOADS
from benchmarks.workloads.running import Ask, Measured, Missing

SIZES = (10**5, 10**6, 10**7)
LATE = Missing(words="> 300 s", reason="a query took longer than 300 s")


def measured(seconds: float) -> Measured:
    asks = tuple(Ask(wall=seconds * n, cpu=seconds, rows=[[1]]) for n in (3, 1, 2))
    return Measured(opening=1.0, opening_peak=10**8, asking_peak=2 * 10**8, asks=asks)


def cell(name: str, workload: str, rows: int, seconds: float | None) -> Cell:
    return Cell(
        system=SYSTEMS[name],
        workload=BY_NAME[workload],
        rows=rows,
        outcome=LATE if seconds is None else measured(seconds),
        distance=None if seconds is None else Distance(error=0.01, shown=1),
    )


def cells() -> list[Cell]:
    """Return plain SQL that grows with the rows, ours as 2 and 5 times it; W4 is late once."""
    times = {"plain SQL": 1, "per-query": 5, "prepared": 2, "copy": 2}
    return [
        cell(
            system.name,
            workload.name,
            rows,
            None
            if (workload.name, system.name, rows) == ("W4", "Spark, per-query", 10**7)
            else rows * 1e-8 * times[system.name.rpartition(", ")[2]],
        )
        for rows in SIZES
        for storage in STORAGES
        for system in storage.systems
        for workload in WORKLOADS
    ]


TICK = Tick(name="COUNT by day", rows=10**6, wall=3.0, cpu=2.5, plain_wall=1.0, plain_cpu=1.0)


@pytest.fixture(scope="module")
def known() -> Kept:
    found = Kept(server="PostgreSQL 18").with_cells(cells()).with_ticks([TICK])
    made = Preparing(storage="Spark", rows=10**6, seconds=30.0, peak=10**8)
    return found.with_preparing(made)


@pytest.fixture(scope="module")
def report(known: Kept) -> Report:
    return report_of(known)


def test_what_is_kept_is_read_again_as_it_was(known: Kept, tmp_path: Path) -> None:
    assert kept.read(tmp_path) == Kept()
    kept.write(known, tmp_path)
    assert kept.read(tmp_path) == known


def test_a_part_replaces_what_it_is_compared_with_and_nothing_else(known: Kept) -> None:
    names = ("Spark, plain SQL", "Spark, per-query")
    newer = known.with_cells(cell(each, "W2", 10**6, 1.0) for each in names)
    before, after = Cells(known.cells), Cells(newer.cells)
    changed = {
        each.place
        for each in before
        if each.outcome != after.outcome(each.system, each.workload, each.rows)
    }
    assert changed == {(each, "W2", 10**6) for each in (*names, "Spark, prepared")}
    assert after.outcome(SYSTEMS["Spark, prepared"], BY_NAME["W2"], 10**6) is None
    assert newer.with_ticks([replace(TICK, wall=2.0)]).ticks == (replace(TICK, wall=2.0),)


def test_answers_are_not_kept(known: Kept) -> None:
    for each in known.cells:
        if isinstance(each.outcome, Measured):
            assert all(ask.rows == [] for ask in each.outcome.asks)


def test_times_stand_beside_ratios_to_the_same_engine(report: Report) -> None:
    table = next(each for each in report.tables if "10^6 rows: wall ms" in each.title)
    row = dict(zip(table.columns, map(str, table.rows[1]), strict=True))
    assert row["workload"] == "W2"
    assert row["PostgreSQL, plain SQL"] == "10.0"
    assert row["PostgreSQL, per-query"] == "50.0 (5×)"
    assert row["DuckDB file, copy"] == "20.0 (2×)"
    assert table.notes[-1] == "PostgreSQL 18"


def test_what_took_too_long_is_named_with_its_reason(report: Report) -> None:
    table = next(each for each in report.tables if "10^7 rows: wall ms" in each.title)
    row = dict(zip(table.columns, map(str, table.rows[3]), strict=True))
    assert row["Spark, per-query"] == "> 300 s"
    assert "Spark, per-query, W4: a query took longer than 300 s." in table.notes


def test_targets_are_judged_for_each_engine_at_the_largest_size(report: Report) -> None:
    verdicts = {each.sentence: each.verdict for each in report.targets}
    assert verdicts["W2 at 10^7 rows, DuckDB, per-query, times plain SQL"] == "not met"
    assert verdicts["W2 at 10^7 rows, PostgreSQL, per-query, times plain SQL"] == "met"
    assert verdicts["W4 at 10^7 rows, Spark, per-query, times plain SQL"] == "not measured"
    assert verdicts["a tick of COUNT by day at 10^6 rows, times plain SQL"] == "not met"
    assert len(verdicts) == 3 * len(WORKLOADS) + 1


def test_the_first_query_stands_apart_from_the_best_one(report: Report) -> None:
    table = next(each for each in report.tables if "first W1" in each.title)
    row = dict(zip(table.columns, map(str, table.rows[1]), strict=True))
    assert (row["rows"], row["DuckDB, plain SQL"]) == ("10^6", "0.0300")
    assert row["DuckDB, per-query"] == "0.150"


def test_growth_in_proportion_has_the_exponent_one(known: Kept, report: Report) -> None:
    found = points(SYSTEMS["DuckDB, per-query"], BY_NAME["W2"], Cells(known.cells))
    assert [rows for rows, _ in found] == list(SIZES)
    assert exponent(found) == pytest.approx(1)
    table = next(each for each in report.tables if "exponent" in each.title)
    row = dict(zip(table.columns, map(str, table.rows[3]), strict=True))
    assert row["DuckDB, per-query"] == "1.00 (1.00)"
    assert row["Spark, per-query"] == "1.00"  # of the two sizes that were answered


def test_exponents_tell_fixed_costs_and_bends_apart() -> None:
    fixed = [(10**n, 0.01 + 10**n * 1e-8) for n in (5, 6, 7)]
    bent = [(10**n, (10**n) ** 1.5) for n in (5, 6, 7)]
    whole, last = exponent(fixed), last_exponent(fixed)
    assert whole is not None
    assert last is not None
    assert 0 < whole < last < 1
    assert exponent(bent) == pytest.approx(1.5)
    assert exponent(bent[:1]) is None


def test_the_picture_is_the_same_each_time_and_small(known: Kept, tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.svg" for name in ("first", "second")]
    assert [draw(Cells(known.cells), each) for each in files] == files
    first, second = (each.read_text(encoding="utf-8") for each in files)
    assert first == second
    assert all(each.name in first for each in STORAGES)
    assert all(each.name in first for each in WORKLOADS)
    assert len(first) < 400_000


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, Options()),
        ({"kept": True}, Options(sizes=(), engines=(), is_part=True)),
        ({"quick": True}, Options(sizes=QUICK_SIZES, limit=QUICK_LIMIT, is_part=True)),
        (
            {"rows": [10**8], "engine": ["spark"], "workload": ["W2", "tick"]},
            Options(sizes=(10**8,), engines=("spark",), workloads=("W2", "tick"), is_part=True),
        ),
    ],
)
def test_only_a_whole_run_forgets_earlier_figures(
    given: dict[str, object], wanted: Options
) -> None:
    nothing = dict.fromkeys(("rows", "engine", "workload", "way", "quick", "kept"))
    assert engine_options(Namespace(**{**nothing, **given})) == wanted


def test_servers_are_asked_up_to_their_largest_size() -> None:
    names = {rows: [each.name for each in Options().storages(rows)] for rows in (10**7, 10**8)}
    assert names[10**7] == ["DuckDB", "DuckDB file", "PostgreSQL", "Spark"]
    assert names[10**8] == ["DuckDB", "DuckDB file", "Spark"]
    assert [each.name for each in Options().storages(10**9)] == ["DuckDB file", "Spark"]
    assert not list(Options(workloads=("tick",)).storages(10**5))


def test_without_prepared_ways_nothing_is_prepared() -> None:
    found = list(Options(ways=("per-query",)).storages(10**6))
    assert [each.name for each in found] == ["DuckDB", "PostgreSQL", "Spark"]
    for each in found:
        assert [system.name for system in each.systems] == [
            f"{each.name}, plain SQL",
            f"{each.name}, per-query",
        ]
        assert not each.is_prepared
    assert all(each.is_prepared for each in Options().storages(10**6))


def test_nothing_is_drawn_of_what_was_not_answered(tmp_path: Path) -> None:
    late = cell("Spark, per-query", "W1", 10**6, None)
    assert draw(Cells([late]), tmp_path / "none.svg") is None
