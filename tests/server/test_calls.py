"""Calls of a real server process: who may do what, errors, answers by id, keys of clients."""

import json
from collections.abc import Iterator
from fractions import Fraction
from io import BytesIO
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

from tests.cli.conftest import Discreet
from tests.cli.conftest import discreet as discreet  # noqa: PLC0414 - a fixture
from tests.server.running import BASE, Served, serving, write_catalog

COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_REGION = "SELECT region, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY region"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(write_catalog(tmp_path_factory.mktemp("clinic"))) as found:
        yield found


def test_health_says_nothing_but_that_it_is_up(served: Served) -> None:
    assert served.call("GET", "/health", None).json() == {"status": "ok"}


@pytest.mark.parametrize(
    "token",
    ["nonsense", "discreet_0123456789abcdef_" + "A" * 43, "x" * 5000],
)
def test_who_has_no_token_is_told_nothing(served: Served, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    for path in ("/v1/me", f"{BASE}/schema", "/v1/catalogs/other/schema"):
        reply = served.call("GET", path, None, headers=headers)
        assert reply.status_code == 401
        assert reply.json()["error"]["code"] == "not_signed_in"


@pytest.mark.parametrize(
    ("who", "path", "status"),
    [
        ("guest", "schema", 200),
        ("guest", "budget", 403),
        ("guest", "analysts", 403),
        ("ann", "schema", 200),
        ("ann", "budget", 200),
        ("ann", "history", 200),
        ("ann", "requests", 200),
        ("ann", "analysts", 403),
        ("ann", "audit", 403),
        ("ann", "incidents", 403),
        ("boss", "analysts", 200),
        ("boss", "audit", 200),
        ("boss", "incidents", 200),
        ("boss", "budget", 200),
    ],
)
def test_everybody_may_do_what_the_role_allows(
    served: Served, who: str, path: str, status: int
) -> None:
    assert served.call("GET", f"{BASE}/{path}", who).status_code == status


def test_a_reader_pays_nothing(served: Served) -> None:
    reply = served.ask(COUNT, who="guest", epsilon=1)
    assert reply.status_code == 403


def test_what_somebody_else_may_see_is_as_if_it_were_not_there(served: Served) -> None:
    mine = served.ask(f"{COUNT} WHERE age > 1", epsilon=1).headers["Discreet-Answer"]
    other = served.call("GET", f"{BASE}/answers/{mine}", "bob")
    none = served.call("GET", f"{BASE}/answers/nothing", "bob")
    assert (other.status_code, other.json()) == (none.status_code, none.json())
    assert served.call("GET", f"{BASE}/answers/{mine}", "ann").status_code == 200
    assert served.call("GET", f"{BASE}/answers/{mine}", "guest").status_code == 200
    elsewhere = served.call("GET", "/v1/catalogs/other/schema")
    assert (elsewhere.status_code, elsewhere.json()) == (404, none.json())


def test_an_answer_is_the_same_in_every_format(served: Served) -> None:
    first = served.ask(BY_REGION, epsilon=1)
    path = f"{BASE}/answers/{first.headers['Discreet-Answer']}"
    told = first.json()
    assert told["charged"]["epsilon"] == 1
    kept = served.call("GET", f"{path}?format=json").json()
    assert kept == told
    lines = served.call("GET", f"{path}?format=csv").text.splitlines()
    assert lines[0] == "region,n,n_error,age,age_error"
    table = pq.read_table(BytesIO(served.call("GET", f"{path}?format=parquet").content))
    assert table.column("n").to_pylist() == [row[1] for row in told["rows"]]
    arrow = served.call("GET", f"{path}?format=arrow").content
    with ipc.open_stream(arrow) as stream:
        assert stream.read_all().num_rows == 2


def test_margins_at_another_confidence_are_of_the_answer_and_charge_nothing(served: Served) -> None:
    asked = served.ask(f"{COUNT} WHERE age > 77", "ann", epsilon=1)
    place = f"{BASE}/answers/{asked.headers['discreet-answer']}/margins"
    left = served.call("GET", f"{BASE}/budget").json()
    at = {
        level: served.call("GET", f"{place}?confidence={level}").json()["margins"][0][0]
        for level in ("0.5", "0.95", "99/100")
    }
    assert at["0.5"] < at["0.95"] < at["99/100"]
    assert served.call("GET", place, "guest").json() == {"margins": [[at["0.95"]]]}
    assert served.call("GET", place, "bob").status_code == 404
    assert served.call("GET", f"{place}?confidence=1").status_code == 422
    assert served.call("GET", f"{BASE}/budget").json() == left


def test_margins_are_of_the_numbers_that_were_shown(tmp_path: Path) -> None:
    catalog = write_catalog(tmp_path)
    with serving(catalog) as served:
        asked = served.ask(COUNT, epsilon=1)
    write_catalog(tmp_path, without=3)  # the data changed: a new answer would be charged
    with serving(catalog) as served:
        place = f"{BASE}/answers/{asked.headers['discreet-answer']}"
        left = served.call("GET", f"{BASE}/budget").json()
        found = served.call("GET", f"{place}/margins?confidence=0.5")
        assert found.status_code == 409
        assert found.json()["error"]["code"] == "not_saved"
        assert served.call("GET", place).status_code == 200
        assert served.call("GET", f"{BASE}/budget").json() == left


def test_a_call_that_is_repeated_with_its_key_is_the_same_call(served: Served) -> None:
    before = served.call("GET", f"{BASE}/budget").json()["remaining"]["epsilon"]
    sql = f"{COUNT} WHERE age > 2"
    one, two = (served.ask(sql, key="12345678-abc", epsilon=1) for _ in range(2))
    assert one.json() == two.json()
    assert one.headers["Discreet-Answer"] == two.headers["Discreet-Answer"]
    assert one.json()["charged"]["epsilon"] == 1
    assert served.call("GET", f"{BASE}/budget").json()["remaining"]["epsilon"] == before - 1
    other = served.ask(sql, key="12345678-abc", epsilon=2)
    assert other.status_code == 409
    assert other.json()["error"]["code"] == "key_reused"
    assert served.ask(sql, who="bob", key="12345678-abc", epsilon=1).json()["is_free"]


@pytest.mark.parametrize(
    ("sql", "code", "status"),
    [
        ("SELECT * FROM visits", "row_level", 422),
        ("SELECT nope FROM visits", "unknown_name", 422),
        ("SELECT COUNT( FROM visits", "sql_syntax", 422),
        ("DROP TABLE visits", "statement", 422),
        (COUNT, "budget", 402),
    ],
)
def test_a_rejection_has_one_form(served: Served, sql: str, code: str, status: int) -> None:
    reply = served.ask(sql, who="bob", epsilon=60)
    found = reply.json()["error"]
    assert (reply.status_code, found["code"]) == (status, code)
    assert found["message"]
    assert set(found) >= {"code", "message", "remedy", "place"}


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'"x"', b'{"sql": 1}', b'{"sql": "SELECT 1", "nonsense": 2}', b"\xff\xfe"],
)
def test_a_body_that_is_no_call_is_rejected(served: Served, body: bytes) -> None:
    reply = served.call(
        "POST", f"{BASE}/ask", content=body, headers={"Content-Type": "application/json"}
    )
    assert reply.status_code == 422
    assert reply.json()["error"]["code"] == "bad_call"


@pytest.mark.parametrize(
    "body",
    [
        '{"sql": "SELECT COUNT(*) FROM visits", "epsilon": 0.1, "epsilon": 40}',
        '{"sql": "SELECT COUNT(*) FROM visits", "within": {"n": 1, "n": 2}}',
        '{"sql": "SELECT COUNT(*) FROM visits", "epsilon": NaN}',
    ],
    ids=["field", "inner field", "no number"],
)
def test_a_body_with_two_readings_is_rejected(served: Served, body: str) -> None:
    left = served.call("GET", f"{BASE}/budget").json()
    headers = {"Content-Type": "application/json"}
    reply = served.call("POST", f"{BASE}/ask", content=body.encode(), headers=headers)
    assert reply.status_code == 400
    assert reply.json()["error"]["code"] == "bad_call"
    assert served.call("GET", f"{BASE}/budget").json() == left


def test_a_long_body_is_not_read(served: Served) -> None:
    body = json.dumps({"sql": "x" * 10**6}).encode()
    reply = served.call("POST", f"{BASE}/ask", content=body)
    assert reply.status_code == 413


def test_a_foreign_name_is_rejected(served: Served) -> None:
    reply = served.call("GET", "/health", None, headers={"Host": "evil.example"})
    assert reply.status_code == 421


def test_an_ended_token_ends_at_once(served: Served) -> None:
    made = served.call("POST", f"{BASE}/analysts", "boss", json={"name": "eve", "epsilon": 1})
    assert made.status_code == 201
    served.tokens["eve"] = made.json()["token"]
    assert served.call("GET", f"{BASE}/budget", "eve").status_code == 200
    rotated = served.call("PATCH", f"{BASE}/analysts/eve", "boss", json={"rotate": True})
    assert served.call("GET", f"{BASE}/budget", "eve").status_code == 401
    served.tokens["eve"] = rotated.json()["token"]
    assert served.call("GET", f"{BASE}/budget", "eve").status_code == 200
    served.call("PATCH", f"{BASE}/analysts/eve", "boss", json={"enabled": False})
    assert served.call("GET", f"{BASE}/budget", "eve").status_code == 401


def test_limits_of_an_account_are_set_seen_and_enforced(served: Served) -> None:
    body = {"name": "sam", "epsilon": 5, "per_query": "1/10", "default_epsilon": 0.05}
    made = served.call("POST", f"{BASE}/analysts", "boss", json=body)
    assert made.status_code == 201
    assert made.json()["limits"]["per_query_exact"] == "1/10"
    served.tokens["sam"] = made.json()["token"]
    query = {"sql": "SELECT COUNT(*) AS n FROM visits WHERE age > 57", "epsilon": "1/5"}
    reply = served.call("POST", f"{BASE}/ask", "sam", json=query)
    assert reply.status_code == 402
    error = reply.json()["error"]
    assert error["code"] == "per_query_limit"
    assert (error["requested"], error["remaining"]) == ({"epsilon": "1/5"}, {"epsilon": "1/10"})
    told = served.call("POST", f"{BASE}/explain", "sam", json=query).json()
    assert "at most ε = 0.1 per query, so running it would be rejected." in told["warnings"][0]
    path = f"{BASE}/analysts/sam"
    changed = served.call("PATCH", path, "boss", json={"per_query": None, "per_day": 0.3}).json()
    assert (changed["limits"]["per_query"], changed["limits"]["default_epsilon"]) == (None, 0.05)
    assert served.call("POST", f"{BASE}/ask", "sam", json=query).status_code == 200
    more = {**query, "sql": "SELECT COUNT(*) AS n FROM visits WHERE age > 58"}
    reply = served.call("POST", f"{BASE}/ask", "sam", json=more)
    assert (reply.status_code, reply.json()["error"]["code"]) == (402, "per_day_limit")
    assert served.call("POST", f"{BASE}/ask", "sam", json=query).status_code == 200  # saved
    limits = served.call("GET", f"{BASE}/limits", "sam").json()
    assert (limits["per_day"], limits["remaining_today_exact"]) == (0.3, "1/10")
    assert limits["renewed"].endswith("T00:00:00+00:00")
    assert served.call("GET", f"{BASE}/budget", "sam").json()["limits"] == limits
    served.call("PATCH", path, "boss", json={"rotate": True, "enabled": True})
    (found,) = [
        each
        for each in served.call("GET", f"{BASE}/analysts", "boss").json()["analysts"]
        if each["name"] == "sam"
    ]
    assert found["limits"] == limits
    wrong = served.call("PATCH", path, "boss", json={"per_query": 0.01})
    assert wrong.status_code == 422
    assert "default_epsilon" in wrong.json()["error"]["message"]
    assert served.call("PATCH", path, "sam", json={"per_day": None}).status_code == 401


def test_a_request_is_granted_and_raises_the_cap(served: Served) -> None:
    asked = served.call(
        "POST", f"{BASE}/requests", "bob", json={"epsilon": 5, "reason": "a second year"}
    )
    assert asked.status_code == 201
    number = asked.json()["number"]
    path, granted = f"{BASE}/requests/{number}/decision", {"granted": True}
    assert served.call("POST", path, "bob", json=granted).status_code == 403
    decided = served.call("POST", path, "boss", json=granted)
    assert decided.json()["state"] == "granted"
    left = served.call("GET", f"{BASE}/budget", "bob").json()["remaining"]
    assert left["total_epsilon"] == 5


def test_an_expensive_query_runs_once_it_is_approved_however_it_is_written(
    tmp_path: Path, discreet: Discreet
) -> None:
    config = tmp_path / "server.toml"
    config.write_text("approval_above = 0.4\n")
    catalog = write_catalog(tmp_path)
    with serving(catalog, "--config", str(config)) as served, served.connect() as remote:
        assert served.ask(COUNT, epsilon=0.5).json()["error"]["code"] == "approval_needed"
        body = {"reason": "once", "query": {"sql": f"{COUNT} -- all", "epsilon": "1/2"}}
        number = served.call("POST", f"{BASE}/requests", json=body).json()["number"]
        shown = discreet("analyst", "requests", "--catalog", str(catalog))
        assert f"query at ε = 0.5: {COUNT}" in shown.out
        path = f"{BASE}/requests/{number}/decision"
        assert served.call("POST", path, "boss", json={"granted": True}).status_code == 200
        assert served.ask(COUNT, "bob", epsilon=0.5).status_code == 403
        assert served.ask(COUNT, epsilon=0.6).status_code == 403
        assert remote.ask(COUNT, epsilon=0.5).charged.epsilon == Fraction(1, 2)


def test_the_log_has_who_did_what_and_no_value(served: Served) -> None:
    served.ask(f"{COUNT} WHERE age > 3", epsilon=1)
    entries = served.call("GET", f"{BASE}/audit", "boss").json()["entries"]
    asked = [each for each in entries if each.get("question", "").endswith("age > 3")]
    assert asked[0]["who"] == "ann"
    assert asked[0]["outcome"] == "charged"
    assert asked[0]["epsilon"] == "1"
    assert "rows" not in json.dumps(entries)


def test_the_log_has_every_query_in_its_canonical_form_and_every_free_read(served: Served) -> None:
    sent = "select  count(*) as N -- mine\n from Visits where AGE > 4"
    body = {"sql": sent, "epsilon": 1}
    served.call("POST", f"{BASE}/explain", json=body)
    saved = served.ask(sent, epsilon=1).headers["Discreet-Answer"]
    served.call("GET", f"{BASE}/answers/{saved}")
    served.call("GET", f"{BASE}/answers/{saved}/margins")
    served.call("GET", f"{BASE}/answers/{saved}", "bob")
    served.ask("SELECT ( -- no query", epsilon=1)
    served.ask(sent, who="guest", epsilon=1)
    entries = served.call("GET", f"{BASE}/audit?limit=7", "boss").json()["entries"]
    told = [(each["who"], each["action"], each["outcome"]) for each in reversed(entries)]
    assert told == [
        ("ann", "explain", "free"),
        ("ann", "ask", "charged"),
        ("ann", "read", "free"),
        ("ann", "margins", "free"),
        ("bob", "read", "not_found"),
        ("ann", "ask", "sql_syntax"),
        ("guest", "call", "not_allowed"),
    ]
    canonical = "SELECT COUNT(*) AS n FROM visits WHERE age > 4"
    for each in entries[-2:]:
        assert (each["question"], each["sql"], each["epsilon"]) == (canonical, sent, "1")
    assert "question" not in entries[1]
    assert entries[1]["sql"] == "SELECT ( -- no query"
    assert entries[0]["route"].endswith("/ask")
    mine = served.call("GET", f"{BASE}/history?limit=2").json()["entries"]
    assert mine == [entries[1], entries[-2]], "what may be charged, and nothing else"


def test_the_log_has_tables_that_could_not_be_measured(served: Served) -> None:
    for table, epsilon in (("nowhere", 1), ("visits", 51), ("visits", 0.5), ("visits", 0.5)):
        served.call("POST", f"{BASE}/coverage", json={"table": table, "epsilon": epsilon})
    entries = served.call("GET", f"{BASE}/audit", "boss").json()["entries"]
    found = [
        (each["table"], each["outcome"], each.get("epsilon"))
        for each in reversed(entries)
        if each["action"] == "coverage"
    ]
    assert found[-4:] == [
        ("nowhere", "unknown_name", None),
        ("visits", "budget", None),
        ("visits", "charged", "1/2"),
        ("visits", "free", "0"),
    ]


def test_a_session_needs_its_csrf_token(served: Served) -> None:
    signed_in = served.call("POST", "/v1/session", None, json={"token": served.tokens["ann"]})
    cookie = signed_in.headers["set-cookie"]
    assert cookie.startswith("__Host-discreet=")
    for each in ("HttpOnly", "Secure", "SameSite=strict", "Path=/"):
        assert each in cookie
    headers = {"Cookie": cookie.partition(";")[0]}
    assert served.call("GET", "/v1/me", None, headers=headers).status_code == 200
    asked = {"json": {"sql": COUNT, "epsilon": 1}}
    forged = served.call("POST", f"{BASE}/ask", None, headers=headers, **asked)
    assert forged.status_code == 403
    headers["X-CSRF-Token"] = signed_in.json()["csrf"]
    assert served.call("POST", f"{BASE}/ask", None, headers=headers, **asked).status_code == 200
    assert served.call("DELETE", "/v1/session", None, headers=headers).status_code == 204
    assert served.call("GET", "/v1/me", None, headers=headers).status_code == 401


def test_nothing_of_the_data_or_the_machine_is_in_the_schema(
    served: Served, tmp_path: Path
) -> None:
    text = served.call("GET", f"{BASE}/schema").text
    wire = served.call(
        "GET", f"{BASE}/schema", headers={"Accept": "application/vnd.discreet+json"}
    ).text
    for each in (text, wire):
        assert "visits.csv" not in each
        assert str(tmp_path.parent) not in each
