"""(epsilon, delta)-DP: costs, basic, advanced and optimal composition, all rounded up.

Delta follows from a distribution of privacy losses. If L is the privacy loss ln(P/Q) under P, then
delta(epsilon) = E[(1 - e^(epsilon - L))₊]: every term is positive, and delta grows when mass moves
to a larger loss or is added.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import singledispatch
from math import e, exp, expm1, fsum, inf, log, log1p, sqrt, tanh

import numpy as np
import numpy.typing as npt

from discreet import on_use
from discreet.accounting.events import (
    LARGEST_NUMBER,
    MOST_COUNTED,
    ApproximateEvent,
    ComposedEvent,
    Event,
    RepeatedEvent,
    counted,
)
from discreet.accounting.pure import pure_epsilon
from discreet.accounting.rounding import (
    LEAST_DELTA,
    TRUST,
    float_down,
    float_up,
    log_up,
    positive_delta,
)
from discreet.errors import ParameterError, UnsupportedEventError
from discreet.parameters import integer, rational

Cost = tuple[Fraction, Fraction]
"""An epsilon or a rho, and a delta."""


def summed_costs(costs: Iterable[tuple[Cost, int]]) -> Cost:
    """Return the sum of costs, each multiplied by its number of times."""
    amount = delta = Fraction(0)
    for (each_amount, each_delta), count in costs:
        amount, delta = amount + each_amount * count, delta + each_delta * count
    return amount, delta


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


MOST_EQUAL = 4_000_000
"""With more equal releases, the optimal composition takes too long and is rejected."""


MOST_LOSS = 10**6
"""Above this sum of epsilons, the optimal composition is not computed."""


@singledispatch
def basic_cost(event: Event) -> Cost:
    """Return the exact (epsilon, delta) that is proved for the event by basic composition.

    Dwork, Roth 2014, Theorem 3.16; fully adaptive (Rogers et al. 2016).
    """
    try:
        return pure_epsilon(event), Fraction(0)
    except UnsupportedEventError as cause:
        raise UnsupportedEventError(
            event,
            accountant="basic",
            instead="compute its cost by zCDP, RDP or PLD, at a given delta",
        ) from cause


@basic_cost.register
def _(event: ApproximateEvent) -> Cost:
    return event.epsilon, event.delta


@basic_cost.register
def _(event: RepeatedEvent | ComposedEvent) -> Cost:
    return summed_costs((basic_cost(each), k) for each, k in counted(event).items())


def advanced_epsilon(epsilon: Fraction, count: int, slack: Fraction) -> float:
    """Return epsilon of `count` epsilon-DP releases for a further delta of `slack`, rounded up.

    epsilon sqrt(2 k ln(1/slack)) + k epsilon (e^epsilon - 1): Dwork, Rothblum, Vadhan 2010,
    Theorem III.3. Deltas of the releases add to slack.
    """
    x = float_up(rational("epsilon", epsilon, least=0))
    k, slack = integer("count", count, least=0, most=MOST_COUNTED), positive_delta(slack)
    if x > 700:
        return inf
    spread = x * sqrt(2 * k * log_up(1 / slack))
    return (spread + k * x * expm1(x)) * (1 + 4 * TRUST)


def heterogeneous_epsilon(costs: Iterable[tuple[Fraction, int]], slack: Fraction) -> float:
    """Return epsilon of releases (epsilon, times) for a further delta of `slack`, rounded up.

    Kairouz, Oh, Viswanath 2015, Theorem 3.5: the smallest of its three bounds.
    """
    slack = positive_delta(slack)
    pairs = [_checked_pair(each) for each in _some("costs", costs)]
    square_sum = fsum(count * x * x for x, count in pairs) * (1 + TRUST)
    drift = fsum(count * x * tanh(x / 2) for x, count in pairs)
    log_inverse = log_up(1 / slack)
    # ln(e + sqrt(Σ epsilon²)/slack), the quotient kept as a logarithm where it would overflow.
    log_ratio = log(sqrt(square_sum)) + log_inverse if square_sum else -inf
    other = log(e + exp(log_ratio)) if log_ratio < 700 else log_ratio + TRUST
    spread = sqrt(2 * square_sum * min(log_inverse, other) * (1 + 4 * TRUST))
    plain = fsum(count * x for x, count in pairs)
    return min(plain, drift + spread) * (1 + 8 * TRUST)


def optimal_epsilon(cost: Cost, count: int, delta: Fraction) -> float:
    """Return the smallest epsilon of `count` equal (epsilon, delta)-DP releases, rounded up.

    Kairouz, Oh, Viswanath 2015, Theorem 3.3: the worst case is repeated randomized response, whose
    privacy loss is (k - 2 i) epsilon with i binomial. No bound that uses only the cost can be
    smaller. Above MOST_LOSS the sum of epsilons is returned, which is nearly the same.
    """
    (exact, delta_each), delta = _checked_cost(cost), positive_delta(delta)
    count = integer("count", count, least=0, most=MOST_EQUAL)
    allowed = _left_after(delta_each, count, delta)
    if count == 0 or exact == 0:
        return 0.0 if allowed >= 0 else inf
    if allowed <= 0:
        return inf
    if exact * count > MOST_LOSS:
        return float_up(exact * count)
    epsilon = float_up(exact)
    losses, masses = _binomial_losses(epsilon, count)
    guess = epsilon_guess(losses, masses, allowed)
    found = epsilon_for_delta(lambda x: delta_from_losses(losses, masses, x), allowed, guess=guess)
    # Each loss is one product, off by at most half an ulp; delta_from_losses subtracts it once.
    return found + count * epsilon * 2.0**-51


def approximate_epsilon(events: Event | Iterable[Event], delta: Fraction) -> float:
    """Return the smallest of the bounds below at delta, for parameters fixed in advance."""
    return min(advanced_bound(events, delta), optimal_bound(events, delta))


def advanced_bound(events: Event | Iterable[Event], delta: Fraction) -> float:
    """Return epsilon at delta from the costs of releases, equal or not, or inf if none holds."""
    costs, delta = _counted_costs(events), positive_delta(delta)
    plain, taken = summed_costs(costs.items())
    if taken > delta:
        return inf
    # 1 - (1 - slack) Π(1 - delta_i) ≤ delta, because Π(1 - delta_i) ≥ 1 - Σ delta_i.
    slack = 1 - (1 - delta) / (1 - taken)
    if slack < LEAST_DELTA:
        return float_up(plain)
    pairs = [(cost[0], count) for cost, count in costs.items()]
    return min(float_up(plain), heterogeneous_epsilon(pairs, slack))


def optimal_bound(events: Event | Iterable[Event], delta: Fraction) -> float:
    """Return the smallest epsilon at delta of releases with one cost, or inf if costs differ."""
    costs, delta = _counted_costs(events), positive_delta(delta)
    if (
        len(costs) != 1
        or sum(costs.values()) > MOST_EQUAL
        or summed_costs(costs.items())[1] > delta
    ):
        return inf
    ((cost, count),) = costs.items()
    return optimal_epsilon(cost, count, delta)


def _counted_costs(events: Event | Iterable[Event]) -> Counter[Cost]:
    costs: Counter[Cost] = Counter()
    for event, count in counted(events).items():
        costs[basic_cost(event)] += count
    return costs


def _some(name: str, value: object) -> tuple[object, ...]:
    if not isinstance(value, Iterable):
        raise ParameterError(name, value, "must be several pairs")
    return tuple(value)


def _checked_pair(pair: object) -> tuple[float, int]:
    match pair:
        case (epsilon, count):
            exact = rational("epsilon", epsilon, least=0, most=LARGEST_NUMBER**2)
            return float_up(exact), integer("count", count, least=0, most=MOST_COUNTED)
    raise ParameterError("costs", pair, "must be pairs of an epsilon and a number of times")


def _checked_cost(cost: object) -> Cost:
    match cost:
        case (epsilon, delta):
            return rational("epsilon", epsilon, least=0), rational("delta", delta, least=0, below=1)
    raise ParameterError("cost", cost, "must be a pair of an epsilon and a delta")


def _left_after(delta_each: Fraction, count: int, delta: Fraction) -> float:
    """Return x, rounded down, with 1 - (1 - delta_each)^count (1 - x) ≤ delta."""
    if delta_each == 0:
        return float_down(delta)
    if delta_each * count > 1:
        raise ParameterError("delta", delta_each, f"times {count} must not exceed 1")
    if float_up(delta_each) == 1.0:
        return -inf
    exponent = log1p(-float_down(delta)) - count * log1p(-float_up(delta_each))
    return -expm1(exponent) - 4 * TRUST * float(delta + count * delta_each)


def _binomial_losses(epsilon: float, count: int) -> tuple[Floats, Floats]:
    """Return the losses, ascending, and their probabilities rounded up."""
    i = np.arange(count + 1, dtype=np.float64)
    gammaln = on_use.special.gammaln
    log_choose = gammaln(count + 1.0) - gammaln(i + 1) - gammaln(count - i + 1)
    log_odds_down = log1p(exp(-epsilon))
    log_masses = log_choose - i * epsilon - count * log_odds_down
    # Each logarithm is a sum of terms below size, each good to TRUST.
    size = float(gammaln(count + 1.0)) + count * (epsilon + log_odds_down) + 1
    masses = np.exp(log_masses + 4 * TRUST * size)
    return ((count - 2 * i) * epsilon)[::-1], masses[::-1]
