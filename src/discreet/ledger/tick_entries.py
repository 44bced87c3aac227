"""Entries for ticks of a series: further answers of one charge.

A series is charged once, and its ticks are released one after the other for years. Each is an entry
of kind "answer" that notes the number of the tick, and whose name is that of the charge with this
number. The index that keeps a query from being answered twice keeps a tick from it as well.
"""

import json
from collections.abc import Collection

JOINT = "/tick/"


def tick_name(question: str, tick: int) -> str:
    """Return what a tick of a series is called in the ledger."""
    return f"{question}{JOINT}{tick}"


def tick_in(about: str) -> str | None:
    """Return the number of the tick that an answer with these notes is for, if it is for one."""
    return json.loads(about).get("tick") if '"tick"' in about else None


def is_answer_paid(question: str, about: str, paid: Collection[str]) -> bool:
    """Return whether an answer, or the series of a tick, is among what was paid for."""
    tick = tick_in(about)
    if tick is None:
        return question in paid
    return question.endswith(JOINT + tick) and question.removesuffix(JOINT + tick) in paid
