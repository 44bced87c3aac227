"""A channel as a mechanism: exact draws from its rows, and the event they are charged as."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate

from discreet.accounting.events import PureEvent
from discreet.errors import HIDDEN, ParameterError
from discreet.mechanisms.frozen import settle
from discreet.noise import SYSTEM, Entropy
from discreet.noise.uniform import LazyUniform
from discreet.parameters import rational
from discreet.utility.channels import Channel
from discreet.utility.graphs import Graph, Label


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ChannelMechanism:
    """Release an output of a channel: epsilon-DP for the neighbours of a graph.

    Epsilon is certified in integer arithmetic when the mechanism is made, and draws have exactly
    the channel's probabilities.
    """

    channel: Channel
    graph: Graph
    epsilon: Fraction

    def __post_init__(self) -> None:
        epsilon = rational("epsilon", self.epsilon, above=0)
        if not self.channel.is_private(epsilon, self.graph):
            rule = "must be at least that of the channel, channel.epsilon(graph)"
            raise ParameterError("epsilon", epsilon, rule)
        settle(self, epsilon=epsilon)

    def __repr__(self) -> str:
        return f"ChannelMechanism({self.channel!r}, epsilon={float(self.epsilon):g})"

    @property
    def event(self) -> PureEvent:
        """The event that one release is charged as."""
        return PureEvent(epsilon=self.epsilon)

    def release(self, exact: Label, *, entropy: Entropy = SYSTEM) -> Label:
        """Return one draw for an exact answer. An error does not show the answer."""
        if exact not in self.channel.inputs:
            raise ParameterError("exact", HIDDEN, "must be one of the channel's inputs")
        row = self.channel.weights[self.channel.inputs.index(exact)]
        return self.channel.outputs[drawn(row, entropy)]

    def law(self, exact: Label) -> dict[Label, Fraction]:
        """Return the exact probability of every output."""
        i = self.channel.inputs.index(exact)
        total = self.channel.totals[i]
        pairs = zip(self.channel.outputs, self.channel.weights[i], strict=True)
        return {output: Fraction(weight, total) for output, weight in pairs}


def drawn(weights: Sequence[int], entropy: Entropy) -> int:
    """Draw an index with probabilities exactly proportional to integer weights of any size.

    U lies in [drawn, drawn + 1) / 2^bits. The index is found when both ends of that, times the
    total, are between the same two partial sums. Until then, more bits of U are drawn.
    """
    ends = list(accumulate(weights))
    uniform = LazyUniform(entropy)
    while True:
        uniform.refine()
        first = uniform.drawn * ends[-1] >> uniform.bits
        last = (uniform.drawn + 1) * ends[-1] - 1 >> uniform.bits
        place = bisect_right(ends, first)
        if place == bisect_right(ends, last):
            return place
