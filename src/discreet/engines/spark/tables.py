"""Tables of Spark: files, catalog tables, views, data frames and local tables, read by views.

A view folds columns into few types; NaN, infinities, broken texts and times outside the years 1 to
9999 become NULL. Rows are read where they are, at every query; public tables are read once.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa

from discreet.catalog.schema import Column, Kind
from discreet.engines.base import log
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.duckdb.csv_files import repeated
from discreet.engines.duckdb.file_lists import files_of
from discreet.engines.duckdb.loading import CSV, DUCKDB, DataSource, Kinds
from discreet.engines.spark.arrow_types import with_spark_types
from discreet.engines.spark.conditions import CALENDAR, canonical_real
from discreet.engines.spark.delta import read_snapshot, read_state, spark_schema
from discreet.engines.spark.dialect import ROW_ID, SPARK
from discreet.engines.spark.files import (
    Listed,
    can_name_rows,
    different_types,
    folder_columns,
    guessed_by_server,
    input_files,
    is_delta,
    is_path,
    listed,
    refuse_hidden,
    refuse_listed_twice,
    refuse_table_formats,
    state_of,
    stored_types,
)
from discreet.engines.spark.sessions import failures, is_remote, silent
from discreet.engines.spark_sources import is_frame
from discreet.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SIMPLE = {
    "boolean": Kind.BOOLEAN,
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), Kind.INTEGER),
    **dict.fromkeys(("float", "double"), Kind.REAL),
    "date": Kind.DATE,
    "timestamp_ntz": Kind.TIMESTAMP,
    "timestamp": Kind.TIMESTAMP_TZ,
}
"""Types of Spark by kind; those with parameters are matched apart, the rest is OTHER."""

STORED: Mapping[Kind, str] = {
    Kind.REAL: canonical_real(SPARK.finite("CAST({0} AS DOUBLE)")),
    Kind.TEXT: "CASE WHEN is_valid_utf8({0}) THEN CAST({0} AS STRING) END",
    **{kind: f"CASE WHEN {condition} THEN {{0}} END" for kind, condition in CALENDAR.items()},
}
"""How a column is read: one type for each kind, finite reals without -0.0, whole texts, years 1 to
9999."""

FILE_ROW = "concat(_metadata.file_path, '#', CAST(_metadata.row_index AS STRING))"
"""Names a row of a Parquet file, whoever reads it, as often as it is read."""

GLOBAL = "global_temp"

SMALL = 10 * 2**20
"""Bytes of a public table that is sent to all machines for a join, as Spark's own limit."""


def _unknown() -> None:
    """Tell nothing of a source whose changes nobody can see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A table that queries can be asked about."""

    columns: tuple[Column, ...]
    has_row_ids: bool
    state: str | None
    """What changes when the files do; None for what has no files."""
    handed_over: str | None
    """The view by which another session's frame was handed over, to be dropped in the end."""
    now: Callable[[], str | None] = _unknown
    """The state as it is now."""


def register(  # noqa: PLR0913 - each is a thing that differs from table to table
    given: "SparkSession",
    own: "SparkSession",
    name: str,
    source: "DataSource | DataFrame",
    *,
    kinds: Kinds | None,
    is_public: bool,
) -> Registered:
    """Make a view of our own session of a source, or raise SourceError."""
    try:
        with silent():
            return _registered(given, own, name, source, kinds, is_public=is_public)
    except failures() as cause:
        log.exception("Spark could not read %s", name, exc_info=cause)
        raise SourceError(
            f"Spark could not read the table {name}", "The log discreet.engine has the cause"
        ) from None


def _registered(  # noqa: PLR0913
    given: "SparkSession",
    own: "SparkSession",
    name: str,
    source: "DataSource | DataFrame",
    kinds: Kinds | None,
    *,
    is_public: bool,
) -> Registered:
    if _is_local(source):
        read = _local(own, name, source, kinds)
    elif is_path(source):
        read = _in_files(own, name, str(source))
    else:
        read = _in_session(given, own, name, source)
    frame, columns = read.frame, read.columns
    folded = frame.selectExpr(
        *(
            f"{_stored(each.kind, kind)} AS {SPARK.quoted(each.name)}".replace(
                "{0}", SPARK.quoted(each.name)
            )
            for each, (_, kind) in zip(columns, frame.dtypes, strict=False)
        ),
        *([ROW_ID] if ROW_ID in frame.columns else []),
    )
    size = read.size
    if is_public and ROW_ID not in frame.columns:
        table = _numbered(folded.toArrow())
        folded, size = own.createDataFrame(table), table.nbytes
    if is_public and size is not None and size <= SMALL:
        folded = folded.hint("broadcast")
    folded.createOrReplaceTempView(SPARK.quoted(name))
    return Registered(
        columns=columns,
        has_row_ids=ROW_ID in folded.columns,
        state=read.state,
        handed_over=read.handed_over,
        now=read.now,
    )


def state_now(table: Registered) -> str | None:
    """Return the state of a table's source as it is now: `table.state` if nothing has changed.

    Files are listed anew, and of a Delta table the log is read. None if it cannot be known. What
    was handed over stays as it was.
    """
    try:
        with silent():
            return table.now()
    except SourceError as error:
        log.warning("the state of a table could not be read: %s", error)
    except failures() as cause:
        log.warning("the state of a table could not be read", exc_info=cause)
    return None


# --------------------------------------------------------------------------- what is read


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A source as a frame of our own session, with row ids last if there are any."""

    frame: "DataFrame"
    columns: tuple[Column, ...]
    state: str | None = None
    size: int | None = None
    """Bytes of the files, if they are known."""
    handed_over: str | None = None
    now: Callable[[], str | None] = _unknown


def _in_files(own: "SparkSession", name: str, place: str) -> Read:
    """Read Parquet files, or a Delta table, by their path."""
    if is_delta(own, place):
        return _in_delta(own, name, place)
    files = listed(own, [place])
    if not files:
        raise SourceError(f"The table {name} has no files", "Check the path")
    refuse_table_formats(own, name, files)
    stored, found = stored_types(own, name, [place]), own.read.parquet(place)
    _refuse_names(name, found.columns)
    from_folders = folder_columns(place, files)
    refuse_hidden(name, list(stored), from_folders)
    if any(stored.get(each, kind) != kind for each, kind in found.dtypes):
        raise different_types(name)
    if set(input_files(found)) != {each.path for each in files}:
        raise SourceError(f"The files of the table {name} changed while they were opened")
    frame = _with_file_rows(own, name, found, files)
    guessed = {each for each, kind in found.dtypes if kind != "string" and each not in stored}
    return Read(
        frame=frame,
        columns=_columns(frame, guessed),
        state=state_of(files),
        size=sum(each.size for each in files),
        now=lambda: state_of(listed(own, [place])),
    )


def _in_delta(own: "SparkSession", name: str, place: str) -> Read:
    """Read the files of the latest version of a Delta table, with the types that its log tells."""
    snapshot = read_snapshot(name, place)
    schema = spark_schema(own, snapshot)
    if not snapshot.files:
        frame = own.createDataFrame([], schema).selectExpr("*", f"CAST(NULL AS STRING) AS {ROW_ID}")
    else:
        stored = stored_types(own, name, snapshot.files)
        reading = own.read.schema(schema).option("basePath", place)
        found = reading.parquet(*snapshot.files)
        _refuse_names(name, found.columns)
        inside = {each.casefold() for each in snapshot.in_folders}
        told = {each.casefold(): kind for each, kind in found.dtypes}
        if any(
            told.get(each.casefold(), kind) != kind
            for each, kind in stored.items()
            if each.casefold() not in inside
        ):
            raise different_types(name)
        frame = _with_file_rows(own, name, found, listed(own, snapshot.files))
    return Read(
        frame=frame,
        columns=_columns(frame, set()),
        state=snapshot.state,
        now=lambda: read_state(name, place),
    )


def _in_session(
    given: "SparkSession", own: "SparkSession", name: str, source: "DataSource | DataFrame"
) -> Read:
    """Read a frame, or a table of the session's catalog, through a view for all sessions."""
    found = source if is_frame(source) else given.table(str(source))
    guessed = guessed_by_server(found) if is_remote(found) else _guessed(name, found)
    view = f"discreet_{uuid4().hex}"
    _with_row_ids(name, found).createGlobalTempView(view)
    frame = own.table(f"{GLOBAL}.{view}")
    state, now = (None, _unknown) if is_remote(found) else _state(own, frame)
    return Read(
        frame=frame,
        columns=_columns(frame, guessed),
        state=state,
        now=now,
        handed_over=view,
    )


def _columns(frame: "DataFrame", guessed: Collection[str]) -> tuple[Column, ...]:
    """Return the columns; those that were guessed, by their names, tell no units apart."""
    folded = {each.casefold() for each in guessed}
    return tuple(
        _marked(_column(each, kind), folded) for each, kind in frame.dtypes if each != ROW_ID
    )


def _state(own: "SparkSession", frame: "DataFrame") -> tuple[str | None, Callable[[], str | None]]:
    """Return which files are read, how long they are and when they were written, if any are.

    Only of rows of files as they are: what else a frame does to them, a filter say, its files do
    not tell.
    """
    plan: Any = frame._jdf.queryExecution().analyzed()  # noqa: SLF001 - only Java knows the files
    while not _is_parquet(plan) and plan.children().size() == 1:
        plan = plan.children().head()
    if ROW_ID not in frame.columns or not _is_parquet(plan):
        return None, _unknown
    location = plan.relation().location()
    files, roots = location.allFiles(), location.rootPaths()
    each = [files.apply(number) for number in range(files.size())]
    state = state_of(
        [
            Listed(
                path=file.getPath().toString(),
                size=file.getLen(),
                written=file.getModificationTime(),
            )
            for file in each
        ]
    )
    places = [roots.apply(number).toString() for number in range(roots.size())]

    def now() -> str | None:
        # A frame may leave files out by options of its own, which listing its folders does not see.
        return state_of(listed(own, places))

    return state, now


def _guessed(name: str, frame: "DataFrame") -> frozenset[str]:
    """Return the columns, by their names in lower case, whose values are read off names of folders.

    Of the folders who=7 and who=07 Spark makes one value, 7, so that they tell no units apart. A
    column of the files that such a name hides is rejected: all rows of a folder would be one unit.
    """
    leaves: Any = frame._jdf.queryExecution().analyzed().collectLeaves()  # noqa: SLF001
    guessed: set[str] = set()
    for number in range(leaves.size()):
        if not _is_listed(leaves.apply(number)):
            continue
        relation = leaves.apply(number).relation()
        fields = relation.partitionSchema().fields()
        refuse_hidden(
            name,
            list(relation.dataSchema().fieldNames()),
            frozenset(each.name().casefold() for each in fields),
        )
        guessed |= {each.name() for each in fields if each.dataType().typeName() != "string"}
    return frozenset(guessed)


def _marked(column: Column, guessed: Collection[str]) -> Column:
    return replace(column, is_rounded=True) if column.name.casefold() in guessed else column


def _is_local(source: object) -> bool:
    """Return whether it is read on this machine and handed to Spark: a table in memory, a file."""
    if is_frame(source):
        return False
    is_named = isinstance(source, str | Path)
    return not is_named or str(source).casefold().endswith((*CSV, *DUCKDB))


def _local(own: "SparkSession", name: str, source: DataSource, kinds: Kinds | None) -> Read:
    """Read a table of this machine, with its columns as they were and row ids, and hand it over."""
    with closing(DuckDbEngine.load({name: source}, kinds={name: kinds or {}})) as local:
        columns, table = local.columns(name), local.table(name)
    _refuse_names(name, table.column_names)
    state: str | None = None
    if isinstance(source, str | Path):
        files = [(each.resolve(), each.stat()) for each in files_of(source)]
        state = "|".join(sorted(f"{at}:{each.st_size}:{each.st_mtime_ns}" for at, each in files))
    frame = own.createDataFrame(_numbered(with_spark_types(name, table)))
    return Read(frame=frame, columns=columns, state=state, size=table.nbytes, now=lambda: state)


def _numbered(table: pa.Table) -> pa.Table:
    return table.append_column(ROW_ID, pa.array(range(table.num_rows), pa.int64()))


def _with_row_ids(name: str, frame: "DataFrame") -> "DataFrame":
    """Return the frame, with a column that names each row if it is read from Parquet files as is.

    What Spark numbers itself changes when a part is computed again, or by what else is read. After
    a join or a union several rows would have the same name. Of a frame of Spark Connect only the
    server knows what it reads.
    """
    _refuse_names(name, frame.columns)
    names = map(str.casefold, frame.columns)
    if is_remote(frame) or not _is_file(frame) or "_metadata" in names:
        return frame
    files = _plan_of(frame).relation().location().allFiles()
    paths = [files.apply(number).getPath().toString() for number in range(files.size())]
    refuse_listed_twice(name, paths)
    return frame.selectExpr("*", f"{FILE_ROW} AS {ROW_ID}")


def _with_file_rows(
    own: "SparkSession", name: str, frame: "DataFrame", files: Sequence[Listed]
) -> "DataFrame":
    """Return a frame of these files with a column that names each row, unless it has another."""
    refuse_listed_twice(name, [each.path for each in files])
    if "_metadata" in map(str.casefold, frame.columns) or not can_name_rows(own, files):
        return frame
    return frame.selectExpr("*", f"{FILE_ROW} AS {ROW_ID}")


def _is_file(frame: "DataFrame") -> bool:
    return _is_parquet(_plan_of(frame))


def _plan_of(frame: "DataFrame") -> Any:
    """Return the first node of a frame's plan that is no other name."""
    plan: Any = frame._jdf.queryExecution().analyzed()  # noqa: SLF001 - only Java knows the plan
    while plan.getClass().getSimpleName() == "SubqueryAlias":
        plan = plan.child()
    return plan


def _is_parquet(plan: Any) -> bool:
    """Return whether a node of a plan reads listed Parquet files."""
    if not _is_listed(plan):
        return False
    file_format = plan.relation().fileFormat().getClass().getSimpleName()
    return bool(file_format == "ParquetFileFormat")


def _is_listed(plan: Any) -> bool:
    """Return whether a node of a plan reads files that Spark found by listing folders."""
    if plan.getClass().getSimpleName() != "LogicalRelation":
        return False
    relation = plan.relation()
    if relation.getClass().getSimpleName() != "HadoopFsRelation":
        return False
    return bool(relation.location().getClass().getSimpleName() == "InMemoryFileIndex")


def _column(name: str, type_name: str) -> Column:
    decimal = re.fullmatch(r"decimal\((\d+),(\d+)\)", type_name)
    if decimal and int(decimal[2]) == 0:
        return Column(name=name, kind=Kind.INTEGER)
    if decimal:
        step, is_rounded = Fraction(1, 10 ** int(decimal[2])), int(decimal[1]) > 15
        return Column(name=name, kind=Kind.REAL, step=step, is_rounded=is_rounded)
    if re.match(r"(string|varchar|char)\b", type_name):
        # By its own collation texts that differ may be one: such a column tells no units apart.
        return Column(name=name, kind=Kind.TEXT, is_rounded="collate" in type_name)
    return Column(name=name, kind=SIMPLE.get(type_name, Kind.OTHER))


def _stored(kind: Kind, type_name: str) -> str:
    if kind is not Kind.INTEGER:
        return STORED.get(kind, "{0}")
    return "CAST({0} AS DECIMAL(38, 0))" if "decimal" in type_name else "CAST({0} AS BIGINT)"


def _refuse_names(name: str, names: list[str]) -> None:
    twice = repeated(tuple(names))
    if twice is not None:
        raise SourceError(
            f"The table {name} has two columns called {twice!r}", "Give each a different name"
        )
    if ROW_ID in map(str.casefold, names):
        raise SourceError(f"The table {name} has a column called {ROW_ID!r}", "Rename the column")
