"""From a plan to its explanation, and to the notes of an answer."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from discreet.amounts import Balance, Price, amount_up, equation
from discreet.answer.answer import Note
from discreet.bounds import BoundsSearch
from discreet.bounds.histogram import ColumnRef, bounds_text
from discreet.catalog.catalog import BudgetPolicy
from discreet.catalog.schema import Bounds, ColumnUnit, Kind, PathUnit
from discreet.coverage.lookup import UNKNOWN, KnownCoverage
from discreet.estimators import (
    Estimator,
    KeyCount,
    LinearEstimator,
    MarginPerCount,
    RankMargin,
    SelectedValue,
)
from discreet.explanation.coverage import LimitLine, clamped_line, clamped_sentence, limit_line
from discreet.explanation.explanation import UNNAMED, ExplainedColumn, Explanation
from discreet.explanation.hints import clamp_hints
from discreet.explanation.sentences import (
    SAVED_BY_OLDER,
    SUSPENDED,
    UnitName,
    brief,
    change_sentence,
    choice_sentence,
    contribution_sentences,
    declared_groups,
    later_sentence,
    left_out_note,
    left_out_sentence,
    margin_text,
    noise_sentence,
    rank_name,
    rank_note,
    undeclared_groups,
    undeclared_value_note,
)
from discreet.explanation.thresholds import SizeOf, threshold_notes, total_notes, unlikely_groups
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
    Clamped,
    ColumnOrigin,
    ContributionLimit,
    Counted,
    DeclaredGroups,
    LeftOut,
    OriginKind,
    Question,
    Statistic,
)
from discreet.query.tree import Relation, Scan, UnionAll
from discreet.query.undeclared_values import undeclared_values
from discreet.reuse import DataChange, DataVersion, KnownReleases, ReleaseState

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
    coverage: KnownCoverage = UNKNOWN,
    unlikely: str = "",
) -> Explanation:
    """Return the explanation of a plan: its cost, margins, limits, groups, noise and SQL.

    `due` is what would be charged now, if it is known what was charged before. With `is_suspended`
    the account that asks could not run it. `unlikely` says why no group may be shown.
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
        unit=unit.name,
        is_row_unit=unit.is_row,
        columns=tuple(
            column
            for number, release in enumerate(plan.releases)
            for column in _columns(plan.question, number, release, level)
        ),
        bounding=_once(
            each
            for planned in plan.releases
            for each in contribution_sentences(
                planned.contribution,
                unit_of(planned.aggregation.rows),
                _limit_text(plan, planned, coverage),
            )
        ),
        keys=_once((*(_groups(each, level) for each in plan.releases), *totals)),
        left_out=_once(
            _left_out(planned, rows, coverage)
            for planned in plan.releases
            for rows in planned.left_out
        ),
        later=_later(plan.question),
        hints=_once(hint for each in plan.releases for hint in clamp_hints(each.aggregation)),
        afterwards=plan.question.post_sql,
        sqls=tuple(sqls),
        remaining=remaining,
        shows_sql=shows_sql,
        warnings=(
            *([SUSPENDED] if is_suspended else []),
            *([unlikely] if unlikely else []),
            *_undeclared_notes(plan),
        ),
    )


def with_known(explanation: Explanation, version: DataVersion, known: KnownReleases) -> Explanation:
    """Return an explanation that says which data it is about, and what is saved about them."""
    if explanation.neighbours is None:
        return explanation
    return replace(
        explanation,
        data_version=version.declared,
        change="" if known.change is None else change_sentence(known.change.since),
        is_reused=any(each.state is ReleaseState.REUSED for each in known.releases),
    )


def data_notes(
    plan: Plan, version: DataVersion, change: DataChange | None, *, has_older: bool = False
) -> tuple[Note, ...]:
    """Return what an answer says of its data: their version, and whether they changed."""
    if not plan.releases:
        return ()
    named = [] if version.declared is None else [f"Data version: {version.declared}."]
    said = [] if change is None else [change_sentence(change.since)]
    said += [SAVED_BY_OLDER] if has_older else []
    return tuple(Note(each, is_printed=True) for each in (*named, *said))


def notes_of(
    plan: Plan,
    confidence: Real,
    coverage: KnownCoverage = UNKNOWN,
    shown: Sequence[int] | None = None,
) -> tuple[Note, ...]:
    """Return what must be known to read an answer: undeclared values, limits, omissions, ranks.

    `shown` is how many groups each release has, if that is known.
    """
    limits, clamped = _lines(plan, coverage)
    left_out = [rows for planned in plan.releases for rows in planned.left_out]
    rest = left_out_note(left_out, is_limited=bool(limits))
    ranks = _once(_rank_notes(plan, confidence_level(confidence)))
    units = [unit_of(each.aggregation.rows) for each in plan.releases]
    missing = () if shown is None else _once(threshold_notes(plan, shown, units))
    said = (
        *_undeclared_notes(plan),
        *missing,
        *_once(each.text for each in limits),
        *(() if rest is None else (rest,)),
        *_once(each.text for each in clamped),
        *ranks,
    )
    return tuple(Note(each, is_printed=True) for each in said)


def limits_of_answer(
    plan: Plan, coverage: KnownCoverage = UNKNOWN
) -> tuple[Mapping[str, object], ...]:
    """Return the same of limits and bounds for programs, each once."""
    limits, clamped = _lines(plan, coverage)
    facts = [fact for line in (*limits, *clamped) for fact in line.facts]
    return tuple(each for i, each in enumerate(facts) if each not in facts[:i])


def _lines(plan: Plan, coverage: KnownCoverage) -> tuple[list[LimitLine], list[LimitLine]]:
    """Return what contribution limits and what bounds leave out, for each release."""
    limits = [_limit_line(plan, each, coverage) for each in plan.releases]
    found = [each for each in limits if each is not None]
    clamped = [
        clamped_line(planned, coverage, is_said=limit is not None)
        for planned, limit in zip(plan.releases, limits, strict=True)
    ]
    return found, [each for each in clamped if each is not None]


def _limit_line(plan: Plan, planned: PlannedRelease, coverage: KnownCoverage) -> LimitLine | None:
    reasons = {
        each.contribution.reason
        for each in plan.releases
        if isinstance(each.contribution, ContributionLimit)
    }
    unit = unit_of(planned.aggregation.rows)
    return limit_line(planned, unit, coverage, with_table=len(reasons) > 1)


def _limit_text(plan: Plan, planned: PlannedRelease, coverage: KnownCoverage) -> str | None:
    line = _limit_line(plan, planned, coverage)
    return None if line is None else line.text


def _left_out(planned: PlannedRelease, rows: LeftOut, coverage: KnownCoverage) -> str:
    if not isinstance(rows, Clamped):
        return left_out_sentence(rows)
    return clamped_sentence(rows, coverage.values(coverage.column(planned, rows)))


def unlikely_groups_of(plan: Plan, policy: BudgetPolicy, size_of: SizeOf) -> str:
    """Return why no group is likely to be shown, and what to do; nothing if some may be."""
    return unlikely_groups(plan, policy, unit_of, size_of)


def _undeclared_notes(plan: Plan) -> tuple[str, ...]:
    return _once(
        undeclared_value_note(each)
        for planned in plan.releases
        for each in undeclared_values(planned.aggregation)
    )


def unit_of(rows: Relation) -> UnitName:
    """Return what the rows call the privacy unit that they belong to."""
    match rows:
        case Scan():
            last = rows.parents[-1] if rows.parents else rows.table
            match last.unit:
                case ColumnUnit(column=column) | PathUnit(column=column):
                    return UnitName(name=column)
                case _:
                    return UnitName(name=f"row of {last.name}", is_row=True)
        case UnionAll():
            return unit_of(rows.parts[0])
        case _:
            return unit_of(rows.source)


def _rank_notes(plan: Plan, confidence: Fraction) -> Iterator[str]:
    for planned in plan.releases:
        for i, aggregate in enumerate(planned.aggregation.aggregates):
            found = planned.expected(i, confidence)
            if isinstance(found, RankMargin):
                yield rank_note(aggregate, found, confidence)


def _groups(planned: PlannedRelease, confidence: Fraction) -> str:
    release, known = planned.aggregation, planned.aggregation.groups
    if isinstance(known, DeclaredGroups):
        return declared_groups(release.keys, known)
    assert planned.key_selection is not None  # noqa: S101 - undeclared groups are selected
    return undeclared_groups(
        known.why,
        planned.key_selection,
        _counted(planned),
        confidence,
        is_answered=KeyCount() in planned.estimators,
    )


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


def _once(sentences: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(sentences))


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
        )
        seen.setdefault(part, name if name != UNNAMED else _text(aggregate))


def _selecting_column(planned: PlannedRelease, confidence: Fraction) -> ExplainedColumn:
    assert planned.key_selection is not None  # noqa: S101 - it is asked for where there is one
    counted, mechanism = _counted(planned), planned.key_selection.mechanism
    return ExplainedColumn(
        name=SELECTED,
        statistic=f"number of {counted} per group",
        margin_text=margin_text(float(mechanism.margin(confidence)), is_integer=True),
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
        case PlannedValueSelection():
            return choice_sentence(aggregate)
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
