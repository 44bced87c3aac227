"""Which months a query is charged to follows from its conditions on the arrival column alone."""

# ruff: noqa: E501, S608 - texts are ours, and easier to read on one line

from contextlib import closing
from datetime import datetime

import pyarrow as pa
import pytest

import discreet
from discreet.curator import Curator
from discreet.errors import DiscreetError, UnsupportedError
from discreet.query.plan.identity import months_read
from discreet.query.plan.plan import EpsilonTarget

VISITS = pa.table(
    {
        "who": [1, 1, 2],
        "came": pa.array([datetime(2024, 1, n) for n in (1, 2, 3)], pa.timestamp("us")),
        "day": pa.array([datetime(2024, 1, n) for n in (1, 2, 3)], pa.timestamp("us")).cast(
            pa.date32()
        ),
        "x": [1, 2, 3],
    }
)
PEOPLE = pa.table({"who": [1, 2], "x": [1, 2]})
AREAS = pa.table({"x": [1, 2], "area": ["a", "b"]})


@pytest.fixture(scope="module", name="curator")
def _curator() -> Curator:
    return discreet.open(
        {"visits": VISITS, "people": PEOPLE, "areas": AREAS},
        epsilon=1,
        delta=1e-6,
        unit={"visits": "who", "people": "who"},
        public=["areas"],
        arrival={"visits": "came"},
        per="month",
        bounds={"visits.x": (0, 9), "people.x": (0, 9)},
    )


def charged(curator: Curator, sql: str) -> list[str]:
    plan = curator._planner.draft(sql, EpsilonTarget(1), curator.catalog)
    return [str(months_read(each)) for each in plan.releases]


FEBRUARY = "came >= DATE '2024-02-01' AND came < DATE '2024-03-01'"
CONDITIONS = {
    FEBRUARY: "2024-02",
    "came >= DATE '2024-02-01' AND came <= DATE '2024-03-01'": "2024-02 to 2024-03",
    "came BETWEEN TIMESTAMP '2024-02-01' AND TIMESTAMP '2024-02-29 23:59:59.999999'": "2024-02",
    "came > TIMESTAMP '2024-01-31 23:59:59.999999' AND came < '2024-03-01'": "2024-02",
    "came >= DATE '2024-02-01'": "2024-02 and every later month",
    "came < DATE '2024-02-01'": "every month up to 2024-01",
    "x > 2": "every month",
    f"x > 2 AND ({FEBRUARY})": "2024-02",
    f"({FEBRUARY}) OR came = DATE '2024-05-05'": "2024-02 to 2024-05",
    f"({FEBRUARY}) OR x = 3": "every month",
    "NOT (came < DATE '2024-02-01' OR came >= DATE '2024-03-01')": "2024-02",
    "came IN (DATE '2024-02-03', DATE '2024-04-05')": "2024-02 to 2024-04",
    "day >= DATE '2024-02-01' AND day < DATE '2024-03-01'": "every month",
    "came >= DATE '2024-03-01' AND came < DATE '2024-02-01'": "2024-03",
}


@pytest.mark.parametrize("where", CONDITIONS)
def test_months_follow_from_conditions_on_the_arrival_column(curator: Curator, where: str) -> None:
    assert charged(curator, f"SELECT COUNT(*) FROM visits WHERE {where}") == [CONDITIONS[where]]


SHAPES = {
    f"SELECT SUM(x) FROM (SELECT x, came AS c FROM visits) WHERE {FEBRUARY.replace('came', 'c')}": "2024-02",
    f"SELECT area, COUNT(*) FROM visits JOIN areas USING (x) WHERE {FEBRUARY} GROUP BY area": "2024-02",
    f"SELECT COUNT(*) FROM (SELECT x FROM visits WHERE {FEBRUARY} UNION ALL SELECT x FROM visits "
    "WHERE came >= DATE '2024-05-01' AND came < DATE '2024-06-01')": "2024-02, 2024-05",
    f"SELECT COUNT(*) FROM (SELECT x FROM visits WHERE {FEBRUARY} UNION ALL SELECT x FROM visits)": "every month",
    f"WITH v AS (SELECT * FROM visits WHERE {FEBRUARY}) SELECT AVG(x) FROM v": "2024-02",
    "SELECT COUNT(*) FROM people": "None",
    f"SELECT COUNT(DISTINCT who) FROM visits WHERE {FEBRUARY}": "2024-02",
    f"SELECT COUNT(*) FROM visits a JOIN visits b ON a.who = b.who WHERE "
    f"{FEBRUARY.replace('came', 'a.came')} AND {FEBRUARY.replace('came', 'b.came')}": "2024-02",
    f"WITH v AS (SELECT * FROM visits WHERE {FEBRUARY}) SELECT COUNT(*) FROM v a JOIN v b ON a.who = b.who": "2024-02",
    f"SELECT COUNT(*) FROM (SELECT who, ROW_NUMBER() OVER (PARTITION BY who ORDER BY x) AS n FROM visits WHERE {FEBRUARY}) WHERE n = 1": "2024-02",
}


@pytest.mark.parametrize("sql", SHAPES)
def test_months_are_found_wherever_the_condition_is(curator: Curator, sql: str) -> None:
    assert charged(curator, sql) == [SHAPES[sql]]


TWO = "came >= DATE '2024-02-01' AND came < DATE '2024-04-01'"
OVER_SEVERAL = {
    f"SELECT COUNT(DISTINCT who) FROM visits WHERE {TWO}": "Counting privacy units",
    "SELECT COUNT(DISTINCT who) FROM visits": "Counting privacy units",
    f"SELECT AVG(n) FROM (SELECT LEAST(COUNT(*), 5) AS n FROM visits WHERE {TWO} GROUP BY who)": "GROUP BY on the unit",
    f"SELECT COUNT(*) FROM visits WHERE {FEBRUARY} AND who IN (SELECT who FROM visits)": "IN or EXISTS on the unit",
    f"SELECT COUNT(*) FROM visits a JOIN visits b ON a.who = b.who WHERE {TWO.replace('came', 'a.came')}": "A join on the unit",
    f"SELECT COUNT(*) FROM (SELECT LAG(x) OVER (PARTITION BY who ORDER BY came) AS p FROM visits WHERE {TWO}) WHERE p = 1": "A window over rows of a unit",
}


@pytest.mark.parametrize("sql", OVER_SEVERAL)
def test_what_needs_all_rows_of_a_unit_must_be_about_one_month(curator: Curator, sql: str) -> None:
    fix = r"Ask month by month, for example with came >= DATE '\d{4}-\d\d-01' AND came < "
    with pytest.raises(UnsupportedError, match=f"{OVER_SEVERAL[sql]} needs.*one month. {fix}"):
        charged(curator, sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM visits v JOIN people p ON v.who = p.who",
        "SELECT COUNT(*) FROM visits WHERE who IN (SELECT who FROM people)",
        f"SELECT COUNT(*) FROM people WHERE EXISTS (SELECT 1 FROM visits v WHERE v.who = people.who AND {FEBRUARY})",
        "SELECT COUNT(*) FROM (SELECT x FROM visits UNION ALL SELECT x FROM people)",
    ],
)
def test_tables_with_and_without_months_are_not_used_together(curator: Curator, sql: str) -> None:
    with pytest.raises(UnsupportedError, match="has no months, so the two cannot be used together"):
        charged(curator, sql)


def test_conditions_on_rows_with_a_zone_are_in_utc() -> None:
    zoned = VISITS.set_column(1, "came", VISITS["came"].cast(pa.timestamp("us", tz="UTC")))
    opened = discreet.open(
        {"visits": zoned}, epsilon=1, unit="who", arrival="came", per="month", name=None
    )
    with closing(opened) as curator:
        sql = "SELECT COUNT(*) FROM visits WHERE came >= '2024-02-01 00:00:00+02:00' AND came < '2024-03-01 00:00:00+00:00'"
        assert charged(curator, sql) == ["2024-01 to 2024-02"]


def test_no_query_about_months_says_anything_of_the_data(curator: Curator) -> None:
    """Months that no row has are charged and listed like any other."""
    sql = "SELECT COUNT(*) FROM visits WHERE came >= DATE '1800-01-01' AND came < DATE '1800-02-01'"
    assert charged(curator, sql) == ["1800-01"]
    try:
        curator.ask(sql, epsilon=0.5)
    except DiscreetError:
        pytest.fail("a month without rows was rejected")
    assert list(curator.remaining_by_month()) == ["before 1800-01", "1800-01", "from 1800-02"]
