"""From a plan to its explanation, and to the notes of an answer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from discreet.amounts import Balance, Price, amount_up, equation
from discreet.catalog.schema import Bounds, ColumnUnit, Kind, PathUnit
from discreet.estimators import Estimator, KeyCount, RankMargin, SelectedValue
from discreet.explanation.explanation import ExplainedColumn, Explanation
from discreet.explanation.sentences import brief, listed, sentence, spread_text, threshold_sentence
from discreet.mechanisms.exponential import PermuteAndFlip
from discreet.mechanisms.gaussian import Gaussian
from discreet.parameters import Real, confidence_level
from discreet.query.plan import Plan
from discreet.query.plan.bins import Place, bounds_text
from discreet.query.plan.planned import PlannedMeasure, PlannedPick, PlannedRelease
from discreet.query.plan.unbounded import BoundsFirst
from discreet.query.questions import Question
from discreet.query.tree import Rows, Scan, Union

# --------------------------------------------------------------------------- plans


SELECTED = "(groups)"
"""Stands where a column's name would, for the price of finding the groups."""


def explain_plan(  # noqa: PLR0913 - all that is told
    plan: Plan,
    sqls: Sequence[str],
    confidence: Real,
    *,
    question: str = "",
    remaining: Balance | None = None,
    due: Price | None = None,
) -> Explanation:
    """Return the explanation of a plan: price, spreads, bounding, noise, keys, what runs.

    `due` is what would be charged now, if it is known what was paid for before.
    """
    level = confidence_level(confidence)
    first = plan.releases[0] if plan.releases else None
    return Explanation(
        question=question,
        price=Price(epsilon=plan.epsilon, delta=plan.delta),
        due=due,
        confidence=level,
        neighbours=None if first is None else first.neighbours,
        unit="" if first is None else unit_of(first.release.rows),
        columns=tuple(
            column
            for number, release in enumerate(plan.releases)
            for column in _columns(plan.question, number, release, level)
        ),
        bounding=_sentences([_bounding(each) for each in plan.releases]),
        keys=_sentences([_keys(each, level) for each in plan.releases]),
        left_out=_sentences([words for each in plan.releases for words in each.left_out]),
        afterwards=plan.question.afterwards,
        sqls=tuple(sqls),
        remaining=remaining,
    )


def notes_of(plan: Plan) -> tuple[str, ...]:
    """Return what an answer says of what was left out or moved, in sentences."""
    return _sentences(
        [
            f"left out: {words}" if words in each.release.left_out else words
            for each in plan.releases
            for words in each.left_out
        ]
    )


def cautions_of(plan: Plan, confidence: Real) -> tuple[str, ...]:
    """Return what must be known to read an answer: limits by default, and errors of rank."""
    level = confidence_level(confidence)
    limits = [
        f"at most {each.release.limit_reason}: declare rows_per_unit to count more"
        for each in plan.releases
        if "by default" in each.bounding_reason
    ]
    ranks = [
        f"the rank of {aggregate.text} is within {brief(found.rows)} rows of the asked one"
        for planned in plan.releases
        for i, aggregate in enumerate(planned.release.aggregates)
        if isinstance(planned.estimators[i], SelectedValue)
        and isinstance(found := planned.expected(i, level), RankMargin)
    ]
    return _sentences([*limits, *ranks])


def unit_of(rows: Rows) -> str:
    """Return what rows call the unit that they belong to."""
    match rows:
        case Scan():
            last = rows.parents[-1] if rows.parents else rows.table
            match last.unit:
                case ColumnUnit(column=column) | PathUnit(column=column):
                    return column
                case _:
                    return f"row of {last.name}"
        case Union():
            return unit_of(rows.parts[0])
        case _:
            return unit_of(rows.source)


def _columns(
    question: Question, number: int, planned: PlannedRelease, confidence: Fraction
) -> Iterator[ExplainedColumn]:
    """Yield what selects the groups, then each aggregate once."""
    if planned.selection is not None:
        of, mechanism = planned.selection.selecting.of, planned.selection.mechanism
        yield ExplainedColumn(
            name=SELECTED,
            statistic=f"{of} of each group",
            spread_text=spread_text(float(mechanism.error(confidence)), is_whole=True),
            epsilon_share=mechanism.epsilon,
            noise=f"Laplace, scale {brief(mechanism.scale)} {of}, cut off",
            why="",
        )
    seen: dict[tuple[str, int], str] = {_part(KeyCount()): SELECTED}
    for i, estimator in enumerate(planned.estimators):
        aggregate = planned.release.aggregates[i]
        name = _asked_name(question, number, i)
        part = _part(estimator)
        yield ExplainedColumn(
            name=name,
            statistic=aggregate.text or aggregate.statistic.value,
            spread_text=spread_text(
                planned.expected(i, confidence), is_whole=aggregate.kind is Kind.INTEGER
            ),
            epsilon_share=_share(planned, estimator),
            shares_with=seen.get(part, ""),
            noise=_noise(planned, estimator),
            why=_why(planned, estimator),
        )
        seen.setdefault(part, name)


def _asked_name(question: Question, number: int, i: int) -> str:
    """Return what the answer calls an aggregate, or a dash if it only goes into something else."""
    pairs = zip(question.columns, question.sources, strict=True)
    return next((name for name, source in pairs if source == (number, f"a{i}")), "–")


def _part(estimator: Estimator) -> tuple[str, int]:
    """Return which measurement an aggregate is read off."""
    match estimator:
        case SelectedValue(pick=number):
            return "pick", number
        case KeyCount():
            return "selection", 0
        case _:
            return "measure", estimator.measure


def _priced(planned: PlannedRelease, estimator: Estimator) -> PlannedMeasure | PlannedPick | None:
    match _part(estimator):
        case "pick", number:
            return planned.picks[number]
        case "measure", number:
            return planned.measures[number]
    return None


def _share(planned: PlannedRelease, estimator: Estimator) -> Fraction:
    part = _priced(planned, estimator)
    if part is not None:
        return part.epsilon
    return Fraction(0) if planned.selection is None else planned.selection.mechanism.epsilon


def _noise(planned: PlannedRelease, estimator: Estimator) -> str:
    match _priced(planned, estimator):
        case PlannedMeasure() as part:
            return _measure_noise(part)
        case PlannedPick(mechanism=PermuteAndFlip()):
            return "permute and flip"
        case PlannedPick():
            return "exponential mechanism"
    return "that of the groups"


def _measure_noise(planned: PlannedMeasure) -> str:
    """Return the noise of a cell, counted in rows where a row adds the same to all cells."""
    kind = "Gaussian" if isinstance(planned.noise, Gaussian) else "Laplace"
    measure = planned.measure
    if measure.ends is not None:
        most = max(map(abs, measure.ends))
        return f"{kind}, scale {brief(planned.noise.scale / most)} times the largest value"
    return f"{kind}, scale {brief(planned.noise.scale / measure.total)} rows"


def _why(planned: PlannedRelease, estimator: Estimator) -> str:
    match _priced(planned, estimator):
        case PlannedMeasure():
            return " ".join([sentence(planned.noise_reason), *_shared(planned, estimator)])
        case PlannedPick():
            return (
                "A value is chosen, and the better its rank the likelier: noise on a value would "
                "have to cover its whole range."
            )
    return ""


def _shared(planned: PlannedRelease, estimator: Estimator) -> Iterator[str]:
    """Yield which statistics are read off the same numbers."""
    together = {
        aggregate.text or aggregate.statistic.value: None
        for aggregate, other in zip(planned.release.aggregates, planned.estimators, strict=True)
        if _part(other) == _part(estimator)
    }
    if len(together) > 1:
        yield f"{listed(list(together))} are read off the same noisy numbers, paid for once."


def _bounding(planned: PlannedRelease) -> str:
    words = planned.bounding_reason
    return f"at most {words}" if words[:1].isdigit() else words


def _keys(planned: PlannedRelease, confidence: Fraction) -> str:
    if planned.selection is None:
        return planned.keys_reason
    why, is_told = planned.release.key_set.why, KeyCount() in planned.estimators
    return threshold_sentence(planned.selection, why, confidence, is_told=is_told)


def _sentences(words: Sequence[str]) -> tuple[str, ...]:
    """Return sentences, each once."""
    return tuple(dict.fromkeys(map(sentence, words)))


# --------------------------------------------------------------------------- bounds found first


BOUNDS = "(bounds)"
"""Stands where a column's name would, for the price of finding bounds."""

UNTIL_THEN = "known with the bounds"
"""Stands where a spread would that depends on bounds which are not found yet."""


def explain_found(
    answered: Explanation, first: BoundsFirst, found: Mapping[Place, Bounds]
) -> Explanation:
    """Return the explanation of a question whose bounds were found, and paid for, before.

    Its price is that of what remains.
    """
    told = tuple(
        f"The bounds of {place} are {bounds_text(bounds, place.column.kind)}: they were found for "
        f"{_epsilon(first.each)} before, and are not paid for again."
        for place, bounds in found.items()
    )
    return replace(answered, first=told)


def explain_unfound(
    assumed: tuple[Explanation, Explanation], first: BoundsFirst, finding: Sequence[Explanation]
) -> Explanation:
    """Return the explanation of a question whose bounds nobody knows yet.

    It is `assumed` under two sets of bounds, and only what it says under both is said; `finding`
    explains how each column's bounds are found.
    """
    one, other = assumed
    told = tuple(
        f"The bounds of {place} are found first, for {_epsilon(first.each)}: they are read off "
        "noisy numbers of values by magnitude, and hold for this question."
        for place in first.places
    )
    columns = tuple(map(_finding_column, finding, first.places))
    return replace(
        one,
        price=replace(one.price, epsilon=one.price.epsilon + first.epsilon),
        due=None,
        first=told,
        columns=(*columns, *map(_common_column, one.columns, other.columns)),
        bounding=_common(one.bounding, other.bounding),
        keys=_common(one.keys, other.keys),
        left_out=_common(one.left_out, other.left_out),
        sqls=_common(one.sqls, other.sqls),
    )


def note_of_bounds(place: Place, bounds: Bounds, epsilon: Fraction) -> str:
    """Return what an answer says of bounds that were found for it."""
    text = bounds_text(bounds, place.column.kind)
    return f"The bounds of {place}, {text}, were found first, for {_epsilon(epsilon)} of the price."


def _finding_column(finding: Explanation, place: Place) -> ExplainedColumn:
    column = finding.columns[0]
    return replace(column, name=BOUNDS, statistic=f"values of {place} by magnitude", why="")


def _common_column(one: ExplainedColumn, other: ExplainedColumn) -> ExplainedColumn:
    spread = one.spread_text if one.spread_text == other.spread_text else UNTIL_THEN
    noise = one.noise if one.noise == other.noise else UNTIL_THEN
    return replace(one, spread_text=spread, noise=noise)


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each for each in one if each in other)


def _epsilon(amount: Fraction) -> str:
    return equation("ε", amount_up(amount))
