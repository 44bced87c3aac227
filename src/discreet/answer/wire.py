"""An answer as bytes, and back: what a server sends, and what it saves under a permanent address.

The bytes are an Arrow IPC stream with the asked columns, their margins of error and the ends of
intervals. Everything else is JSON in the metadata of its schema. Reading them runs no code.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.amounts import Balance, Price
from discreet.answer.answer import Answer, MarginsAt, Note
from discreet.answer.columns import MarginMethod, Role
from discreet.parameters import fraction_from

FORMAT = 1
"""The form of these bytes. They are saved, so that old forms stay readable."""

ABOUT = b"discreet"
"""The key of the metadata."""

UNREADABLE = "These bytes are not an answer"

VALUE, MARGIN, LOW, HIGH = "value", "margin", "low", "high"


def packed(answer: Answer) -> bytes:
    """Return an answer as bytes. Everything but margins at other confidences is in them."""
    names: list[str] = []
    arrays: list[Any] = []
    intervals = answer.column_intervals or [None] * len(answer.columns)
    for i, (widths, ends) in enumerate(zip(answer.column_margins, intervals, strict=True)):
        names.append(f"{VALUE} {i}")
        arrays.append(answer.table.column(i))
        if widths is not None:
            names.append(f"{MARGIN} {i}")
            arrays.append(pa.array(np.asarray(widths, np.float64)))
        if ends is not None:
            names += [f"{LOW} {i}", f"{HIGH} {i}"]
            arrays += ends
    about = json.dumps(_about(answer), ensure_ascii=False, allow_nan=False)
    table = pa.table(arrays, names=names).replace_schema_metadata({ABOUT: about.encode()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return sink.getvalue().to_pybytes()


def unpacked(data: bytes, margins_at: MarginsAt) -> Answer:
    """Return the answer that `packed` wrote; `margins_at` finds margins at other confidences.

    Anything else is a ValueError.
    """
    try:
        with pa.ipc.open_stream(data) as stream:
            table = stream.read_all()
        table.validate(full=True)
        return _answer(table, json.loads((table.schema.metadata or {})[ABOUT]), margins_at)
    except (
        *(pa.ArrowException, OSError, RecursionError),
        *(LookupError, TypeError, AttributeError, ArithmeticError),
    ) as error:
        raise ValueError(UNREADABLE) from error


def _about(answer: Answer) -> dict[str, object]:
    return {
        "format": FORMAT,
        "question": answer.question,
        "names": answer.columns,
        "roles": [each.value for each in answer.roles],
        "confidence": str(answer.confidence),
        "price": [str(answer.price.epsilon), str(answer.price.delta)],
        "remaining": {name: str(getattr(answer.remaining, name)) for name in AMOUNTS},
        "from_ledger": answer.from_ledger,
        "notes": [[each, isinstance(each, Note) and each.is_printed] for each in answer.notes],
        "limits": [dict(each) for each in answer.limits],
        "scales": [None if each is None else str(each) for each in answer.scales],
        "methods": [None if each is None else each.value for each in answer.methods],
    }


AMOUNTS = ("epsilon", "total_epsilon", "delta", "total_delta", "rho", "total_rho")
"""The amounts of a balance."""


def _answer(table: pa.Table, about: Mapping[str, Any], margins_at: MarginsAt) -> Answer:
    if about["format"] != FORMAT:
        raise ValueError(UNREADABLE)
    names: Sequence[str] = about["names"]
    count = range(len(names))
    held = set(table.column_names)
    epsilon, delta = about["price"]
    return Answer(
        question=about["question"],
        table=pa.table([table.column(f"{VALUE} {i}") for i in count], names=list(names)),
        roles=tuple(map(Role, about["roles"])),
        column_margins=tuple(
            table.column(f"{MARGIN} {i}").to_numpy() if f"{MARGIN} {i}" in held else None
            for i in count
        ),
        column_margins_at=margins_at,
        confidence=fraction_from(about["confidence"]),
        price=Price(epsilon=fraction_from(epsilon), delta=fraction_from(delta)),
        remaining=Balance(**{each: fraction_from(about["remaining"][each]) for each in AMOUNTS}),
        from_ledger=bool(about["from_ledger"]),
        notes=tuple(Note(text, is_printed=bool(shown)) for text, shown in about["notes"]),
        limits=tuple(dict(each) for each in about["limits"]),
        scales=tuple(None if each is None else fraction_from(each) for each in about["scales"]),
        methods=tuple(None if each is None else MarginMethod(each) for each in about["methods"]),
        column_intervals=tuple(
            (table.column(f"{LOW} {i}"), table.column(f"{HIGH} {i}"))
            if f"{LOW} {i}" in held
            else None
            for i in count
        ),
    )
