"""Which months a query reads, where the budget is per month.

They follow from conditions on the arrival column alone. Each scan of such a table gets the months
that its conditions leave, and the generated SQL reads no others, so what is charged is right even
if a condition is understood badly. What is not understood leaves every month.

There, what is bounded is the rows of a unit that arrived in one month. What looks at all rows of a
unit would mean something else over several months: it is rejected there.
Proof: docs/proofs/parallel.md, "Blocks of time".
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from typing import TypeVar, cast

from discreet.catalog.schema import ByMonth, Kind, PrivateTable, time_from_number
from discreet.errors import UnsupportedError
from discreet.months import Months, MonthSpan, first_day, month_of
from discreet.query.expressions import intervals
from discreet.query.expressions.narrowing import narrow
from discreet.query.questions import (
    Aggregation,
    DeclaredGroups,
    Question,
    Statistic,
    UndeclaredGroups,
)
from discreet.query.tree import (
    ANYWHERE,
    ColumnOf,
    ConstantRows,
    Expression,
    Facts,
    GroupByUnit,
    Interval,
    Join,
    JoinKind,
    PublicRelation,
    Relation,
    Scan,
    Select,
    UnionAll,
    UnitSemiJoin,
    Window,
    map_columns,
    parts_of,
)
from discreet.query.walk import Remembered, Walk

Wanted = Mapping[str, Interval]
"""Where columns of a relation lie in all rows that matter, by name."""

NOWHERE: Wanted = {}

PLAIN = (Facts, DeclaredGroups, UndeclaredGroups, ConstantRows, PrivateTable, str, int, Fraction)
"""What holds no relation."""


def with_months(question: Question) -> Question:
    """Return the question with the months that each scan reads, or reject what mixes them."""
    return replace(question, aggregations=tuple(map(_release, question.aggregations)))


def _release(release: Aggregation) -> Aggregation:
    if not any(each.table.by_month for each in scans_in(release)):
        return release
    dated = replace(release, rows=_rows(release.rows, NOWHERE))
    dated = replace(dated, keys=_inside(dated.keys), aggregates=_inside(dated.aggregates))
    _check_alike(dated)
    return dated


# --------------------------------------------------------------------------- months of scans


def _rows(rows: Relation, wanted: Wanted) -> Relation:
    """Return rows that read only the months in which rows can be that matter."""
    match rows:
        case Scan(table=table):
            return rows if table.by_month is None else _dated(rows, table.by_month, wanted)
        case Select():
            return _select(rows, wanted)
        case GroupByUnit():
            inner = replace(rows, keys=_inside(rows.keys), aggregates=_inside(rows.aggregates))
            return replace(inner, source=_rows(rows.source, NOWHERE))
        case UnionAll(parts=parts):
            return replace(rows, parts=tuple(_rows(each, NOWHERE) for each in parts))


def _select(select: Select, wanted: Wanted) -> Select:
    found = replace(
        select,
        columns=_inside(select.columns),
        where=_inside(select.where),
        qualify=_inside(select.qualify),
        joins=tuple(_join(each, select) for each in select.joins),
    )
    limits = dict(_limits(select, wanted))
    return replace(found, source=_rows(select.source, limits))


def _join(join: Join, select: Select) -> Join:
    if isinstance(join.source, PublicRelation):
        return replace(join, on=_inside(join.on))
    # A row without a partner is still shown by a LEFT JOIN, so there none may be missing.
    is_inner = join.kind is JoinKind.INNER
    limits = _all_told(select, join.name) if is_inner else _told(join.on, join.name)
    return replace(join, source=_rows(join.source, limits), on=_inside(join.on))


def _limits(select: Select, wanted: Wanted) -> Iterator[tuple[str, Interval]]:
    """Yield where columns of the source lie in rows that a SELECT shows and that matter."""
    told = {name: [each] for name, each in _all_told(select, select.name).items()}
    if not _has_windows(select):
        for each in select.columns:
            column, limit = each.expression, wanted.get(each.name)
            if limit is not None and isinstance(column, ColumnOf) and column.source == select.name:
                told.setdefault(column.name, []).append(limit)
    for name, limits in told.items():
        interval = ANYWHERE
        for limit in limits:
            interval = intervals.overlap(interval, limit)
        yield name, interval


def _all_told(select: Select, source: str) -> Wanted:
    """Return where columns of a source lie in rows that WHERE and all inner joins leave."""
    conditions = [select.where, *(each.on for each in select.joins if each.kind is JoinKind.INNER)]
    found: dict[str, Interval] = {}
    for each in conditions:
        for name, interval in _told(each, source).items():
            found[name] = intervals.overlap(found.get(name, ANYWHERE), interval)
    return found


def _told(where: Expression | None, source: str) -> Wanted:
    """Return where columns of a source lie in rows for which the condition is true.

    Declared bounds are no promise that rows keep: only the condition itself counts.
    """
    if where is None:
        return NOWHERE
    known = narrow(map_columns(where, _without_facts))
    return {name: facts.interval for (each, name), facts in known.items() if each == source}


def _without_facts(column: ColumnOf) -> ColumnOf:
    """Return a column of which only its kind is known; times are whole days or microseconds."""
    step = Fraction(1) if column.facts.kind.is_time else None
    return replace(column, facts=Facts(kind=column.facts.kind, step=step))


def _has_windows(select: Select) -> bool:
    """Return whether a row's columns follow from other rows too, so that none may be missing."""
    used = [each.expression for each in select.columns]
    used += [each for each in (select.where, select.qualify) if each is not None]
    return any(isinstance(part, Window) for each in used for part in parts_of(each))


def _dated(scan: Scan, dated: ByMonth, wanted: Wanted) -> Scan:
    kind = next(each.kind for each in scan.table.columns if each.name == dated.column)
    interval = wanted.get(dated.column, ANYWHERE)
    return replace(scan, months=_span(interval, kind))


def _span(interval: Interval, kind: Kind) -> MonthSpan:
    """Return the months that times of an interval are in; one month if there are none at all."""
    low, high = interval.low, interval.high
    first = None if low is None else _month(low, kind)
    last = None if high is None else _month(high, kind)
    if first is not None and last is not None and first > last:
        return MonthSpan(first=first, last=first)  # no row is in such an interval
    return MonthSpan(first=first, last=last)


def _month(number: Fraction, kind: Kind) -> int | None:
    """Return the month of a time; None if it is outside of the calendar."""
    moment = time_from_number(number, kind)
    return None if moment is None else month_of(moment)


Part = TypeVar("Part")


def _inside(part: Part) -> Part:
    """Return a part of the tree in which relations, wherever they are, have their months."""
    return cast("Part", _changed(part))


def _changed(part: object) -> object:
    if isinstance(part, Scan | Select | GroupByUnit | UnionAll):
        return _rows(part, NOWHERE)
    if isinstance(part, UnitSemiJoin):
        inner = _rows(part.rows, _told(part.where, part.name))
        return replace(part, rows=inner, where=_inside(part.where))
    if isinstance(part, tuple):
        found = tuple(map(_changed, part))
        return found if any(a is not b for a, b in zip(found, part, strict=True)) else part
    if isinstance(part, PLAIN) or not is_dataclass(part) or isinstance(part, type):
        return part
    told = {each.name: getattr(part, each.name) for each in fields(part)}
    found_parts = {name: _changed(each) for name, each in told.items()}
    if all(found_parts[name] is each for name, each in told.items()):
        return part
    return replace(part, **found_parts)


# --------------------------------------------------------------------------- what is rejected


_nodes = Walk(plain=PLAIN)


def _scans(release: Aggregation) -> tuple[Scan, ...]:
    return tuple(each for each in _nodes(release) if isinstance(each, Scan))


scans_in = Remembered(_scans)
"""The scans of private tables in a release, wherever they are."""


def _check_alike(release: Aggregation) -> None:
    """Reject what reads tables with months and without: what is bounded there is not the same."""
    scans = scans_in(release)
    plain = next((each.table.name for each in scans if each.table.by_month is None), None)
    if plain is not None:
        dated = next(each.table.name for each in scans if each.table.by_month is not None)
        raise UnsupportedError(
            f"The budget of {dated} is per month, and {plain} has no months, so the two cannot be "
            "used together in a query",
            "Query each table by itself",
        )


def check_meaning(question: Question) -> None:
    """Reject what looks at all rows of a unit, over several months: it would mean another thing."""
    for each in with_months(question).aggregations:
        _check_units(each)


def _check_units(release: Aggregation) -> None:
    scans = scans_in(release)
    units = [each for each in scans if each.table.is_by_month]
    seen = _unit_seen(release) if units else None
    if seen is not None and Months(tuple(each.months for each in units)).only is None:
        raise UnsupportedError(
            f"{seen} needs all rows of a privacy unit, and the budget is per month, so a query "
            "with it must be about one month",
            f"Ask month by month, for example with {example(units[0])}",
        )


def example(scan: Scan) -> str:
    """Return a condition on the arrival column that leaves one month."""
    dated = scan.table.by_month
    assert dated is not None  # noqa: S101 - it is asked for where there is one
    first = scan.months.first if scan.months.first is not None else EXAMPLE
    start, end = first_day(first), first_day(min(first + 1, EXAMPLE_END))
    return f"{dated.column} >= DATE '{start}' AND {dated.column} < DATE '{end}'"


EXAMPLE, EXAMPLE_END = 12 * 2023, 12 * 9999 - 1


def _unit_seen(release: Aggregation) -> str | None:
    """Return what looks at several rows of a unit as a whole, if anything does."""
    for each in _nodes(release):
        match each:
            case GroupByUnit():
                return "GROUP BY on the unit"
            case UnitSemiJoin():
                return "IN or EXISTS on the unit"
            case Window():
                return "A window over rows of a unit"
            case Join(source=source) if not isinstance(source, PublicRelation):
                return "A join on the unit"
            case _:
                continue
    if any(
        each.statistic is Statistic.COUNT_UNITS or each.is_of_unit for each in release.aggregates
    ):
        return "Counting privacy units"
    return None
