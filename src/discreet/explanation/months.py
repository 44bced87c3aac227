"""Sentences about a budget per month: which months are charged, and what is protected."""

from collections.abc import Iterable, Iterator

from discreet.accounting import ApproximateEvent, Budget, Event, PureEvent
from discreet.accounting.groups import for_group
from discreet.amounts import Price
from discreet.catalog.schema import ByMonth, ColumnUnit
from discreet.errors import ParameterError
from discreet.explanation.explanation import of_one_month
from discreet.query.plan import Plan
from discreet.query.plan.identity import months_read
from discreet.query.plan.months import example, scans_in
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
        yield (
            f"Rows of {scan.table.name} where {dated.column} is NULL or outside of the years 1 to "
            "9999."
        )
        if dated.most is not None and isinstance(unit, ColumnUnit):
            yield (
                f"Rows of {scan.table.name} after the {first_months(dated.most)} in which a "
                f"{unit.column} has any."
            )


def month_notes(plan: Plan) -> Iterator[str]:
    """Yield what an answer says of months: which were charged, and what is protected."""
    charged = charged_months(plan)
    if charged:
        unit, dated = _protected(_dated(plan))
        yield f"Charged to {charged}. Protects {of_one_month(unit, dated)}."


def protected_months(scans: Iterable[Scan]) -> ByMonth | None:
    """Return how rows are protected by month, if units are not rows."""
    return next((each.table.by_month for each in scans if each.table.is_by_month), None)


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


def budget_promise(total: Budget, months: int | None) -> str:
    """Return what the whole budget promises, as a sentence, if it is per month."""
    each = Price(epsilon=total.epsilon, delta=total.delta)
    text = f"The budget is per month: it protects the data of one unit in one month with {each}."
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
