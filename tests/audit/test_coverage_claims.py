"""Coverage keeps its price, and with half of its noise it is caught."""

import pytest

from discreet.audit import audit
from discreet.audit.coverage_claims import broken_subjects, subjects
from discreet.audit.subjects import Subject

RUNS = 2_000


@pytest.mark.parametrize("subject", subjects(), ids=lambda each: each.name)
def test_no_event_tells_neighbours_apart_better_than_was_paid_for(subject: Subject) -> None:
    """False alarms: one in 10^8 for each measurement."""
    finding = audit(subject, runs=RUNS)
    assert not finding.is_violated, str(finding)


@pytest.mark.parametrize("subject", broken_subjects(), ids=lambda each: each.name)
def test_half_of_the_noise_is_caught(subject: Subject) -> None:
    finding = audit(subject)
    assert finding.is_violated, str(finding)
