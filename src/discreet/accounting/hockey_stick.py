"""From a law of privacy losses to (epsilon, delta), rounded up.

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
    return float(masses[first:] @ -np.expm1(epsilon - losses[first:])) * (1 + 2.0**-40)


def epsilon_guess(losses: Floats, masses: Floats, delta: float) -> float:
    """Return about the least epsilon with delta_from_losses ≤ delta; a start, not a bound."""
    low, high = -1, len(losses) - 1
    while high - low > 1:
        middle = (low + high) // 2
        fits = delta_from_losses(losses, masses, float(losses[middle])) <= delta
        low, high = (low, middle) if fits else (middle, high)
    # Just below losses[high], delta(epsilon) = above - e^(epsilon - losses[high]) below.
    above = float(masses[high:].sum())
    below = float(masses[high:] @ np.exp(losses[high] - losses[high:]))
    if above <= delta or low < 0:
        return float(losses[max(low, 0)])
    return float(losses[high] + min(0.0, np.log((above - delta) / below)))


def least_epsilon(delta_up: Callable[[float], float], delta: float, *, guess: float) -> float:
    """Return an epsilon with delta_up(epsilon) ≤ delta, the guess or little more; inf if none."""
    low = high = max(0.0, guess)
    step = 1e-13 * max(1.0, abs(guess))
    while delta_up(high) > delta:
        low, high, step = high, high + step, 2 * step
        if step > 1e300:
            return float("inf")
    # Two parts in a hundred of the last step are as near as a second guess needs to be.
    for _ in range(6):
        middle = (low + high) / 2
        low, high = (low, middle) if delta_up(middle) <= delta else (middle, high)
    return high
