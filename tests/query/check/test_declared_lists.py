"""Declared groups are listed for free: nothing is released, charged or read."""

# ruff: noqa: S608 - this file writes queries

from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

from discreet.answer import Role
from discreet.curator import Curator
from discreet.engines.public_store import rows_of
from discreet.errors import DiscreetError, UnsupportedError
from discreet.query.check import check
from discreet.query.parse import parse
from discreet.query.questions import DeclaredGroups, UndeclaredGroups
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
    "SELECT DISTINCT note FROM visits WHERE note IN (',', '1,2', 'NULL', '[a]', '\"')": [
        (",",),
        ("1,2",),
        ("NULL",),
        ("[a]",),
        ('"',),
    ],
    "SELECT DISTINCT s.at FROM sales s WHERE s.at = '9999-12-31 23:59:59.999999'": [
        (datetime(9999, 12, 31, 23, 59, 59, 999_999),)
    ],
    "SELECT DISTINCT visit_id FROM visits WHERE visit_id = 9223372036854775807": [(2**63 - 1,)],
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


@pytest.mark.parametrize(
    "where",
    [
        "income > (SELECT AVG(income) FROM patients)",
        "region IN (SELECT region FROM patients GROUP BY 1 HAVING COUNT(*) > 10)",
    ],
)
def test_releases_that_only_conditions_read_are_not_made(
    watched: tuple[Curator, Watched], where: str
) -> None:
    sql = f"SELECT DISTINCT region FROM patients WHERE {where}"
    found = check(parse(sql), catalog(), public_store())
    assert (found.aggregations, found.scalars, found.tables) == ((), (), ())
    assert watched[0].ask(sql).notes == (
        "Lists the declared values of region, whether or not they occur.",
        "Conditions that read noisy results leave none of them out.",
    )


@pytest.mark.parametrize(
    ("sql", "name"),
    [
        ("SELECT region FROM patients INTERSECT SELECT region FROM clinics", "region"),
        (
            "SELECT DISTINCT (SELECT COUNT(*) FROM visits v WHERE v.patient_id = p.patient_id) > 2 "
            "AS many FROM patients p",
            "many",
        ),
    ],
)
def test_notes_do_not_name_what_a_rewritten_query_has(
    watched: tuple[Curator, Watched], sql: str, name: str
) -> None:
    assert watched[0].ask(sql).notes == (
        f"Lists the declared values of {name}, whether or not they occur.",
    )


LIST = "SELECT DISTINCT region FROM patients LIMIT 9"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT COUNT(*) FROM ({LIST})",
        f"SELECT MAX(region) FROM ({LIST}) t",
        f"SELECT list(region) FROM ({LIST}) t",
        f"SELECT COUNT(*) FROM ({LIST}) t JOIN clinics c ON c.region = t.region",
        f"WITH t AS ({LIST}), u AS (SELECT * FROM t) SELECT COUNT(*) FROM u",
        f"WITH t AS ({LIST}) SELECT region, (SELECT COUNT(*) FROM t) AS n FROM t",
        f"SELECT region FROM ({LIST}) t GROUP BY region HAVING COUNT(*) > 0",
        f"SELECT name FROM clinics WHERE region IN ({LIST})",
        f"SELECT name FROM clinics WHERE region <> ALL ({LIST})",
        f"SELECT EXISTS ({LIST}) AS is_there",
        "SELECT EXISTS (SELECT 1 FROM patients WHERE patient_id = 3 GROUP BY sex) AS is_there",
        f"SELECT name, (SELECT region FROM ({LIST}) t LIMIT 1) AS r FROM clinics",
        "SELECT region FROM clinics EXCEPT SELECT DISTINCT region FROM patients",
    ],
)
def test_lists_that_would_be_taken_for_values_that_occur_are_rejected(
    watched: tuple[Curator, Watched], sql: str
) -> None:
    with pytest.raises(UnsupportedError, match="A subquery only lists declared groups"):
        watched[0].ask(sql, epsilon=1)


@pytest.mark.parametrize("where", ["= 9223372036854775808", "BETWEEN 2e18 * 5 AND 1e19 + 3"])
def test_integers_of_more_than_64_bits_are_no_declared_groups(where: str) -> None:
    """No column has them, and no engine has a list of them."""
    sql = f"SELECT clinic_id, COUNT(*) AS n FROM visits WHERE clinic_id {where} GROUP BY 1"
    (release,) = check(parse(sql), catalog(), public_store()).aggregations
    assert isinstance(release.groups, UndeclaredGroups)


def test_the_longest_list_is_made_in_little_time() -> None:
    question = check(parse("SELECT DISTINCT minutes, day FROM visits"), catalog(), public_store())
    assert len(question.post_sql) < 1_000_000
    found = rows_of(public_store().run(question.post_sql, {}))
    assert len(found) == 241 * 366
    assert (found[0], found[-1]) == ((0, date(2024, 1, 1)), (240, date(2024, 12, 31)))
    assert len(set(found)) == len(found)


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
