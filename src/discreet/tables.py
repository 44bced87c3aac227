"""Tables before and after noise. They share no type: an exact value cannot stand in an answer."""

from typing import NoReturn

import pyarrow as pa

from discreet.catalog.schema import Kind
from discreet.errors import SealedError

ARROW_TYPES: dict[Kind, pa.DataType] = {
    Kind.BOOLEAN: pa.bool_(),
    Kind.INTEGER: pa.int64(),
    Kind.REAL: pa.float64(),
    Kind.TEXT: pa.string(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
    Kind.TIMESTAMP_TZ: pa.timestamp("us", tz="UTC"),
}
"""What a noisy or public column of each kind is, whatever the engine's own type was."""


WITH_GAPS = {b"discreet": b"NULL stands for what could not be computed"}
"""Metadata of a table that was computed from released ones where some values could not be."""


class ExactTable:
    """Rows as the engine returned them. Sealed: no repr, no pickle; `release.py` opens it."""

    __slots__ = ("_rows",)

    def __init__(self, rows: pa.Table) -> None:
        self._rows = rows

    def __repr__(self) -> str:
        return "ExactTable(sealed)"

    def __reduce__(self) -> NoReturn:
        raise SealedError("an exact table")

    def unseal(self) -> pa.Table:
        """Return the exact rows; `release.py` alone may call it."""
        return self._rows


class NoisyTable:
    """Rows that anyone may see: what a release gave."""

    __slots__ = ("rows",)

    def __init__(self, rows: pa.Table) -> None:
        self.rows = rows

    def __repr__(self) -> str:
        return f"NoisyTable({self.rows.num_rows} rows of {', '.join(self.rows.column_names)})"


def bytes_from_noisy(table: NoisyTable) -> bytes:
    """Return a released table as bytes that a ledger can keep."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.rows.schema) as writer:
        writer.write_table(table.rows)
    return sink.getvalue().to_pybytes()


def noisy_from_bytes(kept: bytes) -> NoisyTable:
    """Return the released table that was kept."""
    with pa.ipc.open_stream(kept) as reader:
        return NoisyTable(reader.read_all())
