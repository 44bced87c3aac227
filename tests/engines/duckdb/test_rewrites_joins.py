"""Joins that ask for the same unit twice: they ask once, and mean the same."""

from collections.abc import Iterator

import pytest

from discreet.curator import Curator
from discreet.engines import duckdb
from discreet.engines.duckdb import rewrites
from discreet.query.plan.plan import EpsilonTarget
from discreet.query.tree import Call
from tests.attacks.clinic import opened
from tests.engines.contract import Row, exact_rows


@pytest.fixture(scope="module")
def curator() -> Iterator[Curator]:
    with opened() as made:
        yield made


def texts(curator: Curator, sql: str) -> list[str]:
    plan = curator._planner.draft(sql, EpsilonTarget(1), curator.catalog)
    return [curator._engine.bind(query).sql for each in plan.releases for query in each.queries]


def answers(curator: Curator, sql: str) -> list[list[Row]]:
    plan = curator._planner.draft(sql, EpsilonTarget(1), curator.catalog)
    queries = [query for each in plan.releases for query in each.queries]
    return [exact_rows(curator._engine, each) for each in queries]


ONCE = [
    "SELECT p.sex, COUNT(*), SUM(v.cost) FROM visits v JOIN patients p "
    "ON v.patient_id = p.patient_id GROUP BY p.sex",
    "SELECT COUNT(*) FROM visits v JOIN patients p ON p.patient_id = v.patient_id WHERE v.cost > 9",
    "SELECT COUNT(*), COUNT(p.sex) FROM visits v LEFT JOIN patients p "
    "ON p.patient_id = v.patient_id",
    "SELECT COUNT(*) FROM visits v JOIN "
    "(SELECT patient_id AS whose FROM patients WHERE birth_year > 1980) p "
    "ON p.whose = v.patient_id",
    "SELECT AVG(LEAST(p.n, 9)) FROM patients v JOIN "
    "(SELECT patient_id, COUNT(*) AS n FROM visits GROUP BY patient_id) p "
    "ON p.patient_id = v.patient_id AND p.n < 20",
]
AS_ASKED = [
    "SELECT COUNT(*) FROM visits v JOIN visits p "
    "ON v.patient_id = p.patient_id AND v.visit_id = p.visit_id",
    "SELECT COUNT(*), COUNT(p.cost) FROM patients v LEFT JOIN visits p "
    "ON v.patient_id = p.patient_id AND p.minutes > 30 AND p.cost < v.income",
    "SELECT COUNT(*) FROM patients w LEFT JOIN visits v ON v.patient_id = w.patient_id "
    "AND v.cost > 100 JOIN patients p ON p.patient_id = w.patient_id "
    "AND v.patient_id = p.patient_id",
]


@pytest.mark.parametrize("sql", ONCE + AS_ASKED)
def test_joins_mean_the_same_to_the_last_row(
    curator: Curator, sql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = answers(curator, sql)
    monkeypatch.setattr(duckdb, "without_repeated_unit_joins", lambda rows: rows)
    assert found == answers(curator, sql)
    assert any(value for table in found for row in table for _, value in row)


@pytest.mark.parametrize("sql", ONCE)
def test_whether_units_are_the_same_is_asked_once(curator: Curator, sql: str) -> None:
    (text,) = texts(curator, sql)
    on = text.partition(" ON ")[2]
    assert "patient_id" not in on
    assert "whose" not in on
    assert on.startswith('"v"."__unit" = "p"."__unit" AND ')


@pytest.mark.parametrize("sql", AS_ASKED)
def test_what_else_is_asked_stays(curator: Curator, sql: str) -> None:
    (text,) = texts(curator, sql)
    assert "AND TRUE" not in text.rpartition(" ON ")[2]


def test_an_engine_that_drops_what_is_no_tie_is_caught(
    curator: Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [answers(curator, each) for each in AS_ASKED]
    monkeypatch.setattr(rewrites, "_is_tie", lambda condition, _: isinstance(condition, Call))
    assert [answers(curator, each) for each in AS_ASKED] != expected
