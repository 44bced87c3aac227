"""What is said and drawn of an attack."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from scipy.stats import binom

from discreet.attacks.trials import Outcome, Step, plot_outcomes

OUTCOME = Outcome(
    attack="averaging",
    against="discreet",
    steps=tuple(Step(queries=q, right=k, guesses=40) for q, k in ((1, 20), (8, 24), (64, 30))),
    chance=0.5,
    allowed=0.88,
    epsilon=1.0,
)


def test_the_verdict_says_all_that_counts() -> None:
    assert OUTCOME.verdict == (
        "Averaging against discreet: after 64 queries, the attack guessed 75% of 40 secrets "
        "correctly (95% interval 58.8% to 87.3%). Random guessing is right 50% of the "
        "time. ε = 1 allows at most 88%."
    )


def test_where_nothing_is_promised_the_verdict_says_so() -> None:
    raw = replace(OUTCOME, against="raw", allowed=None, epsilon=None)
    assert raw.verdict.endswith(" of the time. raw gives no guarantee.")


def test_what_is_asked_after_a_refusal_counts_for_nothing() -> None:
    stopped = replace(OUTCOME, refused_after=10)
    assert [step.queries for step in stopped.answered] == [1, 8, 10]
    assert stopped.last == Step(queries=10, right=30, guesses=40)
    assert "the target stopped answering after 10 queries. The attack guessed" in stopped.verdict
    assert replace(OUTCOME, refused_after=64).answered == OUTCOME.steps


@pytest.mark.parametrize("right", [0, 1, 20, 39, 40])
def test_intervals_hold_what_the_guesses_are_compatible_with(right: int) -> None:
    low, high = Step(queries=1, right=right, guesses=40).interval
    assert 0 <= low <= right / 40 <= high <= 1
    assert right == 0 or binom.sf(right - 1, 40, low) == pytest.approx(0.025, rel=1e-5)
    assert right == 40 or binom.cdf(right, 40, high) == pytest.approx(0.025, rel=1e-5)


def test_everything_can_be_written_as_json() -> None:
    told = json.loads(json.dumps(OUTCOME.to_dict()))
    assert told["success"] == 0.75
    assert told["allowed"] == 0.88
    assert [each["queries"] for each in told["steps"]] == [1, 8, 64]
    assert told["verdict"] == OUTCOME.verdict


def test_pictures_show_one_outcome_or_several(tmp_path: Path) -> None:
    alone = OUTCOME.plot().save(tmp_path / "one.png")
    raw = replace(OUTCOME, against="raw", allowed=None, epsilon=None, refused_after=8)
    several = plot_outcomes([raw, OUTCOME], title="averaging")
    assert alone.stat().st_size > 10_000
    _, names = several.figure.axes[0].get_legend_handles_labels()
    assert names == ["raw", "discreet", "allowed: 88%", "stopped answering", "random guessing"]


def test_a_picture_has_a_line_for_every_defence_and_room_for_every_interval() -> None:
    steps = (Step(queries=1, right=1, guesses=8), Step(queries=2, right=4, guesses=8))
    outcomes = [
        Outcome(attack="a", against=f"d{number}", steps=steps, chance=0.5, refused_after=2)
        for number in range(8)
    ]
    (axes,) = plot_outcomes(outcomes).figure.axes
    _, named = axes.get_legend_handles_labels()
    assert axes.get_title() == "a"
    assert named == [*(f"d{number}" for number in range(8)), "stopped answering", "random guessing"]
    assert axes.get_ylim()[0] <= steps[0].interval[0]
