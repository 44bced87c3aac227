"""Which statements were rehearsed: each shape once.

Statements have one shape if they differ only in constants that a condition compares something
with, each of a type like the other's. A comparison of two values of a type gives
true, false or NULL, whatever they are, so what ran with one constant runs with the other. All
other constants may matter (they are added, cast or formatted) and are part of the shape.
"""

import re
from collections import Counter, OrderedDict
from datetime import date
from threading import Lock

ENDS = (2**7, 2**8, 2**15, 2**16, 2**31, 2**32, 2**63, 2**64)
"""Whole numbers between two of these are of one type in every engine; larger ones may not be."""

LONGEST = 100
"""Longer texts are part of the shape."""

COMPARED = re.compile(
    r"""(?:(?<=\ [=<>]\ )|(?<=[<>]=\ )|(?<=<>\ ))(?:
        (?P<whole>\d+)
      | '(?P<text>[ -&(-~]*)'
      | CAST\('(?P<day>\d{4}-\d\d-\d\d)'\ AS\ (?P<type>DATE)\)
    )(?=\))
    | "(?:[^"]|"")*" | '(?:[^']|'')*' | `[^`]*`""",
    re.VERBOSE,
)
"""A constant between a comparison and a closing bracket; else a name or text, which is kept."""

UNUSUAL = re.compile(r"[\\$]")
"""Statements with other ways to quote are told apart by their whole text."""


def shape_of(sql: str) -> str:
    """Return a statement with what it compares with left out, but for type and length."""
    return sql if UNUSUAL.search(sql) else COMPARED.sub(_masked, sql)


def _masked(found: re.Match[str]) -> str:
    whole, text = found["whole"], found["text"]
    if whole is not None and int(whole) < ENDS[-1]:
        return f"?{sum(int(whole) >= each for each in ENDS)}"
    if text is not None and len(text) <= LONGEST:
        return f"?'{'' if text else 'empty'}'"
    return f"?{found['type']}" if found["day"] and _is_day(found["day"]) else found[0]


def _is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


OUTPUT = re.compile(r"""(?P<as>AS )?"(?P<name>(?:[^"]|"")*)"|'(?:[^']|'')*'""")
"""A name, and whether it is that of an output; or a text."""


def without_names(sql: str) -> str:
    """Return a statement without the names of outputs to which nothing in it refers."""
    times = Counter(each["name"] for each in OUTPUT.finditer(sql))

    def masked(found: re.Match[str]) -> str:
        return "AS ?" if found["as"] and times[found["name"]] == 1 else found[0]

    return sql if UNUSUAL.search(sql) else OUTPUT.sub(masked, sql)


class Rehearsed:
    """Which statements were rehearsed, by their shapes: each is rehearsed once."""

    def __init__(self, most: int = 4096) -> None:
        self._most, self._lock = most, Lock()
        self._passed: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, text: str) -> bool:
        shape = shape_of(text)
        with self._lock:
            return shape in self._passed

    def add(self, text: str) -> None:
        shape = shape_of(text)
        with self._lock:
            self._passed[shape] = None
            while len(self._passed) > self._most:
                self._passed.popitem(last=False)
