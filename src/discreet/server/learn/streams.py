"""The sparse vector technique on a stream of numbers: only hits use up the budget."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from discreet.mechanisms import Sparse
from discreet.server.bodies import Body
from discreet.server.learn.limits import Epsilon, epsilon_of

STREAM = (
    *(41, 44, 39, 47, 52, 45, 43, 49, 58, 51, 47, 55, 104, 61, 49, 46, 53, 48, 57, 63),
    *(54, 50, 46, 59, 138, 92, 66, 52, 48, 56, 61, 49, 53, 70, 58, 47, 112, 64, 51, 45),
    *(57, 60, 49, 54, 151, 73, 55, 50),
)
"""Synthetic: visits on 48 days."""


class StreamBody(Body):
    """A threshold, and the number of hits after which a run stops."""

    epsilon: Epsilon = 2.0
    threshold: Annotated[int, Field(ge=0, le=200, description="From 0 to 200")] = 90
    hits: Annotated[int, Field(ge=1, le=8, description="The run stops after these")] = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamReply:
    """What a run says about each number, until it stops."""

    values: list[int]
    above: list[bool]
    """Whether each number is above the threshold. Shorter than the stream if the run stopped."""
    threshold_scale: float
    query_scale: float
    threshold_epsilon: float
    """The part of epsilon for the noise of the threshold."""
    hit_epsilon: float
    """The part of epsilon for each hit."""
    margin: float
    """With 95% confidence, only numbers this near to the threshold get a wrong result."""
    each_epsilon: float
    """What the whole stream would cost with noise of the same scale on every number."""


def stream_reply(body: StreamBody) -> StreamReply:
    """Run the technique once over the stream.

    One person changes each number by at most 1, and all in the same direction.
    """
    made = Sparse(
        epsilon=epsilon_of(body.epsilon),
        sensitivity=1,
        threshold=body.threshold,
        answers=body.hits,
        monotone=True,
    )
    first = made.epsilon * made.threshold_share
    return StreamReply(
        values=list(STREAM),
        above=[bool(each) for each in made.release([float(each) for each in STREAM])],
        threshold_scale=float(made.threshold_scale),
        query_scale=float(made.question_scale),
        threshold_epsilon=float(first),
        hit_epsilon=float((made.epsilon - first) / body.hits),
        margin=made.margin(Fraction(95, 100), questions=len(STREAM)),
        each_epsilon=float(len(STREAM) / made.question_scale),
    )
