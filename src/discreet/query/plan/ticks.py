"""What a series counts at each tick: the rows that arrived in it, by the groups of its query.

Of a unit only the first rows by arrival are used, so many as the series allows in all. Rows that
arrive later never change which rows of earlier ticks count, and a choice over the whole table
would. Ties are broken by the contents of the rows. Proof: docs/proofs/streams.md.
"""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from itertools import product

from discreet.accounting.events import Event
from discreet.catalog.schema import Kind, PrivateTable, RowUnit, Value
from discreet.catalog.series import SeriesPolicy
from discreet.query.expressions.facts import facts_from_column, literal
from discreet.query.expressions.functions import call
from discreet.query.plan.components import (
    Components,
)
from discreet.query.questions import (
    Aggregation,
    Clamped,
    Key,
)
from discreet.query.tree import (
    ColumnOf,
    ContributionBounding,
    ExactQuery,
    Expression,
    Facts,
    Interval,
    NamedExpression,
    Ordering,
    Relation,
    Select,
    Window,
    WindowFunction,
    map_columns,
)
from discreet.streams import (
    StreamMechanism,
)

ARRIVED, ROWS = "__arrived", "__series"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesMeasure:
    """A column of a series: where its exact sums are found, and the noise that its ticks get."""

    column: str
    """As the query calls it."""
    is_first: bool
    """Whether units are counted where they first appear, and not rows."""
    measure: Components
    columns: tuple[str, ...]
    """Of the exact query, whose sums the cell is made of."""
    unit: Fraction
    """What one step of a released number is worth."""
    is_integer: bool
    mechanism: StreamMechanism


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesPlan:
    """All that is fixed of a series before any data is read."""

    policy: SeriesPolicy
    table: PrivateTable
    aggregation: Aggregation
    keys: tuple[str, ...]
    """What the query calls the columns that it groups by."""
    groups: tuple[tuple[Value, ...], ...]
    """All groups, each at every tick; one without any value if there are no keys."""
    measures: tuple[SeriesMeasure, ...]
    events: tuple[Event, ...]
    epsilon: Fraction
    delta: Fraction
    identity: str
    """What it shares with those, and only those, that mean and cost the same."""

    @property
    def clamped(self) -> tuple[Clamped, ...]:
        """Each expression whose values are moved into a range where they are summed."""
        found = [
            Clamped(
                text=each.argument_text or each.text,
                low=ends[0],
                high=ends[1],
                kind=each.argument.facts.kind,
            )
            for each, own in zip(self.aggregation.aggregates, self.measures, strict=True)
            if (ends := own.measure.clamped) is not None and each.argument is not None
        ]
        return tuple(dict.fromkeys(found))

    def queries(self, last: int) -> tuple[ExactQuery, ...]:
        """Return what the engine computes for all ticks up to one: sums by tick and group."""
        kinds = dict.fromkeys(each.is_first for each in self.measures)
        return tuple(self._query(last, is_first=each) for each in kinds)

    def query_of(self, measure: SeriesMeasure) -> int:
        """Return the number of the query that has the sums of a measure."""
        return [*dict.fromkeys(each.is_first for each in self.measures)].index(measure.is_first)

    def tick_keys(self, last: int) -> tuple[tuple[Value, ...], ...]:
        """Return the keys of all results up to a tick: the beginning of the tick, then the group's.

        They are in the order of ticks, and of groups within a tick.
        """
        starts = (self._moment(self.policy.start(each)) for each in range(1, last + 1))
        return tuple((start, *group) for start, group in product(starts, self.groups))

    @property
    def key_kinds(self) -> tuple[Kind, ...]:
        """The kinds of these keys."""
        first = self._tick_key(ROWS).facts.kind
        return (first, *(each.expression.facts.kind for each in self.aggregation.keys))

    # ----------------------------------------------------------------------- rows

    def _query(self, last: int, *, is_first: bool) -> ExactQuery:
        own = [each for each in self.measures if each.is_first is is_first]
        sums = tuple(dict.fromkeys(part for each in own for part in each.measure.sums))
        rows = self._first_units(last) if is_first else self._first_rows(last)
        is_row = self._is_row
        return ExactQuery(
            rows=rows,
            name=ROWS,
            keys=(self._tick_key(ROWS), *(_of_rows(each) for each in self.aggregation.keys)),
            bounding=ContributionBounding.NONE if is_row else ContributionBounding.ROWS,
            contribution_limit=1 if is_row else own[0].mechanism.rows_per_unit,
            sums=tuple(_renamed(each, self.aggregation.name) for each in sums),
            is_bounded=True,
        )

    def _first_rows(self, last: int) -> Relation:
        """Return the rows of a unit that count: its first ones, and of a tick its first ones."""
        rows: Relation = self._arrived(last)
        policy, most = self.policy, self._most
        if self._is_row:
            return rows
        if policy.rows_per_tick is not None and policy.rows_per_tick < most:
            rows = self._numbered(rows, policy.rows_per_tick, (self._tick_key(ROWS),))
        return self._numbered(rows, most, ())

    def _first_units(self, last: int) -> Relation:
        """Return the row with which a unit first appears, in each group if there are groups."""
        rows: Relation = self._arrived(last)
        if self._is_row:
            return rows
        keys = tuple(_of_rows(each) for each in self.aggregation.keys)
        rows = self._numbered(rows, 1, keys)
        return self._numbered(rows, self._most, ()) if keys else rows

    @property
    def _is_row(self) -> bool:
        return is_row_each(self.table, self.aggregation.rows)

    @property
    def _select(self) -> Select:
        select = self.aggregation.rows
        assert isinstance(select, Select)  # noqa: S101 - checked when it was planned
        return select

    @property
    def _arrived_name(self) -> str:
        """What the arrival time is called beside the columns of the query; none is called so."""
        names = {each.name.casefold() for each in self._select.columns}
        name = ARRIVED
        while name in names:
            name += "_"
        return name

    @property
    def _most(self) -> int:
        return self.policy.rows_per_unit or 1

    def _arrived(self, last: int) -> Select:
        """Return the rows of the query that arrived from the first tick to the last one."""
        select = self._select
        arrival = self._arrival(select.name)
        kind = arrival.facts.kind
        ends = [self.policy.first, self.policy.start(last + 1)]
        low, high = (literal(_as_kind(each, kind), kind) for each in ends)
        tests = [call("greater_or_equal", arrival, low), call("less", arrival, high)]
        where = [*([] if select.where is None else [select.where]), *tests]
        columns = (*select.columns, NamedExpression(name=self._arrived_name, expression=arrival))
        return replace(select, where=call("and", *where), columns=columns)

    def _numbered(self, rows: Relation, most: int, partition: tuple[Expression, ...]) -> Select:
        """Return the first rows of each unit by arrival, or of each unit and key."""
        number = Window(
            function=WindowFunction.ROW_NUMBER,
            arguments=(),
            partition=partition,
            order=(Ordering(expression=self._arrival(ROWS, self._arrived_name)),),
            frame="whole",
            facts=Facts(kind=Kind.INTEGER, interval=Interval(low=Fraction(0)), nullable=False),
        )
        assert isinstance(rows, Select)  # noqa: S101 - each of ours is one
        columns = tuple(
            replace(each, expression=_column(ROWS, each.name, each.expression.facts))
            for each in rows.columns
        )
        only = call("less_or_equal", number, literal(most))
        return Select(source=rows, name=ROWS, columns=columns, qualify=only)

    def _arrival(self, source: str, name: str | None = None) -> ColumnOf:
        own = next(each for each in self.table.columns if each.name == self.table.arrival)
        return _column(source, name or own.name, facts_from_column(own))

    def _tick_key(self, source: str) -> Expression:
        unit = literal(self.policy.clock.value)
        return call("date_trunc", unit, self._arrival(source, self._arrived_name))

    def _moment(self, start: datetime) -> datetime:
        is_zoned = self._tick_key(ROWS).facts.kind is Kind.TIMESTAMP_TZ
        return start.replace(tzinfo=UTC) if is_zoned else start


def is_row_each(table: PrivateTable, rows: Relation) -> bool:
    """Return whether each row is a unit, and no join can make several of it."""
    is_joined = isinstance(rows, Select) and bool(rows.joins)
    return isinstance(table.unit, RowUnit) and not is_joined


def _as_kind(moment: datetime, kind: Kind) -> Value:
    if kind is Kind.DATE:
        return moment.date()
    return moment.replace(tzinfo=UTC) if kind is Kind.TIMESTAMP_TZ else moment


def _column(source: str, name: str, facts: Facts) -> ColumnOf:
    return ColumnOf(source=source, name=name, facts=facts)


def _of_rows(key: Key) -> Expression:
    return _renamed(key.expression, None)


def _renamed(expression: Expression, name: str | None) -> Expression:
    """Return an expression over the rows of an aggregation, over those of a series."""
    return map_columns(
        expression,
        lambda each: replace(each, source=ROWS) if name in (None, each.source) else each,
    )
