"""The laws that the samplers claim, written down once more and apart from them."""

from collections.abc import Callable, Sequence
from itertools import product
from math import ceil, exp, expm1, fsum, prod, sqrt

import numpy as np
from numpy.typing import NDArray

Law = Callable[[int], float]


def geometric_law(scale: float) -> Law:
    return lambda k: -expm1(-1 / scale) * exp(-k / scale)


def laplace_law(scale: float) -> Law:
    q = exp(-1 / scale)
    return lambda x: (1 - q) / (1 + q) * exp(-abs(x) / scale)


def laplace_residues(scale: float, modulus: int) -> list[float]:
    """Return P(X = r modulo modulus) for each r, for discrete Laplace X."""
    q = exp(-1 / scale)
    at_zero = -expm1(-1 / scale) / (1 + q) / -expm1(-modulus / scale)
    return [at_zero * (q**r + q ** (modulus - r)) for r in range(modulus)]


def gaussian_law(variance: float) -> Law:
    far = ceil(40 * sqrt(variance)) + 10
    total = fsum(exp(-x * x / (2 * variance)) for x in range(-far, far + 1))
    return lambda x: exp(-x * x / (2 * variance)) / total


def laplace_curve(scale: float) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """Return the continuous law's distribution function, which wide discrete ones cannot leave."""

    def cdf(x: NDArray[np.float64]) -> NDArray[np.float64]:
        half = np.exp(-np.abs(x) / scale) / 2
        return np.where(x < 0, half, 1 - half)

    return cdf


def exponential_law(scores: Sequence[int], rate: float) -> list[float]:
    weights = [exp(rate * (score - max(scores))) for score in scores]
    return [weight / fsum(weights) for weight in weights]


def permute_and_flip_law(scores: Sequence[int], rate: float) -> list[float]:
    """Return each candidate's probability: over all sets of heads, a uniform head."""
    heads = [exp(rate * (score - max(scores))) for score in scores]
    law = [0.0] * len(scores)
    for fallen in product([False, True], repeat=len(scores)):
        if any(fallen):
            odds = prod(p if fell else 1 - p for p, fell in zip(heads, fallen, strict=True))
            for i, fell in enumerate(fallen):
                law[i] += odds * fell / sum(fallen)
    return law
