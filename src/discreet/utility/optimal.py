"""The best mechanism for a prior and a gain, certified: its epsilon, and how far from the best."""

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import numpy as np

from discreet.errors import ParameterError, SolverError
from discreet.local.draws import exp_down
from discreet.noise.uniform import FloatArray
from discreet.parameters import Real, choice, rational, whole
from discreet.utility.channels import Channel
from discreet.utility.gains import AnyGain, Gain, Known, gain_over
from discreet.utility.graphs import Graph, same_nodes
from discreet.utility.guessing import best_remap, plain_utility, worst_utility
from discreet.utility.makers import alpha_down, alpha_up, geometric_channel
from discreet.utility.mechanism import ChannelMechanism
from discreet.utility.paths import bound_of_rows, geometric_vertex
from discreet.utility.priors import Prior
from discreet.utility.programs import Proposal, bayesian, minimax
from discreet.utility.repair import bound, repaired

OPTIMAL = 1e-9
"""A vertex that is no farther from its bound, in parts of the gain's spread, needs no solver."""

VERTEX = (
    "the geometric mechanism with the best remap is a vertex of the linear program, and prices of "
    "its rows prove that no other is better"
)
MIXED = "a linear program's solution, mixed with the uniform law by what it violated"


class Method(Enum):
    """How an optimum is found."""

    AUTO = "auto"
    """In closed form where a theorem gives one, else by a linear program."""
    CLOSED_FORM = "closed form"
    LINEAR_PROGRAM = "linear program"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Optimum:
    """A mechanism whose outputs are guesses, its exact worth, and a bound on that of any other."""

    channel: Channel
    graph: Graph
    epsilon: Fraction
    """Certified: no odds under neighbours exceed e^epsilon."""
    utility: Fraction
    """On average, or for the worst answer where there is no prior."""
    bound: Fraction
    """No epsilon-DP mechanism is worth more."""
    method: Method
    why: str

    @property
    def gap(self) -> Fraction:
        """How much better another mechanism could be, at most."""
        return max(self.bound - self.utility, Fraction(0))

    @property
    def mechanism(self) -> ChannelMechanism:
        """The mechanism to release answers with."""
        return ChannelMechanism(channel=self.channel, graph=self.graph, epsilon=self.epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a mechanism is wanted for: whom it protects, how far, and who is served."""

    graph: Graph
    epsilon: Fraction
    prior: Prior | None
    gain: Gain

    @property
    def worth(self) -> FloatArray:
        """Gains between 0 and 1, which tolerances are made for: a row for each answer."""
        floats = self.gain.to_floats().T
        return np.asarray((floats - floats.min()) / (float(self.gain.spread) or 1.0))


def optimal_mechanism(
    graph: Graph,
    epsilon: Real,
    *,
    prior: Prior | None = None,
    gain: AnyGain = Known.IDENTITY,
    method: Method | str = Method.AUTO,
) -> Optimum:
    """Return an epsilon-DP mechanism of most utility, for a prior or, without one, for the worst.

    On a path, for a prior and an anti-monotone gain, it is the truncated geometric mechanism with
    the best remap (Ghosh, Roughgarden, Sundararajan 2009, Theorem 3.2). Otherwise a linear program
    proposes, and what it proposes is repaired and certified.
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
        rule = "needs a prior, a path and an anti-monotone gain; take the linear program"
        raise ParameterError("method", way.value, rule)
    return _program(wanted)


def has_closed_form(graph: Graph, gain: Gain) -> bool:
    """Whether the theorem about the geometric mechanism covers these neighbours and this gain."""
    return graph.is_path and gain.guesses == graph.nodes and gain.is_anti_monotone


def _closed_form(graph: Graph, epsilon: Fraction, prior: Prior, gain: Gain) -> Optimum:
    first, last = whole("low", graph.nodes[0]), whole("high", graph.nodes[-1])
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
    """Return what rounding e^-epsilon up may have cost, at most.

    By the theorem we are optimal for odds r = 1 / alpha_up, and others may have s = 1 / alpha_down
    at most. Of an M with odds s, mixed with the uniform law over n guesses by θ = n (s - r) / (r -
    1), the odds are at most r: M_i - r M_j ≤ (s - r) M_j ≤ s - r. So M gains at most θ · spread
    more than we do.
    """
    r, s = 1 / alpha_up(epsilon), 1 / alpha_down(epsilon)
    return len(gain.guesses) * (s - r) / (r - 1) * gain.spread


def _program(wanted: Wanted) -> Optimum:
    epsilon, prior, worth = wanted.epsilon, wanted.prior, wanted.worth
    if prior is None:
        found = minimax(worth, wanted.graph, float(epsilon))
        return _certified(wanted, found.chances, _bound(wanted, found), MIXED)
    beliefs = np.array([float(each) for each in prior.chances])
    if wanted.graph.is_path:
        vertex = geometric_vertex(worth, beliefs, float(epsilon))
        most = bound_of_rows(wanted.gain, prior, vertex.rows, alpha_down(epsilon))
        reached = float((worth * vertex.chances).sum(axis=1) @ beliefs)
        if _share(most, wanted.gain) - reached < OPTIMAL:
            return _certified(wanted, vertex.chances, most, VERTEX)
    found = bayesian(worth, beliefs, wanted.graph, float(epsilon))
    return _certified(wanted, found.chances, _bound(wanted, found), MIXED)


def _certified(wanted: Wanted, chances: FloatArray, most: Fraction, why: str) -> Optimum:
    """Return what is proposed as a mechanism, its epsilon proved in whole numbers."""
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
    """Return the better of the bounds that a solver's prices prove."""
    graph, gain, alpha = wanted.graph, wanted.gain, alpha_down(wanted.epsilon)
    prior = _worst_prior(found, graph) if wanted.prior is None else wanted.prior
    most = bound(gain, prior, graph, found.prices * float(gain.spread or 1), alpha)
    return min(most, bound_of_rows(gain, prior, found.rows, alpha)) if graph.is_path else most


def _share(most: Fraction, gain: Gain) -> float:
    """Return a bound in the units of a program's worth."""
    least = Fraction(min(map(min, gain.weights)), gain.divisor)
    return float((most - least) / (gain.spread or 1))


def _worst_prior(proposal: Proposal, graph: Graph) -> Prior:
    """Return the prior that a minimax program found worst, or any: a bound holds for each."""
    chances = proposal.prior.tolist()
    if not any(chances):
        return Prior(dict.fromkeys(graph.nodes, 1))
    return Prior(dict(zip(graph.nodes, map(Fraction, chances), strict=True)))
