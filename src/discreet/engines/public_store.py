"""DuckDB for public and noisy tables: lists declared groups and runs post-processing.

No private table is ever in it, so whatever it says, in results or in errors, anyone may see.
"""

# ruff: noqa: S608 - names are quoted; other SQL is made by our own code

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import chain
from math import prod
from time import monotonic

import duckdb
import pyarrow as pa

from discreet import on_use
from discreet.catalog.schema import Kind, Value
from discreet.engines.base import ResourceLimits, log
from discreet.engines.duckdb.csv_files import STORED, column_from_type
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.store import Store, bound
from discreet.engines.key_tables import Domains, columns_of, combinations, key_text, possible_sql
from discreet.engines.rehearsed import Rehearsed, without_names
from discreet.engines.synthetic import SyntheticTables, released_schemas
from discreet.errors import QuestionSizeError, UnsupportedError
from discreet.query.check.key_space import KeySpace
from discreet.query.check.post_select import null_for_failures
from discreet.query.questions import Aggregation
from discreet.query.tree import Expression
from discreet.tables import WITH_GAPS

PUBLIC_LIMITS = ResourceLimits(timeout=30, threads=1, memory="4GB")
"""One thread, so that rows without an order stand the same each time: margins of error fit them."""


MOST_ROWS = 10_000_000
"""No longer result is made."""


MOST_REMEMBERED = 1000
"""So many results of so many rows are remembered: the same are asked with every query."""


LONG_ENOUGH = 2.0
"""After so many seconds SQL is rehearsed on no further table."""


MOST_COMBINATIONS = 1_000_000
"""No more combinations of public values are tried."""


NUMBER = re.compile(r"U?(TINY|SMALL|BIG|HUGE)INT|U?INTEGER|FLOAT|DOUBLE|DECIMAL\(\d+,\s?\d+\)")
"""Types whose values are numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The columns of SQL that was bound and not run."""

    names: tuple[str, ...]
    types: tuple[str, ...]
    """As DuckDB writes them."""

    @property
    def begins_with_a_number(self) -> bool:
        """Whether values of the first column are numbers."""
        return bool(NUMBER.fullmatch(self.types[0]))


NOT_COMPUTED = (
    "A calculation on the noisy results failed",
    "Simplify the expressions around the aggregates and run the query again with the same "
    "epsilon. The noisy results are saved, so this costs nothing",
)


class PublicStore:
    """A DuckDB that holds public tables and, for the length of a call, noisy ones."""

    def __init__(
        self,
        tables: Mapping[str, pa.Table] | None = None,
        *,
        limits: ResourceLimits = PUBLIC_LIMITS,
    ) -> None:
        self._store = Store(limits)
        for name, table in (tables or {}).items():
            self._store.connection.register("__frame", table)
            self._store.connection.execute(
                f"CREATE TABLE {DUCKDB.quoted(name)} AS SELECT * FROM __frame"
            )
            self._store.connection.unregister("__frame")
        self._store.seal()
        self._values: dict[str, list[tuple[Value, ...]]] = {}
        self._rehearsed = Rehearsed()

    def table(self, name: str) -> pa.Table:
        """Return a whole public table."""
        with self._store.cursor() as cursor:
            found: pa.Table = cursor.table(DUCKDB.quoted(name)).to_arrow_table()
        return found

    def values(self, sql: str) -> list[tuple[Value, ...]]:
        """Return the rows of SQL over public tables, made by our own code; they never change."""
        found = self._values.get(sql)
        if found is None:
            found = rows_of(self.run(sql, {}))
            if len(self._values) < MOST_REMEMBERED and len(found) <= MOST_REMEMBERED:
                self._values[sql] = found
        return list(found)

    def run(
        self, sql: str, tables: Mapping[str, pa.Table], *, timeout: float | None = None
    ) -> pa.Table:
        """Return the result of SQL over public tables and these, which are gone afterwards.

        Where it fails, it is run once more with NULL for what cannot be computed in a row. It is
        rejected if it takes longer than the limits say, or than `timeout` in seconds.
        """
        found = self._run(sql, tables, timeout=timeout)
        if found is None:
            raise UnsupportedError(*NOT_COMPUTED)
        return found

    def run_plainly(self, sql: str, tables: Mapping[str, pa.Table]) -> pa.Table:
        """Return the result of SQL as a database without any care for failures would."""
        with self._store.cursor() as cursor:
            _register(cursor, tables)
            try:
                return _fetched(cursor, sql)
            except duckdb.Error:
                raise UnsupportedError(*NOT_COMPUTED) from None

    def number(self, sql: str, tables: Mapping[str, pa.Table]) -> int | float | None:
        """Return the first value; NULL where SQL fails on a number, as in conditions on rows."""
        table = self._run(sql, tables)
        found = [] if table is None else table.column(0).to_pylist()
        return found[0] if found else None

    def _run(
        self, sql: str, tables: Mapping[str, pa.Table], *, timeout: float | None = None
    ) -> pa.Table | None:
        """Return the result of SQL, None if it fails on a value of these tables."""
        with self._store.cursor(timeout=timeout) as cursor:
            _register(cursor, tables)
            try:
                return _total(cursor, sql)
            except (duckdb.DataError, duckdb.ProgrammingError) as cause:
                log.warning("SQL over released tables failed: %s", sql, exc_info=cause)
                return None
            except duckdb.Error as cause:
                log.warning("SQL over released tables failed: %s", sql, exc_info=cause)
                raise UnsupportedError(*NOT_COMPUTED) from None

    def rehearse(self, sql: str, made: Iterable[SyntheticTables]) -> None:
        """Reject SQL that would fail on released tables, whatever numbers they hold.

        It must run as it is on one of the usual synthetic tables, and on all tables at
        least with NULL for what cannot be computed. SQL that takes long is tried on fewer tables.
        """
        tried = iter(made)
        first = next(tried, None)
        if first is None:
            return
        shape = f"{without_names(sql)}|{[each.to_pydict() for each in first.tables.values()]}"
        if shape in self._rehearsed:  # the other tables are not even made
            return
        with self._store.cursor() as cursor:
            try:
                self._run_all(cursor, sql, chain((first,), tried))
            except duckdb.Error as cause:
                log.info("SQL over released tables was refused: %s", sql, exc_info=cause)
                raise UnsupportedError(
                    "A calculation on the noisy results would fail",
                    "Check formats, casts and the types in UNION, or write TRY(...) around the "
                    "part that may fail",
                ) from None
        self._rehearsed.add(shape)

    def _run_all(
        self, cursor: duckdb.DuckDBPyConnection, sql: str, tried: Iterable[SyntheticTables]
    ) -> None:
        first: duckdb.Error | None = None
        has_run = False
        until = monotonic() + LONG_ENOUGH
        for each in tried:
            if has_run and monotonic() > until:
                break
            _register(cursor, each.tables)
            if each.is_usual and not has_run:
                try:
                    _fetched(cursor, sql)
                    has_run = True
                    continue
                except FINAL:
                    raise
                except duckdb.Error as cause:
                    first = first or cause
            _total(cursor, sql)
        if not has_run and first is not None:
            raise first

    def check(self, sql: str, schemas: Mapping[str, pa.Schema]) -> Checked:
        """Return what `run` would give, or reject; binds the SQL to empty tables and runs nothing.

        What is rejected follows from the SQL, these schemas and public tables alone.
        """
        with self._store.cursor() as cursor:
            _register(cursor, {name: each.empty_table() for name, each in schemas.items()})
            try:
                result = bound(cursor, sql)
                found = Checked(names=tuple(result.columns), types=tuple(map(str, result.types)))
            except duckdb.Error as cause:
                log.info("SQL over released tables was refused: %s", sql, exc_info=cause)
                raise UnsupportedError(
                    "The SQL around the aggregates is not valid",
                    "Check the types and functions around the aggregates",
                ) from None
        return found

    def schema(self, sql: str, schemas: Mapping[str, pa.Schema]) -> pa.Schema:
        """Return the columns that `run` would give, with their types; reads no row.

        The SQL has been checked.
        """
        with self._store.cursor() as cursor:
            _register(cursor, {name: each.empty_table() for name, each in schemas.items()})
            found: pa.Table = bound(cursor, sql).limit(0).to_arrow_table()
        return found.schema

    def kinds(self, sql: str, releases: Sequence[Aggregation]) -> tuple[Kind, ...]:
        """Return what the columns of SQL over public and released tables are; runs nothing."""
        types = self.check(sql, released_schemas(releases)).types
        return tuple(column_from_type("", each).kind for each in types)

    def rows(
        self,
        sql: str,
        kinds: Sequence[Kind],
        most: int,
        tables: Mapping[str, pa.Table] | None = None,
    ) -> list[tuple[Value, ...]]:
        """Return the first rows of SQL, by their values, with columns as values of these kinds."""
        names = [f"c{number}" for number in range(len(kinds))]
        columns = ", ".join(
            f"{READ[kind].format(name)} AS {name}" for kind, name in zip(kinds, names, strict=True)
        )
        listed = f"SELECT {columns} FROM ({sql}) AS listed({', '.join(names)})"
        found = self.run(f"{listed} ORDER BY ALL NULLS LAST LIMIT {most}", tables or {})
        return [tuple(map(_whole_number, row)) for row in rows_of(found)]

    def evaluate(self, expression: Expression, domains: Domains) -> tuple[Value, ...]:
        """Return the different values of an expression over all combinations of its columns'."""
        return tuple(value for (value,) in self.together((expression,), domains))

    def together(
        self, expressions: tuple[Expression, ...], domains: Domains
    ) -> list[tuple[Value, ...]]:
        """Return the different rows of expressions over all combinations of their columns'."""
        columns = list(dict.fromkeys(column for each in expressions for column in columns_of(each)))
        sizes = [len(domains[each.source, each.name]) for each in columns]
        if prod(sizes) > MOST_COMBINATIONS:
            raise QuestionSizeError(
                f"A group key has more than {MOST_COMBINATIONS:,} combinations of values",
                "Group by fewer columns, or by coarser values",
            )
        tables, source = combinations(columns, domains)
        values = ", ".join(f"{key_text(each)} AS v{n}" for n, each in enumerate(expressions))
        return rows_of(
            self.run(f"SELECT DISTINCT {values}{source} ORDER BY ALL NULLS LAST", tables)
        )

    def possible(self, space: KeySpace) -> list[tuple[int, ...]] | None:
        """Return which rows of its lists occur together; None if that could not be computed."""
        sql, tables = possible_sql(space)
        try:
            found = self.run(sql, tables)
        except UnsupportedError:
            return None
        return [tuple(map(int, row)) for row in rows_of(found)]  # type: ignore[arg-type]

    def close(self) -> None:
        self._store.close()


def rows_of(table: pa.Table) -> list[tuple[Value, ...]]:
    """Return a table's rows as Python values."""
    if not table.num_columns:
        return []
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


READ: Mapping[Kind, str] = {
    **dict.fromkeys(Kind, "{0}"),
    **STORED,
    Kind.INTEGER: "CAST({0} AS HUGEINT)",
    Kind.OTHER: "CAST({0} AS VARCHAR)",
}
"""How values are read that stand beside private rows."""


def _whole_number(value: Value) -> Value:
    """Return a wide integer as one."""
    return int(value) if isinstance(value, Decimal) else value


FINAL = (duckdb.InterruptException, duckdb.OutOfMemoryException)
"""The same would happen again."""


def _register(cursor: duckdb.DuckDBPyConnection, tables: Mapping[str, pa.Table]) -> None:
    for name, table in tables.items():
        cursor.register(name, table)


def _total(cursor: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    """Return the result of SQL; what fails in a row is NULL if the whole would fail otherwise."""
    try:
        return _fetched(cursor, sql)
    except FINAL:
        raise
    except duckdb.Error:
        with suppress(duckdb.BinderException):
            return _fetched(cursor, null_for_failures(sql)).replace_schema_metadata(WITH_GAPS)
        raise


def _fetched(cursor: duckdb.DuckDBPyConnection, sql: str) -> pa.Table:
    reader = bound(cursor, sql).to_arrow_reader()
    batches, rows = [], 0
    for batch in _batches(reader):
        rows += batch.num_rows
        if rows > MOST_ROWS:
            raise QuestionSizeError(
                f"The result has more than {MOST_ROWS:,} rows", "Add LIMIT, or aggregate further"
            )
        batches.append(batch)
    return _within_calendar(pa.Table.from_batches(batches, schema=reader.schema))


LATE: Mapping[str, type[duckdb.Error]] = {
    "INTERRUPT": duckdb.InterruptException,
    "Out of Memory": duckdb.OutOfMemoryException,
}
"""How messages begin, and what DuckDB itself would raise."""


def _batches(reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """Yield batches; what fails after the first one comes from Arrow, not as DuckDB's own error."""
    try:
        yield from reader
    except OSError as cause:
        text = str(cause)
        kinds = (kind for begin, kind in LATE.items() if text.startswith(begin))
        raise next(kinds, duckdb.DataError)(text) from None


EARLIEST, LATEST = datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999_999)


def _within_calendar(table: pa.Table) -> pa.Table:
    """Return a table with NULL for times outside the years 1 to 9999: nothing could show them."""
    for place, field in enumerate(table.schema):
        if pa.types.is_date(field.type) or pa.types.is_timestamp(field.type):
            column = table.column(place)
            low, high = (_end(each, field.type) for each in (EARLIEST, LATEST))
            pc = on_use.compute
            is_within = pc.and_(pc.greater_equal(column, low), pc.less_equal(column, high))
            if pc.all(is_within).as_py() is False:  # None if all are NULL
                kept = pc.if_else(is_within, column, pa.scalar(None, field.type))
                table = table.set_column(place, field, kept)
                table = table.replace_schema_metadata(WITH_GAPS)
    return table


def _end(moment: datetime, type_: pa.DataType) -> "pa.Scalar[pa.DataType]":
    """Return a moment as a value of a type, or the farthest that the type can hold."""
    units = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
    if not pa.types.is_timestamp(type_):
        return pa.scalar(moment.date(), type_)
    passed = (moment - datetime(1970, 1, 1)) // timedelta(microseconds=1)
    number = passed * units[type_.unit] // 10**6
    return pa.scalar(max(-(2**63), min(2**63 - 1, number)), pa.int64()).cast(type_)
