"""Children are followed to their end, and what is missing says why."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks.workloads.data import Site
from benchmarks.workloads.questions import BY_NAME
from benchmarks.workloads.running import (
    LARGE,
    Measured,
    Missing,
    Outcome,
    measure_all,
    outcome_of,
    outcomes_of,
)
from benchmarks.workloads.systems import System

SERVE = "from benchmarks.workloads.child import serve; serve(lambda folder, rows: rows, {asking})"
ARGUMENTS = ("W1", "folder", "7", "3", "60")


def outcome(asking: str, limit: float = 60) -> Outcome:
    return outcome_of([sys.executable, "-c", SERVE.format(asking=asking), *ARGUMENTS], limit)


def test_a_child_asks_as_often_as_it_is_told() -> None:
    found = outcome("{'W1': lambda rows, number: [(rows, number)]}")
    assert isinstance(found, Measured)
    assert [each.rows for each in found.asks] == [[[7, 0]], [[7, 1]], [[7, 2]]]
    assert found.best.wall == min(each.wall for each in found.asks)


def test_memory_is_told_where_the_system_does() -> None:
    found = outcome("{'W1': lambda rows, number: [(len(b'x' * 2 * 10**8),)]}")
    assert isinstance(found, Measured)
    if Path("/proc/self/status").exists():
        assert found.asking_peak is not None
        assert found.asking_peak > 2 * 10**8


def test_what_cannot_be_expressed_is_missing_with_its_reason() -> None:
    assert outcome("{}, {'W1': 'it has no counts'}") == Missing(
        words="cannot", reason="it has no counts"
    )


def test_a_child_that_fails_is_missing_with_its_last_words() -> None:
    found = outcome("{'W1': lambda rows, number: [(1 / 0,)]}")
    assert found == Missing(words="failed", reason="ZeroDivisionError: division by zero")


FOR_EVER = "__import__('threading').Event().wait()"


@pytest.mark.parametrize(
    ("asking", "limit", "step"),
    [(f"{{'W1': lambda rows, number: {FOR_EVER}}}", 0.5, "a query"), (FOR_EVER, 0.05, "opening")],
)
def test_a_step_that_takes_too_long_is_ended(asking: str, limit: float, step: str) -> None:
    found = outcome(asking, limit)
    assert found == Missing(words="> 0.5 s", reason=f"{step} took longer than 0.5 s")


def test_what_one_child_leaves_unanswered_is_asked_by_another() -> None:
    fine, late = "lambda rows, number: [(rows, number)]", f"lambda rows, number: {FOR_EVER}"
    asking = f"{{'W1': {fine}, 'W2': lambda rows, number: 1 / 0, 'W3': {late}, 'W4': {fine}}}"
    started: list[list[str]] = []

    def command_for(names: Sequence[str]) -> list[str]:
        started.append(list(names))
        asked = (",".join(names), *ARGUMENTS[1:])
        return [sys.executable, "-c", SERVE.format(asking=asking), *asked]

    found = outcomes_of(command_for, ["W1", "W2", "W3", "W4", "W5"], 1)
    assert started == [["W1", "W2", "W3", "W4", "W5"], ["W3", "W4"], ["W4"]]
    for name in ("W1", "W4"):
        outcome = found[name]
        assert isinstance(outcome, Measured)
        assert [each.rows for each in outcome.asks] == [[[7, number]] for number in range(3)]
    assert [found[each] for each in ("W2", "W3", "W5")] == [
        Missing(words="failed", reason="ZeroDivisionError: division by zero"),
        Missing(words="> 1 s", reason="a query took longer than 1 s"),
        Missing(words="cannot", reason="it cannot express this"),
    ]


def test_the_first_workload_of_large_tables_is_asked_twice_and_never_alike() -> None:
    """The same question again would be answered from what was saved."""

    class Child(System):
        def command(self) -> list[str]:
            fine = "lambda rows, number: [(number,)]"
            return [sys.executable, "-c", SERVE.format(asking=f"{{'W1': {fine}, 'W2': {fine}}}")]

    child = Child(name="child", baseline="child", way="raw")
    site = Site(folder=Path("folder"), rows=LARGE)
    found = measure_all(child, [BY_NAME["W1"], BY_NAME["W2"]], site, 60)
    assert {
        name: [each.rows for each in outcome.asks]
        for name, outcome in found.items()
        if isinstance(outcome, Measured)
    } == {"W1": [[[0]], [[1]]], "W2": [[[0]]]}


def test_where_opening_fails_nothing_is_tried_again() -> None:
    def command_for(names: Sequence[str]) -> list[str]:
        failing = SERVE.replace("rows, {", "1 / 0, {").format(asking="{'W1': print, 'W2': print}")
        return [sys.executable, "-c", failing, ",".join(names), *ARGUMENTS[1:]]

    failed = Missing(words="failed", reason="ZeroDivisionError: division by zero")
    assert outcomes_of(command_for, ["W1", "W2"], 60) == {"W1": failed, "W2": failed}
