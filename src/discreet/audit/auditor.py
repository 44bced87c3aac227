"""Run a subject on two neighbouring inputs, find the event that reveals most, and test it."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from time import perf_counter
from typing import TypeVar

import numpy as np

from discreet.audit.bounds import Count, delta_down, epsilon_down
from discreet.audit.events import Claim, Event, Parts, parts, telling_events
from discreet.audit.findings import Finding
from discreet.audit.subjects import Outputs, Subject
from discreet.errors import ParameterError
from discreet.parameters import Real, confidence_level, rational, whole

CONFIDENCE = 1 - Fraction(1, 10**8)
"""One audit in 10^8 is a false alarm, so one trial of a hundred subjects in a million has one."""

OWN_CONFIDENCE = Fraction(999, 1000)
"""The default for `lower_bound`, which has fewer runs."""

EPSILON_MOST = 10**100
"""The largest epsilon that can be claimed."""

RUNS_LEAST = 40
"""Fewer runs prove nothing about any mechanism."""

Input = TypeVar("Input")


def audit(subject: Subject, *, runs: int | None = None, confidence: Real = CONFIDENCE) -> Finding:
    """Run a subject `runs` times on each of its two inputs and return a lower bound on epsilon.

    If the claim is true, the audit reports a violation with probability at most 1 - confidence.
    """
    started = perf_counter()
    count = whole("runs", subject.runs if runs is None else runs, least=RUNS_LEAST)
    return audit_outputs(
        subject.here(count),
        subject.there(count),
        name=subject.name,
        epsilon=subject.epsilon,
        delta=subject.delta,
        confidence=confidence,
        is_broken=subject.is_broken,
        started=started,
    )


def lower_bound(  # noqa: PLR0913 - a function, a pair and a claim
    mechanism: Callable[[Input], object],
    here: Input,
    there: Input,
    *,
    epsilon: Real | None = None,
    delta: Real = 0,
    runs: int = 10_000,
    confidence: Real = OWN_CONFIDENCE,
) -> Finding:
    """Compute a lower bound on epsilon for any function from calls on two neighbouring inputs.

    Calls must be independent of each other. The two inputs take turns, so a change over time is not
    mistaken for a difference between them.
    """
    started = perf_counter()
    count = whole("runs", runs, least=RUNS_LEAST)
    outputs: tuple[list[object], list[object]] = ([], [])
    for _ in range(count):
        outputs[0].append(mechanism(here))
        outputs[1].append(mechanism(there))
    return audit_outputs(
        *outputs,
        name=getattr(mechanism, "__qualname__", type(mechanism).__name__),
        epsilon=epsilon,
        delta=delta,
        confidence=confidence,
        started=started,
    )


def audit_outputs(  # noqa: PLR0913 - two samples and a claim
    here: Outputs,
    there: Outputs,
    *,
    name: str = "outputs",
    epsilon: Real | None = None,
    delta: Real = 0,
    confidence: Real = CONFIDENCE,
    is_broken: bool = False,
    started: float | None = None,
) -> Finding:
    """Compute a lower bound on epsilon from independent outputs that already exist."""
    begun = perf_counter() if started is None else started
    claim = _claim(epsilon, delta, confidence)
    sides = parts(_enough(here), _enough(there))
    event, measured, delta_measured = _judged(telling_events(*sides, claim), sides, claim)
    counts = _counts(event, sides)
    return Finding(
        name=name,
        epsilon=None if epsilon is None else claim.epsilon,
        delta=claim.delta,
        measured=measured,
        delta_measured=0.0 if epsilon is None else delta_measured,
        event=event.sentence,
        is_here=event.is_here,
        here=counts[0],
        there=counts[1],
        runs=len(here),
        confidence=float(1 - claim.miss),
        seconds=perf_counter() - begun,
        is_broken=is_broken,
    )


def _judged(
    events: list[Event], sides: tuple[Parts, Parts], claim: Claim
) -> tuple[Event, float, float]:
    """Count each event in the last part, and divide the error probability among the events."""
    miss = claim.miss / len(events)
    bounds: list[tuple[float, float, Event]] = []
    for event in events:
        more, fewer = _counts(event, sides) if event.is_here else _counts(event, sides)[::-1]
        epsilon = epsilon_down(more, fewer, delta=claim.delta, miss=miss)
        bounds.append((epsilon, delta_down(more, fewer, epsilon=claim.epsilon, miss=miss), event))
    worst = max(bounds, key=lambda each: each[:2])
    return worst[2], worst[0], max(delta for _, delta, _ in bounds)


def _counts(event: Event, sides: tuple[Parts, Parts]) -> tuple[Count, Count]:
    return event.count(sides[0].judge), event.count(sides[1].judge)


def _claim(epsilon: Real | None, delta: Real, confidence: Real) -> Claim:
    exact = 0 if epsilon is None else rational("epsilon", epsilon, least=0, most=EPSILON_MOST)
    slack = rational("delta", delta, least=0, below=1)
    miss = 1 - confidence_level(confidence)
    return Claim(epsilon=float(exact), delta=float(slack), miss=float(miss))


def _enough(outputs: Outputs) -> Outputs:
    if not isinstance(outputs, Sequence) and np.ndim(outputs) == 0:
        rule = "must be a list or an array, with one output for each run"
        raise ParameterError("outputs", type(outputs).__name__, rule)
    if len(outputs) < RUNS_LEAST:
        raise ParameterError("runs", len(outputs), f"must be {RUNS_LEAST} or more")
    return outputs
