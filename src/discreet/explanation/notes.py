"""What an answer says beside its numbers: limits, omissions, thresholds, ranks, versions."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache

from discreet.answer.answer import Note
from discreet.catalog.catalog import BudgetPolicy
from discreet.catalog.schema import ColumnUnit, PathUnit
from discreet.coverage.lookup import UNKNOWN, KnownCoverage
from discreet.estimators import RankMargin, SelectedValue
from discreet.explanation.coverage import LimitLine, clamped_line, clamped_sentence, limit_line
from discreet.explanation.explanation import Explanation
from discreet.explanation.months import (
    month_notes,
    rows_without_month,
    used_month_facts,
    used_month_notes,
)
from discreet.explanation.sentences import (
    SAVED_BY_OLDER,
    UNREAD,
    UnitName,
    change_sentence,
    left_out_note,
    left_out_sentence,
    listed_sentence,
    rank_note,
    undeclared_value_note,
)
from discreet.explanation.thresholds import TableSize, threshold_notes, unlikely_groups
from discreet.known_releases import DataChange, DataVersion, KnownReleases, ReleaseState
from discreet.parameters import Real, confidence_level
from discreet.query.plan import Plan
from discreet.query.plan.plan import (
    PlannedRelease,
)
from discreet.query.questions import (
    Clamped,
    ContributionLimit,
    LeftOut,
    Statistic,
)
from discreet.query.tree import MOST_CONSTANT_ROWS, Relation, Scan, UnionAll
from discreet.query.undeclared_values import undeclared_values


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
    months_in_all: int | None = None,
) -> tuple[Note, ...]:
    """Return what must be known to read an answer: undeclared values, limits, omissions, ranks.

    `shown` is how many groups each release has, if that is known, and `months_in_all` the most
    months of a unit that are used.
    """
    limits, clamped = _lines(plan, coverage)
    left_out = [rows for planned in plan.releases for rows in planned.left_out]
    used = once(used_month_notes(plan))
    rest = left_out_note(left_out, rows_without_month(plan), is_limited=bool(limits or used))
    ranks = once(_rank_notes(plan, confidence_level(confidence)))
    units = [unit_of(each.aggregation.rows) for each in plan.releases]
    missing = () if shown is None else once(threshold_notes(plan, shown, units))
    said = (
        *listed_notes(plan),
        *undeclared_notes(plan),
        *noisy_input_notes(plan),
        *missing,
        *once(each.text for each in limits),
        *used,
        *(() if rest is None else (rest,)),
        *once(each.text for each in clamped),
        *ranks,
        *month_notes(plan, months_in_all),
    )
    return tuple(Note(each, is_printed=True) for each in said)


def listed_notes(plan: Plan) -> tuple[str, ...]:
    """Return that a query lists declared groups, which need not occur, if it only does that."""
    keys = plan.question.listed
    unread = (UNREAD,) if plan.question.has_unread else ()
    return (listed_sentence(keys), *unread) if keys else ()


NOISY_INPUTS = (
    "Rows are joined or compared with noisy results of the same query. Margins of error do not "
    "cover the noise of those results."
)
"""Of numbers that depend on others which have noise of their own."""


def noisy_input_notes(plan: Plan) -> tuple[str, ...]:
    """Return that noisy results decide which rows count or what they count for, if they do."""
    return (NOISY_INPUTS,) if plan.question.tables else ()


def cut_table_note(name: str) -> Note:
    """Return that a noisy table had more rows than can be joined."""
    return Note(
        f"Only the first {MOST_CONSTANT_ROWS:,} rows of {name} were used, or fewer if their texts "
        "are long. Rows that match others count as without a match.",
        is_printed=True,
    )


def limits_of_answer(
    plan: Plan, coverage: KnownCoverage = UNKNOWN
) -> tuple[Mapping[str, object], ...]:
    """Return the same of limits and bounds for programs, each once."""
    limits, clamped = _lines(plan, coverage)
    lines = [fact for line in (*limits, *clamped) for fact in line.facts]
    facts = [*lines, *used_month_facts(plan)]
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


def limit_text(plan: Plan, planned: PlannedRelease, coverage: KnownCoverage) -> str | None:
    """Return the line on the contribution limit of a release, if it has one."""
    line = _limit_line(plan, planned, coverage)
    return None if line is None else line.text


def left_out_of(planned: PlannedRelease, rows: LeftOut, coverage: KnownCoverage) -> str:
    """Return which rows or values are left out, and the measured share of clamped ones."""
    if not isinstance(rows, Clamped):
        return left_out_sentence(rows)
    return clamped_sentence(rows, coverage.values(coverage.column(planned, rows)))


def unlikely_groups_of(
    plan: Plan, policy: BudgetPolicy, counts_of: Callable[[str], Mapping[Statistic, int]]
) -> str:
    """Return why no group is likely to be shown, and what to do; nothing if some may be.

    `counts_of` has the released numbers of rows and units of a table, as far as there are any.
    """

    @cache
    def size_of(table: str) -> TableSize:
        counts = counts_of(table)
        return TableSize(
            units=counts.get(Statistic.COUNT_UNITS), rows=counts.get(Statistic.COUNT_ROWS)
        )

    return unlikely_groups(plan, policy, unit_of, size_of)


def undeclared_notes(plan: Plan) -> tuple[str, ...]:
    """Return warnings of values in conditions that are not declared."""
    return once(
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
                case ColumnUnit(column=column) if rows.table.is_by_month:
                    return UnitName(name=f"{column} and month", without_month=column)
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
            if not isinstance(planned.estimators[i], SelectedValue):
                continue  # no other margin is one of ranks
            found = planned.expected(i, confidence)
            if isinstance(found, RankMargin):
                yield rank_note(aggregate, found, confidence)


def once(sentences: Iterable[str]) -> tuple[str, ...]:
    """Return sentences in their order, each once."""
    return tuple(dict.fromkeys(sentences))
