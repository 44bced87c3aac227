"""Partition selection: which undeclared groups may be shown."""

from bisect import bisect_left
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil, exp, expm1, floor, log, log1p

import numpy as np

from discreet.accounting.events import LEAST_NUMBER, ApproximateEvent
from discreet.deprecated import Renamed
from discreet.errors import HIDDEN, ParameterError
from discreet.mechanisms.accuracy import (
    EXACT_MOST,
    checked_epsilon,
    drawn_scale,
    log_of,
    miss_probability,
)
from discreet.mechanisms.exact import Integers, exact_integers, integer_number
from discreet.mechanisms.sensitivity import ADD_REMOVE, Neighbours
from discreet.noise import SYSTEM, Entropy, truncated_laplace
from discreet.noise.enclosures import Bracket, Enclosure, ceil_div, exp_neg, is_at_most, ratio
from discreet.noise.uniform import BoolArray, IntArray
from discreet.parameters import Real, call_text, choice, freeze_fields, integer, rational

GROUPS_MOST = 10**9

SCALE_MOST = Fraction(10**15)
"""At this scale and the smallest delta, the noise is still below 2**59."""


@dataclass(frozen=True, slots=True, eq=False)
class Selected:
    """The release for a list of groups, in their order: whether each is shown, and its count."""

    kept: BoolArray
    numbers: IntArray
    """The noisy number of units or rows, above the threshold, or 0 for a group not shown."""


@dataclass(frozen=True, slots=True, init=False)
class PartitionSelection:
    """Show the groups of many units or rows, with noisy counts: (epsilon, delta)-DP.

    A unit adds at most `groups` to the counts of all groups together, and at most `in_one` to each.
    `in_one` is 1 if units are counted, and the unit's number of rows if rows are. Between
    neighbours the sum changes by m: by `groups`, or twice that for replace neighbours.

    The count of a group gets discrete Laplace noise X of scale m / epsilon, conditioned on
    |X| ≤ threshold. The group is shown if its noisy count is more than the threshold. This is the
    smallest threshold at which outputs that only one of two neighbours can give have probability at
    most delta. A group without units is never shown, so only groups in the data are examined.

    If units are counted, no rule of the same cost shows a group with higher probability, up to the
    rounding of the threshold (Desfontaines, Voss, Gipson, Mandayam 2022).
    Proofs: docs/proofs/partition_selection.md.
    """

    epsilon: Fraction
    delta: Fraction
    groups: int
    in_one: int
    neighbours: Neighbours
    scale: Fraction = field(repr=False)
    threshold: int = field(repr=False)
    """A group is shown if its noisy count is more than this. The noise is at most this."""

    __repr__ = call_text

    def __init__(
        self,
        *,
        epsilon: Real,
        delta: Real,
        groups: int = 1,
        in_one: int = 1,
        neighbours: Neighbours | str = ADD_REMOVE,
    ) -> None:
        relation = choice("neighbours", neighbours, Neighbours)
        most = integer("groups", groups, least=1, most=GROUPS_MOST)
        at_once = integer("in_one", in_one, least=1, most=most)
        moved = most if relation is ADD_REMOVE else 2 * most
        price = checked_epsilon(epsilon)
        slack = rational("delta", delta, above=0, least=LEAST_NUMBER, below=1)
        scale = drawn_scale(price, Fraction(moved), most=SCALE_MOST, of="this many groups")
        freeze_fields(
            self,
            epsilon=price,
            delta=slack,
            groups=most,
            in_one=at_once,
            neighbours=relation,
            scale=scale,
            threshold=least_threshold(scale, slack, moved, at_once),
        )

    @property
    def event(self) -> ApproximateEvent:
        """The event that one release is charged as, for any number of groups."""
        return ApproximateEvent(epsilon=self.epsilon, delta=self.delta)

    def release(self, units: Integers, *, entropy: Entropy = SYSTEM) -> Selected:
        """Return which groups are shown, with their noisy numbers of units or rows."""
        exact = exact_units(units)
        noise = truncated_laplace(self.scale, self.threshold, len(exact), entropy=entropy)
        noisy = exact + noise
        kept = noisy > self.threshold
        return Selected(kept, np.where(kept, noisy, 0))

    def distribution(self, units: int) -> "SelectionDistribution":
        """Return the distribution of the noisy count of a group of `units`, 0 if not shown."""
        return SelectionDistribution(
            units=checked_units(units), scale=self.scale, threshold=self.threshold
        )

    def keep_probability(self, units: int) -> float:
        """Return the probability that a group of `units` is shown."""
        return self.distribution(units).kept

    def smallest_seen(self, probability: Real) -> int:
        """Return the smallest group size that is shown with at least this probability."""
        share = rational("probability", probability, above=0, most=1)
        counts = range(1, 2 * self.threshold + 2)
        return counts[bisect_left(counts, True, key=lambda n: self._is_seen(n, share))]

    def margin(self, confidence: Real, answers: int = 1) -> int:
        """Return the smallest margin of error that holds for all `answers` counts at once.

        It holds for groups that are always shown. Other groups are shown only if their noise is
        high, so their counts are too large, by at most `threshold`. See `clear`.
        """
        return truncated_margin(self.scale, self.threshold, miss_probability(confidence, answers))

    def clear(self, confidence: Real, answers: int = 1) -> int:
        """Return the count above which `error` holds even given that the group is shown.

        For counts up to this one, the margin of error is `threshold`, with certainty. Proof:
        docs/proofs/partition_selection.md.
        """
        return min(2 * self.threshold, self.threshold + 1 + self.margin(confidence, answers))

    def widest(self, confidence: Real, answers: int = 1) -> int:  # noqa: ARG002 - see clear
        """Return the margin of error of counts up to `clear`, which holds with certainty."""
        return self.threshold

    def _is_seen(self, units: int, share: Fraction) -> bool:
        return is_at_most(self.distribution(units).enclose_hidden(), 1 - share)

    law = Renamed("distribution")
    error = Renamed("margin")


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionDistribution:
    """The distribution of one group's noisy count: above the threshold, or 0 for not shown.

    With q = exp(-1 / scale), P(X = x) = (1 - q) q**|x| / D and P(X ≥ j) = (q**j - q**(k+1)) / D for
    1 ≤ j ≤ k, where k is the threshold and D = 1 + q - 2 q**(k+1).
    """

    units: int
    scale: Fraction
    threshold: int

    @property
    def kept(self) -> float:
        """The probability that the group is shown."""
        return self._at_least(self.threshold + 1 - self.units)

    def pmf(self, number: int) -> float:
        """Return P(this number is released), 0 for not shown."""
        if not self._is_reachable(number):
            return 0.0
        if number == 0:
            return 1 - self.kept
        away = abs(number - self.units) / self.scale
        return exp(-away) * -expm1(-1 / self.scale) / self._normaliser

    def enclose(self, number: int) -> Enclosure:
        """Enclose P(this number is released)."""
        if number == 0:
            return self.enclose_hidden()
        if not self._is_reachable(number):
            return ratio(Fraction(0))
        return enclose_truncated(self.scale, self.threshold, abs(number - self.units))

    def enclose_hidden(self) -> Enclosure:
        """Enclose P(the group is not shown) = P(X ≤ threshold - units)."""
        j = self.threshold + 1 - self.units
        if j <= 0:
            return enclose_at_least(self.scale, self.threshold, 1 - j)
        shown = enclose_at_least(self.scale, self.threshold, j)

        def bracket(bits: int) -> Bracket:
            low, high = shown(bits)
            return (1 << bits) - high, (1 << bits) - low

        return bracket

    def _is_reachable(self, number: int) -> bool:
        is_shown = number > self.threshold and abs(number - self.units) <= self.threshold
        return is_shown or (number == 0 and self.units <= 2 * self.threshold)

    def _at_least(self, j: int) -> float:
        """Return P(X ≥ j)."""
        if j <= 0:
            return 1 - self._at_least(1 - j)
        if j > self.threshold:
            return 0.0
        left = self.threshold + 1 - j
        return exp(-j / self.scale) * -expm1(-left / self.scale) / self._normaliser

    @property
    def _normaliser(self) -> float:
        # D = (1 - q) + 2 q (1 - q**k), without cancellation.
        q = exp(-1 / self.scale)
        return -expm1(-1 / self.scale) - 2 * q * expm1(-self.threshold / self.scale)


def least_threshold(scale: Fraction, delta: Fraction, moved: int = 1, in_one: int = 1) -> int:
    """Return the least k ≥ in_one at which delta covers outputs that only one neighbour can give.

    Counts change by `moved` in total and by `in_one` each, so `enclose_beyond` gives their
    probability. Beyond 2**45, k may be one part in 2**45 more.
    """
    # With A = times (q**-in_one - 1) + (q**-rest - 1) it is q**(k+1) A / D ≤ delta, that is
    # q**(k+1) (A + 2 delta) ≤ delta (1 + q): solved in floats and decided by brackets. Floats may
    # not hold q**-in_one, so A and A + 2 delta are divided by it.
    times, rest = divmod(moved, in_one)
    one, less = float(in_one / scale), float(rest / scale)
    beyond = -times * expm1(-one) - exp(less - one) * expm1(-less)
    share = beyond + 2 * float(delta) * exp(-one)
    high = one + log(share) - log1p(exp(-1 / scale)) - log_of(delta)
    near = float(scale) * high - 1
    step = max(1, int(near) >> 45)
    k = max(in_one, floor(near) - 2 * step)
    while not is_at_most(enclose_beyond(scale, k, moved, in_one), delta):
        k += step
    return k


def truncated_margin(scale: Fraction, threshold: int, miss: Fraction) -> int:
    """Return the least n with P(|X| > n) ≤ miss, where |X| ≤ threshold."""
    # 2 (q**(n+1) - q**(k+1)) / D ≤ miss, solved in floats and decided by brackets.
    q = exp(-1 / scale)
    last = exp(-(threshold + 1) / scale)
    share = last + float(miss) * (1 + q - 2 * last) / 2
    near = -float(scale) * log(share) - 1 if share > 0 else float(threshold)
    if scale > EXACT_MOST:
        return min(threshold, max(0, ceil(near * (1 + 1e-9) + 1)))
    n = min(threshold, max(0, floor(near) - 2))
    while n < threshold and not is_at_most(enclose_at_least(scale, threshold, n + 1), miss / 2):
        n += 1
    return n


def enclose_truncated(scale: Fraction, threshold: int, away: int) -> Enclosure:
    """Enclose P(X = ±away) = (1 - q) q**away / D for away ≤ threshold."""

    def bracket(bits: int) -> Bracket:
        work = bits + _extra_bits(scale)
        one = 1 << work
        (q_low, q_high), (d_low, d_high) = (
            exp_neg(1 / scale, work),
            _normaliser(scale, threshold, work),
        )
        p_low, p_high = exp_neg(away / scale, work)
        low = p_low * (one - q_high) << bits
        high = p_high * (one - q_low) << bits
        return low // (d_high << work), ceil_div(high, d_low << work)

    return bracket


def enclose_at_least(scale: Fraction, threshold: int, j: int) -> Enclosure:
    """Enclose P(X ≥ j) = (q**j - q**(k+1)) / D for j ≥ 1, which is 0 beyond the threshold."""
    if j > threshold:
        return ratio(Fraction(0))

    def bracket(bits: int) -> Bracket:
        work = bits + _extra_bits(scale)
        d_low, d_high = _normaliser(scale, threshold, work)
        (p_low, p_high), (e_low, e_high) = (exp_neg(n / scale, work) for n in (j, threshold + 1))
        low, high = max(0, p_low - e_high) << bits, (p_high - e_low) << bits
        return low // d_high, ceil_div(high, d_low)

    return bracket


def enclose_beyond(scale: Fraction, threshold: int, moved: int, in_one: int) -> Enclosure:
    """Enclose the largest probability of outputs, over all groups, that a neighbour cannot give.

    A group whose count changes by c ≤ threshold contributes P(X > threshold - c), which is convex
    in c. So the sum is largest if as many groups as possible change by `in_one`, and one by the
    remainder.
    """
    times, rest = divmod(moved, in_one)
    each = enclose_at_least(scale, threshold, threshold + 1 - in_one)
    last = enclose_at_least(scale, threshold, threshold + 1 - rest)

    def bracket(bits: int) -> Bracket:
        work = bits + times.bit_length() + 1
        (low, high), (rest_low, rest_high) = each(work), last(work)
        scaled = 1 << work - bits
        return (times * low + rest_low) // scaled, ceil_div(times * high + rest_high, scaled)

    return bracket


def _normaliser(scale: Fraction, threshold: int, work: int) -> Bracket:
    """Bracket 2**work · D, D = 1 + q - 2 q**(k+1)."""
    (q_low, q_high), (e_low, e_high) = (exp_neg(n / scale, work) for n in (1, threshold + 1))
    one = 1 << work
    return one + q_low - 2 * e_high, one + q_high - 2 * e_low


def _extra_bits(scale: Fraction) -> int:
    """Return how many more bits keep D, which is at least 1 / (1 + scale), away from 0."""
    return ceil(scale).bit_length() + 8


def exact_units(units: object) -> IntArray:
    """Return exact numbers of units or rows, or reject what is none without showing it."""
    exact = exact_integers(units)
    if exact.ndim != 1 or (exact.size and exact.min() < 0):
        raise ParameterError("units", HIDDEN, "must be a flat list of whole numbers, 0 or more")
    return exact


def checked_units(units: object) -> int:
    """Return one exact number of units, or reject what is none."""
    count = integer_number(units)
    if count < 0:
        raise ParameterError("units", HIDDEN, "must be 0 or more")
    return count
