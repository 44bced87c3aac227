"""A comparison of mechanisms for one count or sum: their utility for the same users."""

from dataclasses import dataclass
from fractions import Fraction

from discreet.parameters import Real, choice, rational, whole
from discreet.plots import Plot, plot_heats
from discreet.utility.caution import cautious_remap
from discreet.utility.channels import Channel
from discreet.utility.gains import AnyGain, Gain, Known, gain_over
from discreet.utility.graphs import Graph, sums
from discreet.utility.guessing import best_remap, plain_utility, worst_utility
from discreet.utility.makers import geometric_channel, laplace_channel
from discreet.utility.optimal import Method, Optimum, has_closed_form, optimal_mechanism
from discreet.utility.priors import Belief, Prior, uniform


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

    graph: Graph
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
    reach = whole("sensitivity", sensitivity, least=1)
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
