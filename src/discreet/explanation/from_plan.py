"""From a plan to its explanation, and to the notes of an answer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import isfinite

from discreet.amounts import Balance, Price, amount_up, equation
from discreet.answer.answer import Note
from discreet.bounds import BoundsSearch
from discreet.bounds.histogram import ColumnRef, bounds_text
from discreet.catalog.schema import Bounds, Kind
from discreet.coverage.lookup import UNKNOWN, KnownCoverage
from discreet.errors import BudgetError
from discreet.estimators import (
    Estimator,
    ExpectedMargin,
    KeyCount,
    LinearEstimator,
    MarginPerCount,
    SelectedValue,
)
from discreet.explanation.explanation import UNNAMED, ExplainedColumn, Explanation
from discreet.explanation.hints import clamp_hints
from discreet.explanation.months import (
    charged_months,
    month_hints,
    month_left_out,
    protected_months,
)
from discreet.explanation.noise_sentences import choice_sentence, noise_sentence
from discreet.explanation.notes import (
    left_out_of,
    limit_text,
    listed_notes,
    noisy_input_notes,
    once,
    undeclared_notes,
    unit_of,
)
from discreet.explanation.one_unit import one_unit_sentence
from discreet.explanation.sentences import (
    SUSPENDED,
    UnitName,
    brief,
    contribution_sentences,
    declared_groups,
    later_sentence,
    margin_text,
    over_limit_sentence,
    rank_name,
    undeclared_groups,
)
from discreet.explanation.thresholds import alone_sentence, total_notes
from discreet.mechanisms.exponential import PermuteAndFlip
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.gaussian_selection import GaussianPartitionSelection
from discreet.mechanisms.row_threshold import RowThreshold
from discreet.parameters import Real, confidence_level
from discreet.query.plan import Plan
from discreet.query.plan.plan import (
    PlannedComponents,
    PlannedRelease,
    PlannedValueSelection,
    Selector,
)
from discreet.query.questions import (
    Aggregate,
    ColumnOrigin,
    Counted,
    DeclaredGroups,
    OneUnitEach,
    OriginKind,
    Question,
    Statistic,
)

SELECTED = "(groups)"
"""Shown in place of a column's name, for the cost of finding the groups."""


def explain_plan(  # noqa: PLR0913 - all that is said
    plan: Plan,
    sqls: Sequence[str],
    confidence: Real,
    *,
    question: str = "",
    remaining: Balance | None = None,
    due: Price | None = None,
    shows_sql: bool = False,
    is_suspended: bool = False,
    over_limit: BudgetError | None = None,
    coverage: KnownCoverage = UNKNOWN,
    unlikely: str = "",
    months_in_all: int | None = None,
) -> Explanation:
    """Return the explanation of a plan: its cost, margins, limits, groups, noise and SQL.

    `due` is what would be charged now, if it is known what was charged before. With `is_suspended`
    the account that asks could not run it, nor with `over_limit`. `unlikely` says why no group may
    be shown. `months_in_all` is the most months of a unit that are used, as the ledger knows it.
    """
    level = confidence_level(confidence)
    first = plan.releases[0] if plan.releases else None
    unit = UnitName(name="") if first is None else unit_of(first.aggregation.rows)
    totals = total_notes(plan, [unit_of(each.aggregation.rows) for each in plan.releases])
    return Explanation(
        question=question,
        price=Price(epsilon=plan.epsilon, delta=plan.delta),
        due=due,
        confidence=level,
        neighbours=None if first is None else first.neighbours,
        unit=unit.without_month or unit.name,
        is_row_unit=unit.is_row,
        months=charged_months(plan),
        by_month=protected_months(first, months_in_all),
        columns=tuple(
            column
            for number, release in enumerate(plan.releases)
            for column in _columns(plan.question, number, release, level)
        ),
        bounding=once(
            each
            for planned in plan.releases
            for each in contribution_sentences(
                planned.contribution,
                unit_of(planned.aggregation.rows),
                limit_text(plan, planned, coverage),
            )
        ),
        keys=once(
            (*listed_notes(plan), *(_groups(each, level) for each in plan.releases), *totals)
        ),
        groups=tuple(_number_of_groups(each) for each in plan.releases),
        left_out=once(
            (
                *(
                    left_out_of(planned, rows, coverage)
                    for planned in plan.releases
                    for rows in planned.left_out
                ),
                *month_left_out(plan),
            )
        ),
        later=_later(plan.question),
        hints=once(
            (
                *(hint for each in plan.releases for hint in clamp_hints(each.aggregation)),
                *month_hints(plan),
            )
        ),
        afterwards=plan.question.post_sql,
        sqls=tuple(sqls),
        remaining=remaining,
        shows_sql=shows_sql,
        warnings=(
            *([SUSPENDED] if is_suspended else []),
            *([] if over_limit is None else [over_limit_sentence(over_limit)]),
            *([unlikely] if unlikely else []),
            *undeclared_notes(plan),
            *noisy_input_notes(plan),
        ),
    )


def _groups(planned: PlannedRelease, confidence: Fraction) -> str:
    release, known = planned.aggregation, planned.aggregation.groups
    if isinstance(known, DeclaredGroups):
        return declared_groups(release.keys, known)
    if isinstance(known.why, OneUnitEach):
        return one_unit_sentence(known.why)
    assert planned.key_selection is not None  # noqa: S101 - undeclared groups are selected
    alone = alone_sentence(planned, unit_of(release.rows))
    text = undeclared_groups(
        known.why,
        planned.key_selection,
        _counted(planned),
        confidence,
        is_answered=KeyCount() in planned.estimators,
    )
    return f"{text} {alone}" if alone else text


def _number_of_groups(planned: PlannedRelease) -> int | None:
    known = planned.aggregation.groups
    return len(known.rows) if isinstance(known, DeclaredGroups) else None


def _fixed(expected: ExpectedMargin) -> float | None:
    """Return a margin that is the same for all groups, as a number."""
    return float(expected) if isinstance(expected, float) and isfinite(expected) else None


def _later(question: Question) -> str:
    """Return what is said of columns whose margins nobody can know before there is an answer."""
    columns = [
        name
        for name, is_noisy, is_exact, spread, origin in zip(
            question.columns,
            question.is_noisy,
            question.is_exact,
            question.spreads,
            question.sources,
            strict=False,
        )
        if is_noisy and origin is None and (spread is None or not is_exact)
    ]
    return later_sentence(columns) if columns else ""


# --------------------------------------------------------------------------- columns


def _columns(
    question: Question, number: int, planned: PlannedRelease, confidence: Fraction
) -> Iterator[ExplainedColumn]:
    """Yield what selects the groups, then each aggregate once, in the order of the query."""
    if planned.key_selection is not None:
        yield _selecting_column(planned, confidence)
    seen: dict[tuple[str, int], str] = {_selecting_part(planned): SELECTED}
    places = range(len(planned.estimators))
    for i in sorted(places, key=lambda i: _position(question, number, i)):
        estimator, aggregate = planned.estimators[i], planned.aggregation.aggregates[i]
        part, name = _part(estimator), _asked_name(question, number, i)
        expected = planned.expected(i, confidence)
        yield ExplainedColumn(
            name=name,
            statistic=_text(aggregate),
            margin_text=margin_text(
                expected, is_integer=aggregate.kind is Kind.INTEGER, rank=rank_name(aggregate)
            ),
            epsilon_share=_share(planned, estimator),
            shares_with=seen.get(part, ""),
            noise=_noise(planned, estimator),
            why=_why(planned, estimator, aggregate),
            is_per_row=isinstance(expected, MarginPerCount),
            margin=_fixed(expected),
        )
        seen.setdefault(part, name if name != UNNAMED else _text(aggregate))


def _selecting_column(planned: PlannedRelease, confidence: Fraction) -> ExplainedColumn:
    assert planned.key_selection is not None  # noqa: S101 - it is asked for where there is one
    counted, mechanism = _counted(planned), planned.key_selection.mechanism
    return ExplainedColumn(
        name=SELECTED,
        statistic=f"number of {counted} per group",
        margin_text=margin_text(float(mechanism.margin(confidence)), is_integer=True),
        margin=float(mechanism.margin(confidence)),
        epsilon_share=mechanism.epsilon,
        noise=f"{_selecting_noise(mechanism)} {counted}",
        why="",
    )


def _selecting_part(planned: PlannedRelease) -> tuple[str, int]:
    """Return which measurement selects the groups."""
    selection = planned.key_selection
    number = None if selection is None else selection.key_selection.measure
    return _part(KeyCount()) if number is None else ("measure", number)


def _selecting_noise(mechanism: Selector) -> str:
    if isinstance(mechanism, GaussianPartitionSelection):
        return f"Gaussian noise, standard deviation {brief(mechanism.scale)}"
    kind = "Laplace" if isinstance(mechanism, RowThreshold) else "truncated Laplace"
    return f"{kind} noise, scale {brief(mechanism.scale)}"


def _counted(planned: PlannedRelease) -> str:
    """Return what is counted where groups are selected."""
    assert planned.key_selection is not None  # noqa: S101 - it is asked for where there is one
    is_rows = planned.key_selection.key_selection.of is Counted.ROWS
    return "rows" if is_rows else unit_of(planned.aggregation.rows).counted


def _position(question: Question, number: int, i: int) -> int:
    """Return where an aggregate is among the columns of the query, behind all if it is not."""
    origin = ColumnOrigin(release=number, kind=OriginKind.AGGREGATE, index=i)
    places = (place for place, each in enumerate(question.sources) if each == origin)
    return next(places, len(question.sources) + i)


def _asked_name(question: Question, number: int, i: int) -> str:
    """Return what the answer calls an aggregate, or a dash if it only goes into something else."""
    place = _position(question, number, i)
    return question.columns[place] if place < len(question.columns) else UNNAMED


def _text(aggregate: Aggregate) -> str:
    return aggregate.text or aggregate.statistic.value


def _part(estimator: Estimator) -> tuple[str, int]:
    """Return which measurement an aggregate is computed from."""
    match estimator:
        case SelectedValue(selection=number):
            return "pick", number
        case KeyCount():
            return "selection", 0
        case _:
            return "measure", estimator.measure


def _priced(
    planned: PlannedRelease, estimator: Estimator
) -> PlannedComponents | PlannedValueSelection | None:
    match _part(estimator):
        case "pick", number:
            return planned.value_selections[number]
        case "measure", number:
            return planned.components[number]
    return None


def _share(planned: PlannedRelease, estimator: Estimator) -> Fraction:
    part = _priced(planned, estimator)
    if part is not None:
        return part.epsilon
    return Fraction(0) if planned.key_selection is None else planned.key_selection.mechanism.epsilon


def _noise(planned: PlannedRelease, estimator: Estimator) -> str:
    match _priced(planned, estimator):
        case PlannedComponents() as part:
            return _measure_noise(planned, estimator, part)
        case PlannedValueSelection(mechanism=PermuteAndFlip()):
            return "permute-and-flip mechanism"
        case PlannedValueSelection():
            return "exponential mechanism"
    return "same noise as the group counts"


def _measure_noise(planned: PlannedRelease, estimator: Estimator, part: PlannedComponents) -> str:
    """Return the noise of a measurement, in what is counted, or as it is in a sum."""
    kind = "Gaussian" if isinstance(part.noise, Gaussian) else "Laplace"
    if part.measure.ends is not None and isinstance(estimator, LinearEstimator):
        return f"{kind} noise, scale {brief(part.noise.scale * abs(estimator.weights[0]))}"
    scale = brief(part.noise.scale / part.measure.total)
    return f"{kind} noise, scale {scale} {_measured(planned, estimator)}"


def _measured(planned: PlannedRelease, estimator: Estimator) -> str:
    """Return what a measurement counts."""
    statistics = {
        aggregate.statistic
        for aggregate, other in zip(planned.aggregation.aggregates, planned.estimators, strict=True)
        if _part(other) == _part(estimator)
    }
    if statistics == {Statistic.COUNT_UNITS}:
        return unit_of(planned.aggregation.rows).counted
    return "values" if statistics == {Statistic.COUNT_DISTINCT} else "rows"


def _why(planned: PlannedRelease, estimator: Estimator, aggregate: Aggregate) -> str:
    match _priced(planned, estimator):
        case PlannedComponents():
            return noise_sentence(planned.noise_reason)
        case PlannedValueSelection(support=support):
            return choice_sentence(aggregate, support)
    return ""


# --------------------------------------------------------------------------- bounds found first


BOUNDS = "(bounds)"
"""Shown in place of a column's name, for the cost of finding bounds."""

UNTIL_THEN = "depends on bounds not yet found"
"""Shown in place of a margin that depends on bounds which are not found yet."""


def explain_found(
    answered: Explanation, first: BoundsSearch, found: Mapping[ColumnRef, Bounds]
) -> Explanation:
    """Return the explanation of a question whose bounds were found, and charged, before.

    Its cost is that of what remains.
    """
    said = tuple(
        f"The bounds of {place} are {bounds_text(bounds, place.column.kind)}. They were found "
        f"before, for {_epsilon(first.epsilon_each)}, and cost nothing now."
        for place, bounds in found.items()
    )
    return replace(answered, first=said)


def explain_unfound(
    assumed: tuple[Explanation, Explanation], first: BoundsSearch, finding: Sequence[Explanation]
) -> Explanation:
    """Return the explanation of a question whose bounds nobody knows yet.

    It is `assumed` under two sets of bounds, and only what it says under both is said; `finding`
    explains how each column's bounds are found.
    """
    one, other = assumed
    said = tuple(
        f"The bounds of {place} are found first, for {_epsilon(first.epsilon_each)}. They are "
        "computed from noisy counts of values in fixed ranges, and apply to this query only."
        for place in first.columns
    )
    columns = tuple(map(_finding_column, finding, first.columns))
    return replace(
        one,
        price=replace(one.price, epsilon=one.price.epsilon + first.epsilon),
        due=None,
        change=next((each.change for each in (*finding, one) if each.change), ""),
        first=said,
        columns=(*columns, *map(_common_column, one.columns, other.columns)),
        bounding=_common(one.bounding, other.bounding),
        keys=_common(one.keys, other.keys),
        left_out=_common(one.left_out, other.left_out),
        hints=_common(one.hints, other.hints),
        sqls=_common(one.sqls, other.sqls),
    )


def note_of_bounds(place: ColumnRef, bounds: Bounds, epsilon: Fraction) -> Note:
    """Return what an answer says of bounds that were found for it."""
    text = bounds_text(bounds, place.column.kind)
    return Note(
        f"The bounds of {place}, {text}, were found first, for {_epsilon(epsilon)} of the cost."
    )


def _finding_column(finding: Explanation, place: ColumnRef) -> ExplainedColumn:
    column = finding.columns[0]
    return replace(column, name=BOUNDS, statistic=f"counts of {place} by range", why="")


def _common_column(one: ExplainedColumn, other: ExplainedColumn) -> ExplainedColumn:
    margin = one.margin_text if one.margin_text == other.margin_text else UNTIL_THEN
    noise = one.noise if one.noise == other.noise else UNTIL_THEN
    is_per_row = one.is_per_row and margin is not UNTIL_THEN
    return replace(one, margin_text=margin, noise=noise, is_per_row=is_per_row)


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each for each in one if each in other)


def _epsilon(amount: Fraction) -> str:
    return equation("ε", amount_up(amount))
