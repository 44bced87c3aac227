"""Channels as whole weights; the mechanism that draws from one."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from math import gcd, isinf, lcm
from typing import Self, TypeAlias

import numpy as np

from discreet.accounting.events import PureEvent
from discreet.accounting.rounding import float_up, log_up
from discreet.deprecated import Renamed
from discreet.errors import HIDDEN, ParameterError
from discreet.local.mechanism import is_within
from discreet.noise import SYSTEM, Entropy
from discreet.noise.uniform import FloatArray, LazyUniform
from discreet.parameters import Real, freeze_fields, rational
from discreet.plots import Plot, plot_heat
from discreet.utility.neighbours import Label, NeighbourGraph, labels, same_nodes

Weights: TypeAlias = tuple[tuple[int, ...], ...]


GRAIN = 1 << 62
"""Float probabilities are rounded to multiples of one divided by this."""


CLOSE = 2.0**-50
"""Products and quotients of three correctly rounded floats have a smaller relative error."""


TINY = 1e-290
"""Smaller probabilities are not compared as floats."""


ODDS_MOST = Fraction(10**250)
"""Larger likelihood ratios are not compared as floats."""


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class Channel:
    """P(output | input), exactly: integer weights in each row, and their total.

    A matrix is given as rows of numbers. A float means the decimal that it prints as. Every row
    must add up to exactly 1.
    """

    inputs: tuple[Label, ...]
    outputs: tuple[Label, ...]
    weights: Weights
    totals: tuple[int, ...]

    def __init__(
        self,
        matrix: Sequence[Sequence[Real]],
        *,
        inputs: Iterable[Label] | None = None,
        outputs: Iterable[Label] | None = None,
    ) -> None:
        rows = [[rational("matrix", each, least=0, most=1) for each in row] for row in matrix]
        if any(sum(row) != 1 for row in rows):
            rule = "must have rows that add up to exactly 1 (Channel.nearest takes rounded ones)"
            raise ParameterError("matrix", "a row that does not", rule)
        scaled = [_scaled(row) for row in rows]
        self._settle(scaled, inputs, outputs)

    @classmethod
    def from_weights(
        cls,
        weights: Iterable[Sequence[int]],
        *,
        inputs: Iterable[Label] | None = None,
        outputs: Iterable[Label] | None = None,
    ) -> Self:
        """Return the channel with probabilities proportional to integer weights, row by row."""
        rows = [tuple(row) for row in weights]
        if any(min(row, default=-1) < 0 or sum(row) == 0 for row in rows):
            raise ParameterError("weights", "a row of none", "must be 0 or more, not all 0")
        channel = cls.__new__(cls)
        channel._settle(rows, inputs, outputs)  # noqa: SLF001 - of a channel being made
        return channel

    @classmethod
    def nearest(
        cls,
        matrix: FloatArray,
        *,
        inputs: Iterable[Label] | None = None,
        outputs: Iterable[Label] | None = None,
    ) -> Self:
        """Return an exact channel near rounded probabilities, with rows scaled to add up to 1."""
        rows = np.asarray(matrix, np.float64)
        if rows.ndim != 2 or not np.isfinite(rows).all() or (rows.sum(axis=1) <= 0).any():
            raise ParameterError("matrix", "other rows", "must hold numbers, some above 0 in each")
        weights = [[int(max(each, 0.0) * GRAIN) for each in row] for row in rows.tolist()]
        return cls.from_weights(weights, inputs=inputs, outputs=outputs)

    def _settle(
        self,
        weights: Sequence[Sequence[int]],
        inputs: Iterable[Label] | None,
        outputs: Iterable[Label] | None,
    ) -> None:
        rows = tuple(map(tuple, weights))
        width = len(rows[0]) if rows else 0
        if not width or any(len(row) != width for row in rows):
            raise ParameterError("matrix", "rows of different lengths", "must be a rectangle")
        freeze_fields(
            self,
            inputs=labels("inputs", range(len(rows)) if inputs is None else inputs),
            outputs=labels("outputs", range(width) if outputs is None else outputs),
            weights=rows,
            totals=tuple(map(sum, rows)),
        )
        if (len(self.inputs), len(self.outputs)) != (len(rows), width):
            raise ParameterError("matrix", (len(rows), width), "must have a row for each input")

    def __repr__(self) -> str:
        return f"Channel({len(self.inputs)} inputs, {len(self.outputs)} outputs)"

    @property
    def matrix(self) -> tuple[tuple[Fraction, ...], ...]:
        """The probabilities as fractions."""
        return tuple(
            tuple(Fraction(each, total) for each in row)
            for row, total in zip(self.weights, self.totals, strict=True)
        )

    def probability(self, output: Label, given: Label) -> Fraction:
        """Return P(output | given)."""
        i, j = place("given", given, self.inputs), place("output", output, self.outputs)
        return Fraction(self.weights[i][j], self.totals[i])

    def to_floats(self) -> FloatArray:
        """Return the probabilities as the nearest floats."""
        rows = zip(self.weights, self.totals, strict=True)
        return np.array([[each / total for each in row] for row, total in rows])

    # ----------------------------------------------------------------- privacy

    def likelihood_ratio(self, graph: NeighbourGraph) -> Fraction | None:
        """Return the largest likelihood ratio of an output under two neighbours, None if infinite.

        It is infinite if some output is possible for only one of two neighbours.
        """
        same_nodes("graph", self.inputs, graph.nodes)
        floats, worst = self.to_floats(), Fraction(1)
        for i, j in graph.directed:
            # Floats only exclude outputs with smaller ratios than one seen before.
            floor = float(min(worst, ODDS_MOST)) * (1 - CLOSE)
            is_open = (floats[i] >= floor * floats[j]) | (floats[j] < TINY)
            is_equal = self.totals[i] == self.totals[j]
            up, down = (1, 1) if is_equal else (self.totals[j], self.totals[i])
            for k in np.flatnonzero(is_open).tolist():
                here, there = self.weights[i][k] * up, self.weights[j][k] * down
                if here * worst.denominator > there * worst.numerator:
                    if not there:
                        return None
                    worst = Fraction(here, there)
        return worst

    def is_private(self, epsilon: Real, graph: NeighbourGraph) -> bool:
        """Decide, in integer arithmetic, whether no likelihood ratio exceeds e^epsilon."""
        odds = self.likelihood_ratio(graph)
        return odds is not None and is_within(odds, rational("epsilon", epsilon, above=0))

    def epsilon(self, graph: NeighbourGraph) -> Fraction | None:
        """Return the smallest epsilon, rounded up to a float, or None if it is infinite."""
        odds = self.likelihood_ratio(graph)
        if odds is None or odds == 1:
            return None if odds is None else Fraction(0)
        near = float_up(odds)
        return Fraction(log_up(odds if isinf(near) else Fraction(near)))

    # ----------------------------------------------------------------- post-processing

    def then(self, after: "Channel") -> "Channel":
        """Return this channel followed by another: post-processing, which costs nothing.

        For any graph the likelihood ratios are no larger (Dwork, Roth 2014, Proposition 2.1).
        """
        same_nodes("after", self.outputs, after.inputs)
        common = lcm(*after.totals)
        # Most post-processing is a table of guesses, so only weights above 0 are visited.
        steps = [
            [(k, each * (common // total)) for k, each in enumerate(row) if each]
            for row, total in zip(after.weights, after.totals, strict=True)
        ]
        weights = [_sent(row, steps, len(after.outputs)) for row in self.weights]
        return Channel.from_weights(weights, inputs=self.inputs, outputs=after.outputs)

    def lifted(self, databases: Iterable[Label], answer: Callable[..., Label]) -> "Channel":
        """Return the oblivious mechanism on databases, which depends only on their answers."""
        named = labels("databases", databases)
        rows = [self.weights[place("answer", answer(each), self.inputs)] for each in named]
        return Channel.from_weights(rows, inputs=named, outputs=self.outputs)

    def is_oblivious(self, answer: Callable[..., Label]) -> bool:
        """Whether databases with the same answer have the same output distribution."""
        first: dict[Label, tuple[Fraction, ...]] = {}
        return all(
            first.setdefault(answer(each), row) == row
            for each, row in zip(self.inputs, self.matrix, strict=True)
        )

    def plot(self, title: str = "P(released | exact)") -> Plot:
        """Plot the channel as a heat map."""
        rows, columns = ([str(each) for each in named] for named in (self.inputs, self.outputs))
        return plot_heat(self.to_floats(), title=title, rows=rows, columns=columns)

    chance = Renamed("probability")
    odds = Renamed("likelihood_ratio")


def identity_channel(nodes: Iterable[Label]) -> Channel:
    """Return the channel that always outputs its input."""
    named = labels("nodes", nodes)
    rows = [[int(i == j) for j in range(len(named))] for i in range(len(named))]
    return Channel.from_weights(rows, inputs=named, outputs=named)


def place(name: str, label: Label, among: Sequence[Label]) -> int:
    """Return the index of a label, or raise `ParameterError`."""
    if label not in among:
        ends = f"{among[0]!r}, …, {among[-1]!r}"
        raise ParameterError(name, label, f"must be one of {ends}")
    return among.index(label)


def _scaled(row: Sequence[Fraction]) -> list[int]:
    """Return fractions as integers in the same proportions."""
    common = lcm(*(each.denominator for each in row))
    weights = [int(each * common) for each in row]
    shared = gcd(*weights)
    return [each // shared for each in weights]


def _sent(row: Sequence[int], steps: list[list[tuple[int, int]]], width: int) -> list[int]:
    sent = [0] * width
    for weight, targets in zip(row, steps, strict=True):
        for k, share in targets:
            sent[k] += weight if share == 1 else weight * share
    return sent


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ChannelMechanism:
    """Release an output of a channel: epsilon-DP for the neighbours of a graph.

    Epsilon is certified in integer arithmetic when the mechanism is made, and draws have exactly
    the channel's probabilities.
    """

    channel: Channel
    graph: NeighbourGraph
    epsilon: Fraction

    def __post_init__(self) -> None:
        epsilon = rational("epsilon", self.epsilon, above=0)
        if not self.channel.is_private(epsilon, self.graph):
            rule = "must be at least that of the channel, channel.epsilon(graph)"
            raise ParameterError("epsilon", epsilon, rule)
        freeze_fields(self, epsilon=epsilon)

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

    def distribution(self, exact: Label) -> dict[Label, Fraction]:
        """Return the exact probability of every output."""
        i = self.channel.inputs.index(exact)
        total = self.channel.totals[i]
        pairs = zip(self.channel.outputs, self.channel.weights[i], strict=True)
        return {output: Fraction(weight, total) for output, weight in pairs}

    law = Renamed("distribution")


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
