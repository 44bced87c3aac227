"""Cursors over answers: DECLARE, FETCH and MOVE."""

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.server.pgwire.lexer import SqlStatement, WordKind
from discreet.server.pgwire.sqlstates import WireError


def declared_in(statement: SqlStatement) -> tuple[str, SqlStatement]:
    """Return the name of a cursor, and its query."""
    words = statement.words
    for i, each in enumerate(words):
        if each.kind is WordKind.WORD and each.text == "for" and i >= 2:
            return words[1].text, statement.part(i + 1)
    raise WireError("42601", "DECLARE has no query", "Write DECLARE c CURSOR FOR SELECT …")


def is_held_in(statement: SqlStatement) -> bool:
    """Return whether a cursor is declared WITH HOLD, and outlives its transaction."""
    texts = [each.text for each in statement.words]
    return texts[: texts.index("for")][-2:] == ["with", "hold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """How FETCH and MOVE go through the rows of a cursor."""

    cursor: str
    count: int | None
    """How many rows, backward if it is negative; None is all that are left."""
    is_absolute: bool = False
    is_relative: bool = False
    """Whether it goes to one row, and not through several."""
    is_shown: bool = True


def move_in(statement: SqlStatement) -> Move:
    """Return how FETCH or MOVE goes."""
    words = [each for each in statement.words[1:-1] if each.text not in ("from", "in")]
    name, is_shown = statement.words[-1].text, statement.verb == "fetch"
    texts = [each.text for each in words]
    number = _number(texts)
    kind = texts[0] if texts and not texts[0].isdigit() and texts[0] not in "+-" else "forward"
    everything = "all" in texts
    match kind:
        case "absolute" | "first" | "last":
            place = {"first": 1, "last": -1}.get(kind, number)
            return Move(cursor=name, count=place, is_absolute=True, is_shown=is_shown)
        case "relative":
            return Move(cursor=name, count=number, is_relative=True, is_shown=is_shown)
        case "backward" | "prior":
            count = -(10**9) if everything else -number
            return Move(cursor=name, count=count, is_shown=is_shown)
        case "forward" | "next" | "all":
            return Move(cursor=name, count=None if everything else number, is_shown=is_shown)
    raise WireError("42601", "This direction is not understood", "Write FETCH 100 FROM c")


def _number(texts: Sequence[str]) -> int:
    digits = [each for each in texts if each.isdigit() and len(each) < 10]
    if not digits:
        return 1
    return -int(digits[0]) if "-" in texts else int(digits[0])


def span_of(move: Move, place: int, total: int) -> tuple[int, int, int]:
    """Return the first and last row to fetch, and where a cursor is then."""
    count = move.count
    if move.is_absolute or move.is_relative:
        wanted = (count or 0) + place if move.is_relative else (count or 0)
        if wanted < 0 and move.is_absolute:
            wanted += total + 1
        wanted = max(0, min(total + 1, wanted))
        inside = 1 <= wanted <= total
        return (wanted - 1, wanted, wanted) if inside else (0, 0, wanted)
    if count is None:
        return min(place, total), total, total + 1
    if count >= 0:
        last = min(total, place + count)
        return min(place, total), last, last if place + count <= total else total + 1
    first = max(0, place - 1 + count)
    return first, max(0, place - 1), max(0, place + count)
