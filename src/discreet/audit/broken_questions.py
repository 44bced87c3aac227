"""Whole queries with one protection removed, which an audit must catch, and all experiments.

An experiment goes from the SQL to the answer that the analyst sees, on pairs of neighbouring tables
(`question_experiments`). `question_statistics` has one query on one table, `question_sequences` has
joins, post-processing and several queries, and `question_curators` has curators with one
deliberately broken part.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple, cast

import numpy as np

from discreet.accounting.events import DiscreteLaplaceEvent, Event
from discreet.audit import question_sequences, question_statistics
from discreet.audit.question_curators import (
    forgetting,
    prepared_for,
    undeclared,
    unlimited,
    with_bounds_of_the_data,
    with_data,
    with_engine,
    with_plan,
)
from discreet.audit.question_experiments import Experiment, Open, Tables
from discreet.audit.question_sequences import alone, composed, joined, repeated
from discreet.audit.question_statistics import bounded, chosen, keyed, measured
from discreet.audit.subjects import Subject
from discreet.catalog.schema import Value
from discreet.estimators import LinearEstimator
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.partition_selection import Selected
from discreet.mechanisms.quantile_interval import QuantileInterval
from discreet.noise import SYSTEM, Entropy
from discreet.query.plan.plan import (
    PlannedComponents,
    PlannedRelease,
    PlannedValueSelection,
    Selector,
)
from discreet.query.questions import DeclaredGroups

# --------------------------------------------------------------------------- noise


def with_noise_of(part: Fraction) -> Open:
    """Open curators whose noise has only this part of the scale that was charged for."""
    return with_plan(
        lambda planned: replace(
            planned, components=tuple(_narrowed(each, part) for each in planned.components)
        )
    )


def _narrowed(measure: PlannedComponents, part: Fraction) -> PlannedComponents:
    noise = Geometric(epsilon=measure.epsilon / part, sensitivity=measure.measured.sensitivity)
    return replace(measure, noise=noise)


@dataclass(frozen=True, slots=True)
class SharedNoise:
    """Adds the same noise to adjacent cells."""

    inner: Geometric
    together: int

    def release(self, exact: Any, *, entropy: Entropy = SYSTEM) -> Any:
        cells = np.asarray(exact)
        first = self.inner.release(np.zeros_like(cells[:: self.together]), entropy=entropy)
        return cells + np.repeat(first, self.together, axis=0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def with_shared_noise(planned: PlannedRelease) -> PlannedRelease:
    """Give both groups of a copy the same noise."""
    measures = [
        replace(each, noise=cast("Any", SharedNoise(cast("Geometric", each.noise), 2)))
        for each in planned.components
    ]
    return replace(planned, components=tuple(measures))


def with_sharp_quantiles(planned: PlannedRelease) -> PlannedRelease:
    """Select quantiles with epsilon = 100, and charge the requested epsilon."""
    return replace(planned, value_selections=tuple(map(_sharpened, planned.value_selections)))


def _sharpened(planned: PlannedValueSelection) -> PlannedValueSelection:
    told = cast("QuantileInterval", planned.mechanism)
    sharp = QuantileInterval(
        epsilon=100,
        fraction=told.fraction,
        rows_per_unit=told.rows_per_unit,
        neighbours=told.neighbours,
    )
    return replace(planned, mechanism=sharp)


# --------------------------------------------------------------------------- keys


@dataclass(frozen=True, slots=True)
class BrokenSelection:
    """Shows groups by their exact counts."""

    inner: Selector
    least: int
    is_noisy: bool

    def release(self, units: Any, *, entropy: Entropy = SYSTEM) -> Selected:
        exact = np.asarray(units, np.int64)
        kept = exact >= self.least
        noise = Geometric(epsilon=self.inner.epsilon, sensitivity=1)
        noisy = noise.release(exact, entropy=entropy) if self.is_noisy else exact
        return Selected(kept, np.where(kept, noisy, 0))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def by_exact_threshold(planned: PlannedRelease) -> PlannedRelease:
    """Show groups whose exact number of units is above the threshold."""
    return _selecting(planned, least=None, is_noisy=False)


def if_present(planned: PlannedRelease) -> PlannedRelease:
    """Show every group that occurs, with a noisy count."""
    return _selecting(planned, least=1, is_noisy=True)


def _selecting(planned: PlannedRelease, *, least: int | None, is_noisy: bool) -> PlannedRelease:
    selection = planned.key_selection
    if selection is None:
        return planned
    inner = selection.mechanism
    broken = BrokenSelection(inner, inner.threshold if least is None else least, is_noisy)
    return replace(planned, key_selection=replace(selection, mechanism=cast("Any", broken)))


def in_order_of_the_data(planned: PlannedRelease, tables: Tables) -> PlannedRelease:
    """Return groups in the order of the table."""
    order = [each["kind"] for each in tables["visits"]]
    keys = cast("DeclaredGroups", planned.aggregation.groups)
    rows = sorted(keys.rows, key=lambda row: (row[0], _place(order, row[1])))
    return _with_keys(planned, tuple(rows))


def without_empty_groups(planned: PlannedRelease, tables: Tables) -> PlannedRelease:
    """Leave out declared groups without rows."""
    found = {each["kind"] for each in tables["visits"]}
    keys = cast("DeclaredGroups", planned.aggregation.groups)
    return _with_keys(planned, tuple(row for row in keys.rows if row[1] in found))


def _place(order: list[object], value: Value) -> int:
    return order.index(value) if value in order else len(order)


def _with_keys(planned: PlannedRelease, rows: tuple[tuple[Value, ...], ...]) -> PlannedRelease:
    keys = replace(cast("DeclaredGroups", planned.aggregation.groups), rows=rows)
    return replace(planned, aggregation=replace(planned.aggregation, groups=keys))


# --------------------------------------------------------------------------- prices


def at_half_price(planned: PlannedRelease) -> PlannedRelease:
    """Charge half of the cost of the noise."""
    return replace(planned, events=tuple(map(_halved, planned.events)))


def _halved(event: Event) -> Event:
    if not isinstance(event, DiscreteLaplaceEvent):
        return event
    return replace(event, scale=2 * event.scale)


# --------------------------------------------------------------------------- sums


@dataclass(frozen=True, slots=True)
class InsteadOf:
    """Adds noise to a sum that was computed differently."""

    inner: Geometric
    total: int

    def release(self, exact: Any, *, entropy: Entropy = SYSTEM) -> Any:
        return self.inner.release(np.full_like(exact, self.total), entropy=entropy)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


def summed_in_floats(planned: PlannedRelease, tables: Tables) -> PlannedRelease:
    """Add up 16 x - 64 row by row in 11-bit floats, to imitate wider floats in longer tables."""
    values = np.array([each["x"] for each in tables["visits"]], np.float16) * 16 - 64
    total = np.float16(0)
    for each in values:
        total += each
    (weight,) = cast("LinearEstimator", planned.estimators[0]).weights
    (measure,) = planned.components
    noise = InsteadOf(cast("Geometric", measure.noise), round(Fraction(float(total)) / weight))
    return replace(planned, components=(replace(measure, noise=cast("Any", noise)),))


class Broken(NamedTuple):
    """The planted bug, its experiment, and how its curators are made."""

    name: str
    of: str
    open: Open


BROKEN = (
    Broken("half of the noise", "COUNT(*)", with_noise_of(Fraction(1, 2))),
    Broken("half of the noise of a mean", "AVG and COUNT", with_noise_of(Fraction(1, 2))),
    Broken(
        "paid for 2 rows where 3 count",
        "30 rows where 3 count",
        with_noise_of(Fraction(2, 3)),
    ),
    Broken(
        "fan-out of a JOIN not paid for",
        "public JOIN, 1 row becomes 3",
        with_noise_of(Fraction(1, 3)),
    ),
    Broken("all rows kept", "30 rows where 3 count", prepared_for(1000)),
    Broken("1000 rows kept, alone", "1000 rows where 3 count, alone", prepared_for(1000)),
    Broken(
        "all rows count, per query",
        "30 rows where 3 count, per query",
        with_engine(unlimited),
    ),
    Broken("bounds of the data", "AVG of one far from others", with_bounds_of_the_data),
    Broken(
        "threshold without noise",
        "unknown keys of 3 others",
        with_plan(by_exact_threshold),
    ),
    Broken("keys shown if present", "unknown keys of 0 others", with_plan(if_present)),
    Broken(
        "keys of many groups shown if present",
        "unknown keys, Gaussian noise",
        with_plan(if_present),
    ),
    Broken("all groups count", "8 groups where 2 count", with_engine(unlimited)),
    Broken("empty groups left out", "histogram", with_data(without_empty_groups)),
    Broken("rows in the order of the data", "histogram", with_data(in_order_of_the_data)),
    Broken("same noise in two groups", "histogram", with_plan(with_shared_noise)),
    Broken("median of too much epsilon", "MEDIAN", with_plan(with_sharp_quantiles)),
    Broken("drawn afresh for free", "asked twice", forgetting),
    Broken(
        "charged at half price",
        "4 questions, budget for 2",
        with_plan(at_half_price),
    ),
    Broken("sum in floats", "SUM that floats get wrong", with_data(summed_in_floats)),
    Broken("replaced for the price of removed", "histogram, replaced", undeclared),
)


MORE_RUNS = {"paid for 2 rows where 3 count": 15_000}
"""More runs for the bug that is hardest to detect."""


def broken_experiments() -> tuple[Experiment, ...]:
    """Return experiments whose claims are false, each for one reason."""
    found = {each.name: each for each in _whole()}
    return tuple(_twin(found[each.of], each) for each in BROKEN)


def _twin(experiment: Experiment, kind: Broken) -> Experiment:
    return replace(
        experiment,
        name=kind.name,
        open=kind.open,
        is_broken=True,
        runs=MORE_RUNS.get(kind.name, experiment.runs),
    )


def _whole() -> tuple[Experiment, ...]:
    return (
        *measured(),
        *chosen(),
        *bounded(),
        *keyed(),
        *joined(),
        *repeated(),
        *composed(),
        *alone(),
    )


def experiments() -> tuple[Experiment, ...]:
    """Return all experiments with Discreet as it is."""
    return (
        *question_statistics.measured(),
        *question_statistics.chosen(),
        *question_statistics.bounded(),
        *question_statistics.keyed(),
        *question_sequences.joined(),
        *question_sequences.of_units(),
        *question_sequences.afterwards(),
        *question_sequences.repeated(),
        *question_sequences.composed(),
        *alone(),
    )


def subjects() -> tuple[Subject, ...]:
    """Return every kind of query, each with a pair of neighbours and its cost."""
    return tuple(each.subject() for each in experiments())


def broken_questions() -> tuple[Subject, ...]:
    """Return the same kinds of queries, each deliberately broken in one place."""
    return tuple(each.subject() for each in broken_experiments())
