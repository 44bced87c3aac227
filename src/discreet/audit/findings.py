"""The finding of an audit: a claim, and what the runs prove about it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.audit.bounds import Count
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
