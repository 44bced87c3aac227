"""From a distribution of privacy losses to (epsilon, delta), rounded up.

If L is the privacy loss ln(P/Q) under P, then delta(epsilon) = E[(1 - e^(epsilon - L))₊]: every
term is positive, and delta grows when mass moves to a larger loss or is added.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def delta_from_losses(losses: Floats, masses: Floats, epsilon: float) -> float:
    """Return an upper bound of delta at epsilon, for losses in ascending order."""
    first = int(np.searchsorted(losses, epsilon, side="right"))
    # The relative error of each positive term is that of (epsilon - loss), in which a rounding
    # may move epsilon by 2^-52 |loss|: callers allow for that. Sum and expm1 stay below 2^-40.
    terms = masses[first:] * -np.expm1(epsilon - losses[first:])
    return float(np.sum(terms)) * (1 + 2.0**-40)


def epsilon_guess(losses: Floats, masses: Floats, delta: float) -> float:
    """Return nearly the smallest epsilon with delta_from_losses ≤ delta. Not a bound."""
    # Up to each loss, delta(epsilon) = above - e^(epsilon - top) below, summed from the top.
    kept = losses > losses[-1] - 600
    losses, masses = losses[kept], np.minimum(masses[kept], 1.0)
    away = losses - losses[-1]
    above = np.cumsum(masses[::-1])[::-1]
    below = np.cumsum((masses * np.exp(-away))[::-1])[::-1]
    at = int(np.argmax(above - np.exp(away) * below <= delta))
    if above[at] <= delta or at == 0:
        return float(losses[max(at - 1, 0)])
    return float(losses[-1] + min(away[at], np.log((above[at] - delta) / below[at])))


def epsilon_for_delta(delta_up: Callable[[float], float], delta: float, *, guess: float) -> float:
    """Return an epsilon with delta_up(epsilon) ≤ delta, near the guess, or inf if none."""
    low = high = max(0.0, guess)
    step = 1e-13 * max(1.0, abs(guess))
    while not delta_up(high) <= delta:  # written so that NaN continues, too
        low, high, step = high, high + step, 2 * step
        if step > 1e300:
            return float("inf")
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if delta_up(middle) <= delta else (middle, high)
    return high
