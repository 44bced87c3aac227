"""Nothing that an analyst can write makes the engine fail only if somebody is there."""

import datetime as dt
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import discreet
from discreet.curator import Curator
from discreet.errors import (
    DiscreetError,
    NondeterministicError,
    QuestionSizeError,
    SqlSyntaxError,
    UnsupportedError,
)

DAYS = [dt.date(2024, 1, 1) + dt.timedelta(days=i) for i in range(60)]


def opened(*, victim: bool, tmp_path: Any) -> Curator:
    file = tmp_path / f"{victim}.duckdb"
    kept = "" if victim else "WHERE pid <> 7"
    with duckdb.connect(str(file)) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT * FROM (SELECT range % 12 AS pid, range AS x, "  # noqa: S608
            "340282366920938463463374607431768211400::UHUGEINT + (range % 9)::UHUGEINT AS big, "
            "repeat('p', 90) AS name, TIME '10:00:00' AS hour, 'ab'::BLOB AS photo, "
            f"[1, 2] AS list FROM range(60)) {kept}"
        )
    return discreet.open(file, unit="pid", bounds={"x": (0, 100)}, epsilon=1000)


GROWING = "replace(replace(replace(name, 'p', 'pppppppppp'), 'p', 'pppppppppp'), 'p', 'pppppppppp')"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM t WHERE pid = 7 AND big > -1",
        "SELECT COUNT(*) FROM t WHERE CASE WHEN pid = 7 THEN big ELSE 0 END > -1",
        "SELECT SUM(clamp(big, 0, 10)) FROM t WHERE pid = 7",
        "SELECT COUNT(*) FROM t WHERE coalesce(big, x) IN (1, 2, -3)",
        "SELECT COUNT(*) FROM (SELECT pid, big AS z FROM t WHERE pid = 7 "
        "UNION ALL SELECT pid, x FROM t) AS u WHERE z > 3",
        "SELECT COUNT(*) FROM (SELECT pid, hour AS z FROM t WHERE pid = 7 "
        "UNION ALL SELECT pid, photo FROM t) AS u WHERE z IS NULL",
        f"SELECT COUNT(*) FROM t WHERE pid = 7 AND length({GROWING}) > 3",  # noqa: S608
        "SELECT COUNT(*) FROM t WHERE pid = 7 AND " + " || ".join(["name"] * 90) + " > 'a'",  # noqa: S608
    ],
)
def test_a_question_fails_for_all_data_or_for_none(sql: str, tmp_path: Any) -> None:
    told: list[Any] = []
    for victim in (True, False):
        with opened(victim=victim, tmp_path=tmp_path) as curator:
            try:
                told.append(("answered", curator.ask(sql, epsilon=1).columns))
            except DiscreetError as refusal:
                told.append((type(refusal).__name__, str(refusal)))
            told.append(curator.remaining)
    assert told[:2] == told[2:]
    assert told[0][0] != "EngineError"


VISITS = pa.table(
    {
        "pid": [i % 40 for i in range(400)],
        "age": [i % 90 for i in range(400)],
        "region": ["n", "s"] * 200,
        "day": [DAYS[i % 60] for i in range(400)],
    }
)
PLACES = pa.table({"region": ["n", "s"], "day": [DAYS[30]] * 2})


@pytest.fixture(scope="module")
def visits() -> Curator:
    return discreet.open(
        {"visits": VISITS, "places": PLACES},
        unit="pid",
        public=["places"],
        rows_per_unit=10,
        bounds={"visits.age": (0, 100)},
        values={"visits.region": ["n", "s"]},
        epsilon=10**6,
    )


@pytest.mark.parametrize(
    ("sql", "error"),
    [
        (
            "SELECT COUNT(*) FROM (SELECT DISTINCT COUNT(*) AS c FROM visits GROUP BY pid) AS t",
            UnsupportedError,
        ),
        ("SELECT COUNT(*) FROM (SELECT pid FROM visits HAVING age > 50) AS t", UnsupportedError),
        (
            "SELECT COUNT(*) FROM (SELECT pid, COUNT(*) OVER (PARTITION BY pid ORDER BY day ROWS "
            "BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW) AS c FROM visits) t",
            UnsupportedError,
        ),
        (
            "SELECT MAX(m) FROM (SELECT pid, MEDIAN(day) AS m FROM visits GROUP BY pid) AS t",
            UnsupportedError,
        ),
        ("SELECT COLUMNS(*) FROM places", UnsupportedError),
        ("SELECT COUNT(*) FROM visits WHERE age > (SELECT random() * 9)", NondeterministicError),
        ("SELECT COUNT(*) FROM visits WHERE age > (SELECT len(range(3)))", UnsupportedError),
        ("SELECT len(range(CAST(COUNT(*) AS BIGINT))) FROM visits", UnsupportedError),
        ("SELECT lpad('x', 500000000, 'y'), COUNT(*) FROM visits", UnsupportedError),
        ("SELECT COUNT(*) FROM visits WHERE region = '\ud800'", SqlSyntaxError),
        ("SELECT COUNT(*) FROM visits AS __rows", UnsupportedError),
        (
            "SELECT COUNT(*) FROM (SELECT pid, age AS a0, "  # noqa: S608
            + ", ".join(f"a{i} + a{i} AS a{i + 1}" for i in range(20))
            + " FROM visits) AS t WHERE a20 > 3",
            QuestionSizeError,
        ),
    ],
)
def test_what_is_not_handled_is_refused_and_never_ignored(
    visits: Curator, sql: str, error: type[DiscreetError]
) -> None:
    before = visits.remaining
    with pytest.raises(error):
        visits.ask(sql, epsilon=1)
    assert visits.remaining == before


def test_an_inner_alias_does_not_take_the_place_of_the_outer_rows(visits: Curator) -> None:
    sql = (
        "SELECT SUM(CASE WHEN EXISTS (SELECT 1 FROM visits {0} WHERE {0}.pid = v.pid "
        "AND {0}.age < v.age) THEN 1 ELSE 0 END) AS n FROM visits AS v"
    )
    rows, other = (visits.ask(sql.format(name), epsilon=99).rows[0]["n"] for name in ("rows", "w"))
    assert rows == other


def test_a_public_date_can_be_compared_with(visits: Curator) -> None:
    sql = "SELECT COUNT(*) AS n FROM visits WHERE day > (SELECT MAX(day) FROM places)"
    assert visits.ask(sql, epsilon=99).rows[0]["n"] == pytest.approx(
        sum(DAYS[i % 60] > DAYS[30] for i in range(400)), abs=3
    )


def test_contradicting_conditions_leave_no_group(visits: Curator) -> None:
    sql = (
        "SELECT region, COUNT(DISTINCT pid) FROM visits "
        "WHERE region = 'n' AND region = 's' GROUP BY region"
    )
    assert visits.ask(sql, epsilon=1).rows == []


# --------------------------------------------------------------------------- statistics

PEOPLE = 500
PARTNERS = {
    "themselves": "t LEFT JOIN t b ON t.u = b.u AND b.k > 100",
    "a public table that matches nothing": "t LEFT JOIN public b ON t.k = b.k AND b.k > 100",
}


def sick(person: int) -> Curator:
    """Return a curator of a thousand rows in which one person, or nobody, has the property."""
    unit = [i // 2 for i in range(2 * PEOPLE)]
    private = pa.table(
        {
            "u": unit,
            "x": [float(i * 37 % 101 - 10) for i in range(2 * PEOPLE)],
            "k": [i * 7 % 20 for i in range(2 * PEOPLE)],
            "hiv": [int(each == person) for each in unit],
        }
    )
    return discreet.open(
        {"t": private, "public": pa.table({"k": list(range(20))})},
        unit={"t": "u"},
        public=["public"],
        rows_per_unit={"t": 2},
        bounds={"t.x": (-10, 90)},
        values={"t.k": list(range(20))},
        epsilon=10,
        delta=1e-6,
    )


@pytest.mark.parametrize("partner", PARTNERS)
@pytest.mark.parametrize("choice", ["once", "per-query"])
def test_a_join_that_statistics_prove_empty_fails_for_nobody(partner: str, choice: str) -> None:
    """The engine narrowed a sum by statistics, and failed if and only if the person had it."""
    sql = (
        "SELECT b.k, AVG(clamp(t.x, -5, 95)) FROM "  # noqa: S608
        f"{PARTNERS[partner]} WHERE CASE WHEN t.u = 7 THEN t.hiv = 1 ELSE FALSE END GROUP BY b.k"
    )
    seen: list[Any] = []
    for person in (7, -1):
        with sick(person) as curator:
            seen.append(curator.ask(sql, epsilon=0.001, row_choice=choice).columns)
            seen.append(curator.remaining)
    assert seen[:2] == seen[2:]
