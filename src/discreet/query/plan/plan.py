"""Targets; Plan, PlannedRelease and their parts."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from discreet.accounting.events import Event, ExponentialEvent
from discreet.errors import ParameterError, shown
from discreet.estimators import (
    Estimator,
    ExpectedMargin,
    KeyCount,
    LinearEstimator,
    MeanEstimator,
    Noise,
    RankMargin,
    SelectedValue,
    VarianceEstimator,
    expected_mean_margin,
    expected_pair_margin,
    expected_variance_margin,
    linear_margin,
)
from discreet.mechanisms.exponential import PermuteAndFlip
from discreet.mechanisms.gaussian_selection import GaussianPartitionSelection
from discreet.mechanisms.partition_selection import PartitionSelection
from discreet.mechanisms.quantile_interval import ExtremeInterval, QuantileInterval
from discreet.mechanisms.row_threshold import RowThreshold
from discreet.mechanisms.sensitivity import Neighbours
from discreet.pair_moments import PairEstimator
from discreet.parameters import Real, confidence_level, rational
from discreet.query.noise_reasons import NoiseReason
from discreet.query.plan.components import Components
from discreet.query.plan.measurements import KeySelection, MeasuredComponents, ValueSelection
from discreet.query.questions import Aggregation, Contribution, LeftOut
from discreet.query.tree import ExactQuery

MOST = 10**300
"""Larger prices and distances have no float, and no question."""


@dataclass(frozen=True, slots=True, init=False)
class EpsilonTarget:
    """Spend this epsilon, and this delta where one is needed."""

    epsilon: Fraction
    delta: Fraction | None
    """None leaves it to the catalog."""

    def __init__(self, epsilon: Real, *, delta: Real | None = None) -> None:
        price = rational("epsilon", epsilon, above=0, most=MOST)
        object.__setattr__(self, "epsilon", price)
        object.__setattr__(self, "delta", _checked_delta(delta))


@dataclass(frozen=True, slots=True, init=False)
class MarginTarget:
    """Spend the least epsilon for which the noise of a column stays within a distance.

    `within` is one distance for all columns, or one for each column that is named.
    """

    within: Fraction | Mapping[str, Fraction]
    confidence: Fraction
    delta: Fraction | None
    """None leaves it to the catalog."""
    most: Fraction | None
    """The most epsilon that may be spent on it, if a ceiling was given."""

    def __init__(
        self,
        within: Real | Mapping[str, Real],
        *,
        confidence: Real = Fraction(95, 100),
        delta: Real | None = None,
        most: Real | None = None,
    ) -> None:
        ceiling = None if most is None else rational("epsilon", most, above=0, most=MOST)
        object.__setattr__(self, "within", _checked_within(within))
        object.__setattr__(self, "confidence", confidence_level(confidence))
        object.__setattr__(self, "delta", _checked_delta(delta))
        object.__setattr__(self, "most", ceiling)


Target = EpsilonTarget | MarginTarget


def make_target(
    epsilon: Real | None,
    delta: Real | None,
    within: Real | Mapping[str, Real] | None,
    confidence: Real,
) -> Target | None:
    """Return the target that was given, if one was; epsilon beside within is a ceiling."""
    if within is None:
        return None if epsilon is None else EpsilonTarget(epsilon, delta=delta)
    return MarginTarget(within, confidence=confidence, delta=delta, most=epsilon)


def _checked_delta(delta: Real | None) -> Fraction | None:
    return None if delta is None else rational("delta", delta, least=0, below=1)


def _checked_within(within: Real | Mapping[str, Real]) -> Fraction | Mapping[str, Fraction]:
    if not isinstance(within, Mapping):
        return rational("within", within, above=0, most=MOST)
    if not within:
        raise ParameterError("within", within, "must name at least one column")
    each = {
        name: rational(f"within[{shown(name)}]", value, above=0, most=MOST)
        for name, value in within.items()
    }
    return MappingProxyType(each)


Chooser = QuantileInterval | ExtremeInterval | PermuteAndFlip


Selector = PartitionSelection | GaussianPartitionSelection | RowThreshold


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedComponents:
    """Cells of each group, and the noise that each of them gets."""

    measured: MeasuredComponents
    epsilon: Fraction
    """Its share: exactly what it costs by itself, if its noise is Laplace noise."""
    noise: Noise

    @property
    def measure(self) -> Components:
        return self.measured.measure


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedValueSelection:
    """A value of each group that is chosen by a mechanism."""

    value_selection: ValueSelection
    epsilon: Fraction
    mechanism: Chooser

    def events(self, groups: int | None) -> tuple[Event, ...]:
        """Return what is charged for it, in so many groups; None if nobody knows how many."""
        if isinstance(self.mechanism, PermuteAndFlip):
            return (self.mechanism.event,)
        return self.mechanism.events(groups)

    @property
    def earlier_event(self) -> Event:
        """What was charged for it when values were chosen without an interval and a count."""
        if isinstance(self.mechanism, PermuteAndFlip):
            return self.mechanism.event
        return ExponentialEvent(epsilon=self.epsilon)

    @property
    def support(self) -> int | None:
        """From how many rows on, by a noisy count, a value is shown; None if it always is."""
        if isinstance(self.mechanism, PermuteAndFlip) or self.value_selection.grid is None:
            return None
        return self.mechanism.support(self.value_selection.grid.steps + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedKeySelection:
    """Which keys are shown, where only the data know them."""

    key_selection: KeySelection
    mechanism: Selector


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRelease:
    """One table that will be released: its exact queries, its noise and its price."""

    aggregation: Aggregation
    queries: tuple[ExactQuery, ...]
    components: tuple[PlannedComponents, ...]
    value_selections: tuple[PlannedValueSelection, ...]
    key_selection: PlannedKeySelection | None
    """None if the keys are known."""
    estimators: tuple[Estimator, ...]
    """How each aggregate follows from measures, picks and the selection."""
    neighbours: Neighbours
    epsilon: Fraction
    delta: Fraction
    events: tuple[Event, ...]
    earlier_events: tuple[Event, ...]
    """What was charged when values were chosen without an interval: tables of then are kept."""
    contribution: Contribution
    noise_reason: NoiseReason
    left_out: tuple[LeftOut, ...]

    def expected_margins(self, confidence: Fraction) -> tuple[ExpectedMargin, ...]:
        """Return how far noise moves each aggregate, at most, with this confidence."""
        return tuple(self.expected(number, confidence) for number in range(len(self.estimators)))

    def expected(self, number: int, confidence: Fraction) -> ExpectedMargin:
        """Return it for one aggregate."""
        return _expected(self, self.estimators[number], confidence)


def _expected(
    planned: PlannedRelease, estimator: Estimator, confidence: Fraction
) -> ExpectedMargin:
    match estimator:
        case LinearEstimator(measure=number):
            return linear_margin(estimator, planned.components[number].noise, confidence)
        case MeanEstimator(measure=number):
            return expected_mean_margin(estimator, planned.components[number].noise, confidence)
        case VarianceEstimator(measure=number):
            return expected_variance_margin(estimator, planned.components[number].noise, confidence)
        case PairEstimator(measure=number):
            return expected_pair_margin(estimator, planned.components[number].noise, confidence)
        case KeyCount():
            assert planned.key_selection is not None  # noqa: S101 - it is what shows numbers
            return float(planned.key_selection.mechanism.margin(confidence))
        case SelectedValue(selection=number):
            return _expected_pick(planned.value_selections[number], confidence)


def _expected_pick(planned: PlannedValueSelection, confidence: Fraction) -> ExpectedMargin:
    ruler, mechanism = planned.value_selection.grid, planned.mechanism
    if ruler is None or isinstance(mechanism, PermuteAndFlip):
        return None
    return RankMargin(rows=mechanism.rank_error(confidence, ruler.steps + 1))
