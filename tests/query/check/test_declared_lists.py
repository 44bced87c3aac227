"""Declared groups are listed for free: nothing is released, charged or read."""

from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from discreet.answer import Role
from discreet.curator import Curator
from discreet.engines.public_store import rows_of
from discreet.errors import DiscreetError
from discreet.query.check import check
from discreet.query.parse import parse
from discreet.query.questions import DeclaredGroups
from tests.attacks.twins import Twin, twins
from tests.attacks.watched import Watched, watch
from tests.curated import transactions
from tests.forms.held import held
from tests.properties.databases import catalog, public_store
from tests.properties.questions import Drawn, questions


@pytest.fixture(scope="module")
def watched() -> Iterator[tuple[Curator, Watched]]:
    with held("prepared") as curator:
        yield curator, watch(curator)


REGIONS = ["north", "south", "east", "west"]

LISTED: dict[str, list[tuple[Any, ...]]] = {
    "SELECT DISTINCT region FROM patients": [(each,) for each in REGIONS],
    "SELECT region FROM patients WHERE income > 1e9 GROUP BY region": [(each,) for each in REGIONS],
    "SELECT DISTINCT region FROM patients WHERE region LIKE '%st'": [("east",), ("west",)],
    "SELECT region FROM patients GROUP BY region ORDER BY region DESC LIMIT 2 OFFSET 1": [
        ("south",),
        ("north",),
    ],
    "SELECT sex, region FROM patients WHERE region IN ('east') GROUP BY ALL": [
        ("f", "east"),
        ("m", "east"),
    ],
    "SELECT DISTINCT insured, smoker FROM patients WHERE insured": [
        (True, False),
        (True, True),
        (True, None),
    ],
    "SELECT DISTINCT minutes FROM visits WHERE minutes BETWEEN 7 AND 9": [(7,), (8,), (9,)],
    "SELECT DISTINCT day FROM visits WHERE day < DATE '2024-01-03'": [
        (date(2024, 1, 1),),
        (date(2024, 1, 2),),
    ],
    "SELECT date_trunc('month', s.at) AS m FROM sales s WHERE s.at < '2024-02-02' GROUP BY m": [
        (datetime(2024, 1, 1),),
        (datetime(2024, 2, 1),),
    ],
    "SELECT DISTINCT dose FROM prescriptions WHERE dose IN (0.5, -3)": [(0.5,), (-3.0,)],
    "SELECT DISTINCT note FROM visits WHERE note IN ('it''s', 'a\\b', '')": [
        ("it's",),
        ("a\\b",),
        ("",),
    ],
    "SELECT DISTINCT region FROM patients WHERE region = 'mars'": [],
    "SELECT DISTINCT 'x' AS x FROM visits": [("x",)],
}


@pytest.mark.parametrize("sql", LISTED)
def test_declared_groups_are_listed_without_a_price(
    watched: tuple[Curator, Watched], sql: str
) -> None:
    curator, engine = watched
    runs, before = engine.runs, curator.remaining
    with transactions(curator) as seen:
        answer = curator.ask(sql)
    rows = [tuple(row.values()) for row in answer.rows]
    assert sorted(rows, key=str) == sorted(LISTED[sql], key=str)
    assert rows == LISTED[sql] or "ORDER BY" not in sql
    assert answer.price.is_free
    assert not answer.from_ledger
    assert (engine.runs, curator.remaining, seen) == (runs, before, ["read"])
    assert answer.notes[0].startswith("Lists the declared values of ")
    assert answer.notes[0].endswith(", whether or not they occur.")
    assert str(answer).endswith(f"Spent nothing: no private data were read · Remaining: {before}")
    explained = curator.explain(sql)
    assert explained.price.is_free
    assert explained.keys == (answer.notes[0],)


def test_listed_groups_name_their_rows(watched: tuple[Curator, Watched]) -> None:
    answer = watched[0].ask("SELECT region, upper(sex) AS s FROM patients GROUP BY 1, 2")
    assert answer.roles == (Role.KEY, Role.KEY)
    assert answer.notes == (
        "Lists the declared values of region and UPPER(sex), whether or not they occur.",
    )


def test_releases_that_only_conditions_read_are_not_made() -> None:
    sql = "SELECT DISTINCT region FROM patients WHERE income > (SELECT AVG(income) FROM patients)"
    found = check(parse(sql), catalog(), public_store())
    assert (found.aggregations, found.scalars, found.tables) == ((), (), ())


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT DISTINCT diagnosis FROM visits",
        "SELECT region, diagnosis FROM visits JOIN patients USING (patient_id) GROUP BY 1, 2",
        "SELECT COUNT(*) FROM (SELECT DISTINCT region FROM patients)",
        "SELECT region FROM patients GROUP BY region ORDER BY COUNT(*) DESC",
        "SELECT region FROM patients GROUP BY region HAVING COUNT(*) > 5",
    ],
)
def test_what_the_data_decide_is_released_as_before(sql: str) -> None:
    found = check(parse(sql), catalog(), public_store())
    assert len(found.aggregations) == 1
    assert found.listed == ()


@pytest.fixture(scope="module")
def neighbours() -> Iterator[tuple[Twin, ...]]:
    found = twins("duckdb")
    yield found
    for each in found:
        each.curator.close()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT DISTINCT s FROM p WHERE s IN ('a', 'b', 'SECRET-7')",
        "SELECT hiv FROM p WHERE id = 7 GROUP BY hiv",
        "SELECT DISTINCT hiv, x > 0 AS positive FROM p WHERE pid = 'SECRET-7' OR x < 0",
        "SELECT DISTINCT CASE WHEN hiv THEN 'yes' ELSE 'no' END AS told FROM p WHERE id = 7",
        "SELECT DISTINCT hiv FROM p WHERE age > (SELECT AVG(clamp(age, 0, 90)) FROM p)",
    ],
)
def test_neighbours_list_the_same(neighbours: tuple[Twin, ...], sql: str) -> None:
    """Whoever is in the data and whatever is true of them, the whole answer is the same."""
    seen = [each.seen(sql) for each in neighbours]
    assert seen[0].error == ""
    assert seen[0].charged == 0
    assert seen[0] == seen[1] == seen[2]
    assert [each.curator.ask(sql).to_json() for each in neighbours] == [
        neighbours[0].curator.ask(sql).to_json()
    ] * len(neighbours)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(questions())
def test_a_list_has_the_groups_that_a_count_shows(drawn: Drawn) -> None:
    """Of every query of the grammar: the same keys, from the query and the catalog alone."""
    assume(drawn.keys)
    public = public_store()
    try:
        counted = check(parse(drawn.written(["COUNT(*)"])), catalog(), public)
    except DiscreetError:
        assume(False)
    listed = check(parse(drawn.written([])), catalog(), public)
    shown = counted.aggregations[-1].groups
    if not isinstance(shown, DeclaredGroups):
        assert listed.listed == ()
        return
    assert listed.aggregations == ()
    found = rows_of(public.run(listed.post_sql, {}))
    assert sorted(map(str, found)) == sorted(str(_plain(row)) for row in shown.rows)


def _plain(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return values as DuckDB gives them: reals are floats."""
    return tuple(
        float(each) if each is not None and type(each).__name__ in ("Fraction", "Decimal") else each
        for each in row
    )
