"""The benchmark of whole questions finds every stage that it times."""

import json
from typing import Any

import pytest

from benchmarks import overhead
from benchmarks.asking import FILED, OURS, RAW, STAGES
from benchmarks.environments import lines_from_module
from benchmarks.visits import QUESTIONS

UNNEEDED = {"bind afterwards"}
"""Stages that questions do without whose columns are shown as they were released."""

KNOWN = {"parse", "check", "bind private"}
"""Stages that texts do without which were asked before, or whose shape was."""


def left_out(timed: dict[str, Any]) -> set[str]:
    return {stage for stage in STAGES if not timed["stages"][stage]}


@pytest.mark.slow
def test_every_question_is_timed_in_every_way_and_stage() -> None:
    lines = lines_from_module("benchmarks.asking", "times", "2000", "0", "filed")
    opened, *timed = map(json.loads, lines)
    assert opened["rows"] == 2000
    ways = {(each["question"], each["way"]): each for each in timed}
    assert set(ways) == {(each.name, way) for each in QUESTIONS for way in (RAW, OURS, FILED)}
    for (_, way), each in ways.items():
        assert each["wall"] > 0
        assert way == RAW or left_out(each) <= UNNEEDED | KNOWN


@pytest.mark.slow
def test_our_own_part_is_timed_in_every_stage_with_texts_that_are_new() -> None:
    timed = list(map(json.loads, lines_from_module("benchmarks.overhead", "2000", "0")))
    assert {(each["question"], each["way"]) for each in timed} == {
        (each.name, way) for each in overhead.QUESTIONS for way in (OURS, FILED)
    }
    for each in timed:
        is_new = "new shape" in each["question"]
        assert left_out(each) <= (UNNEEDED if is_new else UNNEEDED | KNOWN)
    assert any(each["stages"]["bind afterwards"] > 0 for each in timed)
