"""From a checked question and a target to all that will happen, decided before data is read."""

from dataclasses import dataclass, field
from fractions import Fraction

from discreet.accounting.events import Event
from discreet.catalog.policy import BudgetPolicy
from discreet.errors import ParameterError, TargetError, UnknownKeysError, readable
from discreet.estimators import LinearEstimator, MeanEstimator, VarianceEstimator
from discreet.mechanisms.exponential import PermuteAndFlip
from discreet.mechanisms.partition_selection import PartitionSelection
from discreet.mechanisms.quantile import End, Extreme, Quantile
from discreet.mechanisms.sensitivity import ADD_REMOVE, Neighbours
from discreet.query.exact import Bounding
from discreet.query.plan.identity import Identity, identities_of
from discreet.query.plan.kept import reads_kept
from discreet.query.plan.noises import uses_gaussian, with_noise
from discreet.query.plan.outline import Outline, Pick, Selecting, outline_of
from discreet.query.plan.planned import Chooser, PlannedPick, PlannedRelease, PlannedSelection
from discreet.query.plan.solve import least_epsilon
from discreet.query.plan.split import shares, split
from discreet.query.plan.targets import EpsilonTarget, Target
from discreet.query.questions import (
    Clamped,
    Contribution,
    ContributionLimit,
    CountedOnce,
    LeftOut,
    Limited,
    OneRowEach,
    Question,
    RowChoiceTime,
    Statistic,
)
from discreet.query.tree import Expression, PerUnit, PublicScan, Rows, Scan, Select, Union, is_whole
from discreet.query.walk import columns_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All that will happen, decided before any data is read."""

    question: Question
    epsilon: Fraction
    delta: Fraction
    events: tuple[Event, ...]
    """What the ledger is charged."""
    releases: tuple[PlannedRelease, ...]
    identities: tuple[Identity, ...] = field(repr=False)
    """For each release, by what the ledger knows it and others like it."""


def make_plan(question: Question, target: Target, policy: BudgetPolicy) -> Plan:
    """Return the plan of least error for a price, or of least price for an error.

    What it charges adds up to exactly the epsilon asked for, however many columns there are.
    """
    outlines = tuple(outline_of(each, policy.neighbours) for each in question.releases)
    _check_keys(outlines, policy)
    delta = _delta(target, policy)
    epsilon = _epsilon(question, outlines, target, delta, policy)
    releases = _drawable(outlines, epsilon, delta, policy)
    used = sum((each.delta for each in releases), Fraction(0))
    return Plan(
        question=question,
        epsilon=epsilon,
        delta=used,
        events=tuple(event for each in releases for event in each.events),
        releases=releases,
        identities=identities_of(question, releases, policy),
    )


def _epsilon(
    question: Question,
    outlines: tuple[Outline, ...],
    target: Target,
    delta: Fraction,
    policy: BudgetPolicy,
) -> Fraction:
    if not outlines:
        return Fraction(0)
    if isinstance(target, EpsilonTarget):
        return target.epsilon
    return least_epsilon(question, target, lambda each: _planned(outlines, each, delta, policy))


def _delta(target: Target, policy: BudgetPolicy) -> Fraction:
    if policy.delta == 0:
        return Fraction(0)
    return policy.delta_per_question if target.delta is None else target.delta


def _check_keys(outlines: tuple[Outline, ...], policy: BudgetPolicy) -> None:
    """Refuse keys that nobody has declared where there is no delta to hide the rare ones."""
    for each in outlines:
        if each.selecting is not None and policy.delta == 0:
            names = [key.text or key.name for key in each.release.keys]
            raise UnknownKeysError(
                f"GROUP BY {', '.join(names)} needs a list of values, because this budget has no "
                "delta",
                f"List them in the query: WHERE {names[0]} IN (...). Or ask the data owner to "
                f"declare values for {names[0]}, or to add a delta to the budget",
                span=each.release.keys[0].span,
            )


def _drawable(
    outlines: tuple[Outline, ...], epsilon: Fraction, delta: Fraction, policy: BudgetPolicy
) -> tuple[PlannedRelease, ...]:
    """Return the releases, or refuse an epsilon whose noise no sampler covers."""
    try:
        return _planned(outlines, epsilon, delta, policy)
    except ParameterError as cause:
        raise TargetError(
            f"Discreet cannot compute the noise for this query at ε = {readable(epsilon)}",
            "Use an epsilon between 0.001 and 100",
        ) from cause


def _planned(
    outlines: tuple[Outline, ...], epsilon: Fraction, delta: Fraction, policy: BudgetPolicy
) -> tuple[PlannedRelease, ...]:
    """Share epsilon and delta among releases by the number of their parts."""
    if not outlines:
        return ()
    parts = [max(1, len(each.weights)) for each in outlines]
    epsilons = shares(epsilon, parts)
    return tuple(
        _planned_release(outline, share, delta / len(outlines), policy)
        for outline, share in zip(outlines, epsilons, strict=True)
    )


def _planned_release(
    outline: Outline, epsilon: Fraction, delta: Fraction, policy: BudgetPolicy
) -> PlannedRelease:
    parts = list(split(epsilon, outline.weights))
    selection = None
    if outline.selecting is not None:
        if delta == 0:
            raise TargetError(
                "Undeclared groups need a delta above 0",
                "Give a larger delta, or leave it out to use the delta of the catalog",
            )
        selection = _planned_selection(outline.selecting, parts.pop(0), delta, policy.neighbours)
    of_measures = parts[: len(outline.measured)]
    measures, noise_reason, events = with_noise(outline, of_measures, delta, policy)
    picks = tuple(
        _planned_pick(pick, share, policy.neighbours)
        for pick, share in zip(outline.picks, parts[len(of_measures) :], strict=True)
    )
    all_events = (
        *([selection.mechanism.event] if selection else []),
        *events,
        *(each.mechanism.event for each in picks),
    )
    return PlannedRelease(
        release=outline.release,
        queries=outline.queries,
        measures=measures,
        picks=picks,
        selection=selection,
        estimators=outline.estimators,
        neighbours=policy.neighbours,
        epsilon=epsilon,
        delta=delta if selection or uses_gaussian(measures) else Fraction(0),
        events=all_events,
        contribution=_contribution(outline),
        noise_reason=noise_reason,
        left_out=(*outline.release.left_out, *_clamped(outline)),
    )


def _planned_selection(
    selecting: Selecting, epsilon: Fraction, delta: Fraction, neighbours: Neighbours
) -> PlannedSelection:
    mechanism = PartitionSelection(
        epsilon=epsilon,
        delta=delta,
        groups=selecting.in_all,
        in_one=selecting.in_one,
        neighbours=neighbours,
    )
    return PlannedSelection(selecting=selecting, mechanism=mechanism)


def _planned_pick(pick: Pick, epsilon: Fraction, neighbours: Neighbours) -> PlannedPick:
    mechanism: Chooser
    if pick.statistic is Statistic.MODE:
        mechanism = PermuteAndFlip(
            epsilon=epsilon, sensitivity=pick.rows, monotone=neighbours is ADD_REMOVE
        )
    elif pick.fraction in (0, 1):
        end = End.MIN if pick.fraction == 0 else End.MAX
        mechanism = Extreme(
            epsilon=epsilon, end=end, rows_per_unit=pick.rows, neighbours=neighbours
        )
    else:
        mechanism = Quantile(
            epsilon=epsilon,
            fraction=pick.fraction.limit_denominator(10**6),
            rows_per_unit=pick.rows,
            neighbours=neighbours,
        )
    return PlannedPick(pick=pick, epsilon=epsilon, mechanism=mechanism)


def _contribution(outline: Outline) -> Contribution:
    forms = {each.bounding for each in outline.queries}
    release = outline.release
    if forms <= {Bounding.NONE}:
        return OneRowEach()
    if forms == {Bounding.UNITS_ONLY} and not release.keys:
        return CountedOnce()
    chosen = _choice_time(release.rows)
    of = Limited.ROWS
    if chosen is RowChoiceTime.PER_QUERY and Bounding.ROWS not in forms:
        of = Limited.VALUES if Bounding.PAIRS in forms else Limited.GROUPS
    most = max(each.limit for each in outline.queries if each.bounding is not Bounding.NONE)
    return ContributionLimit(most=most, of=of, reason=release.limit_reason, chosen=chosen)


def _choice_time(rows: Rows) -> RowChoiceTime:
    if not reads_kept(rows):
        return RowChoiceTime.PER_QUERY
    if is_whole(rows):
        return RowChoiceTime.ONCE
    return RowChoiceTime.BEFORE_WHERE if _is_filtered(rows) else RowChoiceTime.BEFORE_JOIN


def _is_filtered(rows: Rows) -> bool:
    """Return whether a condition drops rows, be it one of a join or not."""
    match rows:
        case Select(source=source, joins=joins, where=where, only=only):
            inner = [each.source for each in joins if not isinstance(each.source, PublicScan)]
            is_filter = where is not None or only is not None
            return is_filter or any(map(_is_filtered, (source, *inner)))
        case PerUnit(source=source):
            return _is_filtered(source)
        case Union(parts=parts):
            return any(map(_is_filtered, parts))
        case Scan():
            return False


def _clamped(outline: Outline) -> tuple[LeftOut, ...]:
    """Return each expression whose values are moved into a range."""
    found = []
    pairs = zip(outline.release.aggregates, outline.estimators, strict=True)
    for aggregate, estimator in pairs:
        if not isinstance(estimator, LinearEstimator | MeanEstimator | VarianceEstimator):
            continue
        ends = outline.measured[estimator.measure].measure.clamped
        argument = aggregate.argument
        if ends is None or argument is None or aggregate.statistic is Statistic.COUNT:
            continue
        text = aggregate.argument_text or " and ".join(_names_in(argument)) or "a constant"
        low, high = ends
        found.append(Clamped(text=text, low=low, high=high, kind=argument.facts.kind))
    return tuple(dict.fromkeys(found))


def _names_in(argument: Expression) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.name for each in columns_in(argument)))
