"""Mechanisms as JSON can hold them: a tag and the parameters, exactly; for files and collections.

Tags are written out where the mechanisms are, and never change their meaning.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from fractions import Fraction
from typing import Any

from discreet.errors import ReportError, shown
from discreet.local.base import Mechanism
from discreet.local.heavy import HeavyHitters
from discreet.local.longitudinal.bit_flips import BitFlips
from discreet.local.numeric.duchi import Duchi
from discreet.local.numeric.hybrid import Hybrid
from discreet.local.numeric.piecewise import Piecewise
from discreet.local.numeric.square_wave import SquareWave
from discreet.local.oracles.hadamard import HadamardResponse
from discreet.local.oracles.hashing import LocalHashing
from discreet.local.oracles.kary import KaryResponse
from discreet.local.oracles.subset import SubsetSelection
from discreet.local.oracles.unary import UnaryEncoding
from discreet.local.rappor.discovery import Discovery
from discreet.local.rappor.mechanism import Rappor
from discreet.local.sketches.count_mean import CountMeanSketch
from discreet.local.sketches.hadamard import HadamardSketch
from discreet.local.states import each_once

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
"""What reading a text raises that is no description."""


def mechanism_to_json(mechanism: Mechanism) -> str:
    """Return a mechanism's tag and parameters as one line of JSON."""
    if getattr(mechanism, "tag", None) not in KINDS or isinstance(mechanism, type):
        raise ReportError(f"{shown(mechanism)} has no written form")
    return json.dumps(_record(mechanism))


def _record(mechanism: Mechanism) -> dict[str, object]:
    terms = {each.name: getattr(mechanism, each.name) for each in fields(mechanism) if each.init}
    written = {name: _written(value) for name, value in terms.items()}
    return {"mechanism": mechanism.tag} | written


def mechanism_from_json(text: str) -> Mechanism:
    """Return the mechanism that was written, or refuse what is none."""
    try:
        return _mechanism(json.loads(text, object_pairs_hook=each_once))
    except BROKEN as cause:
        raise ReportError("this is no description of a mechanism") from cause


def _mechanism(told: dict[str, object]) -> Mechanism:
    kind = KINDS[str(told.pop("mechanism"))]
    found: Mechanism = kind(**{name: _read(value) for name, value in told.items()})
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
    """Return p/q written out; a short text with an exponent could stand for gigabytes."""
    if not EXACT.fullmatch(text):
        raise ValueError
    return Fraction(text)
