"""The best mechanism for a prior and a gain, with a certified epsilon and optimality gap."""

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
    graph: Graph
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

    graph: Graph
    epsilon: Fraction
    prior: Prior | None
    gain: Gain

    @property
    def worth(self) -> FloatArray:
        """Gains scaled to between 0 and 1, as tolerances require, with a row for each answer."""
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


def _worst_prior(proposal: Proposal, graph: Graph) -> Prior:
    """Return the worst prior of a minimax program, or any other: the bound holds for each."""
    chances = proposal.prior.tolist()
    if not any(chances):
        return Prior(dict.fromkeys(graph.nodes, 1))
    return Prior(dict(zip(graph.nodes, map(Fraction, chances), strict=True)))
