"""What a release needs from the engine and from mechanisms, before any price is put on it."""

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from discreet.catalog.schema import Kind
from discreet.errors import QuestionSizeError, UnsupportedError
from discreet.estimators import (
    ComponentEstimator,
    Estimator,
    KeyCount,
    LinearEstimator,
    SelectedValue,
)
from discreet.mechanisms.quantile import PARTS_MOST
from discreet.mechanisms.sensitivity import Neighbours, Sensitivity
from discreet.query.expressions.rejections import argument_text
from discreet.query.plan.bounded_rows import is_bounded
from discreet.query.plan.components import (
    OF_ROWS,
    ONE_ROW,
    Components,
    StatisticGroup,
    check_bounds,
    components_of,
    estimator_of,
    importance,
)
from discreet.query.plan.families import (
    Family,
    FamilyKey,
    counts_few_cells,
    families_of,
    family_key,
    family_keys,
    measure_of,
    reading_of,
)
from discreet.query.plan.group_limits import selects_by_rows
from discreet.query.plan.measurements import (
    KeySelection,
    MeasuredComponents,
    Strategy,
    ValueSelection,
)
from discreet.query.plan.quantization import grid_for, native_steps, quantize
from discreet.query.plan.sensitivity import (
    component_sensitivity,
    groups_of_a_unit,
    rows_bounding,
    rows_of_a_unit,
    signed_sum_sensitivity,
    unit_count_sensitivity,
)
from discreet.query.questions import Aggregate, Aggregation, Counted, DeclaredGroups, Statistic
from discreet.query.tree import ContributionBounding, ExactQuery, Expression, GroupBounding

POINTS_MOST = 1 << 20
"""Quantiles are among all values of a column up to so many, else among evenly spaced points."""

POINTS_IN_ALL = 1 << 26
"""Points of a quantile over all groups: the database returns no more rows than this."""

CANDIDATES_MOST = 1 << 22
"""Values of a mode over all groups."""

GROUPS_GUESSED = 1 << 10
"""For so many groups points are provided where nobody knows how many there are."""


def strategy_for(release: Aggregation, neighbours: Neighbours) -> Strategy:
    """Return what a release needs, or refuse what has no private form."""
    _check_kinds(release)
    check_bounds(release)
    builder = _Builder(_with_one_count(release), neighbours)
    estimators = builder.estimators()
    return Strategy(
        aggregation=release,
        queries=tuple(builder.queries),
        measured=tuple(builder.measured),
        value_selections=tuple(builder.picks),
        key_selection=builder.selecting,
        estimators=estimators,
        groups=builder.groups,
    )


def _with_one_count(release: Aggregation) -> Aggregation:
    """Return the release with one statistic for units and rows, where each unit has one row.

    Where keys are selected, that is the number of units, which comes with the selection for free.
    """
    if not release.one_row_per_unit:
        return release
    same = {Statistic.COUNT_ROWS, Statistic.COUNT_UNITS}
    kept = Statistic.COUNT_ROWS if _is_known(release) else Statistic.COUNT_UNITS
    aggregates = tuple(
        replace(each, statistic=kept) if each.statistic in same else each
        for each in release.aggregates
    )
    return replace(release, aggregates=aggregates)


def _is_known(release: Aggregation) -> bool:
    return not release.keys or isinstance(release.groups, DeclaredGroups)


class _Builder:
    """Collects queries, measures and picks; equal ones are one."""

    def __init__(self, release: Aggregation, neighbours: Neighbours) -> None:
        self.release = release
        self.neighbours = neighbours
        self.rows = rows_of_a_unit(release)
        self.marks = groups_of_a_unit(release)
        self.is_known = _is_known(release)
        self.groups = _groups(release)
        self.queries: list[ExactQuery] = []
        self.measured: list[MeasuredComponents] = []
        self.picks: list[ValueSelection] = []
        self.selecting: KeySelection | None = None
        self._families: dict[FamilyKey, tuple[Family, Components, int]] = {}

    def estimators(self) -> tuple[Estimator, ...]:
        if not self.release.aggregates and self.is_known:
            raise UnsupportedError(
                "A subquery only lists declared groups, whether or not they occur",
                "Add an aggregate to it, for example COUNT(*)",
            )
        limit = self.release.group_limit
        most = None if limit is None else limit.most
        by_rows = not self.is_known and selects_by_rows(self.release, most)
        if by_rows and [family_keys(each) for each in self._asked_families] == [(None, None)]:
            self._select_by_rows()
        else:
            self._measure_rows(with_units=not self.is_known and not by_rows)
            if by_rows:
                self._select_by_measure()
            elif not self.is_known:
                self._select_by_units()
        made: dict[Aggregate, Estimator] = {}
        for each in self.release.aggregates:
            if each not in made:
                made[each] = self._estimator(each)
        self._weigh(made.values())
        return tuple(made[each] for each in self.release.aggregates)

    def _estimator(self, aggregate: Aggregate) -> Estimator:
        match aggregate.statistic:
            case Statistic.COUNT_UNITS:
                return self._units()
            case Statistic.COUNT_DISTINCT | Statistic.SUM_DISTINCT:
                return self._distinct(aggregate)
            case Statistic.QUANTILE | Statistic.MIN | Statistic.MAX:
                return self._quantile(aggregate)
            case Statistic.MODE:
                return self._mode(aggregate)
            case _:
                key = family_key(aggregate)
                if key not in self._families:
                    return KeyCount()
                family, measure, number = self._families[key]
                return reading_of(aggregate, family, measure, number, self.rows)

    @property
    def _asked_families(self) -> tuple[Family, ...]:
        return families_of(each for each in self.release.aggregates if each.statistic in OF_ROWS)

    def _select_by_rows(self) -> None:
        query = self._added(replace(self._base, sums=(ONE_ROW,)))
        self.selecting = KeySelection(
            of=Counted.ROWS, query=query, column="s0", in_all=self.rows, in_one=self.rows
        )

    def _measure_rows(self, *, with_units: bool) -> None:
        """Put the measures of all families into one query."""
        families = self._asked_families
        if not families:
            return
        measures = [measure_of(each, self.rows) for each in families]
        sums = tuple(dict.fromkeys(each for measure in measures for each in measure.sums))
        query = self._added(replace(self._base, sums=sums, units=with_units))
        for family, measure in zip(families, measures, strict=True):
            columns = tuple(f"s{sums.index(each)}" for each in measure.sums)
            size = measure.sensitivity(self.rows, self.groups, self.neighbours)
            number = self._measure(measure, query, columns, size)
            for key in family_keys(family):
                self._families[key] = (family, measure, number)

    def _select_by_measure(self) -> None:
        """Select unknown keys by the rows that a measure counts, all of them if one does."""
        found = [each for each in self._families.values() if counts_few_cells(each[0])]
        _, measure, number = min(found, key=lambda each: (not each[0].with_rows, each[0].cells))
        assert not measure.ends  # noqa: S101 - a signed cell counts no rows
        self.selecting = KeySelection(
            of=Counted.ROWS,
            query=self.measured[number].query,
            column="",
            in_all=self.marks,
            in_one=self.rows,
            measure=number,
        )

    def _select_by_units(self) -> None:
        """Select unknown keys by units of the rows that are measured, or of all rows if none."""
        if not self.queries:
            self._added(self._units_query)
        self.selecting = KeySelection(
            of=Counted.UNITS, query=0, column="units", in_all=self.marks, in_one=1
        )

    def _units(self) -> Estimator:
        if not self.is_known:
            return KeyCount()
        query = self._added(self._units_query)
        size = unit_count_sensitivity(
            self.marks if self.release.keys else 1, self.groups, self.neighbours
        )
        units = Components(what="count", sums=(), cells=((1,),), total=1)
        number = self._measure(units, query, ("units",), size)
        return LinearEstimator(measure=number, weights=(Fraction(1),), is_integer=True)

    @property
    def _units_query(self) -> ExactQuery:
        bounding = (
            ContributionBounding.NONE
            if self.release.one_row_per_unit
            else ContributionBounding.UNITS_ONLY
        )
        base = self._base
        return replace(
            base,
            bounding=bounding,
            units=True,
            contribution_limit=self.marks,
            is_bounded=base.is_bounded and base.group_bounding is None,
            group_bounding=None,
        )

    def _pairs_query(self, values: int, distinct: Expression) -> ExactQuery:
        return replace(
            self._base,
            bounding=ContributionBounding.PAIRS,
            contribution_limit=values,
            is_bounded=self._base.is_bounded and values == self.rows,
            distinct=distinct,
        )

    def _distinct(self, aggregate: Aggregate) -> LinearEstimator:
        argument = _argument(aggregate)
        values = self._values_of_a_unit(aggregate, argument)
        if aggregate.statistic is Statistic.COUNT_DISTINCT:
            query = self._added(self._pairs_query(values, argument))
            size = component_sensitivity(values, self.groups, self.neighbours)
            counted = Components(what="count", sums=(), cells=((1,),), total=1)
            number = self._measure(counted, query, ("n",), size)
            return LinearEstimator(measure=number, weights=(Fraction(1),), is_integer=True)
        return self._distinct_sum(aggregate, values)

    def _distinct_sum(self, aggregate: Aggregate, values: int) -> LinearEstimator:
        """Sum the places of different values; `n` of them stand at each place above the low end."""
        family = StatisticGroup(argument=aggregate.argument, statistics=frozenset({Statistic.SUM}))
        measure = components_of(family, values)
        estimator = estimator_of(aggregate, family, measure, 0, values)
        low, high = measure.ends or (0, 0)
        size = signed_sum_sensitivity(
            low, high, values, is_grouped=self.groups != 1, neighbours=self.neighbours
        )
        query = self._added(replace(self._pairs_query(values, measure.sums[-1]), sums=measure.sums))
        columns = tuple(f"s{i}" for i in range(len(measure.sums)))
        number = self._measure(measure, query, columns, size)
        assert isinstance(estimator, LinearEstimator)  # noqa: S101 - a sum alone is linear
        return replace(estimator, measure=number)

    def _values_of_a_unit(self, aggregate: Aggregate, argument: Expression) -> int:
        """Return the most different values of a unit, over all groups.

        The engine keeps no more than these, so that privacy does not rest on this number.
        """
        domain = ("the unit",) if aggregate.is_of_unit else argument.facts.domain
        groups = self.groups
        if self.release.group_limit is not None:
            groups = self.marks if groups is None else min(groups, self.marks)
        if domain is None or groups is None:
            return self.rows
        known = sum(each is not None for each in domain)
        return min(self.rows, max(1, known * groups))

    def _quantile(self, aggregate: Aggregate) -> SelectedValue:
        argument = _argument(aggregate)
        most = min(POINTS_MOST, max(2, POINTS_IN_ALL // (self.groups or GROUPS_GUESSED))) - 1
        is_own = (steps := native_steps(argument)) is not None and steps <= most
        ruler = grid_for(argument, most=most)
        query = self._added(replace(self._base, cell=quantize(argument, ruler)))
        ends = {Statistic.MIN: Fraction(0), Statistic.MAX: Fraction(1)}
        fraction = ends.get(aggregate.statistic, aggregate.fraction or Fraction(0))
        if 0 < min(fraction, 1 - fraction) < Fraction(1, PARTS_MOST):
            raise UnsupportedError(
                f"The fraction of {aggregate.text or 'QUANTILE'} is too close to 0 or 1",
                "Use a fraction from 0.000001 to 0.999999, or MIN or MAX",
                span=aggregate.span,
            )
        return self._pick(
            ValueSelection(
                query=query,
                statistic=Statistic.QUANTILE,
                fraction=fraction,
                kind=aggregate.kind,
                grid=ruler,
                is_rounded=not is_own,
                rows=self.rows,
            )
        )

    def _mode(self, aggregate: Aggregate) -> SelectedValue:
        argument = _argument(aggregate)
        if argument.facts.domain is None:
            inner = argument_text(aggregate.text)
            raise UnsupportedError(
                f"{aggregate.text or 'MODE'} needs declared values for {inner}",
                f"Write {inner}, COUNT(*) AS n in its place, and add GROUP BY {inner} ORDER BY n "
                "DESC LIMIT 1. Or ask the data owner to declare the values",
                span=aggregate.span,
            )
        domain = tuple(each for each in argument.facts.domain if each is not None)
        if not domain:
            raise UnsupportedError(
                f"{aggregate.text or 'MODE'} has no values except NULL",
                "Use MODE with a column or an expression that has other values",
                span=aggregate.span,
            )
        if len(domain) * (self.groups or GROUPS_GUESSED) > CANDIDATES_MOST:
            raise QuestionSizeError(
                f"{aggregate.text or 'MODE'} has too many values for this many groups",
                "Group by fewer columns",
                span=aggregate.span,
            )
        query = self._added(replace(self._base, keys=(*self._keys, argument), sums=(ONE_ROW,)))
        return self._pick(
            ValueSelection(
                query=query,
                statistic=Statistic.MODE,
                fraction=Fraction(0),
                kind=aggregate.kind,
                grid=None,
                domain=domain,
                rows=self.rows,
            )
        )

    @property
    def _keys(self) -> tuple[Expression, ...]:
        return tuple(each.expression for each in self.release.keys)

    @property
    def _base(self) -> ExactQuery:
        """The query for the rows of each group, bounded by rows."""
        return ExactQuery(
            rows=self.release.rows,
            name=self.release.name,
            keys=self._keys,
            bounding=rows_bounding(self.release),
            contribution_limit=self.rows,
            is_bounded=is_bounded(self.release),
            group_bounding=self._group_bounding,
        )

    @property
    def _group_bounding(self) -> GroupBounding | None:
        limit = self.release.group_limit
        if limit is None or limit.is_in_rows:
            return None
        return GroupBounding(most=limit.most, keys=len(self._keys))

    def _added(self, query: ExactQuery) -> int:
        """Return the number of the query, which is added if there is no equal one."""
        if query not in self.queries:
            self.queries.append(query)
        return self.queries.index(query)

    def _measure(
        self, measure: Components, query: int, columns: tuple[str, ...], size: Sensitivity
    ) -> int:
        self.measured.append(
            MeasuredComponents(
                measure=measure, query=query, columns=columns, sensitivity=size, weight=0.0
            )
        )
        return len(self.measured) - 1

    def _pick(self, pick: ValueSelection) -> SelectedValue:
        if pick not in self.picks:
            self.picks.append(pick)
        return SelectedValue(selection=self.picks.index(pick))

    def _weigh(self, estimators: Iterable[Estimator]) -> None:
        """Give each measure the sum of what its statistics count for."""
        sums = [0.0] * len(self.measured)
        for each in estimators:
            if isinstance(each, ComponentEstimator):
                sums[each.measure] += importance(each)
        self.measured = [
            replace(each, weight=max(weight, 1.0))
            for each, weight in zip(self.measured, sums, strict=True)
        ]


def _check_kinds(release: Aggregation) -> None:
    """Reject group keys of types that have no order."""
    for each in release.keys:
        if each.expression.facts.kind in (Kind.OTHER, Kind.INTERVAL):
            raise UnsupportedError(
                f"GROUP BY {each.text or each.name} is not supported, because of its type",
                "Group by a number, a text, a date, a timestamp or a condition",
                span=each.span,
            )


def _groups(release: Aggregation) -> int | None:
    if not release.keys:
        return 1
    return len(release.groups.rows) if isinstance(release.groups, DeclaredGroups) else None


def _argument(aggregate: Aggregate) -> Expression:
    assert aggregate.argument is not None  # noqa: S101 - the checker gave it one
    return aggregate.argument
