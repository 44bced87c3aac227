"""Numbers of university courses on privacy, computed by the library.

Each is an entry of the list that the tests compare with the lectures.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import exp, log, sqrt
from typing import TypeAlias

from discreet.accounting import compose, for_group
from discreet.accounting.events import PureEvent
from discreet.mechanisms import (
    AboveThreshold,
    Gaussian,
    Geometric,
    Laplace,
    RandomizedResponse,
    histogram,
)
from discreet.server.learn.choices import PRICES, auction_of, revenues_of
from discreet.utility import (
    belief_after_counts,
    belief_bounds,
    event_bounds,
    independent,
    mean_is_exact,
)

Numbers: TypeAlias = Sequence[float]

FOUNDATIONS = "Foundations of Privacy, lecture 7"
ACCESS = "Privacy Preserving Information Access, part II"
ANALYSIS = "CS 860 Algorithms for Private Data Analysis (2020), lecture 4"
ENGINEERING = "Privacy Engineering, week 4"
DATABASES = "CSCI 5440, database privacy"

CONFIDENCE = Fraction(95, 100)
BIDS = (Fraction("4.1"), Fraction(1), Fraction(1), Fraction(1))


@dataclass(frozen=True, slots=True, kw_only=True)
class CourseNumber:
    """A number of a course, beside the playground that it belongs to."""

    id: str
    playground: str
    source: str
    text: str
    values: list[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class CourseNumbers:
    """All numbers of courses that playgrounds show."""

    numbers: list[CourseNumber]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    id: str
    playground: str
    source: str
    text: str
    """With places for the values."""
    values: Callable[[], Numbers]


def _laplace_ratio() -> Numbers:
    made = Laplace(epsilon=1, sensitivity=10)
    return [exp(made.distribution(10).privacy_loss(0, made.distribution(20)))]


def _eve() -> Numbers:
    after = belief_after_counts(
        independent(Fraction(2, 5), Fraction(2, 5)), [1], alpha=Fraction(3, 5), of=sum
    )
    return [float(after.probability(lambda women: women[0] == 1))]


def _revenue() -> Numbers:
    found = dict(zip(PRICES, revenues_of(BIDS), strict=True))
    return [float(found[Fraction(each)]) for each in ("1", "2", "4.1", "4.2")]


def _weights() -> Numbers:
    made = auction_of(Fraction(1, 10), is_monotone=False)
    chances = made.distribution([float(each) for each in revenues_of(BIDS)]).probabilities
    shown = ("0.9", "1", "1.1", "1.2", "3.9", "4", "4.1", "4.2")
    return [chances[PRICES.index(Fraction(each))] / chances[-1] for each in shown]


def _threshold() -> Numbers:
    made = AboveThreshold(
        epsilon=Fraction(1, 2), sensitivity=1, threshold=0, threshold_share=Fraction(1, 2)
    )
    return [float(made.threshold_scale), float(made.question_scale)]


ENTRIES = (
    _Entry(
        id="laplace-ratio",
        playground="neighbours",
        source=FOUNDATIONS,
        text="Exact answers 10 and 20, Laplace noise of scale 10: the likelihood ratio is at most "
        "e^ε = {0:.3f}.",
        values=_laplace_ratio,
    ),
    _Entry(
        id="geometric-normaliser",
        playground="neighbours",
        source=FOUNDATIONS,
        text="Geometric noise at ε = 1 and sensitivity 1 leaves a count as it is with probability "
        "{0:.3f}.",
        values=lambda: [Geometric(epsilon=1, sensitivity=1).distribution(0).pmf(0)],
    ),
    _Entry(
        id="histogram-10000-names",
        playground="error",
        source=ACCESS,
        text="Counts of 10,000 first names at ε = 1: all of them are within ±{0:.1f}, at 95%.",
        values=lambda: [
            Laplace(epsilon=1, sensitivity=histogram()).margin(CONFIDENCE, answers=10_000)
        ],
    ),
    _Entry(
        id="laplace-sd",
        playground="error",
        source=DATABASES,
        text="Geometric noise at ε = 0.1 has the standard deviation {0:.3f}. The lecture has "
        "√2 / ε = 14.142, which is that of continuous noise.",
        values=lambda: [
            sqrt(Geometric(epsilon=Fraction(1, 10), sensitivity=1).distribution(0).variance)
        ],
    ),
    _Entry(
        id="gaussian-classical",
        playground="error",
        source=ACCESS,
        text="Gaussian noise at ε = 0.5 and δ = 1e-5, by the classical formula: σ = {0:.2f}. "
        "Discreet uses the smallest σ that is enough.",
        values=lambda: [
            Gaussian(
                epsilon=Fraction(1, 2),
                delta=Fraction(1, 10**5),
                sensitivity=1,
                calibration="classical",
            ).scale
        ],
    ),
    _Entry(
        id="semantic-bound",
        playground="belief",
        source=DATABASES,
        text="A belief of 40% at ε = ln(5/3) stays between {0:.1%} and {1:.1%}.",
        values=lambda: belief_bounds(Fraction(2, 5), log(5 / 3)),
    ),
    _Entry(
        id="eve-posterior",
        playground="belief",
        source=DATABASES,
        text="Two women, each failed with probability 40%. After the noisy count 1 at "
        "ε = ln(5/3), Eve believes of one of them {0:.1%}. The lecture has 43%, an erratum.",
        values=_eve,
    ),
    _Entry(
        id="two-worlds",
        playground="belief",
        source=ENGINEERING,
        text="An event that has probability 50% with your data has between {0:.1%} and {1:.1%} "
        "without them, at ε = 1.",
        values=lambda: event_bounds(Fraction(1, 2), 1),
    ),
    _Entry(
        id="rr-fair",
        playground="crowd",
        source=ACCESS,
        text="Two fair coins, so three of four reports are true: ε = ln 3 = {0:.4f}.",
        values=lambda: [float(RandomizedResponse.fair_coins().epsilon)],
    ),
    _Entry(
        id="rr-eps8",
        playground="crowd",
        source=ENGINEERING,
        text="At ε = 8 a report is false with probability {0:.4%}.",
        values=lambda: [RandomizedResponse(epsilon=8).distribution(0).pmf(1)],
    ),
    _Entry(
        id="auction-revenue",
        playground="auction",
        source=ACCESS,
        text="Bids 4.10, 1, 1 and 1: the revenue is {0:.1f} at price 1, {1:.1f} at 2, {2:.1f} at "
        "4.10 and {3:.0f} at 4.20.",
        values=_revenue,
    ),
    _Entry(
        id="auction-probabilities",
        playground="auction",
        source=ACCESS,
        text="At ε = 0.1, relative to a price that nobody pays: {1:.4f} at 1.0, {2:.4f} at 1.1, "
        "{6:.4f} at 4.1. The row in the lecture has errata.",
        values=_weights,
    ),
    _Entry(
        id="exponential-accuracy",
        playground="auction",
        source=ACCESS,
        text="42 prices at ε = 1: the chosen price falls short of the best by more than {0:.1f} "
        "with probability e^−3 at most.",
        values=lambda: [
            auction_of(Fraction(1), is_monotone=False).margin(1 - exp(-3), candidates=42)
        ],
    ),
    _Entry(
        id="above-threshold-noise",
        playground="stream",
        source=ACCESS,
        text="AboveThreshold at ε = 0.5: noise of scale {0:.0f} for the threshold and {1:.0f} for "
        "each query.",
        values=_threshold,
    ),
    _Entry(
        id="budget-split",
        playground="composition",
        source=ENGINEERING,
        text="One query at ε = 0.6 and four at 0.1 cost ε = {0:g} together.",
        values=lambda: [
            float(
                compose(
                    [PureEvent(epsilon=Fraction(3, 5)), PureEvent(epsilon=Fraction(1, 10)) * 4]
                ).epsilon
            )
        ],
    ),
    _Entry(
        id="group",
        playground="composition",
        source=ANALYSIS,
        text="A query at ε = 0.1 protects a group of ten people with ε = {0:g}.",
        values=lambda: [
            float(
                compose(
                    for_group(Geometric(epsilon=Fraction(1, 10), sensitivity=1).event, 10)
                ).epsilon
            )
        ],
    ),
    _Entry(
        id="averaging",
        playground="averaging",
        source=ENGINEERING,
        text="The mean of ten answers with fresh noise at ε = 1, rounded, is the exact count with "
        "probability {0:.1%}.",
        values=lambda: [
            mean_is_exact(Geometric(epsilon=1, sensitivity=1).distribution(55), answers=10)
        ],
    ),
)


@cache
def course_numbers() -> CourseNumbers:
    """Return all numbers, computed once."""
    return CourseNumbers(numbers=[_computed(each) for each in ENTRIES])


def _computed(entry: _Entry) -> CourseNumber:
    values = [float(each) for each in entry.values()]
    return CourseNumber(
        id=entry.id,
        playground=entry.playground,
        source=entry.source,
        text=entry.text.format(*values),
        values=values,
    )
