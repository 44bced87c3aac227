"""Whole questions keep their price; each twin, broken in one place, is caught."""

import pytest

from discreet.audit.auditor import audit
from discreet.audit.questions import experiments, subjects
from discreet.audit.questions.experiments import Experiment, answer_to, opened

PUSH = 2_500
"""Runs of a push; the quick audit and the long one take more."""

EXPERIMENTS = {each.name: each for each in experiments()}


def few(experiment: Experiment) -> int:
    return min(PUSH, experiment.runs)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_no_event_tells_neighbours_apart_better_than_was_paid_for(name: str) -> None:
    """False alarms: one in 10^8 for each question."""
    finding = audit(EXPERIMENTS[name].subject(), runs=few(EXPERIMENTS[name]))
    assert not finding.is_violated, str(finding)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_claim_is_what_the_ledger_was_charged(name: str) -> None:
    experiment = EXPERIMENTS[name]
    with opened(experiment, experiment.here, 3) as curator:
        before = curator.remaining
        for each in experiment.questions:
            answer_to(curator, each)
        after = curator.remaining
    assert before.epsilon - after.epsilon == experiment.epsilon
    assert before.delta - after.delta == experiment.delta


def test_names_tell_subjects_apart() -> None:
    names = [each.name for each in subjects()]
    assert len(set(names)) == len(names)
