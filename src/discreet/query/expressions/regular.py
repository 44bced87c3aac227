"""Regular expressions that mean the same, and take little time, on every engine.

An expression is read into a tree of our own, checked, and written anew for each engine. It is
accepted if its next character always decides how it goes on: then there is one way to match at a
place, so that engines which prefer the first way and engines which prefer the longest one agree,
and none goes back over a text. docs/proofs/sql_forms.md has the proof.
"""

from collections.abc import Iterator
from dataclasses import dataclass

LAST = 0x10FFFF


Ranges = tuple[tuple[int, int], ...]


LONGEST_SEARCHED = 1_000
"""Longer texts are not searched for a pattern without ^ that repeats a part without end."""


class PatternError(Exception):
    """Why a regular expression is not accepted: what is wrong, at which place, and what helps."""

    def __init__(self, what: str, place: int, fix: str) -> None:
        super().__init__(what)
        self.what, self.place, self.fix = what, place, fix


@dataclass(frozen=True, slots=True, kw_only=True)
class Characters:
    """One character of a set."""

    ranges: Ranges
    place: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Concatenation:
    """Parts one after the other."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternation:
    """One of several branches."""

    branches: tuple["Node", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repetition:
    """A part from `low` to `high` times, as often as there is; without end if `high` is None."""

    body: "Node"
    low: int
    high: int | None
    is_free: bool = False
    """Whether a text that is optional may also be read by the part behind it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """What is captured."""

    body: "Node"


Node = Characters | Concatenation | Alternation | Repetition | Group


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A regular expression, found anywhere in a text unless it is anchored."""

    body: Node
    at_start: bool
    at_end: bool
    groups: int


# --------------------------------------------------------------------------- sets of characters


def united(ranges: Iterator[tuple[int, int]] | Ranges) -> Ranges:
    """Return ranges in order that do not meet."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return tuple(found)


def complement(ranges: Ranges) -> Ranges:
    """Return all characters but these."""
    found, start = [], 0
    for low, high in ranges:
        if low > start:
            found.append((start, low - 1))
        start = high + 1
    return (*found, (start, LAST)) if start <= LAST else tuple(found)


def meet(a: Ranges, b: Ranges) -> bool:
    """Return whether two sets have a character in common."""
    return any(low <= high2 and low2 <= high for low, high in a for low2, high2 in b)


def is_inside(a: Ranges, b: Ranges) -> bool:
    """Return whether a set is part of another."""
    return not meet(a, complement(b))


def folded(ranges: Ranges) -> Ranges | None:
    """Return a set with both cases of its letters; None if it has letters other than ASCII's.

    K and S have a third form in Unicode, as RE2 has it.
    """
    if any(high > 0x7F for _, high in ranges):
        return None
    more = list(ranges)
    for low, high in ranges:
        for code in range(low, high + 1):
            letter = chr(code)
            if letter.isalpha():
                more += [(ord(each), ord(each)) for each in {letter.upper(), letter.lower()}]
                more += THIRD.get(letter.lower(), [])
    return united(tuple(more))


THIRD = {"k": [(0x212A, 0x212A)], "s": [(0x17F, 0x17F)]}


def _of(text: str) -> Ranges:
    return united(tuple((ord(each), ord(each)) for each in text))


DIGITS: Ranges = ((0x30, 0x39),)
WORD: Ranges = united((*DIGITS, (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)))
SPACE: Ranges = _of("\t\n\f\r ")
NOT_NEWLINE: Ranges = complement(_of("\n"))


CLASSES = {
    "d": DIGITS,
    "D": complement(DIGITS),
    "w": WORD,
    "W": complement(WORD),
    "s": SPACE,
    "S": complement(SPACE),
}
"""What \\d and the like are in DuckDB."""


CONTROLS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}


# --------------------------------------------------------------------------- reading


MOST_REPEATED = 100


DEEPEST = 10


HEXADECIMAL = frozenset("0123456789abcdefABCDEF")


SURROGATES = range(0xD800, 0xE000)
"""Numbers that are no characters."""


class Reader:
    """Reads a regular expression; characters count from 1 in what it says."""

    def __init__(self, text: str, *, ignores_case: bool = False) -> None:
        self.text, self.at, self.ignores_case = text, 0, ignores_case
        self.groups, self.depth = 0, 0

    def pattern(self) -> Pattern:
        """Return the whole expression."""
        if "\0" in self.text:
            raise PatternError("has the character NUL", 1, "Remove it")
        at_start = self.took("^")
        branches = self.branches()
        at_end = self.took("$")
        if self.at < len(self.text):
            raise self.error(f"has {self.text[self.at]} at a place where it means nothing")
        if (at_start or at_end) and len(branches) > 1:
            raise PatternError(
                "has ^ or $ in one of several alternatives", 1, "Write ^(?:a|b)$ around all of them"
            )
        body = _one_of(branches)
        return Pattern(body=body, at_start=at_start, at_end=at_end, groups=self.groups)

    def error(self, what: str, fix: str = "Write it without that, or use LIKE") -> PatternError:
        """Return an error at this place."""
        return PatternError(what, self.at + 1, fix)

    def next(self) -> str:
        """Return the next character; none at the end."""
        return self.text[self.at : self.at + 1]

    def took(self, sign: str) -> bool:
        """Return whether these characters are next, and go on behind them."""
        if not self.text.startswith(sign, self.at):
            return False
        self.at += len(sign)
        return True

    def branches(self) -> list[Node]:
        """Return branches up to a closing bracket or the end."""
        found = [self.concatenation()]
        while self.took("|"):
            found.append(self.concatenation())
        return found

    def concatenation(self) -> Node:
        """Return parts up to the end of a branch."""
        parts: list[Node] = []
        while self.next() and self.next() not in "|)":
            if self.text[self.at :] == "$":
                break
            parts.append(self.repetition())
        if not parts:
            raise self.error("has an empty part", "Remove it, or write ? behind the part before it")
        return parts[0] if len(parts) == 1 else Concatenation(parts=tuple(parts))

    def repetition(self) -> Node:
        """Return a part with what follows it: ?, *, + or {m,n}."""
        start, body = self.at, self.atom()
        low, high = self.times()
        if (low, high) == (1, 1):
            return body
        if self.next() and self.next() in "?*+{":
            raise self.error(
                "has a second sign of repetition",
                "Write a class that ends where it must, such as [^/]* instead of .*?",
            )
        if is_empty(body):
            raise PatternError("repeats a part that can be empty", start + 1, "Remove one of both")
        return Repetition(body=body, low=low, high=high)

    def times(self) -> tuple[int, int | None]:
        """Return how often a part is repeated."""
        for sign, ends in (("?", (0, 1)), ("*", (0, None)), ("+", (1, None))):
            if self.took(sign):
                return ends
        if not self.took("{"):
            return 1, 1
        inner, closed, _ = self.text[self.at :].partition("}")
        first, comma, last = inner.partition(",")
        numbers = [each for each in (first, last) if each]
        are_small = all(each.isascii() and each.isdigit() and len(each) < 4 for each in numbers)
        if not closed or not first or not numbers or not are_small:
            raise self.error("has a { that is not followed by numbers", r"Write \{ for the sign")
        low = int(first)
        high = (int(last) if last else None) if comma else low
        if max(low, high or 0) > MOST_REPEATED or (high is not None and not 0 < high >= low):
            raise self.error("repeats a part too often", f"Use at most {MOST_REPEATED} times")
        self.at += len(inner) + 1
        return low, high

    def atom(self) -> Node:
        """Return a character, a class or a group."""
        if self.took("("):
            return self.group()
        if self.took("["):
            return self.one(self.bracket())
        if self.took("."):
            return Characters(ranges=NOT_NEWLINE, place=self.at)
        if self.took("\\"):
            return self.one(self.escape())
        if self.next() in "*+?{^$":
            raise self.error(
                f"has {self.next()} at a place where it is not supported",
                f"Write \\{self.next()} for the character itself. ^ and $ stand at the ends only",
            )
        self.at += 1
        return self.one(self.cased(_of(self.text[self.at - 1])))

    def one(self, ranges: Ranges) -> Characters:
        """Return one character of a set."""
        if not ranges or ranges == ((0, 0),):
            raise self.error("has a class without characters", "Remove it")
        return Characters(ranges=ranges, place=self.at)

    def cased(self, ranges: Ranges) -> Ranges:
        """Return a set in both cases, if case does not matter."""
        found = folded(ranges) if self.ignores_case else ranges
        if found is None:
            raise self.error(
                "has a letter with an accent or of another script, whose case databases disagree "
                "about",
                "Use ~ and write both letters in a class, such as [éÉ]",
            )
        return found

    def group(self) -> Node:
        """Return what is in brackets."""
        is_captured = not self.took("?:")
        if is_captured and self.next() == "?":
            raise self.error(
                "has (? with another sign than :", "Use (?:...). To ignore case, write ~*"
            )
        self.groups += is_captured
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.error("has too many brackets inside each other", f"Use at most {DEEPEST}")
        body = _one_of(self.branches())
        self.depth -= 1
        if not self.took(")"):
            raise self.error("has a bracket that is not closed", r"Close it, or write \(")
        return Group(body=body) if is_captured else body

    def bracket(self) -> Ranges:
        """Return the set of a class in square brackets."""
        is_negated = self.took("^")
        found: list[tuple[int, int]] = []
        while self.next() != "]" or not found:
            if not self.next() or self.text.startswith("[:", self.at):
                raise self.error("has a class that is not supported", "Write it as [a-z0-9]")
            first = self.member()
            if self.next() == "-" and self.text[self.at + 1 : self.at + 2] not in ("", "]"):
                self.at += 1
                last = self.member()
                if len(first) != 1 or len(last) != 1 or first[0][0] > last[0][1]:
                    raise self.error("has a range that is not in order", "Write it as [a-z]")
                first = ((first[0][0], last[0][1]),)
            found += first
        self.at += 1
        ranges = self.cased(united(tuple(found)))
        return complement(ranges) if is_negated else ranges

    def member(self) -> Ranges:
        """Return a character of a class, or a class inside it."""
        if self.took("\\"):
            return self.escape(is_inside=True)
        self.at += 1
        return _of(self.text[self.at - 1])

    def escape(self, *, is_inside: bool = False) -> Ranges:
        """Return what a backslash and a sign mean."""
        sign = self.next()
        self.at += 1
        if sign in CLASSES and sign:
            return CLASSES[sign]
        if sign == "x" and self.took("{"):
            digits, closed, _ = self.text[self.at :].partition("}")
            self.at += len(digits) + 1
            is_number = closed and 0 < len(digits) <= 6 and set(digits) <= HEXADECIMAL
            code = int(digits, 16) if is_number else LAST + 1
            if code <= LAST and code not in SURROGATES:
                return ((code, code),)
        if sign in CONTROLS and sign:
            return _of(CONTROLS[sign])
        if not sign or sign.isalnum() or not sign.isascii():
            self.at -= 1
            raise self.error(
                f"has \\{sign}, which is not supported",
                r"Use characters, classes, \d, \w and \s. ^ and $ stand at the ends only",
            )
        return _of(sign) if is_inside else self.cased(_of(sign))


def _one_of(branches: list[Node]) -> Node:
    return branches[0] if len(branches) == 1 else Alternation(branches=tuple(branches))


def is_empty(node: Node) -> bool:
    """Return whether a part can match an empty text."""
    match node:
        case Characters():
            return False
        case Concatenation(parts=parts):
            return all(map(is_empty, parts))
        case Alternation(branches=branches):
            return any(map(is_empty, branches))
        case Repetition(low=low):
            return low == 0
        case Group(body=body):
            return is_empty(body)
