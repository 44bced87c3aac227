"""Discrete Laplace noise, conditioned on not exceeding a bound."""

import numpy as np

from discreet.noise.coins import flips_exp
from discreet.noise.laplace import checked_scale, discrete_laplace
from discreet.noise.source import SYSTEM, Entropy
from discreet.noise.uniform import IntArray, checked_size, fill, uniform_integers
from discreet.parameters import Real, whole

REACH_MOST = 1 << 60


def truncated_laplace(scale: Real, reach: int, size: int, *, entropy: Entropy = SYSTEM) -> IntArray:
    """Draw X with exactly P(X = x) ∝ exp(-|x| / scale) on the integers from -reach to reach.

    Rejection: discrete Laplace noise is kept if it is within reach. If the reach is less than the
    scale, uniform noise is kept with probability exp(-|x| / scale). Either keeps more than 63%, and
    the number of rejected draws is independent of those kept.
    """
    scale = checked_scale(scale)
    reach = whole("reach", reach, least=0, most=REACH_MOST)

    def draw(count: int) -> IntArray:
        if reach >= scale:
            x = discrete_laplace(scale, count, entropy=entropy)
            return x[np.abs(x) <= reach]
        x = uniform_integers(2 * reach + 1, count, entropy=entropy) - reach
        return x[flips_exp(np.abs(x).view(np.uint64), 1 / scale, entropy)]

    return fill(checked_size(size), np.int64, draw)
