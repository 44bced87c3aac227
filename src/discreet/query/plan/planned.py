"""What a release will do: exact queries, noise, price, and how far noise moves its numbers."""

from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting.events import Event
from discreet.mechanisms.exponential import PermuteAndFlip
from discreet.mechanisms.partition_selection import PartitionSelection
from discreet.mechanisms.quantile import Extreme, Quantile
from discreet.mechanisms.sensitivity import Neighbours
from discreet.query.exact import ExactQuery
from discreet.query.plan.expected import (
    Expected,
    Noise,
    RankError,
    expected_mean,
    expected_variance,
    linear_half_width,
)
from discreet.query.plan.measures import Linear, Mean, Measure, Variance
from discreet.query.plan.outline import AnyReading, Measured, Pick, Picked, Selecting, Shown
from discreet.query.questions import Release

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
    readings: tuple[AnyReading, ...]
    """How each aggregate follows from measures, picks and the selection."""
    neighbours: Neighbours
    epsilon: Fraction
    delta: Fraction
    events: tuple[Event, ...]
    bounding_reason: str
    noise_reason: str
    keys_reason: str
    left_out: tuple[str, ...]

    def expected_spread(self, confidence: Fraction) -> tuple[Expected, ...]:
        """Return how far noise moves each aggregate, at most, with this confidence."""
        return tuple(self.expected(number, confidence) for number in range(len(self.readings)))

    def expected(self, number: int, confidence: Fraction) -> Expected:
        """Return it for one aggregate."""
        return _expected(self, self.readings[number], confidence)


def _expected(planned: PlannedRelease, reading: AnyReading, confidence: Fraction) -> Expected:
    match reading:
        case Linear(measure=number):
            return linear_half_width(reading, planned.measures[number].noise, confidence)
        case Mean(measure=number):
            return expected_mean(reading, planned.measures[number].noise, confidence)
        case Variance(measure=number):
            return expected_variance(reading, planned.measures[number].noise, confidence)
        case Shown():
            assert planned.selection is not None  # noqa: S101 - it is what shows numbers
            return float(planned.selection.mechanism.error(confidence))
        case Picked(pick=number):
            return _expected_pick(planned.picks[number], confidence)


def _expected_pick(planned: PlannedPick, confidence: Fraction) -> Expected:
    ruler, mechanism = planned.pick.ruler, planned.mechanism
    if ruler is None or isinstance(mechanism, PermuteAndFlip):
        return None
    return RankError(rows=mechanism.rank_error(confidence, ruler.steps + 1))
