"""Calls made up from /v1/openapi.json: no failure of the server, and replies as it describes them.

A description cannot say which SQL is valid, so calls that fit it may be rejected.
"""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import positive_data_acceptance

from tests.server.running import BASE, Served, serving, write_catalog

ALLOWED = [positive_data_acceptance]
SQL = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT region, AVG(age) AS a FROM visits GROUP BY region",
    "SELECT city, COUNT(*) FROM visits GROUP BY city",
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("clinic")
    config = folder / "server.toml"
    most = 10**9
    config.write_text(
        f"[limits]\nburst = {most}\nrequests_per_minute = {most}\nsign_ins_per_minute = {most}\n"
    )
    with serving(write_catalog(folder, epsilon=10**6), "--config", str(config)) as found:
        yield found


def check(served: Served, examples: int) -> dict[str, int]:
    """Make up calls of every operation, half of them with parts that exist; return how many."""
    schema = schemathesis.openapi.from_url(f"{served.url}/v1/openapi.json")
    headers = {"Authorization": f"Bearer {served.tokens['boss']}"}
    saved = served.ask(SQL[0], who="boss", epsilon=1).headers["Discreet-Answer"]
    counts: dict[str, int] = {}
    for each in schema.get_all_operations():
        assert isinstance(each, Ok)
        operation = each.ok()
        counts[operation.label] = check_operation(operation, examples, headers, saved)
    return counts


def check_operation(operation: Any, examples: int, headers: dict[str, str], saved: str) -> int:
    """Make up calls of one operation; return how many."""
    made = 0

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(case=operation.as_strategy(), sql=st.sampled_from(SQL), is_real=st.booleans())
    def run(case: Any, sql: str, *, is_real: bool) -> None:
        nonlocal made
        if is_real:
            make_real(case, sql, saved)
        case.call_and_validate(headers=headers, timeout=60, excluded_checks=ALLOWED)
        made += 1

    run()
    return made


def make_real(case: Any, sql: str, saved: str) -> None:
    """Put names of things that exist into a call."""
    real = {"catalog": "clinic", "id": saved, "name": "bob"}
    if isinstance(case.path_parameters, dict):
        known = {name: real[name] for name in case.path_parameters if name in real}
        case.path_parameters |= known
    if isinstance(case.body, dict) and isinstance(case.body.get("sql"), str):
        case.body["sql"] = sql


def test_calls_made_up_from_the_description_never_break_the_server(served: Served) -> None:
    counts = check(served, 5)
    assert len(counts) >= 22
    assert all(counts.values())


@pytest.mark.slow
def test_many_calls_made_up_from_the_description_never_break_the_server(served: Served) -> None:
    assert all(check(served, 300).values())


def test_a_wrong_digest_does_not_stop_the_server(served: Served) -> None:
    reply = served.call("POST", f"{BASE}/verify", "boss", json={"head": "0" * 64})
    assert (reply.status_code, reply.json()["error"]["code"]) == (409, "head_missing")
    found = served.call("POST", f"{BASE}/verify", "boss", json={})
    assert found.json()["is_valid"]
    head = {"head": found.json()["head"]}
    assert served.call("POST", f"{BASE}/verify", "boss", json=head).json() == found.json()
    assert served.ask(SQL[1], epsilon=1).status_code == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "audit?before="), ("GET", "history?before="), ("POST", "requests/{}/decision")],
)
def test_numbers_beyond_those_of_databases_are_rejected(
    served: Served, method: str, path: str
) -> None:
    number = str(2**63)
    asked = path.format(number) if "{}" in path else path + number
    more = {"json": {"granted": False}} if method == "POST" else {}
    assert served.call(method, f"{BASE}/{asked}", "boss", **more).status_code == 422
