"""One system in a process of its own, which tells its answers by lines of JSON.

It needs the standard library only: peers run it in their environments.
"""

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from benchmarks.accuracy.questions import QUESTIONS, Question

State = TypeVar("State")

Rows: TypeAlias = list[list[str | float]]

Found: TypeAlias = Any
"""Rows as a system returns them, keys first; the libraries of peers have no types."""

Asking: TypeAlias = Callable[[State, int], Found]
"""Takes what was opened and the number of this trial."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """One line of a child: an answer, or why there is none."""

    question: str
    rows: Rows | None = None
    reason: str = ""


def serve(
    opening: Callable[[Path], State],
    asking: Mapping[str, Asking[State]],
    refused: Mapping[str, str] | None = None,
) -> None:
    """Open the data and ask everything, as the command line says: folder, trials."""
    folder, trials = sys.argv[1:3]
    state = opening(Path(folder))
    for question in QUESTIONS:
        if question.name in asking:
            _ask_often(question, state, asking[question.name], int(trials))
        else:
            reason = (refused or {}).get(question.name, "it cannot express this")
            _tell(Told(question=question.name, reason=reason))


def _ask_often(question: Question, state: State, asking: Asking[State], trials: int) -> None:
    """Tell every answer; a question that fails does not keep the others from being asked."""
    for number in range(trials):
        try:
            rows = [list(map(_plain, row)) for row in asking(state, number)]
        except Exception as error:  # noqa: BLE001  # whatever a library raises is its answer
            first, *_ = str(error).strip().splitlines() or [type(error).__name__]
            _tell(Told(question=question.name, reason=first))
            return
        _tell(Told(question=question.name, rows=rows))


def _tell(told: Told) -> None:
    print(json.dumps(asdict(told)), flush=True)


def told_from(line: str) -> Told | None:
    """Return what a line tells; None for a line that a library printed on its own."""
    return Told(**json.loads(line)) if line.startswith('{"question"') else None


def _plain(value: object) -> str | float:
    """Return a key or a number without the types of libraries."""
    return value if isinstance(value, str | int) else float(str(value))
