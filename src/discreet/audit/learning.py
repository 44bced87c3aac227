"""Choice of the codings to try, from runs that are not used for testing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.audit.codings import Coding, bins, grain, labels, last_bits, patterns, reachable
from discreet.audit.readings import (
    NUMBER,
    OTHER,
    Numbers,
    Reading,
    are_whole,
    direction_reading,
    name_of,
    numbers_at,
    vector_readings,
)
from discreet.audit.sheets import Path, Sheet

SHARED_LEAST = 4
"""Labels are tried if each occurs at least this often on average."""

PAIRED = 24
"""The approximate number of bins for each number of a pair."""

Floats = NDArray[np.float64]


def learnt_codings(here: Sheet, there: Sheet) -> list[Coding]:
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

    reading: Reading
    learnt: Numbers


def _place(path: Path, here: Sheet, there: Sheet) -> _Place:
    is_whole = are_whole(here.column(path)) and are_whole(there.column(path))
    reading = numbers_at(path, is_whole=is_whole)
    return _Place(reading, _joined(reading, here, there))


def _fine(reading: Reading, here: Sheet, there: Sheet) -> Iterator[Coding]:
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


def _column_labels(path: Path, here: Sheet, there: Sheet) -> Coding | None:
    learnt = [*here.column(path), *there.column(path)]
    return _if_shared(labels(name_of(path), lambda sheet: sheet.column(path), learnt), len(learnt))


def _together(
    numeric: Sequence[tuple[Path, Reading]], here: Sheet, there: Sheet
) -> Iterator[Coding]:
    """Yield codings of several places at once, and of whole outputs."""
    paths, columns = [path for path, _ in numeric], [reading for _, reading in numeric]
    readings = vector_readings(paths)
    if direction := direction_reading(paths, here, there):
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


def _scored(basic: Sequence[Coding], here: Sheet, there: Sheet) -> Iterator[Coding]:
    """Add up the privacy losses of all places. Optimal if the places are independent."""
    if len(basic) < 2:
        return
    odds = [_log_odds(coding.counts(here), coding.counts(there)) for coding in basic]

    def score(sheet: Sheet) -> Numbers:
        total = np.zeros(sheet.size)
        for coding, each in zip(basic, odds, strict=True):
            total += each[coding.code(sheet)]
        return Numbers(np.round(total, 6), np.zeros(sheet.size, np.uint8))

    reading = Reading("the privacy loss of all places together", score)
    yield bins(reading, _joined(reading, here, there))


def _untold(coding: Coding) -> Coding:
    """Return the coding with a short description, for outputs that are long to write."""
    return replace(coding, told=lambda cases: f"one of {len(cases)} outputs", is_plain=False)


def _coarse(place: _Place) -> Coding:
    return bins(place.reading, place.learnt, atoms=PAIRED, count=PAIRED)


def _pair(first: Coding, second: Coding) -> Coding:
    return Coding(
        f"{first.name} with {second.name}",
        first.size * second.size,
        lambda sheet: first.code(sheet) * second.size + second.code(sheet),
        lambda cases: f"one of {len(cases)} pairs of {first.name} and {second.name}",
    )


def _log_odds(here: NDArray[np.int64], there: NDArray[np.int64]) -> Floats:
    return np.asarray(np.log((here + 1) / (there + 1)), np.float64)


def _joined(reading: Reading, here: Sheet, there: Sheet) -> Numbers:
    a, b = reading.read(here), reading.read(there)
    return Numbers(np.concatenate([a.values, b.values]), np.concatenate([a.kinds, b.kinds]))


def _if_shared(coding: Coding, seen: int) -> Coding | None:
    return coding if coding.size * SHARED_LEAST <= seen else None
