"""Optimal mechanisms as linear programs: sparse, with constraints on neighbours only.

The result of a solver is a proposal. It is repaired to a mechanism with an exact epsilon and a
proved optimality gap. SciPy loads its solver on first use, so nothing else waits for it.

A solver satisfies constraints only up to its tolerance. It leaves zeros next to positive
probabilities, which means an infinite epsilon. Mixing with the uniform distribution fixes this, and
integer arithmetic checks it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp
from typing import TypeAlias

import numpy as np
import scipy

from discreet.errors import SolverError
from discreet.noise.uniform import FloatArray, IntArray
from discreet.utility.neighbours import NeighbourGraph
from discreet.utility.priors import Gain, Prior

DEVEX = {"simplex_dual_edge_weight_strategy": "devex"}


TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


MIDDLE = {"primal_feasibility_tolerance": 1e-8, "dual_feasibility_tolerance": 1e-8}


ATTEMPTS: tuple[tuple[str, Mapping[str, object]], ...] = (
    ("highs-ds", {**DEVEX, **TIGHT}),
    ("highs-ds", {**DEVEX, **MIDDLE}),
    ("highs-ds", DEVEX),
    ("highs-ipm", {}),
)
"""Methods of HiGHS, tried in turn: tiny probabilities sometimes defeat the tightest one."""


SUCCESS = 0


Sparse: TypeAlias = "scipy.sparse.csr_array[np.float64, tuple[int, int]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Solved:
    """The variables of a linear program, and the duals of its constraints."""

    x: FloatArray
    of_equal: FloatArray
    of_upper: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """The result of a solver, in floats. It is not trusted without a check."""

    probabilities: FloatArray
    """P(guess | answer), with a row for each answer."""
    prices: FloatArray
    """The dual price of each constraint: for each edge in both directions, and each guess."""
    rows: FloatArray
    """The dual price of each row, which adds up to 1."""
    prior: FloatArray
    """The prior of the program, or the worst one in a minimax program."""


def bayesian(
    worth: FloatArray, prior: FloatArray, graph: NeighbourGraph, epsilon: float
) -> Proposal:
    """Return the probabilities with the largest expected gain. `worth` has a row per answer."""
    best = best_guesses_of(worth)
    kept = np.unique(best)
    size, width = len(worth), len(kept)
    cost = -(prior[:, None] * worth[:, kept]).ravel()
    found = solved(
        cost,
        upper=_neighbours(graph, width, epsilon),
        equal=(row_sums(size, width), np.ones(size)),
    )
    return Proposal(
        probabilities=_spread(found.x, best),
        prices=found.of_upper.reshape(-1, width)[:, np.searchsorted(kept, best)],
        rows=-found.of_equal,
        prior=prior,
    )


def minimax(worth: FloatArray, graph: NeighbourGraph, epsilon: float) -> Proposal:
    """Return the probabilities with the largest gain for the worst-case answer."""
    best = best_guesses_of(worth)
    kept = np.unique(best)
    size, width = len(worth), len(kept)
    edges = _neighbours(graph, width, epsilon)
    # One more variable, the smallest gain t: t - Σ_w worth · probability ≤ 0 for each answer.
    least = scipy.sparse.csr_array(
        (-worth[:, kept].ravel(), (np.repeat(np.arange(size), width), np.arange(size * width)))
    )
    upper = _beside(edges, np.zeros(edges.shape[0])), _beside(least, np.ones(size))
    both: Sparse = scipy.sparse.csr_array(scipy.sparse.vstack(upper))
    equal = row_sums(size, width, besides=1)
    cost = np.zeros(size * width + 1)
    cost[-1] = -1
    found = solved(cost, upper=both, equal=(equal, np.ones(size)), is_last_free=True)
    prices = found.of_upper[: edges.shape[0]].reshape(-1, width)
    return Proposal(
        probabilities=_spread(found.x[:-1], best),
        prices=prices[:, np.searchsorted(kept, best)],
        rows=-found.of_equal,
        prior=np.maximum(found.of_upper[edges.shape[0] :], 0),
    )


def best_guesses_of(worth: FloatArray) -> IntArray:
    """Return for each guess one that is at least as good for every answer, and not dominated.

    Probability may be moved from the one to the other, because that is post-processing. So only
    guesses that are not dominated need variables: two of them for the parity of a count.
    """
    sums = worth.sum(axis=0)
    found = [
        int(np.where((worth >= worth[:, [w]]).all(axis=0), sums, -np.inf).argmax())
        for w in range(worth.shape[1])
    ]
    return np.array(found, np.int64)


def _spread(chances: FloatArray, best: IntArray) -> FloatArray:
    """Return the probabilities of all guesses, with 0 for those that are not among the best."""
    kept = np.unique(best)
    rows = chances.reshape(-1, len(kept))
    found = np.zeros((len(rows), len(best)))
    found[:, kept] = rows
    return found


def row_sums(size: int, width: int, *, besides: int = 0) -> Sparse:
    """Return the constraints that sum each row of probabilities, without the other variables."""
    places = np.arange(size * width)
    shape = size, size * width + besides
    return scipy.sparse.csr_array((np.ones(len(places)), (places // width, places)), shape=shape)


def _beside(matrix: Sparse, column: FloatArray) -> Sparse:
    """Return a matrix with one more column."""
    more = scipy.sparse.csr_array(column[:, None])
    joined: Sparse = scipy.sparse.csr_array(scipy.sparse.hstack([matrix, more]))
    return joined


def _neighbours(graph: NeighbourGraph, width: int, epsilon: float) -> Sparse:
    """Return the constraints e^-epsilon P(i, w) - P(j, w) ≤ 0, for each edge both ways."""
    pairs = np.array(list(graph.directed), np.int64).reshape(-1, 2)
    places = pairs[:, :, None] * width + np.arange(width)
    here, there = places[:, 0].ravel(), places[:, 1].ravel()
    rows = np.arange(len(here))
    values = np.concatenate([np.full(len(here), exp(-epsilon)), -np.ones(len(here))])
    return scipy.sparse.csr_array(
        (values, (np.concatenate([rows, rows]), np.concatenate([here, there]))),
        shape=(len(here), len(graph.nodes) * width),
    )


def solved(
    cost: FloatArray,
    *,
    equal: tuple[Sparse, FloatArray],
    upper: "Sparse | None" = None,
    is_last_free: bool = False,
) -> Solved:
    """Minimize the cost of variables that are 0 or more, by HiGHS.

    `equal` is a matrix and the values that it must give. The values of `upper` must be at most 0.
    """
    lower = np.zeros(len(cost))
    if is_last_free:
        lower[-1] = -np.inf
    for method, options in ATTEMPTS:
        found = scipy.optimize.linprog(  # type: ignore[call-overload]  # no sparse arrays in its stubs
            cost,
            A_ub=upper,
            b_ub=None if upper is None else np.zeros(upper.shape[0]),
            A_eq=equal[0],
            b_eq=equal[1],
            bounds=np.stack([lower, np.full(len(cost), np.inf)], axis=1),
            method=method,
            options=dict(options),
        )
        if found.x is not None and found.status == SUCCESS:
            duals = found.eqlin.marginals, -np.asarray(found.ineqlin.marginals)
            return Solved(x=found.x, of_equal=duals[0], of_upper=duals[1])
    raise SolverError(found.message)


GRAIN = 1 << 60
"""Probabilities and prices are rounded to multiples of one divided by this."""


DOUBT = 1 << 11
"""More than the float error if odds w_j is about w_i, which is five parts in 2^53 of GRAIN."""


def repaired(chances: FloatArray, graph: NeighbourGraph, odds: Fraction) -> list[list[int]]:
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


def bound(
    gain: Gain, prior: Prior, graph: NeighbourGraph, prices: FloatArray, alpha: Fraction
) -> Fraction:
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
