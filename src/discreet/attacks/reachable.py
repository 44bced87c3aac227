"""Which outputs noise made of floats can give, and from how many random words each.

Textbook Laplace noise is ±b·ln(u) with u a multiple of 2**-bits. There are fewer such u than
floats, and each is rounded twice on its way to the output: from one exact answer most floats are
never reached, and which ones depends on that answer (Mironov 2012, "On Significance of the Least
Significant Bits for Differential Privacy").
"""

from dataclasses import dataclass
from math import log

import numpy as np

from discreet.noise.uniform import BoolArray, FloatArray, IntArray

NEAR = np.arange(-24.0, 25.0)
"""Words that are tried around the one that exponentials point to, which are off by a few."""

CERTAIN = 50.0
"""Log-odds of an output that only one answer can give; finite, so that evidence adds up."""

_LOG = np.vectorize(log, otypes=[np.float64])
"""The logarithm that noise is drawn with; NumPy's own is off by a bit now and then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatNoise:
    """The law of textbook noise as it runs: answer ± fl(scale · fl(ln u)), u = word / 2**bits.

    A sign and the logarithm of a float have 53 bits. The inverse distribution function
    -b·sign(v)·ln(1 - 2|v|) of a float v has 52, and NumPy's own noise has 52 below the answer,
    and 53 above it, of which rounding skips some.
    """

    scale: float
    bits: tuple[int, int] = (53, 53)
    """Below the exact answer, and above it."""

    def ways(self, outputs: FloatArray, answer: float) -> IntArray:
        """Return from how many words each output is reached if this is the exact answer.

        Words are found by inverting: around exp(-|output - answer| / scale), each is tried as the
        noise would have run. For |answer| ≤ 4 · scale and scales of 1/4 or more, none is missed.
        """
        is_above = outputs >= answer
        sign = np.where(is_above, -1.0, 1.0)[:, None]
        top = np.exp2(np.where(is_above, self.bits[1], self.bits[0]))[:, None]
        apart = np.abs(outputs - answer)[:, None]
        words = np.rint(np.exp(-apart / self.scale) * top) + NEAR
        exist = (words >= 1) & (words <= top)
        noise = self.scale * _LOG(np.where(exist, words, top) / top)
        reached: BoolArray = exist & (answer + sign * noise == outputs[:, None])
        return np.asarray(reached.sum(axis=1), np.int64)

    def log_odds(self, outputs: FloatArray, one: float, other: float) -> FloatArray:
        """Return the evidence of each output for one exact answer against another.

        All words are as likely, so that odds are those of their numbers. Whole numbers, and what
        neither answer can give, are not of this noise: their odds are those of Laplace densities.
        """
        here, there = self.ways(outputs, one), self.ways(outputs, other)
        is_float = (here + there > 0) & (outputs != np.rint(outputs))
        with np.errstate(divide="ignore"):
            counted = np.log(np.where(is_float, here, 1)) - np.log(np.where(is_float, there, 1))
        smooth = (np.abs(outputs - other) - np.abs(outputs - one)) / self.scale
        return np.clip(np.where(is_float, counted, smooth), -CERTAIN, CERTAIN)
