"""What forms of tables look like in Spark: layers of Parquet files, kept rows apart from others.

Units are told apart by slots: the last bits of a hash. Where rows of some units are written again
into a later layer, those of all units of their slots are. From which layer on rows of a slot count
is a list of the same length for any table, so that no unit passes through the driver.
"""

# ruff: noqa: S608 - names are quoted and values are numbers

import json
import shutil
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from discreet.engines.spark.bits import is_set
from discreet.engines.spark.dialect import SPARK
from discreet.engines.writer import UNIT, column_name, write_rows
from discreet.query.tree import Scan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SINCE = ".since"
"""Ends the name of the list of layers from which on the kept rows of slots count."""

COUNTS = ".counts"
"""Ends the name of the files that say how many kept rows of each unit the first layers have."""

SLOTS = 2**21
"""Of so many units more than one in three shares its slot with another one."""

Layers = np.ndarray[tuple[int], np.dtype[np.int8]]
"""The first layer that counts, of each slot."""

Words = np.ndarray[tuple[int], np.dtype[np.int64]]


def rows_of(scan: Scan) -> str:
    """Return all rows as u, c0, c1, ...; names of columns may be what no file has."""
    columns = [SPARK.quoted(column_name(each.name)) for each in scan.table.columns]
    listed = [f"{UNIT} AS u", *(f"{each} AS c{number}" for number, each in enumerate(columns))]
    return f'SELECT {", ".join(listed)} FROM ({write_rows(scan, SPARK)}) AS "__rows"'


def ranked(columns: Sequence[str]) -> str:
    """Return the place of a row in the order of its unit.

    The unit is part of the hash: units with like rows would else all lose the same ones.
    """
    order = SPARK.ordered([SPARK.hash_of(["'discreet'", "u", *columns]), *columns])
    return f"row_number() OVER (PARTITION BY u ORDER BY {order})"


def read_form(session: "SparkSession", folder: Path, told: Mapping[str, Any]) -> "DataFrame":
    """Return all rows that were written; those that are kept lie apart, to be read alone."""
    return read_as(session, folder, [*json.loads(told["schema"])["fields"], _field("layer")])


def read_counts(session: "SparkSession", folder: Path, told: Mapping[str, Any]) -> "DataFrame":
    """Return how many kept rows units have in the first layers."""
    place = folder.with_suffix(COUNTS)
    return read_as(session, place, [*json.loads(told["schema"])["fields"][:1], _field("n", "long")])


def read_as(session: "SparkSession", folder: Path, fields: Sequence[Any]) -> "DataFrame":
    """Return the rows of files whose types are known, so that Spark need not look for them."""
    schema = type(session.range(0).schema).fromJson({"type": "struct", "fields": list(fields)})
    return session.read.schema(schema).parquet(address(folder))


def _field(name: str, kind: str = "integer") -> dict[str, Any]:
    return {"name": name, "type": kind, "nullable": True, "metadata": {}}


def kept_rows(
    session: "SparkSession", folder: Path, told: Mapping[str, Any], only: str = "true"
) -> "DataFrame":
    """Return the rows that are kept now: of some units only those of later layers."""
    kept = read_form(session, folder, told).where("kept").where(only)
    since = layers_that_count(folder)
    return kept.where(f"layer >= {first_layer(session, since)}") if since.any() else kept


def layers_that_count(folder: Path) -> Layers:
    """Return from which layer on the kept rows of each slot count."""
    file = folder.with_suffix(SINCE)
    if not file.is_file():
        if layers_in(folder) > 1:
            raise OSError("a form of several layers has no list of slots")
        return np.zeros(SLOTS, np.int8)
    since = np.frombuffer(file.read_bytes(), np.int8)
    if len(since) != SLOTS:
        raise OSError("a list of slots is not whole")
    return since


def write_since(folder: Path, since: Layers) -> None:
    """Write from which layer on the kept rows of each slot count, for the owner alone."""
    file = folder.with_suffix(SINCE)
    file.unlink(missing_ok=True)  # the form before has the same file
    file.touch(mode=0o600)
    file.write_bytes(since.tobytes())


def first_layer(session: "SparkSession", since: Layers) -> str:
    """Return the first layer that counts of the unit `u`, as an expression."""
    slot, words = f"(xxhash64(u) & {SLOTS - 1})", shown(session, since.view(np.int64))
    word = f"{words}[CAST(shiftright({slot}, 3) AS INT)]"
    return f"CAST(shiftright({word}, CAST(({slot} & 7) * 8 AS INT)) & 127L AS INT)"


def is_among(session: "SparkSession", words: Words) -> str:
    """Return the condition that the slot of the unit `u` is one of those whose bits are set."""
    return is_set(shown(session, words), "xxhash64(u)", SLOTS)


def shown(session: "SparkSession", words: Words) -> str:
    """Return an array of integers as an expression; its name says what it holds."""
    name = f"__words_{sha256(words.tobytes()).hexdigest()[:16]}"
    table = pa.table({"words": pa.array([words], pa.list_(pa.int64()))})
    session.createDataFrame(table).createOrReplaceTempView(name)
    return f"(SELECT words FROM {name})"


def layers_in(folder: Path) -> int:
    """Return how many layers were written."""
    return sum(1 for _ in folder.glob("layer=*"))


def number_in(frame: "DataFrame") -> int:
    """Return the one number of a frame."""
    ((number,),) = frame.collect()
    return int(number)


def address(folder: Path) -> str:
    """Return a folder as Spark names it."""
    return f"file://{folder.absolute()}"


def remove(*places: Path) -> None:
    """Remove files or folders, if they are there."""
    for each in places:
        each.unlink() if each.is_file() else shutil.rmtree(each, ignore_errors=True)
