"""Decays and weights of buffers, whose matrix has nearly the least error for a horizon.

The coefficients are c_0 = 1 and c_i = Σ ω_j θ_j^(i-1) (McMahan, Pillutla, Rush, Thakurta, Xu 2024).
The error of the last running total is ‖c‖ · ‖b‖, where b is the series 1 / ((1 - z) c(z)). Both
norms have closed forms: c and b are sums of powers, b of the roots of a polynomial.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import isfinite, log

import numpy as np
from numpy.typing import NDArray

from discreet.noise.uniform import FloatArray

PARAMETER_BITS = 40
"""Decays and weights are multiples of 2**-40."""

WORST = 50.0
"""The logarithm of an error that no matrix in reach has."""

FLAT, CLOSE = 1e-7, 1e-2
"""The search stops when corners differ by less: in the logarithm of the error, and in place."""

Roots = NDArray[np.complex128]


@lru_cache(maxsize=32)
def buffer_parameters(
    ticks: int, buffers: int
) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Return decays and weights for a horizon: a search from one start, the same each time."""

    def log_error(parameters: FloatArray) -> float:
        decays, weights = _unpacked(parameters)
        return _log_error(decays, weights, ticks)

    found = _start(ticks, buffers)
    for _ in range(2):
        found = _least(log_error, found, most=2500 * buffers)
    decays, weights = _unpacked(found)
    order = np.argsort(decays)
    return tuple(map(_rounded, decays[order])), tuple(map(_rounded, weights[order]))


def _least(error: Callable[[FloatArray], float], start: FloatArray, *, most: int) -> FloatArray:
    """Return where a function is least, by the method of Nelder and Mead 1965 near a start.

    Factors depend on the dimension (Gao, Han 2012). It stops when all corners are as good as the
    best one, or after about `most` evaluations. SciPy's own would double the time to import this.
    """
    n = len(start)
    grow, contract, shrink = 1 + 2 / n, 0.75 - 1 / (2 * n), 1 - 1 / n
    corners = np.vstack([start, start + np.diag(np.where(start == 0, 0.00025, 0.05 * start))])
    errors = np.array([error(each) for each in corners])
    left = most
    while left > 0:
        order = np.argsort(errors, kind="stable")
        corners, errors = corners[order], errors[order]
        if errors[-1] - errors[0] < FLAT and np.abs(corners[1:] - corners[0]).max() < CLOSE:
            break
        middle = corners[:-1].mean(axis=0)
        away = middle - corners[-1]
        tried = [middle + away]
        reached = [error(tried[0])]
        if reached[0] < errors[0]:
            tried.append(middle + grow * away)
        elif reached[0] >= errors[-2]:
            side = contract if reached[0] < errors[-1] else -contract
            tried.append(middle + side * away)
        reached += [error(each) for each in tried[1:]]
        left -= len(tried)
        best = int(np.argmin(reached))
        if reached[best] < errors[-1]:
            corners[-1], errors[-1] = tried[best], reached[best]
        else:
            corners[1:] = corners[0] + shrink * (corners[1:] - corners[0])
            errors[1:] = [error(each) for each in corners[1:]]
            left -= n
    best_corner: FloatArray = corners[int(np.argmin(errors))]
    return best_corner


def _unpacked(parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
    half = len(parameters) // 2
    return 1 / (1 + np.exp(-parameters[:half])), np.exp(parameters[half:])


def _start(ticks: int, buffers: int) -> FloatArray:
    """Return decays that reach from one tick to the horizon, with weights that fit them."""
    gaps = np.exp(-np.linspace(0.9, max(log(ticks) * 0.95, 1.8), buffers))
    weights = np.sqrt(gaps)
    weights *= 0.5 / weights.sum()
    return np.concatenate([np.log((1 - gaps) / gaps), np.log(weights)])


def _rounded(value: float) -> Fraction:
    """Return the multiple of 2**-40 at or below, at least one of them, for a value below 1."""
    return Fraction(max(1, int(value * 2**PARAMETER_BITS)), 2**PARAMETER_BITS)


def _log_error(decays: FloatArray, weights: FloatArray, ticks: int) -> float:
    """Return ln(‖c‖² ‖b‖²), or WORST if floats cannot compute it or c would rise."""
    if weights.sum() > 1 or len(set(decays.tolist())) < len(decays):
        return WORST
    roots = np.append(np.roots(_denominator(decays, weights)), 1.0).astype(np.complex128)
    with np.errstate(all="ignore"):
        # 1 / ((1 - z) c(z)) has numerator ∏ (1 - θ_j z) and denominator ∏ (1 - λ_k z).
        shares = np.array(
            [
                np.prod(each - decays) / np.prod(each - np.delete(roots, k))
                for k, each in enumerate(roots)
            ]
        )
        squared = (1 + _norm_squared(decays.astype(np.complex128), weights, ticks - 1)) * (
            _norm_squared(roots, shares, ticks)
        )
    return log(squared) if isfinite(squared) and squared >= 1 else WORST


def _denominator(decays: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the coefficients of ∏ (1 - θ_j z) · c(z)."""
    found = np.poly(decays).astype(np.float64)
    for j, weight in enumerate(weights):
        found[1:] += weight * np.poly(np.delete(decays, j))
    return found


def _norm_squared(roots: Roots, shares: NDArray[np.inexact], terms: int) -> float:
    """Return Σ_(i < terms) (Σ_k shares_k roots_k^i)²."""
    pairs = np.outer(roots, roots)
    sums = np.where(np.abs(1 - pairs) < 1e-13, terms, (1 - pairs**terms) / (1 - pairs))
    return float((np.outer(shares, shares) * sums).sum().real)
