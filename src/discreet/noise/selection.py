"""Exact selection among up to millions of candidates."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import HIDDEN, ParameterError
from discreet.noise.coins import STEEPEST, flips_exp
from discreet.noise.enclosures import ceil_div, scaled_exp_neg
from discreet.noise.source import SYSTEM, Entropy
from discreet.noise.uniform import IntArray, LazyUniform, checked_integers, uniform_integers
from discreet.parameters import Real, rational

INFLATION = 2.0**-30
"""By this share float weights are raised, to stay above the true ones (docs/proofs/samplers.md)."""

CANDIDATES_MOST = 1 << 30
"""With more candidates, in runs, most proposals would be turned down: a round keeps one in two."""


def exponential_choice(scores: IntArray, rate: Real, *, entropy: Entropy = SYSTEM) -> int:
    """Choose i with probability exactly proportional to exp(rate · scores[i]).

    Rejection sampling: candidates are proposed by integer weights slightly above
    M · exp(rate · (score - best)). The proposed one is accepted with the exact ratio of the two.
    So the distribution is exact, and the number of rounds reveals nothing.
    """
    rate, deficits = _checked(scores, rate)
    return _chosen(deficits, rate, None, len(deficits), entropy)[0]


def exponential_run_choice(
    scores: IntArray, lengths: IntArray, rate: Real, *, entropy: Entropy = SYSTEM
) -> tuple[int, int]:
    """Choose one of Σ lengths candidates as `exponential_choice` does: a run and a place in it.

    Run i has lengths[i] candidates, all with its score. P(run i, place j) is exactly
    proportional to exp(rate · scores[i]) for each j < lengths[i].
    """
    lengths = checked_integers("lengths", lengths)
    if len(lengths) != len(scores) or (len(lengths) and lengths.min() < 1):
        raise ParameterError("lengths", HIDDEN, "must be 1 or more, one for each score")
    rate, deficits = _checked(scores, rate)
    # Lengths that are each within the limit have a sum that 64 bits hold.
    if lengths.max() > CANDIDATES_MOST or (total := int(lengths.sum())) > CANDIDATES_MOST:
        raise ParameterError("lengths", HIDDEN, f"must be {CANDIDATES_MOST} or less in total")
    return _chosen(deficits, rate, lengths, total, entropy)


def _chosen(
    deficits: NDArray[np.uint64],
    rate: Fraction,
    lengths: IntArray | None,
    candidates: int,
    entropy: Entropy,
) -> tuple[int, int]:
    """Return a run and a place in it; without lengths every run is one candidate."""
    unit = 1 << 61 - candidates.bit_length()
    inflated = np.exp(deficits * -float(min(rate, STEEPEST)))
    inflated *= unit * (1 + INFLATION)
    weights = inflated.astype(np.int64) + 1
    bounds = np.cumsum(weights if lengths is None else weights * lengths)
    while True:
        ticket = uniform_integers(int(bounds[-1]), entropy=entropy)
        i = int(np.searchsorted(bounds, ticket, side="right"))
        weight = int(weights[i])
        place = (ticket - (int(bounds[i - 1]) if i else 0)) // weight
        u = LazyUniform(entropy, int.from_bytes(entropy.draw(8), "big"), 64)
        # More than 1 - 1 / weight - 2**-29 is kept. Few words call for the exact decision, the time
        # of which would tell the deficit.
        if u.drawn < (1 << 64) - (1 << 35) - ceil_div(1 << 64, weight):
            return i, place
        if u.is_below(scaled_exp_neg(Fraction(unit, weight), int(deficits[i]) * rate)):
            return i, place


def permute_and_flip_choice(scores: IntArray, rate: Real, *, entropy: Entropy = SYSTEM) -> int:
    """Choose as if going through a random order and stopping at the first coin that falls True.

    Candidate i's coin has probability exp(rate · (scores[i] - best)). All coins are flipped and a
    uniform one of the True ones is returned. This has the same distribution, in time that does not
    reveal the outcome (McKenna, Sheldon 2020, Algorithm 1).
    """
    rate, deficits = _checked(scores, rate)
    heads = np.flatnonzero(flips_exp(deficits, rate, entropy))
    return int(heads[uniform_integers(len(heads), entropy=entropy)])


def _checked(scores: IntArray, rate: Real) -> tuple[Fraction, NDArray[np.uint64]]:
    rate = rational("rate", rate, least=0)
    scores = checked_integers("scores", scores)
    if not len(scores):
        raise ParameterError("scores", "none", "must hold at least one candidate")
    # Unsigned, the difference of any two 64-bit integers is exact.
    return rate, scores.max().astype(np.uint64) - scores.astype(np.uint64)
