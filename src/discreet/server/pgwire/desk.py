"""What a connection asks of the server: columns, explanations and answers of its account.

Answers take the same way as those over HTTP: turns, approvals, saved replies, the audit log, the
clock at which replies leave. Nothing is charged before a cost is stated.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any, TypeVar

import pyarrow as pa
from pydantic import ValidationError

from discreet.answer import Answer
from discreet.answer.answer import Note
from discreet.answer.columns import ResultColumn, Role
from discreet.explanation import Explanation
from discreet.server.admission import Check, Turns, tick
from discreet.server.analyst_routes import explained
from discreet.server.asking import QueryRunner, answer_in
from discreet.server.bodies import AskBody, ExplainBody
from discreet.server.callers import Caller
from discreet.server.faults import error_of
from discreet.server.pgwire.frames import WireColumn, WireFrame
from discreet.server.pgwire.lexer import SqlStatement
from discreet.server.pgwire.results import Result, Row, column
from discreet.server.pgwire.rounded_times import RoundedQuery, rounded
from discreet.server.pgwire.sqlstates import WireError, notice, wire_error
from discreet.server.pgwire.values import FLOAT8, coerced, type_of
from discreet.server.pgwire.variables import Variables
from discreet.server.settings import Settings
from discreet.server.signing import SignIns
from discreet.written import json_from, written

T = TypeVar("T")

LOW, HIGH = "low", "high"

USUAL = "0.1"
"""The ε that EXPLAIN is about if none is stated. It is free, and shows it."""


@dataclass(slots=True, kw_only=True)
class AccountDesk:
    """The server, for the account of one connection."""

    caller: Caller
    runner: QueryRunner
    planning: Turns
    settings: Settings
    sign_ins: SignIns
    variables: Variables = field(default_factory=Variables)

    @property
    def tables(self) -> frozenset[str]:
        """The names of all tables of the catalog, in small letters."""
        return frozenset(each.name.casefold() for each in self.caller.site.curator.catalog.tables)

    # ----------------------------------------------------------------------- what is asked

    async def columns(
        self, statement: SqlStatement, values: Sequence[Any], is_gone: Check
    ) -> tuple[ResultColumn, ...]:
        """Return the columns that an answer would have; nothing is charged."""
        query = await self._query(statement, values)

        def act() -> tuple[ResultColumn, ...]:
            return self.caller.site.curator.columns(
                query.text,
                parameters=query.parameters,
                dialect=query.dialect.value,
                account=self.caller.account,
            )

        with _told(query.offset, query.hint):
            return await self._planned(act, is_gone)

    async def explain(
        self, statement: SqlStatement, values: Sequence[Any], is_gone: Check
    ) -> Explanation:
        """Return what a query would cost and how good its answer would be."""
        query = await self._query(statement, values)
        with _told(query.offset, query.hint):
            asked = await asyncio.to_thread(self._body, query)
            if asked.epsilon is None and asked.within is None:
                asked = asked.model_copy(update={"epsilon": USUAL})
            body = ExplainBody(**asked.model_dump(exclude={"accept_unlikely"}))
            return await self._planned(
                lambda: explained(self.caller, body, with_fixes=False), is_gone
            )

    async def ask(
        self, statement: SqlStatement, values: Sequence[Any], is_gone: Check
    ) -> tuple[Answer, tuple[WireFrame, ...]]:
        """Return the answer to a query, charged to the account at the cost that was stated.

        Notices beside it say which times were rounded.
        """
        query = await self._query(statement, values)
        with _told(query.offset, query.hint):
            body = await asyncio.to_thread(self._body, query)
            has_cost = body.epsilon is not None or body.within is not None
        with _told(query.offset, query.hint, has_cost=has_cost):
            self._count()
            try:
                reply = await self.runner.ask(self.caller, body, None, is_gone, waits=True)
            finally:
                await tick(self.settings)
            answer = await asyncio.to_thread(answer_in, reply.body)
        return answer, query.notices

    async def _query(self, statement: SqlStatement, values: Sequence[Any]) -> RoundedQuery:
        """Return what is asked, with times rounded down if that is wanted."""
        query = written(
            statement.text, list(values) if values else None, self.variables.stated("dialect")
        )
        catalog, is_on = self.caller.site.curator.catalog, self.variables.is_on("snap_times")
        with _told(statement.offset):
            return await asyncio.to_thread(
                rounded, query, catalog, offset=statement.offset, is_on=is_on
            )

    def _body(self, query: RoundedQuery) -> AskBody:
        amount = self.variables.stated
        stated = {
            name: value
            for name in ("epsilon", "delta", "within", "confidence")
            if (value := amount(name)) is not None
        }
        if not {"epsilon", "within"} & stated.keys():
            default = self.caller.site.curator.limits_of(self.caller.account).default_epsilon
            stated |= {} if default is None else {"epsilon": str(default)}
        groups = amount("groups_per_unit")
        try:
            return AskBody.model_validate(
                {
                    **stated,
                    "sql": query.text,
                    "groups_per_unit": None if groups is None else int(groups),
                    "parameters": json_from(query.parameters),
                    "dialect": query.dialect.value,
                    "accept_unlikely": self.variables.is_on("accept_unlikely"),
                }
            )
        except ValidationError:
            raise WireError("54000", "The query or one of its parameters is too long") from None

    # ----------------------------------------------------------------------- how

    def _count(self) -> None:
        self.sign_ins.count({self.caller.site.name: self.caller})

    async def _planned(self, act: Callable[[], T], is_gone: Check) -> T:
        """Do what reads no private data, in a thread, when it is the caller's turn."""
        self._count()

        def allowed() -> T:
            self.caller.check_still()
            return act()

        try:
            async with self.planning.turn(self.caller.place, is_gone):
                return await asyncio.to_thread(allowed)
        finally:
            await tick(self.settings)


class _told:  # noqa: N801 - used like a function
    """Tells errors of the server as PostgreSQL's clients read them."""

    def __init__(self, offset: int | None, hint: str = "", *, has_cost: bool = True) -> None:
        self._offset, self._hint, self._has_cost = offset, hint, has_cost

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Replace an error of the server."""
        if isinstance(error, Exception) and not isinstance(error, WireError):
            told = wire_error(error_of(error), self._offset, has_cost=self._has_cost)
            told.hint = ". ".join(each for each in (told.hint, self._hint) if each)
            raise told from None


# --------------------------------------------------------------------------- results


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The columns of a result, before it is there or from it."""

    columns: tuple[WireColumn, ...]
    has_ends: tuple[bool, ...] | None
    """For each column of the answer, whether the ends of its interval follow; None if unknown."""


def shape_of(
    columns: Sequence[ResultColumn], names: Sequence[str] | None, has_intervals: bool
) -> Shape:
    """Return the columns of an answer before it is there; each estimate may have two ends."""
    own = _names([each.name for each in columns], names)
    has_ends = tuple(
        has_intervals and (each.role is Role.ESTIMATE or each.has_interval) for each in columns
    )
    found = []
    for each, name, is_followed in zip(columns, own, has_ends, strict=True):
        found.append(column(name, type_of(each.type)))
        if is_followed:
            type_ = type_of(each.type) if each.has_interval else FLOAT8
            found += [column(f"{name}_{end}", type_) for end in (LOW, HIGH)]
    return Shape(columns=tuple(found), has_ends=has_ends)


def _names(own: Sequence[str], others: Sequence[str] | None) -> list[str]:
    """Return names of columns as PostgreSQL has them: `count` for COUNT(*)."""
    if others is not None and len(others) == len(own):
        return list(others)
    return [each.partition("(")[0].casefold() if "(" in each else each for each in own]


def result_of(
    answer: Answer,
    *,
    names: Sequence[str] | None,
    has_intervals: bool,
    shape: Shape | None,
    notices: tuple[WireFrame, ...] = (),
) -> Result:
    """Return an answer as a result, with the columns that were described if some were."""
    columns: list[WireColumn] = []
    values: list[list[Any]] = []
    own = _names(answer.columns, names)
    intervals = answer.column_intervals or [None] * len(own)
    has_ends = _has_ends(answer, has_intervals) if shape is None else shape.has_ends
    for i, (name, ends) in enumerate(zip(own, intervals, strict=True)):
        columns.append(column(name, type_of(answer.table.schema.field(i).type)))
        values.append(answer.table.column(i).to_pylist())
        if has_ends is not None and has_ends[i]:
            type_ = FLOAT8 if ends is None else type_of(ends[0].type)
            columns += [column(f"{name}_{end}", type_) for end in (LOW, HIGH)]
            values += _ends_of(answer, i)
    if shape is not None:
        if len(shape.columns) != len(columns):
            raise WireError("XX000", "The columns differ from those that were described")
        values = [
            [coerced(each, known.type) for each in found]
            for found, known in zip(values, shape.columns, strict=True)
        ]
        columns = list(shape.columns)
    rows: list[Row] = list(zip(*values, strict=True))
    said = _said(answer, own, has_intervals)
    return Result(tag="SELECT", columns=tuple(columns), rows=rows, notices=(said, *notices))


def _has_ends(answer: Answer, has_intervals: bool) -> tuple[bool, ...]:
    intervals = answer.column_intervals or [None] * len(answer.columns)
    return tuple(
        has_intervals and (role is Role.ESTIMATE or ends is not None)
        for role, ends in zip(answer.roles, intervals, strict=True)
    )


def _ends_of(answer: Answer, i: int) -> tuple[list[Any], list[Any]]:
    """Return the lower and upper ends of the intervals of a column."""
    ends = answer.column_intervals[i] if answer.column_intervals else None
    if ends is not None:
        low_end, high_end = (pa.table([each], names=["end"]).column(0) for each in ends)
        return low_end.to_pylist(), high_end.to_pylist()
    values: list[Any] = answer.table.column(i).to_pylist()
    margins = answer.column_margins[i]
    found = [None] * len(values) if margins is None else margins.tolist()
    low: list[Any] = []
    high: list[Any] = []
    for value, margin in zip(values, found, strict=True):
        is_known = value is not None and margin is not None and not isnan(margin)
        low.append(float(value) - margin if is_known else None)
        high.append(float(value) + margin if is_known else None)
    return low, high


def _said(answer: Answer, names: Sequence[str], has_intervals: bool) -> WireFrame:
    """Return the notice after an answer: what it cost, what remains, and what limits it."""
    printed = [str(each) for each in answer.notes if isinstance(each, Note) and each.is_printed]
    margins = [] if has_intervals else _margins(answer, names)
    return notice(" · ".join(answer.footer), "\n".join([*margins, *printed]))


def _margins(answer: Answer, names: Sequence[str]) -> list[str]:
    """Return the margins of error of all columns in one line."""
    found = []
    for name, widths in zip(names, answer.column_margins, strict=True):
        known = [] if widths is None else [each for each in widths.tolist() if not isnan(each)]
        if known:
            low, high = f"{min(known):.3g}", f"{max(known):.3g}"
            found.append(f"{name} ±{low}" if low == high else f"{name} ±{low} to ±{high}")
    if not found:
        return []
    level = f"{float(answer.confidence) * 100:g}%"
    more = "SET discreet.intervals = on adds columns for them."
    return [f"Margin of error at {level} confidence: {', '.join(found)}. {more}"]
