"""Connections and cursors of PEP 249. A query is run when it is executed, and charged then."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeAlias

import pyarrow as pa

import discreet
from discreet.answer import Answer
from discreet.answer.columns import rows_of, with_intervals
from discreet.asked import Answers, is_answering
from discreet.dbapi import exceptions
from discreet.dbapi.exceptions import (
    InterfaceError,
    NotSupportedError,
    ProgrammingError,
    translated,
)
from discreet.dbapi.type_objects import type_code
from discreet.errors import HIDDEN, ParameterError
from discreet.parameters import Real, confidence_level, flag, integer, rational
from discreet.terms import Terms
from discreet.written import Parameters, dialect_named

Source: TypeAlias = Answers | str | Path
"""What a connection is made to: something that answers, a catalog file, or a server's address."""

Row: TypeAlias = tuple[Any, ...]

ColumnDescription: TypeAlias = tuple[str, str, None, None, int | None, int | None, bool]
"""Name, type code, two sizes that are not known, precision, scale, and whether NULL can occur."""

ADDRESS = re.compile("https?://", re.IGNORECASE)

NO_COST = (
    "No cost was given for this query. Add epsilon=0.1 or within=20 to execute(), or to connect() "
    "for all queries."
)


def connect(  # noqa: PLR0913 - each is a thing that may be stated of a query
    source: Source,
    *,
    token: str | None = None,
    catalog: str | None = None,
    epsilon: Real | None = None,
    delta: Real | None = None,
    within: Real | Mapping[str, Real] | None = None,
    confidence: Real = 0.95,
    dialect: str = "duckdb",
    intervals: bool = False,
) -> "Connection":
    """Return a connection to a curator, an account, a client, a catalog file or a server's address.

    A file or an address is opened, and closed with the connection. An analyst gives a token. Where
    a server has several catalogs, `catalog` names one.

    `epsilon` or `within` is stated for each query that is executed, unless the execution states
    its own. Without either, only queries that cost nothing are answered.
    """
    with translated():
        if epsilon is not None:
            rational("epsilon", epsilon, above=0)
        if delta is not None:
            rational("delta", delta, above=0, below=1)
        confidence_level(confidence)
        dialect_named(dialect)
        shows_intervals = flag("intervals", intervals)
        answers, opened = _opened(source, token, catalog)
    terms: Terms = {
        "epsilon": epsilon,
        "delta": delta,
        "within": within,
        "confidence": confidence,
        "dialect": dialect,
    }
    return Connection(_Session(answers, terms, opened), intervals=shows_intervals)


def _opened(source: object, token: str | None, catalog: str | None) -> tuple[Answers, Any]:
    """Return what answers, and what is to be closed with the connection."""
    is_address = isinstance(source, str) and ADDRESS.match(source) is not None
    if catalog is not None and not is_address:
        raise ParameterError("catalog", catalog, "is for the address of a server only")
    if isinstance(source, str) and is_address:
        client = discreet.connect(source, token, catalog=catalog)
        return client, client
    if isinstance(source, str | Path):
        curator = discreet.open(source)
        try:
            return (curator if token is None else curator.as_analyst(token)), curator
        except BaseException:
            curator.close()
            raise
    if not is_answering(source):
        rule = (
            "must be a curator, an account, a client of a server, the path of a catalog file, or "
            "the address of a server"
        )
        raise ParameterError("source", source, rule)
    if token is not None:
        raise ParameterError("token", HIDDEN, "is for a catalog file or the address of a server")
    return source, None


class _Session:
    """What a connection and its cursors share: who is asked, on which terms, until it is closed."""

    def __init__(self, answers: Answers, terms: Terms, opened: Any) -> None:
        self.answers, self.terms, self.opened = answers, terms, opened
        self.is_closed = False

    def check_open(self) -> None:
        """Raise an InterfaceError if the connection is closed."""
        if self.is_closed:
            raise InterfaceError("This connection is closed. Connect again.")

    def ask(self, sql: str, parameters: Parameters, stated: Mapping[str, Any]) -> Answer:
        """Return the answer of a query; terms that are stated replace those of the connection."""
        given = {name: each for name, each in stated.items() if each is not None}
        terms: Terms = {**self.terms, "parameters": parameters}
        if given.keys() & {"epsilon", "within"}:
            terms["epsilon"] = terms["within"] = None
        terms.update(given)  # type: ignore[typeddict-item]  # names of terms, by execute
        has_cost = not (terms["epsilon"] is None and terms["within"] is None)
        try:
            return self.answers.ask(sql, **terms)
        except ParameterError as cause:
            if has_cost or cause.name != "epsilon":
                raise
            raise ProgrammingError(NO_COST) from cause

    def close(self) -> None:
        """Close what the connection opened."""
        if not self.is_closed:
            self.is_closed = True
            if self.opened is not None:
                self.opened.close()


class Connection:
    """A connection of PEP 249. There are no transactions: what was charged stays charged.

    `intervals = True` adds columns `<x>_low` and `<x>_high` beside each noisy column `<x>`.
    """

    Warning = exceptions.Warning
    Error = exceptions.Error
    InterfaceError = exceptions.InterfaceError
    DatabaseError = exceptions.DatabaseError
    DataError = exceptions.DataError
    OperationalError = exceptions.OperationalError
    IntegrityError = exceptions.IntegrityError
    InternalError = exceptions.InternalError
    ProgrammingError = exceptions.ProgrammingError
    NotSupportedError = exceptions.NotSupportedError

    def __init__(self, session: _Session, *, intervals: bool = False) -> None:
        self._session = session
        self.intervals = intervals

    def cursor(self) -> "Cursor":
        """Return a new cursor."""
        self._session.check_open()
        return Cursor(self, self._session)

    def commit(self) -> None:
        """Do nothing: a query only reads, and its charge is durable before it runs."""
        self._session.check_open()

    def rollback(self) -> None:
        """Do nothing: what was charged cannot be taken back."""
        self._session.check_open()

    def close(self) -> None:
        """Close the connection, and the data or the client if `connect` opened them."""
        self._session.close()

    def __repr__(self) -> str:
        return f"<discreet.dbapi.Connection {'closed' if self._session.is_closed else 'open'}>"

    def __enter__(self) -> Self:
        self._session.check_open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Cursor:
    """A cursor of PEP 249: runs a query, and holds its answer."""

    def __init__(self, connection: Connection, session: _Session) -> None:
        self._connection, self._session = connection, session
        self._is_closed = False
        self.arraysize = 1
        """How many rows `fetchmany` returns if it is not told."""
        self._forget()

    def _forget(self) -> None:
        self._answer: Answer | None = None
        self._description: tuple[ColumnDescription, ...] | None = None
        self._rows: Sequence[Row] | None = None
        self._next = 0

    @property
    def connection(self) -> Connection:
        """The connection that made this cursor."""
        return self._connection

    @property
    def answer(self) -> Answer | None:
        """The whole answer of the last query, with margins, notes and cost; None before it."""
        return self._answer

    @property
    def description(self) -> tuple[ColumnDescription, ...] | None:
        """The columns of the last query, None before it: name, type code, and five more facts."""
        return self._description

    @property
    def rowcount(self) -> int:
        """The number of rows of the last answer; -1 before it."""
        return -1 if self._rows is None else len(self._rows)

    @property
    def rownumber(self) -> int | None:
        """The place of the next row, from 0; None if no query was run."""
        return None if self._rows is None else self._next

    @property
    def lastrowid(self) -> None:
        """None: a query changes no rows."""
        return

    def execute(  # noqa: PLR0913 - each is a thing that may be stated of a query
        self,
        operation: str,
        parameters: Parameters = None,
        *,
        epsilon: Real | None = None,
        delta: Real | None = None,
        within: Real | Mapping[str, Real] | None = None,
        confidence: Real | None = None,
        dialect: str | None = None,
    ) -> Self:
        """Run a query, with a list of values for ? or a mapping for :name; return the cursor.

        What is stated here replaces what the connection states. `epsilon` or `within` replaces
        both.
        """
        self._check_open()
        self._forget()
        stated = {
            "epsilon": epsilon,
            "delta": delta,
            "within": within,
            "confidence": confidence,
            "dialect": dialect,
        }
        with translated():
            self._take(self._session.ask(operation, parameters, stated))
        return self

    def _take(self, answer: Answer) -> None:
        table = answer.table
        if self._connection.intervals:
            table = with_intervals(table, answer.column_margins, answer.column_intervals)
        self._answer, self._rows = answer, rows_of(table)
        self._description = tuple(map(_described, table.schema))

    def executemany(self, operation: str, seq_of_parameters: Sequence[Parameters]) -> None:
        """Raise a NotSupportedError: it is for statements without a result, and there are none."""
        self._check_open()
        del operation, seq_of_parameters
        raise NotSupportedError(
            "executemany() is for statements without a result, and every query has one. Call "
            "execute() for each list of parameters."
        )

    def fetchone(self) -> Row | None:
        """Return the next row, or None after the last."""
        return next(iter(self._fetched(1)), None)

    def fetchmany(self, size: int | None = None) -> list[Row]:
        """Return the next rows: as many as `size` or else `arraysize` says, or fewer at the end."""
        with translated():
            number = integer("size", self.arraysize if size is None else size, least=0)
        return self._fetched(number)

    def fetchall(self) -> list[Row]:
        """Return all remaining rows."""
        return self._fetched(None)

    def setinputsizes(self, sizes: Sequence[object]) -> None:
        """Do nothing: values need no sizes."""
        self._check_open()
        del sizes

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Do nothing: columns need no sizes."""
        self._check_open()
        del size, column

    def close(self) -> None:
        """Forget the answer; nothing can be done with the cursor afterwards."""
        self._is_closed = True
        self._forget()

    def __iter__(self) -> Iterator[Row]:
        return self

    def __next__(self) -> Row:
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    def __repr__(self) -> str:
        if self._rows is None:
            return f"<discreet.dbapi.Cursor {'closed' if self._is_closed else 'without a result'}>"
        return f"<discreet.dbapi.Cursor with {len(self._rows)} rows>"

    def __enter__(self) -> Self:
        self._check_open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _check_open(self) -> None:
        if self._is_closed:
            raise InterfaceError("This cursor is closed. Make another with connection.cursor().")
        self._session.check_open()

    def _fetched(self, number: int | None) -> list[Row]:
        self._check_open()
        if self._rows is None:
            raise ProgrammingError("There are no rows to fetch. Run a query first, with execute().")
        end = len(self._rows) if number is None else min(self._next + number, len(self._rows))
        found = list(self._rows[self._next : end])
        self._next = end
        return found


def _described(field: "pa.Field[Any]") -> ColumnDescription:
    kind = field.type
    is_decimal = pa.types.is_decimal(kind)
    precision, scale = (kind.precision, kind.scale) if is_decimal else (None, None)
    return field.name, type_code(kind), None, None, precision, scale, field.nullable
