"""Releases that are deliberately broken in one place: noise, groups, costs, sums."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from discreet.accounting.events import DiscreteLaplaceEvent, Event
from discreet.audit.questions.experiments import Open
from discreet.audit.questions.parts import with_plan
from discreet.audit.questions.scenes import Tables
from discreet.catalog.schema import Value
from discreet.estimators import LinearEstimator
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.partition_selection import PartitionSelection, Selected
from discreet.mechanisms.quantile import Quantile
from discreet.noise import SYSTEM, Entropy
from discreet.query.plan.planned import PlannedMeasure, PlannedPick, PlannedRelease
from discreet.query.questions import KnownKeys

# --------------------------------------------------------------------------- noise


def with_noise_of(part: Fraction) -> Open:
    """Open curators whose noise has only this part of the scale that was charged for."""
    return with_plan(
        lambda planned: replace(
            planned, measures=tuple(_narrowed(each, part) for each in planned.measures)
        )
    )


def _narrowed(measure: PlannedMeasure, part: Fraction) -> PlannedMeasure:
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
        for each in planned.measures
    ]
    return replace(planned, measures=tuple(measures))


def with_sharp_quantiles(planned: PlannedRelease) -> PlannedRelease:
    """Select quantiles with epsilon = 100, and charge the requested epsilon."""
    return replace(planned, picks=tuple(map(_sharpened, planned.picks)))


def _sharpened(planned: PlannedPick) -> PlannedPick:
    told = cast("Quantile", planned.mechanism)
    sharp = Quantile(
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

    inner: PartitionSelection
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
    selection = planned.selection
    if selection is None:
        return planned
    inner = selection.mechanism
    broken = BrokenSelection(inner, inner.threshold if least is None else least, is_noisy)
    return replace(planned, selection=replace(selection, mechanism=cast("Any", broken)))


def in_order_of_the_data(planned: PlannedRelease, tables: Tables) -> PlannedRelease:
    """Return groups in the order of the table."""
    order = [each["kind"] for each in tables["visits"]]
    keys = cast("KnownKeys", planned.release.key_set)
    rows = sorted(keys.rows, key=lambda row: (row[0], _place(order, row[1])))
    return _with_keys(planned, tuple(rows))


def without_empty_groups(planned: PlannedRelease, tables: Tables) -> PlannedRelease:
    """Leave out declared groups without rows."""
    found = {each["kind"] for each in tables["visits"]}
    keys = cast("KnownKeys", planned.release.key_set)
    return _with_keys(planned, tuple(row for row in keys.rows if row[1] in found))


def _place(order: list[object], value: Value) -> int:
    return order.index(value) if value in order else len(order)


def _with_keys(planned: PlannedRelease, rows: tuple[tuple[Value, ...], ...]) -> PlannedRelease:
    keys = replace(cast("KnownKeys", planned.release.key_set), rows=rows)
    return replace(planned, release=replace(planned.release, key_set=keys))


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
    (measure,) = planned.measures
    noise = InsteadOf(cast("Geometric", measure.noise), round(Fraction(float(total)) / weight))
    return replace(planned, measures=(replace(measure, noise=cast("Any", noise)),))
