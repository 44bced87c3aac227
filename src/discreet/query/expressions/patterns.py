"""Patterns of LIKE: written out, and short enough that matching cannot take long."""

from sqlglot import exp

from discreet.errors import QuestionSizeError, UnsupportedError
from discreet.query.places import span_of
from discreet.query.tree import Expression, Literal

LONGEST_PATTERN = 200
MOST_WILDCARDS = 8


def check_pattern(texts: list[Expression], node: exp.Expr) -> None:
    """Refuse a pattern, and its escape character if there is one, that cannot be matched."""
    values = [each.value for each in texts if isinstance(each, Literal)]
    pattern = values[0] if values else None
    if not isinstance(pattern, str) or len(values) < len(texts):
        raise UnsupportedError(
            "the pattern of LIKE must be written out",
            "write it as a text, or use CONTAINS(a, b)",
            span=span_of(node),
        )
    if len(pattern) > LONGEST_PATTERN or pattern.count("%") > MOST_WILDCARDS:
        raise QuestionSizeError(
            "this pattern is too long",
            f"use at most {LONGEST_PATTERN} characters and {MOST_WILDCARDS} signs %",
            span=span_of(node),
        )
    escape = values[1] if len(values) > 1 else None
    if escape is not None and not _escapes(pattern, escape):
        raise UnsupportedError(
            "this pattern cannot be read with its ESCAPE",
            "escape with one character that stands before another",
            span=span_of(node),
        )


def _escapes(pattern: str, escape: object) -> bool:
    if not isinstance(escape, str) or len(escape) != 1:
        return False
    trailing = len(pattern) - len(pattern.rstrip(escape))
    return trailing % 2 == 0
