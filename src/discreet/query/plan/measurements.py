"""The parts of a strategy: what is measured, which values are chosen, what selects the groups."""

from dataclasses import dataclass
from fractions import Fraction

from discreet.catalog.schema import Kind, Value
from discreet.estimators import Estimator, KeyCount
from discreet.mechanisms.sensitivity import Sensitivity
from discreet.query.plan.components import Components
from discreet.query.plan.quantization import ValueGrid
from discreet.query.questions import Aggregation, Counted, Statistic
from discreet.query.tree import ExactQuery


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredComponents:
    """A measure, where its exact sums are found, and how far a unit moves it."""

    measure: Components
    query: int
    columns: tuple[str, ...]
    sensitivity: Sensitivity
    weight: float
    """How much its variance counts against that of others, where epsilon is split."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueSelection:
    """A value that is chosen, not measured: a quantile or an end on a ruler, or a mode."""

    query: int
    statistic: Statistic
    fraction: Fraction
    kind: Kind
    grid: ValueGrid | None
    is_rounded: bool = False
    """Whether values may lie between points of the grid, and are moved to the nearest."""
    domain: tuple[Value, ...] = ()
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySelection:
    """By which numbers keys are selected that only the data know."""

    of: Counted
    query: int
    column: str
    in_all: int
    """How much a unit adds to the numbers of all keys together, at most."""
    in_one: int
    """And to that of each."""
    measure: int | None = None
    """Of which measure the noisy cells select, where those are released anyway."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Strategy:
    """A release's exact queries and what is to get noise."""

    aggregation: Aggregation
    queries: tuple[ExactQuery, ...]
    measured: tuple[MeasuredComponents, ...]
    value_selections: tuple[ValueSelection, ...]
    key_selection: KeySelection | None
    """What selects the keys, if these are not known."""
    estimators: tuple[Estimator, ...]
    """How each aggregate follows."""
    groups: int | None
    """How many there are; None if only the data know."""

    @property
    def weights(self) -> tuple[float, ...]:
        """How much each part counts: the selection, the measures, the picks."""
        selecting = self.key_selection
        is_paid = selecting is not None and selecting.measure is None
        return (
            *([1.0 + (KeyCount() in self.estimators)] if is_paid else []),
            *(each.weight for each in self.measured),
            *(2.0 for _ in self.value_selections),
        )
