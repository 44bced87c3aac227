"""Codings: ways to sort outputs into few cases, learnt from outputs that are not used for testing.

An event is a set of cases of one coding. A coding is fixed by the runs it was learnt from, and then
assigns a case to every output. So its events are fixed before the runs they are counted in.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.features import KIND_NAMES, NUMBER, Array, Feature, Numbers, OutputTable

Codes = NDArray[np.int64]


ATOMS_MOST = 1024
"""Up to this many different numbers, each number is a case."""


BINS = 128
"""The number of bins for more numbers than that, of equal share except in the tails."""


TAILS = 8
"""The number of further bins in each tail, each with half the share of the one before."""


RANGES_TOLD = 3
"""The most ranges in the description of an event."""


KINDS = len(KIND_NAMES) - 1


@dataclass(frozen=True, slots=True)
class Binning:
    """A case for every output, and descriptions of sets of cases."""

    name: str
    size: int
    code: Callable[[OutputTable], Codes]
    told: Callable[[Codes], str]
    in_order: int = 0
    """The number of cases, from the first, that are numbers in ascending order."""
    is_plain: bool = False
    """Whether the description of a case is easy to understand."""

    def counts(self, sheet: OutputTable) -> Codes:
        """Return the number of outputs in each case."""
        return np.bincount(self.code(sheet), minlength=self.size)


def bins(
    reading: Feature, learnt: Numbers, *, atoms: int = ATOMS_MOST, count: int = BINS
) -> Binning:
    """Sort by size: one case per number if there are few, else bins. Then the non-numbers."""
    values = np.unique(learnt.values[learnt.found])
    edges = values if len(values) <= atoms else _edges(learnt.values[learnt.found], count)

    def code(sheet: OutputTable) -> Codes:
        return _with_kinds(_place(edges, (read := reading.read(sheet)).values), len(edges), read)

    def told(cases: Codes) -> str:
        ranges = [_range(edges, first, last) for first, last in _runs(cases, len(edges))]
        kinds = [KIND_NAMES[case - len(edges)] for case in cases if case > len(edges)]
        return f"{reading.name} {_either([*ranges, *(f'that is {kind}' for kind in kinds)])}"

    return Binning(
        reading.name, len(edges) + 1 + KINDS, code, told, in_order=len(edges), is_plain=True
    )


def last_bits(reading: Feature, bits: int = 3) -> Binning:
    """Sort by the last bits. Reals also by sign and magnitude, on which their last bits depend."""

    def code(sheet: OutputTable) -> Codes:
        read = reading.read(sheet)
        values = read.values
        if values.dtype.kind == "i":
            return _with_kinds(values & ((1 << bits) - 1), _BITS_CASES, read)
        last = values.view(np.int64) & ((1 << bits) - 1)
        return _with_kinds((_magnitude(values) << bits) | last, _BITS_CASES, read)

    return Binning(
        f"the last bits of {reading.name}",
        _BITS_CASES + 1 + KINDS,
        code,
        lambda cases: f"{reading.name} with one of {len(cases)} patterns of its last {bits} bits",
    )


def grain(reading: Feature) -> Binning:
    """Sort reals by magnitude and by the lowest bit that is set, the fineness of their grid."""

    def code(sheet: OutputTable) -> Codes:
        read = reading.read(sheet)
        fine = np.clip(_lowest_bit(read.values), -GRAIN_LOW, GRAIN_HIGH) + GRAIN_LOW
        return _with_kinds(_magnitude(read.values) * _GRAINS + fine, _GRAIN_CASES, read)

    def told(cases: Codes) -> str:
        fine = cases[cases < _GRAIN_CASES] % _GRAINS - GRAIN_LOW
        if not len(fine):
            return f"{reading.name} that is not a number"
        return f"{reading.name} whose lowest bit is between 2**{fine.min()} and 2**{fine.max()}"

    return Binning(f"the grain of {reading.name}", _GRAIN_CASES + 1 + KINDS, code, told)


def reachable(reading: Feature, here: Numbers, there: Numbers) -> Binning:
    """Sort by whether exactly this number occurred before, on either side."""
    seen = np.unique(here.values[here.found]), np.unique(there.values[there.found])
    names = ("seen on neither side", "seen only here", "seen only there", "seen on both sides")

    def code(sheet: OutputTable) -> Codes:
        read = reading.read(sheet)
        case = _is_in(seen[0], read.values) + 2 * _is_in(seen[1], read.values)
        return _with_kinds(case, len(names), read)

    return Binning(
        f"whether {reading.name} was seen before",
        len(names) + 1 + KINDS,
        code,
        lambda cases: f"{reading.name} {_either([names[c] for c in cases if c < 4])} before",
    )


def labels(
    name: str, read: Callable[[OutputTable], Sequence[Any] | Array], learnt: Sequence[object]
) -> Binning:
    """Sort by the text of an output. Texts that did not occur before are one more case."""
    known = {each: code for code, each in enumerate(dict.fromkeys(map(_hashable, learnt)))}
    names = list(known)

    def code(sheet: OutputTable) -> Codes:
        return np.array([known.get(_hashable(each), len(known)) for each in read(sheet)], np.int64)

    def told(cases: Codes) -> str:
        words = [str(names[c]) if c < len(names) else "one never seen before" for c in cases]
        return f"{name} that is {_either(words)}"

    return Binning(name, len(known) + 1, code, told, is_plain=True)


def patterns(columns: Sequence[Feature], learnt: OutputTable) -> Binning:
    """Sort by which places hold numbers."""

    def read(sheet: OutputTable) -> Sequence[Any]:
        return [bytes(row) for row in np.stack([c.read(sheet).kinds for c in columns], axis=1)]

    coding = labels("the places that hold numbers", read, read(learnt))
    return Binning(
        coding.name,
        coding.size,
        coding.code,
        lambda cases: (
            f"one of {len(cases)} patterns of which of {len(columns)} places hold numbers"
        ),
    )


GRAIN_LOW, GRAIN_HIGH = 1100, 64


_GRAINS = GRAIN_LOW + GRAIN_HIGH + 1


_MAGNITUDES = 34


_GRAIN_CASES = _MAGNITUDES * _GRAINS


_BITS_CASES = _MAGNITUDES << 3


def _magnitude(values: NDArray[np.float64]) -> Codes:
    exponents = np.clip(np.frexp(values)[1].astype(np.int64), -8, 8) + 8
    return 2 * exponents + np.signbit(values)


def _lowest_bit(values: NDArray[np.float64]) -> Codes:
    """Return k where 2**k is the largest power of two that divides each number; 0 divides all."""
    mantissa, exponents = np.frexp(values)
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    lowest = np.bitwise_count((whole & -whole) - 1).astype(np.int64)
    return np.where(whole == 0, GRAIN_HIGH, exponents.astype(np.int64) - 53 + lowest)


def _with_kinds(cases: Codes, size: int, read: Numbers) -> Codes:
    """Return the case of each number. Each kind of non-number has a case after these."""
    return np.where(read.kinds == NUMBER, cases, size + read.kinds.astype(np.int64))


def _edges(values: Array, count: int) -> Array:
    ends = 0.5 ** np.arange(1, TAILS + 1) / count
    shares = np.concatenate([ends[::-1], np.arange(1, count) / count, 1 - ends])
    return np.unique(np.quantile(values, shares, method="lower"))


def _place(edges: Array, values: Array) -> Codes:
    """Return the index of the last edge at or below each value, or 0 if all are above it."""
    return np.maximum(np.searchsorted(edges, values, side="right") - 1, 0)


def _is_in(known: Array, values: Array) -> Codes:
    if not len(known):
        return np.zeros(len(values), np.int64)
    near = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.asarray(known[near] == values, np.int64)


def _runs(cases: Codes, size: int) -> list[tuple[int, int]]:
    """Return the runs of consecutive cases in a set."""
    inside = np.sort(cases[cases < size])
    if not len(inside):
        return []
    breaks = np.flatnonzero(np.diff(inside) > 1)
    firsts, lasts = np.append(0, breaks + 1), np.append(breaks, len(inside) - 1)
    return [(int(inside[a]), int(inside[b])) for a, b in zip(firsts, lasts, strict=True)]


def _range(edges: Array, first: int, last: int) -> str:
    if first == 0 and last == len(edges) - 1:
        return "that is any number"
    if last == len(edges) - 1:
        return f"of at least {_short(edges[first])}"
    if first == 0:
        return f"below {_short(edges[last + 1])}"
    if first == last and edges.dtype.kind == "i" and edges[last + 1] == edges[first] + 1:
        return f"of {_short(edges[first])}"
    return f"from {_short(edges[first])} to below {_short(edges[last + 1])}"


def _short(number: Any) -> str:
    return str(int(number)) if np.asarray(number).dtype.kind == "i" else f"{float(number):.6g}"


def _either(words: Sequence[str]) -> str:
    if len(words) > RANGES_TOLD:
        more = len(words) - RANGES_TOLD + 1
        words = [*words[: RANGES_TOLD - 1], f"{more} others like these"]
    return " or ".join(words)


def _hashable(value: Any) -> Any:
    """Return the text of a value. True is written as 1, as in a column of numbers."""
    match value:
        case np.void():
            return value.tobytes()
        case np.generic():
            return _hashable(value.item())
        case str() | bytes():
            return value
        case bool():
            return repr(int(value))
        case _:
            return repr(value)
