"""Make_plan: the split of epsilon and the noise of least error."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd

from discreet.accounting.events import Event
from discreet.catalog.catalog import BudgetPolicy
from discreet.errors import ParameterError, TargetError, UnknownKeysError, readable
from discreet.estimators import ComponentEstimator
from discreet.mechanisms.exponential import PermuteAndFlip
from discreet.mechanisms.quantile import PARTS_MOST, End
from discreet.mechanisms.quantile_interval import ExtremeInterval, QuantileInterval
from discreet.mechanisms.sensitivity import ADD_REMOVE, Neighbours
from discreet.query.plan.accuracy import least_epsilon
from discreet.query.plan.bounded_rows import reads_bounded_rows
from discreet.query.plan.identity import Identity, identities_of
from discreet.query.plan.measurements import Strategy, ValueSelection
from discreet.query.plan.noise_choice import (
    NoiseRule,
    planned_selection,
    selection_by_rows,
    selection_event,
    takes_delta,
    with_noise,
)
from discreet.query.plan.pairs import clamped_of
from discreet.query.plan.plan import (
    Chooser,
    EpsilonTarget,
    PlannedRelease,
    PlannedValueSelection,
    Target,
)
from discreet.query.plan.quantization import bounds_of
from discreet.query.plan.strategy import strategy_for
from discreet.query.questions import (
    Aggregate,
    Clamped,
    Contribution,
    ContributionLimit,
    CountedOnce,
    LeftOut,
    Limited,
    NumberedRows,
    OneRowEach,
    Question,
    RowChoiceTime,
    Statistic,
)
from discreet.query.tree import (
    Case,
    ContributionBounding,
    Expression,
    GroupByUnit,
    Literal,
    PublicRelation,
    Relation,
    Scan,
    Select,
    UnionAll,
    columns_in,
    is_unfiltered,
)

FINENESS = 4
"""Shares are whole multiples of one part in so many of the smallest share."""


UNEVEN_MOST = 1000.0
"""No part's weight counts as more than so many times that of another."""


def split(whole: Fraction, weights: Sequence[float]) -> tuple[Fraction, ...]:
    """Return shares of epsilon that add up to it, about those of the least weighted variance.

    Noise that takes epsilon_i has variance W_i / epsilon_i², and Σ W_i / epsilon_i² is least for
    epsilon_i in proportion to the cube root of W_i (docs/proofs/measures.md, section 6). The
    proportions are rounded to simple ones.
    """
    least = min(weights)
    parts = [round(FINENESS * min(each / least, UNEVEN_MOST) ** (1 / 3)) for each in weights]
    return shares(whole, parts)


def shares(whole: Fraction, parts: Sequence[int]) -> tuple[Fraction, ...]:
    """Return `whole` cut in these proportions, exactly."""
    common = gcd(*parts)
    total = sum(parts)
    return tuple(whole * Fraction(each // common, total // common) for each in parts)


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


def strategies_for(question: Question, policy: BudgetPolicy) -> tuple[Strategy, ...]:
    """Return what is measured for each release, whatever the price."""
    return tuple(strategy_for(each, policy.neighbours) for each in question.aggregations)


def make_plan(
    question: Question,
    target: Target,
    policy: BudgetPolicy,
    rule: NoiseRule = NoiseRule.EQUAL_EPSILON,
    strategies: tuple[Strategy, ...] | None = None,
) -> Plan:
    """Return the plan of least error for a price, or of least price for an error.

    What it charges adds up to exactly the epsilon asked for, however many columns there are; by
    equal rho, to no more rho than Laplace noise of that epsilon costs.
    """
    outlines = strategies_for(question, policy) if strategies is None else strategies
    _check_keys(outlines, policy)
    delta = _delta(target, policy)
    epsilon = _epsilon(question, target, lambda each: _planned(outlines, each, delta, policy, rule))
    releases = _drawable(outlines, epsilon, delta, policy, rule)
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
    question: Question, target: Target, planner: Callable[[Fraction], tuple[PlannedRelease, ...]]
) -> Fraction:
    if not question.aggregations:
        return Fraction(0)
    if isinstance(target, EpsilonTarget):
        return target.epsilon
    return least_epsilon(question, target, planner)


def _delta(target: Target, policy: BudgetPolicy) -> Fraction:
    if policy.delta == 0:
        return Fraction(0)
    return policy.delta_per_question if target.delta is None else target.delta


def _check_keys(outlines: tuple[Strategy, ...], policy: BudgetPolicy) -> None:
    """Refuse keys that nobody has declared where there is no delta to hide the rare ones."""
    for each in outlines:
        if each.key_selection is not None and policy.delta == 0:
            names = [key.text or key.name for key in each.aggregation.keys]
            raise UnknownKeysError(
                f"GROUP BY {', '.join(names)} needs a list of values, because this budget has no "
                "delta",
                f"List them in the query: WHERE {names[0]} IN (...). Or ask the data owner to "
                f"declare values for {names[0]}, or to add a delta to the budget",
                span=each.aggregation.keys[0].span,
            )


def _drawable(
    outlines: tuple[Strategy, ...],
    epsilon: Fraction,
    delta: Fraction,
    policy: BudgetPolicy,
    rule: NoiseRule,
) -> tuple[PlannedRelease, ...]:
    """Return the releases, or refuse an epsilon whose noise no sampler covers."""
    try:
        return _planned(outlines, epsilon, delta, policy, rule)
    except ParameterError as cause:
        raise TargetError(
            f"Discreet cannot compute the noise for this query at ε = {readable(epsilon)}",
            "Use an epsilon between 0.001 and 100",
        ) from cause


def _planned(
    outlines: tuple[Strategy, ...],
    epsilon: Fraction,
    delta: Fraction,
    policy: BudgetPolicy,
    rule: NoiseRule,
) -> tuple[PlannedRelease, ...]:
    """Share epsilon and delta among releases by the number of their parts."""
    if not outlines:
        return ()
    parts = [max(1, len(each.weights)) for each in outlines]
    epsilons = shares(epsilon, parts)
    return tuple(
        _planned_release(outline, share, delta / len(outlines), policy, rule)
        for outline, share in zip(outlines, epsilons, strict=True)
    )


def _planned_release(
    outline: Strategy,
    epsilon: Fraction,
    delta: Fraction,
    policy: BudgetPolicy,
    rule: NoiseRule,
) -> PlannedRelease:
    parts = list(split(epsilon, outline.weights))
    selection, selecting = None, outline.key_selection
    if selecting is not None:
        if delta == 0:
            raise TargetError(
                "Undeclared groups need a delta above 0",
                "Give a larger delta, or leave it out to use the delta of the catalog",
            )
        if selecting.measure is None:
            selection = planned_selection(selecting, parts.pop(0), delta, policy.neighbours)
    of_measures = parts[: len(outline.measured)]
    measures, noise_reason, events = with_noise(outline, of_measures, delta, policy, rule)
    if selecting is not None and selecting.measure is not None:
        selection = selection_by_rows(selecting, measures[selecting.measure], delta, policy)
    picks = tuple(
        _planned_pick(pick, share, policy.neighbours, outline.groups)
        for pick, share in zip(outline.value_selections, parts[len(of_measures) :], strict=True)
    )
    before = (*([selection_event(selection, policy)] if selection else []), *events)
    return PlannedRelease(
        aggregation=outline.aggregation,
        queries=outline.queries,
        components=measures,
        value_selections=picks,
        key_selection=selection,
        estimators=outline.estimators,
        neighbours=policy.neighbours,
        epsilon=epsilon,
        delta=delta if selection or takes_delta(measures) else Fraction(0),
        events=(*before, *(event for each in picks for event in each.events(outline.groups))),
        earlier_events=(*before, *(each.earlier_event for each in picks)),
        contribution=_contribution(outline),
        noise_reason=noise_reason,
        left_out=(*outline.aggregation.left_out, *_clamped(outline)),
    )


def _planned_pick(
    pick: ValueSelection, epsilon: Fraction, neighbours: Neighbours, groups: int | None
) -> PlannedValueSelection:
    mechanism: Chooser
    only = 1 if groups == 1 else None
    if pick.statistic is Statistic.MODE:
        mechanism = PermuteAndFlip(
            epsilon=epsilon, sensitivity=pick.rows, monotone=neighbours is ADD_REMOVE
        )
    elif pick.fraction in (0, 1):
        end = End.MIN if pick.fraction == 0 else End.MAX
        mechanism = ExtremeInterval(
            epsilon=epsilon,
            end=end,
            rows_per_unit=pick.rows,
            neighbours=neighbours,
            groups=only,
        )
    else:
        mechanism = QuantileInterval(
            epsilon=epsilon,
            fraction=pick.fraction.limit_denominator(PARTS_MOST),
            rows_per_unit=pick.rows,
            neighbours=neighbours,
            groups=only,
        )
    return PlannedValueSelection(value_selection=pick, epsilon=epsilon, mechanism=mechanism)


def _contribution(outline: Strategy) -> Contribution:
    forms = {each.bounding for each in outline.queries}
    release = outline.aggregation
    if forms <= {ContributionBounding.NONE}:
        return OneRowEach()
    if forms == {ContributionBounding.UNITS_ONLY} and not release.keys:
        return CountedOnce()
    if isinstance(release.limit_reason, NumberedRows):
        return release.limit_reason
    chosen = _choice_time(release.rows)
    of = Limited.ROWS
    if chosen is RowChoiceTime.PER_QUERY and ContributionBounding.ROWS not in forms:
        of = Limited.VALUES if ContributionBounding.PAIRS in forms else Limited.GROUPS
    limit = release.group_limit
    if limit is not None and forms == {ContributionBounding.UNITS_ONLY}:
        of = Limited.GROUPS
    most = max(
        each.contribution_limit
        for each in outline.queries
        if each.bounding is not ContributionBounding.NONE
    )
    return ContributionLimit(
        most=most,
        of=of,
        reason=release.limit_reason,
        chosen=chosen,
        groups=None if limit is None else limit.most,
    )


def _choice_time(rows: Relation) -> RowChoiceTime:
    if not reads_bounded_rows(rows):
        return RowChoiceTime.PER_QUERY
    if is_unfiltered(rows):
        return RowChoiceTime.ONCE
    return RowChoiceTime.BEFORE_WHERE if _is_filtered(rows) else RowChoiceTime.BEFORE_JOIN


def _is_filtered(rows: Relation) -> bool:
    """Return whether a condition drops rows, be it one of a join or not."""
    match rows:
        case Select(source=source, joins=joins, where=where, qualify=only):
            inner = [each.source for each in joins if not isinstance(each.source, PublicRelation)]
            is_filter = where is not None or only is not None
            return is_filter or any(map(_is_filtered, (source, *inner)))
        case GroupByUnit(source=source):
            return _is_filtered(source)
        case UnionAll(parts=parts):
            return any(map(_is_filtered, parts))
        case Scan():
            return False


def _clamped(outline: Strategy) -> tuple[LeftOut, ...]:
    """Return each expression whose values are moved into a range."""
    found: list[LeftOut] = []
    pairs = zip(outline.aggregation.aggregates, outline.estimators, strict=True)
    for aggregate, estimator in pairs:
        if not isinstance(estimator, ComponentEstimator):
            continue
        if aggregate.second is not None:
            found.extend(_clamped_pair(aggregate))
            continue
        ends = outline.measured[estimator.measure].measure.clamped
        argument = aggregate.argument
        if ends is None or argument is None or aggregate.statistic is Statistic.COUNT:
            continue
        if _is_of_constants(argument):
            continue
        text = aggregate.argument_text or " and ".join(_names_in(argument)) or "a constant"
        low, high = ends
        found.append(Clamped(text=text, low=low, high=high, kind=argument.facts.kind))
    return tuple(dict.fromkeys(found))


def _is_of_constants(argument: Expression) -> bool:
    """Return whether all values stand in the query, so that none is outside of the range."""
    if not isinstance(argument, Case):
        return False
    results = (*(result for _, result in argument.branches), argument.otherwise)
    return all(isinstance(each, Literal) for each in results)


def _clamped_pair(aggregate: Aggregate) -> Iterator[Clamped]:
    for argument, written in clamped_of(aggregate):
        text = written or " and ".join(_names_in(argument)) or "a constant"
        low, high = bounds_of(argument)
        yield Clamped(text=text, low=low, high=high, kind=argument.facts.kind)


def _names_in(argument: Expression) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.name for each in columns_in(argument)))
