"""From a solver's floats to a mechanism with an exact epsilon and a proved optimality gap.

A solver satisfies constraints only up to its tolerance. It leaves zeros next to positive
probabilities, which means an infinite epsilon. Mixing with the uniform distribution fixes this, and
integer arithmetic checks it.
"""

from fractions import Fraction
from math import ceil

import numpy as np

from discreet.noise.uniform import FloatArray, IntArray
from discreet.utility.gains import Gain
from discreet.utility.graphs import Graph
from discreet.utility.priors import Prior

GRAIN = 1 << 60
"""Probabilities and prices are rounded to multiples of one divided by this."""

DOUBT = 1 << 11
"""More than the float error if odds w_j is about w_i, which is five parts in 2^53 of GRAIN."""


def repaired(chances: FloatArray, graph: Graph, odds: Fraction) -> list[list[int]]:
    """Return weights near these probabilities, with ratios under neighbours of at most `odds`.

    With rows of one total T, adding B to every weight mixes with the uniform distribution. Then
    w_i + B ≤ odds (w_j + B) means B ≥ (w_i - odds w_j) / (odds - 1). B is the largest of these,
    plus an allowance for float errors.
    """
    weights = _wholes(chances)
    # Differences of integers are exact. With ratios near 1, little is left to floats.
    floats, more = weights.astype(np.float64), float(odds - 1)
    violation = max(
        (float((weights[i] - weights[j] - more * floats[j]).max()) for i, j in graph.directed),
        default=0.0,
    )
    doubt = 2 + ceil(DOUBT * min(odds - 1, Fraction(1)))
    added = ceil((max(0, ceil(violation)) + doubt) / (odds - 1))
    return [[each + added for each in row] for row in weights.tolist()]


def bound(gain: Gain, prior: Prior, graph: Graph, prices: FloatArray, alpha: Fraction) -> Fraction:
    """Return an upper bound for all mechanisms with likelihood ratios up to 1 / alpha.

    Weak duality: prices λ ≥ 0 of the constraints alpha K(i, w) ≤ K(j, w) show that
    Σ prior g K ≤ Σ_y max_w (prior(y) g(w, y) - alpha Σ_j λ(y, j, w) + Σ_i λ(i, y, w)),
    because every row of K adds up to 1. Good prices make it tight. Bad ones only make it large, and
    then the utility of the exact answer is the bound.
    """
    # Everything times the total of the prior, the gain's divisor, GRAIN and alpha's denominator.
    weights = prior.weights
    unit = sum(weights) * gain.divisor
    share = GRAIN * alpha.denominator
    worth = [
        [weight * each * share for each in column]
        for weight, column in zip(weights, zip(*gain.weights, strict=True), strict=True)
    ]
    truth = sum(map(max, worth))
    leaves, comes = unit * alpha.numerator, unit * alpha.denominator
    for (i, j), row in zip(graph.directed, prices.tolist(), strict=True):
        for w, each in enumerate(row):
            if each > 0:
                price = int(each * GRAIN)
                worth[i][w] -= price * leaves
                worth[j][w] += price * comes
    return Fraction(min(truth, sum(map(max, worth))), unit * share)


def _wholes(chances: FloatArray) -> IntArray:
    """Return integer weights with one total for every row. The largest absorbs the rounding."""
    positive = np.maximum(chances, 0.0)
    shares = positive / positive.sum(axis=1, keepdims=True)
    weights: IntArray = (shares * GRAIN).astype(np.int64)
    weights[np.arange(len(weights)), weights.argmax(axis=1)] += GRAIN - weights.sum(axis=1)
    return weights
