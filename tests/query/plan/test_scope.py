"""A release's scope names the units of every table that its queries read, and no others."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest
import sqlglot
from sqlglot import exp

import discreet
from discreet.catalog.schema import PrivateTable
from discreet.curator import Curator
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.writer import write_query
from discreet.query.plan import identity
from discreet.query.plan.identity import scope_of
from discreet.query.plan.plan import EpsilonTarget, PlannedRelease
from discreet.query.tree import Scan, UnitSemiJoin
from discreet.query.walk import Walk

PEOPLE = {"p": [1, 2, 3, 4], "x": [1, 2, 3, 4]}
TABLES: dict[str, Any] = {
    "Visits_23": {**PEOPLE, "visit": [10, 20, 30, 40]},
    "visits_24": {**PEOPLE, "visit": [50, 60, 70, 80]},
    "tests_23": {"visit": [10, 10, 20], "test": [1, 2, 3], "x": [1, 2, 3]},
    "parts_23": {"test": [1, 1], "x": [1, 2]},
    "people": PEOPLE,
    "places": {"k": [1, 2], "w": [5, 6]},
}
ENDS = {"tests_23": "visits_23", "parts_23": "visits_23"}
"""Where paths end: the units of these tables are those of others."""

QUESTIONS = {
    "SELECT COUNT(*) FROM visits_23": {"visits_23"},
    "SELECT COUNT(*) FROM VISITS_24": {"visits_24"},
    "SELECT COUNT(*) FROM tests_23": {"visits_23"},
    "SELECT COUNT(*) FROM parts_23": {"visits_23"},
    "SELECT COUNT(*) FROM visits_23 v JOIN places ON v.x = places.k": {"visits_23"},
    "SELECT COUNT(*) FROM visits_23 v JOIN people ON v.p = people.p": {"visits_23", "people"},
    "SELECT COUNT(*) FROM visits_23 v LEFT JOIN visits_24 w ON v.p = w.p": {
        "visits_23",
        "visits_24",
    },
    "SELECT COUNT(*) FROM people WHERE p IN (SELECT p FROM visits_24)": {"people", "visits_24"},
    "SELECT COUNT(*) FROM people WHERE p NOT IN (SELECT p FROM visits_24)": {
        "people",
        "visits_24",
    },
    "SELECT COUNT(*) FROM visits_23 v WHERE EXISTS "
    "(SELECT 1 FROM people q WHERE q.p = v.p AND q.x > v.x)": {"visits_23", "people"},
    "SELECT COUNT(*) FROM people WHERE x > 1 AND (x < 3 OR p IN "
    "(SELECT p FROM visits_23 WHERE p IN (SELECT p FROM visits_24)))": {
        "people",
        "visits_23",
        "visits_24",
    },
    "SELECT SUM(CASE WHEN p IN (SELECT p FROM visits_24) THEN 1 ELSE 0 END) FROM people": {
        "people",
        "visits_24",
    },
    "SELECT p IN (SELECT p FROM visits_24) AS k, COUNT(*) FROM people GROUP BY k": {
        "people",
        "visits_24",
    },
    "SELECT COUNT(*) FROM (SELECT p FROM visits_23 UNION ALL SELECT p FROM visits_24)": {
        "visits_23",
        "visits_24",
    },
    "SELECT COUNT(*) FROM (SELECT p, COUNT(*) AS n FROM visits_23 WHERE p IN "
    "(SELECT p FROM people) GROUP BY p) WHERE n > 1": {"visits_23", "people"},
    "WITH a AS (SELECT p, ROW_NUMBER() OVER (PARTITION BY p ORDER BY x) AS r FROM visits_24) "
    "SELECT COUNT(*) FROM a WHERE r = 1": {"visits_24"},
}


@pytest.fixture(scope="module", params=["once", "per-query"])
def curator(request: pytest.FixtureRequest) -> Iterator[Curator]:
    with discreet.open(
        {name: pa.table(columns) for name, columns in TABLES.items()},
        unit={
            "Visits_23": "p",
            "visits_24": "p",
            "tests_23": "Visits_23.p via visit",
            "parts_23": "tests_23.p via test",
            "people": "p",
        },
        public=["places"],
        epsilon=100,
        row_choice=request.param,
        disjoint=[["Visits_23", "visits_24"]],
    ) as opened:
        yield opened


def planned(curator: Curator, sql: str) -> tuple[PlannedRelease, ...]:
    return curator._planner.draft(sql, EpsilonTarget(1), curator.catalog).releases


def tables_read(release: PlannedRelease) -> set[str]:
    """Return whose units the engine's SQL reads: an oracle that knows nothing of our tree."""
    found = set()
    for query in release.queries:
        tree = sqlglot.parse_one(write_query(query, DUCKDB), dialect="duckdb")
        made = {each.alias_or_name.casefold() for each in tree.find_all(exp.CTE)}
        names = {each.name.casefold() for each in tree.find_all(exp.Table)} - made
        known = {name.casefold() for name in TABLES} - {"places"}
        found |= {ENDS.get(each, each) for each in known if any(each in name for name in names)}
    return found


@pytest.mark.parametrize("sql", QUESTIONS)
def test_a_scope_is_whose_units_the_engine_reads(curator: Curator, sql: str) -> None:
    (release,) = planned(curator, sql)
    assert scope_of(release) == frozenset(QUESTIONS[sql])
    assert tables_read(release) == QUESTIONS[sql]


def test_a_scope_that_forgets_the_rows_inside_exists_is_caught(
    curator: Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken twin: the walk stops before what IN and EXISTS look for the unit in."""
    plain = (*identity.PLAIN_VALUES, UnitSemiJoin)
    monkeypatch.setattr(identity, "_nodes", Walk(plain=plain, whole=(Scan, PrivateTable)))
    monkeypatch.setattr(identity, "_scans", identity._found_scans)
    monkeypatch.setattr(identity, "_tables", identity._found_tables)
    caught = [
        sql
        for sql in QUESTIONS
        for release in planned(curator, sql)
        if scope_of(release) != frozenset(tables_read(release))
    ]
    assert len(caught) >= 6


def test_every_release_of_a_question_has_its_own_scope(curator: Curator) -> None:
    sql = "SELECT COUNT(*) FROM visits_24 WHERE x > (SELECT AVG(x) FROM visits_23 WHERE x < 3)"
    with pytest.raises(discreet.errors.UnboundedError):
        planned(curator, sql)
    sql = "SELECT COUNT(*) FROM visits_24 WHERE x > (SELECT COUNT(*) FROM visits_23)"
    assert [scope_of(each) for each in planned(curator, sql)] == [
        frozenset({"visits_23"}),
        frozenset({"visits_24"}),
    ]


def test_each_partition_is_asked_for_the_whole_budget(curator: Curator) -> None:
    for table in ("visits_23", "visits_24", "tests_23"):
        sql = f"SELECT COUNT(*) FROM {table}"  # noqa: S608 - constants
        assert not curator.ask(sql, epsilon=50).from_ledger
    assert curator.remaining.epsilon == 0
    with pytest.raises(discreet.errors.BudgetError, match="for units of 'visits_23'"):
        curator.ask("SELECT COUNT(*) FROM people WHERE p IN (SELECT p FROM visits_23)", epsilon=1)
    curator.ask("SELECT COUNT(*) AS n FROM visits_24 WHERE x > 1", epsilon=50)
