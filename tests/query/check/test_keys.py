"""Which groups are declared: those that WHERE leaves, and the steps of times and bounded reals."""

# ruff: noqa: S608 - this file writes questions

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from math import inf, nextafter
from typing import Any

import duckdb
import pyarrow as pa
import pytest

import discreet
from discreet.curator import Curator
from discreet.query.expressions.formats import DAYS
from discreet.query.questions import DeclaredGroups, UndeclaredGroups
from tests.attacks.clinic import spread
from tests.attacks.plans import plan_of

PLANES, FLIGHTS = 40, 400
ORIGINS = ("EWR", "LGA", "JFK")
CARRIERS = ("AA", "B6", "DL", "UA")
LOW, HIGH = datetime(2013, 1, 1), datetime(2013, 12, 31, 23, 59)


def flight(number: int) -> dict[str, Any]:
    """Return a flight of 2013, as in the well-known table of flights from New York."""
    moment = LOW + timedelta(minutes=spread(number, 525_600))
    return {
        "tailnum": f"N{spread(number, PLANES)}",
        "carrier": CARRIERS[spread(number + 1, 4)],
        "origin": ORIGINS[spread(number + 2, 3)],
        "dest_id": 1 + spread(number + 3, 6),
        "day": moment.date(),
        "departed": moment,
        "departed_utc": moment.replace(tzinfo=UTC),
        "delay": spread(number + 4, 13_000) / 100 - 30,
        "seats": spread(number + 5, 5),
        "miles": spread(number + 6, 4_000_000),
        "gate": None if number % 9 == 0 else number % 3,
    }


AIRPORTS = pa.table(
    {
        "airport_id": [1, 2, 3, 4, 5, 6, 7],
        "name": ["Tokyo", "Delhi", "Rome", "Oslo", "Lima", "Quito", "Nowhere"],
        "nation_id": [10, 11, 20, 21, 30, 31, None],
        "height": [6.0, 237.0, 5.0, 208.0, 34.0, 2400.0, None],
    }
)
NATIONS = pa.table(
    {
        "nation_id": [10, 11, 20, 21, 30, 31],
        "nation": ["Japan", "India", "Italy", "Norway", "Peru", "Ecuador"],
        "continent_id": [1, 1, 2, 2, 3, 3],
    }
)
CONTINENTS = pa.table({"continent_id": [1, 2, 3], "continent": ["ASIA", "EUROPE", "AMERICA"]})


@pytest.fixture(scope="module")
def flights() -> Iterator[Curator]:
    rows = pa.Table.from_pylist([flight(number) for number in range(FLIGHTS)])
    with discreet.open(
        {"flights": rows, "airports": AIRPORTS, "nations": NATIONS, "continents": CONTINENTS},
        unit={"flights": "tailnum"},
        rows_per_unit={"flights": 30},
        public=["airports", "nations", "continents"],
        bounds={
            "flights.seats": (0, 4),
            "flights.day": ("2013-01-01", "2013-12-31"),
            "flights.departed": (LOW.isoformat(), HIGH.isoformat()),
            "flights.departed_utc": (LOW.isoformat(), HIGH.isoformat()),
            "flights.delay": (-30, 100),
            "flights.miles": (0, 3_999_999),
            "flights.gate": (0, 2),
        },
        values={"flights.carrier": list(CARRIERS), "flights.origin": list(ORIGINS)},
        nulls={"flights.gate": True},
        epsilon=10**6,
        delta=1e-4,
    ) as curator:
        yield curator


def groups(curator: Curator, sql: str) -> list[Any] | None:
    """Return the declared groups of a question, single keys without their tuples."""
    (release,) = plan_of(curator, sql).question.aggregations
    if isinstance(release.groups, UndeclaredGroups):
        return None
    assert isinstance(release.groups, DeclaredGroups)
    return [row[0] if len(row) == 1 else row for row in release.groups.rows]


# --------------------------------------------------------------------------- what WHERE excludes

JOINED = (
    "flights f JOIN airports a ON f.dest_id = a.airport_id JOIN nations n USING (nation_id) "
    "JOIN continents c ON n.continent_id = c.continent_id"
)

LEFT = [
    ("seats", "flights WHERE seats > 0", [1, 2, 3, 4]),
    ("seats", "flights WHERE seats <> 2", [0, 1, 3, 4]),
    ("seats", "flights WHERE seats NOT IN (0, 4)", [1, 2, 3]),
    ("seats", "flights WHERE seats % 2 = 1", [1, 3]),
    ("seats", "flights WHERE seats BETWEEN 1 AND 2 OR seats = 4", [1, 2, 4]),
    ("seats", "flights WHERE NOT (seats < 3)", [3, 4]),
    ("seats", "flights WHERE CASE WHEN seats = 0 THEN FALSE ELSE seats < 2 END", [1]),
    ("seats", "flights WHERE seats / 0 > 1", []),
    ("seats", "flights WHERE seats > 0 AND delay > 5", [1, 2, 3, 4]),
    ("seats", "flights WHERE seats > 0 OR delay > 5", [0, 1, 2, 3, 4]),
    ("seats", "flights WHERE 1 = 0", []),
    ("seats", "(SELECT seats, delay FROM flights WHERE seats > 2)", [3, 4]),
    ("s", "(SELECT seats + 1 AS s FROM flights WHERE seats + 1 < 3)", [1, 2]),
    ("seats", "(SELECT * FROM flights WHERE seats > 2) WHERE seats < 4", [3]),
    ("carrier", "flights WHERE carrier LIKE '%A'", ["AA", "UA"]),
    ("carrier", "flights WHERE carrier >= 'B' AND carrier <> 'DL'", ["B6", "UA"]),
    ("carrier", "flights WHERE lower(carrier) IN ('aa', 'dl')", ["AA", "DL"]),
    ("lower(origin)", "flights WHERE origin <> 'JFK'", ["ewr", "lga"]),
    ("gate", "flights", [0, 1, 2, None]),
    ("gate", "flights WHERE gate <> 1", [0, 2]),
    ("gate", "flights WHERE gate IS NULL OR gate = 1", [None, 1]),
    ("gate", "flights WHERE coalesce(gate, 9) > 1", [2, None]),
    (
        "carrier, seats",
        "flights WHERE carrier = 'AA' AND seats < 1 OR carrier = 'UA' AND seats > 3",
        [("AA", 0), ("UA", 4)],
    ),
    ("day", "flights WHERE day < '2013-01-03'", [date(2013, 1, 1), date(2013, 1, 2)]),
    ("month(day)", "flights WHERE day >= '2013-11-15' AND day <> '2013-12-24'", [11, 12]),
    ("month(day) AS m", "flights WHERE m BETWEEN 2 AND 4 AND m <> 3", [2, 4]),
    ("year(departed)", "flights WHERE departed < '2014-01-01'", [2013]),
    ("month(departed)", "flights WHERE departed < '2013-03-01'", [1, 2]),
    ("hour(departed) AS h", "flights WHERE h < 3", [0, 1, 2]),
    ("n.nation", f"{JOINED} WHERE c.continent = 'ASIA'", ["India", "Japan"]),
    ("a.name", f"{JOINED} WHERE c.continent <> 'ASIA' AND a.height < 40", ["Lima", "Rome"]),
    (
        "c.continent, n.nation",
        f"{JOINED} WHERE a.height > 200",
        [("AMERICA", "Ecuador"), ("ASIA", "India"), ("EUROPE", "Norway")],
    ),
    ("n.nation", f"{JOINED} WHERE f.dest_id IN (1, 5)", ["Japan", "Peru"]),
    (
        "a.name",
        "airports a, flights f WHERE f.dest_id = a.airport_id AND a.height > 230",
        ["Delhi", "Quito"],
    ),
    (
        "a.name",
        "flights f JOIN airports a ON f.dest_id = a.airport_id AND a.name LIKE '%o'",
        ["Oslo", "Quito", "Tokyo"],
    ),
    (
        "a.name",
        "flights f LEFT JOIN airports a ON f.dest_id = a.airport_id WHERE a.height > 230",
        ["Delhi", "Quito"],
    ),
    (
        "a.name",
        "flights f LEFT JOIN airports a ON f.dest_id = a.airport_id"
        " WHERE a.height IS NULL OR a.height > 2000",
        ["Nowhere", "Quito", None],
    ),
    (
        "seats, a.name",
        "flights f JOIN airports a ON f.seats = a.airport_id AND f.seats = f.dest_id",
        [(1, "Tokyo"), (2, "Delhi"), (3, "Rome"), (4, "Oslo")],
    ),
    (
        "CASE WHEN delay > 15 THEN 'late' ELSE 'in time' END",
        "flights WHERE delay > 20",
        ["late"],
    ),
    ("delay > 15", "flights WHERE delay <= 15", [False]),
    ("delay > 15", "flights WHERE delay + seats <= 15", [False, True]),
]


@pytest.mark.parametrize(("key", "rows", "expected"), LEFT, ids=lambda each: str(each)[:60])
def test_groups_that_conditions_exclude_are_not_shown(
    flights: Curator, key: str, rows: str, expected: list[Any]
) -> None:
    assert groups(flights, f"SELECT {key}, COUNT(*) FROM {rows} GROUP BY ALL") == expected


def test_an_answer_has_no_noise_for_what_where_excludes(flights: Curator) -> None:
    sql = f"SELECT n.nation, COUNT(*) AS n FROM {JOINED} WHERE c.continent = 'ASIA' GROUP BY 1"
    rows = flights.ask(sql, epsilon=1000).rows
    true = [flight(number)["dest_id"] for number in range(FLIGHTS)]
    assert [row["nation"] for row in rows] == ["India", "Japan"]
    assert [row["n"] for row in rows] == pytest.approx([true.count(2), true.count(1)], abs=5)


@pytest.mark.parametrize(
    "where",
    ["seats >= 0", "delay > 3", "seats IN (0, 1, 2, 3, 4)", "carrier = 'AA'", "seats < 5 OR TRUE"],
)
def test_groups_stay_as_they_are_if_nothing_is_excluded(flights: Curator, where: str) -> None:
    """So what was paid for stays free: the groups are part of a release's name."""
    sql = "SELECT seats, COUNT(*) FROM flights {} GROUP BY seats"
    assert groups(flights, sql.format(f"WHERE {where}")) == groups(flights, sql.format(""))


def test_keys_that_depend_on_noisy_results_are_not_tried(flights: Curator) -> None:
    key = "CASE WHEN seats > (SELECT AVG(seats) FROM flights) THEN 'many' ELSE 'few' END"
    sql = f"SELECT {key}, COUNT(*) FROM flights WHERE seats > 3 GROUP BY 1"
    *_, release = plan_of(flights, sql).question.aggregations
    assert isinstance(release.groups, DeclaredGroups)
    assert release.groups.rows == (("many",), ("few",))


def test_groups_keep_their_declared_order(flights: Curator) -> None:
    sql = "SELECT origin, carrier, COUNT(*) FROM flights WHERE origin <> 'LGA' GROUP BY ALL"
    assert groups(flights, sql) == [(o, c) for o in ("EWR", "JFK") for c in CARRIERS]


def test_conditions_that_would_join_too_much_are_not_looked_at() -> None:
    """Two tables of 2,000 rows without an equality have 4 million rows together."""
    size = 2000
    many = pa.table({"k": list(range(size)), "v": [n % 7 for n in range(size)]})
    people = pa.table({"u": list(range(50)), "q": [n % 3 for n in range(50)]})
    with discreet.open(
        {"people": people, "a": many, "b": many},
        unit={"people": "u"},
        rows_per_unit={"people": 1},
        bounds={"people.q": (0, 2)},
        public=["a", "b"],
        epsilon=1,
    ) as curator:
        sql = (
            "SELECT q, COUNT(*) FROM people JOIN a ON u >= a.k JOIN b ON u <= b.k "
            "WHERE a.v + q < b.v - 6 AND q <> 1 GROUP BY q"
        )
        assert groups(curator, sql) == [0, 2]


# --------------------------------------------------------------------------- steps

MONTHS = [datetime(2013, month, 1) for month in range(1, 13)]

STEPS: list[tuple[str, list[Any]]] = [
    ("DATE_TRUNC('month', departed)", MONTHS),
    ("DATE_TRUNC('month', departed_utc)", [each.replace(tzinfo=UTC) for each in MONTHS]),
    ("DATE_TRUNC('quarter', departed)", MONTHS[::3]),
    ("departed::DATE", [date(2013, 1, 1) + timedelta(n) for n in range(365)]),
    ("month(departed)", list(range(1, 13))),
    ("year(departed) * 100 + month(departed)", list(range(201301, 201313))),
    ("STRFTIME(departed, '%Y-%m')", [f"2013-{month:02d}" for month in range(1, 13)]),
    ("date_diff('month', TIMESTAMP '2012-12-31 00:00:00', departed)", list(range(1, 13))),
    ("FLOOR(delay / 10) * 10", [float(n) for n in range(-30, 101, 10)]),
    ("CEIL(delay / 50)", [0.0, 1.0, 2.0]),
    ("ROUND(delay, -2)", [0.0, 100.0]),
    ("CAST(delay / 20 AS INTEGER)", list(range(-2, 6))),
    ("TRUNC(delay / 20)", [float(n) for n in range(-1, 6)]),
    ("SIGN(delay)", [-1, 0, 1]),
    ("WIDTH_BUCKET(delay, 0, 90, 3)", [0, 1, 2, 3, 4]),
    ("FLOOR(CLAMP(delay, 0, 29) / 10)", [0.0, 1.0, 2.0]),
    ("FLOOR(ABS(delay) / 50)", [0.0, 1.0, 2.0]),
    ("FLOOR(-delay / 50)", [-2.0, -1.0, 0.0]),
    ("miles // 1000000", [0, 1, 2, 3]),
    (
        "FLOOR(delay / 50), delay > 20",
        [(-1.0, False), (0.0, False), (0.0, True), (1.0, True), (2.0, True)],
    ),
    ("dayname(departed)", sorted(DAYS)),
    ("hour(departed) // 6", [0, 1, 2, 3]),
]


@pytest.mark.parametrize(("key", "expected"), STEPS)
def test_steps_of_times_and_bounded_reals_are_groups(
    flights: Curator, key: str, expected: list[Any]
) -> None:
    assert groups(flights, f"SELECT {key}, COUNT(*) FROM flights GROUP BY ALL") == expected


@pytest.mark.parametrize(
    ("key", "where", "expected"),
    [
        ("FLOOR(delay / 10)", "delay < 10 AND delay >= -10", [-1.0, 0.0]),
        ("FLOOR(delay / 10)", "delay <= 10 AND delay > 0", [0.0, 1.0]),
        ("FLOOR(delay / 10)", "FLOOR(delay / 10) IN (2, 3)", [2.0, 3.0]),
        ("FLOOR(delay / 10)", "delay = 25 OR delay > 95", [2.0, 9.0, 10.0]),
        ("departed::DATE", "departed < '2013-01-02'", [date(2013, 1, 1)]),
        ("departed::DATE", "departed <= '2013-01-02'", [date(2013, 1, n) for n in (1, 2)]),
        ("departed::DATE AS d", "d < '2013-01-03'", [date(2013, 1, n) for n in (1, 2)]),
        ("hour(departed)", "departed < '2013-01-01 02:00:00'", [0, 1]),
        ("DATE_TRUNC('month', departed)", "quarter(departed) = 2", MONTHS[3:6]),
        ("STRFTIME(departed, '%b')", "month(departed) < 3", ["Feb", "Jan"]),
    ],
)
def test_conditions_narrow_steps(
    flights: Curator, key: str, where: str, expected: list[Any]
) -> None:
    sql = f"SELECT {key}, COUNT(*) FROM flights WHERE {where} GROUP BY ALL"
    assert groups(flights, sql) == expected


@pytest.mark.parametrize(
    "key",
    ["delay", "delay * 2", "departed", "FLOOR(delay * seats)", "SQRT(delay)", "FLOOR(delay * 1e9)"],
)
def test_what_has_too_many_values_is_no_declared_group(flights: Curator, key: str) -> None:
    assert groups(flights, f"SELECT {key}, COUNT(*) FROM flights GROUP BY 1") is None


SAMPLED = [
    "FLOOR(x / {c})",
    "FLOOR(x * {c}) / {c}",
    "ROUND(x, 1)",
    "ROUND(x / {c}, 0)",
    "CAST(x / {c} AS INTEGER)",
    "TRUNC(x, 1)",
    "CEIL((x - {c}) / 3)",
    "FLOOR((x + 0.1) / 0.3)",
]


@pytest.mark.parametrize("form", SAMPLED)
@pytest.mark.parametrize("c", ["0.1", "0.7", "3"])
def test_steps_are_those_that_floating_point_has(form: str, c: str) -> None:
    """All values of a dense sample, bounds and their neighbours included, and no others."""
    low, high = -2.3, 4.35
    key = form.format(c=c)
    people = pa.table({"u": [1], "x": [0.0]})
    with discreet.open(
        {"people": people}, unit={"people": "u"}, bounds={"people.x": (low, high)}, epsilon=1
    ) as curator:
        found = groups(curator, f"SELECT {key}, COUNT(*) FROM people GROUP BY 1")
    points = [low + n * (high - low) / 20_000 for n in range(1, 20_000)]
    points += [n / 100 for n in range(-230, 436)] + [low, high]
    points += [nextafter(each, side) for each in points[-668:] for side in (-inf, inf)]
    sample = pa.table({"x": [each for each in points if low <= each <= high]})
    with duckdb.connect() as connection:
        connection.register("sample", sample)
        wanted = connection.sql(f"SELECT DISTINCT {key} + 0 FROM sample ORDER BY 1").fetchall()
    assert found == [value for (value,) in wanted]


def test_rows_outside_the_steps_are_said_to_be_left_out(flights: Curator) -> None:
    told = flights.explain("SELECT FLOOR(delay / 10), COUNT(*) FROM flights GROUP BY 1", epsilon=1)
    assert "Rows where FLOOR(delay / 10) is NULL or not a declared value." in told.to_text()
