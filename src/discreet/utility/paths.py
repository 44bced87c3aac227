"""The linear program on a path: its geometric vertex, and the bound that prices of rows prove.

On a path, a column of a private mechanism is a sum of rays. In a ray, any two neighbours have
exactly the largest likelihood ratio, in one direction or the other. So prices of the rows alone
bound the gain of every mechanism, because one pass along the path finds the best ray for them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp

import numpy as np

from discreet.noise.uniform import FloatArray
from discreet.utility.gains import Gain
from discreet.utility.priors import Prior

BITS = 70
"""Utility and prices are rounded to multiples of 2^-70 of the gain's range."""

CRUMB = 1 << BITS - 56
"""The most by which a price in floats may be wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vertex:
    """A basic solution of the program, in floats, and the prices of rows that belong to it."""

    chances: FloatArray
    rows: FloatArray
    """The prices of rows. If no ray makes a profit at these prices, the solution is optimal."""


def geometric_vertex(worth: FloatArray, prior: FloatArray, epsilon: float) -> Vertex:
    """Return the geometric mechanism with the best remap as a vertex of the program.

    Its rays are a^|z - y|, and their matrix G has the inverse of an autoregression:
    (1 - a^2) G^-1 is tridiagonal. Prices of rows are G^-1 times the utility of the rays.
    """
    size, a = len(worth), exp(-epsilon)
    places = np.arange(size)
    rays = a ** np.abs(np.subtract.outer(places, places))
    values = _smoothed(prior[:, None] * worth, a)
    best = values.argmax(axis=1)
    scale = np.full(size, (1 - a) / (1 + a))
    scale[[0, -1]] = 1 / (1 + a)
    chances = np.zeros(worth.shape)
    np.add.at(chances.T, best, rays * scale[:, None])
    return Vertex(chances=chances, rows=_inverse(values[places, best], a))


def _smoothed(cells: FloatArray, a: float) -> FloatArray:
    """Return G times cells, by one pass along the path from each end."""
    before, after = cells.copy(), cells.copy()
    for here in range(1, len(cells)):
        before[here] += a * before[here - 1]
        after[-here - 1] += a * after[-here]
    return np.asarray(before + after - cells)


def _inverse(values: FloatArray, a: float) -> FloatArray:
    """Return G^-1 times values."""
    beside = np.concatenate([[0.0], values, [0.0]])
    found = (1 + a * a) * values - a * (beside[:-2] + beside[2:])
    found[[0, -1]] -= a * a * values[[0, -1]]
    return np.asarray(found / (1 - a * a))


def bound_of_rows(gain: Gain, prior: Prior, rows: FloatArray, alpha: Fraction) -> Fraction:
    """Return an upper bound for mechanisms on a path with ratios up to 1 / alpha, for any prices.

    Rows of K add up to 1, so Σ prior g K = Σ_y u(y) + Σ_w Σ_y c(w, y) K(y, w) for any prices u,
    with c = prior g - u. Since alpha K(y, w) ≤ K(y ± 1, w), the part beyond a neighbour with value
    v is at most v / alpha or alpha v times its probability, by the sign of v. Summed from both
    ends, column w gains at most V(y, w) K(y, w) for every y, and so at most the smallest V, or 0.
    Everything is rounded up, in integers. Gains are relative to the smallest one, in parts of their
    range.
    """
    least = min(map(min, gain.weights))
    spread = max(map(max, gain.weights)) - least or 1
    prices = [round(each * (1 << BITS)) for each in rows.tolist()]
    total = sum(prices) + _profit(_worth(gain, prior, least, spread), prices, alpha)
    return min(
        _truth(gain, prior),
        Fraction(total * spread + (least << BITS), gain.divisor << BITS),
    )


def _worth(gain: Gain, prior: Prior, least: int, spread: int) -> list[list[int]]:
    """Return prior(y) g(w, y) in the units of the bound, rounded up: a list for each answer."""
    weights = prior.weights
    divisor = sum(weights) * spread
    columns = zip(*gain.weights, strict=True)
    return [
        [-((least - each) * share // divisor) for each in column]
        for share, column in zip((w << BITS for w in weights), columns, strict=True)
    ]


def _profit(worth: list[list[int]], prices: Sequence[int], alpha: Fraction) -> int:
    """Return the most that all guesses together gain beyond the prices of rows, rounded up."""
    cells = [[each - price for each in row] for row, price in zip(worth, prices, strict=True)]
    before, paid = _swept(cells, alpha)
    after, paid_too = _swept(cells[::-1], alpha)
    at_each = [
        [a + b - c for a, b, c in zip(here, there, own, strict=True)]
        for here, there, own in zip(before, after[::-1], cells, strict=True)
    ]
    left: int = sum(max(0, min(each)) for each in zip(*at_each, strict=True))
    return left + paid + paid_too


def _swept(cells: list[list[int]], alpha: Fraction) -> tuple[list[list[int]], int]:
    """Return the most that each place and all before it gain, in units of the place's probability.

    Also return the amounts settled on the way, which is valid because probabilities are at most 1.
    A small amount carried on to smaller probabilities would become a large one.
    """
    p, q = alpha.numerator, alpha.denominator
    found, paid = [cells[0]], 0
    for row in cells[1:]:
        last = found[-1]
        paid += sum(v for v in last if 0 < v <= CRUMB)
        found.append(
            [
                each - (-v * q // p if v > CRUMB else -v * p // q if v < 0 else 0)
                for v, each in zip(last, row, strict=True)
            ]
        )
    return found, paid


def _truth(gain: Gain, prior: Prior) -> Fraction:
    """Return the utility of the exact answer."""
    weights = prior.weights
    best = map(max, zip(*gain.weights, strict=True))
    found = sum(w * each for w, each in zip(weights, best, strict=True))
    return Fraction(found, sum(weights) * gain.divisor)
