"""Routes of the playgrounds, for everybody who is signed in. They spend nothing."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from discreet.server.callers import Caller
from discreet.server.learn.attacks import AttackBody, AttackReply, attack_reply
from discreet.server.learn.choices import (
    AuctionBody,
    AuctionReply,
    NoisyMaxBody,
    NoisyMaxReply,
    auction_reply,
    noisy_max_reply,
)
from discreet.server.learn.composition import (
    CompositionBody,
    CompositionCurves,
    composition_curves,
)
from discreet.server.learn.course import CourseNumbers, course_numbers
from discreet.server.learn.crowds import CrowdBody, CrowdReply, crowd_reply
from discreet.server.learn.noise import (
    BeliefBody,
    BeliefCurves,
    DrawBody,
    ErrorBody,
    ErrorCurves,
    NeighbourCurves,
    NoiseBody,
    NoisyDraws,
    belief_curves,
    error_curves,
    neighbour_curves,
    noisy_draws,
)
from discreet.server.learn.streams import StreamBody, StreamReply, stream_reply
from discreet.server.reading import OneReading
from discreet.server.signing import SignIns, planned

router = APIRouter(prefix="/v1/learn", tags=["learners"], route_class=OneReading)


async def learner(request: Request) -> Caller:
    """Return who calls: anybody who is signed in."""
    sign_ins: SignIns = request.app.state.sign_ins
    return await sign_ins.anybody(request)


Learner = Annotated[Caller, Depends(learner)]


@router.get("/course")
async def course(request: Request, caller: Learner) -> CourseNumbers:
    """Return numbers of university courses, computed by the library."""
    return await planned(request, caller, course_numbers)


@router.post("/neighbours")
async def neighbours(request: Request, caller: Learner, body: NoiseBody) -> NeighbourCurves:
    """Return the distributions of an answer without and with one person."""
    return await planned(request, caller, lambda: neighbour_curves(body))


@router.post("/draws")
async def draws(request: Request, caller: Learner, body: DrawBody) -> NoisyDraws:
    """Return noisy answers, and what an observer believes after each."""
    return await planned(request, caller, lambda: noisy_draws(body))


@router.post("/error")
async def error(request: Request, caller: Learner, body: ErrorBody) -> ErrorCurves:
    """Return margins of error by epsilon, for each mechanism."""
    return await planned(request, caller, lambda: error_curves(body))


@router.post("/belief")
async def belief(request: Request, caller: Learner, body: BeliefBody) -> BeliefCurves:
    """Return the least and the most that a belief can become after any answer."""
    return await planned(request, caller, lambda: belief_curves(body))


@router.post("/crowd")
async def crowd(request: Request, caller: Learner, body: CrowdBody) -> CrowdReply:
    """Return the reports of a synthetic crowd by randomized response, and the estimate."""
    return await planned(request, caller, lambda: crowd_reply(body))


@router.post("/auction")
async def auction(request: Request, caller: Learner, body: AuctionBody) -> AuctionReply:
    """Return how likely each price of an auction is by the exponential mechanism."""
    return await planned(request, caller, lambda: auction_reply(body))


@router.post("/noisy-max")
async def noisy_max(request: Request, caller: Learner, body: NoisyMaxBody) -> NoisyMaxReply:
    """Return how likely each candidate is to be named as the largest."""
    return await planned(request, caller, lambda: noisy_max_reply(body))


@router.post("/stream")
async def stream(request: Request, caller: Learner, body: StreamBody) -> StreamReply:
    """Run the sparse vector technique over a synthetic stream."""
    return await planned(request, caller, lambda: stream_reply(body))


@router.post("/composition")
async def composition(
    request: Request, caller: Learner, body: CompositionBody
) -> CompositionCurves:
    """Return what many answers cost together, by each accounting method."""
    return await planned(request, caller, lambda: composition_curves(body))


@router.post("/attack")
async def attack(request: Request, caller: Learner, body: AttackBody) -> AttackReply:
    """Run a few trials of an attack on synthetic people; send the results back for more."""
    return await planned(request, caller, lambda: attack_reply(body))
