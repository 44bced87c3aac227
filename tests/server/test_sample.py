"""Synthetic samples and tried queries: from the catalog alone, free, and of no private data."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from discreet.catalog.schema import PrivateTable
from discreet.opening import open_catalog, open_unplugged
from discreet.opening.synthetic import UNITS, synthetic_data, synthetic_tables_of
from tests.server.running import BASE, Served, serving, write_catalog

VICTIM = 6
"""Lives in the north, in city 6, and is 42."""

QUERIES = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT region, COUNT(*) AS n FROM visits GROUP BY region",
    "SELECT COUNT(*) AS n FROM visits WHERE patient_id = 6 AND 1 / (age - 42) > 0",
    "SELECT MEDIAN(age) AS a FROM visits WHERE patient_id = 6",
    "SELECT * FROM visits WHERE patient_id = 6",
    "SELECT COUNT( FROM visits",
)

NOISY = {"rows", "errors", "intervals"}

COUNT = "SELECT region, COUNT(*) AS n FROM visits GROUP BY region"

EVERYTHING = """
[budget]
epsilon = 3
delta = 1e-6

[tables.people]
from = "people.csv"
unit = "person"
key = "person"
rows_per_unit = 1
[tables.people.columns]
person = { type = "text" }
born = { type = "date", bounds = [1950-01-01, 2010-12-31] }
seen = { type = "timestamp" }
moved = { type = "timestamp with time zone" }
smokes = { type = "boolean", nulls = true }
grade = { type = "text", values = ["a", "b"] }
weight = { type = "real", bounds = [2.5, 200], step = 0.5 }
income = { type = "integer", bounds = "AUTO" }

[tables.orders]
from = "orders.csv"
unit = "people.person via person"
key = "number"
rows_per_unit = 4
[tables.orders.columns]
number = { type = "integer" }
person = { type = "text" }
shop = { type = "integer" }

[tables.lines]
from = "lines.csv"
unit = "orders.person via number"
rows_per_unit = 9
[tables.lines.columns]
number = { type = "integer" }
price = { type = "real", bounds = [0, 10] }

[tables.clicks]
from = "clicks.csv"
unit = "row"
[tables.clicks.columns]
place = { type = "text" }
seconds = { type = "real" }

[tables.shops]
from = "shops.csv"
public = true
key = "shop"
[tables.shops.columns]
shop = { type = "integer" }
town = { type = "text" }
"""


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Served]]:
    """Serve a clinic and one with one patient less, whose file is gone once it has started."""
    folder = tmp_path_factory.mktemp("sampled")
    config = folder / "server.toml"
    config.write_text("[limits]\nburst = 1000000\nrequests_per_minute = 1000000\n")
    options = ("--config", str(config))
    with (
        serving(write_catalog(folder / "here"), *options) as here,
        serving(write_catalog(folder / "gone", without=VICTIM), *options) as gone,
    ):
        (folder / "gone" / "visits.csv").unlink()
        yield here, gone


def sampled(served: Served, query: str = "table=visits", who: str = "ann") -> Any:
    return served.call("GET", f"{BASE}/sample?{query}", who)


def tried(served: Served, sql: str, who: str = "ann", **terms: Any) -> Any:
    return served.call("POST", f"{BASE}/try", who, json={"sql": sql, "epsilon": 1, **terms})


def test_samples_of_neighbouring_data_are_equal_to_the_last_byte(
    twins: tuple[Served, Served],
) -> None:
    here, gone = (sampled(each, "table=visits&rows=100").content for each in twins)
    assert here == gone
    found = sampled(twins[0], "table=VISITS&rows=3").json()
    assert found["synthetic"] is True
    assert found["columns"] == ["patient_id", "region", "city", "age"]
    assert len(found["rows"]) == 3
    assert all(each[2].startswith("city ") and 0 <= each[3] <= 100 for each in found["rows"])


@pytest.mark.parametrize("sql", QUERIES)
def test_neighbouring_data_are_tried_alike(twins: tuple[Served, Served], sql: str) -> None:
    here, gone = (tried(each, sql) for each in twins)
    told = [{k: v for k, v in each.json().items() if k not in NOISY} for each in (here, gone)]
    assert here.status_code == gone.status_code
    assert told[0] == told[1]
    assert len(here.json().get("rows", [])) == len(gone.json().get("rows", []))


def test_synthetic_rows_follow_from_the_catalog_without_any_file(tmp_path: Path) -> None:
    catalog = write_catalog(tmp_path)
    with open_catalog(catalog) as with_data:
        known = synthetic_tables_of(with_data.catalog, {})
    (tmp_path / "visits.csv").unlink()
    with open_unplugged(catalog) as without:
        made = synthetic_tables_of(without.catalog, {})
    assert made["visits"].equals(known["visits"])


def test_a_tried_query_is_marked_charges_nothing_and_is_logged(
    twins: tuple[Served, Served],
) -> None:
    served = twins[0]
    before = served.call("GET", f"{BASE}/budget").json()
    reply = tried(served, COUNT).json()
    assert (reply["synthetic"], reply["is_free"], reply["charged"]["epsilon"]) == (True, True, 0)
    assert reply["notes"][0].startswith("Synthetic data")
    assert "remaining" not in reply
    assert sum(row[1] for row in reply["rows"]) > UNITS / 2
    assert served.call("GET", f"{BASE}/budget").json() == before
    assert served.call("GET", f"{BASE}/answers").json() == {"answers": []}
    line = next(
        each
        for each in served.call("GET", f"{BASE}/audit", "boss").json()["entries"]
        if each["action"] == "try"
    )
    assert (line["outcome"], line["sql"]) == ("free", COUNT)
    real = served.call("POST", f"{BASE}/explain", json={"sql": COUNT, "epsilon": 1}).json()
    assert real["due"]["epsilon"] == 1


def test_each_try_draws_its_own_noise(twins: tuple[Served, Served]) -> None:
    drawn = {str(tried(twins[0], COUNT, epsilon=0.01).json()["rows"]) for _ in range(3)}
    assert len(drawn) > 1


@pytest.mark.parametrize(
    ("who", "path", "status"),
    [
        ("guest", "sample?table=visits", 200),
        ("ann", "sample?table=nowhere", 404),
        ("ann", "sample?table=visits&rows=101", 422),
        ("ann", "sample?table=visits&rows=0", 422),
        ("ann", "sample", 422),
        (None, "sample?table=visits", 401),
    ],
)
def test_samples_are_for_everybody_with_an_account(
    twins: tuple[Served, Served], who: str | None, path: str, status: int
) -> None:
    assert twins[0].call("GET", f"{BASE}/{path}", who).status_code == status


def test_readers_do_not_try(twins: tuple[Served, Served]) -> None:
    assert tried(twins[0], COUNT, who="guest").status_code == 403
    assert tried(twins[0], "SELECT * FROM visits").json()["error"]["code"] == "row_level"
    assert tried(twins[0], COUNT, table="visits").status_code == 422


def test_measured_coverage_is_shown_for_free(twins: tuple[Served, Served]) -> None:
    served = twins[0]
    path = f"{BASE}/coverage?table=visits"
    found = served.call("GET", path, "guest").json()
    assert (found["measured"], found["cost"]["epsilon"]) == (None, 5)
    served.call("POST", f"{BASE}/coverage", json={"table": "visits", "epsilon": 0.5})
    found = served.call("GET", path, "guest").json()["measured"]
    assert (found["table"], found["price"]["epsilon"]) == ("visits", 0.5)
    assert "remaining" not in found
    assert served.call("GET", f"{BASE}/coverage?table=nowhere").status_code == 422


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("everything")
    (folder / "discreet.toml").write_text(EVERYTHING)
    (folder / "shops.csv").write_text("shop,town\n7,Ash\n9,Birch\n")
    with open_unplugged(folder / "discreet.toml") as curator:
        data = synthetic_data(curator.catalog, curator.public_tables())
    yield data
    data.close()


def test_synthetic_tables_are_as_declared_and_fit_together(everything: Any) -> None:
    tables: dict[str, pa.Table] = everything.tables
    people, orders = tables["people"].to_pydict(), tables["orders"].to_pydict()
    assert len(set(people["person"])) == len(people["person"]) == UNITS
    assert set(people["grade"]) == {"a", "b"}
    assert None in people["smokes"]
    assert all(2.5 <= each <= 200 and each * 2 == int(each * 2) for each in people["weight"])
    assert set(orders["person"]) <= set(people["person"])
    assert len(set(orders["number"])) == len(orders["number"])
    assert set(tables["lines"]["number"].to_pylist()) <= set(orders["number"])
    assert set(orders["shop"]) == {7, 9}
    assert max(each.num_rows for each in tables.values()) <= 4 * UNITS


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT grade, COUNT(*) AS n, AVG(weight) AS w FROM people GROUP BY grade",
        "SELECT town, COUNT(*) AS n FROM orders JOIN shops USING (shop) GROUP BY town",
        "SELECT SUM(price) AS p FROM lines",
        "SELECT place, COUNT(*) AS n FROM clicks GROUP BY place",
        "SELECT EXTRACT(YEAR FROM seen) AS y, COUNT(*) AS n FROM people GROUP BY 1",
        "SELECT AVG(income) AS i FROM people WHERE smokes",
        "SELECT town FROM shops ORDER BY town",
    ],
)
def test_queries_of_all_kinds_of_tables_can_be_tried(everything: Any, sql: str) -> None:
    curator = everything.curator()
    with curator.ledger:
        assert curator.ask(sql, epsilon=10).table.num_rows > 0


def test_declarations_decide_the_rows(everything: Any) -> None:
    catalog = everything.catalog
    assert all(isinstance(each, PrivateTable) or each.name == "shops" for each in catalog.tables)
    again = synthetic_tables_of(catalog, {"shops": everything.tables["shops"]})
    assert all(again[name].equals(table) for name, table in everything.tables.items())
