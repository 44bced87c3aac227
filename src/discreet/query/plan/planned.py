"""What a release will do: exact queries, noise, price, and how far noise moves its numbers."""

from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting.events import Event
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
    expected_variance_margin,
    linear_margin,
)
from discreet.mechanisms.exponential import PermuteAndFlip
from discreet.mechanisms.partition_selection import PartitionSelection
from discreet.mechanisms.quantile import Extreme, Quantile
from discreet.mechanisms.sensitivity import Neighbours
from discreet.query.exact import ExactQuery
from discreet.query.plan.measures import Measure
from discreet.query.plan.outline import Measured, Pick, Selecting
from discreet.query.questions import Contribution, LeftOut, NoiseReason, Release

Chooser = Quantile | Extreme | PermuteAndFlip


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedMeasure:
    """Cells of each group, and the noise that each of them gets."""

    measured: Measured
    epsilon: Fraction
    """Its share: exactly what it costs by itself, if its noise is Laplace noise."""
    noise: Noise

    @property
    def measure(self) -> Measure:
        return self.measured.measure


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPick:
    """A value of each group that is chosen by a mechanism."""

    pick: Pick
    epsilon: Fraction
    mechanism: Chooser


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedSelection:
    """Which keys are shown, where only the data know them."""

    selecting: Selecting
    mechanism: PartitionSelection


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRelease:
    """One table that will be released: its exact queries, its noise and its price."""

    release: Release
    queries: tuple[ExactQuery, ...]
    measures: tuple[PlannedMeasure, ...]
    picks: tuple[PlannedPick, ...]
    selection: PlannedSelection | None
    """None if the keys are known."""
    estimators: tuple[Estimator, ...]
    """How each aggregate follows from measures, picks and the selection."""
    neighbours: Neighbours
    epsilon: Fraction
    delta: Fraction
    events: tuple[Event, ...]
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
            return linear_margin(estimator, planned.measures[number].noise, confidence)
        case MeanEstimator(measure=number):
            return expected_mean_margin(estimator, planned.measures[number].noise, confidence)
        case VarianceEstimator(measure=number):
            return expected_variance_margin(estimator, planned.measures[number].noise, confidence)
        case KeyCount():
            assert planned.selection is not None  # noqa: S101 - it is what shows numbers
            return float(planned.selection.mechanism.error(confidence))
        case SelectedValue(pick=number):
            return _expected_pick(planned.picks[number], confidence)


def _expected_pick(planned: PlannedPick, confidence: Fraction) -> ExpectedMargin:
    ruler, mechanism = planned.pick.ruler, planned.mechanism
    if ruler is None or isinstance(mechanism, PermuteAndFlip):
        return None
    return RankMargin(rows=mechanism.rank_error(confidence, ruler.steps + 1))
