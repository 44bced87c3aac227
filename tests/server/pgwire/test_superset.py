"""A real Apache Superset over the port for PostgreSQL clients: connect, browse, chart, refresh.

Superset is installed once into `.venvs`, which takes minutes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.server.pgwire.superset import Superset, superset
from tests.server.pgwire.wired import Wired, wired, write_clinic

pytestmark = pytest.mark.slow

EPSILON = 0.5

MONTH = {
    "timeGrain": "P1M",
    "columnType": "BASE_AXIS",
    "sqlExpression": "day",
    "label": "month",
    "expressionType": "SQL",
}
HALF_A_YEAR = "2024-01-01 : 2024-07-01"


@dataclass(frozen=True, kw_only=True)
class Connected:
    """Superset with a connection to Discreet, and a dataset over its table of visits."""

    superset: Superset
    clinic: Wired
    database: int
    dataset: int

    def lab(self, sql: str) -> httpx.Response:
        """Run a query in the SQL Lab."""
        return self.superset.post(
            "/sqllab/execute/", database_id=self.database, sql=sql, schema="public", runAsync=False
        )

    def chart(self, **query: Any) -> httpx.Response:
        """Fetch the data of a chart anew, past Superset's own cache."""
        return self.superset.post(
            "/chart/data",
            datasource={"id": self.dataset, "type": "table"},
            force=True,
            queries=[{"row_limit": 1000, **query}],
        )


@pytest.fixture(scope="module")
def connected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connected]:
    with (
        wired(write_clinic(tmp_path_factory.mktemp("clinic"))) as clinic,
        superset(tmp_path_factory.mktemp("superset")) as running,
    ):
        options = f"?options=-c%20discreet.epsilon%3D{EPSILON}"
        uri = clinic.url("postgresql+psycopg2", query=options)
        reply = running.post("/database/test_connection/", sqlalchemy_uri=uri, database_name="d")
        assert reply.status_code == 200, reply.text
        database = running.made_by(
            "/database/", sqlalchemy_uri=uri, database_name="d", expose_in_sqllab=True
        )
        dataset = running.made_by(
            "/dataset/", database=database, schema="public", table_name="visits"
        )
        yield Connected(superset=running, clinic=clinic, database=database, dataset=dataset)


def test_superset_connects_and_shows_tables_for_free(connected: Connected) -> None:
    running, path = connected.superset, f"/database/{connected.database}"
    assert "public" in running.get(f"{path}/schemas/")["result"]
    tables = running.get(f"{path}/tables/", q="(schema_name:public)")["result"]
    assert [each["value"] for each in tables] == ["cities", "visits"]
    about = running.get(f"{path}/table_metadata/", name="visits", schema="public")
    assert about["comment"].startswith("Private: protects each patient_id")
    dataset = running.get(f"/dataset/{connected.dataset}")["result"]
    times = {each["column_name"] for each in dataset["columns"] if each["is_dttm"]}
    assert times >= {"day", "at"}
    values = running.get(f"/datasource/table/{connected.dataset}/column/region/values/")
    assert values["result"] == ["north", "south"]
    assert connected.clinic.spent() == 0


def test_a_query_in_the_lab_costs_once_and_rows_are_rejected(connected: Connected) -> None:
    before, sql = connected.clinic.spent(), "SELECT region, COUNT(*) AS n FROM visits GROUP BY 1"
    first, again = connected.lab(sql), connected.lab(sql)
    assert [each["region"] for each in first.json()["data"]] == ["north", "south"]
    assert again.json()["data"] == first.json()["data"]
    assert connected.lab(f"EXPLAIN {sql}").json()["data"]
    rows = connected.lab("SELECT * FROM visits")
    assert rows.status_code == 500
    assert "Individual rows are never shown" in rows.json()["errors"][0]["message"]
    assert connected.clinic.spent() == pytest.approx(before + EPSILON)


def test_a_chart_over_time_costs_once_and_its_refresh_is_free(connected: Connected) -> None:
    before = connected.clinic.spent()
    asked: dict[str, Any] = {
        "columns": [MONTH, "region"],
        "metrics": ["count"],
        "filters": [
            {"col": "region", "op": "IN", "val": ["north"]},
            {"col": "day", "op": "TEMPORAL_RANGE", "val": HALF_A_YEAR},
        ],
    }
    first, again = (connected.chart(**asked) for _ in range(2))
    (result,) = first.json()["result"]
    assert len(result["data"]) == 6
    assert {each["region"] for each in result["data"]} == {"north"}
    assert again.json()["result"][0]["data"] == result["data"]
    assert connected.clinic.spent() == pytest.approx(before + EPSILON)


def test_a_chart_over_a_timestamp_is_answered(connected: Connected) -> None:
    metric = {
        "expressionType": "SIMPLE",
        "column": {"column_name": "cost"},
        "aggregate": "AVG",
        "label": "mean cost",
    }
    reply = connected.chart(
        columns=[{**MONTH, "sqlExpression": "at"}],
        metrics=[metric],
        filters=[{"col": "at", "op": "TEMPORAL_RANGE", "val": HALF_A_YEAR}],
    )
    assert len(reply.json()["result"][0]["data"]) == 6


def test_a_table_of_rows_is_rejected_with_a_hint(connected: Connected) -> None:
    before = connected.clinic.spent()
    reply = connected.chart(columns=["region", "age"], metrics=None)
    assert reply.status_code == 400
    assert "Individual rows are never shown" in reply.json()["message"]
    assert connected.clinic.spent() == before
