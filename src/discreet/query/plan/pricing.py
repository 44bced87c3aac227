"""Make_plan: the split of epsilon, the noise of least error, least epsilon for a margin."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd

from discreet.accounting.events import Event
from discreet.catalog.catalog import BudgetPolicy
from discreet.errors import ParameterError, TargetError, UnknownKeysError, readable
from discreet.estimators import LinearEstimator, MeanEstimator, VarianceEstimator
from discreet.mechanisms.exponential import PermuteAndFlip
from discreet.mechanisms.partition_selection import PartitionSelection
from discreet.mechanisms.quantile import End
from discreet.mechanisms.quantile_interval import ExtremeInterval, QuantileInterval
from discreet.mechanisms.sensitivity import ADD_REMOVE, Neighbours
from discreet.query.plan.bounded_rows import reads_bounded_rows
from discreet.query.plan.identity import Identity, identities_of
from discreet.query.plan.noise_choice import uses_gaussian, with_noise
from discreet.query.plan.plan import (
    Chooser,
    EpsilonTarget,
    MarginTarget,
    PlannedKeySelection,
    PlannedRelease,
    PlannedValueSelection,
    Target,
)
from discreet.query.plan.strategy import KeySelection, Strategy, ValueSelection, strategy_for
from discreet.query.questions import (
    Clamped,
    Contribution,
    ContributionLimit,
    CountedOnce,
    LeftOut,
    Limited,
    OneRowEach,
    OriginKind,
    Question,
    RowChoiceTime,
    Statistic,
)
from discreet.query.tree import (
    ContributionBounding,
    Expression,
    GroupByUnit,
    PublicScan,
    Relation,
    Scan,
    Select,
    UnionAll,
    columns_in,
    is_unfiltered,
)

DIGITS = 4
"""Significant digits of an epsilon that was solved for."""


EPSILON_SOUGHT = (Fraction(1, 10**4), Fraction(100))
"""An epsilon for an accuracy is sought between these."""


Planner = Callable[[Fraction], tuple[PlannedRelease, ...]]
"""From an epsilon to what would be released for it."""


def least_epsilon(question: Question, target: MarginTarget, planner: Planner) -> Fraction:
    """Return the least epsilon of few digits at which every named column is within its distance."""
    wanted = _wanted(question, target)
    low, high = EPSILON_SOUGHT

    def is_enough(epsilon: Fraction) -> bool:
        releases = planner(epsilon)
        return all(_spread_at(releases, *where, target) <= within for where, within in wanted)

    if not is_enough(high):
        raise TargetError(
            "This margin of error would need more than ε = 100", "Ask for a larger margin"
        )
    return _few_digits_up(_bracketed(is_enough, low, high), is_enough)


def _bracketed(is_enough: Callable[[Fraction], bool], low: Fraction, high: Fraction) -> Fraction:
    """Return one that is enough, by less than the digits that are kept above the least."""
    if is_enough(low):
        return low
    while high > low * (1 + Fraction(1, 10 ** (DIGITS + 1))):
        middle = Fraction((float(low) * float(high)) ** 0.5)
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _few_digits_up(value: Fraction, is_enough: Callable[[Fraction], bool]) -> Fraction:
    rounded = Fraction(f"{float(value):.{DIGITS - 1}e}")
    step = Fraction(1, 10 ** (DIGITS - 1)) * Fraction(10) ** int(f"{float(value):e}"[-3:])
    while rounded < value or not is_enough(rounded):
        rounded += step
    return rounded


Where = tuple[int, int, str]
"""A release, an aggregate of it, and the column's name."""


def _wanted(question: Question, target: MarginTarget) -> list[tuple[Where, float]]:
    """Return which aggregates must be how accurate."""
    found = {
        name: (origin.release, origin.index, name)
        for name, origin in zip(question.columns, question.sources, strict=True)
        if origin is not None and origin.kind is OriginKind.AGGREGATE
    }
    if isinstance(target.within, Fraction):
        if not found:
            raise TargetError(
                "within needs a column that is a plain aggregate, such as COUNT(*) AS n",
                "Use epsilon for this query",
            )
        return [(where, float(target.within)) for where in found.values()]
    wanted = []
    for name, within in target.within.items():
        if name not in found:
            known = (
                f"Columns that it can name: {', '.join(found)}. Or" if found else "For this query,"
            )
            raise TargetError(
                f"within names {name}, which is not a column with a plain aggregate",
                f"{known} use epsilon",
            )
        wanted.append((found[name], float(within)))
    return wanted


def _spread_at(
    releases: tuple[PlannedRelease, ...], release: int, number: int, name: str, target: MarginTarget
) -> float:
    planned = releases[release]
    spread = planned.expected(number, target.confidence)
    if isinstance(spread, float | int):
        return float(spread)
    raise TargetError(
        f"The margin of error of {name} cannot be fixed in advance, because it depends on the "
        "number of rows, which is private",
        "Use epsilon, or name only counts and sums in within",
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


def make_plan(question: Question, target: Target, policy: BudgetPolicy) -> Plan:
    """Return the plan of least error for a price, or of least price for an error.

    What it charges adds up to exactly the epsilon asked for, however many columns there are.
    """
    outlines = tuple(strategy_for(each, policy.neighbours) for each in question.aggregations)
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
    outlines: tuple[Strategy, ...],
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
    outlines: tuple[Strategy, ...], epsilon: Fraction, delta: Fraction, policy: BudgetPolicy
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
    outlines: tuple[Strategy, ...], epsilon: Fraction, delta: Fraction, policy: BudgetPolicy
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
    outline: Strategy, epsilon: Fraction, delta: Fraction, policy: BudgetPolicy
) -> PlannedRelease:
    parts = list(split(epsilon, outline.weights))
    selection = None
    if outline.key_selection is not None:
        if delta == 0:
            raise TargetError(
                "Undeclared groups need a delta above 0",
                "Give a larger delta, or leave it out to use the delta of the catalog",
            )
        selection = _planned_selection(
            outline.key_selection, parts.pop(0), delta, policy.neighbours
        )
    of_measures = parts[: len(outline.measured)]
    measures, noise_reason, events = with_noise(outline, of_measures, delta, policy)
    picks = tuple(
        _planned_pick(pick, share, policy.neighbours)
        for pick, share in zip(outline.value_selections, parts[len(of_measures) :], strict=True)
    )
    before = (*([selection.mechanism.event] if selection else []), *events)
    return PlannedRelease(
        aggregation=outline.aggregation,
        queries=outline.queries,
        components=measures,
        value_selections=picks,
        key_selection=selection,
        estimators=outline.estimators,
        neighbours=policy.neighbours,
        epsilon=epsilon,
        delta=delta if selection or uses_gaussian(measures) else Fraction(0),
        events=(*before, *(event for each in picks for event in each.events(outline.groups))),
        earlier_events=(*before, *(each.earlier_event for each in picks)),
        contribution=_contribution(outline),
        noise_reason=noise_reason,
        left_out=(*outline.aggregation.left_out, *_clamped(outline)),
    )


def _planned_selection(
    selecting: KeySelection, epsilon: Fraction, delta: Fraction, neighbours: Neighbours
) -> PlannedKeySelection:
    mechanism = PartitionSelection(
        epsilon=epsilon,
        delta=delta,
        groups=selecting.in_all,
        in_one=selecting.in_one,
        neighbours=neighbours,
    )
    return PlannedKeySelection(key_selection=selecting, mechanism=mechanism)


def _planned_pick(
    pick: ValueSelection, epsilon: Fraction, neighbours: Neighbours
) -> PlannedValueSelection:
    mechanism: Chooser
    if pick.statistic is Statistic.MODE:
        mechanism = PermuteAndFlip(
            epsilon=epsilon, sensitivity=pick.rows, monotone=neighbours is ADD_REMOVE
        )
    elif pick.fraction in (0, 1):
        end = End.MIN if pick.fraction == 0 else End.MAX
        mechanism = ExtremeInterval(
            epsilon=epsilon, end=end, rows_per_unit=pick.rows, neighbours=neighbours
        )
    else:
        mechanism = QuantileInterval(
            epsilon=epsilon,
            fraction=pick.fraction.limit_denominator(10**6),
            rows_per_unit=pick.rows,
            neighbours=neighbours,
        )
    return PlannedValueSelection(value_selection=pick, epsilon=epsilon, mechanism=mechanism)


def _contribution(outline: Strategy) -> Contribution:
    forms = {each.bounding for each in outline.queries}
    release = outline.aggregation
    if forms <= {ContributionBounding.NONE}:
        return OneRowEach()
    if forms == {ContributionBounding.UNITS_ONLY} and not release.keys:
        return CountedOnce()
    chosen = _choice_time(release.rows)
    of = Limited.ROWS
    if chosen is RowChoiceTime.PER_QUERY and ContributionBounding.ROWS not in forms:
        of = Limited.VALUES if ContributionBounding.PAIRS in forms else Limited.GROUPS
    most = max(
        each.contribution_limit
        for each in outline.queries
        if each.bounding is not ContributionBounding.NONE
    )
    return ContributionLimit(most=most, of=of, reason=release.limit_reason, chosen=chosen)


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
            inner = [each.source for each in joins if not isinstance(each.source, PublicScan)]
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
    found = []
    pairs = zip(outline.aggregation.aggregates, outline.estimators, strict=True)
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
