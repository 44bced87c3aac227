"""Universality: whether one mechanism is optimal for all users, with a proof if it is not."""

from dataclasses import dataclass
from fractions import Fraction

from discreet.parameters import Real, whole
from discreet.utility.gains import AnyGain, Gain, Known, gain_over
from discreet.utility.graphs import Graph
from discreet.utility.guessing import utility
from discreet.utility.makers import geometric_channel
from discreet.utility.optimal import Method, Optimum, optimal_mechanism
from discreet.utility.priors import Prior


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The utility of the geometric mechanism for a rational user, compared with the optimum."""

    geometric: Fraction
    optimum: Optimum

    @property
    def shortfall(self) -> Fraction:
        """How much better another mechanism is known to be. At most 0 if none is."""
        return self.optimum.utility - self.geometric

    @property
    def doubt(self) -> Fraction:
        """The most by which another mechanism could be better, by the program's bound."""
        return self.optimum.bound - self.geometric


def compare_geometric(
    graph: Graph, epsilon: Real, prior: Prior, gain: AnyGain = Known.IDENTITY
) -> Comparison:
    """Compare the geometric mechanism with the optimum, which is found without the theorem."""
    low, high = whole("low", graph.nodes[0]), whole("high", graph.nodes[-1])
    geometric = geometric_channel(low, high, epsilon=epsilon)
    best = optimal_mechanism(graph, epsilon, prior=prior, gain=gain, method=Method.LINEAR_PROGRAM)
    return Comparison(geometric=utility(geometric, prior, gain), optimum=best)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """The optima of two users, and the best that one mechanism can do for both together."""

    first: Optimum
    second: Optimum
    together: Optimum
    """The optimum for both at once, in which an output is a guess for each user."""

    @property
    def is_proved(self) -> bool:
        """Whether no mechanism is optimal for both: a proof in exact arithmetic."""
        return self.together.bound < self.first.utility + self.second.utility

    @property
    def loss(self) -> Fraction:
        """A lower bound on the loss of one mechanism for both, compared with two."""
        return self.first.utility + self.second.utility - self.together.bound


def conflict(
    graph: Graph, epsilon: Real, first: tuple[Prior, AnyGain], second: tuple[Prior, AnyGain]
) -> Conflict:
    """Decide whether one mechanism can be optimal for two users (Brenner, Nissim 2010).

    The utility of a mechanism depends only on the pair of guesses that the users make from its
    output. So pairs of guesses are all the outputs it needs, and one linear program decides.
    """
    gains = [gain_over(gain, graph.nodes) for _, gain in (first, second)]
    alone = [
        optimal_mechanism(graph, epsilon, prior=prior, gain=gain, method=Method.LINEAR_PROGRAM)
        for (prior, _), gain in zip((first, second), gains, strict=True)
    ]
    pairs = _pairs((first[0], gains[0]), (second[0], gains[1]))
    everyone = Prior(dict.fromkeys(graph.nodes, 1))
    together = optimal_mechanism(
        graph, epsilon, prior=everyone, gain=pairs, method=Method.LINEAR_PROGRAM
    )
    return Conflict(first=alone[0], second=alone[1], together=together)


def _pairs(first: tuple[Prior, Gain], second: tuple[Prior, Gain]) -> Gain:
    """Return the gain of pairs of guesses: the sum of both, if all answers are equally likely."""
    (p, g), (q, h) = first, second
    size = len(g.answers)
    rows = [
        [
            size * (a * x + b * y)
            for a, x, b, y in zip(p.chances, one, q.chances, other, strict=True)
        ]
        for one in g.matrix
        for other in h.matrix
    ]
    names = [(v, w) for v in g.guesses for w in h.guesses]
    return Gain(rows, answers=g.answers, guesses=names)
