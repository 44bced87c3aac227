"""Randomized response: each person's answer is private, even from the collector."""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import exp, sqrt
from typing import Self, overload

import numpy as np

from discreet import plots
from discreet.accounting.events import RandomizedResponseEvent
from discreet.accounting.rounding import log_up
from discreet.deprecated import Renamed
from discreet.errors import HIDDEN, ParameterError, readable
from discreet.mechanisms.accuracy import (
    checked_epsilon,
    gaussian_accuracy,
    least_epsilon,
    miss_probability,
)
from discreet.mechanisms.distributions import ChoiceDistribution
from discreet.mechanisms.exact import Integers, array_of, exact_integers, is_integer, is_scalar
from discreet.mechanisms.truncation import CHANNEL_MOST
from discreet.noise import SYSTEM, Entropy
from discreet.noise.coins import respond
from discreet.noise.enclosures import Bracket, Enclosure, ceil_div, ratio, share_against_exp_neg
from discreet.noise.uniform import BoolArray, FloatArray, IntArray
from discreet.parameters import Real, as_call, freeze_fields, integer, rational

CATEGORIES_MOST = 1 << 31

PEOPLE_MOST = 10**18
"""The most people. Floats hold the square of this number."""

LISTED_MOST = 10**6
"""The most categories of a distribution or an estimate: some dozen megabytes."""

EPSILON_SOUGHT = Fraction(1, 1000), Fraction(40)
"""A smaller epsilon reveals almost nothing, and a larger one almost the truth."""


@dataclass(frozen=True, slots=True, init=False)
class RandomizedResponse:
    """Report one of `categories` values: the true one is e^epsilon times as likely as any other.

    epsilon-DP for the person who answers, even towards the collector (Warner 1965; Kairouz, Oh,
    Viswanath 2014 for more than two values). Values are 0, …, categories - 1. With two categories,
    True and False are also allowed.
    """

    epsilon: Fraction
    categories: int
    truth: Fraction | None
    """The probability of reporting the truth, if the mechanism was made from it."""

    def __repr__(self) -> str:
        if self.truth is None:
            return as_call("RandomizedResponse", epsilon=self.epsilon, categories=self.categories)
        many = f", categories={self.categories}" if self.categories > 2 else ""
        return f"RandomizedResponse.truthful({readable(self.truth)}{many})"

    def __init__(self, *, epsilon: Real, categories: int = 2) -> None:
        freeze_fields(
            self,
            epsilon=checked_epsilon(epsilon),
            categories=integer("categories", categories, least=2, most=CATEGORIES_MOST),
            truth=None,
        )

    @classmethod
    def truthful(cls, probability: Real, *, categories: int = 2) -> Self:
        """Return the mechanism that reports the truth with exactly this probability.

        Its epsilon, ln(p (categories - 1) / (1 - p)), is rounded up.
        """
        categories = integer("categories", categories, least=2, most=CATEGORIES_MOST)
        p = rational("probability", probability, above=Fraction(1, categories), below=1)
        odds = p * (categories - 1) / (1 - p)
        mechanism = cls(epsilon=Fraction(log_up(odds)), categories=categories)
        freeze_fields(mechanism, truth=p)
        return mechanism

    @classmethod
    def fair_coins(cls) -> Self:
        """Return the classroom form: on heads, report the truth; on tails, a second coin."""
        return cls.truthful(Fraction(3, 4))

    @classmethod
    def for_margin(
        cls, *, within: Real, confidence: Real, people: int, categories: int = 2
    ) -> Self:
        """Return the mechanism with the smallest epsilon whose estimates meet the target."""
        make = partial(cls, categories=categories)
        return make(
            epsilon=least_epsilon(
                lambda each: make(epsilon=each).margin(confidence, people=people),
                within,
                least=EPSILON_SOUGHT[0],
                most=EPSILON_SOUGHT[1],
            )
        )

    @property
    def event(self) -> RandomizedResponseEvent:
        """The event that one report is charged as."""
        return RandomizedResponseEvent(epsilon=self.epsilon, categories=self.categories)

    @overload
    def release(self, exact: bool, *, entropy: Entropy = SYSTEM) -> bool: ...
    @overload
    def release(self, exact: int, *, entropy: Entropy = SYSTEM) -> int: ...
    @overload
    def release(self, exact: Integers | BoolArray, *, entropy: Entropy = SYSTEM) -> IntArray: ...
    def release(
        self, exact: int | Integers | BoolArray, *, entropy: Entropy = SYSTEM
    ) -> int | IntArray:
        """Return a report for each value. The true values are not stored anywhere."""
        values = self._checked(exact, "exact")
        reports = respond(values.reshape(-1), self.categories, self._kept, entropy)
        if is_scalar(exact):
            return bool(reports[0]) if isinstance(exact, bool) else int(reports[0])
        return reports.reshape(values.shape)

    def distribution(self, exact: int) -> ChoiceDistribution:
        """Return the distribution of release(exact)."""
        self._check_size(LISTED_MOST, "a distribution")
        if not is_scalar(exact):
            raise ParameterError("exact", HIDDEN, "must be one value, not several")
        true = int(self._checked(exact, "exact")[0])
        kept, other = self._kept, self._lost_to_each
        places = range(self.categories)
        p, q = self._odds
        return ChoiceDistribution(
            tuple(p if place == true else q for place in places),
            tuple(kept if place == true else other for place in places),
        )

    def channel(self) -> FloatArray:
        """Return the matrix P(reported | true)."""
        self._check_size(CHANNEL_MOST, "a channel")
        p, q = self._odds
        return np.full((self.categories, self.categories), q) + np.eye(self.categories) * (p - q)

    @property
    def probability(self) -> float:
        """The probability of reporting the truth."""
        if self.truth is not None:
            return float(self.truth)
        return 1 / (1 + (self.categories - 1) * exp(-self.epsilon))

    def estimate(self, reports: Integers | BoolArray, *, confidence: Real = 0.95) -> "Frequencies":
        """Return unbiased estimates of how many people have each value, with margins of error.

        Let p and q be the probabilities of reporting the true value and a given other value. A
        value that is reported c times by n people is held by (c - n q) / (p - q) people on average.
        The variance is that of a value held by the estimated number. The margin of error uses the
        normal approximation, for large n.
        """
        self._check_size(LISTED_MOST, "estimates")
        values = self._checked(reports, "reports").reshape(-1)
        n = len(values)
        p, q = self._odds
        seen = np.bincount(values, minlength=self.categories).astype(np.float64)
        held = (seen - n * q) / (p - q)
        likely = np.clip(held, 0, n)
        lost = (self.categories - 1) * q
        variance = (likely * p * lost + (n - likely) * q * (1 - q)) / (p - q) ** 2
        miss = miss_probability(confidence, 1)
        return Frequencies(
            people=n,
            counts=held,
            standard_errors=np.sqrt(variance),
            error=np.sqrt(variance) * gaussian_accuracy(1.0, miss),
        )

    def margin(self, confidence: Real, *, people: int) -> float:
        """Return the largest margin of error of an estimated count, by normal approximation."""
        n = integer("people", people, least=1, most=PEOPLE_MOST)
        p, q = self._odds
        # 1 - p is (categories - 1) q, which a float distinguishes from 0 even if p is nearly 1.
        variance = n * max(p * (self.categories - 1) * q, q * (1 - q)) / (p - q) ** 2
        return gaussian_accuracy(sqrt(variance), miss_probability(confidence, 1))

    def plot(self) -> "plots.Plot":
        """Plot the channel as a heat map."""
        channel = self.channel()
        names = [str(value) for value in range(self.categories)]
        title = f"randomized response, ε = {float(self.epsilon):.3g}"
        return plots.plot_heat(channel, title=title, rows=names, columns=names)

    @property
    def _odds(self) -> tuple[float, float]:
        """The probabilities of reporting the truth and each other value, even if tiny."""
        p, others = self.probability, self.categories - 1
        if self.truth is not None:
            return p, float((1 - self.truth) / others)
        return p, p * exp(-self.epsilon)

    @property
    def _kept(self) -> Enclosure:
        if self.truth is not None:
            return ratio(self.truth)
        return share_against_exp_neg(Fraction(1), Fraction(self.categories - 1), self.epsilon)

    @property
    def _lost_to_each(self) -> Enclosure:
        kept, others = self._kept, self.categories - 1

        def enclose(bits: int) -> Bracket:
            low, high = kept(bits)
            return ((1 << bits) - high) // others, ceil_div((1 << bits) - low, others)

        return enclose

    def _checked(self, values: object, name: str) -> IntArray:
        rule = f"must be whole numbers from 0 to {self.categories - 1}"
        numbers = _without_bools(values)
        if not (is_integer(numbers) or np.size(array_of(numbers, name)) == 0):
            raise ParameterError(name, HIDDEN, rule)
        found = np.atleast_1d(exact_integers(numbers))
        if found.size and not (found.min() >= 0 and found.max() < self.categories):
            raise ParameterError(name, HIDDEN, rule)
        return found

    def _check_size(self, most: int, what: str) -> None:
        if self.categories > most:
            raise ParameterError(
                "categories", self.categories, f"must be {most} or less for {what}"
            )

    law = Renamed("distribution")
    error = Renamed("margin")
    for_error = Renamed("for_margin")


def _without_bools(exact: object) -> object:
    """Return True and False as 1 and 0, in any container, and anything else unchanged."""
    if isinstance(exact, list | tuple):
        return [_without_bools(each) for each in exact]
    if isinstance(exact, np.ndarray) and exact.dtype == np.bool_:
        return exact.astype(np.int64)
    return int(exact) if isinstance(exact, bool | np.bool_) else exact


@dataclass(frozen=True, slots=True, kw_only=True)
class Frequencies:
    """Unbiased estimates of how many people have each value. They may be below zero."""

    people: int
    counts: FloatArray
    standard_errors: FloatArray
    error: FloatArray
    """The margin of error of each count alone, at the requested confidence."""

    @property
    def shares(self) -> FloatArray:
        """The counts as shares of all people, or 0 if there are none."""
        return self.counts / max(1, self.people)
