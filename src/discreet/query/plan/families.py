"""Families: all that is asked of one expression, one pair, or several disjoint conditions.

All statistics of a family are read off the same noisy cells, which have the sensitivity of a count.
"""

from collections.abc import Iterable
from dataclasses import replace

from discreet.estimators import ComponentEstimator
from discreet.mechanisms.row_threshold import CELLS_MOST
from discreet.query.plan.components import (
    Components,
    StatisticGroup,
    components_of,
    estimator_of,
    group_statistics,
    is_count_of_rows,
)
from discreet.query.plan.histograms import (
    HistogramGroup,
    histogram_components,
    histogram_estimator,
    histograms_of,
)
from discreet.query.plan.pairs import (
    DEGREES,
    Pair,
    PairGroup,
    pair_components,
    pair_estimator,
    pair_of,
    pairs_of,
)
from discreet.query.questions import Aggregate
from discreet.query.tree import Expression

Family = StatisticGroup | PairGroup | HistogramGroup


FamilyKey = Expression | Pair | None


def families_of(aggregates: Iterable[Aggregate]) -> tuple[Family, ...]:
    """Return the families of a release; COUNT(*) joins that of the fewest cells.

    It joins a pair only where nothing else of rows is asked for.
    """
    every = list(aggregates)
    of_pairs = pairs_of(each for each in every if each.statistic in DEGREES)
    others = [each for each in every if each.statistic not in DEGREES]
    histograms = histograms_of(others)
    members = {argument for each in histograms for argument in each.arguments}
    rest = [each for each in others if each.argument not in members]
    rows = [each for each in rest if is_count_of_rows(each)]
    if rows and len(rows) == len(rest):
        joined = _with_rows([*histograms, *of_pairs])
        if joined is not None:
            return joined
    return (*group_statistics(rest), *histograms, *of_pairs)


def _with_rows(families: list[HistogramGroup | PairGroup]) -> tuple[Family, ...] | None:
    """Return the families, COUNT(*) joined to one of them, or None if there is none for it."""
    joined = [replace(each, with_rows=True) for each in families]
    fitting = [i for i, each in enumerate(joined) if each.takes_rows]
    if not fitting:
        return None
    is_pair = [isinstance(each, PairGroup) for each in joined]
    best = min(fitting, key=lambda i: (is_pair[i], joined[i].cells))
    return (*families[:best], joined[best], *families[best + 1 :])


def counts_few_cells(family: Family) -> bool:
    """Return whether noisy cells add up to rows, and are few enough to select groups by."""
    return not family.is_signed and family.cells <= CELLS_MOST


def family_keys(family: Family) -> tuple[FamilyKey, ...]:
    """Return by what the statistics of a family look it up."""
    own: tuple[FamilyKey, ...]
    match family:
        case PairGroup():
            own = (family.pair, family.pair[::-1])
        case HistogramGroup():
            own = family.arguments
        case StatisticGroup():
            own = (family.argument,)
    return (*own, None) if family.with_rows else own


def family_key(aggregate: Aggregate) -> FamilyKey:
    """Return by what a statistic looks up its family."""
    if aggregate.statistic in DEGREES:
        return pair_of(aggregate)
    return None if is_count_of_rows(aggregate) else aggregate.argument


def measure_of(family: Family, rows: int) -> Components:
    """Return the cells of a family, for units of so many rows."""
    match family:
        case PairGroup():
            return pair_components(family, rows)
        case HistogramGroup():
            return histogram_components(family)
        case StatisticGroup():
            return components_of(family, rows)


def reading_of(
    aggregate: Aggregate, family: Family, measure: Components, number: int, rows: int
) -> ComponentEstimator:
    """Return how an aggregate follows from the cells of its family, the measure of this number."""
    match family:
        case PairGroup():
            return pair_estimator(aggregate, family, measure, number, rows)
        case HistogramGroup():
            return histogram_estimator(aggregate, family, measure, number)
        case StatisticGroup():
            return estimator_of(aggregate, family, measure, number, rows)
