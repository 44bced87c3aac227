"""Spark: queries run where the data are. It returns only integers by group."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from hashlib import sha256
from time import monotonic
from typing import TYPE_CHECKING, Self
from uuid import uuid4

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
from discreet.engines.duckdb.loading import DataSource, Kinds
from discreet.engines.growth import Told, tell_nobody
from discreet.engines.heavy import seconds_until
from discreet.engines.rehearsal import STAND_INS, Rehearsal
from discreet.engines.rehearsed import Rehearsed
from discreet.engines.spark.addresses import ONE_ROW, give_back, keep_alive, refuse_idle, take
from discreet.engines.spark.conditions import with_our_names
from discreet.engines.spark.dialect import ROW_ID, SPARK
from discreet.engines.spark.heavy import HeavyInFiles
from discreet.engines.spark.prepared import NOTHING, FoundForm, found_form, make_form
from discreet.engines.spark.sessions import (
    collected,
    failures,
    is_remote,
    own_session,
    place_of,
    silent,
)
from discreet.engines.spark.tables import Registered, register
from discreet.engines.writer import Numbers, tables_counted, write_query
from discreet.errors import EngineError, SourceError, UnsupportedError
from discreet.parameters import did_you_mean
from discreet.query.tree import ExactQuery
from discreet.tables import ExactTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


MOST_PLANNED = 256
"""Statements that need not be planned again before they are charged."""


class SparkEngine:
    """Runs exact queries in Spark, in a session beside the given one.

    Tables are read where they are: Parquet files, tables and views of the catalog, data frames.
    Nothing is written unless the owner asks for a prepared form. What goes wrong in a query reaches
    the owner's log only.
    """

    dialect = SPARK.name

    def __init__(
        self,
        session: "SparkSession",
        tables: Mapping[str, Registered],
        *,
        limits: ResourceLimits = LIMITS,
        is_taken: bool = False,
        found: FoundForm = NOTHING,
    ) -> None:
        self._session = session
        self._tables = {name.casefold(): found for name, found in tables.items()}
        self._limits = limits
        self.version = sha256(
            "\n".join(
                f"{name}:{each.state or uuid4().hex}" for name, each in sorted(tables.items())
            ).encode()
        ).hexdigest()
        """What changes when the files do; of what has no files, with every opening."""
        self.is_prepared, self.is_outdated = found.is_usable, found.is_outdated
        self._is_taken, self._rehearsed = is_taken, Rehearsed()
        self._planned: set[str] = set()
        self._types: dict[str, dict[str, str]] = {}
        self._heavy = HeavyInFiles(session, self._tables)
        self._dialect = replace(SPARK, heavy=self._heavy)
        self._let_go = keep_alive(session) if is_remote(session) else None

    @classmethod
    def open(  # noqa: PLR0913 - each is a thing that differs from opening to opening
        cls,
        at: "str | SparkSession",
        tables: "Mapping[str, DataSource | DataFrame]",
        *,
        kinds: Mapping[str, Kinds] | None = None,
        public: Collection[str] = (),
        form: PreparedTables | None = None,
        limits: ResourceLimits = LIMITS,
    ) -> Self:
        """Find all tables at an address or in a session, or raise SourceError.

        A text is a path of Parquet files if it ends so, else a table or view of the catalog; other
        files and frames are read here and handed over, as is all that is `public`, once for all.
        Where there is such a prepared form of the data as they are now, queries read it.
        """
        given, is_taken = (take(at), True) if isinstance(at, str) else (at, False)
        found: dict[str, Registered] = {}
        try:
            own = own_session(given, is_ours=is_taken)
        except BaseException:
            if is_taken:
                give_back(given)
            raise
        try:
            refuse_idle(own, place_of(own), timeout=limits.timeout)
            for name, source in tables.items():
                found[name] = register(
                    given,
                    own,
                    name,
                    source,
                    kinds=(kinds or {}).get(name),
                    is_public=name in public,
                )
            prepared = found_form(own, form, found)
        except BaseException:
            cls(own, found, is_taken=is_taken).close()
            raise
        return cls(own, found, limits=limits, is_taken=is_taken, found=prepared)

    def prepare(
        self,
        form: PreparedTables,
        scans: Scans,
        progress: Progress | None = None,
        told: Told = tell_nobody,
    ) -> bool:
        """Write the prepared form of tables as files; return False if it was there.

        Tables that are done stay done when it is interrupted, or raises SourceError.
        """
        return make_form(self._session, form, scans, self._tables, progress, told)

    def columns(self, table: str) -> tuple[Column, ...]:
        found = self._tables.get(table.casefold())
        if found is None:
            others = f"Available tables: {', '.join(self._tables)}"
            fix = did_you_mean(table, self._tables, otherwise=others)
            raise SourceError(f"{table} was not loaded", fix)
        return found.columns

    def bind(self, query: ExactQuery) -> Statement:
        """Return the statement of a query, or reject one that fails on synthetic rows."""
        statement = Statement(query=query, sql=sql(query, dialect=self._dialect))
        text = statement.sql
        if statement.reads_scalars:
            text = sql(query, STAND_INS[0], self._dialect)
        self._refuse_rows_without_ids(text)
        refused = False
        with silent():
            try:
                tables = tables_counted(query, self._dialect)
                if tables:
                    self._heavy.make(tables)
                if not (tables and self._has_planned(text)):
                    self._plan(text)
                self._rehearse(query, text)
            except failures() as cause:
                log.error("a query was refused with %s: %s", type(cause).__name__, text)
                log.debug("the engine's own words", exc_info=cause)
                refused = True
        if refused and is_remote(self._session) and not self._answers():
            raise SourceError(
                "The session of Spark Connect has ended, or its server cannot be reached",
                "Open the data again",
            )
        if refused:
            raise UnsupportedError(
                "The database cannot compute this query", "Split it into simpler queries"
            )
        return statement

    def _plan(self, text: str) -> None:
        """Have Spark plan a statement; over Spark Connect, find what its names and types mean."""
        frame = self._session.sql(text)
        if is_remote(frame):
            frame.schema  # noqa: B018 - asks the server
        else:
            frame._jdf.queryExecution().executedPlan()  # noqa: SLF001
        if len(self._planned) >= MOST_PLANNED:
            self._planned.clear()
        self._planned.add(text)

    def _has_planned(self, text: str) -> bool:
        """Return whether Spark has planned a statement before, and is still there.

        Only for tables whose files are looked at again after the statement has run.
        """
        session = self._session
        if is_remote(session) or text not in self._planned:
            return False
        return not session.sparkContext._jsc.sc().isStopped()  # noqa: SLF001

    def _answers(self) -> bool:
        """Return whether a server of Spark Connect still knows our session."""
        try:
            collected(self._session, ONE_ROW, timeout=self._limits.timeout)
        except failures():
            return False
        return True

    def _rehearse(self, query: ExactQuery, text: str) -> None:
        """Run a statement on synthetic rows, unless that was done before."""
        if text in self._rehearsed:
            return
        rehearsal = Rehearsal(dialect=self._dialect, columns=self.columns, typed=self._typed)
        for each in rehearsal.statements(query):
            collected(self._session, with_our_names(each), timeout=self._limits.timeout)
        self._rehearsed.add(text)

    def _typed(self, table: str, column: str, kind: Kind, values: str) -> str:
        """Return synthetic values as columns are read: integers may be decimals."""
        if table not in self._types:
            is_known = table.casefold() in self._tables
            found = self._session.table(SPARK.quoted(table)).dtypes if is_known else []
            self._types[table] = {SPARK.quoted(name): each for name, each in found}
        as_type = self._types[table].get(column, "") if kind is Kind.INTEGER else ""
        return f"CAST({values} AS {as_type or SPARK.types[kind]})"

    def _refuse_rows_without_ids(self, text: str) -> None:
        for name, table in self._tables.items():
            is_read = f"{SPARK.quoted(name)}.{ROW_ID}".casefold() in text.casefold()
            if is_read and not table.has_row_ids:
                raise UnsupportedError(
                    f"Each row of {name} is a privacy unit, but Spark cannot identify its rows",
                    "Ask the data owner to declare a column as the unit, or to read the table from "
                    "Parquet files",
                )

    def run(self, statement: Statement, scalars: Scalars) -> ExactTable:
        query, text = statement.query, statement.sql
        if statement.reads_scalars:
            text = sql(query, scalars, self._dialect)
        rows: pa.Table | None = None
        until = monotonic() + self._limits.timeout
        collect = partial(self._collected, until=until)
        try:
            tables = tables_counted(query, self._dialect)
            if tables and self._heavy.count(tables, collect, until):
                rows = collect(text)
                rows = rows if self._heavy.are_same(tables) else None
            if rows is None:
                rows = collect(sql(query, scalars) if tables else text)
        except failures() as cause:  # TimeoutError is one
            # Its words may hold a value: they stay out of what is logged by default, and out of
            # the context of what is raised.
            log.error("a query failed with %s: %s", type(cause).__name__, text)
            log.debug("the engine's own words", exc_info=cause)
        if rows is None:
            is_late = monotonic() >= until
            raise EngineError("time" if is_late else "failed")
        return ExactTable(rows)

    def _collected(self, text: str, until: float) -> pa.Table:
        return collected(self._session, text, timeout=seconds_until(until))

    def table(self, name: str) -> pa.Table:
        """Return a whole table; only ever called for tables that the catalog declares public."""
        with silent():
            return self._session.table(SPARK.quoted(name)).drop(ROW_ID).toArrow()

    def close(self) -> None:
        if self._let_go is not None:
            self._let_go()
        with silent(), suppress(*failures(), ValueError):  # a server of Connect may be gone
            for each in self._tables.values():
                if each.handed_over is not None:
                    self._session.catalog.dropGlobalTempView(each.handed_over)
        if self._is_taken or is_remote(self._session):
            give_back(self._session)
            self._is_taken = False


def sql(query: ExactQuery, released: Numbers = None, dialect: Dialect = SPARK) -> str:
    """Return what the engine would run; noisy numbers that are not known yet stand as names."""
    return with_our_names(write_query(query, dialect, released))
