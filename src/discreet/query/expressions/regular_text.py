"""Writes a regular expression that was read, in the one form that an engine is sent."""

from collections.abc import Callable
from dataclasses import dataclass

from discreet.query.expressions.regular import (
    LAST,
    LONGEST_SEARCHED,
    Alternation,
    Characters,
    Concatenation,
    Group,
    Node,
    Pattern,
    Ranges,
    Repetition,
    complement,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """What differs between engines' regular expressions."""

    escape: Callable[[int], str]
    """How a character of ASCII that may mean something is written."""
    end: str
    """Where a text ends, and nothing before."""
    is_possessive: bool = False
    """Whether repetitions say that nothing of them is given back, for engines that go back."""
    first: int = 0
    """The first character that texts can have."""
    never: str = ""
    """What no text has and a class must not match."""
    anything: str
    """Any character at all."""


RE2 = Style(escape=lambda code: f"\\x{{{code:X}}}", end="$", anything=f"[\\x{{0}}-\\x{{{LAST:X}}}]")
"""DuckDB's, and the form that a query is known by."""


POSTGRESQL = Style(escape=lambda code: f"\\u{code:04X}", end="$", first=1, anything=".")


JAVA = Style(
    escape=lambda code: f"\\u{code:04X}",
    end="\\z",
    is_possessive=True,
    never="\\uD800-\\uDFFF",
    anything="[^\\uD800-\\uDFFF]",
)


def longest_searched(pattern: Pattern, longest: int) -> int:
    """Return how long texts may be: a search that can begin anywhere takes n² / 2 steps at most."""
    is_linear = pattern.at_start or not _is_endless(pattern.body)
    return longest if is_linear else min(longest, LONGEST_SEARCHED)


def _is_endless(node: Node) -> bool:
    match node:
        case Repetition(body=body, high=high):
            return high is None or _is_endless(body)
        case Group(body=body):
            return _is_endless(body)
        case Concatenation(parts=parts):
            return any(map(_is_endless, parts))
        case Alternation(branches=branches):
            return any(map(_is_endless, branches))
        case Characters():
            return False


def pattern_text(pattern: Pattern, style: Style = RE2) -> str:
    """Return a regular expression as text."""
    start, end = "^" if pattern.at_start else "", style.end if pattern.at_end else ""
    return start + _text(pattern.body, style) + end


def _text(node: Node, style: Style) -> str:
    match node:
        case Characters(ranges=ranges):
            return _set(ranges, style)
        case Group(body=body):
            inner = _text(body, style)
            is_wrapped = isinstance(body, Alternation)
            return f"({inner[3:-1] if is_wrapped else inner})"
        case Concatenation(parts=parts):
            return "".join(_text(each, style) for each in parts)
        case Alternation(branches=branches):
            return "(?:" + "|".join(_text(each, style) for each in branches) + ")"
        case Repetition(body=body):
            inner = _text(body, style)
            is_one = isinstance(body, Characters | Group | Alternation)
            return (inner if is_one else f"(?:{inner})") + _times(node, style)


def _times(node: Repetition, style: Style) -> str:
    low, high = node.low, node.high
    signs = {(0, 1): "?", (0, None): "*", (1, None): "+"}
    last = "" if high is None else str(high)
    times = signs.get((low, high)) or (f"{{{low}}}" if low == high else f"{{{low},{last}}}")
    is_kept = node.is_free or _has_group(node.body)
    return times + ("+" if style.is_possessive and not is_kept else "")


def _has_group(node: Node) -> bool:
    """Return whether a part captures: Java forgets what was captured only where it goes back."""
    match node:
        case Group():
            return True
        case Concatenation(parts=parts):
            return any(map(_has_group, parts))
        case Alternation(branches=branches):
            return any(map(_has_group, branches))
        case Repetition(body=body):
            return _has_group(body)
        case _:
            return False


def _set(ranges: Ranges, style: Style) -> str:
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _character(ranges[0][0], style)
    if ranges == ((0, LAST),):
        return style.anything
    is_negated = ranges[-1][1] == LAST
    shown = complement(ranges) if is_negated else ranges
    members = "".join(_range(low, high, style) for low, high in shown)
    return f"[^{members}{style.never}]" if is_negated else f"[{members}]"


def _range(low: int, high: int, style: Style) -> str:
    low = max(low, style.first)
    first, last = _character(low, style), _character(high, style)
    if low >= high:
        return last if low == high else ""
    return f"{first}{last}" if high == low + 1 else f"{first}-{last}"


def _character(code: int, style: Style) -> str:
    letter = chr(code)
    is_plain = code > 0x7F or (letter.isascii() and letter.isalnum())
    return letter if is_plain else style.escape(code)


# --------------------------------------------------------------------------- replacements


Piece = str | int
"""Plain text, or the number of a group."""


def replacement_pieces(text: str, groups: int) -> tuple[Piece, ...] | None:
    """Return what replaces a match: groups by number, 0 for all; None if unreadable."""
    found: list[Piece] = []
    signs = iter(text)
    for sign in signs:
        if sign != "\\":
            found.append(sign)
            continue
        after = next(signs, "")
        if after == "\\":
            found.append("\\")
        elif after.isascii() and after.isdigit() and int(after) <= groups:
            found.append(int(after))
        else:
            return None
    return tuple(found)
