"""How errors are written: one sentence for the problem, one for the fix, and values in short."""

import re
from fractions import Fraction

COMMANDS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters, marks that change the direction of writing, line breaks and surrogates."""


def without_commands(text: str) -> str:
    """Return the text with control characters written as escapes."""
    return COMMANDS.sub(lambda found: _escape(found[0]), text)


def _escape(character: str) -> str:
    code = ord(character)
    return "\\r" if character == "\r" else f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def message(what: str, fix: str = "", *, place: str = "", excerpt: str = "") -> str:
    """Compose an error: what is wrong, where, and what to do about it.

    `what` is one sentence without its full stop, which comes after the place. A missing full stop
    of `fix` is added. `excerpt` are the lines of a query, shown between the two.
    """
    first = sentence(f"{what} ({place})" if place else what)
    last = sentence(fix[:1].upper() + fix[1:]) if fix else ""
    if excerpt:
        lines = "\n".join(f"  {each}" for each in excerpt.split("\n"))
        return f"{without_commands(first)}\n{lines}\n{without_commands(last)}".rstrip()
    return without_commands(f"{first} {last}".rstrip())


def sentence(words: str) -> str:
    """Return words with a full stop at the end, unless they end with another mark."""
    return words if words.endswith((".", "?", "!")) else f"{words}."


def shown(value: object) -> str:
    """Return a value as errors show it: short, on one line, fractions as decimals if possible."""
    try:
        text = readable(value) if isinstance(value, Fraction) else repr(value)
    except (OverflowError, ValueError):
        return "a number too long to show"
    except Exception:  # noqa: BLE001 - the repr of a foreign type may do anything
        return "a value that cannot be shown"
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:57] + "..."


MOST_SHOWN = 10**300
"""Larger numbers do not fit into a float."""


def readable(value: Fraction) -> str:
    """Return a fraction as a decimal if a short one is exact, else as p/q or rounded."""
    if abs(value) > MOST_SHOWN:
        return f"{'less than -' if value < 0 else 'more than '}1e300"
    if Fraction(decimal := f"{float(value):.12g}") == value:
        return decimal
    return str(value) if len(str(value)) <= 20 else f"about {decimal}"


def place_of(text: str, start: int, end: int) -> tuple[int, int, str, str]:
    """Return line and column from 1, the line or the part around the place, and the carets."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", start)
    line = text[first : last if last >= 0 else len(text)]
    column = start - first
    width = max(1, min(end, first + len(line)) - start)
    left = max(0, column - 60)
    part = line[left : left + 120].replace("\t", " ")
    part = COMMANDS.sub("\N{REPLACEMENT CHARACTER}", part)  # one for one, so the caret fits
    caret = " " * (column - left) + "^" * min(width, 120 - (column - left))
    return text.count("\n", 0, start) + 1, column + 1, part, caret
