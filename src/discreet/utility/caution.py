"""Cautious users: the best guesses for the worst-case exact answer."""

import numpy as np
import scipy

from discreet.utility.channels import Channel, identity_channel
from discreet.utility.gains import AnyGain, Known, gain_over
from discreet.utility.guessing import worst_utility
from discreet.utility.programs import Sparse, row_sums, solved

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
