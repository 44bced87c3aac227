"""What can be read off the noisy numbers: shares with their margins, and the best limit.

All of it is post-processing of released numbers. A share is a ratio of two sums of the same noisy
cells, A = Σ a_i x_i and B = Σ b_i x_i. For every number S, A - S B is a sum of independent noises
around 0 if S is the true ratio; the interval is all S for which it is no further from 0 than such a
sum reaches (Fieller 1954). That is computed for the eight largest noises, and bounded for the rest
by Chernoff's inequality: P(|Σ c_i Z_i| > t) ≤ 2 exp(-λ t) ∏ 1 / (1 - (λ c_i b)²) for Laplace noise
Z_i of scale b and every 0 < λ < 1 / max |c_i| b, and geometric noise reaches no further
(docs/proofs/coverage.md).
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from discreet.coverage.questions import KNOTS
from discreet.mechanisms.margins import COMPONENTS_MOST, laplace_margin

Floats = NDArray[np.float64]

CONFIDENCE = 0.95
"""Of all shares."""

TRIED = 24
"""So many shares are tried between the estimate and 0 or 1, then between two of these."""

RATES = np.geomspace(0.01, 0.995, 60)
"""Parts of 1 / max |c_i| b that are tried for λ. Any of them gives a valid bound."""

STANDS_OUT, FOLLOWS = 9.0, 3.4
"""In scales of the noise: a group of units with so many is seen by itself (an empty one is with
probability 1/2,000), or beside one that is seen (an empty one is with probability 1/20)."""

REST_PART = 0.1
"""The part of the probability to miss that is set aside for the smaller noises."""

WIDEST = 0.75
"""An interval that is wider says nothing that could be shown as a number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A part of a whole, from 0 to 1, and an interval that holds it with 95% confidence."""

    estimate: float
    low: float
    high: float

    @property
    def margin(self) -> float:
        """The larger distance from the estimate to an end of the interval."""
        return max(self.high - self.estimate, self.estimate - self.low)

    @property
    def is_known(self) -> bool:
        """Whether the interval is narrow enough to be of use."""
        return self.high - self.low <= WIDEST

    def to_json(self) -> dict[str, float]:
        return {
            "estimate": self.estimate,
            "low": self.low,
            "high": self.high,
            "confidence": CONFIDENCE,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitSizes:
    """Noisy numbers of units by their number of rows, each group's mass divided between its ends.

    `lower[g]` belongs to a size of KNOTS[g], `upper[g]` to the double of that.
    """

    lower: Floats
    upper: Floats
    scale: float
    """Of the noise in each number."""

    @property
    def groups(self) -> int:
        """How many groups are used: up to the largest that stands out from the noise."""
        seen = (self.lower + self.upper) / self.scale
        strong = np.flatnonzero(seen > STANDS_OUT)
        if not len(strong):
            return 0
        last = int(strong[-1])
        while last + 1 < len(seen) and seen[last + 1] > FOLLOWS:
            last += 1
        return last + 1

    @property
    def largest(self) -> int | None:
        """The most rows of a unit in the groups that are used; None if there are none."""
        groups = self.groups
        if not groups:
            return None
        return KNOTS[groups] - 1 if groups < len(KNOTS) else KNOTS[-1]

    def share_counted(self, limit: int) -> Share | None:
        """Return the share of rows that a limit counts; None if no unit stands out.

        Units of larger groups than are used have a lower share: the true one is at most this.
        """
        groups = self.groups
        if not groups:
            return None
        sizes, cells = self._used(groups)
        counted = np.minimum(sizes, limit)
        slack, where = _between(limit, groups)
        level = 1 - (1 - CONFIDENCE) / len(KNOTS)  # whichever groups the noise made us use
        # A limit between two knots: what units of that group add is between these two sums.
        more = np.where(where, slack, 0.0)
        least = ratio(counted, sizes, cells, self.scale, level)
        most = ratio(counted + more, sizes, cells, self.scale, level) if slack else least
        middle = (least.estimate + most.estimate) / 2
        return Share(estimate=middle, low=least.low, high=most.high)

    def best_limit(self, noise_per_row: float) -> int | None:
        """Return the limit of least expected error of COUNT(*): rows left out, plus the noise.

        The units of a group are taken to be spread evenly around the mean of their sizes, as far as
        the group reaches. None if no unit stands out.
        """
        groups = self.groups
        if not groups:
            return None
        units = np.maximum(self.lower[:groups] + self.upper[:groups], 0.0)
        least, most = self._spread(units, groups)

        def error(limit: int) -> float:
            above = np.maximum(most - limit, 0.0)
            width = np.maximum(most - least, 1e-9)
            cut = np.where(limit <= least, (least + most) / 2 - limit, above**2 / (2 * width))
            return float(units @ np.maximum(cut, 0.0)) + limit * noise_per_row

        return min(_limits(groups), key=error)

    def _spread(self, units: Floats, groups: int) -> tuple[Floats, Floats]:
        """Return the ends between which the sizes of each group are taken to be."""
        knots = np.array(KNOTS[:groups], float)
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.nan_to_num(np.clip(self.upper[:groups] / units, 0.0, 1.0))
        ends = np.where(np.arange(groups) < len(KNOTS) - 1, 2 * knots, knots)
        mean = knots + part * (ends - knots)
        return np.maximum(knots, 2 * mean - ends), np.minimum(ends, 2 * mean - knots)

    def _used(self, groups: int) -> tuple[Floats, Floats]:
        """Return the size that each used cell stands for, and the cells."""
        knots = np.array(KNOTS[:groups], float)
        ends = np.where(np.arange(groups) < len(KNOTS) - 1, 2 * knots, knots)
        sizes = np.concatenate([knots, ends])
        return sizes, np.concatenate([self.lower[:groups], self.upper[:groups]])


def _limits(groups: int) -> list[int]:
    """Return limits to choose from: powers of two, and seven between any two."""
    parts = range(8)
    found = {knot + knot * part // 8 for knot in KNOTS[:groups] for part in parts}
    return sorted(each for each in {*found, 2 * KNOTS[groups - 1]} if each <= KNOTS[-1])


def _between(limit: int, groups: int) -> tuple[float, NDArray[np.bool_]]:
    """Return how far min(n, limit) rises above its chord in the limit's group, and its cells."""
    inside = np.zeros(groups, bool)
    for group, knot in enumerate(KNOTS[:groups]):
        if knot < limit < 2 * knot and group < len(KNOTS) - 1:
            inside[group] = True
            gap = (limit - knot) * (2 * knot - limit) / knot
            return gap, np.concatenate([inside, inside])
    return 0.0, np.concatenate([inside, inside])


def share_of(cells: Floats, scale: float, place: int) -> Share:
    """Return the share of one of a few noisy counts in all of them."""
    one = np.zeros(len(cells))
    one[place] = 1.0
    return ratio(one, np.ones(len(cells)), cells, scale, CONFIDENCE)


def ratio(above: Floats, below: Floats, cells: Floats, scale: float, confidence: float) -> Share:
    """Return Σ above·x / Σ below·x of the exact cells x, as the noisy ones tell, from 0 to 1."""
    numerator, denominator = float(above @ cells), float(below @ cells)
    estimate = min(1.0, max(0.0, numerator / denominator)) if denominator > 0 else 0.5

    def are_possible(shares: Floats) -> NDArray[np.bool_]:
        weights = above[None, :] - shares[:, None] * below[None, :]
        distance = np.abs(numerator - shares * denominator)
        return distance <= reach(weights, scale, confidence)

    low, high = (_outermost(are_possible, estimate, end) for end in (0.0, 1.0))
    return Share(estimate=estimate, low=low, high=high)


def _outermost(
    are_possible: Callable[[Floats], NDArray[np.bool_]], first: float, end: float
) -> float:
    """Return a share between the first and an end beyond which no share is possible."""
    for _ in range(2):
        tried = np.linspace(first, end, TRIED)
        possible = np.flatnonzero(are_possible(tried))
        last = int(possible[-1]) if len(possible) else 0
        if last == TRIED - 1:
            return end
        first, end = float(tried[last]), float(tried[last + 1])
    return end


def reach(weights: Floats, scale: float, confidence: float) -> Floats:
    """Return for each row of weights how far the weighted sum of Laplace noises reaches.

    The largest eight are added up exactly, the rest by Chernoff's inequality.
    """
    sizes = -np.sort(-np.abs(weights) * scale, axis=1)
    miss = 1 - confidence
    rest = sizes[:, COMPONENTS_MOST:]
    if not rest.any():
        return laplace_margin(sizes[:, :COMPONENTS_MOST], confidence)
    main = laplace_margin(sizes[:, :COMPONENTS_MOST], 1 - miss * (1 - REST_PART))
    return main + _chernoff(rest, miss * REST_PART)


def _chernoff(sizes: Floats, miss: float) -> Floats:
    largest = np.maximum(sizes.max(axis=1), 1e-300)
    parts = (sizes / largest[:, None])[:, None, :] * RATES[None, :, None]
    logs = log(2 / miss) - np.log1p(-(parts**2)).sum(axis=2)
    found: Floats = (logs / RATES[None, :]).min(axis=1) * largest
    return found
