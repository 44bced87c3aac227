"""Loads files, DuckDB databases and data frames into DuckDB, either all of them or none.

A table is copied once, and so is a snapshot: what happens to its file later changes no answer. On
the way columns are folded into few types; NaN, infinities and times outside the years 1 to 9999
become NULL.
"""

# ruff: noqa: S608 - names are quoted and paths are literals

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from discreet import on_use
from discreet.catalog.schema import Column, Kind
from discreet.engines.base import log
from discreet.engines.dialect import text_literal
from discreet.engines.duckdb.csv_files import (
    MERGING,
    NOT_WRITTEN,
    SIMPLE,
    STORED,
    column_from_type,
    fault_in,
    first_not_written,
    header_of,
    header_options,
    kinds_guessed,
    promised,
    read_as,
    refuse_nul,
    repeated,
    written_as,
)
from discreet.engines.duckdb.file_lists import InFiles, files_of
from discreet.engines.duckdb.frames import InMemory, frame_table, named_in
from discreet.errors import SourceError


@dataclass(frozen=True, slots=True, kw_only=True)
class DuckDbTable:
    """A table of a DuckDB file."""

    file: Path
    table: str


DataSource = InFiles | DuckDbTable | InMemory
"""A path (with * for several files) to CSV, Parquet or a DuckDB file; or a table in memory."""

AS_THEY_ARE = "hive_partitioning=false"
"""Files are read without what names of folders say: of x=1/visits.csv every x would be 1."""

CSV = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")

PARQUET = (".parquet", ".pq", ".parq")

DUCKDB = (".duckdb", ".ddb", ".db")


@dataclass(frozen=True, slots=True)
class Identifying:
    """A column that tells units or rows apart: a unit, or a key that paths compare."""

    kind: Kind | None = None
    """As declared, if it is."""


Kinds = Mapping[str, Kind | Identifying]
"""What columns are declared to be, by their names in lower case."""


def load(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    source: DataSource,
    kinds: Kinds | None = None,
    guessed: Mapping[str, str] | None = None,
) -> tuple[Column, ...]:
    """Copy a source into a table of this name and return its columns.

    A CSV file does not say what its columns are. Those that `kinds` names are read as declared, and
    what cannot be read so is NULL: then one row more or less changes nothing but that row. The
    others are guessed from all values. In columns that tell units or rows apart, a value that is
    not written as its kind is rejected: read as NULL or rounded, people would be lost or merged.
    Types of columns in `guessed` are not guessed again.
    """
    if isinstance(source, DuckDbTable):
        return _load_database(connection, name, source)
    if not isinstance(source, InFiles):
        return _load_frame(connection, name, source)
    kind = str(source).casefold()
    if kind.endswith(DUCKDB):
        return _load_database(connection, name, DuckDbTable(file=Path(str(source)), table=name))
    files = files_of(source)
    if kind.endswith(CSV):
        return _load_csv(connection, name, files, kinds or {}, guessed or {})
    if kind.endswith(PARQUET):
        return _load_parquet(connection, name, files, kinds or {})
    raise SourceError(
        f"{source} is not a supported kind of file",
        "Use a file that ends in .csv, .parquet or .duckdb",
    )


def is_csv(source: DataSource) -> bool:
    """Return whether a source is a CSV file, which does not say what its columns are."""
    return isinstance(source, InFiles) and str(source).casefold().endswith(CSV)


def csv_columns(source: str | Path, rows: int) -> tuple[Column, ...]:
    """Return the columns of CSV files, their kinds guessed from the first rows of the first."""
    files = files_of(source)
    delimiter, names = header_of(files[0])
    kinds = kinds_guessed(files[0], delimiter, names, rows)
    pairs = zip(names, kinds, strict=True)
    return tuple(Column(name=name, kind=kind) for name, kind in pairs)


def tables_in(file: Path) -> list[str]:
    """Return the names of the tables of a DuckDB file; views are not among them."""
    if not file.is_file():
        raise SourceError(f"{file} does not exist", "Check the path")
    with _told(str(file)), duckdb.connect(str(file), read_only=True, config=APART) as connection:
        return named_in(connection, "table", "current_database()")


APART: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
"""Of a database that is only looked into."""


# --------------------------------------------------------------------------- kinds of source


def _load_csv(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    files: tuple[Path, ...],
    kinds: Kinds,
    guessed: Mapping[str, str],
) -> tuple[Column, ...]:
    delimiter, names, options = csv_options(files)
    for each in files:
        refuse_nul(each)
    given = {each: kinds[each.casefold()] for each in names if each.casefold() in kinds}
    declared = {each: kind for each, kind in given.items() if isinstance(kind, Kind)}
    strict = [each for each in given if each not in declared]
    try:
        identifying = _identifying(connection, files, options, given)
        types = {**guessed, **dict.fromkeys(given, "VARCHAR")}
        reader = csv_reader(files, options, types)
        return _copy(
            connection, name, reader, names=names, declared=declared, identifying=identifying
        )
    except duckdb.Error as cause:
        if NOT_WRITTEN in str(cause):
            places = {names.index(each): (each, identifying[each]) for each in strict}
            raise first_not_written(files, delimiter, places) from None
        log.warning("CSV could not be read", exc_info=cause)
        found = re.search(r"file = (.*)", str(cause))
        named = Path(found[1]) if found and Path(found[1]) in files else files[0]
        suspects = (named, *(each for each in files if each != named))
        faults = [fault_in(each, delimiter, len(names)) for each in suspects]
        raise next((each for each in faults if ", line " in str(each)), faults[0]) from None


def csv_options(files: tuple[Path, ...]) -> tuple[str, tuple[str, ...], str]:
    """Return delimiter, names of columns and how DuckDB reads files whose headers are the same."""
    delimiter, names = header = header_of(files[0])
    how = header_options(files[0], delimiter, names)
    for each in files[1:]:
        if header_of(each) != (delimiter, names) or header_options(each, *header) != how:
            raise SourceError(
                f"{each} and {files[0]} have different headers", "Use files with the same columns"
            )
    options = (
        f"delim={text_literal(delimiter)}, quote='\"', escape='\"', comment='', {how}, "
        "sample_size=-1, strict_mode=true, null_padding=false, ignore_errors=false, "
        f"{AS_THEY_ARE}"
    )
    return delimiter, names, options


def csv_reader(files: tuple[Path, ...], options: str, types: Mapping[str, str]) -> str:
    """Return what reads CSV files, with these types where columns have one by name."""
    listed = ", ".join(f"{text_literal(name)}: '{each}'" for name, each in types.items())
    given = f", types={{{listed}}}" if types else ""
    return f"read_csv({_listed(files)}, {options}{given})"


def _identifying(
    connection: duckdb.DuckDBPyConnection,
    files: tuple[Path, ...],
    options: str,
    given: Mapping[str, Kind | Identifying],
) -> dict[str, Kind]:
    """Return the kinds of columns that tell units or rows apart, guessed where none is declared."""
    found = {name: each.kind for name, each in given.items() if isinstance(each, Identifying)}
    if None in found.values():
        reader = csv_reader(files, options, {})
        described = connection.execute(f"DESCRIBE SELECT * FROM {reader}").fetchall()
        guessed = {each[0]: column_from_type(each[0], each[1]).kind for each in described}
        found = {name: kind or guessed.get(name, Kind.TEXT) for name, kind in found.items()}
    return {name: kind for name, kind in found.items() if kind is not None}


def _load_parquet(
    connection: duckdb.DuckDBPyConnection, name: str, files: tuple[Path, ...], kinds: Kinds
) -> tuple[Column, ...]:
    try:
        names = tuple(on_use.parquet.read_schema(files[0]).names)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as cause:
        raise SourceError(f"{files[0]} is not a Parquet file", "Write it again") from cause
    with _told(", ".join(map(str, files[:3]))):
        _refuse_other_types(connection, files, kinds)
        return _copy(connection, name, parquet_reader(files), names=names)


def parquet_reader(files: tuple[Path, ...]) -> str:
    """Return what reads Parquet files."""
    return f"read_parquet({_listed(files)}, {AS_THEY_ARE})"


def _refuse_other_types(
    connection: duckdb.DuckDBPyConnection, files: tuple[Path, ...], kinds: Kinds
) -> None:
    """Reject files in which what tells units or rows apart has another type than in the first.

    DuckDB would cast it to that: 7.2 and the text 07 would both be the integer 7.
    """
    strict = {each for each, kind in kinds.items() if isinstance(kind, Identifying)}
    if not strict or len(files) == 1:
        return
    types = [_types_of(connection, each, strict) for each in files]
    for file, found in zip(files, types, strict=True):
        for column, type_name in found.items():
            if types[0].get(column, type_name) != type_name:
                raise SourceError(
                    f"{column!r} identifies units or rows, but {file} and {files[0]} store it with "
                    "different types",
                    "Write all files with the same types",
                )


def _types_of(
    connection: duckdb.DuckDBPyConnection, file: Path, columns: set[str]
) -> dict[str, str]:
    """Return the types of columns of a file; all integers are one, since no cast rounds them."""
    described = connection.execute(f"DESCRIBE SELECT * FROM {parquet_reader((file,))}").fetchall()
    return {
        name.casefold(): str(SIMPLE[kind]) if SIMPLE.get(kind) is Kind.INTEGER else kind
        for name, kind, *_ in described
        if name.casefold() in columns
    }


def _load_database(
    connection: duckdb.DuckDBPyConnection, name: str, source: DuckDbTable
) -> tuple[Column, ...]:
    if not source.file.is_file():
        raise SourceError(f"{source.file} does not exist", "Check the path")
    with _told(str(source.file)):
        connection.execute(f"ATTACH {text_literal(str(source.file))} AS __from (READ_ONLY)")
        try:
            table = f"__from.{_quoted(source.table)}"
            known = named_in(connection, "table", "'__from'")
            if source.table.casefold() not in {each.casefold() for each in known}:
                _refuse_view(connection, source)
                raise SourceError(
                    f"{source.file} has no table {source.table!r}",
                    f"Available tables: {', '.join(sorted(known)[:8]) or 'none'}",
                )
            return _copy(connection, name, table)
        finally:
            connection.execute("DETACH __from")


def _refuse_view(connection: duckdb.DuckDBPyConnection, source: DuckDbTable) -> None:
    """Reject a view, which could read any file and any address while the store is still open."""
    views = named_in(connection, "view", "'__from'")
    if source.table.casefold() in {each.casefold() for each in views}:
        raise SourceError(
            f"{source.table!r} of {source.file} is a view, and Discreet only reads tables",
            "Store its rows with CREATE TABLE name AS FROM view, and name that table",
        )


def _load_frame(
    connection: duckdb.DuckDBPyConnection, name: str, source: InMemory
) -> tuple[Column, ...]:
    table = frame_table(name, source)
    try:
        with _told(f"the table {name}"):
            connection.register("__frame", table)
            return _copy(connection, name, "__frame", names=tuple(table.column_names))
    finally:
        connection.unregister("__frame")


@contextmanager
def _told(what: str) -> Iterator[None]:
    try:
        yield
    except duckdb.Error as cause:
        log.warning("%s could not be loaded", what, exc_info=cause)
        raise SourceError(
            f"{what} could not be loaded", "The log discreet.engine has the cause"
        ) from None


def _copy(  # noqa: PLR0913 - what differs from source to source
    connection: duckdb.DuckDBPyConnection,
    name: str,
    reader: str,
    *,
    names: tuple[str, ...] | None = None,
    declared: Mapping[str, Kind] | None = None,
    identifying: Mapping[str, Kind] | None = None,
) -> tuple[Column, ...]:
    described: list[Any] = connection.execute(f"DESCRIBE SELECT * FROM {reader}").fetchall()
    if names is None:
        described = connection.execute(f"DESCRIBE {reader}").fetchall()
    else:
        _refuse_other_names(name, names, tuple(each[0] for each in described))
    columns, selected = [], []
    for column_name, type_name, null, *_ in described:
        found = column_from_type(column_name, type_name, nulls=False if null == "NO" else None)
        template, value = STORED.get(found.kind, "{0}"), _quoted(column_name)
        if found.kind is Kind.TEXT and names is None:
            template = f"decode(encode({template}))"  # leaves a column's own collation behind
            found = replace(found, is_rounded=_has_collation(connection, value, reader))
        if found.kind is Kind.INTEGER and type_name.startswith(("DECIMAL", "UHUGEINT")):
            template = "TRY_CAST({0} AS HUGEINT)"
            found = replace(found, nulls=None)
        if declared and column_name in declared:
            found = Column(name=column_name, kind=declared[column_name])
            template = STORED.get(found.kind, "{0}")
            value = read_as(value, found.kind)
        stored = template.format(value)
        if identifying and column_name in identifying:
            kind = identifying[column_name]
            found = Column(name=column_name, kind=kind, is_rounded=kind in MERGING)
            stored = written_as(value, kind)
        columns.append(found)
        selected.append(f"{stored} AS {_quoted(column_name)}")
    listed = ", ".join(selected)
    connection.execute(f"CREATE TABLE {_quoted(name)} AS SELECT {listed} FROM {reader}")
    return tuple(map(promised, columns))


def _has_collation(connection: duckdb.DuckDBPyConnection, column: str, table: str) -> bool:
    """Return whether texts of a database's column may differ and be one: they are no units."""
    connection.execute(f"CREATE TEMP TABLE __one AS SELECT {column} AS x FROM {table} LIMIT 0")
    told = "SELECT sql FROM duckdb_tables() WHERE table_name = '__one' AND sql LIKE '% COLLATE %'"
    found = connection.execute(told).fetchall()
    connection.execute("DROP TABLE temp.__one")
    return bool(found)


def _refuse_other_names(name: str, names: tuple[str, ...], found: tuple[str, ...]) -> None:
    twice = repeated(names)
    if twice is not None:
        raise SourceError(
            f"The table {name} has two columns called {twice!r}", "Give each a different name"
        )
    if found != names:
        raise SourceError(
            f"The column names of the table {name} could not be read", "Give each a plain name"
        )


def _listed(files: tuple[Path, ...]) -> str:
    return "[" + ", ".join(text_literal(_escaped(each)) for each in files) + "]"


def _escaped(file: Path) -> str:
    """Return a path in which nothing is a pattern."""
    return re.sub(r"([*?\[])", r"[\1]", str(file))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
