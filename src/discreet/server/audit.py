"""What the audit log says of a query, and of what a caller did."""

from collections.abc import Callable
from typing import TypeVar

from discreet.query.parse import canonical_text
from discreet.server.callers import Caller
from discreet.server.faults import error_of
from discreet.written import WrittenQuery

T = TypeVar("T")

MOST_LOGGED = 2000
"""Characters of a text that a line of the audit log has: many lines are read at once."""


def cut(text: str) -> str:
    """Return a text as a line of the audit log has it."""
    return text if len(text) <= MOST_LOGGED else f"{text[:MOST_LOGGED]}…"


def query_text(query: WrittenQuery) -> dict[str, object]:
    """Return a query for a line of the log: in its canonical form if it is SQL, and as sent."""
    canonical = canonical_text(query)
    sent = {"sql": cut(query.text)}
    return dict(sent) if canonical is None else {"question": cut(canonical), **sent}


def logged(
    caller: Caller,
    action: str,
    act: Callable[[], T],
    outcome: Callable[[T], dict[str, object]] = lambda _: {},
    **about: object,
) -> T:
    """Do something for a caller, and log how it ended: as `outcome` says, or why it was rejected.

    Without an `outcome` of its own, what was done is logged as done.
    """
    log = caller.site.records.log
    try:
        found = act()
    except Exception as error:
        log(caller.name, action, error_of(error).code, **about)
        raise
    told = {"outcome": "done", **outcome(found)}
    log(caller.name, action, str(told.pop("outcome")), **about, **told)
    return found
