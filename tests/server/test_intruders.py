"""Ways around a limit: of approval, of time, of a role, of the rate, of another catalog."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet.server.analyst_routes
import discreet.server.asking
from discreet.ledger.stored import StoredLedger
from discreet.server import admission
from discreet.server.admission import wait_for_clock
from discreet.server.app import make_app
from discreet.server.audit import MOST_LOGGED
from discreet.server.callers import Caller
from discreet.server.faults import CallError
from discreet.server.records import Records, records_beside, schema_of
from discreet.server.settings import Settings
from discreet.server.sites import Site, open_site
from tests.server.calling import Client
from tests.server.held import Hold, held_process, limits_of, wait_for
from tests.server.running import BASE, Served, add_accounts, serving, write_catalog

COUNT = "SELECT COUNT(*) AS n FROM visits"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("clinic")
    config = folder / "server.toml"
    config.write_text("approval_above = 0.5\n")
    with serving(write_catalog(folder), "--config", str(config)) as found:
        yield found


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Open a catalog in this process."""
    catalog = write_catalog(tmp_path)
    add_accounts(catalog)
    with ExitStack() as stack:
        found = open_site("clinic", catalog)
        stack.callback(found.close)
        yield found


# ----------------------------------------------------------------------- approval


def test_coverage_above_the_limit_needs_approval_unless_it_was_measured(served: Served) -> None:
    def measured(who: str, **more: Any) -> Any:
        return served.call("POST", f"{BASE}/coverage", who, json={"table": "visits", **more})

    for more in ({"epsilon": 3}, {"epsilon": "51/100"}, {}):  # a twentieth of the total is 5
        reply = measured("ann", **more)
        assert (reply.status_code, reply.json()["error"]["code"]) == (403, "approval_needed")
    left = served.call("GET", f"{BASE}/budget").json()["remaining"]
    assert left["epsilon"] == left["total_epsilon"]
    assert measured("boss", epsilon=3).status_code == 200
    assert measured("ann", epsilon=3).status_code == 200
    assert served.call("GET", f"{BASE}/budget").json()["remaining"] == left
    assert measured("ann", epsilon=0.5).status_code == 200


# ----------------------------------------------------------------------- the clock


def test_the_end_of_a_query_is_saved_and_logged_by_the_clock(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Analysts see the time of the line, and in explanations that there is a new table."""
    events: list[str] = []

    def noted(kind: type, name: str) -> None:
        act = getattr(kind, name)

        def acted(*given: Any, **named: Any) -> Any:
            events.append(name)
            return act(*given, **named)

        monkeypatch.setattr(kind, name, acted)

    async def rest(*_: object) -> None:
        events.append("rest")

    noted(Records, "log")
    noted(StoredLedger, "keep")
    monkeypatch.setattr(discreet.server.asking, "wait_for_clock", lambda *_: events.append("clock"))
    monkeypatch.setattr(discreet.server.asking, "rest", rest)
    client = _client(site, monkeypatch)
    calls: list[tuple[str, dict[str, Any], list[str]]] = [
        ("ask", {"sql": COUNT, "epsilon": 1}, ["clock", "keep", "rest", "log"]),
        ("ask", {"sql": COUNT, "epsilon": 1}, ["rest", "log"]),
        ("ask", {"sql": "SELECT *"}, ["rest", "log"]),
        (
            "coverage",
            {"table": "visits", "columns": [], "epsilon": 1},
            ["clock", "keep", "rest", "log"],
        ),
        ("coverage", {"table": "nothing"}, ["rest", "log"]),
    ]
    for route, body, expected in calls:
        events.clear()
        client.send(f"{BASE}/{route}", body)
        assert events == expected


@pytest.mark.parametrize("now", [100.0, 100.1, 100.79, 100.81, 100.999])
def test_the_clock_leaves_time_for_the_line_before_the_reply(
    now: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(admission, "sleep", slept.append)
    monkeypatch.setattr(admission, "monotonic", lambda: now)
    begun = 97.3
    wait_for_clock(Settings(), begun)
    assert not slept
    wait_for_clock(Settings(release_every=Fraction(1)), begun)
    assert (now + slept[0] - begun) % 1 == pytest.approx(0.8)


# ----------------------------------------------------------------------- ended accounts


def test_a_query_that_waits_ends_with_the_account_of_its_caller(tmp_path: Path) -> None:
    """An owner's queries are charged to an account that nobody can disable."""
    catalog, hold = write_catalog(tmp_path), Hold(tmp_path)
    with (
        held_process(catalog, "run", *limits_of(tmp_path, "running = 1")) as found,
        ThreadPoolExecutor() as pool,
    ):
        hold.arm()
        first = pool.submit(found.ask, COUNT, epsilon=1)
        hold.wait_until_reached()
        waits = pool.submit(found.ask, COUNT, "boss", epsilon=7)
        until = "discreet_waiting_queries 1.0"
        wait_for(lambda: until in found.call("GET", "/metrics", "boss").text)
        reply = found.call("PATCH", f"{BASE}/analysts/boss", "boss", json={"enabled": False})
        assert reply.status_code == 200
        hold.release()
        assert first.result().status_code == 200
        assert waits.result().status_code == 401
        assert found.call("GET", f"{BASE}/budget").json()["remaining"]["epsilon"] == 49


@pytest.mark.parametrize(
    "change", [{"enabled": False}, {"role": "reader"}, {"token_hash": None, "scram": None}, {}]
)
def test_whoever_has_another_role_or_token_is_a_stranger(site: Site, change: Any) -> None:
    known = next(each for each in site.ledger.analysts() if each.name == "ann")
    caller = Caller(name="ann", role="analyst", site=site, token_hash=known.token_hash)
    site.ledger.replace_analyst(known, replace(known, **change))
    if not change:
        caller.check_still()
        return
    with pytest.raises(CallError):
        caller.check_still()


# ----------------------------------------------------------------------- other accounts


def test_a_name_that_is_taken_is_not_added_again(served: Served) -> None:
    """It would end the token of whoever has the name, and enable who was disabled."""
    before = served.call("GET", f"{BASE}/analysts", "boss").json()
    for role in ("analyst", "owner"):
        body = {"name": "ann", "role": role, "epsilon": 1}
        reply = served.call("POST", f"{BASE}/analysts", "boss", json=body)
        assert (reply.status_code, reply.json()["error"]["code"]) == (409, "name_taken")
    assert served.call("GET", f"{BASE}/analysts", "boss").json() == before
    assert served.call("GET", f"{BASE}/budget").status_code == 200


def test_an_account_with_a_slash_in_its_name_can_be_disabled(served: Served) -> None:
    """Subjects of OpenID providers may be addresses."""
    name = "oidc:https://people.example/ann"
    made = served.call("POST", f"{BASE}/analysts", "boss", json={"name": name, "epsilon": 1})
    assert made.status_code == 201
    path = f"{BASE}/analysts/oidc:https:%2F%2Fpeople.example%2Fann"
    reply = served.call("PATCH", path, "boss", json={"enabled": False})
    assert (reply.status_code, reply.json()["name"]) == (200, name)
    assert reply.json()["enabled"] is False


def test_accounts_of_one_name_in_two_catalogs_have_turns_of_their_own(site: Site) -> None:
    other = Site(name="other", curator=site.curator, ledger=site.ledger, records=site.records)
    for role in ("analyst", "owner"):
        one, two = (Caller(name="ann", role=role, site=each) for each in (site, other))
        assert one.account == two.account
        assert one.place != two.place


def test_ledgers_with_names_that_begin_alike_have_records_of_their_own(tmp_path: Path) -> None:
    """Records decide what a caller may read, and which call a client's key stands for."""
    one, two = (records_beside(tmp_path / name) for name in ("clinic.2025", "clinic.2026"))
    one.begin("ann", "a key of ann", "one query")
    assert two.begin("ann", "a key of ann", "another").call == "another"
    for each in (one, two):
        each.close()
    assert schema_of("clinic") == "clinic_server"
    long = ["a" * 62 + end for end in "xy"]
    assert len({schema_of(each) for each in long}) == 2
    assert all(len(schema_of(each)) <= 63 for each in long)


# ----------------------------------------------------------------------- size


def test_a_line_of_the_log_has_no_more_than_the_beginning_of_a_long_query(served: Served) -> None:
    """A thousand lines are read at once: whole queries would be hundreds of megabytes."""
    sql = "SELECT '" + "€" * 80_000
    assert served.ask(sql, epsilon=1).status_code == 422
    (line,) = served.call("GET", f"{BASE}/history?limit=1").json()["entries"]
    assert line["sql"] == sql[:MOST_LOGGED] + "…"
    long = f"{COUNT} WHERE city <> '{'€' * 80_000}'"
    assert served.ask(long, epsilon=1).status_code in (200, 403)  # it is above approval_above
    (line,) = served.call("GET", f"{BASE}/history?limit=1").json()["entries"]
    assert line["sql"] == line["question"] == long[:MOST_LOGGED] + "…"


def test_what_no_parquet_file_holds_is_rejected_and_stays_readable(served: Served) -> None:
    sql = f"SELECT INTERVAL '1 month' AS d, {COUNT[7:]}"
    reply = served.ask(sql, "boss", epsilon=1)
    path = f"{BASE}/answers/{reply.headers['Discreet-Answer']}"
    statuses = {
        format_: served.call("GET", f"{path}?format={format_}", "boss").status_code
        for format_ in ("json", "csv", "arrow", "parquet")
    }
    assert statuses == {"json": 200, "csv": 200, "arrow": 200, "parquet": 422}


def test_answers_are_written_outside_of_the_loop_that_serves_others(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The JSON of a long answer takes seconds."""
    threads: list[threading.Thread] = []

    def written(_: object) -> bytes:
        threads.append(threading.current_thread())
        return b"{}"

    monkeypatch.setitem(discreet.server.analyst_routes.FORMATS, "json", written)
    client = _client(site, monkeypatch)
    reply = client.send(f"{BASE}/ask", {"sql": COUNT, "epsilon": 1})
    client.get(f"{BASE}/answers/{reply.headers['Discreet-Answer']}")
    assert len(threads) == 2
    assert threading.main_thread() not in threads


def _client(site: Site, monkeypatch: pytest.MonkeyPatch) -> Client:
    """Return a client of an application in this process, whose caller is ann."""
    known = next(each for each in site.ledger.analysts() if each.name == "ann")
    caller = Caller(name="ann", role="analyst", site=site, token_hash=known.token_hash)

    async def callers(*_: object) -> dict[str, Caller]:
        return {"clinic": caller}

    monkeypatch.setattr(discreet.server.signing.SignIns, "callers", callers)
    return Client(make_app({"clinic": site}, Settings()))
