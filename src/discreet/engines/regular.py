"""What templates of regular expressions share: the pattern in an engine's form, and its texts."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from discreet.engines.dialect import Written, number, words
from discreet.errors import UnsupportedError
from discreet.query.expressions.functions import LONGEST_TEXT
from discreet.query.expressions.regular import Group, Pattern
from discreet.query.expressions.regular_check import read_pattern
from discreet.query.expressions.regular_text import (
    Piece,
    Style,
    longest_searched,
    pattern_text,
    replacement_pieces,
)


def condition_text(argument: Written, style: Style) -> tuple[str, int]:
    """Return the pattern of a condition in an engine's form, and how long texts may be."""
    pattern = read_pattern(words(argument), is_condition=True)
    return pattern_text(pattern, style), longest_searched(pattern, LONGEST_TEXT)


def captured(arguments: Sequence[Written], style: Style) -> tuple[str, int, int]:
    """Return the pattern of an extraction, the group, and how long texts may be."""
    pattern, group = _read(arguments[1]), number(arguments[2])
    return pattern_text(pattern, style), group, longest_searched(pattern, LONGEST_TEXT)


def captured_whole(arguments: Sequence[Written], style: Style) -> tuple[str, int, int]:
    """Return the same with one more group around all of it."""
    pattern, group = _read(arguments[1]), number(arguments[2])
    text = pattern_text(replace(pattern, body=Group(body=pattern.body)), style)
    return text, group + 1, longest_searched(pattern, LONGEST_TEXT)


def replaced(
    arguments: Sequence[Written], style: Style, sign: Callable[[Piece], str]
) -> tuple[str, str, int]:
    """Return the pattern, the replacement in an engine's form, and how long texts may be."""
    pattern = _read(arguments[1])
    pieces = replacement_pieces(words(arguments[2]), pattern.groups)
    if pieces is None:
        raise UnsupportedError("This replacement cannot be read", "Write plain text")
    longest = longest_searched(pattern, LONGEST_TEXT // max(1, len(pieces)))
    return pattern_text(pattern, style), "".join(map(sign, pieces)), longest


def _read(argument: Written) -> Pattern:
    return read_pattern(words(argument), is_condition=False)
