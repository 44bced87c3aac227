"""Every query that must be rejected, sent to a real server: a 4xx in the one form of errors."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.cases import REFUSED
from tests.attacks.twins import PEOPLE
from tests.server.running import BASE, Served, serving

CORPUS = tomllib.loads(
    (Path(__file__).parent.parent / "golden" / "corpus.toml").read_text(encoding="utf-8")
)
QUERIES = [each["sql"] for each in CORPUS["refuse"]] + [
    sql for cases in REFUSED.values() for sql, _ in cases
]

CATALOG = """
[budget]
epsilon = 100
delta = 1e-6

[tables.p]
from = "p.csv"
unit = "id"
rows_per_unit = 1

[tables.p.columns]
id = { type = "integer" }
pid = { type = "text" }
age = { type = "integer", bounds = [0, 100] }
hiv = { type = "boolean" }
x = { type = "real", bounds = [0, 100] }
s = { type = "text", values = ["a", "b", "c"] }
d = { type = "date" }

[tables.patients]
from = "patients.csv"
unit = "patient_id"
rows_per_unit = 1

[tables.patients.columns]
patient_id = { type = "integer" }
region = { type = "text", values = ["north", "south", "east", "west"] }
income = { type = "real", bounds = [0, 200000] }

[tables.visits]
from = "visits.csv"
unit = "patient_id"
rows_per_unit = 12

[tables.visits.columns]
visit_id = { type = "integer" }
patient_id = { type = "integer" }
clinic_id = { type = "integer" }
cost = { type = "real", bounds = [0, 500] }
diagnosis = { type = "text" }
"""

ENGINE_WORDS = (
    *("duckdb", "sqlite", "psycopg", "sqlglot", "traceback", "exception", 'file "', ".py"),
    *("binder error", "parser error", "catalog error", "conversion error", "invalid input error"),
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("clinic")
    rows = [",".join(map(str, each.values())) for each in PEOPLE]
    (folder / "p.csv").write_text("\n".join(["id,pid,age,hiv,x,s,d", *rows]) + "\n")
    (folder / "patients.csv").write_text("patient_id,region,income\n1,north,10.5\n2,south,20.5\n")
    (folder / "visits.csv").write_text(
        "visit_id,patient_id,clinic_id,cost,diagnosis\n1,1,1,9.5,flu\n2,2,1,3.5,cold\n"
    )
    (folder / "discreet.toml").write_text(CATALOG)
    settings = folder / "server.toml"
    settings.write_text("[limits]\nburst = 100000\nrequests_per_minute = 100000\n")
    with serving(folder / "discreet.toml", "--config", str(settings)) as found:
        yield found


@pytest.mark.parametrize("route", ["ask", "explain"])
def test_a_query_that_must_be_rejected_is_rejected_in_one_form(served: Served, route: str) -> None:
    before = served.call("GET", f"{BASE}/budget").json()
    for sql in QUERIES:
        reply = served.call("POST", f"{BASE}/{route}", json={"sql": sql, "epsilon": 1})
        assert 400 <= reply.status_code < 500, (sql[:200], reply.text)
        assert set(reply.json()) == {"error"}
        error = reply.json()["error"]
        assert set(error) >= {"code", "message", "remedy", "place"}, sql[:200]
        assert len(reply.content) < 4000, sql[:200]
        told = f"{error['message']} {error['remedy']}".casefold()
        own = sql.casefold()
        assert not [word for word in ENGINE_WORDS if word in told and word not in own], told
    assert served.call("GET", f"{BASE}/budget").json() == before
