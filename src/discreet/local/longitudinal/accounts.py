"""The true price of many rounds: what one person pays who reports again and again.

Each price says for which pairs of histories it holds (`discreet.local.histories`).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import isinf

from discreet.accounting.compose import compose
from discreet.accounting.events import PureEvent
from discreet.accounting.rounding import float_up
from discreet.local.base import check_mechanism, checked_epsilon
from discreet.local.histories import Histories, price_of_kept
from discreet.local.rappor.mechanism import Rappor
from discreet.parameters import Real, rational, whole

ROUNDS_MOST = 10**6
ROUNDS_EXACT = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundsPrice:
    """What one person has paid after so many rounds, and what was hidden."""

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
    """Return the price of fresh noise in every round, or of answers that are reset every day.

    Each round costs epsilon, and rounds add up: with a delta, as slowly as any accountant proves. A
    daily reset is the same thing, with a day for a round: what is stated "per day" is paid every
    day, and after a month the averaged reports tell the truth.
    """
    each, k = checked_epsilon(epsilon), whole("rounds", rounds, least=1, most=ROUNDS_MOST)
    miss = rational("delta", delta, least=0, below=1)
    price = compose(PureEvent(epsilon=each) * k, miss)
    return RoundsPrice(
        practice="fresh noise every round (or a reset every day)",
        rounds=k,
        epsilon=_float(price.epsilon),
        delta=miss,
        hides="values and changes, less and less",
        histories=Histories.ANY,
    )


def kept_price(
    *,
    epsilon: Real,
    rounds: int,
    values: int = 1,
    histories: Histories = Histories.SAME_ROUNDS,
) -> RoundsPrice:
    """Return the price of permanent answers to at most so many different values.

    Without the condition that two histories hold equal values in the same rounds, answers that are
    kept promise nothing as soon as there are two values: the price is infinite.
    """
    k = whole("rounds", rounds, least=1, most=ROUNDS_MOST)
    held = whole("values", values, least=1, most=k)
    return RoundsPrice(
        practice="answers kept for ever",
        rounds=k,
        epsilon=_float(price_of_kept(checked_epsilon(epsilon), held, histories)),
        delta=Fraction(0),
        hides="values; not which rounds hold the same one",
        histories=histories,
    )


def rappor_price(
    mechanism: Rappor,
    *,
    rounds: int,
    values: int = 1,
    histories: Histories = Histories.SAME_ROUNDS,
) -> RoundsPrice:
    """Return what RAPPOR's reports cost at most, about at most so many different texts.

    Permanent bits below fresh noise: the price of a text rises from that of one report to that of
    the permanent bits and stays there. It is exact for one text. Two histories of several texts
    that do not hold equal texts in the same rounds cost far more (`Rappor.epsilon_of_any`).
    """
    check_mechanism(mechanism, "epsilon_after", "epsilon_of_any", rule="must be a Rappor")
    k = whole("rounds", rounds, least=1, most=ROUNDS_MOST)
    held = whole("values", values, least=1, most=k)
    return RoundsPrice(
        practice="RAPPOR: kept bits below fresh noise",
        rounds=k,
        epsilon=_float(_rappor_epsilon(mechanism, k, held, histories)),
        delta=Fraction(0),
        hides="values; which rounds hold the same one only as far as the fresh noise does",
        histories=histories,
    )


def _rappor_epsilon(
    mechanism: Rappor, rounds: int, values: int, histories: Histories
) -> Fraction | float:
    """Return the price; that of the permanent bits where the exact fractions would be long."""
    if histories is Histories.ANY and values > 1:
        return mechanism.epsilon_of_any(rounds)
    each = mechanism.epsilon_after(rounds) if rounds <= ROUNDS_EXACT else mechanism.permanent
    return each * values


def _float(epsilon: Fraction | float) -> float:
    return float_up(epsilon) if isinstance(epsilon, Fraction) else epsilon


def prices_over_time(
    *, epsilon: Real, rounds: int, delta: Real = Fraction(1, 10**6), values: int = 1
) -> tuple[RoundsPrice, ...]:
    """Return what the same epsilon a report comes to under each practice.

    For answers that are kept there are two prices: for histories that hold equal values in the same
    rounds, and for any two, which is infinite where a person may hold two values or more.
    """
    kept = partial(kept_price, epsilon=epsilon, rounds=rounds)
    return (
        fresh_price(epsilon=epsilon, rounds=rounds),
        fresh_price(epsilon=epsilon, rounds=rounds, delta=delta),
        kept(values=values),
        kept(values=min(rounds, max(values, 2)), histories=Histories.ANY),
    )
