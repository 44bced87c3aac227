"""DuckDbEngine; the unplugged engine."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Lock
from time import monotonic
from typing import Self

import duckdb
import pyarrow as pa

from discreet.catalog.schema import Column, Kind
from discreet.engines.base import LIMITS, Progress, ResourceLimits, Scalars, Statement, log
from discreet.engines.dialect import Dialect
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.duckdb.heavy import HeavyInStore, HeavyNames
from discreet.engines.duckdb.loading import DataSource, Kinds, load
from discreet.engines.duckdb.prepared import columns_of_kept, drop_plain, prepare
from discreet.engines.duckdb.rewrites import (
    Stored,
    read_stored_columns,
    without_repeated_unit_joins,
)
from discreet.engines.duckdb.store import BoundQueries, Store, bound
from discreet.engines.rehearsal import STAND_INS, Rehearsal
from discreet.engines.rehearsed import Rehearsed
from discreet.engines.writer import HeavyTable, Numbers, column_name, tables_counted, write_query
from discreet.errors import EngineError, Failure, SourceError, UnsupportedError
from discreet.parameters import did_you_mean
from discreet.query.tree import ExactQuery, Scan
from discreet.tables import ExactTable

DIVIDED = replace(DUCKDB, heavy=HeavyNames())
"""The SQL of this engine, with what it keeps of heavy units."""

STAGE = ResourceLimits(timeout=60, memory="1GB", threads=1)
"""What rehearsals may use."""


class DuckDbEngine:
    """Runs exact queries in DuckDB, several at a time.

    Once loaded, the database reads no file and no network, and no setting of it can be changed.
    What goes wrong in a query reaches the owner's log only.
    """

    dialect = DUCKDB.name

    def __init__(
        self,
        store: Store,
        columns: Mapping[str, tuple[Column, ...]],
        *,
        is_prepared: bool = False,
    ) -> None:
        self._store, self.is_prepared, self._bound = store, is_prepared, BoundQueries()
        self._columns = {name.casefold(): found for name, found in columns.items()}
        self._placed = self._placed_columns()
        self._rehearsed, self._lock = Rehearsed(), Lock()
        self._stage: Stage | None = None
        self._heavy = HeavyInStore(store)
        self._dialect = DIVIDED

    @classmethod
    def load(
        cls,
        sources: Mapping[str, DataSource],
        *,
        kinds: Mapping[str, Kinds] | None = None,
        limits: ResourceLimits = LIMITS,
    ) -> Self:
        """Copy all tables, or raise SourceError and keep none; `kinds` are those declared."""
        store, declared = Store(limits), kinds or {}
        try:
            columns = {
                name: load(store.connection, name, each, declared.get(name))
                for name, each in sources.items()
            }
            store.seal()
        except BaseException:
            store.close()
            raise
        return cls(store, columns)

    def prepare(self, scans: Iterable[Scan], progress: Progress | None = None) -> None:
        """Settle which rows of each unit count in these tables, or raise SourceError."""
        tables = tuple(scans)
        try:
            self._bound.clear()
            prepare(self._store.connection, tables, progress)
            drop_plain(self._store.connection, tables)
            self._placed = self._placed_columns()
            self.is_prepared = True
        except duckdb.Error as cause:
            log.warning("tables could not be prepared", exc_info=cause)
            raise SourceError(
                "The tables could not be prepared", "The log discreet.engine has the cause"
            ) from None

    def columns(self, table: str) -> tuple[Column, ...]:
        found = self._columns.get(table.casefold())
        if found is None:
            others = f"Available tables: {', '.join(self._columns)}"
            fix = did_you_mean(table, self._columns, otherwise=others)
            raise SourceError(f"{table} was not loaded", fix)
        return found

    def _placed_columns(self) -> frozenset[tuple[str, str]]:
        """Return the columns of kept rows that were not loaded, each with the name of its table."""
        loaded = {
            (table, column_name(each.name))
            for table, columns in self._columns.items()
            for each in columns
        }
        kept = columns_of_kept(self._store.connection)
        return frozenset(each for each in kept if (each[0].casefold(), each[1]) not in loaded)

    def _form(self, query: ExactQuery) -> ExactQuery:
        """Return the query as it is run: by what is stored."""

        def is_stored(table: str, name: str) -> bool:
            return (table, column_name(name)) in self._placed

        return form(query, is_stored)

    def bind(self, query: ExactQuery) -> Statement:
        """Return the statement of a query, or reject one that fails on synthetic rows."""
        form = self._form(query)
        statement = FormedStatement(
            query=query,
            sql=write_query(form, self._dialect),
            formed=query,
            form=form,
            tables=tables_counted(form, self._dialect),
        )
        text = statement.sql
        if statement.reads_scalars:
            text = write_query(form, self._dialect, STAND_INS[0])
        if text in self._bound and text in self._rehearsed:
            return statement
        cursor, failure = self._store.open_cursor(), None
        try:
            with _hearing_ctrl_c():
                self._heavy.make(statement.tables)
                self._bound.put(text, cursor, bound(cursor, text))
        except duckdb.Error as cause:
            cursor.close()
            log.error("a query was refused with %s: %s", type(cause).__name__, text)
            failure = _failure_of(cause)
        else:
            failure = self._rehearse(form, text)
        if failure == "failed":
            raise UnsupportedError(
                "The database cannot compute this query", "Split it into simpler queries"
            )
        if failure is not None:
            raise UnsupportedError(
                f"The database ran out of {failure} when it checked this query",
                "Ask again when other queries have ended, or split it into simpler queries",
            )
        return statement

    def _rehearse(self, form: ExactQuery, text: str) -> Failure | None:
        """Run a statement on synthetic rows, in a database that holds no others."""
        if text in self._rehearsed:
            return None
        with self._lock:
            if self._stage is None:
                self._stage = Stage(self._store.connection)
        for each in self._stage.rehearsal(self.columns, self._dialect).statements(form):
            try:
                with self._stage.store.cursor() as cursor, _hearing_ctrl_c():
                    bound(cursor, each).to_arrow_table()  # as private rows are fetched
            except duckdb.Error as cause:
                log.error(
                    "a query failed on synthetic rows with %s: %s", type(cause).__name__, text
                )
                log.debug("the engine's own words", exc_info=cause)
                return _failure_of(cause)
        self._rehearsed.add(text)
        return None

    def run(self, statement: Statement, scalars: Scalars) -> ExactTable:
        text = statement.sql
        if isinstance(statement, FormedStatement) and statement.query is statement.formed:
            form, tables = statement.form, statement.tables
        else:
            form = self._form(statement.query)
            tables = tables_counted(form, self._dialect)
        if statement.reads_scalars:
            text = write_query(form, self._dialect, scalars)
        rows: pa.Table | None = None
        failure: Failure = "failed"
        until = monotonic() + self._store.limits.timeout
        ready, relation = self._bound.taken(text)
        cursor = self._store.open_cursor() if ready is None else ready
        try:
            with self._store.timed(cursor), _hearing_ctrl_c():
                self._heavy.count(tables, until)
                # Whether a relation is true is how many rows it has, for which it would be run.
                relation = bound(cursor, text) if relation is None else relation
                rows = relation.to_arrow_table()
        except (duckdb.Error, TimeoutError) as cause:
            # Its words may hold a value: they stay out of what is logged by default, and out of
            # the context of what is raised.
            log.error("a query failed with %s: %s", type(cause).__name__, text)
            log.debug("the engine's own words", exc_info=cause)
            failure = _failure_of(cause)
        finally:
            if rows is None or relation is None:
                cursor.close()
            else:
                self._bound.put(text, cursor, relation)
        if rows is None:
            raise EngineError(failure)
        return ExactTable(rows)

    def table(self, name: str) -> pa.Table:
        """Return a whole table; only ever called for tables that the catalog declares public."""
        quoted = DUCKDB.quoted(name)
        with self._store.cursor() as cursor:
            found: pa.Table = cursor.table(quoted).to_arrow_table()
        return found

    def close(self) -> None:
        self._bound.close()
        if self._stage is not None:
            self._stage.store.close()
        self._store.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class FormedStatement(Statement):
    """The statement of a query as it is run, unless it is given rows of earlier releases since."""

    formed: ExactQuery
    form: ExactQuery
    tables: Sequence[HeavyTable]
    """Those of which it asks which units are heavy."""


class Stage:
    """A database for rehearsals, with the types that columns have in another one."""

    def __init__(self, private: duckdb.DuckDBPyConnection) -> None:
        self.store = Store(STAGE)
        self.store.seal()
        found = private.execute(TYPES).fetchall()
        known = set(filter(self._has, {str(kind) for _, _, kind in found}))
        self._types = {
            (str(table).casefold(), DUCKDB.quoted(str(column))): str(kind)
            for table, column, kind in found
            if str(kind) in known
        }

    def _has(self, kind: str) -> bool:
        """Return whether the type is known here: one that a file defined may not be."""
        try:
            self.store.connection.execute(f"SELECT TRY_CAST(NULL AS {kind})").fetchall()
        except duckdb.Error:
            return False
        return True

    def rehearsal(
        self, columns: Callable[[str], tuple[Column, ...]], dialect: Dialect
    ) -> Rehearsal:
        return Rehearsal(dialect=dialect, columns=columns, typed=self._typed)

    def _typed(self, table: str, column: str, kind: Kind, values: str) -> str:
        as_type = self._types.get((table.casefold(), column), DUCKDB.types[kind])
        return f"TRY_CAST({values} AS {as_type})"


TYPES = """
SELECT table_name, column_name, data_type FROM duckdb_columns()
WHERE database_name = 'memory' AND NOT internal
"""


INTERRUPTED = "Query interrupted"
"""All that DuckDB's Python module says of Ctrl-C."""


@contextmanager
def _hearing_ctrl_c() -> Iterator[None]:
    """Raise Ctrl-C as what it is: it is nobody's failure."""
    try:
        yield
    except RuntimeError as cause:
        if str(cause) != INTERRUPTED:
            raise
        raise KeyboardInterrupt from None


def _failure_of(cause: Exception) -> Failure:
    """Return which limit a query met, if it was one; a query is interrupted when time is over."""
    if isinstance(cause, duckdb.InterruptException | TimeoutError):
        return "time"
    return "memory" if isinstance(cause, duckdb.OutOfMemoryException) else "failed"


def sql(query: ExactQuery, released: Numbers = None) -> str:
    """Return what the engine would run; noisy numbers that are not known yet stand as names."""
    return write_query(form(query), DIVIDED, released)


def form(query: ExactQuery, is_stored: Stored = lambda *_: True) -> ExactQuery:
    """Return a query as it is written for the embedded engine."""
    return read_stored_columns(
        replace(query, rows=without_repeated_unit_joins(query.rows)), is_stored
    )


class ExplainOnlyEngine:
    """Stands for the embedded engine where no private data are at hand."""

    dialect = DUCKDB.name

    def columns(self, table: str) -> tuple[Column, ...]:
        """Reject: there is no schema to read."""
        raise SourceError(f"{table} was not opened, so its columns are not known")

    def bind(self, query: ExactQuery) -> Statement:
        """Return what the embedded engine would run: there is nobody to ask whether it can."""
        return Statement(query=query, sql=sql(query))

    def run(self, statement: Statement, scalars: Scalars) -> ExactTable:  # noqa: ARG002
        """Reject: there are no data."""
        raise SourceError("The data were not opened, so this curator can only explain queries")

    def close(self) -> None:
        """Do nothing: nothing is held."""
