"""Rational users: the best guess for each output, and its utility on average and at worst.

All results are exact. Floats are only used to exclude guesses that are not the best. Guesses that
floats cannot distinguish are compared in integer arithmetic.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from operator import mul

import numpy as np
import scipy

from discreet.parameters import Real, integer
from discreet.utility.channels import Channel, identity_channel, place
from discreet.utility.makers import alpha_up
from discreet.utility.neighbours import Label, same_nodes
from discreet.utility.priors import AnyGain, Gain, Known, Prior, gain_over
from discreet.utility.programs import Sparse, row_sums, solved

CLOSE = 2.0**-50
"""The relative error of a sum of products of floats is less than this for each term."""


Answering = Callable[..., Label]
"""A function from databases to answers. Without one, inputs are answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remap:
    """The best guess for each output of a channel, or the first of several equally good ones."""

    outputs: tuple[Label, ...]
    guesses: tuple[Label, ...]
    """The guess for each output."""
    offered: tuple[Label, ...]
    """All possible guesses."""
    utility: Fraction
    """Their utility on average."""

    def __getitem__(self, output: Label) -> Label:
        return self.guesses[place("output", output, self.outputs)]

    @property
    def is_plain(self) -> bool:
        """Whether every output is its own best guess."""
        return self.outputs == self.guesses == self.offered

    @property
    def channel(self) -> Channel:
        """The remap as post-processing: `channel.then(remap.channel)` outputs guesses."""
        rows = [[int(guess == each) for each in self.offered] for guess in self.guesses]
        return Channel.from_weights(rows, inputs=self.outputs, outputs=self.offered)


def best_remap(
    channel: Channel, prior: Prior, gain: AnyGain = Known.IDENTITY, *, of: Answering | None = None
) -> Remap:
    """Return the best guesses of a user who knows the channel, the prior and the gain.

    For output z, the w that maximizes Σ_y prior(y) P(z | y) g(w, y). With `of`, inputs and prior
    are about databases, and gains about their answers.
    """
    worth = _gain(prior, gain, of)
    same_nodes("prior", channel.inputs, prior.labels)
    table = _Table(*_joint(channel, prior), worth)
    chosen = table.best()
    return Remap(
        outputs=channel.outputs,
        guesses=tuple(worth.guesses[w] for w in chosen),
        offered=worth.guesses,
        utility=table.worth(chosen),
    )


def best_guesses(
    noisy: Iterable[int], prior: Prior, gain: AnyGain = Known.IDENTITY, *, epsilon: Real
) -> list[Label]:
    """Return the best guess for each noisy count of the geometric mechanism.

    `epsilon` is that of the noise: P(noisy | count) ∝ e^(-epsilon |noisy - count|). Noisy counts
    may be outside the range of the prior.
    """
    a, worth = alpha_up(epsilon), gain_over(gain, prior.labels)
    counts = [integer("prior", each) for each in prior.labels]
    weights = prior.weights
    released = [integer("noisy", each) for each in noisy]
    distinct = list(dict.fromkeys(released))
    table = _Table([_likely(z, counts, weights, a) for z in distinct], 1, worth)
    found = {z: worth.guesses[w] for z, w in zip(distinct, table.best(), strict=True)}
    return [found[z] for z in released]


def _likely(z: int, counts: Sequence[int], weights: Sequence[int], a: Fraction) -> list[int]:
    """Return integers proportional to prior(y) a^|z - y|."""
    away = [abs(z - y) for y in counts]
    least, most = min(away), max(away)
    return [
        w * a.numerator ** (d - least) * a.denominator ** (most - d)
        for w, d in zip(weights, away, strict=True)
    ]


def utility(
    channel: Channel, prior: Prior, gain: AnyGain = Known.IDENTITY, *, of: Answering | None = None
) -> Fraction:
    """Return U(channel, prior, gain): the exact expected gain of the best guesses."""
    return best_remap(channel, prior, gain, of=of).utility


def plain_utility(
    channel: Channel, prior: Prior, gain: AnyGain = Known.IDENTITY, *, of: Answering | None = None
) -> Fraction:
    """Return the exact expected gain if outputs are used as guesses."""
    worth = _gain(prior, gain, of)
    same_nodes("prior", channel.inputs, prior.labels)
    rows = [worth.weights[place("output", each, worth.guesses)] for each in channel.outputs]
    factors, total = _factors(channel, prior)
    laws = zip(factors, channel.weights, zip(*rows, strict=True), strict=True)
    found = sum(factor * sum(map(mul, law, gains)) for factor, law, gains in laws)
    return Fraction(found, total * worth.divisor)


def worst_utility(channel: Channel, gain: AnyGain = Known.IDENTITY) -> Fraction:
    """Return the expected gain for the worst-case answer if outputs are used as guesses.

    This is the utility of users who allow for any prior. See `optimal_mechanism` without a prior.
    """
    worth = gain_over(gain, channel.inputs)
    rows = [worth.weights[place("output", each, worth.guesses)] for each in channel.outputs]
    laws = zip(channel.weights, channel.totals, zip(*rows, strict=True), strict=True)
    return min(
        Fraction(sum(map(mul, law, gains)), total * worth.divisor) for law, total, gains in laws
    )


def vulnerability(channel: Channel, prior: Prior) -> Fraction:
    """Return the probability that the best guess of the input is right (Bayes vulnerability)."""
    return utility(channel, prior, Known.IDENTITY)


def bayes_risk(channel: Channel, prior: Prior) -> Fraction:
    """Return the probability that the best guess of the input is wrong."""
    return 1 - vulnerability(channel, prior)


def leakage(channel: Channel, prior: Prior) -> Fraction:
    """Return the vulnerability with the output, divided by that without it."""
    return vulnerability(channel, prior) / max(prior.probabilities)


def expected_error(channel: Channel, prior: Prior) -> Fraction:
    """Return the smallest mean distance between guesses and answers."""
    gain = gain_over(lambda w, y: -abs(w - y), prior.labels)
    return -utility(channel, prior, gain)


def _gain(prior: Prior, gain: AnyGain, of: Answering | None) -> Gain:
    if of is None:
        return gain_over(gain, prior.labels)
    found = [of(each) for each in prior.labels]
    answers = tuple(dict.fromkeys(found))
    ordered = tuple(sorted(answers)) if all(isinstance(a, int) for a in answers) else answers  # type: ignore[type-var]
    return gain_over(gain, ordered).of(prior.labels, of)


class _Table:
    """Prior, channel and gain as integers. Products are exact and have one denominator."""

    def __init__(self, columns: Sequence[Sequence[int]], total: int, gain: Gain) -> None:
        self.columns = columns
        self.gains = gain.weights
        most = max(max(map(abs, row)) for row in self.gains) or 1
        self.gain_floats = np.array([[each / most for each in row] for row in self.gains])
        self.total = total * gain.divisor
        # Of guesses with the same gain for every answer, the first represents all.
        first = {row: w for w, row in reversed([*enumerate(self.gains)])}
        self.distinct = frozenset(first.values())

    def best(self) -> list[int]:
        """Return the best guess for each output."""
        return [
            close[0] if len(close) == 1 else self._best_of(close, column)
            for close, column in zip(self._close(), self.columns, strict=True)
        ]

    def _best_of(self, close: list[int], column: Sequence[int]) -> int:
        among = self.distinct.intersection(close)
        return max(among, key=lambda w: (sum(map(mul, self.gains[w], column)), -w))

    def worth(self, guesses: Sequence[int]) -> Fraction:
        """Return the expected gain of a guess for each output."""
        pairs = zip(guesses, self.columns, strict=True)
        return Fraction(
            sum(sum(map(mul, self.gains[w], column)) for w, column in pairs), self.total
        )

    def _close(self) -> Iterator[list[int]]:
        """Yield for each output the guesses that floats cannot distinguish from the best."""
        columns = np.array([_floats(column) for column in self.columns])
        values = columns @ self.gain_floats.T
        # Plus 1 for each term, which may have lost as much when long numbers were truncated, and 1
        # for gains that are too small compared with the largest.
        shares = CLOSE * (columns.shape[1] + 4)
        doubt = (columns * shares + 1) @ np.abs(self.gain_floats).T + 1
        is_close = values + doubt >= (values - doubt).max(axis=1, keepdims=True)
        for row in is_close:
            yield np.flatnonzero(row).tolist()


def _joint(channel: Channel, prior: Prior) -> tuple[list[list[int]], int]:
    """Return prior(y) P(z | y) as integers, a list for each output z, and their total."""
    factors, total = _factors(channel, prior)
    rows = [[f * each for each in row] for f, row in zip(factors, channel.weights, strict=True)]
    return [list(column) for column in zip(*rows, strict=True)], total


def _factors(channel: Channel, prior: Prior) -> tuple[list[int], int]:
    """Return the factors that turn weights into prior(y) P(z | y), row by row, and their total."""
    weights, common = prior.weights, lcm(*set(channel.totals))
    factors = [w * (common // total) for w, total in zip(weights, channel.totals, strict=True)]
    return factors, sum(weights) * common


def _floats(column: Sequence[int]) -> list[float]:
    """Return integers as floats, scaled by a common factor to fit."""
    shift = max(column).bit_length() - 900
    if shift <= 0:
        return [float(each << -shift) for each in column]
    return [float(each >> shift) for each in column]


NOTHING = 1e-13
"""Smaller coefficients, for gains up to 1, are left out of the program."""


def cautious_remap(channel: Channel, gain: AnyGain = Known.IDENTITY) -> Channel:
    """Return the post-processing with the largest utility for the worst-case answer.

    Guesses are drawn at random if that helps. On a path, for an anti-monotone gain, no mechanism is
    better for a cautious user than the geometric one with this post-processing (Gupte, Sundararajan
    2010, Theorem 2). A linear program proposes it, so it is optimal up to the solver's tolerance,
    and never worse than the outputs themselves.
    """
    worth = gain_over(gain, channel.inputs)
    floats = worth.to_floats().T
    scaled = (floats - floats.min()) / (float(worth.spread) or 1.0)
    inputs, outputs, guesses = map(len, (channel.inputs, channel.outputs, worth.guesses))
    # Σ_z,w P(z | y) g(w, y) R(z, w) ≥ t for every answer y; t is the last variable.
    cells = (channel.to_floats()[:, :, None] * scaled[:, None, :]).reshape(inputs, -1)
    upper: Sparse = scipy.sparse.csr_array(
        np.hstack([np.where(cells < NOTHING, 0.0, -cells), np.ones((inputs, 1))])
    )
    cost = np.zeros(outputs * guesses + 1)
    cost[-1] = -1
    equal = row_sums(outputs, guesses, besides=1)
    found = solved(cost, upper=upper, equal=(equal, np.ones(outputs)), is_last_free=True)
    chances = found.x[:-1].reshape(outputs, guesses)
    proposed = Channel.nearest(chances, inputs=channel.outputs, outputs=worth.guesses)
    if channel.outputs != worth.guesses:
        return proposed
    is_better = worst_utility(channel.then(proposed), worth) > worst_utility(channel, worth)
    return proposed if is_better else identity_channel(channel.outputs)
