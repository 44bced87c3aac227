"""The section [[series]]: checked, and made exact."""

import re
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta

from discreet.catalog.analysts import check_delta, check_epsilon
from discreet.catalog.clocks import Clock, in_utc
from discreet.catalog.entries import (
    Location,
    check_choice,
    check_integer,
    check_list,
    check_section,
    check_text,
    time_from,
    value_text,
)
from discreet.catalog.schema import MICROSECOND
from discreet.catalog.series import ROWS_FIX, SeriesMechanism, SeriesPolicy
from discreet.catalog.time_steps import time_step_from

SERIES = (
    *("name", "question", "clock", "first", "ticks", "epsilon", "delta"),
    *("rows_per_unit", "rows_per_tick", "wait", "mechanism"),
)

MOST_TICKS = 1_000_000
MOST_SERIES_ROWS = 10**6

NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_ -]{0,62}[A-Za-z0-9])?")
LIST_FIX = 'Write [[series]] with name = "visits", question = "SELECT COUNT(*) FROM visits"'
NAME_FIX = "Write letters, digits, spaces, - and _, and begin and end with a letter or digit"
FIRST_FIX = "Write the day on which the first tick begins, for example first = 2026-01-01"
TICKS_FIX = "Write how many ticks there will be, for example ticks = 3653 for ten years of days"
WAIT_FIX = 'Write how long late rows are waited for, for example wait = "2 hours"'


def series_from(location: Location, value: object) -> tuple[SeriesPolicy, ...]:
    """Return the series that a catalog declares."""
    found: dict[str, SeriesPolicy] = {}
    for number, entry in enumerate(check_list(location, value, LIST_FIX)):
        each = _series(location.at(number), entry)
        if each.name.casefold() in found:
            rule = f"is {each.name}, the name of another series"
            raise location.at(number, "name").invalid(rule, "Rename one of them")
        found[each.name.casefold()] = each
    return tuple(found.values())


def _series(location: Location, value: object) -> SeriesPolicy:
    entries = check_section(location, value, SERIES)
    given = {key: each for key, each in entries.items() if each is not None}
    for key, fix in (
        *(("name", NAME_FIX), ("question", LIST_FIX), ("first", FIRST_FIX)),
        *(("clock", 'Write clock = "day", for example'), ("ticks", TICKS_FIX)),
    ):
        if key not in given:
            raise location.at(key).invalid("is missing", fix)
    name = check_text(location.at("name"), given["name"], NAME_FIX)
    if not NAME.fullmatch(name):
        raise location.at("name").invalid(f"is {value_text(name)}, which is no name", NAME_FIX)
    clock = check_choice(location.at("clock"), given["clock"], Clock)
    ticks = check_integer(location.at("ticks"), given["ticks"], 1, MOST_TICKS, TICKS_FIX)
    delta = check_delta(location.at("delta"), given["delta"]) if "delta" in given else None
    chosen = given.get("mechanism", SeriesMechanism.AUTO)
    policy = SeriesPolicy(
        name=name,
        question=_question(location.at("question"), given["question"]),
        clock=clock,
        first=_first(location.at("first"), given["first"], clock),
        ticks=ticks,
        epsilon=check_epsilon(location, given),
        delta=delta,
        rows_per_unit=_rows(location, given, "rows_per_unit"),
        rows_per_tick=_rows(location, given, "rows_per_tick"),
        wait=_wait(location.at("wait"), given.get("wait")),
        mechanism=check_choice(location.at("mechanism"), chosen, SeriesMechanism),
    )
    try:
        policy.start(ticks + 2) + policy.wait
    except (OverflowError, ValueError):
        rule = f"is {ticks}, and the last tick would be after the year 9999"
        raise location.at("ticks").invalid(rule, "Write fewer ticks") from None
    return policy


def _question(location: Location, value: object) -> str:
    """Return SQL, which may have several lines."""
    if not isinstance(value, str) or not value.strip():
        raise location.invalid(f"must be SQL, not {value_text(value)}", LIST_FIX)
    return value.strip()


def _rows(location: Location, given: Mapping[str, object], key: str) -> int | None:
    if key not in given:
        return None
    fix = ROWS_FIX if key == "rows_per_unit" else ROWS_FIX.replace("per_unit", "per_tick")
    return check_integer(location.at(key), given[key], 1, MOST_SERIES_ROWS, fix)


def _first(location: Location, value: object, clock: Clock) -> datetime:
    moment = time_from(value)
    if moment is None:
        raise location.invalid(f"must be a date or timestamp, not {value_text(value)}", FIRST_FIX)
    if not isinstance(moment, datetime):
        moment = datetime.combine(moment, time())
    try:
        first = in_utc(moment)
    except OverflowError:
        raise location.invalid("must be in a year from 1 to 9999", FIRST_FIX) from None
    if not clock.begins_at(first):
        begins = {
            Clock.HOUR: "at a full hour",
            Clock.DAY: "at midnight, UTC",
            Clock.WEEK: "on a Monday at midnight, UTC",
            Clock.MONTH: "on the first day of a month at midnight, UTC",
        }[clock]
        rule = f'must be {begins} with clock = "{clock.value}", not {_shown(first)}'
        raise location.invalid(rule, f"Write first = {_before(first, clock).isoformat()}")
    return first


def _before(moment: datetime, clock: Clock) -> date:
    """Return the day on which the tick around a moment begins."""
    day = moment.date()
    if clock is Clock.WEEK:
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if clock is Clock.MONTH else day


def _shown(moment: datetime) -> str:
    return moment.date().isoformat() if moment.time() == time() else moment.isoformat(sep=" ")


def _wait(location: Location, value: object) -> timedelta:
    if value is None:
        return timedelta(0)
    text = check_text(location, value, WAIT_FIX)
    microseconds = time_step_from(text)
    if microseconds is None:
        raise location.invalid(f"must be a time such as 2 hours, not {value_text(value)}", WAIT_FIX)
    return int(microseconds) * MICROSECOND
