"""Partition selection by Gaussian noise: for units that are counted in several groups."""

from bisect import bisect_left
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, isqrt

import numpy as np

from discreet.accounting.events import LEAST_NUMBER, ApproximateEvent, ComposedEvent
from discreet.errors import ParameterError
from discreet.mechanisms.accuracy import checked_epsilon, gaussian_accuracy, miss_probability
from discreet.mechanisms.distributions import Distribution
from discreet.mechanisms.exact import Integers
from discreet.mechanisms.gaussian import VARIATION, Gaussian, noisy_integers
from discreet.mechanisms.partition_selection import (
    GROUPS_MOST,
    Selected,
    checked_units,
    exact_units,
)
from discreet.mechanisms.sensitivity import ADD_REMOVE, Neighbours, Sensitivity
from discreet.noise import SYSTEM, Entropy
from discreet.noise.enclosures import exp_neg
from discreet.parameters import Real, call_text, choice, freeze_fields, integer, rational

ROOT_HALF_PI_UP = Fraction(39894228041, 10**11)
"""1 / √(2π), rounded up."""

TAIL_BITS = 512
"""Bits after the point of a tail: it is compared with numbers of 10**-110 and more."""


@dataclass(frozen=True, slots=True, init=False)
class GaussianPartitionSelection:
    """Show the groups of many units, with noisy counts: (epsilon, delta)-DP.

    A unit is counted once in each of at most `groups` groups. Between neighbours m counts change,
    each by one: `groups` of them, or twice as many for replace neighbours.

    The count of a group gets Gaussian noise that is (epsilon, delta / 2)-DP for m counts, and is
    rounded. The group is shown if its noisy count is more than the threshold: the smallest one at
    which m groups of one unit are shown with probability delta / 2 at most. A group without units
    is never shown, so only groups in the data are examined.

    The noise grows with √m, that of `PartitionSelection` with m. Proofs:
    docs/proofs/partition_selection.md.
    """

    epsilon: Fraction
    delta: Fraction
    groups: int
    neighbours: Neighbours
    noise: Gaussian = field(repr=False)
    """The noise of the counts that differ between neighbours; all others get the same."""
    threshold: int = field(repr=False)
    """A group is shown if its noisy count is more than this."""

    __repr__ = call_text

    def __init__(
        self,
        *,
        epsilon: Real,
        delta: Real,
        groups: int = 1,
        neighbours: Neighbours | str = ADD_REMOVE,
    ) -> None:
        relation = choice("neighbours", neighbours, Neighbours)
        most = integer("groups", groups, least=1, most=GROUPS_MOST)
        price = checked_epsilon(epsilon)
        slack = rational("delta", delta, above=0, least=LEAST_NUMBER, below=1)
        moved = most if relation is ADD_REMOVE else 2 * most
        size = Fraction(moved)
        noise = Gaussian(
            epsilon=price,
            delta=slack / 2,
            sensitivity=Sensitivity(
                l1=size, l2_squared=size, linf=Fraction(1), neighbours=relation
            ),
            answers=moved,
        )
        freeze_fields(
            self,
            epsilon=price,
            delta=slack,
            groups=most,
            neighbours=relation,
            noise=noise,
            threshold=least_gaussian_threshold(noise, slack / 2 / moved),
        )

    @property
    def event(self) -> ApproximateEvent:
        """The event that one release is charged as, for any number of groups."""
        return ApproximateEvent(epsilon=self.epsilon, delta=self.delta)

    @property
    def concentrated_event(self) -> ComposedEvent:
        """The same release as Gaussian noise, and groups that only one of two neighbours has."""
        shown = ApproximateEvent(epsilon=Fraction(0), delta=self.delta / 2)
        return ComposedEvent(events=(self.noise.event, shown))

    @property
    def scale(self) -> float:
        """The noise's standard deviation."""
        return self.noise.scale

    def release(self, units: Integers, *, entropy: Entropy = SYSTEM) -> Selected:
        """Return which groups are shown, with their noisy numbers of units."""
        exact = exact_units(units)
        noisy = noisy_integers(self.noise, exact, entropy=entropy)
        kept = (noisy > self.threshold) & (exact > 0)
        return Selected(kept, np.where(kept, noisy, 0))

    def distribution(self, units: int) -> "GaussianSelectionDistribution":
        """Return the distribution of the noisy count of a group of `units`, 0 if not shown."""
        count = checked_units(units)
        return GaussianSelectionDistribution(
            units=count, threshold=self.threshold, noisy=self.noise.distribution(count)
        )

    def keep_probability(self, units: int) -> float:
        """Return the probability that a group of `units` is shown."""
        return self.distribution(units).kept

    def smallest_seen(self, probability: Real) -> int:
        """Return the smallest group size that is shown with at least this probability."""
        share = float(rational("probability", probability, above=0, below=1))
        far = self.threshold + 2 + self.margin(1 - Fraction(1, 10**15)) * 2
        counts = range(1, far)
        return counts[bisect_left(counts, True, key=lambda n: self.keep_probability(n) >= share)]

    def margin(self, confidence: Real, answers: int = 1) -> int:
        """Return the margin of error that holds for all `answers` counts at once.

        It holds for groups that are almost always shown. Other groups are shown only if their noise
        is high, so their counts are too large. See `clear`.
        """
        miss = miss_probability(confidence, answers)
        return floor(gaussian_accuracy(self.scale, miss) + float(self.noise.step) + 0.5)

    def clear(self, confidence: Real, answers: int = 1) -> int:
        """Return the count above which `margin` holds even given that the group is shown."""
        return self.threshold + 1 + self.margin(confidence, answers)

    def widest(self, confidence: Real, answers: int = 1) -> int:
        """Return the margin of error of counts up to `clear`, which holds with certainty."""
        return self.threshold + self.margin(confidence, answers)


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianSelectionDistribution:
    """The distribution of one group's noisy count: above the threshold, or 0 for not shown."""

    units: int
    threshold: int
    noisy: Distribution

    @property
    def kept(self) -> float:
        """The probability that the group is shown."""
        return 0.0 if self.units == 0 else 1 - self.noisy.cdf(self.threshold)

    def pmf(self, number: int) -> float:
        """Return P(this number is released), 0 for not shown."""
        if number == 0:
            return 1 - self.kept
        return self.noisy.pmf(number) if self.units and number > self.threshold else 0.0


def least_gaussian_threshold(noise: Gaussian, share: Fraction) -> int:
    """Return the least k at which a group of one unit is shown with probability `share` at most.

    Its noisy count is 1 + X, rounded, with halves upwards: it is more than k if X ≥ k - 1/2. The
    bound on that is `at_least_up`, so k may be one more than it could be.
    """
    if share <= VARIATION:
        rule = "must be larger for this many groups, because the grid takes all of it"
        raise ParameterError("delta", share, rule)

    def is_enough(k: int) -> bool:
        return at_least_up(noise, k - Fraction(1, 2)) <= share

    high = 1
    while not is_enough(high):
        high *= 2
    possible = range(1, high + 1)
    return possible[bisect_left(possible, True, key=is_enough)]


def at_least_up(noise: Gaussian, t: Fraction) -> Fraction:
    """Return an upper bound of P(X ≥ t) for t > 0, where X is the noise on its grid."""
    near = t - noise.step
    return VARIATION + (normal_tail_up(near**2 / noise.variance) if near > 0 else Fraction(1))


def normal_tail_up(squared: Fraction) -> Fraction:
    """Return an upper bound of P(Z ≥ x) for standard normal Z and x > 0, from x².

    Both exp(-x²/2) / 2 and φ(x) / x · (1 - 1/x² + 3/x⁴) are upper bounds (Abramowitz, Stegun 1964,
    7.1.13 and 26.2.12: partial sums of the asymptotic series that end with + exceed it).
    """
    square = Fraction(floor(squared * 2**40), 2**40)
    power = Fraction(exp_neg(square / 2, TAIL_BITS)[1], 1 << TAIL_BITS)
    if square < 1:
        return power / 2
    root = Fraction(isqrt(floor(square * 2**80)), 2**40)
    series = 1 - 1 / square + 3 / square**2
    return min(power / 2, ROOT_HALF_PI_UP * power / root * series)
