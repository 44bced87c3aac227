"""Local privacy: the surveys that discreet and its peers are both measured on.

Peers share this module, so it needs NumPy and nothing else.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from json import dumps, loads
from math import exp, inf
from time import process_time
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import yardstick

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
class Measured:
    """CPU seconds for each person, of the fastest of some turns, and the error over theory."""

    survey: Survey
    timed_people: int
    client: float
    server: float
    yardstick: float
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
    """Time both halves, with as many people as bearable."""
    people = FIRST_SIZE
    seconds = sum(_turn(survey, report, count, people)[:2])
    while people < survey.people and 10 * seconds < SLOW_SECONDS:
        people = min(10 * people, survey.people)
        seconds = sum(_turn(survey, report, count, people)[:2])
    turns = [_turn(survey, report, count, people) for _ in range(TURNS)]
    return Measured(
        survey=survey,
        timed_people=people,
        client=min(each[0] for each in turns) / people,
        server=min(each[1] for each in turns) / people,
        yardstick=min(each[3] for each in turns),
        error=sum(each[2] for each in turns) / TURNS,
    )


def _turn(
    survey: Survey, report: Report, count: Count, people: int
) -> tuple[float, float, float, float]:
    values = population(survey.categories, people)
    true = np.bincount(values, minlength=survey.categories)
    start = process_time()
    reports = report(values)
    middle = process_time()
    found = count(reports, people)
    end = process_time()
    error = float(np.square(found - true).mean()) if len(found) else inf
    ground = theory(survey.protocol, survey.categories, people)
    yardstick()
    return middle - start, end - middle, error / ground, process_time() - end


def line_from(measured: Measured) -> str:
    """Return a measurement as a line of JSON."""
    survey = measured.survey
    return dumps(
        {
            "survey": [survey.protocol, survey.categories, survey.people],
            "timed_people": measured.timed_people,
            "client": measured.client,
            "server": measured.server,
            "yardstick": measured.yardstick,
            "error": measured.error,
        }
    )


def measured_from(line: str) -> Measured:
    """Return the measurement that `line_from` wrote."""
    record = loads(line)
    return Measured(**{**record, "survey": Survey(*record["survey"])})
