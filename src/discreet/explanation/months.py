"""Sentences about a budget per month: which months are charged, and what is protected."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from discreet.accounting import ApproximateEvent, Budget, Event, PureEvent
from discreet.accounting.groups import for_group
from discreet.amounts import Price
from discreet.catalog.schema import ByMonth, ColumnUnit, PrivateTable
from discreet.errors import ParameterError
from discreet.explanation.explanation import of_one_month
from discreet.explanation.sentences import effect_of_limit
from discreet.query.plan import Plan
from discreet.query.plan.identity import months_read
from discreet.query.plan.months import example, scans_in
from discreet.query.plan.plan import PlannedRelease
from discreet.query.tree import Scan


def charged_months(plan: Plan) -> str:
    """Return which months a plan is charged to; empty if its catalog has no budget per month."""
    scans = _dated(plan)
    if not scans:
        return ""
    months = [months_read(each) for each in plan.releases]
    texts = ["every month" if each is None else str(each) for each in months]
    return "; ".join(dict.fromkeys(texts))


def month_hints(plan: Plan) -> Iterator[str]:
    """Yield how a query could be charged to fewer months, if it is charged without end."""
    for scan in _dated(plan):
        if scan.months.is_open:
            yield (
                f"Without a first and a last month this query is charged to {scan.months}, also to "
                f"months to come. To charge fewer months, add {example(scan)}."
            )


def month_left_out(plan: Plan) -> Iterator[str]:
    """Yield which rows are left out because of their months."""
    for scan in _dated(plan):
        dated, unit = scan.table.by_month, scan.table.unit
        assert dated is not None  # noqa: S101 - for types
        yield f"Rows of {scan.table.name} where {without_month(dated)}."
        if dated.most is not None and isinstance(unit, ColumnUnit):
            yield (
                f"Rows of {scan.table.name} after the {first_months(dated.most)} in which a "
                f"{unit.column} has any."
            )


def without_month(dated: ByMonth) -> str:
    """Return which rows of a table have no month: those where arrived is NULL, and so on."""
    return f"{dated.column} is NULL or outside of the years 1 to 9999"


def rows_without_month(plan: Plan) -> tuple[str, ...]:
    """Return which rows an answer leaves out because they have no month, as parts of a sentence."""
    tables = [each.table for each in _dated(plan)]
    is_one = len({each.name for each in tables}) == 1
    return tuple(
        dict.fromkeys(
            f"rows{'' if is_one else f' of {each.name}'} where {without_month(each.by_month)}"
            for each in tables
            if each.by_month is not None
        )
    )


def used_month_notes(plan: Plan) -> Iterator[str]:
    """Yield that only rows of a unit's first months are used, and what that does to numbers."""
    for planned in plan.releases:
        effect = effect_of_limit(planned.aggregation.aggregates)
        for scan in scans_in(planned.aggregation):
            dated, unit = scan.table.by_month, scan.table.unit
            if dated is not None and dated.most is not None and isinstance(unit, ColumnUnit):
                yield (
                    f"Counts only rows of {scan.table.name} from the {first_months(dated.most)} in "
                    f"which a {unit.column} has any, so {effect}."
                )


def used_month_facts(plan: Plan) -> Iterator[Mapping[str, object]]:
    """Yield the same for programs."""
    for scan in _dated(plan):
        dated, unit = scan.table.by_month, scan.table.unit
        if dated is not None and dated.most is not None and isinstance(unit, ColumnUnit):
            yield {
                "kind": "months",
                "unit": unit.column,
                "most": dated.most,
                "table": scan.table.name,
            }


def month_notes(plan: Plan, in_all: int | None = None) -> Iterator[str]:
    """Yield what an answer says of months: which were charged, and what is protected.

    `in_all` is the most months of a unit that are used, as the ledger knows it.
    """
    charged = charged_months(plan)
    if charged:
        unit, dated = _protected(_dated(plan))
        yield f"Charged to {charged}. Protects {of_one_month(unit, _known(dated, in_all))}."


def protected_months(planned: PlannedRelease | None, in_all: int | None = None) -> ByMonth | None:
    """Return how rows are protected by month, if units are not rows."""
    scans = () if planned is None else scans_in(planned.aggregation)
    dated = (each.table.by_month for each in scans if each.table.is_by_month)
    return next((_known(each, in_all) for each in dated if each is not None), None)


def _known(dated: ByMonth, in_all: int | None) -> ByMonth:
    return dated if in_all is None else replace(dated, in_all=in_all)


def months_of_one(planned: PlannedRelease) -> int | None:
    """Return in how many months one unit can count, at most; None if there is no limit."""
    scans = [each for each in scans_in(planned.aggregation) if each.table.is_by_month]
    used = {each.table.name: used_months(each.table) for each in scans}
    limits = [each for each in used.values() if each is not None]
    read = months_read(planned)
    number = None if read is None else read.number
    in_used = sum(limits) if limits and len(limits) == len(used) else None
    return min((each for each in (number, in_used) if each is not None), default=None)


def used_months(table: PrivateTable) -> int | None:
    """Return the most months of a unit that are used, if there is a limit."""
    return table.by_month.most if table.by_month is not None and table.is_by_month else None


def _protected(scans: Iterable[Scan]) -> tuple[str, ByMonth]:
    scan = next(iter(scans))
    assert scan.table.by_month is not None  # noqa: S101 - for types
    unit = scan.table.unit
    return (unit.column if isinstance(unit, ColumnUnit) else "row"), scan.table.by_month


def _dated(plan: Plan) -> tuple[Scan, ...]:
    """Return the scans of tables with months, each once."""
    found = (
        scan
        for each in plan.releases
        for scan in scans_in(each.aggregation)
        if scan.table.by_month is not None
    )
    return tuple(dict.fromkeys(found))


def first_months(number: int) -> str:
    """Return first month, or first 3 months."""
    return "first month" if number == 1 else f"first {number:,} months"


def budget_promise(total: Budget, months: int | None, *, is_lowered: bool = False) -> str:
    """Return what the whole budget promises, as a sentence, if it is per month.

    `months` is the most months of a unit that are used, over all tables; None is all. With
    `is_lowered` this total is an earlier one, under which something was charged.
    """
    each = Price(epsilon=total.epsilon, delta=total.delta)
    what = "the data" if months is None else "the used data"
    before = " (the total before it was lowered)" if is_lowered else ""
    text = f"The budget is per month: it protects {what} of one unit in one month with {each}"
    text += f"{before}."
    if months is None:
        return f"{text} A unit with data in several months has less protection over time."
    event: Event = PureEvent(epsilon=total.epsilon)
    if total.delta:
        event = ApproximateEvent(epsilon=total.epsilon, delta=total.delta)
    try:
        group = for_group(event, months)
    except ParameterError:
        return f"{text} Over time, this proves nothing about all data of one unit together."
    together = Price(
        epsilon=total.epsilon * months,
        delta=group.delta if isinstance(group, ApproximateEvent) else total.delta,
    )
    used = "1 month of a unit is" if months == 1 else f"{months:,} months of a unit are"
    return f"{text} At most {used} used: {together} for all its data."
