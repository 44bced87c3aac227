"""Runs a subject, judges the event found; findings, and the bounds that counts prove."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from time import perf_counter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.audit.event_search import Claim, OutputEvent, RunParts, parts, telling_events
from discreet.audit.subjects import Outputs, Subject
from discreet.binomial import Count, delta_down, epsilon_down
from discreet.errors import ParameterError
from discreet.parameters import Real, confidence_level, integer, rational
from discreet.plots import Plot, plot_claims


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A lower bound on epsilon, the event behind it, and the confidence.

    All measured bounds hold together, except with probability 1 - confidence. They are lower bounds
    only: a small bound does not prove that little is revealed.
    """

    name: str
    epsilon: float | None
    """The claimed epsilon, or None if none is claimed."""
    delta: float
    measured: float
    """The lower bound on epsilon, given delta."""
    delta_measured: float
    """The lower bound on delta, given the claimed epsilon. 0 if no epsilon is claimed."""
    event: str
    """The event with the largest lower bound: a counterexample, if the claim is refuted."""
    is_here: bool
    """Whether the event is likelier here than there."""
    here: Count
    there: Count
    runs: int
    """The number of runs on each input, including those for the search."""
    confidence: float
    seconds: float
    is_broken: bool = False
    """Whether the subject is deliberately broken."""

    @property
    def is_violated(self) -> bool:
        """Whether the claim is refuted."""
        if self.epsilon is None:
            return False
        return self.measured > self.epsilon or self.delta_measured > self.delta

    @property
    def is_right(self) -> bool:
        """Whether the result is correct: refuted if, and only if, deliberately broken."""
        return self.is_violated == self.is_broken

    @property
    def power(self) -> float | None:
        """The lower bound as a share of the claimed epsilon."""
        return self.measured / self.epsilon if self.epsilon else None

    @property
    def counterexample(self) -> str:
        """The event and how often it happened."""
        return f"{self.event}: {_counted(self.here)} here, {_counted(self.there)} there"

    def __str__(self) -> str:
        claimed = "" if self.epsilon is None else f" (claimed: {self.epsilon:.4g})"
        return (
            f"{self.name}: ε is at least {self.measured:.4g}{claimed}. "
            f"Event: {self.counterexample}."
        )


def plot(findings: Sequence[Finding], *, title: str = "Claimed and measured ε") -> Plot:
    """Plot claimed epsilon against its lower bound. Above the diagonal, a claim is refuted."""
    groups = {"Discreet": False, "deliberately broken": True}
    return plot_claims(
        {name: _points(findings, each) for name, each in groups.items()}, title=title
    )


def _points(findings: Sequence[Finding], is_broken: bool) -> NDArray[np.float64]:
    pairs = [
        (each.epsilon, each.measured)
        for each in findings
        if each.epsilon is not None and each.is_broken is is_broken
    ]
    return np.array(pairs, np.float64).reshape(-1, 2)


def _counted(count: Count) -> str:
    return f"{count.hits:,} of {count.runs:,}"


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
    count = integer("runs", subject.runs if runs is None else runs, least=RUNS_LEAST)
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
    count = integer("runs", runs, least=RUNS_LEAST)
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
    events: list[OutputEvent], sides: tuple[RunParts, RunParts], claim: Claim
) -> tuple[OutputEvent, float, float]:
    """Count each event in the last part, and divide the error probability among the events."""
    miss = claim.miss / len(events)
    bounds: list[tuple[float, float, OutputEvent]] = []
    for event in events:
        more, fewer = _counts(event, sides) if event.is_here else _counts(event, sides)[::-1]
        epsilon = epsilon_down(more, fewer, delta=claim.delta, miss=miss)
        bounds.append((epsilon, delta_down(more, fewer, epsilon=claim.epsilon, miss=miss), event))
    worst = max(bounds, key=lambda each: each[:2])
    return worst[2], worst[0], max(delta for _, delta, _ in bounds)


def _counts(event: OutputEvent, sides: tuple[RunParts, RunParts]) -> tuple[Count, Count]:
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
