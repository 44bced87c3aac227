"""Digests of the contents of files and of tables in memory.

A digest lets whoever has a guess of the data check it: it is never stored where others than the
data's owner can read it, and the ledger knows it under a key only.
"""

from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from discreet.engines.duckdb.loading import (
    DUCKDB,
    DataSource,
    DuckDbTable,
    Frame,
    files_of,
    frame_table,
)
from discreet.errors import SourceError

SLICE = 2**17
"""Rows of a column that are looked at together: how a table is cut into chunks must not matter."""


PLAIN = (
    (pa.types.is_boolean, pa.uint8()),
    (pa.types.is_string_view, pa.large_string()),
    (pa.types.is_binary_view, pa.large_binary()),
)
"""Types whose values can be stored in several ways, and what they are looked at as."""

LISTS = (
    pa.ListArray,
    pa.LargeListArray,
    pa.FixedSizeListArray,
    pa.ListViewArray,
    pa.LargeListViewArray,
)
"""Arrays of lists: how long they are, and what they hold one after another."""


def in_memory(name: str, source: DataSource) -> DataSource:
    """Return a data frame as a table of Arrow, which is read as often as needed; files as is."""
    return source if isinstance(source, str | Path | DuckDbTable) else frame_table(name, source)


def files_in(source: DataSource) -> tuple[Path, ...]:
    """Return the files that a source is read from; none for a table in memory.

    What a DuckDB file holds may be in the log beside it.
    """
    if isinstance(source, DuckDbTable):
        return source.file, Path(f"{source.file}.wal")
    if not isinstance(source, str | Path):
        return ()
    files = files_of(source)
    if str(source).casefold().endswith(DUCKDB):
        return *files, *(Path(f"{each}.wal") for each in files)
    return files


def content_of(source: DataSource) -> str:
    """Return what is the same only for the same contents: bytes of files, values of tables."""
    if isinstance(source, str | Path | DuckDbTable):
        table = source.table if isinstance(source, DuckDbTable) else ""
        told = [table, *(_file(each) for each in files_in(source))]
        return sha256("\n".join(told).encode()).hexdigest()
    return _table(source)


def _file(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            return file_digest(opened, "sha256").hexdigest()
    except FileNotFoundError:
        return "none"
    except OSError as cause:
        raise SourceError(
            f"{file} could not be read", "Check that you may read the file"
        ) from cause


def _table(source: Frame) -> str:
    """Return the digest of names, types and values; what lies below a NULL is none of them."""
    table: pa.Table = pa.table(source)
    told = sha256(str(table.schema.remove_metadata()).encode())
    for column in table.columns:
        told.update(f"|{len(column)}|".encode())
        for start in range(0, len(column), SLICE):
            _add(told, column.slice(start, SLICE).combine_chunks())
    return told.hexdigest()


def _add(told: Any, values: Any) -> None:
    """Add values to a digest: which are there, and then these alone.

    Nested values are added part by part: Arrow writes what a dictionary inside of them holds apart
    from them, and leaves whatever lies below their NULLs.
    """
    if isinstance(values, pa.ChunkedArray):  # of no chunk, or of more text than one can hold
        for each in values.chunks:
            _add(told, each)
        return
    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    if pa.types.is_dictionary(values.type):
        _add(told, _decoded(values))
        return
    told.update(values.is_valid().to_numpy(zero_copy_only=False).tobytes())
    try:
        parts = _parts(values.drop_null())
    except pa.ArrowNotImplementedError:  # of a kind that Arrow can hardly do anything with
        parts = None
    if parts is None:
        told.update(repr(values.to_pylist()).encode())
        return
    for part in parts:
        if isinstance(part, bytes):
            told.update(part)
        else:
            _add(told, part)


def _decoded(values: Any) -> Any:
    """Return values without the dictionary that they are coded by."""
    for is_of_kind, stored in PLAIN:
        if is_of_kind(values.type.value_type):  # Arrow cannot take single ones of these
            return values.dictionary.cast(stored).take(values.indices)
    return values.dictionary_decode()


def _parts(values: Any) -> list[Any] | None:
    """Return what values that are all there consist of: bytes, or other values; None if unknown."""
    kind = values.type
    if pa.types.is_struct(kind):
        return list(values.flatten())
    if pa.types.is_map(kind):
        pairs = pa.struct([("key", kind.key_type), ("value", kind.item_type)])
        return [values.cast(pa.list_(pairs))]
    if isinstance(values, LISTS):
        return [pc.list_value_length(values), values.flatten()]
    if pa.types.is_nested(kind):
        return None
    for is_of_kind, stored in PLAIN:
        if is_of_kind(kind):
            return [values.cast(stored)]
    return [pa.record_batch([values], names=["values"]).serialize().to_pybytes()]
