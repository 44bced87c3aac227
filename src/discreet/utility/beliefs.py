"""Posteriors and their bounds; which of two channels tells more."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import exp

import numpy as np
import scipy

from discreet.errors import ParameterError
from discreet.mechanisms.distributions import Distribution
from discreet.noise.uniform import FloatArray
from discreet.parameters import Real, integer, rational
from discreet.utility.channels import Channel, place
from discreet.utility.guessing import utility
from discreet.utility.makers import chosen_alpha
from discreet.utility.neighbours import Label, same_nodes
from discreet.utility.priors import Gain, Prior
from discreet.utility.programs import solved

REACH_MOST = 20_000


def posterior(prior: Prior, likelihood: Callable[..., Real]) -> Prior:
    """Return the posterior after an event with known likelihood under each label (Bayes' rule)."""
    found = {
        label: p * rational("likelihood", likelihood(label), least=0) for label, p in prior.items()
    }
    if not any(found.values()):
        rule = "must be above 0 for a label that is possible under the prior"
        raise ParameterError("likelihood", 0, rule)
    return Prior(found)


def belief_after(channel: Channel, prior: Prior, output: Label) -> Prior:
    """Return the posterior of the input, given an output of a channel."""
    same_nodes("prior", channel.inputs, prior.labels)
    column = place("output", output, channel.outputs)
    chances = {
        label: Fraction(row[column], total)
        for label, row, total in zip(channel.inputs, channel.weights, channel.totals, strict=True)
    }
    return posterior(prior, chances.__getitem__)


def belief_after_counts(
    prior: Prior,
    answers: Iterable[int],
    *,
    epsilon: Real | None = None,
    alpha: Real | None = None,
    of: Callable[..., int] | None = None,
) -> Prior:
    """Return the posterior after one or more noisy counts of the geometric mechanism.

    Repeating the same count is the averaging attack. With `of`, the prior is about databases, and
    `of` counts in one. Without it, the prior is about the count.
    """
    a = chosen_alpha(epsilon, alpha, 1)
    noisy = [integer("answers", each) for each in answers]
    exact = {label: integer("count", label if of is None else of(label)) for label in prior.labels}
    away = {label: sum(abs(z - y) for z in noisy) for label, y in exact.items()}
    nearest = min(away.values(), default=0)
    return posterior(prior, lambda label: a ** (away[label] - nearest))


def mean_is_exact(law: Distribution, answers: int) -> float:
    """Return the probability that the rounded mean of `answers` noisy counts is exact.

    Computed by convolution of the distribution, which must be on integers. Halves are rounded up.
    """
    count = integer("answers", answers, least=1, most=1000)
    centre = round(law.mean)
    reach = min(REACH_MOST, 40 + int(40 * law.variance**0.5))
    one = np.array([law.pmf(centre + z) for z in range(-reach, reach + 1)])
    middle = reach * count
    size = 2 * middle + 1
    # The transform of a sum of independent draws is a power.
    total = np.fft.irfft(np.fft.rfft(one, size) ** count, size)
    # floor(sum / count + 1/2) is 0 for -count / 2 ≤ sum < count / 2.
    return float(total[middle - count // 2 : middle + (count - 1) // 2 + 1].sum())


# --------------------------------------------------------------------------- bounds for any prior


def belief_bounds(chance: Real, epsilon: Real) -> tuple[float, float]:
    """Return the smallest and largest posterior about one person after any epsilon-DP answer.

    All other data must be known, or independent of the person's value under the prior. Then the
    likelihood ratio of two values of that person is at most e^epsilon, so a prior q becomes at
    least q / (q + (1 - q) e^ε) and at most q e^ε / (q e^ε + 1 - q). Tight: randomized response
    reaches both.
    """
    q, growth = _chance(chance), exp(_epsilon(epsilon))
    return q / (q + (1 - q) * growth), q * growth / (q * growth + 1 - q)


def event_bounds(chance: Real, epsilon: Real) -> tuple[float, float]:
    """Return the range of an event's probability if one person's data are missing.

    If an event that depends on the answer has probability p with the data, then without them it has
    probability between max(p e^-ε, 1 - (1 - p) e^ε) and min(p e^ε, 1 - (1 - p) e^-ε). This is the
    definition, applied to the event and its complement.
    """
    p, growth = _chance(chance), exp(_epsilon(epsilon))
    return max(p / growth, 1 - (1 - p) * growth), min(p * growth, 1 - (1 - p) / growth)


def world_bounds(chance: Real, epsilon: Real) -> tuple[float, float]:
    """Return the range of a posterior after an answer if one person's data are missing.

    The likelihoods of a statement and its complement both change by up to e^epsilon, perhaps in
    opposite directions. So their ratio changes by at most e^(2 epsilon). The parity of a count
    reaches this.
    """
    return belief_bounds(chance, 2 * rational("epsilon", epsilon, above=0))


def _chance(value: Real) -> float:
    return float(rational("chance", value, least=0, most=1))


def _epsilon(value: Real) -> float:
    return float(rational("epsilon", value, above=0, most=200))


CELLS_MOST = 20_000


DENOMINATOR = 10**6
"""Post-processing is found exactly if its probabilities have smaller denominators."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Refinement:
    """Whether a channel can be obtained from another by post-processing.

    If so, `after` is that post-processing, up to `distance`, the largest total variation in a row.
    If not, `witness` is a gain for which users of the other channel are worse off if all inputs are
    equally likely. By the coriaceous theorem there always is one (McIver et al. 2014).
    """

    after: Channel
    distance: Fraction
    witness: Gain | None

    @property
    def holds(self) -> bool:
        """Whether it is proved exactly. Without a witness either, floats could not decide."""
        return self.distance == 0


def refinement(more: Channel, less: Channel) -> Refinement:
    """Return the post-processing from `more` to `less`, or a proof that there is none."""
    same_nodes("less", more.inputs, less.inputs)
    cells = len(more.outputs) * len(less.outputs)
    if cells > CELLS_MOST:
        raise ParameterError("outputs", cells, f"must make {CELLS_MOST} pairs or fewer")
    chances, duals = _solved(more.to_floats(), less.to_floats())
    after = _rounded(chances, more, less)
    distance = _distance(more.then(after), less)
    if distance == 0:
        return Refinement(after=after, distance=distance, witness=None)
    witness = Gain(
        [[Fraction(float(each)) for each in row] for row in duals.T],
        answers=more.inputs,
        guesses=less.outputs,
    )
    everyone = Prior(dict.fromkeys(more.inputs, 1))
    is_proved = utility(less, everyone, witness) > utility(more, everyone, witness)
    return Refinement(after=after, distance=distance, witness=witness if is_proved else None)


def _solved(more: FloatArray, less: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the R that minimizes Σ |more R - less|, and the duals of its equations."""
    (inputs, middle), outputs = more.shape, less.shape[1]
    eye = scipy.sparse.eye_array(inputs * outputs)
    made = scipy.sparse.kron(more, scipy.sparse.eye_array(outputs))
    sums = scipy.sparse.kron(scipy.sparse.eye_array(middle), np.ones((1, outputs)))
    equal = scipy.sparse.csr_array(
        scipy.sparse.block_array([[made, eye, -eye], [sums, None, None]])  # type: ignore[arg-type]
    )
    cost = np.concatenate([np.zeros(middle * outputs), np.ones(2 * inputs * outputs)])
    right = np.concatenate([less.ravel(), np.ones(middle)])
    found = solved(cost, equal=(equal, right))
    chances = found.x[: middle * outputs].reshape(middle, outputs)
    return chances, found.of_equal[: inputs * outputs].reshape(inputs, outputs)


def _rounded(chances: FloatArray, more: Channel, less: Channel) -> Channel:
    """Return the post-processing in short fractions, scaled if they do not add up to 1."""
    rows = [
        [Fraction(max(float(each), 0.0)).limit_denominator(DENOMINATOR) for each in row]
        for row in chances
    ]
    whole = [[each / sum(row) for each in row] for row in rows]
    return Channel(whole, inputs=more.outputs, outputs=less.outputs)


def _distance(here: Channel, there: Channel) -> Fraction:
    """Return the largest total variation between two rows for one input."""
    return max(
        sum((abs(a - b) for a, b in zip(one, other, strict=True)), Fraction(0)) / 2
        for one, other in zip(here.matrix, there.matrix, strict=True)
    )
