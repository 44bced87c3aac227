"""Counts under conditions of which a row fulfils one at most, as one histogram.

A row is in one cell at most, so that all counts together have the sensitivity of one. The generated
SQL counts a row under the first of the conditions that is true, whatever the data: privacy does not
rest on the proof that they are disjoint. That decides only whether each count is the one asked for.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.catalog.schema import Kind
from discreet.estimators import LinearEstimator
from discreet.query.expressions.disjoint import are_disjoint
from discreet.query.expressions.facts import case_of, literal
from discreet.query.plan.components import (
    COUNTS,
    ONE_ROW,
    STEPS_LEAST,
    Components,
    is_count_of_rows,
)
from discreet.query.questions import Aggregate, Statistic
from discreet.query.tree import Case, Expression, Literal

CONDITIONS_MOST = 24
"""Conditions of one histogram: the SQL of each names all before it."""


CELLS_ADDED_MOST = 10
"""COUNT(*) is the sum of all cells, whose margin is known for so many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramGroup:
    """Counts under disjoint conditions, and whether COUNT(*) is read off them as well."""

    arguments: tuple[Expression, ...]
    """What is counted or summed: 1 where the condition is true, NULL or 0 elsewhere."""
    with_rows: bool = False

    is_signed = False

    @property
    def cells(self) -> int:
        return len(self.arguments) + self.with_rows

    @property
    def takes_rows(self) -> bool:
        return len(self.arguments) < CELLS_ADDED_MOST


def histograms_of(aggregates: Iterable[Aggregate]) -> list[HistogramGroup]:
    """Return the histograms of two or more conditions that counts among these aggregates make.

    Each count joins the first whose conditions it is disjoint with. Of an expression that other
    statistics are asked of, counts stay with those.
    """
    every = list(aggregates)
    asked: dict[Expression, list[Aggregate]] = {}
    for each in every:
        if each.argument is not None and not is_count_of_rows(each):
            asked.setdefault(each.argument, []).append(each)
    found: list[list[Expression]] = []
    for argument, counts in asked.items():
        if not all(map(_is_count, counts)):
            continue
        fitting = (each for each in found if _fits(argument, each))
        joined = next(fitting, None)
        if joined is None:
            found.append([argument])
        else:
            joined.append(argument)
    return [HistogramGroup(arguments=tuple(each)) for each in found if len(each) > 1]


def _fits(argument: Expression, others: Sequence[Expression]) -> bool:
    condition = condition_of(argument)
    return len(others) < CONDITIONS_MOST and all(
        are_disjoint(condition, condition_of(each)) for each in others
    )


def _is_count(aggregate: Aggregate) -> bool:
    """Return whether an aggregate is the number of rows for which a condition is true."""
    argument = aggregate.argument
    if not isinstance(argument, Case) or len(argument.branches) != 1:
        return False
    ((_, value),), otherwise = argument.branches, argument.otherwise
    if not isinstance(value, Literal) or not isinstance(otherwise, Literal):
        return False
    if aggregate.statistic in COUNTS:
        return value.value is not None and otherwise.value is None
    is_one = value.facts.kind is Kind.INTEGER and value.value == 1
    is_none = otherwise.value is None or otherwise.value == 0
    return aggregate.statistic is Statistic.SUM and is_one and is_none


def condition_of(argument: Expression) -> Expression:
    """Return the condition under which a row is counted."""
    assert isinstance(argument, Case)  # noqa: S101 - others are in no histogram
    return argument.branches[0][0]


def histogram_components(family: HistogramGroup) -> Components:
    """Return a cell for each condition, and one for other rows if COUNT(*) is asked for."""
    conditions = [condition_of(each) for each in family.arguments]
    zero, one = literal(0), literal(1)
    sums: tuple[Expression, ...] = tuple(
        case_of((*((before, zero) for before in conditions[:place]), (each, one)), zero)
        for place, each in enumerate(conditions)
    )
    total = STEPS_LEAST if family.with_rows else 1
    size = len(sums)
    cells = tuple(tuple(total * (i == j) for j in range(size)) for i in range(size))
    if family.with_rows:
        sums = (*sums, ONE_ROW)
        cells = (*((*each, 0) for each in cells), (*(-total for _ in range(size)), total))
    return Components(what="counts", sums=sums, cells=cells, total=total)


def histogram_estimator(
    aggregate: Aggregate, family: HistogramGroup, measure: Components, number: int
) -> LinearEstimator:
    """Return how a count follows from the cells."""
    share = Fraction(1, measure.total)
    if is_count_of_rows(aggregate):
        weights = (share,) * len(measure.cells)
    else:
        assert aggregate.argument is not None  # noqa: S101 - it is one of the family's
        place = family.arguments.index(aggregate.argument)
        weights = tuple(share * (i == place) for i in range(len(measure.cells)))
    return LinearEstimator(measure=number, weights=weights, is_integer=True)
