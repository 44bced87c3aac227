"""What is measured of each group, and how statistics follow from it.

Each row is one unit of mass, spread over whole-numbered cells that always sum to the same total.
So all statistics of one expression that can be read off its cells together have the sensitivity of
a single count. With t = 0, …, T the row's place between the bounds, the cells are the Bernstein
polynomials of degree 0, 1 or 2 in t, times T to that degree:

    counts      1
    sums        T - t,  t
    moments     (T - t)²,  2 t (T - t),  t²

Where values have too many places for their squares, moments are divided by T and rounded, with
q = t² / T to the nearest whole number: T - 2 t + q, 2 t - 2 q, q. The mean is as exact as before.

A row whose expression is NULL has its whole mass in a cell of its own, which is measured only where
COUNT(*) is read off it. A sum that is asked for alone is one signed cell instead. Proofs:
docs/proofs/measures.md.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, gcd, lcm

from discreet.catalog.schema import Kind
from discreet.errors import UnboundedError
from discreet.estimators import (
    ComponentEstimator,
    LinearEstimator,
    MeanEstimator,
    VarianceEstimator,
)
from discreet.mechanisms.sensitivity import Neighbours, Sensitivity
from discreet.pair_moments import PairEstimator, PairStatistic
from discreet.query.expressions.facts import literal
from discreet.query.expressions.functions import call
from discreet.query.plan.quantization import (
    ValueGrid,
    bounds_of,
    coarsest,
    grid_for,
    is_given,
    native_step,
    native_steps,
    quantize,
)
from discreet.query.plan.sensitivity import component_sensitivity, signed_sum_sensitivity
from discreet.query.questions import Aggregate, Aggregation, Statistic
from discreet.query.tree import Expression

COUNTS = {Statistic.COUNT_ROWS, Statistic.COUNT}


UNBOUNDED = COUNTS | {
    *(Statistic.COUNT_UNITS, Statistic.COUNT_DISTINCT, Statistic.MODE, Statistic.REGR_COUNT),
}
"""Statistics that need no range of values."""


def check_bounds(release: Aggregation) -> None:
    """Reject an aggregate that needs bounds and has none, with its place in the query."""
    for each in release.aggregates:
        if each.statistic in UNBOUNDED:
            continue
        try:
            for argument in each.arguments:
                bounds_of(argument, each.text, release.rows)
        except UnboundedError as refusal:
            refusal.span = each.span
            raise


STEPS_MOST = 1 << 30
"""So many steps at most: 2**31 rows of them still fit the 64-bit integers that get noise."""


SQUARE_STEPS_MOST = 1 << 15
"""The same for moments whose squares are summed as they are."""


MASS_MOST = 1 << 36
"""A unit's rows times steps are at most this, so that noise can be drawn down to epsilon 1e-6."""


STEPS_LEAST = 1 << 10
"""Cells that are added up have so many steps at least: their noise is then all but continuous."""


VARIANCES = {Statistic.VAR_SAMP, Statistic.VAR_POP}


DEVIATIONS = {Statistic.STDDEV_SAMP, Statistic.STDDEV_POP}


MOMENTS = VARIANCES | DEVIATIONS


SAMPLES = {Statistic.VAR_SAMP, Statistic.STDDEV_SAMP}


PAIRS = {
    *(Statistic.CORR, Statistic.COVAR_POP, Statistic.COVAR_SAMP, Statistic.REGR_SLOPE),
    *(Statistic.REGR_INTERCEPT, Statistic.REGR_R2, Statistic.REGR_COUNT, Statistic.REGR_AVGX),
    *(Statistic.REGR_AVGY, Statistic.REGR_SXX, Statistic.REGR_SYY, Statistic.REGR_SXY),
}


OF_ROWS = COUNTS | MOMENTS | PAIRS | {Statistic.SUM, Statistic.AVG}
"""Statistics that are read off cells of rows."""


ONE_ROW = literal(1)
"""What a row adds to the number of rows."""


# --------------------------------------------------------------------------- measures


@dataclass(frozen=True, slots=True, kw_only=True)
class Components:
    """Cells of each group that get noise together, as whole combinations of exact sums."""

    what: str
    """What is measured."""
    sums: tuple[Expression, ...]
    cells: tuple[tuple[int, ...], ...]
    """Each cell: how often it takes each of the sums."""
    total: int
    """What all cells of a row add up to; 1 if there is one signed cell."""
    ends: tuple[int, int] | None = None
    """Of one signed cell: the least and the most that a row adds."""
    clamped: tuple[Fraction, Fraction] | None = None
    """Values outside count as the nearer end."""

    def sensitivity(self, rows: int, groups: int | None, neighbours: Neighbours) -> Sensitivity:
        """Return how far a unit of so many rows moves the cells of all groups."""
        if self.ends is not None:
            is_grouped = groups != 1
            return signed_sum_sensitivity(
                *self.ends, rows, is_grouped=is_grouped, neighbours=neighbours
            )
        places = None if groups is None else groups * len(self.cells)
        return component_sensitivity(rows * self.total, places, neighbours)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticGroup:
    """All that is asked of one expression's rows, and whether COUNT(*) is read off it as well."""

    argument: Expression | None
    statistics: frozenset[Statistic]
    with_rows: bool = False

    @property
    def degree(self) -> int:
        if self.statistics & MOMENTS:
            return 2
        return 1 if self.statistics & {Statistic.SUM, Statistic.AVG} else 0

    @property
    def is_signed(self) -> bool:
        return self.statistics == {Statistic.SUM} and not self.with_rows

    @property
    def has_null_cell(self) -> bool:
        return self.with_rows and self.argument is not None and self.argument.facts.nullable

    @property
    def cells(self) -> int:
        return 1 if self.is_signed else self.degree + 1 + self.has_null_cell


def group_statistics(aggregates: Iterable[Aggregate]) -> tuple[StatisticGroup, ...]:
    """Return a family for each expression; COUNT(*) joins that of the fewest cells.

    COUNT of an expression that is never NULL is COUNT(*).
    """
    asked: dict[Expression | None, set[Statistic]] = {}
    for each in aggregates:
        argument = None if is_count_of_rows(each) else each.argument
        asked.setdefault(argument, set()).add(each.statistic)
    with_rows = asked.pop(None, None) is not None
    families = [StatisticGroup(argument=x, statistics=frozenset(s)) for x, s in asked.items()]
    if not with_rows:
        return tuple(families)
    joined = [replace(each, with_rows=True) for each in families]
    if not joined:
        rows = frozenset({Statistic.COUNT_ROWS})
        return (StatisticGroup(argument=None, statistics=rows, with_rows=True),)
    best = min(range(len(joined)), key=lambda i: joined[i].cells)
    return (*families[:best], joined[best], *families[best + 1 :])


def is_count_of_rows(aggregate: Aggregate) -> bool:
    """Return whether it counts all rows: COUNT(*), or COUNT of what is never NULL."""
    argument = aggregate.argument
    return argument is None or (
        aggregate.statistic is Statistic.COUNT and not argument.facts.nullable
    )


def components_of(family: StatisticGroup, rows: int) -> Components:
    """Return the cells of a family, for units of so many rows."""
    argument = family.argument
    if argument is None:
        return Components(what="count", sums=(ONE_ROW,), cells=((1,),), total=1)
    if family.degree == 0:
        return _counts(family, argument)
    if family.is_signed:
        return _signed(argument, rows)
    ruler = grid_of(family, rows)
    if family.degree == 2 and not _has_small_squares(argument, rows):
        return _measured(family, argument, ruler.steps, *rounded_moments(argument, ruler))
    total = ruler.steps**family.degree
    return _measured(family, argument, total, *_polynomials(family, argument, ruler))


def grid_of(family: StatisticGroup, rows: int) -> ValueGrid:
    """Return the ruler of a family of sums or moments."""
    argument = _required(family)
    if family.degree == 2 and _has_small_squares(argument, rows):
        most = _most_steps(SQUARE_STEPS_MOST, rows, degree=2)
        return grid_for(argument, most=most, least=min(1 << 5, most))
    most = _most_steps(STEPS_MOST, rows, degree=1)
    # Rounded squares are the better the more steps there are.
    return grid_for(argument, most=most, least=most if family.degree == 2 else STEPS_LEAST)


def grids_of(argument: Expression, rows: int) -> tuple[ValueGrid, ...]:
    """Return the rulers on which places of an expression are summed for COUNT, SUM and AVG."""
    family = StatisticGroup(argument=argument, statistics=frozenset({Statistic.AVG}))
    coarse, _ = coarsest(argument, grid_of(family, rows))
    signed, _ = _signed_ruler(argument, rows)
    return tuple(dict.fromkeys((coarse, signed)))


def _most_steps(most: int, rows: int, *, degree: int) -> int:
    """Return how many steps there may be: a unit's mass is rows · steps ** degree."""
    while rows * most**degree > MASS_MOST and most > 1:
        most //= 2
    return most


def _has_small_squares(argument: Expression, rows: int) -> bool:
    """Return whether the values' own places are so few that their squares are summed exactly."""
    own = native_steps(argument)
    return own is not None and own <= _most_steps(SQUARE_STEPS_MOST, rows, degree=2)


def _counts(family: StatisticGroup, argument: Expression) -> Components:
    given = is_given(argument)
    if not family.has_null_cell:
        return Components(what="count", sums=(given,), cells=((1,),), total=1)
    fine = STEPS_LEAST
    cells = ((fine, 0), (-fine, fine))
    what = "count, with and without NULL"
    return Components(what=what, sums=(given, ONE_ROW), cells=cells, total=fine)


Cells = tuple[tuple[Expression, ...], tuple[tuple[int, ...], ...]]
"""Sums, and the cells that are made of them."""


def _polynomials(family: StatisticGroup, argument: Expression, ruler: ValueGrid) -> Cells:
    """Return the Bernstein polynomials of degree 1 or 2; t is a multiple of what is summed."""
    coarse, times = coarsest(argument, ruler)
    t, steps = quantize(argument, coarse), ruler.steps
    # Whether the row has a value is asked of its place, so that no row can have one but not both.
    given = is_given(t)
    if family.degree == 1:
        return (given, t), ((steps, -times), (0, times))
    # (T - t)² = T² - 2 T t + t²;  2 t (T - t) = 2 T t - 2 t²;  t².
    first, second = 2 * steps * times, times**2
    cells = ((steps**2, -first, second), (0, first, -2 * second), (0, 0, second))
    return (given, t, call("multiply", t, t)), cells


def rounded_moments(argument: Expression, ruler: ValueGrid) -> Cells:
    """Return those of degree 2 divided by T, with t² / T rounded: none is negative either."""
    t, steps = quantize(argument, ruler), ruler.steps
    raised = call("add", call("multiply", t, t), literal(steps // 2))
    q = call("integer_divide", raised, literal(steps))
    return (is_given(t), t, q), ((steps, -2, 1), (0, 2, -2), (0, 0, 1))


def _measured(
    family: StatisticGroup,
    argument: Expression,
    total: int,
    sums: tuple[Expression, ...],
    cells: tuple[tuple[int, ...], ...],
) -> Components:
    """Return the measure, with the cell of NULL if it is needed."""
    if family.has_null_cell:
        sums = (*sums, ONE_ROW)
        null = (-total, *(0 for _ in sums[2:]), total)
        cells = (*((*each, 0) for each in cells), null)
    what = "count and sum" if family.degree == 1 else "count, sum and squares"
    ends = bounds_of(argument)
    return Components(what=what, sums=sums, cells=cells, total=total, clamped=ends)


def _signed(argument: Expression, rows: int) -> Components:
    """Return one cell for the sum, in units of which both bounds are multiples."""
    ruler, unit = _signed_ruler(argument, rows)
    low, step = ruler.low / unit, ruler.step / unit
    high = low + ruler.steps * step
    t = quantize(argument, ruler)
    given = () if low == 0 else (is_given(t),)
    cell = (int(step),) if low == 0 else (int(low), int(step))
    return Components(
        what="sum",
        sums=(*given, t),
        cells=(cell,),
        total=1,
        ends=(int(low), int(high)),
        clamped=bounds_of(argument),
    )


def _signed_ruler(argument: Expression, rows: int) -> tuple[ValueGrid, Fraction]:
    """Return the ruler of a sum, and the unit in which low, high and step are whole."""
    low, high = bounds_of(argument)
    size = max(abs(low), abs(high))
    most = min(STEPS_MOST, max(1, MASS_MOST // rows))
    if grain := native_step(argument.facts):
        unit = _common(grain, low)
        own = ceil((high - low) / grain)
        if max(size, abs(low + own * grain)) / unit <= most:
            return ValueGrid(low=low, high=low + own * grain, steps=own), unit
    # The larger bound is a multiple of the unit; the other one is moved outwards to the next.
    unit = size / most
    first, last = floor(low / unit), ceil(high / unit)
    return ValueGrid(low=first * unit, high=last * unit, steps=last - first), unit


def _common(a: Fraction, b: Fraction) -> Fraction:
    """Return the largest fraction of which both are multiples."""
    bottom = lcm(a.denominator, b.denominator)
    return Fraction(gcd(int(a * bottom), int(b * bottom)), bottom)


def _required(family: StatisticGroup) -> Expression:
    assert family.argument is not None  # noqa: S101 - only a family of rows has none
    return family.argument


# --------------------------------------------------------------------------- estimators


def estimator_of(
    aggregate: Aggregate, family: StatisticGroup, measure: Components, number: int, rows: int
) -> ComponentEstimator:
    """Return how an aggregate follows from the cells of its family, the measure of this number."""
    plain = len(measure.cells) - family.has_null_cell
    null = (Fraction(0),) * family.has_null_cell
    if is_count_of_rows(aggregate):
        everywhere = (Fraction(1, measure.total),) * len(measure.cells)
        return LinearEstimator(measure=number, weights=everywhere, is_integer=True)
    count = (Fraction(1, measure.total),) * plain + null
    if aggregate.statistic is Statistic.COUNT:
        return LinearEstimator(measure=number, weights=count, is_integer=True)
    is_integer = aggregate.kind is Kind.INTEGER
    if family.is_signed:
        unit = _signed_ruler(_required(family), rows)[1]
        return LinearEstimator(measure=number, weights=(unit,), is_integer=is_integer)
    ruler = grid_of(family, rows)
    first = tuple(Fraction(j, (plain - 1) * measure.total) for j in range(plain)) + null
    match aggregate.statistic:
        case Statistic.SUM:
            weights = (ruler.low * c + ruler.width * f for c, f in zip(count, first, strict=True))
            return LinearEstimator(measure=number, weights=tuple(weights), is_integer=is_integer)
        case Statistic.AVG:
            return MeanEstimator(
                measure=number,
                count=count,
                first=first,
                low=ruler.low,
                high=ruler.high,
                most=max(ruler.low, aggregate_high(aggregate)),
            )
        case _:
            second = (Fraction(0), Fraction(0), Fraction(1, measure.total), *null)
            return VarianceEstimator(
                measure=number,
                count=count,
                first=first,
                second=second,
                width=ruler.width,
                is_sample=aggregate.statistic in SAMPLES,
                is_root=aggregate.statistic in DEVIATIONS,
            )


def aggregate_high(aggregate: Aggregate) -> Fraction:
    """Return the declared upper bound of what is averaged."""
    high = None if aggregate.argument is None else aggregate.argument.facts.interval.high
    return Fraction(0) if high is None else high


def importance(estimator: ComponentEstimator) -> float:
    """Return a statistic's variance for cells of variance 1 a row, in units of its own width."""
    match estimator:
        case LinearEstimator():
            largest = max(abs(each) for each in estimator.weights)
            return float(sum((each / largest) ** 2 for each in estimator.weights))
        case MeanEstimator():
            return 1.0
        case VarianceEstimator():
            return 4.0
        case PairEstimator(statistic=PairStatistic.COVARIANCE):
            return 1.0
        case PairEstimator():
            return 16.0
