"""Text that stands in a cell: it cannot break out of it, and its width on a screen is known."""

from unicodedata import category, combining, east_asian_width

ELLIPSIS = "…"

JOINERS = "\u200c\u200d"
"""Formatting characters that Persian, Hindi and many emoji are not written right without."""

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp", "Cn", "Co"}


def visible(text: str) -> str:
    """Return the text with control, direction and line-breaking characters written as escapes."""
    return "".join(map(_visible, text))


def quoted(text: str) -> str:
    """Return the text as it is, in quotes where it would be taken for something else."""
    shown = visible(text)
    return f"'{shown}'" if shown in ("", "NULL") or shown != shown.strip() else shown


def width_of(text: str) -> int:
    """Return how many columns of a screen the text takes."""
    return sum(map(_width, text))


def clipped(text: str, most: int) -> str:
    """Return the text, cut with an ellipsis if it is wider than allowed."""
    if width_of(text) <= most:
        return text
    taken = 0
    for i, character in enumerate(text):
        taken += _width(character)
        if taken > most - 1:
            return text[:i] + ELLIPSIS
    return text


def padded(text: str, width: int, *, is_right: bool) -> str:
    """Return the text filled with spaces up to a width."""
    space = " " * (width - width_of(text))
    return space + text if is_right else text + space


def _visible(character: str) -> str:
    if character in JOINERS or character.isprintable():
        return character
    if category(character) not in _UNSEEN:
        return character
    code = ord(character)
    if code < 0x100:
        return _SHORT.get(character, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _width(character: str) -> int:
    if character < "\u0300":
        return 1
    # Vowels and finals of Hangul that join the syllable before them.
    if (
        combining(character)
        or category(character) in ("Mn", "Me", "Cf")
        or ("\u1160" <= character <= "\u11ff")
    ):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1
