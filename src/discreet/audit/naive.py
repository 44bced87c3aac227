"""Naive mechanisms in floats, for audits only. Most are broken, and Discreet uses none."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.noise import SYSTEM, Entropy
from discreet.noise.uniform import words

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def float_laplace(scale: float, shape: tuple[int, ...], entropy: Entropy = SYSTEM) -> Floats:
    """Return textbook Laplace noise: the inverse distribution function, in floats."""
    count = int(np.prod(shape))
    uniform = ((words(count, np.uint64, entropy) >> np.uint64(11)) + np.float64(0.5)) * 2.0**-53
    tail = np.minimum(uniform, 1 - uniform)
    noise: Floats = np.copysign(scale * np.log(2 * tail), uniform - 0.5)
    return noise.reshape(shape)


def above_then_stop(above: NDArray[np.bool_], limit: int) -> Codes:
    """Return the answers of each run as bits, up to the `limit`-th positive one."""
    hits: Codes = np.cumsum(above, axis=1)
    heard: NDArray[np.bool_] = hits - above < limit
    places = 1 << np.arange(above.shape[1], dtype=np.int64)
    # The number of answers distinguishes a run that stopped from one without more positives.
    lengths: Codes = heard.sum(axis=1)
    said: Codes = (above & heard) @ places
    coded: Codes = lengths << above.shape[1] | said
    return coded


class SparseVariants:
    """The sparse vector technique as published in six papers (Lyu, Su, Li 2017, Figure 1).

    The threshold is 0 and the sensitivity 1. Each method takes a stream and returns the answers of
    many runs, coded as integers. The first two are private, the other four are not.
    """

    def __init__(self, *, epsilon: float, limit: int, runs: int, entropy: Entropy = SYSTEM) -> None:
        self.epsilon = epsilon
        self.limit = limit
        self.runs = runs
        self.entropy = entropy

    def first(self, stream: Sequence[float]) -> Codes:
        """Noise of scale 2 / epsilon for the threshold, 4 limit / epsilon for each query."""
        return self._words(stream, 2, 4 * self.limit, limit=self.limit)

    def second(self, stream: Sequence[float]) -> Codes:
        """More noise for the threshold, drawn again after each positive answer."""
        threshold = self._noise(2 * self.limit, (self.runs, 1))
        noisy = np.asarray(stream) + self._noise(4 * self.limit, (self.runs, len(stream)))
        columns: list[NDArray[np.bool_]] = []
        for answer in noisy.T:
            is_above = answer[:, None] >= threshold
            fresh = self._noise(2 * self.limit, (self.runs, 1))
            threshold = np.where(is_above, fresh, threshold)
            columns.append(is_above[:, 0])
        return above_then_stop(np.stack(columns, axis=1), self.limit)

    def third(self, stream: Sequence[float]) -> Codes:
        """Releases the noisy answer that was compared, which reveals the noisy threshold.

        Returns for each run the number of negative answers, and the first released number, rounded.
        """
        noisy = np.asarray(stream) + self._noise(2 * self.limit, (self.runs, len(stream)))
        above = noisy >= self._noise(2, (self.runs, 1))
        first = np.where(above.any(axis=1), above.argmax(axis=1), len(stream))
        said = np.floor(noisy[np.arange(self.runs), np.minimum(first, len(stream) - 1)])
        return first * 64 + np.clip(said, -32, 31).astype(np.int64) + 32

    def fourth(self, stream: Sequence[float]) -> Codes:
        """Query noise that does not grow with the number of positive answers."""
        return self._words(stream, 4, 4 / 3, limit=self.limit)

    def fifth(self, stream: Sequence[float]) -> Codes:
        """No noise for the queries, and no limit on positive answers."""
        return self._words(stream, 2, 0, limit=len(stream))

    def sixth(self, stream: Sequence[float]) -> Codes:
        """No limit on positive answers."""
        return self._words(stream, 2, 2, limit=len(stream))

    def _words(
        self, stream: Sequence[float], threshold: float, question: float, *, limit: int
    ) -> Codes:
        noisy = np.asarray(stream) + self._noise(question, (self.runs, len(stream)))
        return above_then_stop(noisy >= self._noise(threshold, (self.runs, 1)), limit)

    def _noise(self, scale: float, shape: tuple[int, ...]) -> Floats:
        return float_laplace(scale / self.epsilon, shape, self.entropy)
