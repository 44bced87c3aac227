"""The tree of partial sums, with noise on each node that is drawn when the node is complete."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Self

import numpy as np

from discreet.accounting.events import ApproximateEvent, Event, PureEvent
from discreet.mechanisms.accuracy import checked_epsilon
from discreet.mechanisms.exact import Integers
from discreet.mechanisms.geometric import Geometric
from discreet.noise import SYSTEM, Entropy
from discreet.noise.uniform import FloatArray, IntArray
from discreet.parameters import Real, call_text, freeze_fields, integer, rational
from discreet.streams.gaussian_grid import GaussianGrid, gaussian_grid
from discreet.streams.mechanism import (
    TICKS_MOST,
    Contribution,
    LinearStream,
    checked_contribution,
    gaussian_half_widths,
)
from discreet.streams.nodes import (
    Digits,
    clamped_integers,
    exact_totals,
    laplace_sum_margins,
    laplace_variance,
    levels_needed,
    mean_noises,
    noises_used,
)


@dataclass(frozen=True, slots=True, init=False)
class Tree(LinearStream):
    """Release a stream as noisy nodes of a tree: epsilon-DP, or (epsilon, delta)-DP, in all.

    Each node is the sum of arity**l ticks (Dwork, Naor, Pitassi, Rothblum 2010; Chan, Shi, Song
    2011). At each tick the largest node that ends there is released; no running total needs the
    others. A row is in at most `levels` nodes. Without delta the noise is geometric, with delta
    discrete Gaussian. Noise is fresh, so streams may react to what was released.
    """

    ticks: int
    epsilon: Fraction
    delta: Fraction
    arity: int
    rows_per_unit: int
    rows_per_tick: int | None
    magnitude: int
    cells: int
    levels: int = field(repr=False)
    """The number of nodes that a row can be in."""
    noise: Geometric | GaussianGrid = field(repr=False)

    __repr__ = call_text

    def __init__(  # noqa: PLR0913 - each is a term of the guarantee
        self,
        *,
        ticks: int,
        epsilon: Real,
        delta: Real = 0,
        arity: int = 2,
        rows_per_unit: int = 1,
        rows_per_tick: int | None = None,
        magnitude: int = 1,
        cells: int = 1,
    ) -> None:
        contribution = checked_contribution(
            ticks=ticks,
            cells=cells,
            rows_per_unit=rows_per_unit,
            rows_per_tick=rows_per_tick,
            magnitude=magnitude,
        )
        epsilon = checked_epsilon(epsilon)
        delta = rational("delta", delta, least=0, below=1)
        arity = integer("arity", arity, least=2, most=TICKS_MOST)
        levels = levels_needed(contribution.ticks, arity, Digits.PLAIN)
        noise: Geometric | GaussianGrid
        if delta:
            squared = Fraction(_squared_sensitivity(contribution, arity, levels))
            noise = gaussian_grid(epsilon, delta, squared, contribution)
        else:
            size = contribution.most_rows * contribution.magnitude * levels
            noise = Geometric(epsilon=epsilon, sensitivity=size)
        freeze_fields(
            self,
            ticks=contribution.ticks,
            epsilon=epsilon,
            delta=delta,
            arity=arity,
            rows_per_unit=contribution.rows_per_unit,
            rows_per_tick=contribution.rows_per_tick,
            magnitude=contribution.magnitude,
            cells=contribution.cells,
            levels=levels,
            noise=noise,
        )

    @classmethod
    def best(  # noqa: PLR0913 - each is a term of the guarantee
        cls,
        *,
        ticks: int,
        epsilon: Real,
        delta: Real = 0,
        rows_per_unit: int = 1,
        rows_per_tick: int | None = None,
        magnitude: int = 1,
        cells: int = 1,
    ) -> Self:
        """Return the tree whose arity has the least rms deviation."""
        contribution = checked_contribution(
            ticks=ticks,
            cells=cells,
            rows_per_unit=rows_per_unit,
            rows_per_tick=rows_per_tick,
            magnitude=magnitude,
        )
        is_pure = rational("delta", delta, least=0, below=1) == 0

        def mean_square(arity: int) -> float:
            levels = levels_needed(contribution.ticks, arity, Digits.PLAIN)
            noises = mean_noises(contribution.ticks, arity, levels, Digits.PLAIN)
            squared = _squared_sensitivity(contribution, arity, levels)
            return noises * (levels**2 if is_pure else squared)

        return cls(
            ticks=contribution.ticks,
            epsilon=epsilon,
            delta=delta,
            arity=min(_arities(contribution.ticks), key=mean_square),
            rows_per_unit=contribution.rows_per_unit,
            rows_per_tick=contribution.rows_per_tick,
            magnitude=contribution.magnitude,
            cells=contribution.cells,
        )

    @property
    def events(self) -> tuple[Event, ...]:
        """What the whole stream is charged as, if epsilons are added up."""
        if self.delta:
            return (ApproximateEvent(epsilon=self.epsilon, delta=self.delta),)
        return (PureEvent(epsilon=self.epsilon),)

    @property
    def concentrated_events(self) -> tuple[Event, ...]:
        """What the whole stream is charged as with concentrated accounting."""
        return (self.noise.event,) if isinstance(self.noise, GaussianGrid) else self.events

    def release(
        self, increments: Integers, since: int = 0, *, entropy: Entropy = SYSTEM
    ) -> IntArray:
        """Return the record of the ticks after `since`, from the exact increments of all ticks.

        A row for each tick, a column for each cell. Each tick must be released once only.
        """
        exact = self._exact(increments, since)
        if isinstance(self.noise, GaussianGrid):
            return self.noise.release(exact, entropy)
        return self.noise.release(exact, entropy=entropy)

    def _exact(self, increments: Integers, since: int) -> IntArray:
        """Return the sum of the node that is released at each tick."""
        exact, since = self._checked_increments(increments, since)
        totals = exact_totals(exact)
        ends = np.arange(since + 1, len(exact) + 1)
        return clamped_integers(totals[ends] - totals[ends - self._sizes(ends)])

    def _sizes(self, ends: IntArray) -> IntArray:
        """Return how many ticks the largest node has that ends at each of these ticks."""
        sizes = np.ones_like(ends)
        for level in range(1, self.levels):
            sizes[ends % self.arity**level == 0] = self.arity**level
        return sizes

    def _totals(self, record: IntArray) -> FloatArray:
        values = record.astype(np.float64)
        if isinstance(self.noise, GaussianGrid):
            values = self.noise.values(record)
        found = np.concatenate([np.zeros((1, record.shape[1])), values])
        # A total is that at the start of its node, plus the node. Larger nodes come first.
        for level in reversed(range(self.levels)):
            size = self.arity**level
            is_top = level == self.levels - 1
            steps = found[::size]
            if is_top:
                found[::size] = np.cumsum(steps, axis=0)
                continue
            for digit in range(1, self.arity):
                later = steps[digit :: self.arity]
                later += steps[digit - 1 :: self.arity][: len(later)]
        return found[1:]

    def _noises(self, window: int | None) -> IntArray:
        return noises_used(self.ticks, self.arity, self.levels, Digits.PLAIN, window)

    def _variances(self, window: int | None) -> FloatArray:
        noises = self._noises(window).astype(np.float64)
        if isinstance(self.noise, GaussianGrid):
            return noises * float(self.noise.variance)
        return noises * laplace_variance(self.noise.scale)

    def _half_widths(self, miss: Fraction, window: int | None, last: int) -> FloatArray:
        if isinstance(self.noise, GaussianGrid):
            return gaussian_half_widths(self._variances(window)[:last], miss)
        return laplace_sum_margins(self.noise.scale, self._noises(window)[:last], miss)


def _squared_sensitivity(contribution: Contribution, arity: int, levels: int) -> int:
    """Return a bound on the squared L2 sensitivity of all nodes.

    On level l a node has at most as many rows of a unit as fit into arity**l ticks. The sum of
    squares is largest if as many nodes as possible are full.
    """
    rows, total = contribution.most_rows, 0
    for level in range(levels):
        most = min(rows, contribution.most_in_a_tick * arity**level)
        full, rest = divmod(rows, most)
        total += full * most**2 + rest**2
    return total * contribution.magnitude**2


def _arities(ticks: int) -> list[int]:
    """Return the arities among which the best one is: for each number of levels a few."""
    found = {2, max(2, ticks)}
    for levels in range(1, ticks.bit_length() + 1):
        least = max(2, round(ticks ** (1 / levels)) - 1)
        found.update(range(least, least + 4 + least // 2 if levels > 1 else least + 2))
    return sorted(found)
