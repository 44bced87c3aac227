"""Tables before and after noise. They share no type: an exact value cannot stand in an answer."""

from collections.abc import Iterator
from typing import NoReturn

import pyarrow as pa

from discreet.errors import SealedError


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


def bytes_from_noisy(tables: tuple[NoisyTable, ...]) -> bytes:
    """Return released tables as bytes that a ledger can keep."""
    return b"".join(map(_framed, tables))


def noisy_from_bytes(kept: bytes) -> tuple[NoisyTable, ...]:
    """Return the released tables that were kept."""
    return tuple(_unframed(kept))


LENGTH = 8
"""Bytes of the length that stands before each table."""


def _framed(table: NoisyTable) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.rows.schema) as writer:
        writer.write_table(table.rows)
    body = sink.getvalue().to_pybytes()
    return len(body).to_bytes(LENGTH, "big") + body


def _unframed(kept: bytes) -> Iterator[NoisyTable]:
    place = 0
    while place < len(kept):
        length = int.from_bytes(kept[place : place + LENGTH], "big")
        place += LENGTH
        with pa.ipc.open_stream(kept[place : place + length]) as reader:
            yield NoisyTable(reader.read_all())
        place += length
