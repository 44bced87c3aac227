"""Where something is declared: the file and line, or the argument, that an error must name.

`tomllib` checks the text and gives values without places; `lines_of` walks a text that it accepted
and gives the places.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from discreet.errors import CatalogError

Path = tuple[str | int, ...]
"""The keys that lead to a value, and the numbers of list items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Something declared: which key, in which file or among which arguments."""

    path: Path = ()
    file: str | None = None
    lines: Mapping[Path, int] = field(default_factory=dict, repr=False)
    arguments: Mapping[Path, str] = field(default_factory=dict, repr=False)
    """What Python calls it, where it was given as an argument."""

    def at(self, *keys: str | int) -> Self:
        """Return the place of something inside."""
        return type(self)(
            path=self.path + keys, file=self.file, lines=self.lines, arguments=self.arguments
        )

    @property
    def line(self) -> int | None:
        """The line of it, or of the nearest thing that it belongs to."""
        known = (self.lines.get(self.path[:n]) for n in range(len(self.path), 0, -1))
        return next((line for line in known if line is not None), None)

    def __str__(self) -> str:
        for n in range(len(self.path), 0, -1):
            if self.path[:n] in self.arguments:
                return self.arguments[self.path[:n]] + _inside(self.path[n:])
        return _inside(self.path).removeprefix(".")

    def refused(self, rule: str, fix: str) -> CatalogError:
        """Return the error of something that breaks a rule: `budget.epsilon must be ...`."""
        return CatalogError(f"{self} {rule}", fix, file=self.file, line=self.line)


def _inside(path: Path) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{written_key(key)}" for key in path)


def written_key(key: str) -> str:
    """Return a key as TOML writes it: bare if it can be, else in quotes on one line."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else written_text(key)


def written_text(text: str) -> str:
    """Return a text as TOML writes it, in quotes on one line."""
    return '"' + "".join(_ESCAPES.get(each, each) for each in text) + '"'


_ESCAPES = {chr(code): f"\\u{code:04x}" for code in (*range(0x20), *range(0x7F, 0xA0))} | {
    "\\": "\\\\",
    '"': '\\"',
    "\n": "\\n",
    "\t": "\\t",
}


# --------------------------------------------------------------------------- lines of a text

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}'  # text of several lines may end in up to two more quotes
    r"|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\])*"'
    r"|'[^']*'"
    r"|#[^\n]*|[ \t\r]+"
    r"|[][{}=,.\n]"
    r"|[^][{}=,.\s\"'#]+",
    re.DOTALL,
)
_ENDS = {",", "]", "}", "\n"}


def lines_of(text: str) -> dict[Path, int]:
    """Return the line of every key and list item of a valid TOML text, counted from 1."""
    return _Walk(text).document()


class _Walk:
    """One pass over the tokens of a text that is known to be valid, so that little can happen."""

    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, int]] = []
        line = 1
        for found in _TOKEN.finditer(text):
            part = found.group()
            if part == "\n" or not (part.startswith("#") or part.isspace()):
                self._tokens.append((part, line))
            line += part.count("\n")
        self._next = 0
        self._lines: dict[Path, int] = {}
        self._repeated: Counter[Path] = Counter()

    def document(self) -> dict[Path, int]:
        here: Path = ()
        while self._next < len(self._tokens):
            if self._peek() == "[":
                here = self._header()
            elif self._peek() != "\n":
                self._pair(here)
            else:
                self._next += 1
        return self._lines

    def _peek(self) -> str:
        return self._tokens[self._next][0] if self._next < len(self._tokens) else "\n"

    def _skip(self, *tokens: str) -> None:
        while self._next < len(self._tokens) and self._peek() in tokens:
            self._next += 1

    def _line(self) -> int:
        return self._tokens[self._next][1]

    def _note(self, path: Path, line: int) -> None:
        for n in range(1, len(path)):
            self._lines.setdefault(path[:n], line)
        self._lines[path] = line

    def _header(self) -> Path:
        line = self._line()
        is_repeated = [token for token, _ in self._tokens[self._next : self._next + 2]] == ["["] * 2
        self._skip("[")
        *above, last = self._key()
        path = (*self._latest(tuple(above)), last)
        self._skip("]")
        self._repeated[path] += is_repeated
        path = self._latest_of(path)
        self._note(path, line)
        return path

    def _latest(self, path: Path) -> Path:
        """Return the path into the newest of repeated tables, where it leads through some."""
        result: Path = ()
        for key in path:
            result = self._latest_of((*result, key))
        return result

    def _latest_of(self, path: Path) -> Path:
        return (*path, self._repeated[path] - 1) if self._repeated[path] else path

    def _key(self) -> Path:
        path = [_key_from(self._tokens[self._next][0])]
        self._next += 1
        while self._peek() == ".":
            self._next += 1
            path.append(_key_from(self._peek()))
            self._next += 1
        return tuple(path)

    def _pair(self, here: Path) -> None:
        line = self._line()
        path = here + self._key()
        self._note(path, line)
        self._skip("=")
        self._value(path)

    def _value(self, path: Path) -> None:
        if self._peek() == "[":
            self._items(path)
        elif self._peek() == "{":
            self._inline(path)
        else:
            while self._next < len(self._tokens) and self._peek() not in _ENDS:
                self._next += 1

    def _items(self, path: Path) -> None:
        self._next += 1
        count = 0
        self._skip("\n", ",")
        while self._peek() != "]":
            self._note((*path, count), self._line())
            self._value((*path, count))
            count += 1
            self._skip("\n", ",")
        self._next += 1

    def _inline(self, path: Path) -> None:
        self._next += 1
        self._skip("\n", ",")
        while self._peek() != "}":
            self._pair(path)
            self._skip("\n", ",")
        self._next += 1


def _key_from(token: str) -> str:
    if token[0] not in "\"'":
        return token
    return str(tomllib.loads(f"key = {token}")["key"])
