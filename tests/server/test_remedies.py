"""A rejected query comes with queries that would be accepted, from its SQL and the catalog."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from discreet.errors import QuestionError, UnknownNameError
from discreet.query import remedies as query_remedies
from discreet.server import remedies
from discreet.server.bodies import ExplainBody
from tests.server.running import BASE, Served, serving

CATALOG = """
[budget]
epsilon = 10
delta = 1e-6

[tables.visits]
from = "visits.csv"
unit = "patient_id"
rows_per_unit = 3

[tables.visits.columns]
patient_id = { type = "integer" }
region = { type = "text", values = ["north", "south"] }
city = { type = "text" }
age = { type = "integer", bounds = [0, 100] }
day = { type = "date", bounds = [2024-01-01, 2024-12-31] }

[tables.patients]
from = "patients.csv"
unit = "patient_id"
rows_per_unit = 1

[tables.patients.columns]
patient_id = { type = "integer" }
region = { type = "text", values = ["north", "south"] }
"""

EXPECTED = {
    "SELECT regoin, COUNT(*) FROM visits GROUP BY 1": [
        ("Write region", "SELECT region, COUNT(*) FROM visits GROUP BY 1")
    ],
    "SELECT COUNT(*) FROM visist": [("Write visits", "SELECT COUNT(*) FROM visits")],
    "SELECT COUTN(*) FROM visits": [("Write COUNT", "SELECT COUNT(*) FROM visits")],
    'SELECT COUNT(*) FROM visits WHERE city = "rome"': [
        ("Write 'rome'", "SELECT COUNT(*) FROM visits WHERE city = 'rome'")
    ],
    "SELECT * FROM visits WHERE age > 40": [
        ("Count them", "SELECT COUNT(*) AS n\nFROM visits\nWHERE age > 40"),
        ("Average age", "SELECT AVG(age) AS average_age\nFROM visits\nWHERE age > 40"),
        (
            "Count by region",
            "SELECT region, COUNT(*) AS n\nFROM visits\nWHERE age > 40\nGROUP BY region",
        ),
    ],
    "SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id": [
        (
            "Count different patient_id",
            "SELECT COUNT(DISTINCT patient_id) AS n\nFROM visits",
        ),
        ("Count them", "SELECT COUNT(*) AS n\nFROM visits"),
        ("Average age", "SELECT AVG(age) AS average_age\nFROM visits"),
    ],
    "SELECT SUM(patient_id) FROM visits": [
        ("Count patient_id", "SELECT COUNT(patient_id) FROM visits"),
        ("Count different patient_id", "SELECT COUNT(DISTINCT patient_id) FROM visits"),
    ],
    "SELECT region, COUNT(*) FROM visits": [
        ("Group by region", "SELECT region, COUNT(*)\nFROM visits\nGROUP BY region"),
        ("Count different region", "SELECT COUNT(DISTINCT region), COUNT(*) FROM visits"),
    ],
    "SELECT COUNT(*) FROM visits ORDER BY day": [
        ("Leave out ORDER BY", "SELECT COUNT(*)\nFROM visits")
    ],
    "SELECT COUNT(*) FROM visits WHERE day > NOW()": [
        (
            "Write DATE '2024-12-31'",
            "SELECT COUNT(*)\nFROM visits\nWHERE day > DATE '2024-12-31'",
        ),
        ("Leave out the condition", "SELECT COUNT(*)\nFROM visits"),
    ],
    "SELECT region, COUNT(*) FROM visits WHERE COUNT(*) > 3 AND age > 5 GROUP BY region": [
        (
            "Move it to HAVING",
            "SELECT region, COUNT(*)\nFROM visits\nWHERE age > 5\nGROUP BY region\n"
            "HAVING COUNT(*) > 3",
        )
    ],
    "SELECT COUNT(*) FROM visits v JOIN patients p ON v.region = p.region": [
        (
            "Join on v.patient_id = p.patient_id",
            "SELECT COUNT(*)\nFROM visits AS v\nJOIN patients AS p ON v.patient_id = p.patient_id",
        ),
        (
            "Also join on v.patient_id = p.patient_id",
            "SELECT COUNT(*)\nFROM visits AS v\nJOIN patients AS p ON "
            "v.patient_id = p.patient_id AND v.region = p.region",
        ),
    ],
    "SELECT COUNT(*) FROM visits; SELECT 1": [
        ("Keep the first query", "SELECT COUNT(*) FROM visits")
    ],
    "DELETE": [],
    "DELETE FROM visits WHERE age > 3": [
        ("Count the rows instead", "SELECT COUNT(*) AS n FROM visits WHERE age > 3")
    ],
    "SELECT COUNT(* FROM visits": [("Close the bracket", "SELECT COUNT(*) FROM visits")],
    "SELECT COUNT(*) FROM visits WHERE city = 'rome": [
        ("Close the quote at the end", "SELECT COUNT(*) FROM visits WHERE city = 'rome'")
    ],
    "SELECT wholly_unknown, COUNT(*) FROM visits GROUP BY 1": [],
}


def write(folder: Path, rows: int) -> Path:
    """Write a clinic with so many visits, and its catalog."""
    folder.mkdir()
    visits = [f"{i},north,city {i},40,2024-05-0{1 + i % 9}" for i in range(rows)]
    patients = [f"{i},south" for i in range(rows)]
    (folder / "visits.csv").write_text(
        "\n".join(["patient_id,region,city,age,day", *visits]) + "\n"
    )
    (folder / "patients.csv").write_text("\n".join(["patient_id,region", *patients]) + "\n")
    (folder / "discreet.toml").write_text(CATALOG)
    return folder / "discreet.toml"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(write(tmp_path_factory.mktemp("remedies") / "one", 40)) as found:
        yield found


def fixes_of(served: Served, sql: str, who: str = "ann", **terms: Any) -> list[tuple[str, str]]:
    """Return what is offered in place of a rejected query."""
    body = {"sql": sql, **(terms or {"epsilon": "0.1"})}
    reply = served.call("POST", f"{BASE}/explain", who, json=body)
    assert reply.status_code == 422, reply.text
    return [(each["label"], each["sql"]) for each in reply.json()["error"]["fixes"]]


@pytest.mark.parametrize("sql", EXPECTED)
def test_rewrites_are_offered_and_each_is_accepted(served: Served, sql: str) -> None:
    found = fixes_of(served, sql)
    assert found == EXPECTED[sql]
    for _, better in found:
        reply = served.call("POST", f"{BASE}/explain", json={"sql": better, "epsilon": 1})
        assert reply.status_code == 200, reply.text


def test_rewrites_follow_from_sql_and_catalog_alone(
    served: Served, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = write(tmp_path_factory.mktemp("remedies") / "other", 1)
    with serving(other) as fewer:
        reply = fewer.ask("SELECT COUNT(*) FROM visits", "bob", epsilon=2)
        assert reply.status_code == 200  # and nothing remains for bob
        for sql in EXPECTED:
            assert fixes_of(fewer, sql, "bob") == fixes_of(served, sql)


def test_a_margin_that_cannot_be_reached_hides_no_rewrite(served: Served) -> None:
    found = fixes_of(served, "SELECT COUNT(*) FROM visist", within={"n": "1"})
    assert found == [("Write visits", "SELECT COUNT(*) FROM visits")]


def test_a_program_gets_the_error_as_before(served: Served) -> None:
    with served.connect() as remote, pytest.raises(UnknownNameError):
        remote.explain("SELECT COUNT(*) FROM visist", epsilon=1)


def test_few_are_tried_and_a_failing_rewrite_hides_no_rejection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried: list[str] = []

    def explain(sql: str, **_: object) -> None:
        tried.append(sql)
        raise UnknownNameError("no", "no")

    curator = SimpleNamespace(catalog=SimpleNamespace(tables=()), explain=explain)
    caller: Any = SimpleNamespace(site=SimpleNamespace(curator=curator), account="ann")
    body = ExplainBody(sql="SELECT 1", epsilon=1)
    error = UnknownNameError("There is no x", "Write y")
    many = [query_remedies.Rewrite(label=f"{i}", sql=f"SELECT {i}") for i in range(50)]
    monkeypatch.setattr(remedies, "rewrites", lambda *_: iter(many))
    assert remedies.accepted(caller, body, error) == []
    assert len(tried) == remedies.MOST_TRIED
    long = ExplainBody(sql="SELECT 1" + " " * remedies.LONGEST, epsilon=1)
    assert remedies.accepted(caller, long, error) == []
    assert len(tried) == remedies.MOST_TRIED

    def failing(*_: object) -> Iterator[query_remedies.Rewrite]:
        raise RecursionError

    monkeypatch.setattr(remedies, "rewrites", failing)
    found = remedies.rejection_of(caller, body, cast("QuestionError", error))
    assert (found.code, found.details["fixes"]) == ("unknown_name", [])
