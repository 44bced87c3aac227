"""Floating point: exact answers from the last bits of textbook noise.

Textbook Laplace noise is ±b·ln(u), where u is a multiple of 2**-bits. There are fewer such u than
floats, and each is rounded twice on its way to the output. So from one exact answer most floats are
never reached, and which ones are reached depends on that answer (Mironov 2012, "On Significance of
the Least Significant Bits for Differential Privacy").
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import log, sqrt

import numpy as np

from discreet.attacks.defences import allowed_for_values
from discreet.attacks.people import synthetic_people
from discreet.attacks.targets import KnownDefence, Progress, accepts_old_defences
from discreet.attacks.trials import Outcome, Trial, tally
from discreet.noise.uniform import BoolArray, FloatArray, IntArray
from discreet.parameters import integer

NEAR = np.arange(-24.0, 25.0)
"""Offsets of the words that are tried around the inverted one, which is off by a few."""


CERTAIN = 50.0
"""The privacy loss of an output that only one answer can give. Finite, so evidence adds up."""


_LOG = np.vectorize(log, otypes=[np.float64])
"""The logarithm that the noise is drawn with. NumPy's sometimes differs in the last bit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatNoise:
    """The distribution of textbook noise in floats: answer ± fl(scale · fl(ln u)).

    Here u = word / 2**bits. Noise from a sign and the logarithm of a float has 53 bits. The inverse
    distribution function -b·sign(v)·ln(1 - 2|v|) of a float v has 52. NumPy's noise has 52 below
    the answer and 53 above it, some of which rounding skips.
    """

    scale: float
    bits: tuple[int, int] = (53, 53)
    """The number of bits below the exact answer, and above it."""

    def ways(self, outputs: FloatArray, answer: float) -> IntArray:
        """Return the number of words that lead to each output from this exact answer.

        Words are found by inversion: those around exp(-|output - answer| / scale) are tried, each
        with the arithmetic of the noise. For |answer| ≤ 4 · scale and scale ≥ 1/4, none is missed.
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

        All words are equally likely, so the likelihood ratio is the ratio of their numbers.
        Integers and outputs that neither answer can give do not come from this noise. For these,
        the ratio is that of Laplace densities.
        """
        here, there = self.ways(outputs, one), self.ways(outputs, other)
        is_float = (here + there > 0) & (outputs != np.rint(outputs))
        with np.errstate(divide="ignore"):
            counted = np.log(np.where(is_float, here, 1)) - np.log(np.where(is_float, there, 1))
        smooth = (np.abs(outputs - other) - np.abs(outputs - one)) / self.scale
        return np.clip(np.where(is_float, counted, smooth), -CERTAIN, CERTAIN)


PEOPLE, QUERIES, TRIALS = 20, 8, 100


@accepts_old_defences
def floating_point(
    defence: KnownDefence,
    *,
    queries: int = QUERIES,
    people: int = PEOPLE,
    trials: int = TRIALS,
    progress: Progress | None = None,
) -> Outcome:
    """Return how often a secret is guessed from outputs that only one exact count can give.

    The count of one person with the secret is 0 or 1. Textbook noise of scale b gives z from 0 if
    z = fl(b ln u) for some u, and from 1 if z = fl(1 + fl(b ln u)). Of 100 outputs, about 65 pass
    only one of these tests, for any epsilon. If the last bits reveal nothing, the attacker guesses
    by the size of the answer. Then up to e^(2 epsilon) / (1 + e^(2 epsilon)) of the guesses may be
    right: changing a value removes one person and adds one.
    """
    noise = FloatNoise(scale=_scale(defence))
    most = integer("queries", queries, least=1)
    found = tally(
        defence,
        partial(_trial, integer("people", people, least=1), most, noise),
        trials=integer("trials", trials, least=1),
        at=tuple(range(1, most + 1)),
        progress=progress,
    )
    return found.outcome("floating-point", defence, allowed=allowed_for_values(defence))


def _trial(size: int, queries: int, noise: FloatNoise) -> Trial:
    people = synthetic_people(size)
    scheme = people.scheme
    # All queries count the same, each with different SQL, so none returns a saved answer.
    conditions = (scheme.among([0, *range(size, size + more)]) for more in range(queries))

    def log_odds(answers: Sequence[float]) -> float:
        return float(noise.log_odds(np.asarray(answers, float), 1.0, 0.0).sum())

    return Trial(
        people=people,
        truth=bool(people.secrets[0]),
        questions=[scheme.count(each, scheme.secret.sql) for each in conditions],
        log_odds=log_odds,
    )


def _scale(defence: KnownDefence) -> float:
    """Return the scale of the noise, 1 / epsilon, for an epsilon with few decimals."""
    if not defence.deviation:
        return 1.0
    return float(1 / Fraction(f"{sqrt(2) / defence.deviation:.12g}"))
