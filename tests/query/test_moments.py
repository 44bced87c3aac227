"""Times that queries state have the values that PostgreSQL gives them."""

# ruff: noqa: S608 - this file writes queries

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from discreet.errors import UnsupportedError
from discreet.query.moments import moment_of
from discreet.query.parse import read_tree
from discreet.query.snapping import snapped
from discreet.written import written
from tests.fuzzing.choices import Choices
from tests.postgresql import shared_server
from tests.query.timed import CATALOG, NOW

pytestmark = [pytest.mark.postgresql, pytest.mark.xdist_group("postgresql")]

TEXTS = (
    *("2024-05-16 12:34:56", "2024-02-29", "2024-03-31 23:59:59.999999", "0001-01-31"),
    *("9999-12-31 23:59:59", "1969-12-31 23:59:59.5", "2024-05-16T12:34:56Z", " 2024-05-16 "),
    *("2024-05-16 12:34:56+05:30", "2024-05-16 01:34:56+0530", "2024-05-16 12:34:56-08"),
    *("2024-05-16 24:00:00", "2024-05-16 12:34", "2024-05-16 12", "2024-05-16 12:34:56,5"),
    *("2024-05-16T12:34:56.1234567", "2024-05-16 12:34:60", "2024-05-16 123456"),
)
SPANS = (
    *("1 day", "1 month", "-1 month", "1 month 1 day", "2 weeks", "1.5 days", "0.5 month"),
    *("1 year 2 mons", "90 min", "1 day 02:30", "-02:30:00", "1 decade", "3 h 4 s", "1 mon -1 day"),
    *("1 microsecond", "10 ms", "100 us", "-1 day 2:30", "1 m", "1 y", "1 w", "0.1 second"),
    *("1.25 years", "1 day ago", "1e2 days", "1 century"),
)
UNITS = (
    "year",
    "quarter",
    "month",
    "week",
    "day",
    "hour",
    "minute",
    "second",
    "decade",
    "mon",
    "m",
)
FORMS = (
    *("TIMESTAMP '{}'", "'{}'::timestamp", "DATE '{}'", "'{}'::date", "TIMESTAMPTZ '{}'"),
    *("'{}'::timestamp::date", "'{}'::timestamptz::timestamp", "'{}'::timestamp::timestamptz"),
)


def stated(choices: Choices, depth: int = 0) -> str:
    """Return an expression that states a time."""
    chosen = choices.below(10) if depth < 3 else 0
    if chosen < 4:
        return choices.one(FORMS).format(choices.one(TEXTS))
    inner = stated(choices, depth + 1)
    if chosen < 8:
        return f"({inner} {choices.one('+-')} {_span(choices)})"
    if chosen < 9:
        return f"date_trunc('{choices.one(UNITS)}', {inner})"
    return choices.one((f"({inner} AT TIME ZONE 'UTC')", f"({inner} - 7)", f"(({inner}) + 400)"))


def _span(choices: Choices) -> str:
    unit = choices.one(("DAY", "MONTH", "HOUR", "SECOND"))
    number = choices.one(("1", "-4", "1.5"))
    span = choices.one(
        (
            f"INTERVAL '{choices.one(SPANS)}'",
            f"'{choices.one(SPANS)}'::interval",
            f"INTERVAL '{number}' {unit}",
        )
    )
    return choices.one(("{}", "{}", "-({})", "0.5 * {}", "{} * -3")).format(span)


def differences(seed: str, number: int) -> tuple[int, list[str]]:
    """Return how many times have a value here, and which of them PostgreSQL gives another."""
    choices, known, found = Choices(seed), 0, []
    with psycopg.connect(shared_server(), autocommit=True) as server:
        server.execute("SET TimeZone = 'UTC'")
        for _ in range(number):
            text = stated(choices)
            moment = None
            with suppress(UnsupportedError):
                tree = read_tree(written(f"SELECT {text}", None, "postgres"))[0]
                moment = moment_of(tree.selects[0], NOW)
            if moment is None:
                continue
            known += 1
            ours = f"{moment.at:%m-%d %H:%M:%S.%f} {moment.at.year}"
            query = f"SELECT to_char(({text})::timestamptz, 'MM-DD HH24:MI:SS.US FMYYYY')"
            theirs = server.execute(query.encode()).fetchone()
            if theirs != (ours,):
                found.append(f"{text} is {theirs}, and not {ours}")
    return known, found


def test_times_that_are_known_are_those_of_postgresql() -> None:
    known, found = differences("push", 400)
    assert found == []
    assert known > 100


@pytest.mark.slow
def test_many_times_that_are_known_are_those_of_postgresql() -> None:
    known, found = differences("long", 20_000)
    assert found == []
    assert known > 5000


CONDITIONS = (
    *("{c} > {t}", "{t} <= {c}", "{c} = {t}", "{c} <> {t}", "NOT {c} < {t}", "{c} IN ({t}, {t})"),
    *("{c} BETWEEN SYMMETRIC {t} AND {t}", "{c} NOT BETWEEN {t} AND {t}", "({c}) >= ({t})"),
    *("CASE WHEN {c} < {t} THEN note = '2024-05-01 10:00:01' ELSE n > 3 END",),
)
WRITTEN = ("'{}'", "'{}Z'", "TIMESTAMP '{}'", "'{}'::timestamptz", "'{}+00'::timestamptz")


def test_times_on_a_step_mean_the_same_after_snapping() -> None:
    """Asked of PostgreSQL itself, of rows at steps and between them."""
    choices, start, changed = Choices("rows"), datetime(2024, 4, 29, tzinfo=UTC), 0
    times = [start + timedelta(minutes=choices.one((0, 60, 67)) * each) for each in range(200)]
    with psycopg.connect(shared_server()) as server:
        server.execute("SET TimeZone = 'UTC'")
        server.execute(
            "CREATE TEMP TABLE events (who int, ts timestamp, tz timestamptz, day date, "
            "week date, raw timestamp, n int, note text)"
        )
        for number, at in enumerate(times):
            row = (number, at, at, at, at, at, number % 7, str(at))
            server.execute("INSERT INTO events VALUES (%s, %s, %s, %s, %s, %s, %s, %s)", row)
        for _ in range(150):
            column, step = choices.one((("ts", 15), ("tz", 60), ("day", 1440), ("week", 10080)))
            made = choices.one(CONDITIONS).replace("{c}", column)
            while "{t}" in made:
                at = start + timedelta(minutes=step * choices.below(20_000 // step + 1))
                literal = choices.one(WRITTEN).format(at.replace(tzinfo=None))
                made = made.replace("{t}", literal, 1)
            query = written(f"SELECT COUNT(*) FROM events WHERE {made}", None, "postgres")
            found = snapped(query, CATALOG, NOW)
            changed += bool(found.changes)
            counts = [
                server.execute(each.text.encode()).fetchone() for each in (query, found.query)
            ]
            assert counts[0] == counts[1], (query.text, found.query.text)
    assert changed > 20
