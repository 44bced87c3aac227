"""What a series counts at each tick: the rows that arrived in it, by the groups of its query.

Of a unit only the first rows by arrival are used, so many as the series allows in all. Rows that
arrive later never change which rows of earlier ticks count, and a choice over the whole table
would. Ties are broken by the contents of the rows. Proof: docs/proofs/streams.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from itertools import product
from typing import TypedDict, Unpack

from discreet.accounting.events import Event
from discreet.catalog.catalog import Accounting, BudgetPolicy
from discreet.catalog.schema import Kind, PrivateTable, RowUnit, Value
from discreet.catalog.series import ROWS_FIX, SeriesMechanism, SeriesPolicy
from discreet.errors import ParameterError, UnsupportedError
from discreet.estimators import LinearEstimator
from discreet.mechanisms.sensitivity import ADD_REMOVE, Neighbours
from discreet.query.expressions.facts import facts_from_column, literal
from discreet.query.expressions.functions import call
from discreet.query.identity import CanonicalRelease, digest_of
from discreet.query.plan.components import (
    Components,
    StatisticGroup,
    check_bounds,
    components_of,
    estimator_of,
    is_count_of_rows,
)
from discreet.query.questions import (
    Aggregate,
    Aggregation,
    Clamped,
    ColumnOrigin,
    DeclaredGroups,
    Key,
    OriginKind,
    Question,
    Statistic,
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
    PublicRelation,
    Relation,
    Scan,
    Select,
    Window,
    WindowFunction,
    map_columns,
)
from discreet.streams import (
    BufferedToeplitz,
    SquareRoot,
    StreamMechanism,
    Tree,
    best_mechanism,
)

ARRIVED, ROWS = "__arrived", "__series"

COUNTED = {Statistic.COUNT_ROWS, Statistic.COUNT, Statistic.SUM, Statistic.COUNT_UNITS}

SERIES_FIX = "Write SELECT with columns to group by, COUNT, SUM or COUNT(DISTINCT unit)"

MOST_CELLS = 2_000_000
"""Ticks times groups times columns: no more numbers are released for a series."""


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
        is_row = isinstance(self.table.unit, RowUnit)
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
        if isinstance(self.table.unit, RowUnit):
            return rows
        if policy.rows_per_tick is not None and policy.rows_per_tick < most:
            rows = self._numbered(rows, policy.rows_per_tick, (self._tick_key(ROWS),))
        return self._numbered(rows, most, ())

    def _first_units(self, last: int) -> Relation:
        """Return the row with which a unit first appears, in each group if there are groups."""
        rows: Relation = self._arrived(last)
        if isinstance(self.table.unit, RowUnit):
            return rows
        keys = tuple(_of_rows(each) for each in self.aggregation.keys)
        rows = self._numbered(rows, 1, keys)
        return self._numbered(rows, self._most, ()) if keys else rows

    @property
    def _most(self) -> int:
        return self.policy.rows_per_unit or 1

    def _arrived(self, last: int) -> Select:
        """Return the rows of the query that arrived from the first tick to the last one."""
        select = self.aggregation.rows
        assert isinstance(select, Select)  # noqa: S101 - checked when it was planned
        arrival = self._arrival(select.name)
        kind = arrival.facts.kind
        ends = [self.policy.first, self.policy.start(last + 1)]
        low, high = (literal(_as_kind(each, kind), kind) for each in ends)
        tests = [call("greater_or_equal", arrival, low), call("less", arrival, high)]
        where = [*([] if select.where is None else [select.where]), *tests]
        columns = (*select.columns, NamedExpression(name=ARRIVED, expression=arrival))
        return replace(select, where=call("and", *where), columns=columns)

    def _numbered(self, rows: Relation, most: int, partition: tuple[Expression, ...]) -> Select:
        """Return the first rows of each unit by arrival, or of each unit and key."""
        number = Window(
            function=WindowFunction.ROW_NUMBER,
            arguments=(),
            partition=partition,
            order=(Ordering(expression=self._arrival(ROWS, ARRIVED)),),
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
        return call("date_trunc", unit, self._arrival(source, ARRIVED))

    def _moment(self, start: datetime) -> datetime:
        is_zoned = self._tick_key(ROWS).facts.kind is Kind.TIMESTAMP_TZ
        return start.replace(tzinfo=UTC) if is_zoned else start


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


# --------------------------------------------------------------------------- planning


def plan_series(policy: SeriesPolicy, question: Question, budget: BudgetPolicy) -> SeriesPlan:
    """Return the plan of a series, or reject a query or terms that cannot be one."""
    aggregation, table = _checked(policy, question)
    groups = aggregation.groups.rows if isinstance(aggregation.groups, DeclaredGroups) else ((),)
    places = len(groups) * len(aggregation.aggregates)
    if policy.ticks * places > MOST_CELLS:
        raise ParameterError(
            f"series {policy.name}",
            policy.ticks * places,
            f"must have at most {MOST_CELLS:,} numbers: ticks times groups times columns",
            "Declare fewer ticks or groups",
        )
    terms = _Terms(
        policy=policy,
        table=table,
        aggregation=aggregation,
        neighbours=budget.neighbours,
        delta=budget.delta_per_question if policy.delta is None else policy.delta,
    )
    measures = tuple(
        terms.measure(each, name)
        for each, name in zip(aggregation.aggregates, _names(question), strict=True)
    )
    measures = _with_columns(measures)
    is_basic = budget.accounting is Accounting.BASIC
    events = tuple(
        event
        for each in measures
        for event in (each.mechanism.events if is_basic else each.mechanism.concentrated_events)
    )
    return SeriesPlan(
        policy=policy,
        table=table,
        aggregation=aggregation,
        keys=_key_names(question),
        groups=groups or ((),),
        measures=measures,
        events=events,
        epsilon=policy.epsilon,
        delta=sum((each.mechanism.delta for each in measures), Fraction(0)),
        identity=_identity(policy, aggregation, measures, budget),
    )


def _checked(policy: SeriesPolicy, question: Question) -> tuple[Aggregation, PrivateTable]:
    if len(question.aggregations) != 1 or question.shown is None or question.all_rows_sql:
        raise UnsupportedError(
            "The query of a series must be one SELECT with GROUP BY columns and aggregates alone",
            SERIES_FIX,
        )
    aggregation = question.aggregations[0]
    table = _table_of(aggregation.rows)
    if table.arrival is None:
        raise UnsupportedError(
            f"A series needs to know when rows arrived, and {table.name} has no arrival column",
            f'Add arrival = "COLUMN" to [tables.{table.name}]',
        )
    kind = next(each.kind for each in table.columns if each.name == table.arrival)
    if kind is Kind.DATE and policy.clock.value == "hour":
        raise UnsupportedError(
            f'A series with clock = "hour" needs timestamps, and {table.name}.{table.arrival} has '
            "dates",
            'Write clock = "day"',
        )
    if aggregation.keys and not isinstance(aggregation.groups, DeclaredGroups):
        names = ", ".join(each.text or each.name for each in aggregation.keys)
        raise UnsupportedError(
            f"The groups of a series must be declared, and the values of {names} are not",
            "Declare values for it in the catalog, or list them in WHERE ... IN (...)",
        )
    for each in aggregation.aggregates:
        if each.statistic not in COUNTED:
            fix = (
                "Write SUM and COUNT in place of AVG"
                if each.statistic is Statistic.AVG
                else SERIES_FIX
            )
            raise UnsupportedError(f"A series cannot have {each.text}", fix, span=each.span)
    check_bounds(aggregation)
    return aggregation, table


def _table_of(rows: Relation) -> PrivateTable:
    """Return the only private table of a query; reject what is not read row by row."""
    match rows:
        case Select(source=Scan(table=table), joins=joins, qualify=None) if all(
            isinstance(each.source, PublicRelation) for each in joins
        ):
            return table
        case _:
            raise UnsupportedError(
                "The query of a series must read one private table, row by row",
                "Use WHERE and joins with public tables alone",
            )


def _names(question: Question) -> Iterator[str]:
    """Yield what the query calls each aggregate, in the order of the aggregation."""
    yield from _called(question, OriginKind.AGGREGATE, len(question.aggregations[0].aggregates))


def _key_names(question: Question) -> tuple[str, ...]:
    return tuple(_called(question, OriginKind.KEY, len(question.aggregations[0].keys)))


def _called(question: Question, kind: OriginKind, count: int) -> Iterator[str]:
    places = {
        origin.index: name
        for name, origin in zip(question.columns, question.sources, strict=True)
        if isinstance(origin, ColumnOrigin) and origin.kind is kind
    }
    for number in range(count):
        if number not in places:
            raise UnsupportedError(
                "A series must show all columns that it groups by", "Add them to SELECT"
            )
        yield places[number]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Terms:
    """What the measures of a series have in common. They share epsilon and delta evenly."""

    policy: SeriesPolicy
    table: PrivateTable
    aggregation: Aggregation
    neighbours: Neighbours
    delta: Fraction

    def measure(self, aggregate: Aggregate, column: str) -> SeriesMeasure:
        """Return a column of the series."""
        is_first = aggregate.statistic is Statistic.COUNT_UNITS
        rows = self._rows(is_once=is_first and not self.aggregation.keys)
        counted = replace(aggregate, statistic=Statistic.COUNT_ROWS) if is_first else aggregate
        family = StatisticGroup(
            argument=None if is_count_of_rows(counted) else counted.argument,
            statistics=frozenset({counted.statistic}),
        )
        measure = components_of(family, rows)
        estimator = estimator_of(counted, family, measure, 0, rows)
        assert isinstance(estimator, LinearEstimator)  # noqa: S101 - counts and sums alone are
        return SeriesMeasure(
            column=column,
            is_first=is_first,
            measure=measure,
            columns=(),
            unit=estimator.weights[0],
            is_integer=estimator.is_integer,
            mechanism=self._mechanism(measure, rows, is_first=is_first),
        )

    def _rows(self, *, is_once: bool) -> int:
        """Return how many rows of a unit count, or reject a series that does not say."""
        if is_once or isinstance(self.table.unit, RowUnit):
            return 1
        if self.policy.rows_per_unit is None:
            raise ParameterError(
                f"series {self.policy.name}",
                self.policy.question,
                "must say how many rows of a unit count over the whole series",
                ROWS_FIX,
            )
        return self.policy.rows_per_unit

    def _mechanism(self, measure: Components, rows: int, *, is_first: bool) -> StreamMechanism:
        # With replace neighbours the rows of one unit go and those of another come.
        moved = 1 if self.neighbours is ADD_REMOVE else 2
        in_tick = None if is_first else self.policy.rows_per_tick
        groups, count = self.aggregation.groups, len(self.aggregation.aggregates)
        return _mechanism(
            self.policy.mechanism,
            ticks=self.policy.ticks,
            epsilon=self.policy.epsilon / count,
            delta=self.delta / count,
            rows_per_unit=moved * rows,
            rows_per_tick=None if in_tick is None or in_tick >= rows else moved * in_tick,
            magnitude=1 if measure.ends is None else max(map(abs, measure.ends)),
            cells=len(groups.rows) if isinstance(groups, DeclaredGroups) else 1,
        )


class _StreamTerms(TypedDict):
    ticks: int
    epsilon: Fraction
    delta: Fraction
    rows_per_unit: int
    rows_per_tick: int | None
    magnitude: int
    cells: int


def _mechanism(kind: SeriesMechanism, **terms: Unpack[_StreamTerms]) -> StreamMechanism:
    if not terms["delta"] and kind in (SeriesMechanism.SQUARE_ROOT, SeriesMechanism.BUFFERED):
        raise ParameterError(
            "mechanism",
            kind.value,
            "needs a delta above 0",
            'Add a delta to the budget, or write mechanism = "tree"',
        )
    match kind:
        case SeriesMechanism.AUTO:
            return best_mechanism(**terms)
        case SeriesMechanism.SQUARE_ROOT:
            return SquareRoot(**terms)
        case SeriesMechanism.BUFFERED:
            return BufferedToeplitz(**terms)
        case SeriesMechanism.TREE:
            return Tree.best(**terms)
        case SeriesMechanism.BINARY_TREE:
            return Tree(**terms, arity=2)


def _with_columns(measures: tuple[SeriesMeasure, ...]) -> tuple[SeriesMeasure, ...]:
    """Return measures with the columns of the exact queries that their sums are in."""
    found = []
    for each in measures:
        own = [other for other in measures if other.is_first is each.is_first]
        sums = [*dict.fromkeys(part for other in own for part in other.measure.sums)]
        columns = tuple(f"s{sums.index(part)}" for part in each.measure.sums)
        found.append(replace(each, columns=columns))
    return tuple(found)


def _bare(aggregation: Aggregation) -> Aggregation:
    """Return what is counted, without what does not matter here: limits, and how it is stored."""
    rows = aggregation.rows
    assert isinstance(rows, Select)  # noqa: S101 - checked when it was planned
    assert isinstance(rows.source, Scan)  # noqa: S101
    table = replace(
        rows.source.table, rows_per_unit=1, is_default_limit=False, key=None, is_prepared=False
    )
    bare = replace(rows, source=replace(rows.source, table=table))
    return replace(aggregation, rows=bare, contribution_limit=1, group_limit=None)


def _identity(
    policy: SeriesPolicy,
    aggregation: Aggregation,
    measures: tuple[SeriesMeasure, ...],
    budget: BudgetPolicy,
) -> str:
    told = (
        "series 1",
        CanonicalRelease(_bare(aggregation), {}).text(aggregation.aggregates),
        policy.clock.value,
        policy.first.isoformat(),
        str(policy.rows_per_unit),
        str(policy.rows_per_tick),
        budget.neighbours.value,
        budget.accounting.value,
        *(repr(each.mechanism) for each in measures),
    )
    return digest_of("|".join(told))
