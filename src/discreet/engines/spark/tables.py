"""Tables of Spark: files, catalog tables, views, data frames and local tables, read by views.

A view folds columns into few types; NaN, infinities, broken texts and times outside the years 1 to
9999 become NULL. Rows are read where they are, at every query; public tables are read once.
"""

import re
from collections.abc import Mapping
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
from discreet.engines.duckdb.loading import CSV, DUCKDB, PARQUET, DataSource, Kinds
from discreet.engines.spark.conditions import CALENDAR, canonical_real
from discreet.engines.spark.dialect import ROW_ID, SPARK
from discreet.engines.spark.sessions import failures, silent
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A table that queries can be asked about."""

    columns: tuple[Column, ...]
    has_row_ids: bool
    state: str | None
    """What changes when the files do; None for what has no files."""
    handed_over: str | None
    """The view by which another session's frame was handed over, to be dropped in the end."""


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
        columns, frame, handed_over = *_local(own, name, source, kinds), None
    else:
        found = _sought(given, own, source)
        guessed = _guessed(name, found)
        if _is_path(source):
            _refuse_other_types(own, name, str(source), found)
        frame, handed_over = _found(own, name, found, is_own=_is_path(source))
        columns = tuple(
            _marked(_column(each, kind), guessed) for each, kind in frame.dtypes if each != ROW_ID
        )
    folded = frame.selectExpr(
        *(
            f"{_stored(each.kind, kind)} AS {SPARK.quoted(each.name)}".replace(
                "{0}", SPARK.quoted(each.name)
            )
            for each, (_, kind) in zip(columns, frame.dtypes, strict=False)
        ),
        *([ROW_ID] if ROW_ID in frame.columns else []),
    )
    if is_public and ROW_ID not in frame.columns:
        folded = own.createDataFrame(_numbered(folded.toArrow()))
    folded.createOrReplaceTempView(SPARK.quoted(name))
    return Registered(
        columns=columns,
        has_row_ids=ROW_ID in folded.columns,
        state=_state(frame, source),
        handed_over=handed_over,
    )


def _state(frame: "DataFrame", source: object) -> str | None:
    """Return which files are read, how long they are and when they were written, if any are.

    Only of rows of files as they are: what else a frame does to them, a filter say, its files do
    not tell.
    """
    plan: Any = frame._jdf.queryExecution().analyzed()  # noqa: SLF001 - only Java knows the files
    while not _is_parquet(plan) and plan.children().size() == 1:
        plan = plan.children().head()
    if ROW_ID in frame.columns and _is_parquet(plan):
        files = plan.relation().location().allFiles()
        listed = [files.apply(number) for number in range(files.size())]
        found = [(each.getPath(), each.getLen(), each.getModificationTime()) for each in listed]
    elif isinstance(source, str | Path) and str(source).casefold().endswith((*CSV, *DUCKDB)):
        states = [(each.resolve(), each.stat()) for each in files_of(source)]
        found = [(path, each.st_size, each.st_mtime_ns) for path, each in states]
    else:
        return None
    return "|".join(sorted(f"{path}:{size}:{time}" for path, size, time in found))


def _sought(
    given: "SparkSession", own: "SparkSession", source: "DataSource | DataFrame"
) -> "DataFrame":
    """Return the frame that a source stands for, of our own session if it is read by its path."""
    if is_frame(source):
        return source
    return own.read.parquet(str(source)) if _is_path(source) else given.table(str(source))


def _is_path(source: object) -> bool:
    return not is_frame(source) and str(source).casefold().endswith(PARQUET)


def _found(
    own: "SparkSession", name: str, frame: "DataFrame", *, is_own: bool
) -> "tuple[DataFrame, str | None]":
    """Return a frame of our own session, with row ids last if there are any."""
    return (_with_row_ids(name, frame), None) if is_own else _handed_over(name, frame, own)


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
        stored = {each.casefold() for each in relation.dataSchema().fieldNames()}
        for each in relation.partitionSchema().fields():
            if each.name().casefold() in stored:
                raise SourceError(
                    f"The table {name} has {each.name()!r} both in its files and in the names of "
                    "their folders",
                    "Rename one of them",
                )
            if each.dataType().typeName() != "string":
                guessed.add(each.name().casefold())
    return frozenset(guessed)


def _refuse_other_types(own: "SparkSession", name: str, source: str, frame: "DataFrame") -> None:
    """Reject files that store a column as different types, by what is written at their ends.

    Spark fails when it reads a file that is not as the first, and leaves it out if its statistics
    say that no row there is asked for: whether a query fails would tell if there is such a row.
    """
    try:
        merged = dict(own.read.option("mergeSchema", "true").parquet(source).dtypes)
    except failures() as cause:
        log.warning("the files of %s differ", name, exc_info=cause)
        merged = {}
    if any(merged.get(each) != kind for each, kind in frame.dtypes):
        raise SourceError(
            f"The Parquet files of the table {name} store a column with different types",
            "Write all files with the same types",
        )


def _marked(column: Column, guessed: frozenset[str]) -> Column:
    return replace(column, is_rounded=True) if column.name.casefold() in guessed else column


def _is_local(source: object) -> bool:
    """Return whether it is read on this machine and handed to Spark: a table in memory, a file."""
    if is_frame(source):
        return False
    is_named = isinstance(source, str | Path)
    return not is_named or str(source).casefold().endswith((*CSV, *DUCKDB))


def _local(
    own: "SparkSession", name: str, source: DataSource, kinds: Kinds | None
) -> "tuple[tuple[Column, ...], DataFrame]":
    """Return the columns as they were before they were read, and a frame with row ids."""
    with closing(DuckDbEngine.load({name: source}, kinds={name: kinds or {}})) as local:
        columns, table = local.columns(name), local.table(name)
    _refuse_names(name, table.column_names)
    return columns, own.createDataFrame(_numbered(table))


def _numbered(table: pa.Table) -> pa.Table:
    return table.append_column(ROW_ID, pa.array(range(table.num_rows), pa.int64()))


def _handed_over(name: str, frame: "DataFrame", own: "SparkSession") -> "tuple[DataFrame, str]":
    view = f"discreet_{uuid4().hex}"
    _with_row_ids(name, frame).createGlobalTempView(view)
    return own.table(f"{GLOBAL}.{view}"), view


def _with_row_ids(name: str, frame: "DataFrame") -> "DataFrame":
    """Return the frame, with a column that names each row if it is read from Parquet files as is.

    What Spark numbers itself changes when a part is computed again, or by what else is read. After
    a join or a union several rows would have the same name.
    """
    _refuse_names(name, frame.columns)
    if not _is_file(frame) or "_metadata" in map(str.casefold, frame.columns):
        return frame
    _refuse_listed_twice(name, frame)
    return frame.selectExpr("*", f"{FILE_ROW} AS {ROW_ID}")


def _refuse_listed_twice(name: str, frame: "DataFrame") -> None:
    """Reject files that are read twice: two rows would have one name, and be one unit.

    Paths, patterns, folders and links on this machine can all lead to the same file.
    """
    files = _plan_of(frame).relation().location().allFiles()
    paths = [files.apply(number).getPath().toUri() for number in range(files.size())]
    real = [
        str(Path(each.getPath()).resolve()) if each.getScheme() == "file" else each.toString()
        for each in paths
    ]
    if len(set(real)) < len(real):
        raise SourceError(
            f"The table {name} reads a file twice, so its rows cannot be identified",
            "List every file once",
        )


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
