"""Settings of a connection: what queries may cost, and those of PostgreSQL that clients set.

They follow PostgreSQL's rules: SET lasts until the connection ends, unless its transaction is
rolled back; SET LOCAL lasts until the transaction ends.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from discreet.server.bodies import NUMBER
from discreet.server.pgwire.sqlstates import WireError

PREFIX = "discreet."


def _amount(name: str, text: str) -> str:
    try:
        if re.fullmatch(NUMBER, text) and Fraction(text) > 0:
            return text
    except ZeroDivisionError:
        pass
    raise WireError("22023", f"{name} must be a number above 0, such as 0.1")


def _confidence(name: str, text: str) -> str:
    if not Fraction(_amount(name, text)) < 1:
        raise WireError("22023", f"{name} must be between 0 and 1, such as 0.95")
    return text


def _switch(name: str, text: str) -> str:
    match text.casefold():
        case "on" | "true" | "yes" | "1" | "t":
            return "on"
        case "off" | "false" | "no" | "0" | "f":
            return "off"
    raise WireError("22023", f"{name} must be on or off")


def _count(name: str, text: str) -> str:
    if not (text.isascii() and text.isdigit() and int(text[:18]) >= 1 and len(text) < 18):
        raise WireError("22023", f"{name} must be a whole number, 1 or more")
    return text


def _dialect(name: str, text: str) -> str:
    if text.casefold() not in ("postgres", "duckdb"):
        raise WireError("22023", f"{name} must be postgres or duckdb")
    return text.casefold()


READERS: Mapping[str, Callable[[str, str], str]] = {
    "discreet.epsilon": _amount,
    "discreet.delta": _amount,
    "discreet.within": _amount,
    "discreet.confidence": _confidence,
    "discreet.groups_per_unit": _count,
    "discreet.intervals": _switch,
    "discreet.snap_times": _switch,
    "discreet.accept_unlikely": _switch,
    "discreet.dialect": _dialect,
}
"""The settings of Discreet, and how each is read."""

DEFAULTS = {
    "discreet.confidence": "0.95",
    "discreet.intervals": "off",
    "discreet.snap_times": "off",
    "discreet.accept_unlikely": "off",
    "discreet.dialect": "postgres",
}

PASSED_ON = frozenset(
    [
        "application_name",
        "bytea_output",
        "client_min_messages",
        "datestyle",
        "default_transaction_isolation",
        "default_transaction_read_only",
        "extra_float_digits",
        "intervalstyle",
        "search_path",
        "session characteristics",
        "timezone",
        "time zone",
        "transaction",
        "transaction_isolation",
        "transaction_read_only",
    ]
)
"""Settings of PostgreSQL that clients may set: none of them lets a statement do more harm."""


@dataclass(slots=True)
class Variables:
    """The settings of Discreet in one connection."""

    given: dict[str, str] = field(default_factory=dict)
    """What the connection began with, to which RESET goes back."""
    _now: dict[str, str] = field(default_factory=dict)
    _local: dict[str, str] = field(default_factory=dict)
    _before: dict[str, str] | None = None
    """What was set when the transaction began."""
    _saved: list[tuple[str, dict[str, str], dict[str, str]]] = field(default_factory=list)
    """What was set, also until the end of the transaction, at each savepoint."""

    def __post_init__(self) -> None:
        for name, value in self.given.items():
            self.set(name, value)
        self.given = dict(self._now)

    def set(self, name: str, value: str, *, is_local: bool = False) -> None:
        """Set one; DEFAULT as the value goes back to the beginning."""
        read = READERS.get(name)
        if read is None:
            known = ", ".join(READERS)
            raise WireError("42704", f"There is no setting {name}", f"Settings are {known}")
        target = self._local if is_local else self._now
        if not is_local:
            self._local.pop(name, None)
        target[name] = read(name, value.strip())

    def reset(self, name: str | None = None) -> None:
        """Go back to what one, or all of them, were in the beginning."""
        for each in [name] if name is not None else list(READERS):
            if each not in READERS:
                raise WireError("42704", f"There is no setting {each}")
            self._local.pop(each, None)
            self._now.pop(each, None)
            if each in self.given:
                self._now[each] = self.given[each]

    def get(self, name: str) -> str | None:
        """Return the value of one, None if nothing is set."""
        if name in self._local:
            return self._local[name]
        return self._now.get(name, DEFAULTS.get(name))

    def is_on(self, name: str) -> bool:
        """Return whether a switch is on."""
        return self.get(f"{PREFIX}{name}") == "on"

    def stated(self, name: str) -> str | None:
        """Return what is stated: an amount, or the dialect of queries."""
        return self.get(f"{PREFIX}{name}")

    def begin(self) -> None:
        """Note what is set when a transaction begins."""
        if self._before is None:
            self._before = dict(self._now)

    def end(self, *, is_committed: bool) -> None:
        """End a transaction; what was set in one that is rolled back is undone."""
        if self._before is not None and not is_committed:
            self._now = self._before
        self._before = None
        self._local.clear()
        self._saved.clear()

    def save(self, name: str) -> None:
        """Note what is set at a savepoint."""
        self._saved.append((name, dict(self._now), dict(self._local)))

    def release(self, name: str) -> None:
        """Forget a savepoint and those after it."""
        if (place := self._place(name)) is not None:
            del self._saved[place:]

    def go_back(self, name: str) -> None:
        """Go back to what was set at a savepoint, which stays."""
        if (place := self._place(name)) is not None:
            del self._saved[place + 1 :]
            _, now, local = self._saved[place]
            self._now, self._local = dict(now), dict(local)

    def _place(self, name: str) -> int | None:
        names = [each for each, _, _ in self._saved]
        return len(names) - 1 - names[::-1].index(name) if name in names else None


def is_iso(style: str) -> bool:
    """Return whether dates are still written as 2024-12-31 with a value of DateStyle."""
    return not re.search("sql|postgres|german", style.casefold())


def options_in(text: str) -> dict[str, str]:
    """Return the settings of the option `options`: -c name=value, or --name=value."""
    words, found = _split(text), {}
    while words:
        word = words.pop(0)
        if word == "-c" and words:
            word = words.pop(0)
        elif word.startswith(("--", "-c")):
            word = word[2:]
        else:
            raise WireError("22023", "The options of the connection are not understood", FORM)
        name, equals, value = word.partition("=")
        if not equals:
            raise WireError("22023", "The options of the connection are not understood", FORM)
        found[name.replace("-", "_").casefold()] = value
    return found


FORM = "Write options=-c discreet.epsilon=0.1; in an address, -c%20discreet.epsilon%3D0.1"


def _split(text: str) -> list[str]:
    """Return the words of a text; a backslash keeps the next character, as in libpq."""
    words, current, is_kept, has_word = [], "", False, False
    for each in text:
        if is_kept:
            current, is_kept, has_word = current + each, False, True
        elif each == "\\":
            is_kept = True
        elif each.isspace():
            if has_word:
                words.append(current)
            current, has_word = "", False
        else:
            current, has_word = current + each, True
    return [*words, current] if has_word else words
