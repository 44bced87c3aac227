"""Agents over both transports for real: a process that a client starts, and a server on a port."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from discreet.agents.agent_server import make_server
from discreet.agents.ceiling import Ceiling
from discreet.agents.remote_desk import RemoteDesk
from discreet.opening import open_books
from discreet.server.app import make_app
from discreet.server.settings import Settings
from tests.agents.sessions import (
    BY_REGION,
    COUNT,
    Person,
    call,
    command,
    declare,
    over_http,
    read,
    rejected,
    remaining,
    run,
)
from tests.cli.runs import call as run_command
from tests.server.calling import Client as InProcess
from tests.server.running import Served, add_accounts, serving, write_catalog

pytestmark = pytest.mark.xdist_group("agents")

HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}


@dataclass(frozen=True)
class Place:
    """A server of two catalogs. The token of ann is for both."""

    served: Served
    catalog: Path

    @property
    def url(self) -> str:
        """The address for agents."""
        return f"{self.served.url}/mcp/clinic"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("agents")
    catalog = write_catalog(folder / "clinic", epsilon=100)
    other = write_catalog(folder / "other", epsilon=3, without=1)
    config = folder / "server.toml"
    config.write_text(
        "agents = true\napproval_above = 5\n[limits]\nburst = 10000\nrequests_per_minute = 10000\n"
    )
    add_accounts(catalog)
    with open_books(catalog) as ledger, open_books(other) as its_own:
        (ann,) = (each for each in ledger.analysts() if each.name == "ann")
        its_own.declare_analyst("ann", epsilon=5, token_hash=ann.token_hash)
    options = ("--config", str(config), "--host-name", "clinic.example")
    with serving(catalog, f"other={other}", *options) as served:
        yield Place(served=served, catalog=catalog)


def limit_bob(place: Place) -> str:
    """Let a person confirm what bob's agent asks; return the token."""
    with open_books(place.catalog) as ledger:
        (bob,) = (each for each in ledger.analysts() if each.name == "bob")
        ledger.declare_analyst("bob", token_hash=bob.token_hash, epsilon=30, confirm_above=0.3)
    return place.served.tokens["bob"]


async def every_tool(agent: Client) -> None:
    """Call every tool, and read every resource."""
    (table,) = (await call(agent, "tables"))["tables"]
    assert table["name"] == "visits"
    told = await call(agent, "explain", sql=BY_REGION, epsilon=0.5)
    answer = await call(agent, "ask", sql=BY_REGION, epsilon=0.5)
    assert [each["region"] for each in answer["rows"]] == ["north", "south"]
    assert answer["rows"][0]["n"]["margin"] == told["columns"][0]["margin"]
    assert (await call(agent, "ask", sql=BY_REGION, epsilon=0.5))["from_ledger"]
    for tool in ("explain", "ask"):
        words = await rejected(agent, tool, sql="SELECT * FROM visits", epsilon=0.1)
        assert "row_level: " in words
        assert "SELECT COUNT(*) AS n" in words
    assert await remaining(agent) > 0
    entries = (await call(agent, "history"))["entries"]
    assert answer["id"] in {each["answer"] for each in entries}
    saved = json.loads(await read(agent, f"discreet://answers/{answer['id']}"))
    assert saved["rows"] == answer["rows"]
    assert "visits" in await read(agent, "discreet://catalog")
    assert "ε" in await read(agent, "discreet://guide")
    assert json.loads(await read(agent, "discreet://series")) == {"series": []}
    with pytest.raises(MCPError, match="series: There is no series"):
        await read(agent, "discreet://series/none")
    with pytest.raises(MCPError, match="not_found"):
        await read(agent, "discreet://answers/AAAAAAAAAAAAAAAAAAAAAAAA")


# --------------------------------------------------------------------------- over HTTP


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_tool_works_over_http(place: Place, mode: str) -> None:
    async def act() -> None:
        async with over_http(place.url, place.served.tokens["ann"], mode=mode) as agent:
            await every_tool(agent)

    run(act)


def test_queries_of_agents_are_in_the_audit_log_and_count_for_everybody(place: Place) -> None:
    sql = f"{COUNT} WHERE age > 11"

    async def act() -> None:
        async with over_http(place.url, place.served.tokens["ann"]) as agent:
            await call(agent, "ask", sql=sql, epsilon=0.25)

    run(act)
    entries = place.served.call("GET", "/v1/catalogs/clinic/history").json()["entries"]
    assert (entries[0]["sql"], entries[0]["outcome"]) == (sql, "charged")
    assert place.served.ask(sql, epsilon=0.25).json()["was_kept"]
    metrics = place.served.call("GET", "/metrics", "boss").text
    assert 'method="POST",route="/mcp",status="200"' in metrics


def test_the_owner_approves_what_agents_ask_above_the_setting(place: Place) -> None:
    async def act() -> None:
        async with over_http(place.url, place.served.tokens["ann"]) as agent:
            words = await rejected(agent, "ask", sql=f"{COUNT} WHERE age > 12", epsilon=6)
            assert "approval_needed: " in words
            assert "POST" not in words

    run(act)


def test_a_token_finds_its_catalogs_and_no_other(place: Place) -> None:
    async def act() -> None:
        tokens = place.served.tokens
        async with over_http(f"{place.served.url}/mcp/other", tokens["ann"]) as agent:
            found = await call(agent, "budget")
            assert found["total"]["total_epsilon"] == 3
        async with over_http(f"{place.served.url}/mcp", tokens["guest"]) as agent:
            await call(agent, "tables")
            assert "not_allowed" in await rejected(agent, "ask", sql=COUNT, epsilon=1)

    run(act)
    several = place.served.call("POST", "/mcp", "ann", json=LIST, headers=HEADERS)
    assert several.status_code == 400
    assert "/mcp/clinic, /mcp/other" in several.json()["error"]["remedy"]
    for who, path in (("guest", "/mcp/other"), ("ann", "/mcp/nothing")):
        reply = place.served.call("POST", path, who, json=LIST, headers=HEADERS)
        assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_found")


def test_calls_without_a_sound_token_are_sent_away(place: Place) -> None:
    def status(**headers: str) -> int:
        reply = httpx.post(place.url, json=LIST, headers=HEADERS | headers)
        assert "tools" not in reply.text
        return reply.status_code

    assert status() == 401
    assert status(Authorization="Bearer nothing") == 401
    assert status(Authorization=f"Bearer {place.served.tokens['ann']}x") == 401
    assert status(Authorization="Basic YTpi") == 401
    assert status(Cookie="__Host-discreet=abc") == 401

    async def act() -> None:
        async with over_http(place.url, "wrong") as agent:
            await agent.list_tools()

    with pytest.raises(BaseExceptionGroup):
        run(act)


def test_an_account_that_was_disabled_is_sent_away(place: Place) -> None:
    call_: dict[str, Any] = {"json": LIST, "headers": HEADERS}
    assert place.served.call("POST", "/mcp/clinic", "guest", **call_).status_code == 200
    with open_books(place.catalog) as ledger:
        (guest,) = (each for each in ledger.analysts() if each.name == "guest")
        kept: dict[str, Any] = {"role": "reader", "token_hash": guest.token_hash, "epsilon": None}
        ledger.declare_analyst("guest", **kept, enabled=False)
        assert place.served.call("POST", "/mcp/clinic", "guest", **call_).status_code == 401
        ledger.declare_analyst("guest", **kept)


def test_pages_of_other_sites_and_foreign_names_are_sent_away(place: Place) -> None:
    def status(**headers: str) -> int:
        more: dict[str, Any] = {"json": LIST, "headers": HEADERS | headers}
        return place.served.call("POST", "/mcp/clinic", **more).status_code

    assert status() == 200
    assert status(Origin=place.served.url) == 200
    assert status(Origin="http://evil.example") == 403
    assert status(Origin="null") == 403
    assert status(Origin="http://[") == 403
    assert status(Host="evil.example") == 421
    for method in ("GET", "DELETE", "PUT"):
        reply = place.served.call(method, "/mcp/clinic", headers=HEADERS)
        assert reply.status_code == 405


def test_agents_ask_under_the_names_of_the_server(place: Place) -> None:
    def status(**headers: str) -> int:
        more: dict[str, Any] = {"json": LIST, "headers": HEADERS | headers}
        return place.served.call("POST", "/mcp/clinic", **more).status_code

    assert status(Host="clinic.example") == 200
    assert status(Host="clinic.example", Origin="https://clinic.example") == 200
    assert status(Host="clinic.example", Origin="https://evil.example") == 403
    assert status(Host="localhost", Origin="https://clinic.example") == 403


def test_bodies_have_one_reading_and_a_length(place: Place) -> None:
    def reply(body: bytes) -> httpx.Response:
        return place.served.call("POST", "/mcp/clinic", content=body, headers=HEADERS)

    twice = b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "tools/list"}'
    assert "written twice" in reply(twice).text
    assert reply(b"[" * 100_000).status_code == 400
    assert reply(b"\xff").status_code == 400
    assert reply(b'{"jsonrpc": "2.0", "id": 1, "method": "\\ud800"}').status_code in (200, 400)
    assert reply(b" " * (1 << 19)).status_code == 413
    surrogate = {"name": "ask", "arguments": {"sql": "SELECT '\ud800'", "epsilon": 0.1}}
    body = json.dumps({**LIST, "method": "tools/call", "params": surrogate}).encode()
    found = reply(body)
    assert found.status_code in (200, 400)
    assert "Traceback" not in found.text


@pytest.mark.parametrize("action", ["accept", "decline"])
def test_a_confirmation_travels_over_http_without_a_session(place: Place, action: str) -> None:
    token = limit_bob(place)
    person, sql = Person(action), f"{COUNT} WHERE age > {len(action)}"

    async def act() -> None:
        async with over_http(place.url, token, elicitation_callback=person) as agent:
            left = await remaining(agent)
            found = await agent.call_tool("ask", {"sql": sql, "epsilon": 0.5})
            assert found.is_error == (action == "decline")
            spent = 0 if found.is_error else 0.5
            assert await remaining(agent) == pytest.approx(left - spent)
            (question,) = person.asked
            assert sql in question
        async with over_http(place.url, token, mode="legacy") as agent:
            other = f"{COUNT} WHERE age > 77"
            words = await rejected(agent, "ask", sql=other, epsilon=0.5)
            assert "confirmation_needed" in words

    run(act)


def test_a_confirmation_is_for_one_query_of_one_account(place: Place) -> None:
    """What a client sends back is checked: neither made up nor used for anything else."""
    limit_bob(place)
    version = "2026-07-28"
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    }

    def asked(who: str, sql: str, **more: Any) -> Any:
        params = {
            "name": "ask",
            "arguments": {"sql": sql, "epsilon": 0.5},
            "_meta": meta,
            **more,
        }
        headers = HEADERS | {
            "MCP-Protocol-Version": version,
            "Mcp-Method": "tools/call",
            "Mcp-Name": "ask",
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return place.served.call("POST", "/mcp/clinic", who, json=body, headers=headers).json()

    sql, other = f"{COUNT} WHERE age > 21", f"{COUNT} WHERE age > 22"
    first = asked("bob", sql)["result"]
    assert first["resultType"] == "input_required"
    (name,) = first["inputRequests"]
    yes = {name: {"action": "accept", "content": {"confirm": True}}}
    state = first["requestState"]
    for who, text, sent in (
        ("bob", other, state),
        ("ann", sql, state),
        ("bob", sql, state[:-3] + "AAA"),
        ("bob", sql, "AAAA"),
    ):
        reply = asked(who, text, inputResponses=yes, requestState=sent)
        assert "error" in reply, reply
    unasked = asked("bob", sql, inputResponses=yes)["result"]
    assert unasked["resultType"] == "input_required"
    found = asked("bob", sql, inputResponses=yes, requestState=state)["result"]
    assert not found.get("isError")
    assert found["structuredContent"]["cost"]["epsilon"] == 0.5


def test_twenty_queries_at_once_never_spend_more_than_the_cap(place: Place) -> None:
    token = place.served.tokens["ann"]

    async def act() -> None:
        async with over_http(f"{place.served.url}/mcp/other", token) as agent:
            found = await asyncio.gather(
                *(
                    agent.call_tool("ask", {"sql": f"{COUNT} WHERE age > {i}", "epsilon": 0.5})
                    for i in range(20)
                )
            )
            assert sum(not each.is_error for each in found) == 6
            assert await remaining(agent) == pytest.approx(0)

    run(act)


def test_agents_are_off_unless_they_are_wanted(tmp_path: Path) -> None:
    with serving(write_catalog(tmp_path / "clinic")) as served:
        assert served.call("POST", "/mcp", json=LIST, headers=HEADERS).status_code == 404


def test_replies_to_agents_leave_at_ticks_of_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = []

    async def tick(settings: Settings) -> None:
        ticks.append(settings.release_every)

    monkeypatch.setattr("discreet.server.app.tick", tick)
    app = make_app({}, Settings(agents=True, release_every=Fraction(1, 4)))
    assert InProcess(app).send("/mcp", LIST).status_code == 401
    assert ticks == [Fraction(1, 4)]


# --------------------------------------------------------------------------- over stdio


def test_every_tool_works_in_a_process_of_its_own(tmp_path: Path) -> None:
    catalog = write_catalog(tmp_path / "clinic", epsilon=10)
    tokens = add_accounts(catalog)
    declare(catalog, "bot", epsilon=3, confirm_above=0.6)

    async def with_token() -> None:
        token = {"DISCREET_TOKEN": tokens["ann"]}
        started = command("--catalog", str(catalog), "--max-epsilon", "0.6", environment=token)
        async with Client(started) as agent:
            await every_tool(agent)
            words = await rejected(agent, "ask", sql=COUNT, epsilon=0.2)
            assert "session_limit" in words

    async def by_name() -> None:
        person = Person("accept")
        started = command("--catalog", "discreet.toml", "--as", "bot", folder=catalog.parent)
        async with Client(started, mode="legacy", elicitation_callback=person) as agent:
            assert (await call(agent, "budget"))["account"] == "bot"
            await call(agent, "ask", sql=COUNT, epsilon=0.7)
            assert len(person.asked) == 1
            assert await remaining(agent) == 2.3

    run(with_token)
    run(by_name)


def test_agents_ask_a_server_that_has_no_route_for_them(tmp_path: Path) -> None:
    with serving(write_catalog(tmp_path / "clinic", epsilon=10)) as served:

        async def here() -> None:
            with served.connect("bob") as remote:
                desk, ceiling = RemoteDesk(remote), Ceiling(Fraction(1))
                async with Client(make_server(lambda _: desk, ceiling=ceiling)) as agent:
                    await every_tool(agent)
                    words = await rejected(agent, "ask", sql=COUNT, epsilon=0.9)
                    assert "session_limit" in words
            with served.connect("guest") as remote:
                reader = RemoteDesk(remote)
                async with Client(make_server(lambda _: reader)) as agent:
                    assert "not_allowed" in await rejected(agent, "budget")
                    with pytest.raises(MCPError, match="not_found"):
                        await read(agent, "discreet://answers/.")
                    await call(agent, "tables")

        async def in_a_process() -> None:
            environment = {"DISCREET_TOKEN": served.tokens["bob"], "DISCREET_SERVER": served.url}
            async with Client(command("--read-only", environment=environment)) as agent:
                names = [each.name for each in (await agent.list_tools()).tools]
                assert names == ["tables", "explain", "budget", "history"]
                assert await remaining(agent) == 1.5
                assert "Unknown tool" in await rejected(agent, "ask", sql=COUNT, epsilon=1)

        run(here)
        run(in_a_process)


def test_wrong_calls_of_the_command_are_sentences(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog = str(write_catalog(tmp_path / "clinic"))
    add_accounts(Path(catalog))
    for options, words in (
        ((), "account of its own"),
        (("--as", "nobody"), "There is no enabled account"),
        (("--token", "wrong"), "token"),
        (("--as", "ann", "--max-epsilon", "0"), "must be more than 0"),
        (("--as", "ann", "--catalog", "nothing.toml"), "not found"),
        (("--as", "ann", "--token", "x"), "not both"),
    ):
        ended = run_command(capsys, monkeypatch, "mcp", "--catalog", catalog, *options)
        assert ended.code in (1, 2)
        assert ended.out == ""
        assert words in " ".join(ended.err.replace("│", "").split())


def test_neither_the_package_nor_the_help_loads_the_library() -> None:
    code = (
        "import sys, discreet, discreet.cli.app as app\n"
        "app.load('mcp'), app.load('serve')\n"
        "assert not {'mcp', 'mcp_types', 'pydantic'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - our own code
