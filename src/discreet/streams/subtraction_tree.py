"""The tree with subtraction: the least error without delta, at the price of secret noise."""

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import prod

import numpy as np

from discreet.accounting.events import PureEvent
from discreet.errors import HIDDEN, ParameterError
from discreet.mechanisms.accuracy import checked_epsilon, drawn_scale
from discreet.mechanisms.exact import CLOSEST, Integers
from discreet.noise import SYSTEM, Entropy, discrete_laplace
from discreet.noise.uniform import FloatArray, IntArray
from discreet.parameters import Real, call_text, freeze_fields, integer
from discreet.streams.mechanism import LinearStream, checked_contribution
from discreet.streams.nodes import (
    Digits,
    clamped_integers,
    digits_of,
    exact_totals,
    laplace_sum_margins,
    laplace_variance,
    levels_needed,
    mean_noises,
    noises_used,
)

SCALE_MOST = Fraction(10**12)
"""The largest scale. Sums of its noises fit into 64 bits."""

ARITY_MOST = 10**4 + 1


class NodeNoise:
    """The noise of nodes that later ticks need. Sealed: `repr` does not show it.

    Whoever knows it and the record knows exact totals. `to_bytes` and `from_bytes` store it.
    """

    __slots__ = ("_noise", "_tick")

    def __init__(self, tick: int, noise: IntArray) -> None:
        self._tick = tick
        self._noise = noise

    def __repr__(self) -> str:
        return "NodeNoise(sealed)"

    def to_bytes(self) -> bytes:
        """Return the noise as bytes, which must be stored where exact data may be."""
        head = np.array([self._tick, *self._noise.shape], "<i8")
        return head.tobytes() + self._noise.astype("<i8").tobytes()

    @classmethod
    def from_bytes(cls, stored: bytes) -> "NodeNoise":
        """Return the noise that `to_bytes` stored."""
        if not isinstance(stored, bytes) or len(stored) < 32 or len(stored) % 8:
            raise ParameterError("stored", HIDDEN, "must be what to_bytes returned")
        numbers = np.frombuffer(stored, "<i8").astype(np.int64)
        tick, *shape = numbers[:4].tolist()
        if min(shape) < 1 or prod(shape) != len(numbers) - 4:
            raise ParameterError("stored", HIDDEN, "must be what to_bytes returned")
        return cls(tick, numbers[4:].reshape(shape))

    def noise_after(self, tick: int, shape: tuple[int, ...]) -> IntArray:
        """Return a copy of the noise that was kept after a tick, or raise `ParameterError`."""
        if self._tick != tick or self._noise.shape != shape:
            rule = f"must be what this mechanism returned at tick {tick} for as many cells"
            raise ParameterError("secrets", HIDDEN, rule)
        return self._noise.copy()


@dataclass(frozen=True, slots=True, init=False)
class SubtractionTree(LinearStream):
    """Release running totals with the noise of nodes that are added and subtracted: epsilon-DP.

    Ticks are written with digits from -half to half, so a total needs about half as many nodes as
    in `Tree` (Andersson, Pagh, Steiner, Torkamani 2025). Nodes may end after the tick at which
    their noise is used first. So their noise must be kept secret between ticks, and the proof
    covers only streams that do not react to what was released. The record has noisy running totals.
    """

    ticks: int
    epsilon: Fraction
    arity: int
    rows_per_unit: int
    rows_per_tick: int | None
    magnitude: int
    cells: int
    levels: int = field(repr=False)
    """The number of nodes that a row is in."""

    is_adaptive = False
    keeps_secrets = True

    __repr__ = call_text

    def __init__(  # noqa: PLR0913 - each is a term of the guarantee
        self,
        *,
        ticks: int,
        epsilon: Real,
        arity: int | None = None,
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
        base = _best_arity(contribution.ticks) if arity is None else _checked_arity(arity)
        levels = levels_needed(contribution.ticks, base, Digits.BALANCED)
        size = contribution.most_rows * contribution.magnitude * levels
        drawn_scale(epsilon, Fraction(size), most=SCALE_MOST, of="this stream")
        freeze_fields(
            self,
            ticks=contribution.ticks,
            epsilon=epsilon,
            arity=base,
            rows_per_unit=contribution.rows_per_unit,
            rows_per_tick=contribution.rows_per_tick,
            magnitude=contribution.magnitude,
            cells=contribution.cells,
            levels=levels,
        )

    @property
    def delta(self) -> Fraction:
        """The delta of the whole stream: 0."""
        return Fraction(0)

    @property
    def scale(self) -> Fraction:
        """The scale of the noise of each node."""
        rows = min(self.rows_per_unit, (self.rows_per_tick or self.rows_per_unit) * self.ticks)
        return rows * self.magnitude * self.levels / self.epsilon

    @property
    def events(self) -> tuple[PureEvent, ...]:
        """What the whole stream is charged as."""
        return (PureEvent(epsilon=self.epsilon),)

    @property
    def concentrated_events(self) -> tuple[PureEvent, ...]:
        """What the whole stream is charged as with concentrated accounting: the same."""
        return self.events

    def release(
        self,
        increments: Integers,
        since: int = 0,
        *,
        secrets: NodeNoise | None = None,
        entropy: Entropy = SYSTEM,
    ) -> tuple[IntArray, NodeNoise]:
        """Return the record of the ticks after `since`, and the noise that the next call needs.

        The record has noisy running totals: a row for each tick, a column for each cell.
        """
        exact, since = self._checked_increments(increments, since)
        shape = self.levels, self.arity // 2, exact.shape[1]
        if secrets is None and not since:
            secrets = NodeNoise(0, np.zeros(shape, np.int64))
        if not isinstance(secrets, NodeNoise):
            raise ParameterError("secrets", HIDDEN, f"must be what was returned at tick {since}")
        kept = secrets.noise_after(since, shape)
        ticks = np.arange(since + 1, len(exact) + 1)
        noise = np.zeros((len(ticks), exact.shape[1]), np.int64)
        # The digit before the first tick tells whether the digit at it is new.
        for level, digits in enumerate(self._digits(np.arange(since, len(exact) + 1))):
            for row, (before, digit) in enumerate(pairwise(digits)):
                if digit != before and digit in (1, -(self.arity // 2)):
                    kept[level] = self._drawn(kept[level].shape, entropy)
                if digit:
                    noise[row] += np.sign(digit) * kept[level, : abs(digit)].sum(axis=0)
        noisy = clamped_integers(exact_totals(exact)[since + 1 :] + noise)
        return noisy.clip(-CLOSEST, CLOSEST), NodeNoise(len(exact), kept)

    def _digits(self, ticks: IntArray) -> list[list[int]]:
        found = digits_of(ticks, self.arity, self.levels, Digits.BALANCED)
        return [digit.tolist() for digit, _ in found]

    def _drawn(self, shape: tuple[int, ...], entropy: Entropy) -> IntArray:
        drawn = discrete_laplace(self.scale, int(np.prod(shape)), entropy=entropy)
        return drawn.reshape(shape)

    def _totals(self, record: IntArray) -> FloatArray:
        return record.astype(np.float64)

    def _noises(self, window: int | None) -> IntArray:
        return noises_used(self.ticks, self.arity, self.levels, Digits.BALANCED, window)

    def _variances(self, window: int | None) -> FloatArray:
        return self._noises(window).astype(np.float64) * laplace_variance(self.scale)

    def _half_widths(self, miss: Fraction, window: int | None, last: int) -> FloatArray:
        return laplace_sum_margins(self.scale, self._noises(window)[:last], miss)


def _checked_arity(arity: object) -> int:
    found = integer("arity", arity, least=3, most=ARITY_MOST)
    if found % 2 == 0:
        raise ParameterError("arity", arity, "must be odd")
    return found


def _best_arity(ticks: int) -> int:
    """Return the odd arity of the least rms deviation."""

    def mean_square(arity: int) -> float:
        levels = levels_needed(ticks, arity, Digits.BALANCED)
        return levels**2 * mean_noises(ticks, arity, levels, Digits.BALANCED)

    return min(range(3, min(2 * ticks + 1, 999) + 1, 2), key=mean_square)
