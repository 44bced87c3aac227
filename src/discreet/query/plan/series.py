"""From a checked query to what a series counts, the noise of its ticks, and its cost."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypedDict, Unpack

from discreet.catalog.catalog import Accounting, BudgetPolicy
from discreet.catalog.schema import Column, Kind, PrivateTable
from discreet.catalog.series import MARGIN, ROWS_FIX, TICK, SeriesMechanism, SeriesPolicy
from discreet.errors import ParameterError, UnsupportedError
from discreet.estimators import LinearEstimator
from discreet.mechanisms.sensitivity import ADD_REMOVE, Neighbours
from discreet.query.identity import CanonicalRelease, digest_of
from discreet.query.plan.components import (
    Components,
    StatisticGroup,
    check_bounds,
    components_of,
    estimator_of,
    is_count_of_rows,
)
from discreet.query.plan.ticks import SeriesMeasure, SeriesPlan, is_row_each
from discreet.query.questions import (
    Aggregate,
    Aggregation,
    ColumnOrigin,
    DeclaredGroups,
    OriginKind,
    Question,
    Statistic,
)
from discreet.query.tree import (
    Expression,
    InReleasedRows,
    PublicRelation,
    PublicScan,
    Relation,
    Scan,
    Select,
    UnitSemiJoin,
    Window,
    columns_in,
    parts_of,
)
from discreet.streams import (
    BufferedToeplitz,
    SquareRoot,
    StreamMechanism,
    Tree,
    best_mechanism,
)

COUNTED = {Statistic.COUNT_ROWS, Statistic.COUNT, Statistic.SUM, Statistic.COUNT_UNITS}

SERIES_FIX = "Write SELECT with columns to group by, COUNT, SUM or COUNT(DISTINCT unit)"

MOST_CELLS = 2_000_000
"""Ticks times groups times columns: no more numbers are released for a series."""


def plan_series(
    policy: SeriesPolicy, question: Question, budget: BudgetPolicy, public: str = ""
) -> SeriesPlan:
    """Return the plan of a series, or reject a query or terms that cannot be one.

    `public` stands for the contents of the public tables that it reads (`public_tables_of`): with
    others it is another series.
    """
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
    _check_names_differ(_key_names(question), [each.column for each in measures])
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
        identity=_identity(policy, aggregation, measures, (budget, public)),
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
    _check_row_by_row(aggregation)
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


def public_tables_of(question: Question) -> tuple[str, ...]:
    """Return the public tables that the query of a series is joined with."""
    joins = [
        join
        for each in question.aggregations
        if isinstance(each.rows, Select)
        for join in each.rows.joins
    ]
    names = [each.source.table for each in joins if isinstance(each.source, PublicScan)]
    return tuple(dict.fromkeys(names))


def _check_row_by_row(aggregation: Aggregation) -> None:
    """Reject conditions on other rows: rows that come later would change what counted before."""
    rows = aggregation.rows
    assert isinstance(rows, Select)  # noqa: S101 - checked before
    expressions = [
        *_expressions(rows),
        *(each.expression for each in aggregation.keys),
        *(part for each in aggregation.aggregates for part in each.arguments),
    ]
    for part in (part for each in expressions for part in parts_of(each)):
        if isinstance(part, UnitSemiJoin | Window | InReleasedRows):
            raise UnsupportedError(
                "The query of a series must decide about each row by itself: rows that come later "
                "would change what was counted before",
                "Remove IN (SELECT ...), EXISTS and windows",
            )


def _expressions(rows: Select) -> list[Expression]:
    """Return all that a SELECT computes and asks of its rows."""
    conditions = [] if rows.where is None else [rows.where]
    shown = [each.expression for each in rows.columns]
    return [*shown, *(each.on for each in rows.joins), *conditions]


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


def _check_names_differ(keys: Sequence[str], columns: Sequence[str]) -> None:
    names = [TICK, *keys, *columns, *(each + MARGIN for each in columns)]
    folded = [each.casefold() for each in names]
    for name, each in zip(names, folded, strict=True):
        if folded.count(each) > 1:
            raise UnsupportedError(
                f"A series would have two columns called {name}: it adds tick, and a margin of "
                "error for each number",
                "Rename a column with AS",
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
        if is_once or is_row_each(self.table, self.aggregation.rows):
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
    """Return what is counted, without what does not matter here.

    Limits of tables, how they are stored and what is declared of columns may change over the years.
    The columns that are read stay, with their types.
    """
    rows = aggregation.rows
    assert isinstance(rows, Select)  # noqa: S101 - checked when it was planned
    assert isinstance(rows.source, Scan)  # noqa: S101
    read = {each.name for part in _expressions(rows) for each in columns_in(part)}
    scan = rows.source
    bare = replace(
        scan,
        table=_bare_table(scan.table, {*read, scan.table.arrival}),
        parents=tuple(_bare_table(each, set()) for each in scan.parents),
        is_bounded=False,
        group_limits=(),
    )
    return replace(
        aggregation, rows=replace(rows, source=bare), contribution_limit=1, group_limit=None
    )


def _bare_table(table: PrivateTable, read: set[str | None]) -> PrivateTable:
    columns = tuple(
        Column(name=each.name, kind=each.kind) for each in table.columns if each.name in read
    )
    return PrivateTable(name=table.name, columns=columns, unit=table.unit, rows_per_unit=1)


def _identity(
    policy: SeriesPolicy,
    aggregation: Aggregation,
    measures: tuple[SeriesMeasure, ...],
    budget: tuple[BudgetPolicy, str],
) -> str:
    terms, public = budget
    table = _table_of(aggregation.rows)
    told = (
        "series 1",
        CanonicalRelease(_bare(aggregation), {}).text(aggregation.aggregates),
        str(table.arrival),
        public,
        policy.clock.value,
        policy.first.isoformat(),
        str(policy.rows_per_unit),
        str(policy.rows_per_tick),
        terms.neighbours.value,
        terms.accounting.value,
        *(repr(each.mechanism) for each in measures),
        *(f"{each.unit} {each.measure.ends} {each.measure.clamped}" for each in measures),
    )
    return digest_of("|".join(told))
