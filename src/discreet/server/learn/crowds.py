"""Randomized response: each person tosses a coin, and the crowd is still counted."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np
from pydantic import Field

from discreet.mechanisms import RandomizedResponse
from discreet.parameters import rational
from discreet.server.bodies import Amount, Body, exact
from discreet.server.learn.limits import Epsilon, epsilon_of

GOLDEN = (5**0.5 - 1) / 2
"""Spreads those who hold the trait evenly over the crowd."""


class CrowdBody(Body):
    """A crowd that is asked a question with the answers yes and no."""

    epsilon: Epsilon = 1.0
    share: Annotated[Amount, Field(description="The share that would truly say yes")] = 0.3
    people: Annotated[int, Field(ge=10, le=1000, description="From 10 to 1000")] = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdReply:
    """What everybody holds and reports, and the share that is estimated from the reports."""

    held: str
    """For each person, 1 for yes and 0 for no."""
    reported: str
    honest: float
    """The probability that a report is true."""
    truth: float
    said: float
    estimate: float
    margin: float
    """The margin of error of the estimate at 95%."""
    doubt: list[float]
    """The least and the most that a belief of 50% about one person can become."""


def crowd_reply(body: CrowdBody) -> CrowdReply:
    """Ask the crowd once. Who holds the trait depends on the share alone, the reports on coins."""
    response = RandomizedResponse(epsilon=epsilon_of(body.epsilon))
    share = rational("share", exact(body.share), least=0, most=1)
    held = _held(body.people, share)
    reported = response.release(held)
    found = response.estimate(reported)
    honest = response.probability
    return CrowdReply(
        held=_bits(held),
        reported=_bits(reported),
        honest=honest,
        truth=float(held.mean()),
        said=float(reported.mean()),
        estimate=float(found.shares[1]),
        margin=float(found.error[1]) / body.people,
        doubt=[1 - honest, honest],  # by Bayes' rule, for a prior of one half
    )


def _held(people: int, share: Fraction) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Return 1 for that share of the people, the same ones for every call."""
    order = np.argsort(np.arange(people) * GOLDEN % 1)
    held = np.zeros(people, dtype=np.int64)
    held[order[: round(share * people)]] = 1
    return held


def _bits(values: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> str:
    return "".join("1" if each else "0" for each in values)
