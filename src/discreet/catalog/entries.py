"""Single entries of a catalog: checked, made exact, and located for error messages.

A `Location` is the file and line, or the argument, that an error names. `tomllib` checks a text and
gives values without lines; `lines_of` walks a text that it accepted and gives the lines.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Self, TypeVar

from discreet.errors import CatalogError, ParameterError, readable, shown
from discreet.parameters import did_you_mean, rational

Path = tuple[str | int, ...]
"""The keys that lead to a value, and the numbers of list items."""

BLANK = "FILL IN"
"""Marks what the owner must complete in a drafted catalog."""

LARGEST = Fraction(10**300)
"""The largest size of a number in a catalog. Floats hold it, and its square root many times."""

QUOTIENT = r"-?[0-9]{1,500}/[1-9][0-9]{0,500}"
"""Text that is a number: "1/3", which has no exact decimal."""

UNSEEN = "[\x00-\x1f\x7f-\x9f\ud800-\udfff]"
"""Control characters, and halves of characters that no file can hold."""

Choice = TypeVar("Choice", bound=Enum)


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where something is declared: its keys, in a file or among the arguments of a call."""

    path: Path = ()
    file: str | None = None
    lines: Mapping[Path, int] = field(default_factory=dict, repr=False)
    arguments: Mapping[Path, str] = field(default_factory=dict, repr=False)
    """The Python name of each entry that was given as an argument."""

    def at(self, *keys: str | int) -> Self:
        """Return the location of an entry inside this one."""
        return type(self)(
            path=self.path + keys, file=self.file, lines=self.lines, arguments=self.arguments
        )

    @property
    def line(self) -> int | None:
        """The line of this entry, or of the closest entry that contains it."""
        known = (self.lines.get(self.path[:n]) for n in range(len(self.path), 0, -1))
        return next((line for line in known if line is not None), None)

    @property
    def is_argument(self) -> bool:
        """Whether it was given as an argument of a call, and not in a file."""
        return self._argument() is not None

    def __str__(self) -> str:
        return self._argument() or _inside(self.path).removeprefix(".")

    def _argument(self) -> str | None:
        for n in range(len(self.path), 0, -1):
            if self.path[:n] in self.arguments:
                return self.arguments[self.path[:n]] + _inside(self.path[n:])
        return None

    def set_to(self, value: str) -> str:
        """Return the entry with its value, as it was written: `unit="id"`, or `t.unit = "id"`."""
        equals = "=" if self.is_argument else " = "
        return f"{self}{equals}{written_text(value)}"

    @property
    def fact(self) -> str:
        """The entry of a column as people name it: "The bounds of visits.cost"; or the argument."""
        _, table, _, column, fact, *_ = self.path
        return self._argument() or f"The {fact} of {table}.{column}"

    def error(self, what: str, fix: str) -> CatalogError:
        """Return an error that says what is wrong here and how to fix it."""
        return CatalogError(what, fix, file=self.file, line=self.line)

    def invalid(self, rule: str, fix: str) -> CatalogError:
        """Return the error of an entry that breaks a rule: `budget.epsilon must be ...`."""
        return self.error(f"{self} {rule}", fix)


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


# --------------------------------------------------------------------------- single entries


def value_text(value: object) -> str:
    """Return a value as the catalog would write it, short and on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Decimal):
        text = str(value)
        return text if len(text) <= 60 else text[:57] + "..."
    if isinstance(value, date):
        return value.isoformat()
    return shown(value)


def check_number(location: Location, value: object, fix: str) -> Fraction:
    """Return the exact number that is written. A float means the decimal that it prints as."""
    exact = _exact(value)
    if exact is None:
        raise location.invalid(f"must be a finite number, not {value_text(value)}", fix)
    if abs(exact) > LARGEST or 0 < abs(exact) < 1 / LARGEST:
        rule = f"must be 0 or between 1e-300 and 1e300 in size, not {value_text(value)}"
        raise location.invalid(rule, fix)
    return exact


def _exact(value: object) -> Fraction | None:
    if isinstance(value, Decimal) and value and abs(value.adjusted()) > 400:
        # The fraction of 1e999999999 would fill the memory; any number past the limits will do.
        return Fraction(10) ** (400 if value.adjusted() > 0 else -400)
    if isinstance(value, str):
        return Fraction(value) if re.fullmatch(QUOTIENT, value) else None
    try:
        return rational("", value)
    except ParameterError:
        return None


def check_number_between(
    location: Location, value: object, low: Fraction | int, high: Fraction | int, fix: str
) -> Fraction:
    """Return a number from low to high, inclusive."""
    exact = check_number(location, value, fix)
    if not low <= exact <= high:
        ends = f"{readable(Fraction(low))} to {readable(Fraction(high))}".replace("e+", "e")
        raise location.invalid(f"must be a number from {ends}, not {value_text(value)}", fix)
    return exact


def check_integer(location: Location, value: object, low: int, high: int, fix: str) -> int:
    """Return an integer from low to high, inclusive."""
    exact = _exact(value)
    if exact is None or exact.denominator != 1 or not low <= exact <= high:
        rule = f"must be a whole number from {low} to {high}, not {value_text(value)}"
        raise location.invalid(rule, fix)
    return int(exact)


def check_flag(location: Location, value: object) -> bool:
    """Return true or false."""
    if not isinstance(value, bool):
        rule = f"must be true or false, not {value_text(value)}"
        raise location.invalid(rule, "Write true or false, without quotes")
    return value


def check_text(location: Location, value: object, fix: str) -> str:
    """Return text that is not empty, not the mark "FILL IN", and without control characters."""
    if value == BLANK:
        raise location.invalid("must be filled in", fix)
    if not isinstance(value, str) or not value.strip():
        raise location.invalid(f"must be text, not {value_text(value)}", fix)
    if re.search(UNSEEN, value):
        raise location.invalid("contains a control character", fix)
    return value


def check_choice(location: Location, value: object, kind: type[Choice]) -> Choice:
    """Return a choice by its name."""
    if isinstance(value, kind):
        return value
    names = [each.value for each in kind]
    if isinstance(value, str):
        with suppress(ValueError):
            return kind(value)
    choices = " or ".join(f'"{name}"' for name in names)
    fix = "Write one of these"
    if isinstance(value, str):
        fix = did_you_mean(value, names, otherwise=fix)
    raise location.invalid(f"must be {choices}, not {value_text(value)}", fix)


def check_section(location: Location, value: object, known: Sequence[str]) -> dict[str, object]:
    """Return the entries of a section, all of which must be known settings."""
    entries = check_table(location, value)
    for key in entries:
        if key not in known:
            settings = f"Settings in [{location}]: " if location.path else "Sections: "
            there = settings + ", ".join(known)
            near = did_you_mean(key, known, otherwise="")
            here = location.at(key)
            raise here.error(f"Unknown setting {here}", f"{near} {there}".strip())
    return entries


def check_table(location: Location, value: object) -> dict[str, object]:
    """Return the entries of a section, with any names."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        fix = "Write [section] and lines of key = value, or { key = value }"
        raise location.invalid(
            f"must be a section with named entries, not {value_text(value)}", fix
        )
    return dict(value)


def named_entries(location: Location, value: object, what: str) -> dict[str, object]:
    """Return entries by the names that the owner chose, which must differ by more than case."""
    entries = check_table(location, value)
    seen: dict[str, str] = {}
    for name in entries:
        check_text(location.at(name), name, f"Give the {what} another name")
        if (other := seen.setdefault(name.casefold(), name)) != name:
            rule = f"differs from {other} only in letter case, which SQL ignores"
            raise location.at(name).invalid(rule, f"Rename one {what}")
    return entries


def check_list(location: Location, value: object, fix: str) -> tuple[object, ...]:
    """Return the items of a list."""
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise location.invalid(f"must be a list, not {value_text(value)}", fix)
    return tuple(value)


def time_from(value: object) -> date | None:
    """Return a date or timestamp, given as such or as ISO text; None for anything else."""
    if isinstance(value, date):
        return value
    if not isinstance(value, str) or not re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value):
        return None
    try:
        return date.fromisoformat(value) if len(value) == 10 else datetime.fromisoformat(value)
    except ValueError:
        return None


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
    """One pass over the tokens of a text that is known to be valid TOML."""

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
        """Return the path, through the latest of each [[repeated]] table on it."""
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
