"""Errors of trials, and whether two systems differ by more than chance in so few trials."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.child import Rows
from benchmarks.accuracy.questions import Question

RESAMPLES = 4000
CONFIDENCE = 0.95
SEED = 20250101
"""The same errors always get the same verdict."""

Numbers = NDArray[np.float64]


class Verdict(Enum):
    """What the trials say of us, next to a peer."""

    BETTER = "better"
    EQUAL = "equal"
    WORSE = "worse"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """How many times our figure a peer's is, with an interval, and the verdict."""

    times: float
    low: float
    high: float
    verdict: Verdict


def figure_of(question: Question, answer: Rows, truth: Rows) -> float:
    """Return the number of keys shown, or the absolute error: of groups, their median."""
    if question.is_about_keys:
        return float(len(answer))
    given, exact = _by_key(question, answer), _by_key(question, truth)
    errors = [abs(given[key] - exact[key]) for key in exact if key in given]
    return median(errors) if errors else float("inf")


def compared(question: Question, ours: Sequence[float], theirs: Sequence[float]) -> Comparison:
    """Compare medians; the interval is that of a bootstrap over the trials of both."""
    draws = np.random.default_rng(SEED)
    our_medians, their_medians = (_resampled(each, draws) for each in (ours, theirs))
    low, high = _interval(their_medians - our_medians)
    least, most = _interval(_times(their_medians, our_medians))
    (times,) = _times(np.array([median(theirs)]), np.array([median(ours)]))
    return Comparison(
        times=float(times),
        low=least,
        high=most,
        verdict=_verdict(low, high, is_more_better=question.is_about_keys),
    )


def _verdict(low: float, high: float, *, is_more_better: bool) -> Verdict:
    """Return the verdict from the interval of their median less ours."""
    if low <= 0 <= high:
        return Verdict.EQUAL
    return Verdict.BETTER if (low > 0) != is_more_better else Verdict.WORSE


def _resampled(figures: Sequence[float], draws: np.random.Generator) -> Numbers:
    chosen = draws.choice(np.asarray(figures), size=(RESAMPLES, len(figures)))
    medians: Numbers = np.median(chosen, axis=1)
    return medians


def _interval(figures: Numbers) -> tuple[float, float]:
    """Return both ends, each one of the figures, as some may be infinite."""
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(figures, [tail, 1 - tail], method="inverted_cdf")
    return float(low), float(high)


def _times(theirs: Numbers, ours: Numbers) -> Numbers:
    """Return ratios; nothing beside nothing is once, something beside nothing infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(theirs == ours, 1.0, theirs / ours)


def _by_key(question: Question, rows: Rows) -> dict[tuple[str, ...], float]:
    keys = question.keys
    return {tuple(map(str, row[:keys])): float(row[keys]) for row in rows}
