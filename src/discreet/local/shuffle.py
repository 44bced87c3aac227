"""Amplification by shuffling: what anonymous, randomly ordered reports cost.

If a shuffler strips the reports of n people of all but their content and orders them at random,
then whoever sees the shuffled reports learns far less about one person than a report would tell.
The bounds hold for one report per person, all through the same ε₀-DP randomizer, neighbours
that replace one person's value, and a shuffler that can be trusted.
"""

from fractions import Fraction
from math import exp, expm1, inf, log, log1p, nextafter, sqrt

import numpy as np

from discreet.accounting.events import ApproximateEvent
from discreet.accounting.hockey_stick import (
    Floats,
    delta_from_losses,
    epsilon_for_delta,
    epsilon_guess,
)
from discreet.accounting.rounding import TRUST, float_down, float_up, positive_delta
from discreet.errors import ParameterError
from discreet.parameters import Real, rational, whole

PEOPLE_MOST = 10**9
"""More people are counted as so many: what hides one person only grows with their number."""

EPSILON_MOST = 50
"""With a larger local epsilon nobody is hidden by anybody."""

STEPS = 256
"""Numbers of clones are counted in so many steps, each at its lower end."""

INFLATION = 1 + 2.0**-30
"""Masses come from products of at most 2·10⁶ ratios, each within 2⁻⁵¹: their error is less."""


def shuffled_epsilon(*, epsilon: Real, delta: Real, people: int) -> float:
    """Return an epsilon of the shuffled reports of so many people at delta, rounded up.

    The numeric bound of Feldman, McMillan, Talwar 2022 (Stronger privacy amplification by
    shuffling, Theorem 3.2): each other person is a clone with probability 2 / (e^ε₀ + 1).
    docs/proofs/shuffling.md has a short proof; the rounding costs less than a millionth of delta.
    """
    local, least, n = _checked(epsilon, delta, people)
    return _numeric(local, 2 / (exp(local) + 1), least, n)


def shuffled_epsilon_2021(*, epsilon: Real, delta: Real, people: int) -> float:
    """Return the older numeric bound: a clone with probability e^-ε₀.

    Feldman, McMillan, Talwar 2021 (Hiding among the clones, Theorem 3.1); never better than
    `shuffled_epsilon`, kept because others state their figures by it.
    """
    local, least, n = _checked(epsilon, delta, people)
    return _numeric(local, exp(-local), least, n)


def shuffled_epsilon_closed(*, epsilon: Real, delta: Real, people: int) -> float:
    """Return the closed form's epsilon, or the local one where its condition does not hold.

    ln(1 + (e^ε₀ - 1) (4 √(2 ln(4/δ) / ((e^ε₀ + 1) n)) + 4 / n)) if ε₀ ≤ ln(n / (8 ln(2/δ)) - 1):
    Feldman, McMillan, Talwar 2022, Theorem 3.1. About five times the numeric bound.
    """
    local, least, n = _checked(epsilon, delta, people)
    if exp(local) + 1 > n / (8 * log(2 / least)):
        return local
    growth = 4 * sqrt(2 * log(4 / least) / ((exp(local) + 1) * n)) + 4 / n
    return _least(local, log1p(expm1(local) * growth))


def shuffled_epsilon_closed_2021(*, epsilon: Real, delta: Real, people: int) -> float:
    """Return the older closed form's epsilon, or the local one where its condition does not hold.

    ln(1 + (e^ε₀ - 1) / (e^ε₀ + 1) (8 √(e^ε₀ ln(4/δ) / n) + 8 e^ε₀ / n)) if
    ε₀ ≤ ln(n / (16 ln(2/δ))): Feldman, McMillan, Talwar 2021, Theorem 3.1.
    """
    local, least, n = _checked(epsilon, delta, people)
    if exp(local) > n / (16 * log(2 / least)):
        return local
    growth = 8 * sqrt(exp(local) * log(4 / least) / n) + 8 * exp(local) / n
    return _least(local, log1p(expm1(local) / (exp(local) + 1) * growth))


def shuffled_event(*, epsilon: Real, delta: Real, people: int) -> ApproximateEvent:
    """Return what the shuffled reports are charged as."""
    price = shuffled_epsilon(epsilon=epsilon, delta=delta, people=people)
    return ApproximateEvent(epsilon=Fraction(price), delta=rational("delta", delta))


def _checked(epsilon: object, delta: object, people: object) -> tuple[float, float, int]:
    local = float_up(rational("epsilon", epsilon, above=0, most=EPSILON_MOST))
    least = float_down(positive_delta(delta))
    if least < 1e-200:
        raise ParameterError("delta", delta, "must be 1e-200 or more for shuffled reports")
    return local, least, min(whole("people", people, least=1), PEOPLE_MOST)


def _least(local: float, found: float) -> float:
    """Return the better of two bounds, the second rounded up by what its functions may err."""
    return min(local, nextafter(found * (1 + 16 * TRUST), inf))


def _numeric(local: float, share: float, delta: float, people: int) -> float:
    """Return an epsilon at which the hockey-stick divergence is at most delta."""
    spare = delta * 2.0**-20
    losses, masses = _losses(local, share * (1 - 4 * TRUST), people, spare)

    def delta_up(epsilon: float) -> float:
        # A loss is trusted to 2^-40 of itself and 2^-50 of one.
        seen = epsilon * (1 - 2.0**-40) - 2.0**-50
        return delta_from_losses(losses, masses, seen) * INFLATION + 3 * spare

    if delta_up(0.0) <= delta:
        return 0.0
    guess = epsilon_guess(losses, masses, delta - 3 * spare)
    return min(local, epsilon_for_delta(delta_up, delta, guess=guess))


def _losses(local: float, share: float, people: int, spare: float) -> tuple[Floats, Floats]:
    """Return positive privacy losses and their masses, up to thrice `spare`.

    One person's report is a 0 or a 1, with odds e^ε₀ : 1; each other person's is a fair coin with
    probability `share`, and else hides nothing. With m reports of 0 and 1 in all, a of them 0, the
    odds are (e^ε₀ a + b) : (a + e^ε₀ b), b = m - a. Fewer clones hide less, so each step of m
    counts as its least m.
    """
    ends, weights = _steps(people - 1, share, spare)
    found = [
        _given(m + 1, weight, local, spare)
        for m, weight in zip(ends, weights, strict=True)
        if weight > 0
    ]
    losses = np.concatenate([[0.0], *(each for each, _ in found)])
    masses = np.concatenate([[0.0], *(each for _, each in found)])
    order = np.argsort(losses)
    return losses[order], masses[order]


def _steps(others: int, share: float, spare: float) -> tuple[list[int], list[float]]:
    """Return numbers of clones with the probabilities of these or a few more; `spare` is lost."""
    first, law = binomial_window(others, share, spare)
    width = max(1, -(-len(law) // STEPS))
    starts = np.arange(0, len(law), width)
    return (first + starts).tolist(), np.add.reduceat(law, starts).tolist()


def _given(m: int, weight: float, local: float, spare: float) -> tuple[Floats, Floats]:
    """Return the positive losses and their masses given m reports of 0 and 1."""
    first, law = binomial_window(m, 0.5, spare)
    a = np.arange(first, first + len(law), dtype=np.float64)
    kept = 2 * a > m
    a, law = a[kept], law[kept]
    b = m - a
    # ln of the odds, by their excess over 1, so that small losses keep their digits.
    losses = np.log1p(expm1(local) * (a - b) / (a + exp(local) * b))
    # P(a) is that of a fair coin times (e^ε₀ a + b) / ((e^ε₀ + 1) m / 2).
    masses = law * (a + b * exp(-local)) * (2 / (m * (1 + exp(-local))))
    return losses, masses * weight


def binomial_window(trials: int, share: float, lost: float) -> tuple[int, Floats]:
    """Return a first value, and masses from there on, of the binomial law but for `lost` of it.

    Hoeffding's bound says how far out to go; the masses are ratios multiplied from the mode, scaled
    to sum to 1, which only raises them.
    """
    reach = sqrt(trials * log(2 / lost) / 2) + 1
    low = max(0, int(trials * share - reach))
    high = min(trials, int(trials * share + reach) + 1)
    mode = min(high, max(low, int((trials + 1) * share)))
    odds = share / (1 - share) if share < 1 else inf
    up = np.arange(mode + 1, high + 1, dtype=np.float64)
    down = np.arange(mode, low, -1, dtype=np.float64)
    above = np.cumprod((trials - up + 1) / up * odds)
    below = np.cumprod(down / (trials - down + 1) / odds)
    law = np.concatenate([below[::-1], [1.0], above])
    return low, law / law.sum()
