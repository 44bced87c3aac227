"""How tests judge samples: by p-values of fits, whose false-alarm rate each caller states."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest, chi2, kstwo

FALSE_ALARM = 1e-6
"""A test of this rate cries wolf once in a million runs with fresh entropy."""


def misfit(
    samples: Sequence[int] | NDArray[np.int64],
    probability: Callable[[int], float],
    reach: int,
    *,
    least: int | None = None,
) -> float:
    """Return the p-value of a chi-square fit on least … reach, and all else in one more cell.

    Neighbouring values are pooled until each cell expects at least ten samples.
    """
    values = np.asarray(samples)
    low = -reach if least is None else least
    expected = np.array([probability(z) for z in range(low, reach + 1)]) * len(values)
    inside = values[(values >= low) & (values <= reach)] - low
    observed = np.bincount(inside, minlength=len(expected)).astype(float)
    expected = np.append(expected, max(len(values) - expected.sum(), 0.0))
    observed = np.append(observed, len(values) - observed.sum())
    return chi_square(*_pooled(observed, expected))


def chi_square(observed: NDArray[np.float64], expected: NDArray[np.float64]) -> float:
    """Return the p-value of observed counts against expected ones of the same total."""
    assert len(expected) > 1, "too few samples to tell one law from another"
    statistic = float(((observed - expected) ** 2 / expected).sum())
    return float(chi2.sf(statistic, len(expected) - 1))


def share_misfit(hits: int, trials: int, probability: float) -> float:
    """Return the exact two-sided binomial p-value of so many hits."""
    return float(binomtest(hits, trials, probability).pvalue)


def counts_misfit(counts: Sequence[int] | NDArray[np.int64], shares: Sequence[float]) -> float:
    """Return the p-value of a chi-square fit of counts to shares that sum to 1."""
    observed = np.asarray(counts, float)
    return chi_square(observed, observed.sum() * np.asarray(shares, float))


def coins_misfit(heads: NDArray[np.int64], tosses: int, shares: NDArray[np.float64]) -> float:
    """Return the p-value of many coins, each tossed so often, against a share of heads for each."""
    z_squared = (heads - tosses * shares) ** 2 / (tosses * shares * (1 - shares))
    return float(chi2.sf(float(z_squared.sum()), len(shares)))


def curve_misfit(
    samples: NDArray[np.float64], cdf: Callable[[NDArray[np.float64]], NDArray[np.float64]]
) -> float:
    """Return the Kolmogorov-Smirnov p-value of samples from a law without visible steps."""
    height = cdf(np.sort(samples))
    steps = np.arange(len(samples) + 1) / len(samples)
    farthest = max((steps[1:] - height).max(), (height - steps[:-1]).max())
    return float(kstwo.sf(farthest, len(samples)))


def _pooled(
    observed: NDArray[np.float64], expected: NDArray[np.float64], least: float = 10.0
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    cells: list[tuple[float, float]] = []
    seen = hoped = 0.0
    for count, hope in zip(observed, expected, strict=True):
        seen, hoped = seen + count, hoped + hope
        if hoped >= least:
            cells.append((seen, hoped))
            seen = hoped = 0.0
    last_seen, last_hoped = cells.pop()
    cells.append((last_seen + seen, last_hoped + hoped))
    array = np.array(cells)
    return array[:, 0], array[:, 1]
