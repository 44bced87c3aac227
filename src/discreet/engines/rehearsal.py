"""Rehearsals: a statement runs on synthetic rows before anything is charged for it.

Whether an engine fails may depend on the rows, so a failure on private rows tells something about
them. A failure on synthetic rows tells nothing. Every statement is therefore run first on no rows,
and on rows that reach its branches: values that the query names and those next to them, extreme
ones and NULL, in combination; then once more for each branch of its CASEs, with no condition in the
way, and with every part of every condition computed for all rows. What fails there is rejected for
free. The rows stand in the statement itself, as typed VALUES under the names of the tables, so that
nothing is created and no private row is read.
"""

# ruff: noqa: S608 - this file writes SQL; every name in it is quoted and every value a literal

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from functools import partial
from math import inf
from zlib import crc32

from discreet.catalog.schema import Column, Kind, Value
from discreet.engines.dialect import Dialect
from discreet.engines.half_heavy import HalfHeavy
from discreet.engines.released import Row, changed, nodes_in, with_released
from discreet.engines.writer import (
    ABOUT,
    EVERY,
    KEPT,
    UNIT,
    column_name,
    rank_name,
    write_literal,
    write_query,
)
from discreet.engines.writer.units import unit_kind
from discreet.errors import QuestionSizeError
from discreet.query.expressions.functions import call
from discreet.query.tree import (
    Call,
    Case,
    ColumnOf,
    ConstantRows,
    ExactQuery,
    Expression,
    Facts,
    Join,
    Literal,
    PublicScan,
    ReleasedRows,
    ReleasedScalar,
    Scan,
    Select,
)

ROWS = {2: 48, 4: 16, 8: 6, 16: 2, inf: 1}
"""The number of synthetic rows of each table, by the most joins of a query."""

MOST_LITERALS = 24
"""The most values of each kind that are taken from the query."""

MOST_BRANCHES = 30
"""So many branches of a CASE are tried without their conditions, from the first to the last."""

MOST_WAYS = 20_000
"""So many rows at most a join has where its conditions leave out none."""

LONGEST = 60_000
"""Forms of a query are rehearsed together up to so many characters."""

STAND_INS: tuple[tuple[Value, ...], ...] = tuple(
    (value,) * 1000 for value in (0.0, 1e300, -1e300, None)
)
"""Stand for noisy numbers that are not known yet."""

HOSTILE: Mapping[Kind, tuple[Value, ...]] = {
    Kind.BOOLEAN: (True, False),
    Kind.INTEGER: (0, 1, -1, 2, 127, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63)),
    Kind.REAL: (0.0, 1.0, -1.5, 1e-9, 1e15, -1e15, 5e-324, 1.7976931348623157e308, -1.79e308),
    Kind.TEXT: ("", "a", "A", " ", "%", "_", "\\", "é", "İ", "0", "-1", "1e400", "x" * 300),
    Kind.DATE: (date(1970, 1, 1), date(2024, 2, 29), date(1, 1, 1), date(9999, 12, 31)),
    Kind.TIMESTAMP: (
        datetime(1970, 1, 1),
        datetime(2024, 2, 29, 23, 59, 59, 999_999),
        datetime(1, 1, 1),
        datetime(9999, 12, 31, 23, 59, 59, 999_999),
    ),
    Kind.TIMESTAMP_TZ: (
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(2024, 2, 29, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    ),
}
"""Values at the ends of what a column of a kind can hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceColumn(Column):
    """A column of prepared tables that Discreet computed: it holds no other numbers than these."""

    within: tuple[int, int]


Columns = list[tuple[str, Column | None]]
"""The columns of a table as a statement calls them; None for what tells rows apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """What is rehearsed for an engine: how it writes, and what its tables are made of."""

    dialect: Dialect
    columns: Callable[[str], tuple[Column, ...]]
    """The columns of a public table."""
    typed: Callable[[str, str, Kind, str], str]
    """How values are given the type of a column: table, column, kind, values."""

    def statements(self, query: ExactQuery) -> Iterator[str]:
        """Yield what must run without failing before a query may run on private rows.

        Several forms of a query stand in one statement, as they give the same columns.
        """
        # No question names a table that begins with __: prepared ones are taken for no other.
        dialect = replace(
            self.dialect,
            has_schemas=False,
            schemas="__{0}",
            heavy=None if self.dialect.heavy is None else HalfHeavy(self.dialect),
            fresh="",
        )
        nodes = list(nodes_in(query))
        joins = sum(isinstance(each, Join) for each in nodes)
        rows = next(rows for most, rows in ROWS.items() if joins <= most)
        released = [each for each in nodes if isinstance(each, ReleasedRows)]
        empty = with_released(query, {each.number: () for each in released})
        query = with_released(query, {each.number: _hostile_rows(each, rows) for each in released})
        if any(isinstance(each, ConstantRows | ReleasedRows) for each in nodes):
            query = changed(query, partial(_with_few_rows, rows))
        values = _values(query)
        text = write_query(query, dialect, STAND_INS[0])
        texts = [text, *(write_query(each, dialect, STAND_INS[0]) for each in _unguarded(query))]
        if released:
            texts.append(write_query(empty, dialect, STAND_INS[0]))
        if any(isinstance(each, ReleasedScalar) for each in nodes):
            texts += [write_query(query, dialect, each) for each in STAND_INS[1:]]
        yield self._with_rows(query, dialect, text, values, 0)
        for each in _joined(texts):
            yield self._with_rows(query, dialect, each, values, rows)
        ways = int(MOST_WAYS ** (1 / (joins + 1)))
        with suppress(QuestionSizeError):  # as deep as expressions may be
            eager = write_query(changed(query, _eager), dialect, STAND_INS[0])
            if eager != text:
                yield self._with_rows(query, dialect, eager, values, max(1, min(rows, ways)))

    def _with_rows(
        self,
        query: ExactQuery,
        dialect: Dialect,
        text: str,
        values: Mapping[Kind, Sequence[Value]],
        rows: int,
    ) -> str:
        parts = []
        for name, table, columns in self._tables(query, dialect):
            if name not in text:
                continue
            named = [(alias, column) for alias, column in columns if alias in text]
            parts.append(f"{name} AS ({self._made(table, named, values, rows)})")
        return f"WITH {', '.join(parts)} {text}" if parts else text

    def _made(
        self, table: str, columns: Columns, values: Mapping[Kind, Sequence[Value]], rows: int
    ) -> str:
        """Return a SELECT of synthetic rows, each value of a column beside others of the others."""
        filled = ", ".join(
            f"({', '.join([str(row), *self._literals(row, columns, values)])})"
            for row in range(max(1, rows))
        )
        names = ", ".join(["n", *(f"c{number}" for number in range(len(columns)))])
        outputs = ", ".join(
            ["n AS __n"]
            + [
                f"n AS {alias}"
                if column is None
                else f"{self.typed(table, alias, column.kind, f'c{number}')} AS {alias}"
                for number, (alias, column) in enumerate(columns)
            ]
        )
        where = "" if rows else " WHERE 1 = 0"
        return f"SELECT {outputs} FROM (VALUES {filled}) AS made({names}){where}"

    def _literals(
        self, row: int, columns: Columns, values: Mapping[Kind, Sequence[Value]]
    ) -> Iterator[str]:
        """Yield a value for each column: all in turn in even rows, any in odd ones.

        Those that the query names stand first, and in odd rows they are as many as all others.
        """
        for number, (_, column) in enumerate(columns):
            kind = Kind.INTEGER if column is None else column.kind
            choices = values.get(kind, (None,))
            mixed = crc32(f"{row}:{number}".encode()) if row % 2 else row // 2 + 7 * number
            if row % 2 and mixed % 2:
                named = len(choices) - len(HOSTILE.get(kind, ()))
                choices, mixed = choices[: max(1, named)], mixed // 2
            chosen = choices[mixed % len(choices)]
            if isinstance(column, PlaceColumn) and isinstance(chosen, int):
                chosen = max(column.within[0], min(column.within[1], chosen))
            yield write_literal(chosen, kind, self.dialect)

    def _tables(self, query: ExactQuery, dialect: Dialect) -> Iterator[tuple[str, str, Columns]]:
        """Yield all tables that a query may name: as it does, by their own names, the columns.

        Of a table that it reads several times, these are all that it reads in any place.
        """
        made: dict[str, tuple[str, dict[str, Column | None]]] = {}
        reads = [each for each in nodes_in(query) if isinstance(each, ColumnOf)]
        stored = {each.name: each.within for each in reads if each.within is not None}
        for node in nodes_in(query):
            found: Iterable[tuple[str, str, Columns]]
            match node:
                case Scan():
                    found = (*_plain(node, dialect), *_prepared(node, dialect, stored))
                case PublicScan(table=table):
                    found = [_table(table, self.columns(table), dialect)]
                case _:
                    continue
            for name, own, columns in found:
                made.setdefault(name, (own, {}))[1].update(columns)
        for name, (own, every) in made.items():
            yield name, own, list(every.items())


def _joined(texts: Iterable[str]) -> Iterator[str]:
    """Yield texts together, as many as make a statement of moderate length."""
    found: list[str] = []
    for each in texts:
        if found and sum(map(len, found)) + len(each) > LONGEST:
            yield " UNION ALL ".join(found)
            found = []
        found.append(each)
    yield " UNION ALL ".join(found)


# --------------------------------------------------------------------------- tables


def _table(name: str, columns: Sequence[Column], dialect: Dialect) -> tuple[str, str, Columns]:
    own: Columns = [(dialect.quoted(each.name), each) for each in columns]
    row_id = dialect.row_id.strip(dialect.quote + '"')
    is_taken = any(each.name.casefold() == row_id for each in columns)
    return dialect.quoted(name), name, own if is_taken else [*own, (dialect.row_id, None)]


def _plain(scan: Scan, dialect: Dialect) -> Iterator[tuple[str, str, Columns]]:
    for each in (scan.table, *scan.parents):
        yield _table(each.name, each.columns, dialect)


def _prepared(
    scan: Scan, dialect: Dialect, stored: Mapping[str, tuple[int, int]]
) -> Iterator[tuple[str, str, Columns]]:
    unit = Column(name="__unit", kind=unit_kind(scan) or Kind.INTEGER)
    columns: Columns = [(UNIT, unit)]
    columns += [
        (dialect.quoted(column_name(each.name)), _as_stored(each, stored.get(each.name)))
        for each in scan.table.columns
    ]
    ranks: Columns = [
        (dialect.quoted(column_name(name)), Column(name=name, kind=Kind.INTEGER))
        for name in map(rank_name, sorted(scan.ranked))
    ]
    yield dialect.prepared(scan.table.name, KEPT), scan.table.name, [*columns, *ranks]
    yield dialect.prepared(scan.table.name, EVERY), scan.table.name, columns
    counted = [Column(name="name", kind=Kind.TEXT), Column(name="units", kind=Kind.INTEGER)]
    parts: Columns = [(f'"{each.name}"', each) for each in counted]
    yield dialect.prepared("parts", ABOUT), "parts", parts


def _as_stored(column: Column, within: tuple[int, int] | None) -> Column:
    kind = column.kind
    return column if within is None else PlaceColumn(name=column.name, kind=kind, within=within)


# --------------------------------------------------------------------------- values


def _values(query: ExactQuery) -> dict[Kind, tuple[Value, ...]]:
    """Return what columns of each kind hold: NULL, values of the query, and hostile ones."""
    named: dict[Kind, list[Value]] = {}
    for node in nodes_in(query):
        if isinstance(node, Literal) and node.value is not None:
            for kind in _kinds_beside(node.facts.kind):
                named.setdefault(kind, []).extend(_near(node.value, kind))
        elif isinstance(node, ConstantRows):
            for place, column in enumerate(node.columns):
                values = (row[place] for row in node.rows if row[place] is not None)
                named.setdefault(column.kind, []).extend(values)
    found: dict[Kind, tuple[Value, ...]] = {}
    for kind, hostile in HOSTILE.items():
        ours = list(dict.fromkeys(named.get(kind, [])))
        step = max(1, len(ours) // MOST_LITERALS)
        found[kind] = (*ours[::step], None, *hostile)
    return found


def _hostile_rows(released: ReleasedRows, rows: int) -> tuple[Row, ...]:
    """Return rows such as may be released, whatever numbers and keys these are."""
    listed = [(None, *HOSTILE.get(each.kind, ())) for each in released.columns]
    return tuple(
        tuple(each[(row + 3 * place) % len(each)] for place, each in enumerate(listed))
        for row in range(rows)
    )


def _with_few_rows(most: int, node: object) -> object:
    """Return constant rows without those in between, if there are more than so many."""
    if not isinstance(node, ConstantRows) or len(node.rows) <= most:
        return node
    step = -(-len(node.rows) // most)
    return replace(node, rows=node.rows[::step])


def _kinds_beside(kind: Kind) -> tuple[Kind, ...]:
    """Return the kinds of columns that a value of this kind may be compared with."""
    numbers = (Kind.INTEGER, Kind.REAL)
    times = (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_TZ)
    return next((each for each in (numbers, times) if kind in each), (kind,))


def _near(value: Value, kind: Kind) -> Iterator[Value]:
    """Yield a value and its neighbours, as a column of this kind can hold them."""
    match value:
        case bool() | None:
            return
        case str() if kind is Kind.TEXT:
            if "\0" not in value and value.isprintable():
                yield from (value, value.upper(), value.lower(), value[:-1], value + "x")
        case int() | float() | Fraction():
            yield from _numbers_near(Fraction(value), kind)
        case date():
            yield from _times_near(value, kind)


def _numbers_near(value: Fraction, kind: Kind) -> Iterator[Value]:
    if kind is Kind.INTEGER:
        whole = value.__floor__()
        yield from (each for each in (whole, whole - 1, whole + 1) if -(2**63) <= each < 2**63)
    elif abs(value) < Fraction(10) ** 300:
        yield from (float(value), float(value) - 1, float(value) + 1)


def _times_near(value: date, kind: Kind) -> Iterator[Value]:
    for days in (0, -1, 1):
        try:
            moved = value + timedelta(days=days)
        except OverflowError:
            continue
        day = moved.date() if isinstance(moved, datetime) else moved
        if kind is Kind.DATE:
            yield day
            continue
        stamp = moved if isinstance(moved, datetime) else datetime(day.year, day.month, day.day)
        yield stamp.replace(tzinfo=UTC if kind is Kind.TIMESTAMP_TZ else None)


# --------------------------------------------------------------------------- the tree

TRUE = Literal(value=True, facts=Facts(kind=Kind.BOOLEAN))
FALSE = Literal(value=False, facts=Facts(kind=Kind.BOOLEAN))


def _unguarded(query: ExactQuery) -> Iterator[ExactQuery]:
    """Yield the query with each branch of its CASEs taken for all rows, and without its filters."""
    most = max(
        (len(each.branches) for each in nodes_in(query) if isinstance(each, Case)), default=0
    )
    is_filtered = any(
        isinstance(each, Select) and (each.where is not None or each.qualify is not None)
        for each in nodes_in(query)
    )
    for number in _spread(most):
        opened = changed(query, partial(_opened, number)) if most else query
        if most:
            yield opened
        if is_filtered:
            yield changed(opened, _unfiltered)


def _spread(most: int) -> list[int]:
    """Return the numbers of branches that are tried; the last stands for ELSE."""
    tried = min(most, MOST_BRANCHES)
    return [number * most // tried for number in range(tried + 1)] if tried else [0]


def _eager(node: object) -> object:
    """Return a condition so that no part of it keeps another from being computed."""
    match node:
        case Call(function="and" | "or", arguments=arguments):
            return _compared(arguments)
        case Case(branches=((_, first), *rest), otherwise=otherwise, facts=facts):
            conditions = [condition for condition, _ in node.branches]
            branches = ((_compared(conditions), first), *rest)
            return Case(branches=branches, otherwise=otherwise, facts=facts)
        case _:
            return node


def _compared(conditions: Sequence[Expression]) -> Expression:
    """Return a condition that compares all of these, for which each must be computed."""
    found = list(conditions)
    while len(found) > 1:
        pairs = zip(found[::2], found[1::2], strict=False)
        last = found[len(found) // 2 * 2 :]
        found = [*(call("not_distinct", *each) for each in pairs), *last]
    return found[0]


def _opened(number: int, node: object) -> object:
    match node:
        case Case(branches=branches, otherwise=otherwise, facts=facts):
            if number < len(branches):
                return Case(
                    branches=((TRUE, branches[number][1]),), otherwise=otherwise, facts=facts
                )
            return Case(branches=((FALSE, branches[0][1]),), otherwise=otherwise, facts=facts)
        case _:
            return node


def _unfiltered(node: object) -> object:
    return replace(node, where=None, qualify=None) if isinstance(node, Select) else node
