"""Values of placeholders over a real server: typed, part of the call, and logged."""

import asyncio
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from discreet.client import connect_async
from discreet.errors import PlaceholderError
from tests.server.running import BASE, Served, serving, write_catalog

COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(write_catalog(tmp_path_factory.mktemp("clinic"))) as found:
        yield found


def test_a_query_with_parameters_is_the_query_with_its_values(served: Served) -> None:
    plain = served.ask(f"{COUNT} WHERE age > 31 AND region = 'north'", epsilon=1)
    again = served.ask(
        f"{COUNT} WHERE age > :age AND region = :region",
        parameters={"age": 31, "region": "north"},
        epsilon=1,
    )
    assert plain.json()["rows"] == again.json()["rows"]
    assert again.json()["is_free"]
    place = f"{BASE}/answers/{again.headers['Discreet-Answer']}"
    assert served.call("GET", f"{place}/margins?confidence=0.9").status_code == 200
    assert served.call("GET", f"{place}/about").json()["is_current"]
    with served.connect() as remote:
        given: list[list[Any]] = [[31, "north"], [Decimal(31), "north"]]
        for parameters in given:
            sql = f"{COUNT} WHERE age > $1 AND region = $2"
            assert remote.ask(sql, parameters=parameters, epsilon=1).is_free
            assert remote.explain(sql, parameters=parameters, epsilon=1).due is not None


def test_the_same_key_with_other_parameters_is_another_call(served: Served) -> None:
    sql, key = f"{COUNT} WHERE age > ?", "parameters-1"
    first = served.ask(sql, key=key, parameters=[41], epsilon=1)
    assert served.ask(sql, key=key, parameters=[41], epsilon=1).json() == first.json()
    for other in ([42], [41.0], ["41"], [True], {"a": 41}, None, [[41]]):
        reply = served.ask(sql, key=key, parameters=other, epsilon=1)
        assert (reply.status_code, reply.json()["error"]["code"]) == (409, "key_reused")


def test_the_log_has_the_values(served: Served) -> None:
    served.ask(f"{COUNT} WHERE age > :age", parameters={"age": 53}, epsilon=1)
    served.call("POST", f"{BASE}/try", json={"sql": f"{COUNT} WHERE age > ?", "parameters": [54]})
    entries = served.call("GET", f"{BASE}/audit?limit=2", "boss").json()["entries"]
    assert [each["question"][-8:] for each in entries] == ["age > 54", "age > 53"]
    assert entries[1]["sql"].endswith("age > :age")
    history = served.call("GET", f"{BASE}/history").text
    assert "age > 53" in history


@pytest.mark.parametrize(
    "body",
    [
        "[1e400]",
        "[NaN]",
        "[-Infinity]",
        "[[[1]]]",
        '[{"a": 1}]',
        '[{"date": 3}]',
        '[{"date": "2024-01-01", "decimal": "1"}]',
        "[{}]",
        '"30"',
        "30",
        "[" * 10_000 + "]" * 10_000,
        "[" + "1," * 20_000 + "1]",
        "[[" + "1," * 20_000 + "1]]",
        f"[{'9' * 5000}]",
    ],
    ids=range(14),
)
def test_odd_parameters_are_rejected_before_anything_is_spent(served: Served, body: str) -> None:
    before = served.call("GET", f"{BASE}/budget").json()
    text = f'{{"sql": "{COUNT} WHERE age > ?", "epsilon": 1, "parameters": {body}}}'
    headers = {"Content-Type": "application/json"}
    reply = served.call("POST", f"{BASE}/ask", content=text.encode(), headers=headers)
    assert reply.status_code in {400, 413, 422}, reply.text
    assert served.call("GET", f"{BASE}/budget").json() == before


@pytest.mark.parametrize(
    ("parameters", "code"),
    [
        ([{"date": "2024-13-01"}], "parameter"),
        ([{"decimal": "1e999999999"}], "placeholder"),
        ([{"decimal": "x"}], "parameter"),
        ([10**60], "placeholder"),
        ([], "placeholder"),
        ([1, 2], "placeholder"),
    ],
)
def test_values_that_do_not_fit_are_rejected_by_name(
    served: Served, parameters: Any, code: str
) -> None:
    reply = served.ask(f"{COUNT} WHERE age > ?", "bob", parameters=parameters, epsilon=1)
    assert (reply.status_code, reply.json()["error"]["code"]) == (422, code)


def test_the_client_for_asyncio_sends_parameters_and_raises_what_is_wrong(served: Served) -> None:
    async def asked() -> None:
        async with await connect_async(served.url, served.tokens["ann"]) as remote:
            sql = f"{COUNT} WHERE age > :age"
            assert len(await remote.ask(sql, parameters={"age": 61}, epsilon=1)) == 1
            with pytest.raises(PlaceholderError, match="no placeholder for the parameter") as found:
                await remote.ask(sql, parameters={"age": 61, "on": date(2024, 1, 1)}, epsilon=1)
            assert "'on'" in str(found.value)

    asyncio.run(asked())


def test_an_approval_is_for_the_values_as_well(tmp_path: Path) -> None:
    config = tmp_path / "server.toml"
    config.write_text("approval_above = 0.4\n")
    sql = f"{COUNT} WHERE age > :age"
    with serving(write_catalog(tmp_path), "--config", str(config)) as served:
        query = {"sql": sql, "epsilon": 0.5, "parameters": {"age": 30}}
        body = {"reason": "once", "query": query}
        asked = served.call("POST", f"{BASE}/requests", json=body).json()
        assert asked["query"]["sql"].endswith("age > 30")
        path = f"{BASE}/requests/{asked['number']}/decision"
        served.call("POST", path, "boss", json={"granted": True})
        other = served.ask(sql, parameters={"age": 31}, epsilon=0.5)
        assert other.json()["error"]["code"] == "approval_needed"
        assert served.ask(sql, parameters={"age": 30}, epsilon=0.5).status_code == 200
        assert served.ask(f"{COUNT} WHERE age > 30", epsilon=0.5).status_code == 200
