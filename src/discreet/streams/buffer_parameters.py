"""Decays and weights of buffers, whose matrix has nearly the least error for a horizon.

The coefficients are c_0 = 1 and c_i = Σ ω_j θ_j^(i-1) (McMahan, Pillutla, Rush, Thakurta, Xu 2024).
The error of the last running total is ‖c‖ · ‖b‖, where b is the series 1 / ((1 - z) c(z)). Both
norms have closed forms: c and b are sums of powers, b of the roots of a polynomial.
"""

from fractions import Fraction
from functools import lru_cache
from math import isfinite, log

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from discreet.noise.uniform import FloatArray

PARAMETER_BITS = 40
"""Decays and weights are multiples of 2**-40."""

WORST = 50.0
"""The logarithm of an error that no matrix in reach has."""

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
        found = minimize(
            log_error,
            found,
            method="Nelder-Mead",
            options={"maxfev": 2500 * buffers, "xatol": 1e-3, "fatol": 1e-8, "adaptive": True},
        ).x
    decays, weights = _unpacked(found)
    order = np.argsort(decays)
    return tuple(map(_rounded, decays[order])), tuple(map(_rounded, weights[order]))


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
