"""Where kept rows are read, and how many of a unit there can be."""

import pyarrow as pa
import pytest

import discreet
from discreet.curator import Curator
from discreet.errors import ParameterError
from discreet.query.plan.bounded_rows import (
    most_rows,
    reads_bounded_rows,
    with_bounded_rows,
    with_row_choice,
)
from discreet.query.plan.plan import EpsilonTarget, PlannedRelease
from discreet.query.tree import ContributionBounding
from tests.attacks.clinic import opened


@pytest.fixture(scope="module")
def curator() -> Curator:
    return opened()


def release_of(curator: Curator, sql: str) -> PlannedRelease:
    (planned,) = curator._planner.draft(sql, EpsilonTarget(1), curator.catalog).releases
    return planned


KEPT = {
    "SELECT COUNT(*) FROM visits": 12,
    "SELECT COUNT(*) FROM visits WHERE cost > 10": 12,
    "SELECT diagnosis, COUNT(*), AVG(cost) FROM visits GROUP BY diagnosis": 12,
    "SELECT MEDIAN(cost) FROM visits": 12,
    "SELECT COUNT(DISTINCT diagnosis) FROM visits": 12,
    "SELECT COUNT(DISTINCT patient_id) FROM visits": 12,
    "SELECT c.region, COUNT(*) FROM visits v JOIN clinics c ON v.clinic_id = c.clinic_id "
    "GROUP BY c.region": 12,
    "SELECT COUNT(*) FROM patients p JOIN visits v ON p.patient_id = v.patient_id": 12,
    "SELECT COUNT(*) FROM (SELECT cost FROM visits UNION ALL SELECT cost FROM visits)": 24,
    "SELECT COUNT(*) FROM visits a JOIN visits b ON a.patient_id = b.patient_id": 144,
    "SELECT COUNT(*) FROM prescriptions WHERE dose > 500": 10,
}


@pytest.mark.parametrize(("sql", "most"), KEPT.items())
def test_rows_that_were_set_apart_are_not_read(curator: Curator, sql: str, most: int) -> None:
    planned = release_of(curator, sql)
    assert reads_bounded_rows(planned.aggregation.rows)
    assert most_rows(planned.aggregation.rows) == most <= planned.aggregation.contribution_limit
    assert all(each.is_bounded for each in planned.queries)
    text = curator._engine.bind(planned.queries[0]).sql
    assert "row_number" not in text
    assert '"every"' not in text


WHOLE = [
    "SELECT AVG(LEAST(n, 50)) FROM (SELECT patient_id, COUNT(*) AS n FROM visits "
    "GROUP BY patient_id)",
    "SELECT COUNT(*) FROM (SELECT patient_id, diagnosis, SUM(cost) FROM visits "
    "GROUP BY patient_id, diagnosis)",
    "SELECT COUNT(*) FROM (SELECT * FROM visits QUALIFY ROW_NUMBER() OVER "
    "(PARTITION BY patient_id ORDER BY day) = 1)",
    "SELECT COUNT(DISTINCT patient_id) FROM visits WHERE cost > 400",
    "SELECT COUNT(*) FROM prescriptions pr JOIN visits v ON pr.visit_id = v.visit_id",
]


@pytest.mark.parametrize("sql", WHOLE)
def test_all_rows_are_read_where_missing_ones_would_change_the_meaning(
    curator: Curator, sql: str
) -> None:
    planned = release_of(curator, sql)
    assert not reads_bounded_rows(planned.aggregation.rows)
    assert '"kept"' not in curator._engine.bind(planned.queries[0]).sql


VISITS = pa.table({"who": [1, 1, 2], "clinic": [1, 2, 1]})
ROOMS = pa.table({"clinic": [1, 1, 1, 2], "size": [1.0, 2.0, 2.5, 1.0]})


def test_a_public_table_multiplies_by_how_many_of_its_rows_match() -> None:
    with discreet.open(
        {"visits": VISITS, "rooms": ROOMS},
        unit="who",
        rows_per_unit=4,
        public=["rooms"],
        epsilon=1,
    ) as curator:
        same = "SELECT COUNT(*) FROM visits v JOIN rooms r ON v.clinic = r.clinic"
        assert most_rows(release_of(curator, same).aggregation.rows) == 4 * 3
        mixed = "SELECT COUNT(*) FROM visits v JOIN rooms r ON v.clinic = r.size"
        planned = release_of(curator, mixed)
        assert most_rows(planned.aggregation.rows) is None, "kinds are mixed, so nothing is sure"
        assert (
            "row_number" in curator._engine.bind(planned.queries[0]).sql
            or not planned.queries[0].keys
        )


TIED = {
    "visits v, rooms r, sizes s WHERE r.size = s.size": 4 * 4 * 1,
    "rooms r, sizes s, visits v WHERE r.size = s.size": 4 * 4 * 1,
    "visits v, rooms a, rooms b WHERE a.clinic = b.clinic": 4 * 4 * 3,
    "visits v JOIN rooms r ON v.clinic = r.clinic JOIN sizes s ON r.size = s.size": 4 * 3 * 1,
    "sizes s JOIN rooms r ON r.size = s.size JOIN visits v ON v.clinic = r.clinic": 4 * 3 * 1,
    "visits v LEFT JOIN rooms r ON v.clinic = r.clinic JOIN sizes s ON s.size = r.size": 4 * 3 * 1,
    "visits v LEFT JOIN rooms r ON r.size = 1 JOIN sizes s ON s.clinic = v.clinic": 4 * 4 * 1,
}


@pytest.mark.parametrize(("rows", "most"), TIED.items())
def test_public_tables_that_are_tied_to_each_other_do_not_bound_both(rows: str, most: int) -> None:
    rooms = pa.table({"clinic": [1, 1, 1, 2], "size": [1, 2, 3, 1]})
    sizes = pa.table({"clinic": [1, 2, 3], "size": [1, 2, 3]})
    with discreet.open(
        {"visits": VISITS, "rooms": rooms, "sizes": sizes},
        unit="who",
        rows_per_unit=4,
        public=["rooms", "sizes"],
        epsilon=1,
    ) as curator:
        planned = release_of(curator, "SELECT COUNT(*) FROM " + rows)  # noqa: S608
        assert most_rows(planned.aggregation.rows) == planned.aggregation.contribution_limit == most


def test_each_question_may_choose_for_itself(curator: Curator) -> None:
    chosen = with_row_choice(curator.catalog, "per-query")
    sql = "SELECT COUNT(*) FROM visits WHERE cost > 10"
    (planned,) = curator._planner.draft(sql, EpsilonTarget(1), chosen).releases
    assert not reads_bounded_rows(planned.aggregation.rows)
    assert planned.queries[0].bounding is ContributionBounding.ROWS
    assert not planned.queries[0].is_bounded
    assert with_row_choice(curator.catalog, None) is curator.catalog
    assert with_row_choice(curator.catalog, "once") is curator.catalog


def test_the_two_are_two_questions(curator: Curator) -> None:
    sql = "SELECT COUNT(*) FROM visits WHERE cost > 10"
    chosen = with_row_choice(curator.catalog, "per-query")
    one, other = (
        curator._planner.draft(sql, EpsilonTarget(1), each) for each in (curator.catalog, chosen)
    )
    assert one.identities != other.identities


def test_a_choice_that_there_is_not_is_refused(curator: Curator) -> None:
    with pytest.raises(ParameterError, match="row_choice must be 'once' or 'per-query'"):
        curator.ask("SELECT COUNT(*) FROM visits", epsilon=1, row_choice="sometimes")
    with opened(row_choice="per-query") as other, pytest.raises(ParameterError, match="are not"):
        other.explain("SELECT COUNT(*) FROM visits", epsilon=1, row_choice="once")


def test_the_explanation_says_what_the_filter_comes_after(curator: Curator) -> None:
    sql = "SELECT COUNT(*) FROM visits WHERE cost > 10"
    told = curator.explain(sql, epsilon=1).to_text()
    assert ", chosen before WHERE, so counts" in " ".join(told.split())
    whole = curator.explain("SELECT COUNT(*) FROM visits", epsilon=1).to_text()
    assert "chosen before" not in " ".join(whole.split())
    other = curator.explain(sql, epsilon=1, row_choice="per-query").to_text()
    assert "chosen before" not in " ".join(other.split())


def test_a_catalog_of_questions_leaves_them_as_they_are() -> None:
    with opened(row_choice="per-query") as other:
        sql = "SELECT COUNT(*) FROM visits"
        question = other._planner.draft(sql, EpsilonTarget(1), other.catalog).question
        assert with_bounded_rows(question, other.catalog) is question
