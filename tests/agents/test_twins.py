"""Catalogs over neighbouring tables: all that an agent sees, noisy numbers apart, is the same."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from discreet.server.sites import Site
from tests.agents.sessions import Person, agent_at, declare, opened, read, run, text_of
from tests.server.running import CATALOG

PEOPLE, VICTIM = 3000, 42
"""The victim alone is 99 years old, in a region that nobody else lives in."""

QUERIES = (
    "SELECT COUNT(*) AS n FROM visits",
    "SELECT region, COUNT(*) AS n, AVG(age) AS age FROM visits GROUP BY region",
    "SELECT COUNT(*) AS n FROM visits WHERE patient_id = 42",
    "SELECT COUNT(*) AS n FROM visits WHERE region = 'nowhere'",
    "SELECT SUM(age) AS a FROM visits WHERE age = 99",
    "SELECT MAX(age) AS a FROM visits",
    "SELECT AVG(age) AS a FROM visits WHERE patient_id = 42",
    "SELECT COUNT(*) AS n FROM visits WHERE patient_id = 42 AND 1 / (age - 99) > 0",
    "SELECT SUM(age) AS a FROM visits WHERE CAST(city AS INTEGER) > 0",
    "SELECT city, COUNT(*) AS n FROM visits WHERE patient_id = 42 GROUP BY city",
    "SELECT age, COUNT(*) AS n FROM visits GROUP BY age",
    "SELECT * FROM visits WHERE patient_id = 42",
    "SELECT nothing FROM visits",
    "SELECT COUNT( FROM visits",
    "SELECT error('found') FROM visits WHERE patient_id = 42",
)


def write(folder: Path, *, without: int | None = None) -> Path:
    """Write visits of some thousand patients; one may be absent."""
    folder.mkdir()
    rows = [
        f"{i},{'nowhere' if i == VICTIM else ('north', 'south')[i % 2]},"
        f"city {i % 40},{99 if i == VICTIM else i * 7 % 90}"
        for i in range(PEOPLE)
        if i != without
    ]
    (folder / "visits.csv").write_text("\n".join(["patient_id,region,city,age", *rows]) + "\n")
    (folder / "discreet.toml").write_text(CATALOG.format(epsilon=20))
    declare(folder / "discreet.toml", "bot", epsilon=15, confirm_above=0.4, per_query=2)
    return folder / "discreet.toml"


@pytest.fixture
def both(tmp_path: Path) -> Iterator[tuple[Site, Site]]:
    with (
        opened(write(tmp_path / "here")) as here,
        opened(write(tmp_path / "gone", without=VICTIM)) as gone,
    ):
        yield here, gone


NOISY = {"value", "margin", "low", "high", "id", "answer", "written"}
"""Noisy numbers, names of answers that are made of them, and times."""


def shape(value: Any) -> Any:
    """Return all but noisy numbers."""
    if isinstance(value, dict):
        return {k: "noisy" if k in NOISY else shape(v) for k, v in value.items()}
    return [shape(each) for each in value] if isinstance(value, list) else value


def seen_in(result: Any) -> Any:
    """Return what an agent sees of a result."""
    if result.is_error:
        return text_of(result)
    content = shape(result.structured_content)
    assert shape(json.loads(text_of(result))) == content
    return content


async def seen(agent: Client) -> list[Any]:
    """Return what an agent sees that tries everything."""
    found: list[Any] = [each.model_dump() for each in (await agent.list_tools()).tools]
    for epsilon in (0.3, 0.5):
        for sql in QUERIES:
            arguments = {"sql": sql, "epsilon": epsilon}
            found += [
                seen_in(await agent.call_tool(tool, arguments))
                for tool in ("explain", "ask", "ask")
            ]
    for sql in QUERIES[:3]:
        terms = {"within": {"n": 5}, "max_epsilon": 1}
        found.append(seen_in(await agent.call_tool("ask", {"sql": sql, **terms})))
    for tool in ("tables", "budget", "history"):
        found.append(seen_in(await agent.call_tool(tool, {})))
    history = (await agent.call_tool("history", {"limit": 100})).structured_content or {}
    for each in history["entries"]:
        if each["answer"] is not None:
            saved = await read(agent, f"discreet://answers/{each['answer']}")
            found.append(shape(json.loads(saved)))
    for uri in ("discreet://catalog", "discreet://guide"):
        found.append(await read(agent, uri))
    with pytest.raises(MCPError) as error:
        await read(agent, "discreet://answers/42")
    return [*found, str(error.value)]


def test_one_person_changes_nothing_that_an_agent_sees_but_noisy_numbers(
    both: tuple[Site, Site],
) -> None:
    async def act(site: Site) -> tuple[list[Any], list[str]]:
        person = Person("accept")
        async with agent_at(site, "bot", elicitation_callback=person) as agent:
            return await seen(agent), person.asked

    async def act_twice() -> Any:
        return [await act(site) for site in both]

    (here, asked_here), (gone, asked_gone) = run(act_twice)
    assert asked_here == asked_gone
    assert len(asked_here) > 5
    assert here == gone
    assert sum(isinstance(each, dict) for each in here) > 60
