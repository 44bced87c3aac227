"""Mechanisms as JSON can hold them: a tag and the parameters, exactly; for files and collections.

Tags are written out where the mechanisms are, and never change their meaning.
"""

import json
from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from fractions import Fraction
from typing import Any

from discreet.errors import ReportError
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
from discreet.local.rappor.mechanism import Rappor
from discreet.local.sketches.count_mean import CountMeanSketch
from discreet.local.sketches.hadamard import HadamardSketch

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
        BitFlips,
    )
}


def mechanism_to_json(mechanism: Mechanism) -> str:
    """Return a mechanism's tag and parameters as one line of JSON."""
    if mechanism.tag not in KINDS:
        raise ReportError(f"{mechanism!r} has no written form")
    terms = {each.name: getattr(mechanism, each.name) for each in fields(mechanism) if each.init}
    written = {name: _written(value) for name, value in terms.items()}
    return json.dumps({"mechanism": mechanism.tag} | written)


def mechanism_from_json(text: str) -> Mechanism:
    """Return the mechanism that was written, or refuse what is none."""
    try:
        told = json.loads(text)
        kind = KINDS[told.pop("mechanism")]
        found: Mechanism = kind(**{name: _read(value) for name, value in told.items()})
    except (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError) as cause:
        raise ReportError("this is no description of a mechanism") from cause
    return found


def _written(value: object) -> object:
    if isinstance(value, Fraction):
        return {"exact": f"{value.numerator}/{value.denominator}"}
    if isinstance(value, tuple):
        return [_written(each) for each in value]
    return value.value if isinstance(value, Enum) else value


def _read(value: object) -> object:
    if isinstance(value, dict):
        return Fraction(value["exact"])
    return tuple(map(_read, value)) if isinstance(value, list) else value
