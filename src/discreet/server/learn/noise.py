"""Two neighbouring distributions, draws from them, margins of error, and beliefs."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, floor, log, sqrt
from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from discreet.mechanisms import Gaussian, Geometric, Laplace, Staircase
from discreet.mechanisms.distributions import (
    DiscreteGaussianDistribution,
    DiscreteLaplaceDistribution,
    Distribution,
    RoundedDistribution,
    StaircaseDistribution,
)
from discreet.noise import bernoulli
from discreet.parameters import rational
from discreet.server.bodies import Amount, Body, exact
from discreet.server.learn.limits import (
    Delta,
    Draws,
    Epsilon,
    Sensitivity,
    Share,
    delta_of,
    epsilon_of,
    share_of,
    shown,
)
from discreet.utility import Prior, belief_bounds, posterior

WITHOUT = Fraction(100)
"""The exact answer without the person; with them it is larger by the sensitivity."""

POINTS = 400
"""About how many points a curve has."""

SHOWN = Fraction(99, 100)
"""The share of all draws that a curve covers, at least."""

FARTHEST = 5
"""Standard deviations beyond which no Gaussian curve is drawn."""

Kind: TypeAlias = Literal["geometric", "laplace", "gaussian", "staircase"]
Mechanism: TypeAlias = Geometric | Laplace | Gaussian | Staircase


class NoiseBody(Body):
    """A mechanism that adds noise to a number."""

    mechanism: Annotated[Kind, Field(description="The kind of noise")] = "geometric"
    epsilon: Epsilon = 1.0
    sensitivity: Sensitivity = 1
    delta: Annotated[Delta, Field(description="For Gaussian noise: from 1e-12 to 0.1")] = 1e-5

    def made(self) -> Mechanism:
        """Return the mechanism."""
        return mechanism_of(
            self.mechanism, epsilon_of(self.epsilon), self.sensitivity, delta_of(self.delta)
        )


def mechanism_of(kind: Kind, epsilon: Fraction, sensitivity: int, delta: Fraction) -> Mechanism:
    """Return a mechanism by its name."""
    match kind:
        case "geometric":
            return Geometric(epsilon=epsilon, sensitivity=sensitivity)
        case "laplace":
            return Laplace(epsilon=epsilon, sensitivity=sensitivity)
        case "staircase":
            return Staircase(epsilon=epsilon, sensitivity=sensitivity)
        case "gaussian":
            return Gaussian(epsilon=epsilon, delta=delta, sensitivity=sensitivity)


# --------------------------------------------------------------------------- two neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourCurves:
    """The distributions of an answer without and with one person."""

    places: list[float]
    without_you: list[float]
    """Probabilities of whole numbers, or densities."""
    with_you: list[float]
    low: list[float]
    """The band: `without_you` divided and multiplied by e^epsilon."""
    high: list[float]
    loss: list[float]
    """The privacy loss at each place: the logarithm of `with_you` / `without_you`."""
    is_whole: bool
    exact: list[float]
    margin: float
    """The margin of error at 95%."""
    deviation: float
    ratio: float
    """e^epsilon, the largest likelihood ratio."""
    belief: float
    """What 50% sure becomes at most."""
    delta: float
    """How much probability may lie outside of the band; 0 if epsilon holds everywhere."""


def neighbour_curves(body: NoiseBody) -> NeighbourCurves:
    """Return the distributions of two neighbours, and the band that epsilon allows."""
    made = body.made()
    here, there = _pair(made, body.sensitivity)
    places = _places(made, here, body.sensitivity)
    without, with_you = ([_at(each, place) for place in places] for each in (here, there))
    growth = exp(made.epsilon)
    delta = float(made.delta) if isinstance(made, Gaussian) else 0.0
    sure = belief_bounds(Fraction(1, 2), made.epsilon)[1]
    return NeighbourCurves(
        places=shown(float(each) for each in places),
        without_you=shown(without),
        with_you=shown(with_you),
        low=shown(each / growth for each in without),
        high=shown(each * growth for each in without),
        loss=shown(log(b / a) for a, b in zip(without, with_you, strict=True)),
        is_whole=isinstance(made, Geometric),
        exact=[float(WITHOUT), float(WITHOUT + body.sensitivity)],
        margin=float(made.margin(Fraction(95, 100))),
        deviation=sqrt(here.variance),
        ratio=growth,
        belief=sure + delta * (1 - sure),  # (e^ε + δ) / (1 + e^ε)
        delta=delta,
    )


Fine: TypeAlias = DiscreteLaplaceDistribution | DiscreteGaussianDistribution | StaircaseDistribution


def _pair(made: Mechanism, sensitivity: int) -> tuple[Fine, Fine]:
    """Return the distributions of the noisy answers without and with the person."""
    return _distribution(made, WITHOUT), _distribution(made, WITHOUT + sensitivity)


def _distribution(made: Mechanism, answer: Fraction) -> Fine:
    """Return the distribution of a noisy answer; Gaussian noise is not rounded."""
    if isinstance(made, Geometric):
        return made.distribution(int(answer))
    found = made.distribution(float(answer))
    return _unrounded(found) if isinstance(found, RoundedDistribution) else found


def _unrounded(found: RoundedDistribution) -> Fine:
    assert isinstance(found.distribution, DiscreteGaussianDistribution)  # noqa: S101 - by its type
    return found.distribution


def _at(found: Fine, place: Fraction) -> float:
    """Return the probability of a whole number, or the density."""
    return found.pmf(place) if found.support.step == 1 else found.density(place)


def _places(made: Mechanism, here: Distribution, sensitivity: int) -> list[Fraction]:
    """Return places of the support that cover both distributions, with both exact answers."""
    reach = _reach(made, sensitivity)
    first, last = WITHOUT - reach, WITHOUT + sensitivity + reach
    step = here.support.step
    if isinstance(made, Geometric):
        every = max(1, ceil((last - first) / POINTS))
        return [Fraction(each) for each in range(floor(first), ceil(last) + 1, every)]
    spread = (first + (last - first) * i / POINTS for i in range(POINTS + 1))
    ends = {WITHOUT, WITHOUT + sensitivity}
    return sorted({floor(each / step) * step for each in spread} | ends)


def _reach(made: Mechanism, sensitivity: int) -> Fraction:
    """Return how far beyond the exact answers curves go; Gaussian ones to where they leave e^ε."""
    least = max(Fraction(made.margin(SHOWN)), Fraction(sensitivity))
    if not isinstance(made, Gaussian):
        return least
    # The privacy loss is epsilon at epsilon · variance / sensitivity from the middle.
    crossing = made.epsilon * made.variance / sensitivity * Fraction(11, 10)
    return max(least, min(crossing, Fraction(FARTHEST * made.scale)))


# --------------------------------------------------------------------------- draws


class DrawBody(NoiseBody):
    """A mechanism, and how often to draw from it."""

    count: Draws = 1
    prior: Annotated[Share, Field(description="How often the person is in the data")] = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyDraw:
    """A noisy answer, whether the person was in the data, and what an observer then believes."""

    value: float
    is_with_you: bool
    belief: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyDraws:
    """Some draws, each from one of two neighbours."""

    draws: list[NoisyDraw]


def noisy_draws(body: DrawBody) -> NoisyDraws:
    """Draw noisy answers, each without or with the person by a coin of the prior."""
    made, prior = body.made(), share_of(body.prior, "prior")
    pair = _pair(made, body.sensitivity)
    coins = [bool(each) for each in bernoulli(prior, body.count)] if body.count else []
    return NoisyDraws(draws=[_draw(made, pair, prior, body.sensitivity, each) for each in coins])


def _draw(
    made: Mechanism, pair: tuple[Fine, Fine], prior: Fraction, sensitivity: int, is_with_you: bool
) -> NoisyDraw:
    answer = WITHOUT + sensitivity * is_with_you
    value = (
        made.release(int(answer)) if isinstance(made, Geometric) else made.release(float(answer))
    )
    likelihoods = [_at(each, Fraction(value)) for each in pair]
    after = posterior(Prior([1 - prior, prior]), likelihoods.__getitem__)
    return NoisyDraw(value=float(value), is_with_you=is_with_you, belief=float(after[1]))


# --------------------------------------------------------------------------- margins of error

EPSILONS = tuple(Fraction(f"{10 ** (i / 10):.3g}") for i in range(-20, 11))
"""Where a curve of margins is computed: from 0.01 to 10."""


class ErrorBody(Body):
    """What margins of error depend on, besides epsilon."""

    epsilon: Epsilon = 1.0
    sensitivity: Sensitivity = 1
    delta: Delta = 1e-5
    confidence: Annotated[Amount, Field(description="From 0.5 to 0.999")] = 0.95
    answers: Annotated[
        int, Field(ge=1, le=10_000, description="Groups that are counted at once, one per person")
    ] = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCurves:
    """Margins of error by epsilon, for each mechanism that has one for so many answers."""

    epsilons: list[float]
    margins: Mapping[str, list[float]]
    at: Mapping[str, float]
    """The margins at the epsilon that was given."""


def error_curves(body: ErrorBody) -> ErrorCurves:
    """Return margins of error by epsilon. They hold for all answers at once."""
    confidence = rational(
        "confidence", exact(body.confidence), least=Fraction(1, 2), most=Fraction(999, 1000)
    )
    delta, here = delta_of(body.delta), epsilon_of(body.epsilon)
    kinds: tuple[Kind, ...] = ("geometric", "laplace", "gaussian", "staircase")

    def margin(kind: Kind, epsilon: Fraction) -> float:
        made = mechanism_of(kind, epsilon, body.sensitivity, delta)
        return float(made.margin(confidence, body.answers))

    able = kinds if body.answers == 1 else kinds[:-1]  # staircase noise is for one answer
    return ErrorCurves(
        epsilons=[float(each) for each in EPSILONS],
        margins={kind: shown(margin(kind, each) for each in EPSILONS) for kind in able},
        at={kind: margin(kind, here) for kind in able},
    )


# --------------------------------------------------------------------------- beliefs

PRIORS = 100
"""How many steps a curve of beliefs has."""


class BeliefBody(Body):
    """A belief before an answer, and the epsilon of the answer."""

    prior: Annotated[Share, Field(description="The belief before")] = 0.5
    epsilon: Epsilon = 1.0
    about: Annotated[
        Literal["presence", "value"],
        Field(description="Whether a person is in the data, or a value of one who is"),
    ] = "presence"


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefCurves:
    """The least and the most that any belief can become."""

    priors: list[float]
    low: list[float]
    high: list[float]
    at: list[float]
    """The range for the prior that was given."""
    ratio: float
    """The largest likelihood ratio."""


def belief_curves(body: BeliefBody) -> BeliefCurves:
    """Return the range of beliefs after any answer. A value is a removal and an addition away."""
    epsilon = epsilon_of(body.epsilon) * (1 if body.about == "presence" else 2)
    priors = [Fraction(i, PRIORS) for i in range(PRIORS + 1)]
    ranges = [belief_bounds(each, epsilon) for each in priors]
    return BeliefCurves(
        priors=[float(each) for each in priors],
        low=shown(low for low, _ in ranges),
        high=shown(high for _, high in ranges),
        at=list(belief_bounds(share_of(body.prior, "prior"), epsilon)),
        ratio=exp(epsilon),
    )
