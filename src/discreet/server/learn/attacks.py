"""Attacks on synthetic people, a few trials in each call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from discreet.server.bodies import Body
from discreet.server.learn.limits import Epsilon, epsilon_of

if TYPE_CHECKING:
    from discreet.attacks import Outcome

Name: TypeAlias = Literal["averaging", "differencing", "reconstruction"]
Target: TypeAlias = Literal["raw", "rounded", "fresh-laplace", "discreet"]

SIZES: Mapping[Name, dict[str, int]] = {
    "averaging": {"people": 50, "queries": 32},
    "differencing": {"people": 50, "queries": 32},
    "reconstruction": {"people": 32, "queries": 128},
}

TRIALS: Mapping[Name, int] = {"averaging": 10, "differencing": 4, "reconstruction": 1}
"""How many trials a call runs against targets that need no curator; Discreet has one."""

MOST_GUESSES = 100_000


class StepTally(BaseModel):
    """How many guesses were right after a number of queries, in calls before."""

    model_config = ConfigDict(extra="forbid")

    queries: Annotated[int, Field(ge=0, le=1000)]
    right: Annotated[int, Field(ge=0, le=MOST_GUESSES)]
    guesses: Annotated[int, Field(ge=0, le=MOST_GUESSES)]


class AttackBody(Body):
    """An attack, its target, and the results so far."""

    attack: Name
    against: Target
    epsilon: Annotated[Epsilon, Field(description="The total of Discreet: from 0.01 to 10")] = 1.0
    before: Annotated[
        tuple[StepTally, ...],
        Field(
            max_length=20, description="Queries, right and guesses of the steps in the last reply"
        ),
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackStep:
    """How many guesses were right after a number of queries, in all calls."""

    queries: int
    right: int
    guesses: int
    success: float
    interval: list[float]
    """The 95% confidence interval of the success."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackReply:
    """The success of an attack so far."""

    steps: list[AttackStep]
    guessing: float
    """The success of random guessing."""
    allowed: float | None
    """The most that the guarantee of the target allows; null if it has none."""
    stopped_after: int | None
    """The number of queries after which the target stopped answering."""


def attack_reply(body: AttackBody) -> AttackReply:
    """Run a few trials, each on new synthetic people, and add them to those before."""
    attacks = _attacks()
    options = attacks.DefenceOptions(epsilon=epsilon_of(body.epsilon))
    trials = 1 if body.against == "discreet" else TRIALS[body.attack]
    outcome: Outcome = attacks.ATTACKS[body.attack].run(
        attacks.DEFENCES[body.against](options), trials=trials, **SIZES[body.attack]
    )
    return AttackReply(
        steps=_added(attacks, outcome, body.before),
        guessing=outcome.chance,
        allowed=outcome.allowed,
        stopped_after=outcome.refused_after,
    )


def _attacks() -> ModuleType:
    """Return the attacks. They load half a second's worth of SciPy, so only when they are used."""
    return import_module("discreet.attacks")


def _added(
    attacks: ModuleType, outcome: "Outcome", before: Sequence[StepTally]
) -> list[AttackStep]:
    """Return the results of all calls, with intervals."""
    earlier = {each.queries: each for each in before}
    found = []
    for each in outcome.steps:
        known = earlier.get(each.queries, StepTally(queries=each.queries, right=0, guesses=0))
        guesses = each.guesses + known.guesses
        right = each.right + min(known.right, known.guesses)
        step = attacks.Step(queries=each.queries, right=right, guesses=guesses)
        found.append(
            AttackStep(
                queries=step.queries,
                right=right,
                guesses=guesses,
                success=step.success,
                interval=list(step.interval),
            )
        )
    return found
