"""The linear program on a path: its geometric vertex, and the bound that prices of rows prove.

On a path, a column of a private mechanism is a sum of rays: columns of which any two neighbours
have exactly the largest odds, one way or the other. Prices of the rows alone therefore bound what
every mechanism can gain, since the best ray for them is found by going along the path once.
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
"""Worth and prices are rounded to multiples of 2^-70 of the gain's spread."""

CRUMB = 1 << BITS - 56
"""What floats may have got wrong in a price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vertex:
    """A basic solution of the program, in floats, and the prices of rows that belong to it."""

    chances: FloatArray
    rows: FloatArray
    """What a row is worth: if they leave no ray a profit, the solution is optimal."""


def geometric_vertex(worth: FloatArray, prior: FloatArray, epsilon: float) -> Vertex:
    """Return the geometric mechanism with the best remap as a vertex of the program.

    Its rays are a^|z - y|, and their matrix G has the inverse of an autoregression: with
    (1 - a^2) G^-1 tridiagonal, prices of rows are G^-1 times what the rays are worth.
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
    """Return G cells, going along the path from both ends."""
    before, after = cells.copy(), cells.copy()
    for here in range(1, len(cells)):
        before[here] += a * before[here - 1]
        after[-here - 1] += a * after[-here]
    return np.asarray(before + after - cells)


def _inverse(values: FloatArray, a: float) -> FloatArray:
    """Return G^-1 values."""
    beside = np.concatenate([[0.0], values, [0.0]])
    found = (1 + a * a) * values - a * (beside[:-2] + beside[2:])
    found[[0, -1]] -= a * a * values[[0, -1]]
    return np.asarray(found / (1 - a * a))


def bound_of_rows(gain: Gain, prior: Prior, rows: FloatArray, alpha: Fraction) -> Fraction:
    """Return what no mechanism on a path with odds up to 1 / alpha exceeds, whatever the prices.

    Rows of K add up to 1, so Σ prior g K = Σ_y u(y) + Σ_w Σ_y c(w, y) K(y, w) for any prices u,
    with c = prior g - u. As alpha K(y, w) ≤ K(y ± 1, w), what lies beyond a neighbour is worth at
    most v / alpha or alpha v of its own chance, by the sign of v: summed up from both ends, column
    w gains at most V(y, w) K(y, w) for every y, and so no more than the least V, or 0. All is
    rounded up, in whole numbers; gains are less their least, in parts of their spread.
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
    """Return what all guesses together gain at most beyond the prices of rows, rounded up."""
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
    """Return what each place and all before it gain at most, in units of the place's chance.

    And what was paid out on the way, as chances are not above 1: a crumb that is carried on to
    smaller chances would be a fortune there.
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
    """Return what the exact answer is worth."""
    weights = prior.weights
    best = map(max, zip(*gain.weights, strict=True))
    found = sum(w * each for w, each in zip(weights, best, strict=True))
    return Fraction(found, sum(weights) * gain.divisor)
