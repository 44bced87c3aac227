"""Local privacy: the surveys that discreet and its peers are both measured on.

Peers share this module, so it needs NumPy and nothing else.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import product
from json import dumps, loads
from math import exp
from time import process_time
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Run, yardstick

EPSILON = 1.0
PROTOCOLS = ("k-ary", "SUE", "OUE", "subset", "OLH", "Hadamard")
CATEGORIES = (100, 10**4)
PEOPLE = (10**6, 10**7)

FIRST_SIZE = 20
"""A way of doing things is first tried on so few people, then on ten times as many, and so on."""

SLOW_SECONDS = 1.0
"""A survey that would take longer is timed with fewer people."""

TURNS = 3

Values: TypeAlias = NDArray[np.int64]
Report: TypeAlias = Callable[[Values], Any]
Count: TypeAlias = Callable[[Any, int], NDArray[np.float64]]
"""From reports, and how many people sent them, to how many hold each value."""


@dataclass(frozen=True, slots=True)
class Survey:
    """One thing to measure."""

    protocol: str
    categories: int
    people: int


SURVEYS = tuple(Survey(*each) for each in product(PROTOCOLS, CATEGORIES, PEOPLE))


@dataclass(frozen=True, slots=True, kw_only=True)
class Half:
    """CPU seconds for each person, of the fastest of some turns, and the yardstick's beside it."""

    people: int
    each: float
    yardstick: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Both halves of a survey, each with as many people as bearable, and the error over theory."""

    survey: Survey
    client: Half
    server: Half
    error: float


@lru_cache(maxsize=2)
def population(categories: int, people: int) -> Values:
    """Return who holds what: value v about 1 / (v + 1) as often as value 0."""
    weights = 1 / np.arange(1, categories + 1)
    edges = np.cumsum(weights / weights.sum())[:-1]
    return np.searchsorted(edges, np.random.default_rng(5).random(people))


def chances(protocol: str, categories: int) -> tuple[float, float]:
    """Return p and q of a protocol's definition at EPSILON."""
    e, k = exp(EPSILON), categories
    match protocol:
        case "k-ary":
            return e / (e + k - 1), 1 / (e + k - 1)
        case "SUE":
            return e**0.5 / (e**0.5 + 1), 1 / (e**0.5 + 1)
        case "OUE":
            return 0.5, 1 / (e + 1)
        case "OLH":
            return e / (e + 3), 1 / 4
        case "Hadamard":
            return e / (e + 1), 0.5
        case _:
            size = round(k / (e + 1))
            p = size * e / (size * e + k - size)
            return p, (size - p) / (k - 1)


def theory(protocol: str, categories: int, people: int) -> float:
    """Return the mean squared error of estimated counts, whoever holds what."""
    p, q = chances(protocol, categories)
    each = (p * (1 - p) + (categories - 1) * q * (1 - q)) / (categories * (p - q) ** 2)
    return people * each


def measure(survey: Survey, report: Report, count: Count) -> Measured:
    """Time both halves."""
    client = _half(survey, lambda values: lambda: report(values))
    errors: list[float] = []

    def counting(values: Values) -> Run:
        reports = report(values)
        true = np.bincount(values, minlength=survey.categories)

        def run() -> None:
            found = count(reports, len(values))
            ground = theory(survey.protocol, survey.categories, len(values))
            errors.append(float(np.square(found - true).mean()) / ground)

        return run

    server = _half(survey, counting)
    return Measured(survey=survey, client=client, server=server, error=sum(errors[-TURNS:]) / TURNS)


def _half(survey: Survey, make: Callable[[Values], Run]) -> Half:
    """Try ten times as many people as before until a run would be too slow; time the last."""
    people = FIRST_SIZE
    while people < survey.people:
        start = process_time()
        make(population(survey.categories, people))()
        if 10 * (process_time() - start) > SLOW_SECONDS:
            break
        people = min(10 * people, survey.people)
    turns = [_turn(make(population(survey.categories, people))) for _ in range(TURNS)]
    return Half(
        people=people,
        each=min(seconds for seconds, _ in turns) / people,
        yardstick=min(ground for _, ground in turns),
    )


def _turn(run: Run) -> tuple[float, float]:
    start = process_time()
    run()
    middle = process_time()
    yardstick()
    return middle - start, process_time() - middle


def line_from(measured: Measured) -> str:
    """Return a measurement as a line of JSON."""
    return dumps(asdict(measured))


def measured_from(line: str) -> Measured:
    """Return the measurement that `line_from` wrote."""
    record = loads(line)
    return Measured(
        survey=Survey(**record["survey"]),
        client=Half(**record["client"]),
        server=Half(**record["server"]),
        error=record["error"],
    )
