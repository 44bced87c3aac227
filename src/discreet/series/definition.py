"""What a ledger stores of a series: its definition, and the released numbers of its ticks.

The definition is saved as the answer of the charge, so that whoever opens the ledger can read the
series, whatever the catalog says by then. It is written for good: fields are added, none changes.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from hashlib import sha256
from typing import Any

import numpy as np

from discreet.catalog.clocks import Clock
from discreet.catalog.schema import Kind, Value
from discreet.errors import LedgerError
from discreet.noise.uniform import IntArray
from discreet.query.plan.ticks import SeriesPlan
from discreet.series.mechanism_records import mechanism_from_record, record_from_mechanism
from discreet.streams import StreamMechanism

FORMAT = 1

UNREADABLE = (
    "The ledger has a series that this version cannot read",
    "Install the version that wrote it",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureDefinition:
    """A column of a series."""

    column: str
    unit: Fraction
    """What one step of a released number is worth."""
    is_integer: bool
    mechanism: StreamMechanism


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesDefinition:
    """All that is needed to read a series and to release its further ticks in the same way."""

    name: str
    question: str
    clock: Clock
    first: datetime
    ticks: int
    epsilon: Fraction
    delta: Fraction
    identity: str
    keys: tuple[str, ...]
    kinds: tuple[Kind, ...]
    """Of the keys."""
    groups: tuple[tuple[Value, ...], ...]
    measures: tuple[MeasureDefinition, ...]
    notes: tuple[str, ...]
    """What is left out and limited, in sentences."""

    def start(self, tick: int) -> datetime:
        """Return when a tick begins; the first one is tick 1."""
        return self.clock.after(self.first, tick - 1)


def definition_of(plan: SeriesPlan, notes: Sequence[str]) -> SeriesDefinition:
    """Return what is stored of a series that is planned."""
    policy = plan.policy
    return SeriesDefinition(
        name=policy.name,
        question=policy.question,
        clock=policy.clock,
        first=policy.first,
        ticks=policy.ticks,
        epsilon=plan.epsilon,
        delta=plan.delta,
        identity=plan.identity,
        keys=plan.keys,
        kinds=tuple(each.expression.facts.kind for each in plan.aggregation.keys),
        groups=plan.groups,
        measures=tuple(
            MeasureDefinition(
                column=each.column,
                unit=each.unit,
                is_integer=each.is_integer,
                mechanism=each.mechanism,
            )
            for each in plan.measures
        ),
        notes=tuple(notes),
    )


def charge_name(name: str) -> str:
    """Return what the charge of a series is called in the ledger, whatever its definition."""
    return PREFIX + sha256(name.casefold().encode()).hexdigest()


PREFIX = "series/"


# --------------------------------------------------------------------------- as bytes


def bytes_from_definition(series: SeriesDefinition) -> bytes:
    """Return a definition as a ledger stores it."""
    record = {
        "format": FORMAT,
        "name": series.name,
        "question": series.question,
        "clock": series.clock.value,
        "first": series.first.isoformat(),
        "ticks": series.ticks,
        "epsilon": str(series.epsilon),
        "delta": str(series.delta),
        "identity": series.identity,
        "keys": list(series.keys),
        "kinds": [each.value for each in series.kinds],
        "groups": [[_stored(value) for value in group] for group in series.groups],
        "measures": [
            {
                "column": each.column,
                "unit": str(each.unit),
                "is_integer": each.is_integer,
                "mechanism": record_from_mechanism(each.mechanism),
            }
            for each in series.measures
        ],
        "notes": list(series.notes),
    }
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()


def definition_from_bytes(stored: bytes) -> SeriesDefinition:
    """Return the definition that was stored, or raise LedgerError."""
    try:
        return _definition(json.loads(stored))
    except (KeyError, TypeError, ValueError) as cause:
        raise LedgerError(*UNREADABLE) from cause


def _definition(record: Mapping[str, Any]) -> SeriesDefinition:
    if record["format"] != FORMAT:
        raise LedgerError(*UNREADABLE)
    kinds = tuple(map(Kind, record["kinds"]))
    return SeriesDefinition(
        name=record["name"],
        question=record["question"],
        clock=Clock(record["clock"]),
        first=datetime.fromisoformat(record["first"]),
        ticks=record["ticks"],
        epsilon=Fraction(record["epsilon"]),
        delta=Fraction(record["delta"]),
        identity=record["identity"],
        keys=tuple(record["keys"]),
        kinds=kinds,
        groups=tuple(
            tuple(_restored(value, kind) for value, kind in zip(group, kinds, strict=True))
            for group in record["groups"]
        ),
        measures=tuple(
            MeasureDefinition(
                column=each["column"],
                unit=Fraction(each["unit"]),
                is_integer=each["is_integer"],
                mechanism=mechanism_from_record(each["mechanism"]),
            )
            for each in record["measures"]
        ),
        notes=tuple(record["notes"]),
    )


def _stored(value: Value) -> object:
    match value:
        case None | bool() | str() | int():
            return value
        case float():
            return value.hex()
        case _ if hasattr(value, "isoformat"):
            return value.isoformat()
        case _:
            return str(value)


def _restored(stored: Any, kind: Kind) -> Value:
    if stored is None:
        return None
    match kind:
        case Kind.REAL:
            return float.fromhex(stored) if "x" in str(stored) else float(Fraction(stored))
        case Kind.DATE:
            return datetime.fromisoformat(stored).date()
        case Kind.TIMESTAMP | Kind.TIMESTAMP_TZ:
            return datetime.fromisoformat(stored)
        case _:
            value: Value = stored
            return value


# --------------------------------------------------------------------------- ticks


def bytes_from_ticks(last: int, records: Sequence[IntArray]) -> bytes:
    """Return the released numbers of some ticks as a ledger stores them: whole numbers in JSON."""
    record = {"last": last, "numbers": [np.asarray(each).tolist() for each in records]}
    return json.dumps(record, separators=(",", ":")).encode()


def ticks_from_bytes(stored: bytes) -> tuple[int, list[list[list[int]]]]:
    """Return up to which tick stored numbers go, and the numbers of each measure."""
    record = json.loads(stored)
    return record["last"], record["numbers"]
