"""Write the conversation of docs/how-to/ask-with-an-agent.md: every call on the page was made.

The agent's part is played by this script. Tools, answers, noise and rejections are real. The noise
is replayed, so that the page stays the same until something changes.
"""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mcp import Client
from mcp_types import ElicitResult

from discreet.agents.agent_server import make_server
from discreet.agents.caller_desk import CallerDesk
from discreet.opening import open_books
from discreet.server.admission import Turns, reading_turns
from discreet.server.asking import QueryRunner
from discreet.server.callers import Caller
from discreet.server.settings import Settings
from discreet.server.sites import Site, open_site
from docs.examples import ROOT, demo_folder

PAGE = ROOT / "docs" / "how-to" / "ask-with-an-agent.md"
BEGIN, END = "<!-- conversation -->\n", "<!-- /conversation -->"

BY_REGION = (
    "SELECT region, COUNT(*) AS visits, AVG(minutes) AS minutes FROM visits "
    "GROUP BY region ORDER BY visits DESC"
)
WHO = "SELECT patient_id, COUNT(*) AS visits FROM visits GROUP BY patient_id"
HOW_MANY = (
    "SELECT COUNT(*) AS patients FROM (SELECT patient_id FROM visits GROUP BY patient_id "
    "HAVING COUNT(*) >= 10)"
)
BY_DIAGNOSIS = "SELECT diagnosis, COUNT(*) AS visits FROM visits GROUP BY diagnosis"


def agent_page() -> str:
    """Return docs/how-to/ask-with-an-agent.md."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{conversation()}\n{END}{after}"


def conversation() -> str:
    """Return what a person, an agent and the tools say to each other."""
    with demo_folder("conversation") as folder:
        return asyncio.run(_held(folder / "discreet.toml"))


async def _held(catalog: Path) -> str:
    with open_books(catalog) as ledger:
        ledger.declare_analyst("agent", epsilon=1, per_query=0.5, per_day=0.5, confirm_above=0.2)
    site = open_site("clinic", catalog)
    try:
        desk = _desk(site)
        talk = Conversation()
        async with Client(make_server(lambda _: desk), elicitation_callback=talk.asked) as client:
            talk.client = client
            await _talk(talk)
        await desk.runner.finish()
    finally:
        site.close()
    return "\n\n".join(talk.said)


def _desk(site: Site) -> CallerDesk:
    settings = Settings()
    (account,) = site.ledger.analysts()
    return CallerDesk(
        caller=Caller(name=account.name, role=account.role, site=site),
        runner=QueryRunner(settings=settings, turns=Turns(settings.limits)),
        planning=Turns(settings.limits),
        reading=reading_turns(settings.limits),
        is_gone=_waits,
    )


async def _waits() -> bool:
    return False


class Conversation:
    """What was said so far."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.client: Client | None = None

    def person(self, words: str) -> None:
        """Let the person say something."""
        self.said.append(f"> **Person:** {words}")

    def agent(self, words: str) -> None:
        """Let the agent say something."""
        self.said.append(f"> **Agent:** {words}")

    async def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Let the agent call a tool, and show what it returns."""
        if self.client is None:
            raise RuntimeError("nobody listens")
        stated = ",\n  ".join(f"{name}={_written(each)}" for name, each in arguments.items())
        place = len(self.said)
        result = await self.client.call_tool(tool, arguments)
        call = f"{tool}({stated})" if len(arguments) < 2 else f"{tool}(\n  {stated}\n)"
        self.said.insert(place, f"The agent calls `{tool}`:\n\n```text\n{call}\n```")
        content: dict[str, Any] = result.structured_content or {}
        text = str(getattr(result.content[0], "text", ""))
        language, shown = ("text", text) if result.is_error else ("json", _shown(tool, content))
        self.said.append(f"```{language}\n{shown}\n```")
        return content

    async def asked(self, context: Any, params: Any) -> ElicitResult:  # noqa: ARG002
        """Show the question that the client asks the person, who declines."""
        self.said.append(f"The client asks the person:\n\n```text\n{params.message}\n```")
        self.said.append("The person declines.")
        return ElicitResult(action="decline")


async def _talk(talk: Conversation) -> None:
    talk.person("Which region has the most visits, and do they take longer there?")
    await talk.call("tables")
    await talk.call("explain", sql=BY_REGION, epsilon=0.1)
    talk.agent("The margins are small enough for ε = 0.1, so I ask.")
    found = await talk.call("ask", sql=BY_REGION, epsilon=0.1)
    first, second = (_of(row) for row in found["rows"][:2])
    talk.agent(
        f"The {first['region']} has the most visits: {first['visits']}. The {second['region']} "
        f"follows with {second['visits']}. Visits take {first['minutes']} minutes in the "
        f"{first['region']} and {second['minutes']} in the {second['region']}."
    )
    talk.person("Who came ten times or more?")
    await talk.call("ask", sql=WHO, epsilon=0.1)
    talk.agent("I cannot list patients, but I can count them. A margin of 50 is enough for that.")
    found = await talk.call("ask", sql=HOW_MANY, within=50, max_epsilon=0.2)
    (row,) = (_of(each) for each in found["rows"])
    talk.agent(f"{row['patients']} patients came ten times or more.")
    talk.person("And which diagnoses are most common?")
    await talk.call("ask", sql=BY_DIAGNOSIS, epsilon=0.5)
    talk.agent("You did not confirm that query, so nothing was spent on it.")
    talk.person("What remains? And what was the first answer again?")
    await talk.call("budget")
    await talk.call("ask", sql=BY_REGION, epsilon=0.1)
    talk.agent("Repeating the first query was free, and the numbers are the same.")


def _of(row: dict[str, Any]) -> dict[str, str]:
    """Return the cells of a row as an agent says them: with margins of error."""
    return {name: _cell(each) for name, each in row.items()}


def _cell(cell: Any) -> str:
    if not isinstance(cell, dict):
        return str(cell)
    digits = 0 if isinstance(cell["value"], int) else 1
    return f"{cell['value']:,.{digits}f} ± {cell['margin']:,.{digits}f}"


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _shown(tool: str, content: dict[str, Any]) -> str:
    """Return a result as the page shows it: the answer whole, lists of tables cut."""
    kept = {name: each for name, each in content.items() if name not in ("id", "columns")}
    if content.get("from_ledger"):
        kept |= {"rows": ["…"], "notes": []}
    if tool == "explain":
        kept = {name: content[name] for name in ("cost", "remaining", "columns", "groups")}
    if tool == "tables":
        first = content["tables"][0]
        columns = [each for each in first["columns"] if each["name"] in ("region", "minutes")]
        kept = {"tables": [{**first, "columns": [*columns, "…"]}, "…"]}
    return "\n".join(_lines(_full(kept)))


def _full(value: Any) -> Any:
    """Return JSON without what is null or empty, and with six digits of each number."""
    if isinstance(value, dict):
        cut = {name: _full(each) for name, each in value.items()}
        return {name: each for name, each in cut.items() if each not in (None, [], {})}
    if isinstance(value, float):
        return float(f"{value:.6g}")
    return [_full(each) for each in value] if isinstance(value, list) else value


WIDTH = 96


def _lines(value: Any, before: str = "", after: str = "", indent: int = 0) -> Iterator[str]:
    """Yield the lines of JSON: what fits into a line is one line."""
    pad = " " * indent
    line = f"{pad}{before}{_written(value)}{after}"
    if len(line) <= WIDTH or not isinstance(value, dict | list):
        yield line
        return
    is_object = isinstance(value, dict)
    yield f"{pad}{before}{'{' if is_object else '['}"
    items: list[tuple[str, Any]] = (
        [(f"{_written(name)}: ", each) for name, each in value.items()]
        if isinstance(value, dict)
        else [("", each) for each in value]
    )
    for number, (name, each) in enumerate(items):
        comma = "," if number < len(items) - 1 else ""
        yield from _lines(each, name, comma, indent + 2)
    yield f"{pad}{'}' if is_object else ']'}{after}"
