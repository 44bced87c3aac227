"""The benchmark of whole questions finds every stage that it times."""

import json

import pytest

from benchmarks.asking import FILED, OURS, RAW, STAGES
from benchmarks.environments import lines_from_module
from benchmarks.visits import QUESTIONS


@pytest.mark.slow
def test_every_question_is_timed_in_every_way_and_stage() -> None:
    lines = lines_from_module("benchmarks.asking", "times", "2000", "0", "filed")
    opened, *timed = map(json.loads, lines)
    assert opened["rows"] == 2000
    ways = {(each["question"], each["way"]): each for each in timed}
    assert set(ways) == {(each.name, way) for each in QUESTIONS for way in (RAW, OURS, FILED)}
    for (_, way), each in ways.items():
        assert each["wall"] > 0
        assert way == RAW or all(each["stages"][stage] > 0 for stage in STAGES)
