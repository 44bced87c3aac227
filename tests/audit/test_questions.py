"""Whole questions keep their price; each twin, broken in one place, is caught."""

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.audit import audit
from discreet.audit.broken_questions import (
    broken_experiments,
    broken_questions,
    experiments,
    subjects,
)
from discreet.audit.question_curators import forgetting, parts_of
from discreet.audit.question_experiments import Experiment, answer_to, opened
from discreet.audit.question_sequences import concentrated, found_first, limited
from discreet.audit.question_statistics import measured
from discreet.curator import Curator

PART = 5
"""At a push questions are run a fifth as often as in a quick audit."""

OURS = {each.name: each for each in experiments()}
LASTING = {
    "a released number in a condition",
    "COUNT(*) of what is replaced, alone",
    "LIMIT",
}
"""What takes seconds, and is left to the quick audit and the long run."""

BROKEN = {each.name: each for each in broken_experiments()}


def quickly(experiment: Experiment) -> int:
    return experiment.runs if experiment.is_alone else experiment.runs // PART


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in LASTING else ()) for name in OURS],
)
def test_no_event_tells_neighbours_apart_better_than_was_paid_for(name: str) -> None:
    """False alarms: one in 10^8 for each question."""
    finding = audit(OURS[name].subject(), runs=quickly(OURS[name]))
    assert not finding.is_violated, str(finding)


@pytest.mark.parametrize("name", BROKEN)
def test_every_twin_is_caught(name: str) -> None:
    finding = audit(BROKEN[name].subject())
    assert finding.is_violated, str(finding)


@pytest.mark.slow
def test_bounds_that_are_found_first_are_paid_for() -> None:
    finding = audit(found_first().subject(), runs=400)
    assert not finding.is_violated, str(finding)


def asked_of(experiment: Experiment, curator: Curator) -> list[bool]:
    """Ask everything, and return which questions were answered."""
    return [answer_to(curator, each) is not None for each in experiment.questions]


@pytest.mark.parametrize("name", [name for name in OURS if name != concentrated().name])
def test_the_claim_is_what_the_ledger_was_charged(name: str) -> None:
    experiment = OURS[name]
    with opened(experiment, experiment.here, 2) as curator:
        before = curator.remaining
        asked_of(experiment, curator)
        after = curator.remaining
    assert before.epsilon - after.epsilon == experiment.epsilon
    assert before.delta - after.delta == experiment.delta


@pytest.mark.parametrize("experiment", [limited(), concentrated()], ids=lambda each: each.name)
def test_the_budget_is_the_claim_where_it_ends_a_sequence(experiment: Experiment) -> None:
    with opened(experiment, experiment.here, 3) as curator:
        answered = asked_of(experiment, curator)
    assert answered == sorted(answered, reverse=True)
    assert {True, False} == set(answered)
    assert (experiment.epsilon, experiment.delta) == experiment.budget


@pytest.mark.parametrize("experiment", measured()[::3], ids=lambda each: each.name)
def test_copies_have_the_noise_of_one_alone(experiment: Experiment) -> None:
    """So a copy among thousands is a run of the question about it alone."""
    noises = []
    for copies in (2, 1000):
        with opened(experiment, experiment.here, copies) as curator:
            (asked,) = experiment.questions
            told = curator.explain(asked.sql, epsilon=asked.epsilon)
            noises.append([each.margin_text for each in told.columns])
    assert noises[0] == noises[1]


def is_correlated(numbers: NDArray[np.float64]) -> bool:
    """Of independent numbers it would be said once in 10^6: 4.9 deviations, to either side."""
    return bool(abs(np.corrcoef(numbers[:-1], numbers[1:])[0, 1]) > 4.9 / np.sqrt(len(numbers)))


def test_copies_have_no_noise_in_common() -> None:
    """The twin gives every second copy the noise of the one before."""
    experiment = OURS["COUNT(*)"]
    numbers = experiment.outputs(experiment.here, 10_000)[:, 0]
    assert not is_correlated(numbers)
    assert is_correlated(np.repeat(numbers[::2], 2))


def test_curators_of_parts_are_those_that_open_makes() -> None:
    experiment = OURS["public JOIN, 1 row becomes 3"]
    (asked,) = experiment.questions
    with (
        opened(experiment, experiment.here, 3) as whole,
        parts_of(experiment, experiment.here, 3).curator() as made,
        forgetting(experiment, experiment.here, 3) as forgetful,
    ):
        told = {str(each.explain(asked.sql, epsilon=1)) for each in (whole, made, forgetful)}
        assert len({repr(each.catalog) for each in (whole, made, forgetful)}) == 1
    assert len(told) == 1


def test_what_an_absent_row_and_a_refusal_show_is_nothing() -> None:
    beyond = limited()
    seen = beyond.outputs(beyond.here, 10)
    assert np.isnan(seen).all(axis=0).tolist() == [False] * 4 + [True] * 2
    absent = OURS["unknown keys of 0 others"]
    assert np.isnan(absent.outputs(absent.there, 10)).all()


def test_names_tell_subjects_apart() -> None:
    names = [each.name for each in (*subjects(), *broken_questions())]
    assert len(set(names)) == len(names)
    assert all(each.is_broken for each in broken_questions())
