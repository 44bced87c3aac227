"""Statistics of pairs of expressions: covariance, correlation and regression.

A pair's row is one unit of mass, as every row is. Its cells are the products of the cells of x and
those of y, each a set of Bernstein polynomials that sum to T and to S, so that the products are
whole, none is negative, and they sum to T S:

    degree      of y    of x    cells
    COVAR, SXY  1       1       4
    SLOPE       1       2       6
    CORR, R2    2       2       9

Of all sets of cells that were compared for CORR, products of degree 2 have the least variance
(docs/proofs/measures.md, section 13). Rows where x or y is NULL are no pairs and add nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt

from discreet.estimators import (
    ComponentEstimator,
    LinearEstimator,
    MeanEstimator,
)
from discreet.pair_moments import PairEstimator, PairStatistic
from discreet.query.expressions.functions import call
from discreet.query.plan.components import (
    MASS_MOST,
    ONE_ROW,
    STEPS_LEAST,
    Components,
    is_count_of_rows,
    rounded_moments,
)
from discreet.query.plan.quantization import (
    ValueGrid,
    bounds_of,
    is_given,
    native_step,
    native_steps,
    quantize,
)
from discreet.query.questions import Aggregate, Statistic
from discreet.query.tree import Expression

DEGREES: dict[Statistic, tuple[int, int]] = {
    Statistic.REGR_COUNT: (0, 0),
    Statistic.REGR_AVGX: (0, 1),
    Statistic.REGR_AVGY: (1, 0),
    Statistic.COVAR_POP: (1, 1),
    Statistic.COVAR_SAMP: (1, 1),
    Statistic.REGR_SXY: (1, 1),
    Statistic.REGR_SXX: (0, 2),
    Statistic.REGR_SYY: (2, 0),
    Statistic.REGR_SLOPE: (1, 2),
    Statistic.REGR_INTERCEPT: (1, 2),
    Statistic.CORR: (2, 2),
    Statistic.REGR_R2: (2, 2),
}
"""For each statistic of pairs, of which degree in y and in x its cells must be."""


MASS_OF_A_PAIR = 1 << 30
"""So much at most: that of 2**31 rows still fits the 64-bit integers that get noise."""


Pair = tuple[Expression, Expression]
"""y and x."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairGroup:
    """All that is asked of one pair of expressions, in either order, with COUNT(*) or without."""

    pair: Pair
    """y and x, as in the first statistic of the two."""
    degrees: tuple[int, int]
    with_rows: bool = False

    is_signed = False
    takes_rows = True

    @property
    def has_null_cell(self) -> bool:
        return self.with_rows and any(each.facts.nullable for each in self.pair)

    @property
    def cells(self) -> int:
        return (self.degrees[0] + 1) * (self.degrees[1] + 1) + self.has_null_cell


def pairs_of(aggregates: Iterable[Aggregate]) -> list[PairGroup]:
    """Return a family for each pair of expressions, in whichever order they are written."""
    pairs: dict[Pair, tuple[int, int]] = {}
    for each in aggregates:
        pair, degrees = pair_of(each), DEGREES[each.statistic]
        if pair[::-1] in pairs:
            pair, degrees = pair[::-1], degrees[::-1]
        known = pairs.get(pair, (0, 0))
        pairs[pair] = (max(known[0], degrees[0]), max(known[1], degrees[1]))
    return [PairGroup(pair=pair, degrees=degrees) for pair, degrees in pairs.items()]


def pair_components(family: PairGroup, rows: int) -> Components:
    """Return the cells of a pair, for units of so many rows."""
    return _Products(family=family, rows=rows).measure()


def pair_estimator(
    aggregate: Aggregate, family: PairGroup, measure: Components, number: int, rows: int
) -> ComponentEstimator:
    """Return how a statistic of pairs, or COUNT(*), follows from the cells of the pair."""
    return _Products(family=family, rows=rows).reading(aggregate, measure, number)


def clamped_of(aggregate: Aggregate) -> tuple[tuple[Expression, str], ...]:
    """Return the expressions of a pair that are moved into their bounds, each with its text."""
    texts = (aggregate.argument_text, aggregate.second_text)
    of_pair = zip(pair_of(aggregate), texts, DEGREES[aggregate.statistic], strict=True)
    return tuple((each, text) for each, text, degree in of_pair if degree)


def pair_of(aggregate: Aggregate) -> Pair:
    """Return y and x of a statistic of pairs."""
    y, x = aggregate.arguments
    return y, x


# --------------------------------------------------------------------------- one expression


@dataclass(frozen=True, slots=True, kw_only=True)
class _Axis:
    """The cells of one expression of a pair."""

    ruler: ValueGrid | None
    """None where only rows that have a value are counted."""
    degree: int
    sums: tuple[Expression, ...]
    cells: tuple[tuple[int, ...], ...]

    @property
    def total(self) -> int:
        return 1 if self.ruler is None else self.ruler.steps

    def moment(self, power: int) -> tuple[Fraction, ...]:
        """Return the weights of u ** power; zeros where the degree is too low for it."""
        if power == 0:
            return (Fraction(1),) * len(self.cells)
        if power > self.degree:
            return (Fraction(0),) * len(self.cells)
        if power == 1:
            return tuple(Fraction(j, self.degree) for j in range(self.degree + 1))
        return (Fraction(0), Fraction(0), Fraction(1))


def _axis(argument: Expression, degree: int, steps: int) -> _Axis:
    if degree == 0:
        return _Axis(ruler=None, degree=0, sums=(is_given(argument),), cells=((1,),))
    ruler = _ruler(argument, steps)
    if degree == 2:
        sums, cells = rounded_moments(argument, ruler)
    else:
        t = quantize(argument, ruler)
        sums, cells = (is_given(t), t), ((ruler.steps, -1), (0, 1))
    return _Axis(ruler=ruler, degree=degree, sums=sums, cells=cells)


def _ruler(argument: Expression, steps: int) -> ValueGrid:
    """Return so many steps, or the most whole multiples of own steps if those are no more."""
    low, high = bounds_of(argument)
    own, grain = native_steps(argument), native_step(argument.facts)
    if own is None or grain is None or own > steps:
        return ValueGrid(low=low, high=high, steps=steps)
    return ValueGrid(low=low, high=low + own * grain, steps=own * (steps // own))


def _block(argument: Expression, degree: int) -> int | None:
    """Return of how many steps there must be a multiple, so that values and squares are exact."""
    if degree == 0:
        return 1
    own = native_steps(argument)
    return None if own is None else own**degree


def _steps(pair: Pair, degrees: tuple[int, int], rows: int) -> tuple[int, int]:
    """Return how many steps y and x have; their product is a pair's mass."""
    most = min(MASS_OF_A_PAIR, max(1, MASS_MOST // rows))
    if 0 in degrees:
        return most, most
    each = isqrt(most)
    y, x = (_block(argument, degree) for argument, degree in zip(pair, degrees, strict=True))
    if y is None or x is None or y * x > most:
        return each, each
    high = y * max(1, min(each, most // x) // y)
    return high, x * max(1, min(each, most // high) // x)


# --------------------------------------------------------------------------- pairs


@dataclass(frozen=True, kw_only=True)
class _Products:
    """The products of the cells of y and x."""

    family: PairGroup
    rows: int

    @cached_property
    def axes(self) -> tuple[_Axis, _Axis]:
        (y, x), (y_degree, x_degree) = self.family.pair, self.family.degrees
        y_steps, x_steps = _steps(self.family.pair, self.family.degrees, self.rows)
        return _axis(y, y_degree, y_steps), _axis(x, x_degree, x_steps)

    def measure(self) -> Components:
        """Return the measure, with the cell of rows that are no pairs if it is needed."""
        y, x = self.axes
        fine = STEPS_LEAST if self.family.has_null_cell and self.family.degrees == (0, 0) else 1
        total = y.total * x.total * fine
        sums: tuple[Expression, ...] = tuple(call("multiply", a, b) for a in y.sums for b in x.sums)
        cells = tuple(
            tuple(fine * a * b for a in first for b in second)
            for first in y.cells
            for second in x.cells
        )
        if self.family.has_null_cell:
            null = (-total, *(0 for _ in sums[1:]), total)
            sums, cells = (*sums, ONE_ROW), (*((*each, 0) for each in cells), null)
        return Components(what="products of pairs", sums=sums, cells=cells, total=total)

    def reading(self, aggregate: Aggregate, measure: Components, number: int) -> ComponentEstimator:
        if is_count_of_rows(aggregate):
            everywhere = (Fraction(1, measure.total),) * len(measure.cells)
            return LinearEstimator(measure=number, weights=everywhere, is_integer=True)
        is_flipped = pair_of(aggregate) != self.family.pair
        match aggregate.statistic:
            case Statistic.REGR_COUNT:
                pairs = self._weights(measure, 0, 0)
                return LinearEstimator(measure=number, weights=pairs, is_integer=True)
            case Statistic.REGR_AVGX:
                return self._mean(measure, number, of_y=is_flipped)
            case Statistic.REGR_AVGY:
                return self._mean(measure, number, of_y=not is_flipped)
            case Statistic.REGR_SYY:
                return self._pair(aggregate.statistic, measure, number, is_flipped=not is_flipped)
            case statistic:
                return self._pair(statistic, measure, number, is_flipped=is_flipped)

    def _weights(self, measure: Components, y_power: int, x_power: int) -> tuple[Fraction, ...]:
        y, x = self.axes
        found = (a * b / measure.total for a in y.moment(y_power) for b in x.moment(x_power))
        return (*found, *(Fraction(0),) * self.family.has_null_cell)

    def _mean(self, measure: Components, number: int, *, of_y: bool) -> MeanEstimator:
        argument, axis = self.family.pair[not of_y], self.axes[not of_y]
        assert axis.ruler is not None  # noqa: S101 - a mean needs cells of degree 1
        return MeanEstimator(
            measure=number,
            count=self._weights(measure, 0, 0),
            first=self._weights(measure, int(of_y), int(not of_y)),
            low=axis.ruler.low,
            high=axis.ruler.high,
            most=max(axis.ruler.low, argument.facts.interval.high or Fraction(0)),
        )

    def _pair(
        self, statistic: Statistic, measure: Components, number: int, *, is_flipped: bool
    ) -> PairEstimator:
        def weights(y_power: int, x_power: int) -> tuple[Fraction, ...]:
            powers = (x_power, y_power) if is_flipped else (y_power, x_power)
            return self._weights(measure, *powers)

        y, x = self.axes[::-1] if is_flipped else self.axes
        return PairEstimator(
            measure=number,
            statistic=READINGS[statistic],
            count=weights(0, 0),
            x=weights(0, 1),
            y=weights(1, 0),
            xx=weights(0, 2),
            xy=weights(1, 1),
            yy=weights(2, 0),
            x_low=_low(x),
            x_width=_width(x),
            y_low=_low(y),
            y_width=_width(y),
            is_sample=statistic is Statistic.COVAR_SAMP,
        )


READINGS = {
    Statistic.COVAR_POP: PairStatistic.COVARIANCE,
    Statistic.COVAR_SAMP: PairStatistic.COVARIANCE,
    Statistic.CORR: PairStatistic.CORRELATION,
    Statistic.REGR_R2: PairStatistic.DETERMINATION,
    Statistic.REGR_SLOPE: PairStatistic.SLOPE,
    Statistic.REGR_INTERCEPT: PairStatistic.INTERCEPT,
    Statistic.REGR_SXX: PairStatistic.SQUARES,
    Statistic.REGR_SYY: PairStatistic.SQUARES,
    Statistic.REGR_SXY: PairStatistic.PRODUCTS,
}


def _low(axis: _Axis) -> Fraction:
    return Fraction(0) if axis.ruler is None else axis.ruler.low


def _width(axis: _Axis) -> Fraction:
    return Fraction(1) if axis.ruler is None else axis.ruler.width
