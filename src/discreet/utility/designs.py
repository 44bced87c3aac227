"""Mechanisms for one count or sum side by side: what each is worth to the same users."""

from dataclasses import dataclass
from fractions import Fraction

from discreet.parameters import Real, rational, whole
from discreet.plots import Plot, plot_heats
from discreet.utility.channels import Channel
from discreet.utility.gains import AnyGain, Gain, Known, gain_over
from discreet.utility.graphs import Graph, sums
from discreet.utility.guessing import best_remap, plain_utility
from discreet.utility.makers import geometric_channel, laplace_channel
from discreet.utility.optimal import Method, Optimum, has_closed_form, optimal_mechanism
from discreet.utility.priors import Prior, uniform

PROGRAM_MOST = 128
"""With more answers the optimum is taken from the theorem where there is one."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidate:
    """A mechanism with what its outputs, taken as guesses, are worth."""

    name: str
    channel: Channel
    utility: Fraction
    epsilon: Fraction
    """What it gives away, computed from its chances and rounded up, but not above the asked."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Design:
    """Four mechanisms of one epsilon, from the simplest to the best."""

    graph: Graph
    epsilon: Fraction
    gain: Gain
    candidates: tuple[Candidate, ...]
    optimum: Optimum
    truth: Fraction
    """What knowing the exact answer would be worth."""

    @property
    def is_universal(self) -> bool:
        """Whether the theorem says that the geometric mechanism with the best remap is optimal."""
        return has_closed_form(self.graph, self.gain)

    def plot(self) -> Plot:
        """Draw the channels side by side as heat maps."""
        names = [str(each) for each in self.graph.nodes]
        panels = [(each.name, each.channel.to_floats()) for each in self.candidates]
        title = f"P(released | exact), ε = {float(self.epsilon):g}"
        return plot_heats(panels, title=title, rows=names, columns=names)


def design(  # noqa: PLR0913 - a range, a price, and who asks
    low: int,
    high: int,
    epsilon: Real,
    *,
    prior: Prior | None = None,
    gain: AnyGain = Known.ABSOLUTE,
    sensitivity: int = 1,
) -> Design:
    """Compare mechanisms for an answer from low to high that one unit moves by `sensitivity`.

    Without a prior, all answers are as likely.
    """
    price = rational("epsilon", epsilon, above=0)
    belief = uniform(low, high) if prior is None else prior
    reach = whole("sensitivity", sensitivity, least=1)
    graph = sums(low, high, most=reach)
    worth = gain_over(gain, graph.nodes)
    laplace = laplace_channel(low, high, epsilon=price, sensitivity=reach)
    geometric = geometric_channel(low, high, epsilon=price, sensitivity=reach)
    remapped = geometric.then(best_remap(geometric, belief, worth).channel)
    is_small = len(graph.nodes) <= PROGRAM_MOST
    best = optimal_mechanism(
        graph,
        price,
        prior=belief,
        gain=worth,
        method=Method.LINEAR_PROGRAM if is_small else Method.AUTO,
    )
    named = {
        "Laplace, rounded": laplace,
        "geometric": geometric,
        "geometric + remap": remapped,
        f"optimum ({best.method.value})": best.channel,
    }
    return Design(
        graph=graph,
        epsilon=price,
        gain=worth,
        candidates=tuple(
            Candidate(
                name=name,
                channel=channel,
                utility=plain_utility(channel, belief, worth),
                epsilon=min(price, channel.epsilon(graph) or price),
            )
            for name, channel in named.items()
        ),
        optimum=best,
        truth=sum(
            (p * max(row[y] for row in worth.matrix) for y, p in enumerate(belief.chances)),
            Fraction(0),
        ),
    )
