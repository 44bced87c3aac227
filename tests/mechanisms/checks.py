"""What is asked of many mechanisms alike: odds, fits, coverage, words that tell nothing."""

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from discreet.noise.enclosures import Enclosure, exp_neg
from tests.statistics import FALSE_ALARM, counts_misfit, curve_misfit

BITS = 700
SLACK = Fraction(1, 1 << 50)
"""By this share brackets of so many bits may overlap; no odds hide in it."""


def are_odds_within(p: Enclosure, q: Enclosure, epsilon: Fraction) -> bool:
    """Tell whether P ≤ e^epsilon · Q, by brackets: its upper end against the other's lower."""
    p_high, q_low = p(BITS)[1], q(BITS)[0]
    shrunk_high = exp_neg(epsilon, BITS)[1]
    return p_high * shrunk_high <= (q_low << BITS) * (1 + SLACK)


def cdf_misfit(samples: Iterable[float], cdf: Callable[[Fraction], float]) -> float:
    """Return the Kolmogorov-Smirnov p-value of samples from a law whose steps are too small to see.

    A value's height on the law's own curve is uniform.
    """
    heights = np.array([cdf(Fraction(sample)) for sample in samples])
    return curve_misfit(heights, lambda height: height)


def is_covered(hits: int, trials: int, confidence: float) -> bool:
    """Tell whether so many hits are in keeping with a share of `confidence` or more.

    A fresh seed cries wolf at most once in 1 / FALSE_ALARM.
    """
    return float(binomtest(hits, trials, confidence, "less").pvalue) > FALSE_ALARM


def is_wasteful(hits: int, trials: int, confidence: float) -> bool:
    """Tell whether so many hits prove a share above `confidence`; errs as `is_covered` does."""
    return float(binomtest(hits, trials, confidence, "greater").pvalue) < FALSE_ALARM


def indices_misfit(indices: Sequence[int], law: Sequence[float]) -> float:
    """Return the p-value of chosen indices against their law, each expected ten times or more."""
    return counts_misfit(np.bincount(indices, minlength=len(law)), law)


def told_by(error: BaseException) -> str:
    """Return all that an error tells, itself and whatever it carries along."""
    told: list[str] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        if (each := waiting.pop()) is not None:
            told += [str(each), repr(each), repr(vars(each))]
            waiting += [each.__cause__, each.__context__]
    return "\n".join(told)


def l1(here: NDArray[np.int64], there: NDArray[np.int64]) -> int:
    """Return the distance of two arrays, added up in Python's integers."""
    return sum(abs(int(x) - int(y)) for x, y in zip(here.flat, there.flat, strict=True))
