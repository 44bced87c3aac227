"""Attempts to spend, to learn or to keep more than an agent may."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from discreet.agents.ceiling import Ceiling
from discreet.agents.desk import RejectionError
from discreet.agents.tools import DECLINED
from discreet.server.callers import NOWHERE, STRANGER
from discreet.server.settings import ServerLimits, Settings
from discreet.server.sites import Site
from tests.agents.sessions import (
    COUNT,
    Person,
    agent_at,
    call,
    declare,
    desk_at,
    opened,
    read,
    rejected,
    remaining,
    run,
    text_of,
)
from tests.replay import ReplayableEntropy
from tests.server.running import add_accounts, write_catalog


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    catalog = write_catalog(tmp_path / "clinic", epsilon=20)
    add_accounts(catalog)
    declare(catalog, "bot", epsilon=8, confirm_above=0.3)
    with opened(catalog) as found:
        yield found


# --------------------------------------------------------------------------- ceilings


def test_an_answer_that_is_too_long_counts_against_a_ceiling(site: Site) -> None:
    async def act() -> None:
        desk = desk_at(site, "ann", Settings(limits=replace(ServerLimits(), answer_bytes=10)))
        async with agent_at(site, desk=desk, ceiling=Ceiling(Fraction(1, 2))) as agent:
            for i in range(4):
                words = await rejected(agent, "ask", sql=f"{COUNT} WHERE age > {i}", epsilon=0.2)
                assert ("session_limit" if i > 1 else "answer_too_long") in words
            assert 20 - await remaining(agent) == pytest.approx(0.4)

    run(act)


def test_bounds_that_were_not_found_count_against_a_ceiling(site: Site) -> None:
    async def act() -> None:
        ceiling = Ceiling(Fraction(1, 2))
        async with agent_at(site, ceiling=ceiling) as agent:
            sql = "SELECT AVG(patient_id) AS a FROM visits WHERE age > 90"
            finding: dict[str, Any] = {"find_bounds_of": ["visits.patient_id"]}
            words = await rejected(agent, "ask", sql=sql, epsilon=0.1, **finding)
            assert "nothing_found" in words
            spent = 20 - await remaining(agent)
            assert 0 < spent <= ceiling.spent

    run(act)


@pytest.mark.parametrize(
    ("code", "in_parts", "spent"),
    [
        ("budget", False, 0),
        ("per_day_limit", False, 0),
        ("unlikely_groups", False, 0),
        ("sql_syntax", False, 0),
        ("approval_needed", False, 0),
        ("budget", True, 1),
        ("per_day_limit", True, 1),
        ("nothing_found", True, 1),
        ("entropy", False, 1),
        ("arithmetic_drift", False, 1),
        ("sealed", False, 1),
        ("stopping", False, 1),
        ("a_code_of_the_future", False, 1),
    ],
)
def test_only_errors_before_a_charge_leave_a_ceiling_as_it_was(
    code: str, in_parts: bool, spent: int
) -> None:
    ceiling = Ceiling(Fraction(2))
    with pytest.raises(RejectionError), ceiling.reserved(Fraction(1), in_parts=in_parts):
        raise RejectionError({"code": code})
    assert ceiling.spent == spent


def test_a_limit_that_is_set_during_a_call_lets_no_query_by_half(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A confirmation is needed by the limit that the cost was compared with, read once."""
    read_limits: list[Fraction | None] = []
    kind = "discreet.agents.caller_desk.CallerDesk.confirm_above"

    async def limited(_: object) -> Fraction | None:
        read_limits.append(Fraction(1, 10) if read_limits else None)
        return read_limits[-1]

    monkeypatch.setattr(kind, limited)

    async def act() -> None:
        async with agent_at(site, "bot") as agent:
            await call(agent, "ask", sql=COUNT, epsilon=0.2)
            assert len(read_limits) == 1
            other = f"{COUNT} WHERE age > 1"
            assert "confirmation_needed" in await rejected(agent, "ask", sql=other, epsilon=0.2)

    run(act)


SOUND: tuple[Any, ...] = (0.1, "0.1", "1/7", 0.05, 1, "01", 50, "50.0")
AMOUNTS: tuple[Any, ...] = (
    *(0, -1, -0.0, True, "", " 0.1", "0.1\n", "\u0661", "nan", "Infinity", "+1", "1_0", "0x1"),
    *("1e-400", 5e-324, "1e-99", 1e308, 10**30, 10**400, "9" * 31, "1/0", "0/1", "null", "true"),
    *([], [0.1], {}, {"n": 0.1}, {"n": "1/3"}, {"x": 1}, '{"n": 40}', None),
)
TERMS = ("epsilon", "max_epsilon", "within", "confidence", "delta", "groups_per_unit", "max_rows")
CLAUSE = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.2) COUNT(*) AS n FROM visits"


def test_whatever_is_stated_no_call_spends_more_than_a_limit_or_fails_unexpectedly(
    site: Site,
) -> None:
    site.ledger.declare_analyst("bot", epsilon=8, per_query=Fraction(1, 5))
    entropy = ReplayableEntropy(7)

    def one_of(given: Sequence[Any]) -> Any:
        return given[int.from_bytes(entropy.draw(4)) % len(given)]

    async def act() -> None:
        async with agent_at(site, "bot") as agent:
            left, spent_by = await remaining(agent), 0
            for i in range(400):
                names = {one_of(TERMS[:3]), *(one_of(TERMS) for _ in range(one_of((0, 1, 2))))}
                stated = {each: one_of(one_of((SOUND, SOUND, AMOUNTS))) for each in sorted(names)}
                sql = one_of((COUNT,) * 9 + (CLAUSE,))
                if sql is CLAUSE:
                    stated["dialect"] = "bigquery"
                arguments = {"sql": f"{sql} WHERE age > {i % 97}", **stated}
                found = await agent.call_tool("ask", arguments)
                assert "internal: " not in text_of(found), arguments
                now = await remaining(agent)
                assert left - now < 0.2 + 1e-9, arguments
                has_price = sql is CLAUSE or {"epsilon", "max_epsilon"} & stated.keys()
                if now < left:
                    spent_by += 1
                    assert has_price, arguments
                    assert not found.is_error, arguments
                left = now
            assert spent_by > 5

    run(act)


# --------------------------------------------------------------------------- what is kept


def test_errors_that_are_raised_again_keep_no_frames_of_calls(site: Site) -> None:
    async def act() -> None:
        async with agent_at(site, "bot", elicitation_callback=Person("decline")) as agent:
            assert "declined" in await rejected(agent, "ask", sql=COUNT, epsilon=0.5)
            with pytest.raises(MCPError):
                await read(agent, "discreet://answers/AAAA")
            site.ledger.declare_analyst("bot", epsilon=8, enabled=False)
            assert "not_signed_in" in await rejected(agent, "budget")

    run(act)
    for each in (DECLINED, NOWHERE, STRANGER):
        assert each.__traceback__ is None
        assert each.__context__ is None


# --------------------------------------------------------------------------- what is shown


def test_columns_whose_names_look_alike_once_escaped_are_all_shown(site: Site) -> None:
    async def act() -> None:
        async with agent_at(site) as agent:
            sql = 'SELECT COUNT(*) AS "a\x01", AVG(age) AS "a\\x01" FROM visits'
            answer = await call(agent, "ask", sql=sql, epsilon=2)
            names = [each["name"] for each in answer["columns"]]
            assert names == ["a\\x01", "a\\x01_2"]
            (row,) = answer["rows"]
            assert row[names[0]]["value"] > 200 > row[names[1]]["value"]
            assert row[names[0]]["margin"] != row[names[1]]["margin"]

    run(act)


def test_dates_with_a_margin_are_shown(site: Site) -> None:
    async def act() -> None:
        async with agent_at(site) as agent:
            sql = "SELECT DATE '2024-01-01' + CAST(COUNT(*) AS INT) AS day FROM visits"
            (row,) = (await call(agent, "ask", sql=sql, epsilon=1))["rows"]
            assert row["day"]["value"].startswith("2025")
            assert row["day"]["low"] is None

    run(act)
