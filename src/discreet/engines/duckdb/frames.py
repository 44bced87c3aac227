"""Tables in memory as tables of Arrow: data frames, lazy ones, relations and tables of DuckDB.

What is lazy is computed once, by its owner's own program, and is a snapshot from then on.
"""

import re
from datetime import datetime
from typing import Any, Protocol, TypeGuard, runtime_checkable

import duckdb
import pyarrow as pa

from discreet.engines.base import log
from discreet.errors import SourceError
from discreet.extras import polars_module


class Frame(Protocol):
    """A table in memory: of pandas, Polars, Arrow, or anything that speaks Arrow's interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


@runtime_checkable
class LazyFrame(Protocol):
    """A query of Polars that has not run yet."""

    def collect(self) -> Any: ...
    def collect_schema(self) -> Any: ...


InMemory = Frame | LazyFrame | duckdb.DuckDBPyConnection
"""What is read from this process. A relation of DuckDB is a frame."""


def frame_table(name: str, source: InMemory) -> pa.Table:
    """Return a data frame as a table of Arrow, without the index of pandas.

    Of a connection it is the table of this name.
    """
    if isinstance(source, duckdb.DuckDBPyConnection):
        source = _stored(name, source)
    elif isinstance(source, LazyFrame) and not hasattr(source, "__arrow_c_stream__"):
        source = _collected(name, source)
    try:
        table: pa.Table = pa.table(source)  # type: ignore[arg-type] # it says what it cannot read
    except duckdb.Error as cause:
        log.warning("the table %s could not be read", name, exc_info=cause)
        raise SourceError(
            f"The table {name} could not be read", "The log discreet.engine has the cause"
        ) from None
    except (pa.ArrowException, TypeError, ValueError) as cause:
        raise _unreadable(name, source) from cause
    _refuse_cut_times(name, source, table)
    index = [each for each in table.column_names if re.fullmatch(r"__index_level_\d+__", each)]
    table = table.drop_columns(index)
    if not table.num_columns:
        raise SourceError(f"The table {name} has no columns", "Give it at least one")
    return table


def _unreadable(name: str, source: object) -> SourceError:
    if not hasattr(source, "__arrow_c_stream__") and not hasattr(source, "columns"):
        return SourceError(
            f"The table {name} is given as a {type(source).__name__}, which is not a table",
            "Give a file, a data frame of pandas or Polars, a table of Arrow, or a connection or "
            "relation of DuckDB",
        )
    return SourceError(
        f"The table {name} has a column with values of several types", "Give each column one type"
    )


def _collected(name: str, source: LazyFrame) -> Frame:
    """Return the data frame that a query of Polars gives."""
    try:
        frame: Frame = source.collect()
    except polars_module().exceptions.PolarsError as cause:
        log.warning("the query of the table %s failed", name, exc_info=cause)
        raise SourceError(
            f"The lazy frame of the table {name} could not be computed",
            "The log discreet.engine has the cause",
        ) from None
    return frame


# --------------------------------------------------------------------------- connections


def is_connection(source: object) -> TypeGuard[duckdb.DuckDBPyConnection]:
    """Return whether a source is a connection of DuckDB, whose tables have names."""
    return isinstance(source, duckdb.DuckDBPyConnection)


def tables_at(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the names of the tables of a connection's database; views are not among them.

    A cursor of its own leaves results alone that the owner has yet to fetch.
    """
    with connection.cursor() as cursor:
        return named_in(cursor, "table", "current_database()")


def named_in(connection: duckdb.DuckDBPyConnection, what: str, database: str) -> list[str]:
    """Return the names of the tables, or of the views, that a database names without a schema."""
    found = connection.execute(
        f"SELECT {what}_name FROM duckdb_{what}s() WHERE database_name = {database} "  # noqa: S608
        f"AND schema_name = 'main' AND NOT internal ORDER BY 1"
    )
    return [each[0] for each in found.fetchall()]


def _stored(name: str, connection: duckdb.DuckDBPyConnection) -> Frame:
    """Return a table of a connection's database, never a view of the same name."""
    with connection.cursor() as cursor:
        known = {each.casefold(): each for each in tables_at(cursor)}
        if name.casefold() not in known:
            views = {each.casefold() for each in named_in(cursor, "view", "current_database()")}
            if name.casefold() in views:
                raise SourceError(
                    f"{name!r} is a view, and Discreet only reads tables",
                    "Store its rows with CREATE TABLE name AS FROM view, and name that table. Or "
                    "give the relation: connection.table('name')",
                )
            raise SourceError(
                f"The connection has no table {name!r}",
                f"Available tables: {', '.join(sorted(known.values())[:8]) or 'none'}",
            )
        (database,) = cursor.execute("SELECT current_database()").fetchall()[0]
        parts = (database, "main", known[name.casefold()])
        whole = ".".join('"' + each.replace('"', '""') + '"' for each in parts)
        table: Frame = cursor.sql(f"SELECT * FROM {whole}").to_arrow_table()  # noqa: S608
    return table


def _refuse_cut_times(name: str, source: Any, table: pa.Table) -> None:
    """Reject a column of dates that are times of day too: read as dates, two would be one."""
    is_of_objects = type(source).__module__.partition(".")[0] == "pandas"
    for number, field in enumerate(table.schema):
        try:
            if pa.types.is_date64(field.type):
                table.column(number).validate(full=True)
            is_cut = (
                is_of_objects
                and pa.types.is_date32(field.type)
                and number < len(source.columns)
                and any(isinstance(each, datetime) for each in source.iloc[:, number])
            )
        except pa.ArrowInvalid:
            is_cut = True
        if is_cut:
            raise SourceError(
                f"The column {field.name!r} of the table {name} mixes dates with times of day",
                "Store only dates, or only timestamps",
            )
