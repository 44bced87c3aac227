"""Tables that stay on a PostgreSQL server. It returns only integers by group."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from discreet.catalog.schema import Column, Kind
from discreet.engines.base import (
    LIMITS,
    PreparedTables,
    Progress,
    ResourceLimits,
    Scalars,
    Scans,
    Statement,
    log,
)
from discreet.engines.dialect import Dialect
from discreet.engines.growth import Told, tell_nobody
from discreet.engines.postgresql.dialect import POSTGRESQL, ROW_ID
from discreet.engines.postgresql.forms import Made, key_now, made_forms, usable_form
from discreet.engines.postgresql.growing import Grower
from discreet.engines.postgresql.heavy import HeavyInSnapshots
from discreet.engines.postgresql.prepared import Maker, told_apart
from discreet.engines.postgresql.sessions import Sessions
from discreet.engines.postgresql.tables import Stored, located, state_of, stored_table
from discreet.engines.rehearsal import STAND_INS, Rehearsal
from discreet.engines.rehearsed import Rehearsed
from discreet.engines.writer import (
    FRESH,
    FRESH_ROWS,
    HeavyTable,
    Numbers,
    tables_counted,
    write_query,
)
from discreet.errors import EngineError, Failure, SourceError, UnsupportedError
from discreet.extras import psycopg_module
from discreet.parameters import did_you_mean
from discreet.query.tree import ExactQuery
from discreet.tables import ARROW_TYPES, ExactTable

if TYPE_CHECKING:
    from psycopg import Connection

WIDE = pa.decimal128(38, 0)
"""Of sums, which may need more than 64 bits."""


class PostgreSqlEngine:
    """Runs exact queries on a server, several at a time, each over one snapshot.

    Nothing is written there unless the owner asks for a prepared form, and no function is made.
    What goes wrong in a query reaches the owner's log only.
    """

    dialect = POSTGRESQL.name

    def __init__(
        self,
        sessions: Sessions,
        tables: Mapping[str, Stored],
        version: str,
        *,
        prepared: Made | None = None,
        is_outdated: bool = False,
    ) -> None:
        self._sessions, self._prepared = sessions, prepared
        self._tables = {name.casefold(): found for name, found in tables.items()}
        self.version = version
        """What changes when the server counts changes of these tables; as it was on opening."""
        self.is_prepared, self.is_outdated = prepared is not None, is_outdated
        self._rehearsed = Rehearsed()
        self._heavy = HeavyInSnapshots(self._tables, self._reads)
        own = POSTGRESQL if prepared is None else prepared.dialect
        self._plain = own
        self._dialect = replace(own, heavy=self._heavy, fresh=FRESH)

    @classmethod
    def open(
        cls,
        address: str,
        tables: Mapping[str, str],
        *,
        form: PreparedTables | None = None,
        limits: ResourceLimits = LIMITS,
    ) -> Self:
        """Return an engine of tables ("schema.table", or a view) by their names in queries.

        Where there is such a prepared form of the data as they are now, it is read instead of the
        tables that it is of, and no rights to read these are needed.
        """
        sessions = Sessions(address, limits)
        try:
            with _told(sessions), sessions.transaction() as connection:
                return cls._found(sessions, connection, tables, form)
        except BaseException:
            sessions.close()
            raise

    @classmethod
    def _found(
        cls,
        sessions: Sessions,
        connection: "Connection[Any]",
        tables: Mapping[str, str],
        form: PreparedTables | None,
    ) -> Self:
        made = [] if form is None else made_forms(connection, form)
        key = "" if form is None or not made else key_now(connection, form)
        prepared = None if form is None else usable_form(connection, form, key, made)
        found = {
            name: stored_table(connection, name, each)
            for name, each in tables.items()
            if prepared is None or name not in prepared.columns
        }
        version = state_of(connection, [located(connection, each)[0] for each in tables.values()])
        is_outdated = prepared is None and any(each.is_whole and each.key != key for each in made)
        return cls(sessions, found, version, prepared=prepared, is_outdated=is_outdated)

    def prepare(
        self,
        form: PreparedTables,
        scans: Scans,
        progress: Progress | None = None,
        told: Told = tell_nobody,
    ) -> bool:
        """Make the prepared form of tables in schemas of ours; return False if it was there.

        What was done stays done when it is interrupted, or raises SourceError.
        """
        with told_apart(self._sessions):
            with self._sessions.transaction() as connection:
                key, made = key_now(connection, form), made_forms(connection, form)
            if any(each.key == key and each.is_whole for each in made):
                return False
            maker = Maker(
                sessions=self._sessions,
                form=form,
                key=key,
                scans=scans,
                reads=self._reads,
                tables=self._tables,
            )
            grower = Grower(maker=maker)
            if not (made and grower.grow(progress, told)):
                maker.make(progress)
        return True

    def columns(self, table: str) -> tuple[Column, ...]:
        prepared = {} if self._prepared is None else self._prepared.columns
        found = {name.casefold(): each for name, each in prepared.items()}.get(table.casefold())
        return self._stored(table).columns if found is None else found

    def bind(self, query: ExactQuery) -> Statement:
        """Return the statement of a query, or reject one that fails on synthetic rows."""
        statement = Statement(query=query, sql=self._text(query))
        text = self._text(query, STAND_INS[0]) if statement.reads_scalars else statement.sql
        refused = False
        try:
            with self._sessions.transaction() as connection:
                connection.execute(f"PREPARE discreet_check AS {text}")
                connection.execute("DEALLOCATE discreet_check")
                if text not in self._rehearsed:
                    for each in self._rehearsal().statements(query):
                        _fetched(connection, each, _schema(query))  # as private rows are
            self._rehearsed.add(text)
        except (self._sessions.psycopg.Error, pa.ArrowException, OverflowError) as cause:
            log.error("a query was refused with %s: %s", type(cause).__name__, text)
            log.debug("the engine's own words", exc_info=cause)
            refused = True
        if refused:
            raise UnsupportedError(
                "The database cannot compute this query", "Split it into simpler queries"
            )
        return statement

    def run(self, statement: Statement, scalars: Scalars) -> ExactTable:
        query, text = statement.query, statement.sql
        if statement.reads_scalars:
            text = self._text(query, scalars)
        rows: pa.Table | None = None
        failure: Failure = "failed"
        try:
            tables = tables_counted(query, self._dialect)
            rows = self._divided(query, text, tables) if tables else None
            if rows is None:
                plain = self._text(query, scalars, self._plain) if tables else text
                with self._sessions.transaction() as connection:
                    rows = _fetched(connection, plain, _schema(query))
        except (self._sessions.psycopg.Error, pa.ArrowException, TimeoutError) as cause:
            # Its words may hold a value: they stay out of what is logged by default, and out of
            # the context of what is raised.
            log.error("a query failed with %s: %s", type(cause).__name__, text)
            log.debug("the engine's own words", exc_info=cause)
            failure = self._failure_of(cause)
        if rows is None:
            raise EngineError(failure)
        return ExactTable(rows)

    def _divided(
        self, query: ExactQuery, text: str, tables: Sequence[HeavyTable]
    ) -> pa.Table | None:
        """Run a statement that asks which units are heavy; None if that cannot be told now."""
        until = monotonic() + self._sessions.limits.timeout
        for is_last in (False, True):
            self._heavy.wait(tables, until)
            with self._sessions.transaction() as connection:
                arguments = self._heavy.of(connection, tables)
                if arguments is None:
                    return None
                rows = _fetched(connection, text, _schema(query), arguments)
            fresh = rows.column(FRESH_ROWS.strip('"'))
            if not any(fresh.to_pylist()):
                return rows.drop_columns(FRESH_ROWS.strip('"'))
            self._heavy.forget(tables, is_restless=is_last)
        return None

    def _failure_of(self, cause: Exception) -> Failure:
        """Return which limit a query met, if it was one."""
        errors = self._sessions.psycopg.errors
        if isinstance(cause, errors.QueryCanceled | TimeoutError):
            return "time"
        limits = (errors.OutOfMemory, errors.DiskFull, pa.ArrowMemoryError)
        return "memory" if isinstance(cause, limits) else "failed"

    def table(self, name: str) -> pa.Table:
        """Return a whole table; only ever called for tables that the catalog declares public."""
        stored = self._stored(name)
        schema = pa.schema(
            [(each.name, ARROW_TYPES.get(each.kind, pa.string())) for each in stored.columns]
        )
        columns = ", ".join(POSTGRESQL.quoted(each.name) for each in stored.columns)
        text = f'SELECT {columns} FROM ({stored.selected()}) AS "all"'  # noqa: S608 - quoted names
        with _told(self._sessions), self._sessions.transaction() as connection:
            return _fetched(connection, text, schema)

    def close(self) -> None:
        self._sessions.close()

    def _stored(self, table: str) -> Stored:
        found = self._tables.get(table.casefold())
        if found is None:
            others = f"Available tables: {', '.join(self._tables)}"
            fix = did_you_mean(table, self._tables, otherwise=others)
            raise SourceError(f"{table} was not opened", fix)
        return found

    def _text(
        self, query: ExactQuery, released: Numbers = None, dialect: Dialect | None = None
    ) -> str:
        """Return the statement, with the tables that it names as they are read on the server."""
        used = dialect or self._dialect
        text = write_query(query, used, released)
        tells_fresh = bool(used.fresh and tables_counted(query, used))
        fresh = {each.name: each.is_late for each in self._tables.values() if tells_fresh}
        read = self._reads(text, fresh=fresh)
        return f"WITH {read} {text}" if read else text

    def _rehearsal(self) -> Rehearsal:
        return Rehearsal(dialect=self._dialect, columns=self.columns, typed=_typed)

    def _reads(
        self,
        text: str,
        only: Mapping[str, str] | None = None,
        fresh: Mapping[str, str] | None = None,
    ) -> str:
        """Return how the tables are read that a statement names, for its WITH.

        Of tables in `only`, by name, only rows that meet a condition are read; those in `fresh`
        have a column that tells rows by another one.
        """
        named = [each for each in self._tables.values() if POSTGRESQL.quoted(each.name) in text]
        for each in named:
            if each.row_id is None and f"{POSTGRESQL.quoted(each.name)}.{ROW_ID}" in text:
                raise UnsupportedError(
                    f"Each row of {each.name} is a privacy unit, but its rows cannot be identified",
                    "Ask the data owner to declare a column as the unit",
                )
        selected = (
            each.selected(
                with_row_id=ROW_ID in text,
                fresh=(fresh or {}).get(each.name),
                only=(only or {}).get(each.name),
            )
            for each in named
        )
        return ", ".join(
            f"{POSTGRESQL.quoted(each.name)} AS NOT MATERIALIZED ({rows})"
            for each, rows in zip(named, selected, strict=True)
        )


def _typed(_table: str, _column: str, kind: Kind, values: str) -> str:
    """Return synthetic values as columns are read."""
    collation = ' COLLATE "C"' if kind in (Kind.TEXT, Kind.OTHER) else ""
    return f"CAST({values} AS {POSTGRESQL.types[kind]}){collation}"


def _schema(query: ExactQuery) -> pa.Schema:
    """Return what an exact query gives, by the name of the column."""
    keys = [
        (f"k{number}", ARROW_TYPES.get(each.facts.kind, pa.string()))
        for number, each in enumerate(query.keys)
    ]
    sums = [(f"s{number}", WIDE) for number in range(len(query.sums))]
    counts = ("cell", "n", "units", "fresh")
    return pa.schema([*keys, *sums, *((name, pa.int64()) for name in counts)])


def _fetched(
    connection: "Connection[Any]",
    text: str,
    schema: pa.Schema,
    arguments: Sequence[bytes] | None = None,
) -> pa.Table:
    """Return the rows of a statement as columns, each of the type that the schema has for it."""
    with psycopg_module().RawCursor(connection) as cursor:
        cursor.execute(text, arguments, binary=True)
        names = [each.name for each in cursor.description or ()]
        rows = cursor.fetchall()
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    arrays = [
        pa.array(each, schema.field(name).type) for each, name in zip(columns, names, strict=True)
    ]
    return pa.Table.from_arrays(arrays, names=names)


@contextmanager
def _told(sessions: Sessions) -> Iterator[None]:
    """Have the server's own words in the owner's log, and fixed ones told."""
    try:
        yield
    except sessions.psycopg.Error as cause:
        log.warning("tables of the server could not be read", exc_info=cause)
        raise SourceError(
            "Tables of the server could not be read", "The log discreet.engine has the cause"
        ) from None
