"""Mechanisms compared for one count; universality."""

from dataclasses import dataclass
from fractions import Fraction

from discreet.parameters import Real, choice, integer, rational
from discreet.plots import Plot, plot_heats
from discreet.utility.channels import Channel
from discreet.utility.guessing import (
    best_remap,
    cautious_remap,
    plain_utility,
    utility,
    worst_utility,
)
from discreet.utility.makers import geometric_channel, laplace_channel
from discreet.utility.neighbours import NeighbourGraph, sums
from discreet.utility.optimal import Method, Optimum, has_closed_form, optimal_mechanism
from discreet.utility.priors import AnyGain, Belief, Gain, Known, Prior, gain_over, uniform


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidate:
    """A mechanism with the utility of its outputs as guesses."""

    name: str
    channel: Channel
    utility: Fraction
    epsilon: Fraction
    """Epsilon, computed from the probabilities and rounded up, at most the requested one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Design:
    """Four mechanisms of one epsilon, from the simplest to the best."""

    graph: NeighbourGraph
    epsilon: Fraction
    prior: Prior | None
    """The prior, or None if mechanisms are compared by their worst-case answer."""
    gain: Gain
    candidates: tuple[Candidate, ...]
    optimum: Optimum
    truth: Fraction
    """The utility of the exact answer."""

    @property
    def is_universal(self) -> bool:
        """Whether the geometric mechanism with the best remap is optimal by a theorem.

        With a prior, by Ghosh, Roughgarden and Sundararajan (2009). Without one, by Gupte and
        Sundararajan (2010).
        """
        return has_closed_form(self.graph, self.gain)

    def plot(self) -> Plot:
        """Plot the channels side by side as heat maps."""
        names = [str(each) for each in self.graph.nodes]
        panels = [(each.name, each.channel.to_floats()) for each in self.candidates]
        title = f"P(released | exact), ε = {float(self.epsilon):g}"
        return plot_heats(panels, title=title, rows=names, columns=names)


def design(  # noqa: PLR0913 - a range, a price, and who asks
    low: int,
    high: int,
    epsilon: Real,
    *,
    prior: Prior | Belief | str = Belief.UNIFORM,
    gain: AnyGain = Known.ABSOLUTE,
    sensitivity: int = 1,
) -> Design:
    """Compare mechanisms for an answer from low to high that one unit changes by `sensitivity`.

    With the prior "worst", each is judged by its worst-case answer.
    """
    price = rational("epsilon", epsilon, above=0)
    reach = integer("sensitivity", sensitivity, least=1)
    graph = sums(low, high, most=reach)
    belief = _belief(prior, low, high)
    worth = gain_over(gain, graph.nodes)
    laplace = laplace_channel(low, high, epsilon=price, sensitivity=reach)
    geometric = geometric_channel(low, high, epsilon=price, sensitivity=reach)
    best = optimal_mechanism(graph, price, prior=belief, gain=worth, method=Method.LINEAR_PROGRAM)
    named = {
        "Laplace, rounded": laplace,
        "geometric": geometric,
        "geometric + remap": geometric.then(_remap(geometric, belief, worth)),
        f"optimum ({best.method.value})": best.channel,
    }
    return Design(
        graph=graph,
        epsilon=price,
        prior=belief,
        gain=worth,
        candidates=tuple(
            Candidate(
                name=name,
                channel=channel,
                utility=_worth(channel, belief, worth),
                epsilon=min(price, channel.epsilon(graph) or price),
            )
            for name, channel in named.items()
        ),
        optimum=best,
        truth=_worth(_truth(worth), belief, worth),
    )


def _belief(prior: Prior | Belief | str, low: int, high: int) -> Prior | None:
    """Return a prior, or None for the worst case."""
    if isinstance(prior, Prior):
        return prior
    return uniform(low, high) if choice("prior", prior, Belief) is Belief.UNIFORM else None


def _remap(channel: Channel, prior: Prior | None, gain: Gain) -> Channel:
    if prior is None:
        return cautious_remap(channel, gain)
    return best_remap(channel, prior, gain).channel


def _worth(channel: Channel, prior: Prior | None, gain: Gain) -> Fraction:
    """Return the utility of outputs as guesses, on average or for the worst-case answer."""
    if prior is None:
        return worst_utility(channel, gain)
    return plain_utility(channel, prior, gain)


def _truth(gain: Gain) -> Channel:
    """Return the channel that makes the best guess from the exact answer."""
    columns = zip(*gain.weights, strict=True)
    best = [column.index(max(column)) for column in columns]
    rows = [[int(w == each) for w in range(len(gain.guesses))] for each in best]
    return Channel.from_weights(rows, inputs=gain.answers, outputs=gain.guesses)


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
    graph: NeighbourGraph, epsilon: Real, prior: Prior, gain: AnyGain = Known.IDENTITY
) -> Comparison:
    """Compare the geometric mechanism with the optimum, which is found without the theorem."""
    low, high = integer("low", graph.nodes[0]), integer("high", graph.nodes[-1])
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
    graph: NeighbourGraph,
    epsilon: Real,
    first: tuple[Prior, AnyGain],
    second: tuple[Prior, AnyGain],
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
            for a, x, b, y in zip(p.probabilities, one, q.probabilities, other, strict=True)
        ]
        for one in g.matrix
        for other in h.matrix
    ]
    names = [(v, w) for v in g.guesses for w in h.guesses]
    return Gain(rows, answers=g.answers, guesses=names)
