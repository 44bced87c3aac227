"""A series is explained from its definition: what it costs, and its margins at every tick."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from discreet.amounts import Price
from discreet.answer.series_table import SeriesStatus
from discreet.catalog.series import SeriesPolicy
from discreet.explanation.series import SeriesColumn, SeriesExplanation
from discreet.series.definition import MeasureDefinition, SeriesDefinition
from discreet.series.mechanism_records import record_from_mechanism
from discreet.streams import StreamMechanism


def explain_series(
    series: SeriesDefinition, status: SeriesStatus, confidence: Fraction
) -> SeriesExplanation:
    """Return what a series is like."""
    return SeriesExplanation(
        name=series.name,
        question=series.question,
        clock=series.clock.value,
        first=series.first,
        status=status,
        price=Price(epsilon=series.epsilon, delta=series.delta),
        confidence=confidence,
        keys=series.keys,
        groups=len(series.groups),
        columns=_columns(series.measures, confidence),
        notes=series.notes,
    )


def explain_rejected(
    policy: SeriesPolicy, status: SeriesStatus, confidence: Fraction, problem: str
) -> SeriesExplanation:
    """Return what is known of a series whose query or terms are rejected."""
    return SeriesExplanation(
        name=policy.name,
        question=policy.question,
        clock=policy.clock.value,
        first=policy.first,
        status=status,
        price=Price(epsilon=policy.epsilon, delta=policy.delta or Fraction(0)),
        confidence=confidence,
        problem=problem,
    )


def _columns(
    measures: Sequence[MeasureDefinition], confidence: Fraction
) -> tuple[SeriesColumn, ...]:
    found = []
    for each in measures:
        # The mechanisms of a series are frozen values, which the protocol does not say.
        margins = _margins(each.mechanism, confidence)  # type: ignore[arg-type]
        first, last, worst, tick = margins
        unit = float(each.unit)
        found.append(
            SeriesColumn(
                name=each.column,
                mechanism=record_from_mechanism(each.mechanism)["tag"].partition("/")[0],
                first=unit * first,
                last=unit * last,
                worst=unit * worst,
                tick=unit * tick,
            )
        )
    return tuple(found)


@lru_cache(maxsize=256)
def _margins(mechanism: StreamMechanism, confidence: Fraction) -> tuple[float, float, float, float]:
    """Return margins of the running total at the first and last tick, the largest; of a tick."""
    running = mechanism.margins(confidence)
    single = mechanism.margins(confidence, window=1)
    return float(running[0]), float(running[-1]), float(running.max()), float(single.max())
