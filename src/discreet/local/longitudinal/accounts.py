"""The true price of many rounds: what one person pays who reports again and again."""

from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting.compose import compose
from discreet.accounting.events import PureEvent
from discreet.accounting.rounding import float_up
from discreet.local.base import checked_epsilon
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

    def __str__(self) -> str:
        at = f" at δ = {float(self.delta):g}" if self.delta else ""
        return f"{self.practice}: ε = {self.epsilon:.4g}{at} after {self.rounds} rounds"


def fresh_price(*, epsilon: Real, rounds: int, delta: Real = 0) -> RoundsPrice:
    """Return the price of fresh noise in every round, or of answers that are reset every day.

    Each round costs epsilon, and rounds add up: with a delta, as slowly as any accountant proves. A
    daily reset is the same thing, with a day for a round: what is stated "per day" is paid every
    day, and after a month the averaged reports tell the truth.
    """
    each, k = checked_epsilon(epsilon), whole("rounds", rounds, least=1, most=ROUNDS_MOST)
    miss = rational("delta", delta, least=0, below=1)
    price = compose(PureEvent(epsilon=each) * k, miss)
    told = price.epsilon
    return RoundsPrice(
        practice="fresh noise every round (or a reset every day)",
        rounds=k,
        epsilon=float_up(told) if isinstance(told, Fraction) else told,
        delta=miss,
        hides="values and changes, less and less",
    )


def kept_price(*, epsilon: Real, rounds: int, values: int = 1) -> RoundsPrice:
    """Return the price of permanent answers to so many different values in so many rounds."""
    k = whole("rounds", rounds, least=1, most=ROUNDS_MOST)
    held = whole("values", values, least=1, most=k)
    return RoundsPrice(
        practice="answers kept for ever",
        rounds=k,
        epsilon=float_up(checked_epsilon(epsilon) * held),
        delta=Fraction(0),
        hides="values; not when they change",
    )


def rappor_price(mechanism: Rappor, *, rounds: int, values: int = 1) -> RoundsPrice:
    """Return the exact price of RAPPOR's reports about so many different texts.

    Permanent bits below fresh noise: the price of a text rises from that of one report to that of
    the permanent bits and stays there.
    """
    k = whole("rounds", rounds, least=1, most=ROUNDS_MOST)
    held = whole("values", values, least=1, most=k)
    return RoundsPrice(
        practice="RAPPOR: kept bits below fresh noise",
        rounds=k,
        epsilon=float_up(_rappor_epsilon(mechanism, k) * held),
        delta=Fraction(0),
        hides="values; changes only as far as the fresh noise blurs them",
    )


def _rappor_epsilon(mechanism: Rappor, rounds: int) -> Fraction:
    """Return the exact price, or that of the permanent bits where the fractions would be long."""
    return mechanism.epsilon_after(rounds) if rounds <= ROUNDS_EXACT else mechanism.permanent


def prices_over_time(
    *, epsilon: Real, rounds: int, delta: Real = Fraction(1, 10**6), values: int = 1
) -> tuple[RoundsPrice, ...]:
    """Return what the same epsilon a report comes to under each practice."""
    return (
        fresh_price(epsilon=epsilon, rounds=rounds),
        fresh_price(epsilon=epsilon, rounds=rounds, delta=delta),
        kept_price(epsilon=epsilon, rounds=rounds, values=values),
    )
