"""The optimal mechanism with a certificate, and when it is the geometric one.

On a path, a column of a private mechanism is a sum of rays. In a ray, any two neighbours have
exactly the largest likelihood ratio, in one direction or the other. So prices of the rows alone
bound the gain of every mechanism, because one pass along the path finds the best ray for them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import exp

import numpy as np

from discreet.errors import ParameterError, SolverError
from discreet.local.draws import exp_down
from discreet.noise.uniform import FloatArray
from discreet.parameters import Real, choice, integer, rational
from discreet.utility.channels import Channel, ChannelMechanism
from discreet.utility.guessing import best_remap, plain_utility, worst_utility
from discreet.utility.makers import alpha_down, alpha_up, geometric_channel
from discreet.utility.neighbours import NeighbourGraph, same_nodes
from discreet.utility.priors import AnyGain, Gain, Known, Prior, gain_over
from discreet.utility.programs import Proposal, bayesian, bound, minimax, repaired

BITS = 70
"""Utility and prices are rounded to multiples of 2^-70 of the gain's range."""


CRUMB = 1 << BITS - 56
"""The most by which a price in floats may be wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vertex:
    """A basic solution of the program, in floats, and the prices of rows that belong to it."""

    probabilities: FloatArray
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
    return Vertex(probabilities=chances, rows=_inverse(values[places, best], a))


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


OPTIMAL = 1e-9
"""A vertex within this distance of its bound, relative to the gain's range, needs no solver."""


VERTEX = (
    "the geometric mechanism with the best remap is a vertex of the linear program, and prices of "
    "its rows prove that no other is better"
)


MIXED = "a linear program's solution, mixed with the uniform distribution to satisfy epsilon"


class Method(Enum):
    """How an optimum is found."""

    AUTO = "auto"
    """In closed form if a theorem gives one, else by a linear program."""
    CLOSED_FORM = "closed form"
    LINEAR_PROGRAM = "linear program"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Optimum:
    """A mechanism whose outputs are guesses, its exact utility, and a bound for any other."""

    channel: Channel
    graph: NeighbourGraph
    epsilon: Fraction
    """Certified: no likelihood ratio under neighbours exceeds e^epsilon."""
    utility: Fraction
    """The exact utility, on average or, without a prior, for the worst-case answer."""
    bound: Fraction
    """An upper bound on the utility of every epsilon-DP mechanism."""
    method: Method
    why: str

    @property
    def gap(self) -> Fraction:
        """The most by which another mechanism could be better."""
        return max(self.bound - self.utility, Fraction(0))

    @property
    def mechanism(self) -> ChannelMechanism:
        """The mechanism to release answers with."""
        return ChannelMechanism(channel=self.channel, graph=self.graph, epsilon=self.epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """The requirements for a mechanism: neighbours, epsilon, prior and gain."""

    graph: NeighbourGraph
    epsilon: Fraction
    prior: Prior | None
    gain: Gain

    @property
    def worth(self) -> FloatArray:
        """Gains scaled to between 0 and 1, as tolerances require, with a row for each answer."""
        floats = self.gain.to_floats().T
        return np.asarray((floats - floats.min()) / (float(self.gain.spread) or 1.0))


def optimal_mechanism(
    graph: NeighbourGraph,
    epsilon: Real,
    *,
    prior: Prior | None = None,
    gain: AnyGain = Known.IDENTITY,
    method: Method | str = Method.AUTO,
) -> Optimum:
    """Return an epsilon-DP mechanism with the largest utility for a prior, or in the worst case.

    On a path, for a prior and an anti-monotone gain, it is the truncated geometric mechanism with
    the best remap (Ghosh, Roughgarden, Sundararajan 2009, Theorem 3.2). Otherwise a linear program
    proposes a mechanism, which is then repaired and certified.
    """
    way = choice("method", method, Method)
    worth = gain_over(gain, graph.nodes)
    if prior is not None:
        same_nodes("prior", graph.nodes, prior.labels)
    price = rational("epsilon", epsilon, above=0)
    wanted = Wanted(graph=graph, epsilon=price, prior=prior, gain=worth)
    if way is Method.LINEAR_PROGRAM:
        return _program(wanted)
    if prior is not None and has_closed_form(graph, worth):
        return _closed_form(graph, price, prior, worth)
    if way is Method.CLOSED_FORM:
        rule = "needs a prior, a path and an anti-monotone gain (or use the linear program)"
        raise ParameterError("method", way.value, rule)
    return _program(wanted)


def has_closed_form(graph: NeighbourGraph, gain: Gain) -> bool:
    """Whether the theorem about the geometric mechanism covers these neighbours and this gain."""
    return graph.is_path and gain.guesses == graph.nodes and gain.is_anti_monotone


def _closed_form(graph: NeighbourGraph, epsilon: Fraction, prior: Prior, gain: Gain) -> Optimum:
    first, last = integer("low", graph.nodes[0]), integer("high", graph.nodes[-1])
    geometric = geometric_channel(first, last, epsilon=epsilon)
    remap = best_remap(geometric, prior, gain)
    return Optimum(
        channel=geometric if remap.is_plain else geometric.then(remap.channel),
        graph=graph,
        epsilon=epsilon,
        utility=remap.utility,
        bound=remap.utility + _rounding(epsilon, gain),
        method=Method.CLOSED_FORM,
        why="on a path the geometric mechanism with the best remap is optimal for every "
        "anti-monotone gain (Ghosh, Roughgarden, Sundararajan 2009)",
    )


def _rounding(epsilon: Fraction, gain: Gain) -> Fraction:
    """Return the most that rounding e^-epsilon up may have cost.

    By the theorem, this mechanism is optimal for likelihood ratios up to r = 1 / alpha_up. Others
    may have at most s = 1 / alpha_down. An M with ratios up to s, mixed with the uniform
    distribution over n guesses by θ = n (s - r) / (r - 1), has ratios of at most r:
    M_i - r M_j ≤ (s - r) M_j ≤ s - r. So M gains at most θ · spread more than this mechanism.
    """
    r, s = 1 / alpha_up(epsilon), 1 / alpha_down(epsilon)
    return len(gain.guesses) * (s - r) / (r - 1) * gain.spread


def _program(wanted: Wanted) -> Optimum:
    epsilon, prior, worth = wanted.epsilon, wanted.prior, wanted.worth
    if prior is None:
        found = minimax(worth, wanted.graph, float(epsilon))
        return _certified(wanted, found.probabilities, _bound(wanted, found), MIXED)
    beliefs = np.array([float(each) for each in prior.probabilities])
    if wanted.graph.is_path:
        vertex = geometric_vertex(worth, beliefs, float(epsilon))
        most = bound_of_rows(wanted.gain, prior, vertex.rows, alpha_down(epsilon))
        reached = float((worth * vertex.probabilities).sum(axis=1) @ beliefs)
        if _share(most, wanted.gain) - reached < OPTIMAL:
            return _certified(wanted, vertex.probabilities, most, VERTEX)
    found = bayesian(worth, beliefs, wanted.graph, float(epsilon))
    return _certified(wanted, found.probabilities, _bound(wanted, found), MIXED)


def _certified(wanted: Wanted, chances: FloatArray, most: Fraction, why: str) -> Optimum:
    """Return the proposal as a mechanism, with epsilon proved in integer arithmetic."""
    graph, epsilon, prior, gain = wanted.graph, wanted.epsilon, wanted.prior, wanted.gain
    weights = repaired(chances, graph, exp_down(epsilon))
    channel = Channel.from_weights(weights, inputs=graph.nodes, outputs=gain.guesses)
    if not channel.is_private(epsilon, graph):
        raise SolverError("its solution could not be made private")
    return Optimum(
        channel=channel,
        graph=graph,
        epsilon=epsilon,
        utility=worst_utility(channel, gain)
        if prior is None
        else plain_utility(channel, prior, gain),
        bound=most,
        method=Method.LINEAR_PROGRAM,
        why=why,
    )


def _bound(wanted: Wanted, found: Proposal) -> Fraction:
    """Return the better of the bounds that the solver's dual prices prove."""
    graph, gain, alpha = wanted.graph, wanted.gain, alpha_down(wanted.epsilon)
    prior = _worst_prior(found, graph) if wanted.prior is None else wanted.prior
    most = bound(gain, prior, graph, found.prices * float(gain.spread or 1), alpha)
    return min(most, bound_of_rows(gain, prior, found.rows, alpha)) if graph.is_path else most


def _share(most: Fraction, gain: Gain) -> float:
    """Return a bound in the units of the program's utility."""
    least = Fraction(min(map(min, gain.weights)), gain.divisor)
    return float((most - least) / (gain.spread or 1))


def _worst_prior(proposal: Proposal, graph: NeighbourGraph) -> Prior:
    """Return the worst prior of a minimax program, or any other: the bound holds for each."""
    chances = proposal.prior.tolist()
    if not any(chances):
        return Prior(dict.fromkeys(graph.nodes, 1))
    return Prior(dict(zip(graph.nodes, map(Fraction, chances), strict=True)))
