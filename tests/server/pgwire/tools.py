"""What dashboards and other programs send: the statements of `tests/golden/pgwire`."""

import re
from dataclasses import dataclass
from pathlib import Path

GOLDEN = Path(__file__).parents[2] / "golden" / "pgwire"

EXPECTED = re.compile(r"-- (free|cost|rejected ([0-9A-Z]{5}))(?:: (.*))?\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What a program sends at once, and what becomes of it."""

    sql: str
    fate: str
    """free, cost (it is understood, and must state a cost) or rejected."""
    code: str | None
    """Of a rejection."""
    line: int


def sent_by(program: str) -> list[Sent]:
    """Return what a program sends, in its order."""
    text, found, line = (GOLDEN / f"{program}.sql").read_text(encoding="utf-8"), [], 1
    for block in re.split(r"(?<=\n)\n", text):
        head = EXPECTED.match(block)
        if head is not None:
            sql = block[head.end() :].strip()
            fate = head[1].partition(" ")[0]
            found.append(Sent(sql=sql, fate=fate, code=head[2], line=line))
        else:
            assert line == 1, f"{program}.sql, line {line}: what is expected is not said"
        line += block.count("\n") + 1
    return found


PROGRAMS = sorted(each.stem for each in GOLDEN.glob("*.sql"))
