"""Which noise the measures of a release get: that of the smaller error; and what it costs."""

from dataclasses import replace
from enum import Enum
from fractions import Fraction
from math import erfc, exp, log, sqrt

from discreet.accounting.events import (
    MOST_COUNTED,
    ApproximateEvent,
    ComposedEvent,
    DiscreteLaplaceEvent,
    Event,
)
from discreet.catalog.catalog import Accounting, BudgetPolicy
from discreet.errors import ParameterError
from discreet.mechanisms.gaussian import Calibration, Gaussian
from discreet.mechanisms.gaussian_selection import GaussianPartitionSelection
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.partition_selection import PartitionSelection
from discreet.mechanisms.row_threshold import RowThreshold
from discreet.mechanisms.sensitivity import Neighbours
from discreet.query.noise_reasons import (
    GaussianNarrower,
    LaplaceNarrower,
    NoDelta,
    NoiseReason,
    NotDrawable,
    NothingMeasured,
    UnknownGroups,
)
from discreet.query.plan.measurements import KeySelection, Strategy
from discreet.query.plan.plan import PlannedComponents, PlannedKeySelection


class NoiseRule(Enum):
    """At which equal cost noises are compared."""

    EQUAL_EPSILON = "epsilon"
    """Gaussian noise is (epsilon, delta)-DP."""

    EQUAL_RHO = "rho"
    """Where that has not the smaller error, Gaussian noise of the Laplace noise's rho may have."""


WORTHWHILE = 0.9
"""Gaussian noise is taken where its error is less than so much of the Laplace noise's."""


def with_noise(
    outline: Strategy,
    epsilons: list[Fraction],
    delta: Fraction,
    policy: BudgetPolicy,
    rule: NoiseRule = NoiseRule.EQUAL_EPSILON,
) -> tuple[tuple[PlannedComponents, ...], NoiseReason, tuple[Event, ...]]:
    """Return the measures with the noise of smaller error, why it is that, and what is charged."""
    if not outline.measured:
        return (), NothingMeasured(), ()
    laplace = tuple(
        PlannedComponents(
            measured=each,
            epsilon=share,
            noise=Geometric(epsilon=share, sensitivity=each.sensitivity),
        )
        for each, share in zip(outline.measured, epsilons, strict=True)
    )
    gaussian = ratio = None
    is_wider = _is_surely_wider(laplace, outline, delta)
    if not is_wider:
        gaussian = _with_gaussian(outline, epsilons, delta)
        ratio = _ratio(gaussian, laplace)
    if gaussian is not None and ratio is not None and ratio < WORTHWHILE:
        reason = GaussianNarrower(ratio=ratio)
        return gaussian, reason, _gaussian_events(gaussian, sum(epsilons), delta, policy)
    by_rho = _with_gaussian_by_rho(laplace, outline, delta) if rule is NoiseRule.EQUAL_RHO else None
    if by_rho is not None and (smaller := _error(by_rho) / _error(laplace)) < WORTHWHILE:
        rho = sum((_rho(each.epsilon) for each in laplace), Fraction(0))
        return by_rho, GaussianNarrower(ratio=smaller, rho=rho), _gaussian_event(by_rho)
    events = _laplace_events(outline, laplace)
    if is_wider:
        narrower = LaplaceNarrower(
            compared=lambda: _ratio(_with_gaussian(outline, epsilons, delta), laplace)
        )
        return laplace, narrower, events
    if ratio is None:
        return laplace, _laplace_reason(outline, delta), events
    return laplace, LaplaceNarrower(compared=lambda: ratio), events


def _ratio(
    gaussian: tuple[PlannedComponents, ...] | None, laplace: tuple[PlannedComponents, ...]
) -> float | None:
    return None if gaussian is None else _error(gaussian) / _error(laplace)


def planned_selection(
    selecting: KeySelection, epsilon: Fraction, delta: Fraction, neighbours: Neighbours
) -> PlannedKeySelection:
    """Return the selection of undeclared groups, by the noise that has the lower threshold."""
    laplace = PartitionSelection(
        epsilon=epsilon,
        delta=delta,
        groups=selecting.in_all,
        in_one=selecting.in_one,
        neighbours=neighbours,
    )
    gaussian = _gaussian_selection(selecting, epsilon, delta, neighbours)
    is_lower = gaussian is not None and gaussian.threshold < laplace.threshold
    mechanism = gaussian if gaussian is not None and is_lower else laplace
    return PlannedKeySelection(key_selection=selecting, mechanism=mechanism)


def _gaussian_selection(
    selecting: KeySelection, epsilon: Fraction, delta: Fraction, neighbours: Neighbours
) -> GaussianPartitionSelection | None:
    """Return Gaussian noise for numbers of units; None where it cannot be drawn.

    All rows of a unit may be in one group. So the noise of numbers of rows is as wide as that of
    one number of that size, and Laplace noise is narrower.
    """
    if selecting.in_one != 1:
        return None
    try:
        return GaussianPartitionSelection(
            epsilon=epsilon, delta=delta, groups=selecting.in_all, neighbours=neighbours
        )
    except ParameterError:
        return None


def selection_by_rows(
    selecting: KeySelection, planned: PlannedComponents, delta: Fraction, policy: BudgetPolicy
) -> PlannedKeySelection:
    """Return the selection of undeclared groups by noisy cells that are released anyway."""
    assert isinstance(planned.noise, Geometric)  # noqa: S101 - other noise needs known groups
    mechanism = RowThreshold(
        noise=planned.noise,
        cells=len(planned.measure.cells),
        total=planned.measure.total,
        rows=selecting.in_one,
        groups=selecting.in_all,
        delta=delta,
        neighbours=policy.neighbours,
    )
    return PlannedKeySelection(key_selection=selecting, mechanism=mechanism)


def selection_event(selection: PlannedKeySelection, policy: BudgetPolicy) -> Event:
    """Return the price of a selection as the policy's accounting knows it best."""
    mechanism = selection.mechanism
    is_basic = policy.accounting is Accounting.BASIC
    if isinstance(mechanism, GaussianPartitionSelection) and not is_basic:
        return mechanism.concentrated_event
    return mechanism.event


def _with_gaussian(
    outline: Strategy, epsilons: list[Fraction], delta: Fraction
) -> tuple[PlannedComponents, ...] | None:
    """Return Gaussian noise of the same deviation, per sensitivity, for all measures together.

    None where there is no delta for it, or where nobody knows how many numbers get noise.
    """
    if delta == 0 or outline.groups is None or outline.key_selection is not None:
        return None
    answers = outline.groups * max(len(each.measure.cells) for each in outline.measured)
    try:
        return tuple(
            PlannedComponents(
                measured=each,
                epsilon=share,
                noise=Gaussian(
                    epsilon=sum(epsilons),
                    delta=delta,
                    sensitivity=each.sensitivity,
                    answers=answers,
                    releases=len(outline.measured),
                ),
            )
            for each, share in zip(outline.measured, epsilons, strict=True)
        )
    except ParameterError:  # so small a delta, or so wide a noise, that it cannot be drawn
        return None


SLACK = 1e-6
"""More than rounding can move the two sides of a comparison of noise."""

EPSILON_MOST = 30
"""Above it, no short cut is taken: e^epsilon times a small tail would be rounded too much."""


def _is_surely_wider(
    laplace: tuple[PlannedComponents, ...], outline: Strategy, delta: Fraction
) -> bool:
    """Return whether Gaussian noise is surely not worthwhile; False if in doubt, or without it.

    Gaussian noise of a multiplier m has at least the deviation m √releases times the sensitivity.
    With the m at which it would be worthwhile, and less of it is not (epsilon, delta)-DP: its exact
    delta, Φ(mu/2 - epsilon/mu) - e^epsilon Φ(-mu/2 - epsilon/mu) for mu = 1/m (Balle, Wang 2018,
    Theorem 8), is larger. So one value of that curve replaces the search for the least m.
    """
    if delta == 0 or outline.groups is None or outline.key_selection is not None:
        return False
    epsilon = float(sum(each.epsilon for each in laplace))
    if epsilon > EPSILON_MOST:
        return False
    squares = sum(
        each.measured.weight
        * (1.96**2 * len(laplace))
        * float(each.measured.sensitivity.l2_squared / each.measured.sensitivity.linf**2)
        for each in laplace
    )
    mu = sqrt(squares) / (WORTHWHILE * _error(laplace) * (1 + SLACK))
    nearer, farther = (epsilon / mu - mu / 2) / sqrt(2), (epsilon / mu + mu / 2) / sqrt(2)
    inside, outside = erfc(nearer) / 2, exp(epsilon) * erfc(farther) / 2
    return inside - outside > float(delta) * (1 + SLACK) + 1e-11 * (inside + outside)


def _with_gaussian_by_rho(
    laplace: tuple[PlannedComponents, ...], outline: Strategy, delta: Fraction
) -> tuple[PlannedComponents, ...] | None:
    """Return Gaussian noise that costs each measure the rho of its Laplace noise.

    It takes no delta. None where the query rules out noise that has no epsilon by itself (delta =
    0), or where nobody knows how many numbers get noise.
    """
    if delta == 0 or outline.groups is None or outline.key_selection is not None:
        return None
    try:
        return tuple(
            replace(
                each,
                noise=Gaussian.for_rho(
                    _rho(each.epsilon),
                    delta=delta,
                    sensitivity=each.measured.sensitivity,
                    answers=_answers(outline, each),
                ),
            )
            for each in laplace
        )
    except ParameterError:  # so wide a noise that it cannot be drawn
        return None


def _rho(epsilon: Fraction) -> Fraction:
    """Return what Laplace noise of an epsilon costs (Bun, Steinke 2016, Proposition 1.4)."""
    return epsilon**2 / 2


def _error(measures: tuple[PlannedComponents, ...]) -> float:
    """Return the root of the weighted sum of squared half widths, in rows."""
    squares = 0.0
    for each in measures:
        factor = -log(0.05) if isinstance(each.noise, Geometric) else 1.96
        wide = factor * float(each.noise.scale) / float(each.measured.sensitivity.linf)
        squares += each.measured.weight * wide**2
    return float(squares**0.5)


def _laplace_events(
    outline: Strategy, measures: tuple[PlannedComponents, ...]
) -> tuple[Event, ...]:
    """Return events whose sensitivity / scale is exactly each measure's epsilon."""
    return tuple(
        DiscreteLaplaceEvent(
            sensitivity=int(each.measured.sensitivity.l1),
            scale=Fraction(each.noise.scale),
            answers=_answers(outline, each),
        )
        for each in measures
    )


def _answers(outline: Strategy, planned: PlannedComponents) -> int:
    if outline.groups is None:
        return MOST_COUNTED
    return max(1, outline.groups * len(planned.measure.cells))


def _gaussian_events(
    measures: tuple[PlannedComponents, ...],
    epsilon: Fraction | int,
    delta: Fraction,
    policy: BudgetPolicy,
) -> tuple[Event, ...]:
    """Return the price as sums of epsilons know it, or the events that concentrated ones know."""
    if policy.accounting is Accounting.BASIC:
        return (ApproximateEvent(epsilon=Fraction(epsilon), delta=delta),)
    return _gaussian_event(measures)


def _gaussian_event(measures: tuple[PlannedComponents, ...]) -> tuple[Event, ...]:
    each = tuple(m.noise.event for m in measures if isinstance(m.noise, Gaussian))
    return each if len(each) == 1 else (ComposedEvent(events=each),)


def takes_delta(measures: tuple[PlannedComponents, ...]) -> bool:
    """Return whether some noise is Gaussian for an epsilon and a delta; that for a rho has none."""
    noises = [each.noise for each in measures]
    return any(isinstance(each, Gaussian) and not is_by_rho(each) for each in noises)


def is_by_rho(noise: Gaussian) -> bool:
    """Return whether noise was made for a rho."""
    return noise.calibration is Calibration.CONCENTRATED


def _laplace_reason(outline: Strategy, delta: Fraction) -> NoiseReason:
    if delta == 0:
        return NoDelta()
    return UnknownGroups() if outline.groups is None else NotDrawable()
