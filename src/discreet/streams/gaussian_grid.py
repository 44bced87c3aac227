"""Gaussian noise for a whole stream, on a grid that follows from public parameters only.

Exact numbers are integers, in units that the mechanism states. The grid is finer or coarser than
these units by a power of two. It is fine enough that a step is at most 2**-26 of the deviation. If
it is coarser than a unit, numbers are floored to it, and the sensitivity pays for that. All noise
of the stream together is charged as one event (docs/proofs/streams.md, section 2).
"""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from numpy.typing import NDArray

from discreet.accounting.calibration import analytic_gaussian_multiplier
from discreet.accounting.events import ApproximateEvent, DiscreteGaussianEvent, Event
from discreet.errors import ParameterError
from discreet.mechanisms.exact import Grid, Integers, clamped, noisy_sum, power_of_two_below
from discreet.mechanisms.gaussian import FINENESS, VARIATION, VECTOR_FINENESS
from discreet.mechanisms.sensitivity import root_up
from discreet.noise import SYSTEM, Entropy, discrete_gaussian
from discreet.noise.gaussian import VARIANCE_MOST
from discreet.noise.uniform import FloatArray, IntArray
from discreet.streams.mechanism import Contribution, LinearStream


@dataclass(frozen=True, slots=True)
class GaussianGrid:
    """The step of the grid, in units of the exact numbers, and the event of the whole stream."""

    step: Fraction
    event: DiscreteGaussianEvent

    @property
    def variance(self) -> Fraction:
        """The variance of each noise, in squared units."""
        return self.event.variance * self.step**2

    def release(self, exact: NDArray[Any], entropy: Entropy) -> IntArray:
        """Return exact integers in steps of the grid, floored, with fresh noise on each."""
        places = self.places(exact)
        noise = discrete_gaussian(self.event.variance, places.size, entropy=entropy)
        return noisy_sum(places, noise)

    def places(self, exact: NDArray[Any]) -> IntArray:
        """Return exact integers, of 64 bits or as objects, in steps of the grid.

        They are floored to the grid and clamped to 64 bits.
        """
        if exact.dtype != object:
            return Grid(self.step).places(exact)
        coarser = self.step.numerator.bit_length() - 1
        finer = self.step.denominator.bit_length() - 1
        steps: NDArray[Any] = (exact << finer) >> coarser
        return clamped(list(steps.flat), steps.shape)

    def values(self, record: IntArray) -> FloatArray:
        """Return numbers of the record in units."""
        return Grid(self.step).values(record)


def gaussian_grid(
    epsilon: Fraction,
    delta: Fraction,
    sensitivity_squared: Fraction,
    contribution: Contribution,
    *,
    computed_below: Fraction = Fraction(0),
) -> GaussianGrid:
    """Return the grid with the least noise that makes the whole stream (epsilon, delta)-DP.

    The sensitivity is in units. `computed_below` is the most units by which exact numbers are
    computed too low.
    """
    draws = contribution.ticks * contribution.cells
    multiplier = analytic_gaussian_multiplier(epsilon, delta, variation=draws * VARIATION)
    size = root_up(sensitivity_squared)
    changed = root_up(Fraction(contribution.most_changed))
    step = _step(size, multiplier, changed, is_exact=computed_below == 0)
    # Floors are off by less than a step, so their differences are within the stated ones + 1.
    lost = computed_below / step + 1 if step > 1 or computed_below else Fraction(0)
    squared = sensitivity_squared / step**2
    if lost:
        squared = (size / step + lost * changed) ** 2
    variance = squared * multiplier**2
    if variance > VARIANCE_MOST:
        rule = "must be larger (or delta larger, or the stream shorter): the noise is too large"
        raise ParameterError("epsilon", epsilon, rule)
    event = DiscreteGaussianEvent(sensitivity_squared=squared, variance=variance, answers=draws)
    return GaussianGrid(step=step, event=event)


def _step(size: Fraction, multiplier: Fraction, changed: Fraction, *, is_exact: bool) -> Fraction:
    """Return a power of two: the coarsest step that costs next to nothing."""
    by_noise = power_of_two_below(size * multiplier / FINENESS)
    by_floors = power_of_two_below(size / (VECTOR_FINENESS * changed))
    coarse = min(by_noise, by_floors)
    # Up to a step of 1 nothing is floored, if the exact numbers are integers.
    return coarse if coarse > 1 or not is_exact else min(by_noise, Fraction(1))


class GaussianStream(LinearStream):
    """What mechanisms share that add noise of one grid to exact numbers of each tick."""

    __slots__ = ()

    epsilon: Fraction
    delta: Fraction
    grid: GaussianGrid

    @abstractmethod
    def _exact(self, increments: Integers, since: int) -> NDArray[Any]:
        """Return the exact numbers of the ticks after `since`."""

    @property
    def events(self) -> tuple[Event, ...]:
        """What the whole stream is charged as, if epsilons are added up."""
        return (ApproximateEvent(epsilon=self.epsilon, delta=self.delta),)

    @property
    def concentrated_events(self) -> tuple[DiscreteGaussianEvent, ...]:
        """What the whole stream is charged as with concentrated accounting."""
        return (self.grid.event,)

    def release(
        self, increments: Integers, since: int = 0, *, entropy: Entropy = SYSTEM
    ) -> IntArray:
        """Return the record of the ticks after `since`, from the exact increments of all ticks.

        A row for each tick, a column for each cell, in steps of the grid. Each tick must be
        released once only, because a second release has noise of its own.
        """
        return self.grid.release(self._exact(increments, since), entropy)
