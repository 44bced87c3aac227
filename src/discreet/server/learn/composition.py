"""What many answers cost together, by each accounting method."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Annotated

from pydantic import Field

from discreet.accounting.compose import ACCOUNTANTS
from discreet.accounting.events import ComposedEvent
from discreet.mechanisms import Laplace
from discreet.parameters import rational
from discreet.server.bodies import Amount, Body, exact
from discreet.server.learn.limits import Delta, Epsilon, delta_of, epsilon_of, shown

METHODS = {"basic": "pure", "advanced": "advanced", "zCDP": "zCDP", "RDP": "RDP", "PLD": "PLD"}
"""The methods that are compared, and their names in the library."""

COUNTS = (1, 2, 3, 5, 7, *(round(10 ** (1 + i / 7)) for i in range(15)))
"""Numbers of answers at which curves are computed: 1 to 1000."""

MOST = COUNTS[-1]


class CompositionBody(Body):
    """How much each answer costs, how many there are, and the budget that they should fit."""

    epsilon: Annotated[Epsilon, Field(description="Of each answer: from 0.01 to 10")] = 0.1
    count: Annotated[int, Field(ge=1, le=MOST, description="Answers, up to 1000")] = 100
    delta: Delta = 1e-6
    budget: Annotated[Amount, Field(description="From 0.1 to 100")] = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CompositionCurves:
    """The cost of 1 to 1000 answers by each method, and how many answers fit the budget."""

    counts: list[int]
    costs: Mapping[str, list[float]]
    at: Mapping[str, float]
    """The cost of the number of answers that was given."""
    fits: Mapping[str, int]
    """How many answers fit the budget, at most 1000."""


def composition_curves(body: CompositionBody) -> CompositionCurves:
    """Return what answers with Laplace noise cost together."""
    one = Laplace(epsilon=epsilon_of(body.epsilon), sensitivity=1).event
    delta = delta_of(body.delta)
    budget = rational("budget", exact(body.budget), least=Fraction(1, 10), most=100)

    def cost(name: str, count: int) -> float:
        together = ComposedEvent(events=(one * count,))
        return float(ACCOUNTANTS[METHODS[name]](together, delta))

    costs = {name: [cost(name, each) for each in COUNTS] for name in METHODS}
    return CompositionCurves(
        counts=list(COUNTS),
        costs={name: shown(each) for name, each in costs.items()},
        at={name: cost(name, body.count) for name in METHODS},
        fits={
            name: _fits(partial(cost, name), dict(zip(COUNTS, each, strict=True)), float(budget))
            for name, each in costs.items()
        },
    )


def _fits(cost: Callable[[int], float], known: Mapping[int, float], budget: float) -> int:
    """Return the largest number of answers whose cost is within the budget, by bisection."""
    low = max((count for count, each in known.items() if each <= budget), default=0)
    high = min((count for count in known if count > low), default=MOST + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if cost(middle) <= budget else (low, middle)
    return low
