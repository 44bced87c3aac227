"""GET /metrics: for owners, by route and outcome, and nothing about people or queries."""

from collections.abc import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families

import discreet.server.metrics
from discreet.errors import MissingExtraError
from discreet.server.faults import CallError
from discreet.server.metrics import Metrics
from tests.server.running import BASE, Served, serving, write_catalog


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(write_catalog(tmp_path_factory.mktemp("clinic"))) as found:
        yield found


@pytest.mark.parametrize(
    ("who", "status"), [(None, 401), ("guest", 403), ("ann", 403), ("boss", 200)]
)
def test_metrics_are_for_owners(served: Served, who: str | None, status: int) -> None:
    assert served.call("GET", "/metrics", who).status_code == status


def test_metrics_count_calls_by_route_and_outcome_and_name_nobody(served: Served) -> None:
    answer = served.ask("SELECT COUNT(*) AS people FROM visits", epsilon=1)
    served.ask("SELECT * FROM visits", epsilon=1)
    served.call("GET", f"{BASE}/answers/{answer.headers['Discreet-Answer']}")
    for path in ("/v1/catalogs/secret/schema", "/nowhere/ann", f"{BASE}/analysts/bob"):
        served.call("GET", path)
    for method in ("FOO", "BAR"):
        served.call(method, "/health", None)
    text = served.call("GET", "/metrics", "boss").text
    families = {each.name: each for each in text_string_to_metric_families(text)}
    counts = {
        (each.labels["method"], each.labels["route"], each.labels["status"]): each.value
        for each in families["discreet_calls"].samples
        if each.name == "discreet_calls_total"
    }
    ask = "/v1/catalogs/{catalog}/ask"
    assert counts["POST", ask, "200"] == 1
    assert counts["POST", ask, "422"] == 1
    assert counts["GET", "/v1/catalogs/{catalog}/answers/{id}", "200"] == 1
    assert counts["GET", "none", "404"] >= 1
    assert counts["other", "/health", "405"] == 2
    labels = {
        name for family in families.values() for each in family.samples for name in each.labels
    }
    assert labels <= {"method", "route", "status", "le"}
    for word in ("ann", "bob", "boss", "clinic", "secret", "visits", "people", "FOO"):
        assert word not in text.replace("/{name}", "")


def test_a_server_without_the_extra_counts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: object, **__: object) -> None:
        raise MissingExtraError("Metrics", extra="metrics")

    monkeypatch.setattr(discreet.server.metrics, "load", missing)
    metrics = Metrics()
    metrics.count({"type": "http", "method": "GET"}, 200, 1.0)
    with pytest.raises(CallError) as error:
        metrics.text(0)
    assert "discreet[metrics]" in error.value.fix
