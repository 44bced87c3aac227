"""What an audit found: a claim, and what the runs prove about it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.audit.bounds import Count
from discreet.plots import Plot, plot_claims


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A lower bound on epsilon, the event that proves it, and how sure that is.

    All that is measured holds together but for a chance of 1 - confidence. It is a proof of what is
    given away at least; that little was found proves nothing.
    """

    name: str
    epsilon: float | None
    """What is claimed, if anything is."""
    delta: float
    measured: float
    """No epsilon below this is true, given delta."""
    delta_measured: float
    """No delta below this is true, given the claimed epsilon; 0 if none is claimed."""
    event: str
    """The event with the worst odds: a counterexample, if the claim is refuted."""
    is_here: bool
    """Whether the event is likelier here than there."""
    here: Count
    there: Count
    runs: int
    """How often each side was run, search included."""
    confidence: float
    seconds: float
    is_broken: bool = False
    """Whether the subject is broken on purpose."""

    @property
    def is_violated(self) -> bool:
        """Whether the claim is refuted."""
        if self.epsilon is None:
            return False
        return self.measured > self.epsilon or self.delta_measured > self.delta

    @property
    def is_right(self) -> bool:
        """Whether this is as it should be: refuted if broken on purpose, and only then."""
        return self.is_violated == self.is_broken

    @property
    def power(self) -> float | None:
        """How much of the claimed epsilon was seen."""
        return self.measured / self.epsilon if self.epsilon else None

    @property
    def counterexample(self) -> str:
        """The event and how often it happened."""
        return f"{self.event}: {_counted(self.here)} here, {_counted(self.there)} there"

    def __str__(self) -> str:
        claimed = "" if self.epsilon is None else f" (claimed: {self.epsilon:.4g})"
        return (
            f"{self.name}: epsilon is at least {self.measured:.4g}{claimed}; {self.counterexample}"
        )


def plot(findings: Sequence[Finding], *, title: str = "What is claimed, what was measured") -> Plot:
    """Draw what is claimed against what was measured; above the diagonal a claim is refuted."""
    groups = {"ours": False, "broken on purpose": True}
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
    return f"{_grouped(count.hits)} of {_grouped(count.runs)}"


def _grouped(number: int) -> str:
    return f"{number:,}".replace(",", " ")
