"""How large an undeclared group must be to be shown, and whether any group can be.

Everything here follows from the query, the catalog and numbers that were released before.
"""

from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from warnings import warn

from discreet.amounts import amount_up, equation, number_text
from discreet.catalog.catalog import BudgetPolicy, column_of
from discreet.catalog.schema import Bounds, ColumnUnit, Kind
from discreet.errors import DiscreetError, DiscreetWarning, ParameterError, QuestionError
from discreet.explanation.months import months_of_one, used_months
from discreet.explanation.one_unit import one_unit_sentence
from discreet.explanation.sentences import UnitName, listed
from discreet.query.check.relations import TIED
from discreet.query.plan import Plan, make_plan
from discreet.query.plan.plan import EpsilonTarget, PlannedKeySelection, PlannedRelease
from discreet.query.questions import (
    Aggregation,
    Counted,
    NotDeclared,
    OneUnitEach,
    Question,
    UndeclaredGroups,
)
from discreet.query.tree import Relation, Scan, UnionAll

HALF = Fraction(1, 2)

LARGEST_SHARE = HALF
"""No group is expected to have more than this share of all units."""

ENOUGH_SHARE = Fraction(1, 10)
"""An epsilon is enough at which a group with this share of all units is shown."""

STEPS = tuple(map(Fraction, ("0.1", "0.2", "0.5", "1", "2", "5", "10", "20", "50", "100")))
"""The values of epsilon that are tried."""


class GroupThresholdWarning(DiscreetWarning):
    """A query is about to be charged although no group is likely to be shown.

    Turn it into an error, and such a query is never charged:
    `warnings.simplefilter("error", discreet.GroupThresholdWarning)`.
    """


class UnlikelyGroupsError(DiscreetError):
    """The same as an error, where a caller is to confirm first. Nothing was charged."""


REFUSES_UNLIKELY: ContextVar[bool] = ContextVar("refuses_unlikely", default=False)
"""Whether such a query is an error: a server cannot warn its caller before the charge."""


def warn_or_refuse(why: str, *, stacklevel: int) -> None:
    """Warn that no group is likely to be shown, or raise that as an error."""
    if REFUSES_UNLIKELY.get():
        what, _, fix = why.partition(". ")
        raise UnlikelyGroupsError(what, fix)
    warn(why, GroupThresholdWarning, stacklevel=stacklevel)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSize:
    """How many units and rows a table has at most, as far as anyone may know; None if nobody."""

    units: int | None = None
    rows: int | None = None


SizeOf = Callable[[str], TableSize]
"""From a table's name to what was released of its size."""

UnitOf = Callable[[Relation], UnitName]
"""From rows to what they call their unit."""


# --------------------------------------------------------------------------- notes


def needed_size(selection: PlannedKeySelection) -> int:
    """Return the smallest group that is shown with a probability of at least one half."""
    return selection.mechanism.smallest_seen(HALF)


def threshold_notes(plan: Plan, shown: Sequence[int], units: Sequence[UnitName]) -> Iterator[str]:
    """Yield which groups an answer lacks, and what that means for numbers made of groups.

    `shown` has the number of groups of each release, and `units` the name of its unit.
    """
    totals = {each.release for each in plan.question.over_shown}
    looked_up = _looked_up(plan.question)
    for number, (planned, groups, unit) in enumerate(zip(plan.releases, shown, units, strict=True)):
        if planned.key_selection is None:
            continue
        if (why := _one_unit(planned)) is not None:
            yield one_unit_sentence(why)
        elif number in looked_up:
            yield (
                f"Groups with fewer than about {_size(planned, unit)} have no value in the "
                "subquery: it is NULL for their rows, and COUNT is 0 there."
            )
        elif groups == 0:
            yield f"No group had at least about {_size(planned, unit)}, so none is shown."
        elif number not in totals:
            yield f"Groups with fewer than about {_size(planned, unit)} are not shown."
        if groups and (alone := alone_sentence(planned, unit)):
            yield alone
    yield from total_notes(plan, units)


def total_notes(plan: Plan, units: Sequence[UnitName]) -> Iterator[str]:
    """Yield what is said of numbers made of groups of which small ones are not shown."""
    for each in plan.question.over_shown:
        planned, unit = plan.releases[each.release], units[each.release]
        effect = (
            "so the number of groups is lower than the exact number"
            if each.is_count
            else "so counts and sums of groups are too low, and averages and extremes can be wrong"
        )
        if planned.key_selection is not None:
            yield (
                f"Computed over the groups that are shown. Groups with fewer than about "
                f"{_size(planned, unit)} are missing, {effect}."
            )


def alone_sentence(planned: PlannedRelease, unit: UnitName) -> str:
    """Return that a unit counts once for each month, so that it can make a group visible."""
    most, selection = months_of_one(planned), planned.key_selection
    if not unit.without_month or selection is None or most == 1 or _one_unit(planned) is not None:
        return ""
    limit = planned.aggregation.contribution_limit
    in_rows = selection.key_selection.of is Counted.ROWS
    if most is None or most * (limit if in_rows else 1) >= needed_size(selection):
        return f"One {unit.without_month} with rows in many months can make a group visible."
    return f"One {unit.without_month} can count here in up to {number_text(most)} months."


def _looked_up(question: Question) -> set[int]:
    """Return the releases that stand for subqueries of an outer row."""
    if f'"{TIED}' in question.post_sql:
        return set(range(len(question.aggregations)))
    return {need for each in question.tables if each.name.startswith(TIED) for need in each.needs}


def _one_unit(planned: PlannedRelease) -> OneUnitEach | None:
    groups = planned.aggregation.groups
    why = groups.why if isinstance(groups, UndeclaredGroups) else None
    return why if isinstance(why, OneUnitEach) else None


def _size(planned: PlannedRelease, unit: UnitName) -> str:
    """Return how large a group must be to be shown: 33 rows."""
    assert planned.key_selection is not None  # noqa: S101 - it is asked for where there is one
    return f"{number_text(needed_size(planned.key_selection))} {counted(planned, unit)}"


def counted(planned: PlannedRelease, unit: UnitName) -> str:
    """Return what is counted where groups are selected."""
    assert planned.key_selection is not None  # noqa: S101 - it is asked for where there is one
    is_rows = planned.key_selection.key_selection.of is Counted.ROWS
    return "rows" if is_rows else unit.counted


# --------------------------------------------------------------------------- warnings


def unlikely_groups(plan: Plan, policy: BudgetPolicy, unit_of: UnitOf, size_of: SizeOf) -> str:
    """Return why no group of a release is likely to be shown, and what to do; or nothing."""
    for number, planned in enumerate(plan.releases):
        if (why := _one_unit(planned)) is not None:
            return one_unit_sentence(why)
        selection, most = planned.key_selection, _most(planned, size_of)
        if selection is None or most is None or needed_size(selection) <= LARGEST_SHARE * most:
            continue
        what = counted(planned, unit_of(planned.aggregation.rows))
        return (
            f"Probably no group would be shown: a group needs about "
            f"{number_text(needed_size(selection))} {what}, and there are at most about "
            f"{number_text(most)} in all. {_remedies(plan, number, most, policy, what)}"
        )
    return ""


def _most(planned: PlannedRelease, size_of: SizeOf) -> int | None:
    """Return the largest number that a group can have of what is counted, if anything is known."""
    if planned.key_selection is None:
        return None
    release = planned.aggregation
    units, rows = _units(release.rows, size_of), _rows(release, size_of)
    if planned.key_selection.key_selection.of is Counted.UNITS or units is None:
        return units
    return units * release.contribution_limit if rows is None else rows


def _rows(release: Aggregation, size_of: SizeOf) -> int | None:
    """Return how many rows count at most, if they are rows of one table, each once."""
    rows = release.rows
    while not isinstance(rows, Scan | UnionAll):
        rows = rows.source
    is_once = isinstance(rows, Scan) and release.contribution_limit <= rows.table.rows_per_unit
    return size_of(rows.table.name).rows if isinstance(rows, Scan) and is_once else None


def _units(rows: Relation, size_of: SizeOf) -> int | None:
    """Return how many units have rows at most, released or declared."""
    match rows:
        case Scan(table=table):
            size = size_of(table.name)
            known = [each for each in (size.units, size.rows, _declared(rows)) if each is not None]
            return min(known, default=None)
        case UnionAll(parts=parts):
            found = [_units(each, size_of) for each in parts]
            return None if None in found else sum(each for each in found if each is not None)
        case _:
            return _units(rows.source, size_of)


def _declared(scan: Scan) -> int | None:
    """Return how many units the catalog allows; with a budget per month, each once a month."""
    owner = scan.parents[-1] if scan.parents else scan.table
    if not isinstance(owner.unit, ColumnUnit):
        return None
    column = column_of(owner, owner.unit.column)
    if column is None:
        return None
    months = _months(scan)
    if months is None:
        return None
    if column.values is not None:
        return len(column.values) * months
    if column.kind is not Kind.INTEGER or not isinstance(column.bounds, Bounds):
        return None
    return (int(column.bounds.high) - int(column.bounds.low) + 1) * months


def _months(scan: Scan) -> int | None:
    """Return in how many months a unit can have rows; None if there is no limit."""
    if not scan.table.is_by_month:
        return 1
    span = None if scan.months.is_open else scan.months.high - scan.months.low + 1
    found = [each for each in (span, used_months(scan.table)) if each is not None]
    return min(found, default=None)


def _remedies(plan: Plan, number: int, most: int, policy: BudgetPolicy, what: str) -> str:
    planned = plan.releases[number]
    release = planned.aggregation
    key = release.keys[0].text or release.keys[0].name
    why = release.groups.why if isinstance(release.groups, UndeclaredGroups) else None
    columns = why.columns if isinstance(why, NotDeclared) and why.columns else (key,)
    ways = [
        f"List the groups: WHERE {key} IN (...)",
        f"Or ask the data owner to declare the values of {listed(columns)}",
        "Or limit the groups that each is counted in, with groups_per_unit",
        *(["Or ask for fewer aggregates"] if len(planned.events) > 1 else []),
    ]
    if (enough := _enough(plan, number, most, policy)) is not None:
        epsilon, size = enough
        ways.append(
            f"Or spend more: at {equation('ε', amount_up(epsilon))}, a group needs about "
            f"{number_text(size)} {what}"
        )
    return " ".join(f"{each}." for each in ways)


def _enough(
    plan: Plan, number: int, most: int, policy: BudgetPolicy
) -> tuple[Fraction, int] | None:
    """Return an epsilon at which a smaller group is shown, and how large it must be."""
    for epsilon in STEPS:
        if epsilon <= plan.epsilon:
            continue
        try:
            again = make_plan(plan.question, EpsilonTarget(epsilon), policy)
        except (QuestionError, ParameterError):
            return None
        selection = again.releases[number].key_selection
        if selection is not None and needed_size(selection) <= ENOUGH_SHARE * most:
            return epsilon, needed_size(selection)
    return None
