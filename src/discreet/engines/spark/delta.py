"""Delta tables: their log says which Parquet files count. The log is read here, the files by Spark.

What a table may use that its files alone do not show is rejected by its name, before a row is read:
deleted rows kept in files, columns stored under other names, columns whose type has changed.
"""

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from discreet.engines.base import log
from discreet.engines.spark.files import GLOBS, folder_values
from discreet.errors import SourceError
from discreet.extras import delta_module

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

DELETED = "deletionVectors"

HARMLESS = {DELETED, "columnMapping", "timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"}
"""Features of readers that change nothing here, if no file has deleted rows and no column another
name, both of which are looked up."""

WHAT_IT_MEANS = {
    "columnMapping": "column mapping",
    DELETED: "deletion vectors",
    "typeWidening": "type widening",
    "variantType": "variant columns",
}

IN_FOLDERS = ("string", "byte", "short", "integer", "long", "date", "boolean")
"""Types of columns that names of folders may hold: each value is written in one way."""

NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeltaSnapshot:
    """A version of a Delta table: its files, and what the columns are."""

    files: tuple[str, ...]
    schema: str
    """As Spark writes types, in JSON."""
    in_folders: tuple[str, ...]
    state: str
    """What changes with every version, or when another table is in its place."""


def read_snapshot(name: str, place: str) -> DeltaSnapshot:
    """Return the latest version of a table, or reject one that its files alone do not show."""
    delta = delta_module()
    if unquote(place) != place:  # delta-rs would read the log of the folder a b, not of a%20b
        raise SourceError(
            f"The path of the Delta table {name} has a % in it, so its log cannot be told from "
            "that of another folder",
            "Rename the folder",
        )
    errors = (delta.exceptions.DeltaError, OSError, ValueError, NotImplementedError)
    try:
        table = delta.DeltaTable(_address(place))
        return _snapshot(name, place.rstrip("/"), table)
    except errors as cause:
        log.warning("the Delta table %s could not be read", name, exc_info=cause)
    raise SourceError(
        f"The log of the Delta table {name} could not be read",
        "The log discreet.engine has the cause",
    )


def read_state(name: str, place: str) -> str:
    """Return the state of a table as it is now."""
    return read_snapshot(name, place).state


def _snapshot(name: str, place: str, table: Any) -> DeltaSnapshot:
    _refuse_features(name, table)
    metadata, actions = table.metadata(), table.get_add_actions()
    schema = table.schema().to_json()
    in_folders = tuple(metadata.partition_columns)
    _refuse_types_in_folders(name, json.loads(schema), in_folders)
    paths = _column(actions, "path")
    values = _column(actions, "partition") if in_folders else [{}] * len(paths)
    files = [_file(name, place, path, found) for path, found in zip(paths, values, strict=True)]
    sizes = _column(actions, "size_bytes")
    told = [str(metadata.id), table.version(), schema, sorted(zip(files, sizes, strict=True))]
    return DeltaSnapshot(
        files=tuple(files),
        schema=schema,
        in_folders=in_folders,
        state=f"delta:{sha256(json.dumps(told).encode()).hexdigest()}",
    )


def spark_schema(own: "SparkSession", snapshot: DeltaSnapshot) -> "StructType":
    """Return the columns of a table as Spark has types."""
    return type(own.range(0).schema).fromJson(json.loads(snapshot.schema))


def _address(place: str) -> str:
    return f"/{place.removeprefix('file:').lstrip('/')}" if place.startswith("file:") else place


def _column(actions: Any, name: str) -> list[Any]:
    found: list[Any] = actions.column(name).to_pylist()
    return found


def _refuse_features(name: str, table: Any) -> None:
    protocol, configuration = table.protocol(), table.metadata().configuration
    features = set(protocol.reader_features or ())
    unknown = sorted(features - HARMLESS)
    mode = configuration.get("delta.columnMapping.mode") or "none"
    if mode != "none":
        unknown.append("columnMapping")
    if DELETED in features and any(each.num_rows for each in table.deletion_vectors()):
        unknown.append(DELETED)
    if unknown:
        plain = WHAT_IT_MEANS.get(unknown[0].removesuffix("-preview"), unknown[0])
        raise SourceError(
            f"The Delta table {name} uses {plain}, which cannot be read from its files alone",
            "Write it without, for example with REORG TABLE ... APPLY (PURGE), or name it as a "
            "table of Spark's catalog, on a cluster that has Delta",
        )


def _refuse_types_in_folders(name: str, schema: Any, in_folders: tuple[str, ...]) -> None:
    types = {each["name"]: each["type"] for each in schema["fields"]}
    for each in in_folders:
        if types[each] not in IN_FOLDERS:
            raise SourceError(
                f"The Delta table {name} is partitioned by {each!r}, whose type is {types[each]}",
                "Partition it by texts, integers, dates or booleans",
            )


def _file(name: str, place: str, path: str, values: dict[str, Any]) -> str:
    """Return where a file is, if names of folders say of it what the log says."""
    found = unquote(path)
    is_inside = "://" not in found and not found.startswith("/") and not GLOBS & set(found)
    told = {column: _written(value) for column, value in values.items()}
    if not is_inside or folder_values(found) != told:
        raise SourceError(
            f"The Delta table {name} has a file whose folders are not named after the values of "
            "its partition",
            "Write the table anew, or name it as a table of Spark's catalog, on a cluster that has "
            "Delta",
        )
    return f"{place}/{found}"


def _written(value: object) -> str:
    if value is None:
        return NO_VALUE
    return str(value).lower() if isinstance(value, bool) else str(value)
