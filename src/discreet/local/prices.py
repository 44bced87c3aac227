"""What many rounds of reports and shuffled reports cost. Loads the accountants.

Each cost of many rounds says for which pairs of histories it holds (`discreet.local.client`).

Amplification by shuffling: a shuffler removes everything but the content from the reports of n
people and orders them at random. Shuffled reports reveal far less about one person than a single
report does. The bounds hold for one report per person, all through the same ε₀-DP mechanism, for
neighbours that replace one person's value, and for a shuffler that can be trusted.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import exp, expm1, inf, isinf, log, log1p, nextafter, sqrt

import numpy as np

from discreet.accounting.approximate import (
    Floats,
    delta_from_losses,
    epsilon_for_delta,
    epsilon_guess,
)
from discreet.accounting.compose import compose
from discreet.accounting.events import ApproximateEvent, PureEvent
from discreet.accounting.rounding import TRUST, float_down, float_up, positive_delta
from discreet.errors import ParameterError
from discreet.local.client import Histories, memoized_epsilon
from discreet.local.mechanism import check_mechanism, checked_epsilon
from discreet.local.rappor import Rappor
from discreet.parameters import Real, integer, rational

ROUNDS_MOST = 10**6
ROUNDS_EXACT = 1000

PEOPLE_MOST = 10**9
"""More people count as this many; more people only hide a person better."""

LOCAL_EPSILON_MOST = 50
"""With a larger local epsilon, shuffling hides nobody."""

STEPS = 256
"""Numbers of clones are grouped into this many steps, each counted at its lower end."""

INFLATION = 1 + 2.0**-30
"""Masses are products of at most 2·10⁶ ratios, each within 2⁻⁵¹. Their error is smaller."""


# --------------------------------------------------------------------------- many rounds


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundsPrice:
    """What one person's reports cost in total after `rounds` rounds, and what they hide."""

    practice: str
    rounds: int
    epsilon: float
    delta: Fraction
    hides: str
    histories: Histories

    def __str__(self) -> str:
        at = f" at δ = {float(self.delta):g}" if self.delta else ""
        epsilon = "∞" if isinf(self.epsilon) else f"{self.epsilon:.4g}"
        after = f"ε = {epsilon}{at} after {self.rounds} rounds"
        return f"{self.practice}: {after}, for {self.histories.value}"


def fresh_price(*, epsilon: Real, rounds: int, delta: Real = 0) -> RoundsPrice:
    """Return the cost of fresh noise in every round, or of answers that are reset every day.

    Each round costs epsilon, and rounds add up; with a delta, by the best bound of the accountants.
    A daily reset is the same, with a day for a round: a cost "per day" is spent every day, and
    after a month the average of the reports reveals the truth.
    """
    each, k = checked_epsilon(epsilon), integer("rounds", rounds, least=1, most=ROUNDS_MOST)
    miss = rational("delta", delta, least=0, below=1)
    price = compose(PureEvent(epsilon=each) * k, miss)
    return RoundsPrice(
        practice="fresh noise every round (or a reset every day)",
        rounds=k,
        epsilon=_float(price.epsilon),
        delta=miss,
        hides="values and changes, less with every round",
        histories=Histories.ANY,
    )


def memoized_price(
    *,
    epsilon: Real,
    rounds: int,
    values: int = 1,
    histories: Histories = Histories.SAME_ROUNDS,
) -> RoundsPrice:
    """Return the cost of memoized answers to at most `values` different values.

    For histories that do not hold equal values in the same rounds, memoized answers guarantee
    nothing as soon as there are two values: the cost is infinite.
    """
    k = integer("rounds", rounds, least=1, most=ROUNDS_MOST)
    held = integer("values", values, least=1, most=k)
    return RoundsPrice(
        practice="memoized answers",
        rounds=k,
        epsilon=_float(memoized_epsilon(checked_epsilon(epsilon), held, histories)),
        delta=Fraction(0),
        hides="values, but not which rounds hold the same value",
        histories=histories,
    )


def rappor_price(
    mechanism: Rappor,
    *,
    rounds: int,
    values: int = 1,
    histories: Histories = Histories.SAME_ROUNDS,
) -> RoundsPrice:
    """Return the most that RAPPOR's reports about at most `values` different texts cost.

    With fresh noise on permanent bits, the cost of a text rises from that of one report to that of
    the permanent bits, and stays there. It is exact for one text. Two histories of several texts
    that do not hold equal texts in the same rounds cost far more (`Rappor.epsilon_of_any`).
    """
    check_mechanism(mechanism, "epsilon_after", "epsilon_of_any", rule="must be a Rappor")
    k = integer("rounds", rounds, least=1, most=ROUNDS_MOST)
    held = integer("values", values, least=1, most=k)
    return RoundsPrice(
        practice="RAPPOR: fresh noise on permanent bits",
        rounds=k,
        epsilon=_float(_rappor_epsilon(mechanism, k, held, histories)),
        delta=Fraction(0),
        hides="values; which rounds hold the same value only as far as the fresh noise hides it",
        histories=histories,
    )


def _rappor_epsilon(
    mechanism: Rappor, rounds: int, values: int, histories: Histories
) -> Fraction | float:
    """Return the cost; that of the permanent bits where the exact fractions would be too long."""
    if histories is Histories.ANY and values > 1:
        return mechanism.epsilon_of_any(rounds)
    each = mechanism.epsilon_after(rounds) if rounds <= ROUNDS_EXACT else mechanism.permanent
    return each * values


def _float(epsilon: Fraction | float) -> float:
    return float_up(epsilon) if isinstance(epsilon, Fraction) else epsilon


def prices_over_time(
    *, epsilon: Real, rounds: int, delta: Real = Fraction(1, 10**6), values: int = 1
) -> tuple[RoundsPrice, ...]:
    """Return what the same epsilon per report costs in total under each practice.

    Memoized answers have two costs: for histories that hold equal values in the same rounds, and
    for any two histories, which is infinite if a person may hold two or more values.
    """
    memoized = partial(memoized_price, epsilon=epsilon, rounds=rounds)
    return (
        fresh_price(epsilon=epsilon, rounds=rounds),
        fresh_price(epsilon=epsilon, rounds=rounds, delta=delta),
        memoized(values=values),
        memoized(values=min(rounds, max(values, 2)), histories=Histories.ANY),
    )


# --------------------------------------------------------------------------- shuffled reports


def shuffled_epsilon(*, epsilon: Real, delta: Real, people: int) -> float:
    """Return an epsilon of the shuffled reports of `people` people at delta, rounded up.

    The numeric bound of Feldman, McMillan, Talwar 2022 (Stronger privacy amplification by
    shuffling, Theorem 3.2): each other person is a clone with probability 2 / (e^ε₀ + 1).
    docs/proofs/shuffling.md has a short proof. The rounding costs less than a millionth of delta.
    """
    local, least, n = _checked(epsilon, delta, people)
    return _numeric(local, 2 / (exp(local) + 1), least, n)


def shuffled_epsilon_2021(*, epsilon: Real, delta: Real, people: int) -> float:
    """Return the older numeric bound: a clone with probability e^-ε₀.

    Feldman, McMillan, Talwar 2021 (Hiding among the clones, Theorem 3.1). It is never better than
    `shuffled_epsilon`, but published figures use it.
    """
    local, least, n = _checked(epsilon, delta, people)
    return _numeric(local, exp(-local), least, n)


def shuffled_epsilon_closed(*, epsilon: Real, delta: Real, people: int) -> float:
    """Return the closed form's epsilon, or the local one if its condition does not hold.

    ln(1 + (e^ε₀ - 1) (4 √(2 ln(4/δ) / ((e^ε₀ + 1) n)) + 4 / n)) if ε₀ ≤ ln(n / (8 ln(2/δ)) - 1):
    Feldman, McMillan, Talwar 2022, Theorem 3.1. About five times the numeric bound.
    """
    local, least, n = _checked(epsilon, delta, people)
    if exp(local) + 1 > n / (8 * log(2 / least)):
        return local
    growth = 4 * sqrt(2 * log(4 / least) / ((exp(local) + 1) * n)) + 4 / n
    return _least(local, log1p(expm1(local) * growth))


def shuffled_epsilon_closed_2021(*, epsilon: Real, delta: Real, people: int) -> float:
    """Return the older closed form's epsilon, or the local one if its condition does not hold.

    ln(1 + (e^ε₀ - 1) / (e^ε₀ + 1) (8 √(e^ε₀ ln(4/δ) / n) + 8 e^ε₀ / n)) if
    ε₀ ≤ ln(n / (16 ln(2/δ))): Feldman, McMillan, Talwar 2021, Theorem 3.1.
    """
    local, least, n = _checked(epsilon, delta, people)
    if exp(local) > n / (16 * log(2 / least)):
        return local
    growth = 8 * sqrt(exp(local) * log(4 / least) / n) + 8 * exp(local) / n
    return _least(local, log1p(expm1(local) / (exp(local) + 1) * growth))


def shuffled_event(*, epsilon: Real, delta: Real, people: int) -> ApproximateEvent:
    """Return the event that shuffled reports are charged as."""
    price = shuffled_epsilon(epsilon=epsilon, delta=delta, people=people)
    return ApproximateEvent(epsilon=Fraction(price), delta=rational("delta", delta))


def _checked(epsilon: object, delta: object, people: object) -> tuple[float, float, int]:
    local = float_up(rational("epsilon", epsilon, above=0, most=LOCAL_EPSILON_MOST))
    least = float_down(positive_delta(delta))
    if least < 1e-200:
        raise ParameterError("delta", delta, "must be 1e-200 or more for shuffled reports")
    return local, least, min(integer("people", people, least=1), PEOPLE_MOST)


def _least(local: float, found: float) -> float:
    """Return the better of two bounds; the second is rounded up by its functions' error."""
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
    """Return positive privacy losses and their masses, up to three times `spare`.

    One person's report is a 0 or a 1, with likelihood ratio e^ε₀. Each other person's report is a
    fair coin with probability `share`, and otherwise hides nothing. With m reports of 0 and 1 in
    total, a of them 0, the likelihood ratio is (e^ε₀ a + b) / (a + e^ε₀ b), b = m - a. Fewer clones
    hide less, so each step of m counts as its least m.
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
    """Return numbers of clones with the probabilities of these or a few more, up to `spare`."""
    first, mass = binomial_window(others, share, spare)
    width = max(1, -(-len(mass) // STEPS))
    starts = np.arange(0, len(mass), width)
    return (first + starts).tolist(), np.add.reduceat(mass, starts).tolist()


def _given(m: int, weight: float, local: float, spare: float) -> tuple[Floats, Floats]:
    """Return the positive losses and their masses given m reports of 0 and 1."""
    first, mass = binomial_window(m, 0.5, spare)
    a = np.arange(first, first + len(mass), dtype=np.float64)
    is_positive = 2 * a > m
    a, mass = a[is_positive], mass[is_positive]
    b = m - a
    # log1p of the ratio minus 1 preserves the digits of small losses.
    losses = np.log1p(expm1(local) * (a - b) / (a + exp(local) * b))
    # P(a) is that of a fair coin times (e^ε₀ a + b) / ((e^ε₀ + 1) m / 2).
    masses = mass * (a + b * exp(-local)) * (2 / (m * (1 + exp(-local))))
    return losses, masses * weight


def binomial_window(trials: int, share: float, lost: float) -> tuple[int, Floats]:
    """Return the first value and the masses of a binomial distribution, up to `lost` of it.

    Hoeffding's bound gives the range. The masses are ratios multiplied from the mode and scaled to
    sum to 1, which only raises them.
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
    mass = np.concatenate([below[::-1], [1.0], above])
    return low, mass / mass.sum()
