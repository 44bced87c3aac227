"""Search for the event that reveals most, in runs that are not used to test it.

Runs are divided into three parts. The codings and the order of their cases are learnt from the
first part. In the second part, sets of cases are compared and a few are chosen. The third part
counts those few, and is not used before. So the search may try any number of events: only the
number of events counted in the third part matters for the error probability.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp

import numpy as np
from numpy.typing import NDArray

from discreet.audit.bounds import Count, likely_shares
from discreet.audit.codings import Codes, Coding
from discreet.audit.learning import learnt_codings
from discreet.audit.sheets import Sheet, alike, sheet
from discreet.audit.subjects import Outputs

JUDGED = 4
"""The number of events counted in the last part. They share the error probability equally."""

PLAIN = 0.99
"""The weight of an event that is hard to describe, compared with a simple one."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The claim to be refuted, and the error probability."""

    epsilon: float
    delta: float
    miss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A set of cases that is likelier on one side than on the other."""

    coding: Coding
    cases: Codes
    is_here: bool
    """Whether the event is likelier here than there."""

    def count(self, outputs: Sheet) -> Count:
        """Count how often the event happened."""
        is_inside = np.zeros(self.coding.size, np.bool_)
        is_inside[self.cases] = True
        return Count(hits=int(is_inside[self.coding.code(outputs)].sum()), runs=outputs.size)

    @property
    def sentence(self) -> str:
        return self.coding.told(np.sort(self.cases))


@dataclass(frozen=True, slots=True)
class Parts:
    """The runs on one input: to learn from, to choose events, and to test them."""

    learn: Sheet
    choose: Sheet
    judge: Sheet


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """Cases in the order in which they are added to an event."""

    coding: Coding
    cases: Codes
    is_here: bool
    worth: float


@dataclass(frozen=True, slots=True)
class _Candidate:
    event: Event
    epsilon: float
    delta: float
    worth: float
    """A weight that prefers events that are easier to describe, if all else is nearly equal."""


def parts(here: Outputs, there: Outputs) -> tuple[Parts, Parts]:
    """Divide the runs of both sides into a quarter, a quarter and a half.

    The places that outputs have are also learnt from the first part.
    """
    sides = alike(here, there)
    learnt = [sheet(each[: len(each) // 4]) for each in sides]
    places = {**learnt[0].columns, **learnt[1].columns}.keys()
    first, second = (
        Parts(
            learn,
            sheet(each[len(each) // 4 : len(each) // 2], places),
            sheet(each[len(each) // 2 :], places),
        )
        for learn, each in zip(learnt, sides, strict=True)
    )
    return first, second


def telling_events(here: Parts, there: Parts, claim: Claim) -> list[Event]:
    """Return up to JUDGED events that look worst for the claim, without using the last part."""
    found = [
        _best(list(_candidates(coding, here, there, claim)))
        for coding in learnt_codings(here.learn, there.learn)
    ]
    by_epsilon = sorted((e for e, _ in found), key=lambda each: -each.epsilon * each.worth)
    by_delta = sorted((d for _, d in found), key=lambda each: -each.delta * each.worth)
    chosen = [*by_epsilon[: JUDGED - 1], *by_delta[:1]]
    return [each.event for each in chosen]


def _best(candidates: list[_Candidate]) -> tuple[_Candidate, _Candidate]:
    return (
        max(candidates, key=lambda each: each.epsilon * each.worth),
        max(candidates, key=lambda each: each.delta * each.worth),
    )


def _candidates(coding: Coding, here: Parts, there: Parts, claim: Claim) -> Iterator[_Candidate]:
    learnt = coding.counts(here.learn), coding.counts(there.learn)
    chosen = coding.counts(here.choose), coding.counts(there.choose)
    for order in _orders(coding, *learnt):
        yield from _prefixes(order, chosen if order.is_here else chosen[::-1], claim)


def _orders(coding: Coding, here: Codes, there: Codes) -> Iterator[_Order]:
    """Sort the cases that occurred by likelihood ratio, and numbers also by size, for both tails.

    The sets of cases with the largest ratios are the most powerful events (Neyman, Pearson 1933).
    """
    seen = np.flatnonzero(here + there)
    by_odds = seen[np.argsort(-(here[seen] + 1) / (there[seen] + 1), kind="stable")]
    by_size = np.arange(coding.in_order)
    worth = 1.0 if coding.is_plain else PLAIN
    for is_here in (True, False):
        cases = by_odds if is_here else by_odds[::-1]
        yield _Order(coding=coding, cases=cases, is_here=is_here, worth=PLAIN)
        if coding.in_order:
            yield _Order(coding=coding, cases=by_size, is_here=is_here, worth=worth)
            yield _Order(coding=coding, cases=by_size[::-1], is_here=is_here, worth=worth)


def _prefixes(order: _Order, counts: tuple[Codes, Codes], claim: Claim) -> Iterator[_Candidate]:
    """Yield the events, made of the first cases, that have the best bounds."""
    more, fewer = (np.cumsum(each[order.cases]) for each in counts)
    runs = int(counts[0].sum()), int(counts[1].sum())
    low, high = likely_shares(more, fewer, runs=runs, miss=claim.miss / JUDGED)
    epsilons = np.log(np.maximum(low - claim.delta, 1e-300) / high)
    deltas = low - exp(min(claim.epsilon, 700.0)) * high
    for best in {int(np.argmax(epsilons)), int(np.argmax(deltas))}:
        event = Event(coding=order.coding, cases=order.cases[: best + 1], is_here=order.is_here)
        yield _Candidate(event, float(epsilons[best]), float(deltas[best]), order.worth)
