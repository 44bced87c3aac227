"""Refinement: which of two channels reveals more to every user, with certificates both ways."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy

from discreet.errors import ParameterError
from discreet.noise.uniform import FloatArray
from discreet.utility.channels import Channel
from discreet.utility.gains import Gain
from discreet.utility.graphs import same_nodes
from discreet.utility.guessing import utility
from discreet.utility.priors import Prior
from discreet.utility.programs import solved

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
