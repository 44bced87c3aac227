"""The auditor is wrong as seldom as it says, whatever it searches (R1)."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binomtest

from discreet.audit import Finding, audit_outputs
from discreet.audit import auditor as auditor_module
from discreet.audit.event_search import RunParts
from discreet.audit.features import output_table
from discreet.audit.subjects import Outputs
from discreet.mechanisms import Geometric, RandomizedResponse
from tests.statistics import FALSE_ALARM

AUDITS, RUNS = 1_000, 120
CONFIDENCE = 0.9
Draw = Callable[[int], NDArray[np.int64]]


def categories(value: int) -> Draw:
    """Draw reports of one of 60 values: so few runs of so many values that a search finds luck."""
    response = RandomizedResponse(epsilon=0.01, categories=60)
    return lambda count: response.release(np.full(count, value))


def counts(value: int) -> Draw:
    noise = Geometric(epsilon=0.01, sensitivity=1)
    return lambda count: noise.release(np.full(count, value))


def wrongs(draw: Callable[[int], Draw]) -> int:
    """Return how many of so many audits claim more than the epsilon that is exactly there."""
    found = [
        audit_outputs(draw(0)(RUNS), draw(1)(RUNS), epsilon=0.01, confidence=CONFIDENCE)
        for _ in range(AUDITS)
    ]
    return sum(each.is_violated for each in found)


def is_honest(wrong: int) -> bool:
    """Tell whether so many wrongs are in keeping with the confidence; errs once in a million."""
    test = binomtest(wrong, AUDITS, 1 - CONFIDENCE, "greater")
    return float(test.pvalue) > FALSE_ALARM


@pytest.mark.parametrize("draw", [categories, counts])
def test_claims_are_wrong_no_more_often_than_stated(draw: Callable[[int], Draw]) -> None:
    """A fresh seed cries wolf once in 10^6."""
    assert is_honest(wrongs(draw))


def test_an_auditor_that_judges_by_the_runs_it_searched_is_dishonest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The broken twin: all three parts are the same runs."""

    def same_parts(here: Outputs, there: Outputs) -> tuple[RunParts, RunParts]:
        first, second = (
            RunParts(each, each, each) for each in (output_table(here), output_table(there))
        )
        return first, second

    monkeypatch.setattr(auditor_module, "parts", same_parts)
    assert not is_honest(wrongs(categories))


def test_what_is_the_same_on_both_sides_is_never_told_apart() -> None:
    outputs = [("a", 1.5, None)] * 400
    found: Finding = audit_outputs(outputs, outputs, epsilon=0)
    assert found.measured == 0
    assert found.delta_measured == 0
    assert not found.is_violated
