"""Times of a query are rounded down to the steps of columns, so that a refresh asks the same."""

# ruff: noqa: S608 - this file writes queries

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from discreet.errors import NondeterministicError
from discreet.query.check import check
from discreet.query.moments import moment_of
from discreet.query.parse import class_of, parse, read_tree
from discreet.query.snapping import Snapped, SnappedTime, snapped
from discreet.written import Parameters, SqlDialect, WrittenQuery, written
from tests.forms.corpus import ANSWERED
from tests.properties.databases import catalog as clinic_catalog
from tests.properties.databases import public_store
from tests.query.timed import CATALOG, NOW


def snap(
    sql: str, parameters: Parameters = None, dialect: str | None = "postgres", now: datetime = NOW
) -> Snapped:
    """Snap a query, and check that snapping it again changes nothing."""
    found = snapped(written(sql, parameters, dialect), CATALOG, now)
    again = snapped(found.query, CATALOG, now + timedelta(days=400))
    assert again.query is found.query
    assert again.changes == ()
    return found


def where(condition: str, parameters: Parameters = None, dialect: str | None = "postgres") -> str:
    """Return a condition as it is after snapping."""
    sql = f"SELECT COUNT(*) FROM events WHERE {condition}"
    return snap(sql, parameters, dialect).query.text.partition(" WHERE ")[2]


SNAPPED = {
    # what Grafana sends
    "ts BETWEEN '2024-05-01T10:07:11.123Z' AND '2024-05-02T10:59:59.999Z'": (
        "ts BETWEEN CAST('2024-05-01 10:00:00' AS TIMESTAMP) "
        "AND CAST('2024-05-02 10:45:00' AS TIMESTAMP)"
    ),
    "day BETWEEN '2024-05-01T10:00:11.123Z' AND '2024-05-02T10:00:11.123Z'": (
        "day BETWEEN CAST('2024-05-01' AS DATE) AND CAST('2024-05-02' AS DATE)"
    ),
    "tz BETWEEN '2024-05-01T10:07:11Z' AND '2024-05-02T00:07:11+02:00'": (
        "tz BETWEEN '2024-05-01 10:00:00+00:00' AND '2024-05-01 22:00:00+00:00'"
    ),
    "ts >= to_timestamp(1714550411)": "ts >= CAST('2024-05-01 08:00:00' AS TIMESTAMP)",
    # what Metabase sends
    "CAST(ts AS date) BETWEEN CAST((NOW() + INTERVAL '-30 day') AS date) AND CAST(NOW() AS date)": (
        "CAST(ts AS DATE) BETWEEN CAST('2024-04-16' AS DATE) AND CAST('2024-05-16' AS DATE)"
    ),
    "ts >= DATE_TRUNC('month', NOW()) AND ts < DATE_TRUNC('month', NOW() + INTERVAL '1 month')": (
        "ts >= CAST('2024-05-01 00:00:00' AS TIMESTAMP) "
        "AND ts < CAST('2024-06-01 00:00:00' AS TIMESTAMP)"
    ),
    "DATE_TRUNC('month', raw) = DATE_TRUNC('month', NOW())": (
        "DATE_TRUNC('MONTH', raw) = CAST('2024-05-01 00:00:00' AS TIMESTAMP)"
    ),
    # the clock
    "ts >= NOW() - INTERVAL '24 hours'": "ts >= CAST('2024-05-15 10:30:00' AS TIMESTAMP)",
    "ts > CURRENT_TIMESTAMP": "ts > CAST('2024-05-16 10:30:00' AS TIMESTAMP)",
    "ts < LOCALTIMESTAMP": "ts < CAST('2024-05-16 10:30:00' AS TIMESTAMP)",
    "ts < transaction_timestamp()": "ts < CAST('2024-05-16 10:30:00' AS TIMESTAMP)",
    "tz <= NOW() AT TIME ZONE 'UTC'": "tz <= '2024-05-16 10:00:00+00:00'",
    "tz = now()": "tz = '2024-05-16 10:00:00+00:00'",
    "day = CURRENT_DATE": "day = CAST('2024-05-16' AS DATE)",
    "day >= CURRENT_DATE - 7": "day >= CAST('2024-05-09' AS DATE)",
    "week >= NOW() - INTERVAL '1 month'": "week >= CAST('2024-04-15' AS DATE)",
    "NOW() - 2 * INTERVAL '1 day' <= ts": "CAST('2024-05-14 10:30:00' AS TIMESTAMP) <= ts",
    "ts > now() - INTERVAL '1 day 2 hours 30 min'": "ts > CAST('2024-05-15 08:00:00' AS TIMESTAMP)",
    "ts > now() - INTERVAL '5 ms'": "ts > CAST('2024-05-16 10:30:00' AS TIMESTAMP)",
    "ts > now() - INTERVAL '02:30:00'": "ts > CAST('2024-05-16 08:00:00' AS TIMESTAMP)",
    "ts > now() - '90 minutes'::interval": "ts > CAST('2024-05-16 09:00:00' AS TIMESTAMP)",
    "ts > (now() - INTERVAL '1 h') - INTERVAL '1 year'": (
        "ts > CAST('2023-05-16 09:30:00' AS TIMESTAMP)"
    ),
    # literals
    "ts >= TIMESTAMP '2024-05-01 10:00:11'": "ts >= CAST('2024-05-01 10:00:00' AS TIMESTAMP)",
    "ts >= '2024-05-01 10:14:59.999999'::timestamp": (
        "ts >= CAST('2024-05-01 10:00:00' AS TIMESTAMP)"
    ),
    "tz >= timestamp with time zone '2024-05-01 10:00:00+00'": "tz >= '2024-05-01 10:00:00+00:00'",
    "ts IN ('2024-05-01', '2024-05-02 03:04:05')": (
        "ts IN ('2024-05-01', CAST('2024-05-02 03:00:00' AS TIMESTAMP))"
    ),
    "ts <> '1969-12-31 23:59:59'": "ts <> CAST('1969-12-31 23:45:00' AS TIMESTAMP)",
    "week = DATE '2024-05-16'": "week = CAST('2024-05-13' AS DATE)",
    "ts > DATE '2024-03-31' - INTERVAL '1 month 1 second'": (
        "ts > CAST('2024-02-28 23:45:00' AS TIMESTAMP)"
    ),
    "DATE_TRUNC('hour', ts) = '2024-05-01 10:20:00'": (
        "DATE_TRUNC('HOUR', ts) = CAST('2024-05-01 10:00:00' AS TIMESTAMP)"
    ),
    "raw::date = '2024-05-01 10:20:00'": "CAST(raw AS DATE) = CAST('2024-05-01' AS DATE)",
    "n > 3 OR NOT (day < '2024-05-01T01:00:00' AND note = 'a''b')": (
        "n > 3 OR NOT (day < CAST('2024-05-01' AS DATE) AND note = 'a''b')"
    ),
}


@pytest.mark.parametrize("condition", SNAPPED)
def test_times_are_rounded_down_to_the_step_of_their_column(condition: str) -> None:
    assert where(condition) == SNAPPED[condition]


@pytest.mark.parametrize(
    "condition",
    [
        "n > 5",
        "note = '2024-05-01 10:00:01'",
        "ts >= '2024-05-01'",
        "ts >= TIMESTAMP '2024-05-01 10:15:00'",
        "tz >= '2024-05-01 10:00:00'",
        "day >= DATE '2024-05-01' - 3",
        "day IN ('2024-05-01', '2024-05-02')",
        "ts >= '2024-05-01' AND n = 17 -- a comment",
        # whose value is not known here
        "ts > now() - make_interval(days => 3)",
        "ts > now() AT TIME ZONE 'Europe/Berlin'",
        "ts > now() - INTERVAL '1.5 months'",
        "ts > TO_TIMESTAMP('2024-01-01', 'YYYY-MM-DD')",
        "ts > CAST('2024-01-01 00:00:00.7' AS TIMESTAMP(0))",
        "ts > '9999-12-31'::date + 1",
        "ts > 'yesterday'",
        "ts > '2024-13-01'",
        "ts > '2024-05-01X10:00:01'",
        "ts > '2024-05-01 10:00:01,5'",
        "ts > now() - INTERVAL '1.5' DAY",
        "ts > INTERVAL '1 day' + '2024-05-01 10:00:01'",
        # PostgreSQL ignores these offsets, and DuckDB does not
        "ts > '2024-05-01 10:00:01+05'",
        "ts > '2024-05-01 10:00:01+05'::timestamp",
        "day >= '2024-05-01 01:00:00+05'::date",
        # of another time zone
        "ts > DATE_TRUNC('day', now(), 'America/New_York')",
        "DATE_TRUNC('day', tz, 'America/New_York') = '2024-05-01 04:00:01'",
        "ts + INTERVAL '1 day' > '2024-05-01 10:00:01'",
        "who > now()",
        # no query at all
        "ts > ",
        "ts > now() ORDER",
    ],
)
def test_what_is_no_time_of_day_beside_a_column_comes_back_unchanged(condition: str) -> None:
    query = written(f"SELECT COUNT(*)  FROM events WHERE {condition}", None, "postgres")
    found = snapped(query, CATALOG, NOW)
    assert found.query is query
    assert found.changes == ()


def test_a_timestamp_without_a_step_is_reported_and_not_snapped() -> None:
    for condition in ("raw > NOW()", "raw BETWEEN '2024-05-01T10:00:11Z' AND '2024-05-02'"):
        query = written(f"SELECT COUNT(*) FROM events WHERE {condition}", None, "postgres")
        found = snapped(query, CATALOG, NOW)
        assert found == Snapped(query=query, without_step=("events.raw",))
    assert snap("SELECT COUNT(*) FROM events WHERE raw > '2024-05-01'").without_step == ()
    both = snap("SELECT COUNT(*) FROM events WHERE raw > now() AND ts > now()")
    assert both.without_step == ("events.raw",)
    assert both.query.text.endswith(
        "raw > CURRENT_TIMESTAMP AND ts > CAST('2024-05-16 10:30:00' AS TIMESTAMP)"
    )


def test_changes_say_what_was_written_and_what_stands_there_now() -> None:
    found = snap("SELECT COUNT(*) FROM events AS e WHERE e.day >= NOW() - INTERVAL '7 days'")
    assert found.changes == (
        SnappedTime(
            written="CURRENT_TIMESTAMP - INTERVAL '7 DAYS'",
            snapped="CAST('2024-05-09' AS DATE)",
            column="events.day",
        ),
    )


def test_the_clock_elsewhere_stays_and_is_rejected() -> None:
    found = snap("SELECT NOW() AS t, COUNT(*) FROM events WHERE ts > NOW()")
    assert found.query.text == (
        "SELECT CURRENT_TIMESTAMP AS t, COUNT(*) FROM events "
        "WHERE ts > CAST('2024-05-16 10:30:00' AS TIMESTAMP)"
    )


# --------------------------------------------------------------------------- names


STEPPED = "CAST('2024-05-16 10:30:00' AS TIMESTAMP)"
DAILY = "CAST('2024-05-16 00:00:00' AS TIMESTAMP)"


@pytest.mark.parametrize(
    ("sql", "literal"),
    [
        ("SELECT COUNT(*) FROM public.events WHERE events.ts > now()", STEPPED),
        ('SELECT COUNT(*) FROM "events" AS "e" WHERE "e"."ts" > now()', STEPPED),
        ("SELECT COUNT(*) FROM others AS events WHERE events.ts > now()", DAILY),
        ("SELECT COUNT(*) FROM events e JOIN others o ON e.who = o.who WHERE o.ts > now()", DAILY),
        ("SELECT COUNT(*) FROM (SELECT * FROM events) AS source WHERE source.ts > now()", STEPPED),
        ("SELECT COUNT(*) FROM (SELECT o.ts AS t FROM others o) s WHERE t > now()", DAILY),
        ("WITH e AS (SELECT ts FROM events) SELECT COUNT(*) FROM e WHERE ts > now()", STEPPED),
        (
            "WITH events AS (SELECT * FROM others) SELECT COUNT(*) FROM events WHERE ts > now()",
            DAILY,
        ),
        (
            "SELECT COUNT(*) FROM (SELECT who, DATE_TRUNC('day', ts) AS ts FROM events) s "
            "WHERE ts > now()",
            DAILY,
        ),
        (
            "SELECT DATE_TRUNC('hour', ts) AS ts, COUNT(*) FROM events WHERE ts > now() GROUP BY 1",
            STEPPED,
        ),
        (
            "SELECT COUNT(*) FROM others o WHERE EXISTS "
            "(SELECT 1 FROM events e WHERE e.who = o.who AND o.ts > now())",
            DAILY,
        ),
        ("SELECT COUNT(*) FILTER (WHERE ts > now()) FROM events", STEPPED),
        (
            "WITH events AS (SELECT ts FROM events) SELECT COUNT(*) FROM events WHERE ts > now()",
            STEPPED,
        ),
        (
            "WITH events AS (SELECT ts FROM events WHERE ts > now()) SELECT COUNT(*) FROM events",
            STEPPED,
        ),
        (
            "WITH e(a, b) AS (SELECT who, ts FROM others) SELECT COUNT(*) FROM e WHERE b > now()",
            DAILY,
        ),
        ("SELECT COUNT(*) FROM others AS o(a, b, c) WHERE b > now()", DAILY),
        (
            "SELECT COUNT(*) FROM (events e JOIN others o ON e.who = o.who) WHERE o.ts > now()",
            DAILY,
        ),
        (
            "SELECT COUNT(*) FROM (SELECT ts FROM others UNION ALL SELECT ts FROM others) u "
            "WHERE ts > now()",
            DAILY,
        ),
        (
            "SELECT COUNT(*) FROM events UNION ALL SELECT COUNT(*) FROM others WHERE ts > now()",
            DAILY,
        ),
    ],
)
def test_names_are_followed_to_the_column_of_the_catalog(sql: str, literal: str) -> None:
    text = snap(sql).query.text
    assert literal in text
    assert "CURRENT_TIMESTAMP" not in text


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM events e JOIN others o ON e.who = o.who WHERE ts > now()",
        "SELECT COUNT(*) FROM elsewhere WHERE ts > now()",
        "SELECT COUNT(*) FROM (SELECT MAX(ts) AS day FROM events GROUP BY who) s WHERE day > now()",
        "SELECT COUNT(*) FROM events WHERE nothing > now()",
        "SELECT COUNT(*) FROM (SELECT ts FROM events UNION ALL SELECT ts FROM others) u "
        "WHERE ts > now()",
        "SELECT note AS ts, COUNT(*) FROM events GROUP BY note HAVING ts > now()",
        # names that are those of texts
        "SELECT COUNT(*) FROM events AS e(who, note, tz, day, week, raw, n, ts) WHERE ts > now()",
        "SELECT COUNT(*) FROM (SELECT note, ts FROM events) AS q(ts, note) WHERE ts > now()",
        "WITH q(ts, note) AS (SELECT note, ts FROM events) SELECT COUNT(*) FROM q WHERE ts > now()",
        "WITH a AS (SELECT * FROM texts), texts AS (SELECT * FROM events) "
        "SELECT COUNT(*) FROM a WHERE ts > now()",
        "SELECT COUNT(*) FROM events WHERE EXISTS (SELECT 1 FROM (SELECT * FROM texts) q "
        "WHERE ts > now())",
        "SELECT COUNT(*) FROM events WHERE EXISTS (SELECT 1 FROM (texts JOIN texts b USING (who)) "
        "WHERE ts > now())",
        "SELECT COUNT(*) FROM events WHERE EXISTS (SELECT 1 FROM (VALUES ('a')) v(ts) "
        "WHERE ts > now())",
    ],
)
def test_names_that_may_mean_another_thing_are_left(sql: str) -> None:
    assert snap(sql).changes == ()


@pytest.mark.parametrize("columns", ["*", "ts"])
def test_names_in_many_queries_are_followed_in_little_time(columns: str) -> None:
    """Each reads the one before twice: there are 2^40 ways to the table."""
    queries = [f"c{n + 1} AS (SELECT {columns} FROM c{n} a, c{n} b)" for n in range(40)]
    sql = f"WITH c0 AS (SELECT ts FROM events), {', '.join(queries)} SELECT COUNT(*) FROM c40"
    assert snap(f"{sql} WHERE ts > now()").changes == ()
    deep = f"SELECT COUNT(*) FROM {'(SELECT * FROM ' * 300}events{') q' * 300} WHERE ts > now()"
    assert snap(deep).changes == ()


# --------------------------------------------------------------------------- parameters, dialects


@pytest.mark.parametrize(
    "value",
    [
        datetime(2024, 5, 1, 10, 7, 11, 5),
        datetime(2024, 5, 1, 12, 7, tzinfo=timezone(timedelta(hours=2))),
        "2024-05-01T10:07:11.123Z",
        "2024-05-01 10:00:00.5",
    ],
)
def test_values_of_placeholders_are_rounded_down_too(value: Any) -> None:
    found = snap("SELECT COUNT(*) FROM events WHERE ts > $1 AND n > $2", [value, 3])
    assert found.query == WrittenQuery(
        text="SELECT COUNT(*) FROM events WHERE ts > CAST('2024-05-01 10:00:00' AS TIMESTAMP) "
        "AND n > 3",
        dialect=SqlDialect.POSTGRES,
    )


def test_placeholders_stay_where_nothing_is_rounded() -> None:
    query = written("SELECT COUNT(*) FROM events WHERE day > $1", [date(2024, 5, 1)], "postgres")
    assert snapped(query, CATALOG, NOW).query is query
    short = written("SELECT COUNT(*) FROM events WHERE day > $1 AND n > $2", [1], "postgres")
    assert snapped(short, CATALOG, NOW).query is short


def test_other_dialects_are_snapped_in_their_own_words() -> None:
    assert where("ts > now() - INTERVAL 1 DAY", dialect=None) == (
        "ts > CAST('2024-05-15 10:30:00' AS TIMESTAMP)"
    )
    assert where("day >= today()", dialect="duckdb") == "day >= CAST('2024-05-16' AS DATE)"
    tokyo = "SELECT COUNT(*) FROM events WHERE day >= CURRENT_DATE('Asia/Tokyo')"
    assert snap(tokyo, dialect="bigquery").changes == ()
    clause = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1) COUNT(*) FROM events "
    assert snap(f"{clause} WHERE ts > CURRENT_TIMESTAMP()", dialect="bigquery").changes == ()


QUESTIONS = [
    each
    for each in ANSWERED
    if each.how.keys() <= {"dialect", "parameters"} and "OPTIONS" not in each.sql
]


@pytest.mark.parametrize(
    "question", [each for each in QUESTIONS if each.how.get("dialect") == "postgres"], ids=str
)
def test_a_query_that_is_written_anew_means_the_same(question: Any) -> None:
    """As all of it is, if one of its times is snapped."""
    query = written(question.sql, question.how.get("parameters"), "postgres")
    text = read_tree(query)[0].sql(dialect=class_of(SqlDialect.POSTGRES), comments=False)
    again = written(text, None, "postgres")
    here, public = clinic_catalog(), public_store()
    one, other = (check(parse(each, here), here, public) for each in (query, again))
    assert one.aggregations == other.aggregations
    assert one.columns == other.columns
    assert one.post_sql == other.post_sql


# --------------------------------------------------------------------------- refreshes


CONDITIONS = st.sampled_from(
    [
        "ts >= NOW() - INTERVAL '24 hours' AND ts < NOW()",
        "tz BETWEEN NOW() - INTERVAL '7 days' AND NOW()",
        "day >= CURRENT_DATE - 30",
        "week > NOW() - INTERVAL '3 months'",
        "CAST(raw AS DATE) = CURRENT_DATE",
        "ts BETWEEN $1 AND $1",
        "day = $1",
    ]
)
MOMENTS = st.datetimes(datetime(1980, 1, 1), datetime(2100, 1, 1)).map(
    lambda each: each.replace(tzinfo=UTC)
)


@settings(max_examples=80, deadline=None)
@given(CONDITIONS, MOMENTS, st.timedeltas(timedelta(0), timedelta(minutes=15)))
def test_a_refresh_within_a_step_is_the_same_query(
    condition: str, now: datetime, later: timedelta
) -> None:
    start = now - timedelta(
        minutes=now.minute % 15, seconds=now.second, microseconds=now.microsecond
    )
    later = min(later, timedelta(minutes=15) - timedelta(microseconds=1))
    texts = set()
    for moment in (start, start + later):
        parameters = [moment] if "$1" in condition else None
        texts.add(
            snap(
                f"SELECT COUNT(*) FROM events WHERE {condition}", parameters, now=moment
            ).query.text
        )
    assert len(texts) == 1
    assert "NOW" not in texts.pop()


@settings(max_examples=60, deadline=None)
@given(MOMENTS, st.text(max_size=20))
def test_texts_that_are_no_times_stay(now: datetime, text: str) -> None:
    escaped = text.replace("'", "''").replace("\x00", "")
    query = written(f"SELECT COUNT(*) FROM events WHERE note = '{escaped}'", None, "postgres")
    assert snapped(query, CATALOG, now).query is query


def test_a_snapped_refresh_is_free_and_one_that_is_not_is_rejected() -> None:
    moments = pa.array([datetime(2024, 5, 1), datetime(2024, 5, 16, 9)], pa.timestamp("us"))
    table = pa.table({"who": [1, 2], "ts": moments})
    sql = "SELECT COUNT(*) AS n FROM t WHERE ts >= NOW() - INTERVAL '1 day'"
    with discreet.open(table, name="t", unit="who", epsilon=1, step={"ts": "1 hour"}) as curator:
        with pytest.raises(NondeterministicError):
            curator.ask(sql, epsilon=0.5, dialect="postgres")
        answers = []
        for seconds in (0, 60):
            now = NOW + timedelta(seconds=seconds)
            query = snapped(written(sql, None, "postgres"), curator.catalog, now).query
            answers.append(curator.ask(query.text, epsilon=0.5, dialect="postgres"))
        assert [each.is_free for each in answers] == [False, True]
        assert answers[0].rows == answers[1].rows


def test_a_clock_without_a_time_zone_is_in_utc() -> None:
    node = read_tree(written("SELECT NOW()", None, "postgres"))[0].expressions[0]
    moment = moment_of(node, NOW.replace(tzinfo=None))
    assert moment is not None
    assert moment.value == NOW
