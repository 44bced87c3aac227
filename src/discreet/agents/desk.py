"""What tools need of whoever answers: one account of one catalog."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Protocol

from discreet.errors import message, sentence, without_commands
from discreet.server.bodies import AskBody, ExplainBody, JsonObject


class Desk(Protocol):
    """Answers for one account of one catalog. What is rejected raises, and nothing is spent.

    Everything is as the routes of a server reply, in JSON.
    """

    async def tables(self) -> JsonObject: ...

    async def explain(self, query: ExplainBody) -> JsonObject: ...

    async def ask(self, query: AskBody) -> tuple[str, JsonObject]:
        """Return the id of the answer, and the answer."""
        ...

    async def answer(self, id_: str) -> JsonObject: ...

    async def budget(self) -> JsonObject: ...

    async def history(self, before: int | None, limit: int) -> JsonObject: ...

    async def all_series(self) -> JsonObject: ...

    async def series(self, name: str) -> JsonObject:
        """Return the released ticks of a series."""
        ...

    async def confirm_above(self) -> Fraction | None:
        """Return the epsilon above which a person confirms a query, if there is one."""
        ...


MOST_TICKS = 1000
"""Ticks of a series that an agent reads at once: the last ones."""

FIXES = {
    "still_running": "Call ask again with the same arguments: it is charged once",
    "approval_needed": "Use a smaller epsilon, or let a person request the data owner's approval",
    "unlikely_groups": "Set accept_unlikely to true to run it all the same",
    "not_signed_in": "Ask the data owner for a token, and start this program again with it",
    "not_found": "History lists the ids of your answers",
}
"""What an agent can do about an error that is not about the query."""


class RejectionError(Exception):
    """A call that is rejected. Its parts are those of an error of the server."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.code = str(content.get("code", "internal"))
        self.what = str(content.get("message", ""))
        self.fix = _fix(self.code, str(content.get("remedy", "")))
        self.place: Mapping[str, int] | None = content.get("place")
        self.fixes: list[Mapping[str, str]] = list(content.get("fixes", ()))
        super().__init__(self.text)

    @property
    def text(self) -> str:
        """What a model reads: the code, what is wrong and where, the fix, and queries to try."""
        place = "" if self.place is None else "line {line}, column {column}".format(**self.place)
        said = message(f"{self.code}: {self.what}", self.fix, place=place)
        if not self.fixes:
            return said
        tried = "\n\n".join(f"-- {each['label']}\n{each['sql']}" for each in self.fixes)
        return f"{said}\n\nThese queries would be accepted:\n\n{without_commands(tried)}"


def _fix(code: str, given: str) -> str:
    instead = FIXES.get(code)
    if instead is None:
        return given
    return f"{sentence(given)} {instead}" if code == "unlikely_groups" else instead


def rejection(code: str, what: str, fix: str = "") -> RejectionError:
    """Return why a call is rejected."""
    return RejectionError({"code": code, "message": what, "remedy": fix})
