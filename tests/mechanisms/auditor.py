"""A small auditor: what samples alone prove about how much a mechanism gives away.

It sees outputs on two neighbouring inputs, coded as integers. On the first half of either sample it
picks the event that tells the inputs apart best; on the second half it counts it. The ratio of
exact binomial bounds is a lower bound on epsilon that is too high once in 1 / FALSE_ALARM audits.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta

from tests.statistics import FALSE_ALARM

Codes: TypeAlias = NDArray[np.int64]
Counts: TypeAlias = NDArray[np.float64]


def epsilon_lower_bound(here: Codes, there: Codes) -> float:
    """Return an epsilon that the mechanism exceeds or equals, wrong once in 1 / FALSE_ALARM."""
    _, codes = np.unique(np.concatenate([here, there]), return_inverse=True)
    kinds = int(codes.max()) + 1
    first_here, then_here = _halves(codes[: len(here)], kinds)
    first_there, then_there = _halves(codes[len(here) :], kinds)
    event, is_swapped = _telling_event(first_here, first_there)
    if is_swapped:
        then_here, then_there = then_there, then_here
    return float(_log_odds_down(_inside(then_here, event), _inside(then_there, event))[0])


def low_bits(values: NDArray[np.float64], bits: int = 3) -> Codes:
    """Code floats by size, sign and their last bits, which naive noise leaves a trace in."""
    last = values.view(np.int64) & ((1 << bits) - 1)
    exponents = np.clip(np.frexp(values)[1].astype(np.int64), -8, 8) + 8
    return (2 * exponents + np.signbit(values)) << bits | last


def _halves(codes: Codes, kinds: int) -> tuple[Counts, Counts]:
    middle = len(codes) // 2
    return (
        np.bincount(codes[:middle], minlength=kinds).astype(float),
        np.bincount(codes[middle:], minlength=kinds).astype(float),
    )


def _telling_event(here: Counts, there: Counts) -> tuple[NDArray[np.int64], bool]:
    """Return the codes whose joint odds look worst, and whether `there` has more of them.

    Only sets of the codes with the best odds are tried (Neyman, Pearson 1933).
    """
    found: list[tuple[float, NDArray[np.int64], bool]] = []
    for more, fewer, is_swapped in ((here, there, False), (there, here, True)):
        order = np.argsort(-(more + 1) / (fewer + 1), kind="stable")
        odds = _log_odds_down(
            (np.cumsum(more[order]), more.sum()), (np.cumsum(fewer[order]), fewer.sum())
        )
        best = int(np.argmax(odds))
        found.append((float(odds[best]), order[: best + 1], is_swapped))
    _, event, is_swapped = max(found, key=lambda each: each[0])
    return event, is_swapped


def _inside(counts: Counts, event: NDArray[np.int64]) -> tuple[Counts, float]:
    return counts[event].sum(keepdims=True), float(counts.sum())


def _log_odds_down(more: tuple[Counts, float], fewer: tuple[Counts, float]) -> Counts:
    """Return ln(p / q), rounded down by exact bounds on p and q (Clopper, Pearson 1934)."""
    (hits, trials), (misses, others) = more, fewer
    p_low = beta.ppf(FALSE_ALARM / 2, np.maximum(hits, 1), trials - hits + 1)
    q_high = beta.ppf(1 - FALSE_ALARM / 2, misses + 1, np.maximum(others - misses, 1))
    q_high = np.where(misses == others, 1.0, q_high)
    low: Counts = np.log(np.where(hits == 0, np.finfo(float).tiny, p_low)) - np.log(q_high)
    return low
