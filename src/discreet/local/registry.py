"""Mechanisms by tag and as JSON, and which frequency oracle to choose.

A tag and the exact parameters describe a mechanism in files and collections. Tags are written where
the mechanisms are, and never change their meaning.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from fractions import Fraction
from math import ceil
from typing import Any

from discreet.errors import ParameterError, ReportError, readable, shown
from discreet.local.bit_flips import BitFlips
from discreet.local.client import Memoized, each_once, reporting
from discreet.local.estimates import standard_error
from discreet.local.hashing import LocalHashing
from discreet.local.heavy_hitters import HeavyHitters
from discreet.local.mechanism import FrequencyOracle, Mechanism, checked_categories, checked_epsilon
from discreet.local.numeric import Duchi, Hybrid, Piecewise
from discreet.local.rappor import Discovery, Rappor
from discreet.local.response import HadamardResponse, KaryResponse
from discreet.local.sketches import CountMeanSketch, HadamardSketch
from discreet.local.square_wave import SquareWave
from discreet.local.subset import SubsetSelection
from discreet.local.unary import UnaryEncoding
from discreet.parameters import Real, integer

KINDS: Mapping[str, Any] = {
    kind.tag: kind
    for kind in (
        KaryResponse,
        UnaryEncoding,
        SubsetSelection,
        LocalHashing,
        HadamardResponse,
        Duchi,
        Piecewise,
        Hybrid,
        SquareWave,
        CountMeanSketch,
        HadamardSketch,
        HeavyHitters,
        Rappor,
        Discovery,
        BitFlips,
    )
}

EXACT = re.compile(r"-?[0-9]{1,999}/[0-9]{1,999}", re.ASCII)

BROKEN = (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError, RecursionError)
"""Errors of reading a text that does not describe a mechanism."""

PEOPLE_MOST = 10**18
"""Floats hold the squares of such numbers."""

SLACK = 1.05
"""An error up to this many times the least is accepted for shorter reports."""


# --------------------------------------------------------------------------- JSON


def mechanism_to_json(mechanism: Mechanism | Memoized[Mechanism]) -> str:
    """Return a mechanism's tag and parameters as one line of JSON; `Memoized` is left out."""
    mechanism = reporting(mechanism)
    if getattr(mechanism, "tag", None) not in KINDS or isinstance(mechanism, type):
        raise ReportError(f"{shown(mechanism)} cannot be written as JSON")
    return json.dumps(_record(mechanism))


def _record(mechanism: Mechanism) -> dict[str, object]:
    terms = {each.name: getattr(mechanism, each.name) for each in fields(mechanism) if each.init}
    written = {name: _written(value) for name, value in terms.items()}
    return {"mechanism": mechanism.tag} | written


def mechanism_from_json(text: str) -> Mechanism:
    """Return the mechanism that a JSON text describes, or reject the text."""
    try:
        return _mechanism(json.loads(text, object_pairs_hook=each_once))
    except BROKEN as cause:
        raise ReportError("this text does not describe a mechanism") from cause


def _mechanism(record: dict[str, object]) -> Mechanism:
    kind = KINDS[str(record.pop("mechanism"))]
    found: Mechanism = kind(**{name: _read(value) for name, value in record.items()})
    return found


def _written(value: object) -> object:
    if isinstance(value, Fraction):
        return {"exact": f"{value.numerator}/{value.denominator}"}
    if isinstance(value, Rappor):
        return _record(value)
    if isinstance(value, tuple):
        return [_written(each) for each in value]
    return value.value if isinstance(value, Enum) else value


def _read(value: object) -> object:
    if isinstance(value, dict):
        return _mechanism(value) if "mechanism" in value else _fraction(value["exact"])
    return tuple(map(_read, value)) if isinstance(value, list) else value


def _fraction(text: str) -> Fraction:
    """Read p/q in digits. Exponents are rejected: a short text could stand for gigabytes."""
    if not EXACT.fullmatch(text):
        raise ValueError
    return Fraction(text)


# --------------------------------------------------------------------------- which one to choose


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleCandidate:
    """A frequency oracle, its root mean square error over all values, and the bits of a report."""

    mechanism: FrequencyOracle
    error: float
    """Of an estimated count."""
    bits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OracleChoice:
    """The chosen mechanism, the reason, and all candidates, sorted by error."""

    mechanism: FrequencyOracle
    why: str
    candidates: tuple[OracleCandidate, ...]

    def __str__(self) -> str:
        return f"{self.mechanism!r}: {self.why}"


def choose(
    epsilon: Real, categories: int, people: int, *, most_bits: int | None = None
) -> OracleChoice:
    """Return the oracle with the shortest reports among those within 5% of the least error.

    The error is exact and the same for all data: the mean variance of the estimated counts,
    (p (1 - p) + (k - 1) q (1 - q)) n / (k (p - q)²). `most_bits` limits the length of a report.
    """
    n = integer("people", people, least=1, most=PEOPLE_MOST)
    candidates = _candidates(epsilon, categories, n)
    allowed = [each for each in candidates if most_bits is None or each.bits <= most_bits]
    if not allowed:
        least = min(each.bits for each in candidates)
        raise ParameterError("most_bits", most_bits, f"must be {least} or more")
    near = [each for each in allowed if each.error <= SLACK * allowed[0].error]
    taken = min(near, key=lambda each: each.bits)
    return OracleChoice(
        mechanism=taken.mechanism,
        why=_why(taken, allowed[0], n),
        candidates=candidates,
    )


def _candidates(epsilon: Real, categories: int, people: int) -> tuple[OracleCandidate, ...]:
    exact, k = checked_epsilon(epsilon), checked_categories(categories)
    mechanisms: tuple[FrequencyOracle, ...] = (
        *_responses(exact, k),
        UnaryEncoding.symmetric(epsilon=exact, categories=k),
        UnaryEncoding.optimized(epsilon=exact, categories=k),
        SubsetSelection(epsilon=exact, categories=k),
        LocalHashing(epsilon=exact, categories=k),
        HadamardResponse(epsilon=exact, categories=k),
    )
    found = (
        OracleCandidate(mechanism=each, error=standard_error(each, people), bits=each.bits)
        for each in mechanisms
    )
    return tuple(sorted(found, key=lambda each: (each.error, each.bits)))


def _responses(epsilon: Fraction, categories: int) -> tuple[FrequencyOracle, ...]:
    """Return k-ary response, unless epsilon is too small for 64-bit probabilities."""
    try:
        return (KaryResponse(epsilon=epsilon, categories=categories),)
    except ParameterError:
        return ()


def _why(taken: OracleCandidate, best: OracleCandidate, people: int) -> str:
    epsilon = readable(taken.mechanism.epsilon)
    error = f"{100 * taken.error / people:.2g}% of {people:,} people"
    begin = f"at epsilon = {epsilon} its standard error is {error}"
    if taken is best:
        return f"{begin}, the smallest of all, with reports of {_bits(taken.bits)}."
    more = ceil(1000 * (taken.error / best.error - 1)) / 10
    name = type(best.mechanism).__name__
    return (
        f"{begin}, at most {more:g}% above that of {name}, "
        f"and its reports take {_bits(taken.bits)} instead of {best.bits}."
    )


def _bits(bits: int) -> str:
    return "1 bit" if bits == 1 else f"{bits} bits"
