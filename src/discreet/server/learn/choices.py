"""Private choices: the price of an auction, and the largest of some counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from discreet.mechanisms import Exponential, NoisyMax
from discreet.parameters import rational
from discreet.server.bodies import Amount, Body, exact
from discreet.server.learn.limits import Draws, Epsilon, epsilon_of, shown

PRICES = tuple(Fraction(tenths, 10) for tenths in range(1, 43))
"""The prices of the course's auction: 0.1 to 4.2. The largest is the sensitivity of revenue."""

CONFIDENCE = Fraction(95, 100)

BIDS = Field(min_length=1, max_length=12, description="Up to 12, each from 0 to 4.2")
SCORES = Field(min_length=2, max_length=12, description="2 to 12, each from 0 to 1000")


# --------------------------------------------------------------------------- the auction


class AuctionBody(Body):
    """Sealed bids, and the epsilon at which a price is chosen."""

    epsilon: Epsilon = 5.0
    bids: Annotated[tuple[Amount, ...], BIDS] = (4.1, 1.0, 1.0, 1.0)
    is_monotone: Annotated[
        bool, Field(description="Use that one more bid never lowers the revenue of a price")
    ] = True
    draws: Draws = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AuctionReply:
    """Revenue and probability of each price."""

    prices: list[float]
    revenues: list[float]
    probabilities: list[float]
    without_first: list[float]
    """The probabilities if the first bid had not been made."""
    expected: float
    best: float
    margin: float
    """With 95% confidence the chosen price earns at most this much less than the best one."""
    chosen: list[int]
    """The indices of the prices that were drawn."""


def revenues_of(bids: Sequence[Fraction]) -> list[Fraction]:
    """Return what each price earns: the price times the number of bids that reach it."""
    return [price * sum(bid >= price for bid in bids) for price in PRICES]


def auction_of(epsilon: Fraction, *, is_monotone: bool) -> Exponential:
    """Return the mechanism that chooses a price by its revenue."""
    return Exponential(epsilon=epsilon, sensitivity=PRICES[-1], monotone=is_monotone)


def auction_reply(body: AuctionBody) -> AuctionReply:
    """Return how likely each price is, and some draws."""
    bids = [rational("bids", exact(each), least=0, most=PRICES[-1]) for each in body.bids]
    made = auction_of(epsilon_of(body.epsilon), is_monotone=body.is_monotone)
    revenues, fewer = ([float(each) for each in revenues_of(some)] for some in (bids, bids[1:]))
    chances = made.distribution(revenues).probabilities
    return AuctionReply(
        prices=[float(each) for each in PRICES],
        revenues=revenues,
        probabilities=shown(chances),
        without_first=shown(made.distribution(fewer).probabilities),
        expected=sum(p * each for p, each in zip(chances, revenues, strict=True)),
        best=max(revenues),
        margin=made.margin(CONFIDENCE, candidates=len(PRICES)),
        chosen=[made.release(revenues) for _ in range(body.draws)],
    )


# --------------------------------------------------------------------------- noisy max


class NoisyMaxBody(Body):
    """Counts of candidates, and the epsilon at which the largest is named."""

    epsilon: Epsilon = 0.5
    scores: Annotated[tuple[Annotated[int, Field(ge=0, le=1000)], ...], SCORES] = (
        41,
        38,
        30,
        22,
        9,
    )
    draws: Draws = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyMaxReply:
    """How likely each candidate is to be named."""

    probabilities: list[float]
    exponential: list[float]
    """The same by the exponential mechanism, which is never better."""
    best: float
    """The probability that a candidate with the largest count is named."""
    shortfall: float
    """How far the count of the named candidate is below the largest, on average."""
    margin: float
    """How far it is below with 95% confidence, at most."""
    scale: float
    """The scale of the noise."""
    chosen: list[int]


def noisy_max_reply(body: NoisyMaxBody) -> NoisyMaxReply:
    """Return how likely each candidate is. Counts are monotone: one person adds to some."""
    epsilon, scores, most = epsilon_of(body.epsilon), body.scores, max(body.scores)
    made = NoisyMax(epsilon=epsilon, sensitivity=1, monotone=True)
    other = Exponential(epsilon=epsilon, sensitivity=1, monotone=True)
    chances = made.distribution(scores).probabilities
    pairs = list(zip(chances, scores, strict=True))
    return NoisyMaxReply(
        probabilities=shown(chances),
        exponential=shown(other.distribution(scores).probabilities),
        best=sum(p for p, score in pairs if score == most),
        shortfall=sum(p * (most - score) for p, score in pairs),
        margin=made.margin(CONFIDENCE, candidates=len(scores)),
        scale=float(made.scale),
        chosen=[made.release(scores) for _ in range(body.draws)],
    )
