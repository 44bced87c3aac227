"""Search for the event that reveals most, in runs that are not used to test it.

Runs are divided into three parts. The codings and the order of their cases are learnt from the
first part. In the second part, sets of cases are compared and a few are chosen. The third part
counts those few, and is not used before. So the search may try any number of events: only the
number of events counted in the third part matters for the error probability.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp

import numpy as np
from numpy.typing import NDArray

from discreet.audit.binning import (
    Binning,
    Codes,
    bins,
    grain,
    labels,
    last_bits,
    patterns,
    reachable,
)
from discreet.audit.features import (
    NUMBER,
    OTHER,
    Feature,
    Numbers,
    OutputTable,
    Path,
    alike,
    are_whole,
    direction_feature,
    name_of,
    numbers_at,
    output_table,
    vector_features,
)
from discreet.audit.subjects import Outputs
from discreet.binomial import Count, likely_shares

SHARED_LEAST = 4
"""Labels are tried if each occurs at least this often on average."""


PAIRED = 24
"""The approximate number of bins for each number of a pair."""


Floats = NDArray[np.float64]


def learnt_binnings(here: OutputTable, there: OutputTable) -> list[Binning]:
    """Return all codings that fit these outputs. Both sides have the same number of outputs."""
    places = {path: _place(path, here, there) for path in {**here.columns, **there.columns}}
    numeric = [path for path, each in places.items() if each.learnt.found.any()]
    texts = [path for path, each in places.items() if (each.learnt.kinds == OTHER).any()]
    labelled = [each for path in texts if (each := _column_labels(path, here, there))]
    basic = [*(bins(each.reading, each.learnt) for each in places.values()), *labelled]
    codings = [*basic]
    codings += [each for path in numeric for each in _fine(places[path].reading, here, there)]
    codings += _together([(path, places[path].reading) for path in numeric], here, there)
    codings += _scored(basic, here, there)
    if len(numeric) == 2 and not texts:
        codings.append(_pair(*(_coarse(places[path]) for path in numeric)))
    return codings


@dataclass(frozen=True, slots=True)
class _Place:
    """A place in the outputs, with the numbers found there."""

    reading: Feature
    learnt: Numbers


def _place(path: Path, here: OutputTable, there: OutputTable) -> _Place:
    is_whole = are_whole(here.column(path)) and are_whole(there.column(path))
    reading = numbers_at(path, is_whole=is_whole)
    return _Place(reading, _joined(reading, here, there))


def _fine(reading: Feature, here: OutputTable, there: OutputTable) -> Iterator[Binning]:
    """Yield codings of the last bits, where floating-point noise leaves traces."""
    a, b = reading.read(here), reading.read(there)
    values = np.concatenate([a.values, b.values])
    if values.dtype.kind == "i":
        yield last_bits(reading)
        return
    yield reachable(reading, a, b)
    if (values != np.floor(values)).any():
        yield last_bits(reading)
        yield grain(reading)


def _column_labels(path: Path, here: OutputTable, there: OutputTable) -> Binning | None:
    learnt = [*here.column(path), *there.column(path)]
    return _if_shared(labels(name_of(path), lambda sheet: sheet.column(path), learnt), len(learnt))


def _together(
    numeric: Sequence[tuple[Path, Feature]], here: OutputTable, there: OutputTable
) -> Iterator[Binning]:
    """Yield codings of several places at once, and of whole outputs."""
    paths, columns = [path for path, _ in numeric], [reading for _, reading in numeric]
    readings = vector_features(paths)
    if direction := direction_feature(paths, here, there):
        readings.append(direction)
    for reading in readings:
        yield bins(reading, _joined(reading, here, there))
    if any((c.read(s).kinds != NUMBER).any() for c in columns for s in (here, there)):
        yield patterns(columns, here)
    if here.wholes is not None and there.wholes is not None:
        learnt = [*here.wholes, *there.wholes]
        whole = labels("an output", lambda s: [] if s.wholes is None else s.wholes, learnt)
        if coding := _if_shared(whole, len(learnt)):
            yield coding if here.wholes.dtype.kind == "U" else _untold(coding)


def _scored(basic: Sequence[Binning], here: OutputTable, there: OutputTable) -> Iterator[Binning]:
    """Add up the privacy losses of all places. Optimal if the places are independent."""
    if len(basic) < 2:
        return
    odds = [_log_odds(coding.counts(here), coding.counts(there)) for coding in basic]

    def score(sheet: OutputTable) -> Numbers:
        total = np.zeros(sheet.size)
        for coding, each in zip(basic, odds, strict=True):
            total += each[coding.code(sheet)]
        return Numbers(np.round(total, 6), np.zeros(sheet.size, np.uint8))

    reading = Feature("the privacy loss of all places together", score)
    yield bins(reading, _joined(reading, here, there))


def _untold(coding: Binning) -> Binning:
    """Return the coding with a short description, for outputs that are long to write."""
    return replace(coding, told=lambda cases: f"one of {len(cases)} outputs", is_plain=False)


def _coarse(place: _Place) -> Binning:
    return bins(place.reading, place.learnt, atoms=PAIRED, count=PAIRED)


def _pair(first: Binning, second: Binning) -> Binning:
    return Binning(
        f"{first.name} with {second.name}",
        first.size * second.size,
        lambda sheet: first.code(sheet) * second.size + second.code(sheet),
        lambda cases: f"one of {len(cases)} pairs of {first.name} and {second.name}",
    )


def _log_odds(here: NDArray[np.int64], there: NDArray[np.int64]) -> Floats:
    return np.asarray(np.log((here + 1) / (there + 1)), np.float64)


def _joined(reading: Feature, here: OutputTable, there: OutputTable) -> Numbers:
    a, b = reading.read(here), reading.read(there)
    return Numbers(np.concatenate([a.values, b.values]), np.concatenate([a.kinds, b.kinds]))


def _if_shared(coding: Binning, seen: int) -> Binning | None:
    return coding if coding.size * SHARED_LEAST <= seen else None


JUDGED = 4
"""The number of events counted in the last part. They share the error probability equally."""


PLAIN = 0.99
"""The weight of an event that is hard to describe, compared with a simple one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The claim to be refuted, and the error probability."""

    epsilon: float
    delta: float
    miss: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputEvent:
    """A set of cases that is likelier on one side than on the other."""

    coding: Binning
    cases: Codes
    is_here: bool
    """Whether the event is likelier here than there."""

    def count(self, outputs: OutputTable) -> Count:
        """Count how often the event happened."""
        is_inside = np.zeros(self.coding.size, np.bool_)
        is_inside[self.cases] = True
        return Count(hits=int(is_inside[self.coding.code(outputs)].sum()), runs=outputs.size)

    @property
    def sentence(self) -> str:
        return self.coding.told(np.sort(self.cases))


@dataclass(frozen=True, slots=True)
class RunParts:
    """The runs on one input: to learn from, to choose events, and to test them."""

    learn: OutputTable
    choose: OutputTable
    judge: OutputTable


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """Cases in the order in which they are added to an event."""

    coding: Binning
    cases: Codes
    is_here: bool
    worth: float


@dataclass(frozen=True, slots=True)
class _Candidate:
    event: OutputEvent
    epsilon: float
    delta: float
    worth: float
    """A weight that prefers events that are easier to describe, if all else is nearly equal."""


def parts(here: Outputs, there: Outputs) -> tuple[RunParts, RunParts]:
    """Divide the runs of both sides into a quarter, a quarter and a half.

    The places that outputs have are also learnt from the first part.
    """
    sides = alike(here, there)
    learnt = [output_table(each[: len(each) // 4]) for each in sides]
    places = {**learnt[0].columns, **learnt[1].columns}.keys()
    first, second = (
        RunParts(
            learn,
            output_table(each[len(each) // 4 : len(each) // 2], places),
            output_table(each[len(each) // 2 :], places),
        )
        for learn, each in zip(learnt, sides, strict=True)
    )
    return first, second


def telling_events(here: RunParts, there: RunParts, claim: Claim) -> list[OutputEvent]:
    """Return up to JUDGED events that look worst for the claim, without using the last part."""
    found = [
        _best(list(_candidates(coding, here, there, claim)))
        for coding in learnt_binnings(here.learn, there.learn)
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


def _candidates(
    coding: Binning, here: RunParts, there: RunParts, claim: Claim
) -> Iterator[_Candidate]:
    learnt = coding.counts(here.learn), coding.counts(there.learn)
    chosen = coding.counts(here.choose), coding.counts(there.choose)
    for order in _orders(coding, *learnt):
        yield from _prefixes(order, chosen if order.is_here else chosen[::-1], claim)


def _orders(coding: Binning, here: Codes, there: Codes) -> Iterator[_Order]:
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
        event = OutputEvent(
            coding=order.coding, cases=order.cases[: best + 1], is_here=order.is_here
        )
        yield _Candidate(event, float(epsilons[best]), float(deltas[best]), order.worth)
