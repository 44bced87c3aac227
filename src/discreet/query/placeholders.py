"""Placeholders of a query: ?, $1, :name, and @name of BigQuery.

Their tokens are numbered before the query is parsed, so that each is found again in the tree.
"""

from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

from discreet.errors import PlaceholderError
from discreet.query.parameter_values import (
    MOST_VALUES,
    NOT_READ,
    NUMBERED,
    Placeholder,
    after_type,
)

ENDS = {
    TokenType.VAR,
    TokenType.IDENTIFIER,
    TokenType.NUMBER,
    TokenType.STRING,
    TokenType.R_PAREN,
    TokenType.R_BRACKET,
    TokenType.R_BRACE,
}
"""After these a colon or a question mark is an operator."""


def numbered(tokens: Sequence[Token]) -> tuple[list[Token], list[Placeholder]]:
    """Return the tokens with each placeholder under a number of its own, and the placeholders."""
    kept: list[Token] = []
    found: list[Placeholder] = []
    rest = [part for each in tokens for part in _parts(each)]
    at = marks = 0
    while at < len(rest):
        before = rest[at - 1] if at else None
        following = rest[at + 1] if at + 1 < len(rest) else None
        read = _placeholder(before, rest[at], following, marks + 1)
        if read is None:
            kept.append(rest[at])
            at += 1
            continue
        placeholder, width = read
        if before is not None and before.text.upper() in TYPES:
            raise after_type(placeholder, before.text.upper())
        marks += placeholder.style == "?"
        kept += _standing_for(rest[at], len(found))
        found.append(placeholder)
        at += width
    return kept, found


def _parts(token: Token) -> Sequence[Token]:
    """Return ?:: as the two tokens that it is."""
    if token.token_type is not TokenType.QDCOLON:
        return (token,)
    line, col, start = token.line, token.col, token.start
    return (
        Token(TokenType.PLACEHOLDER, "?", line, col - 2, start, start, []),
        Token(TokenType.DCOLON, "::", line, col, start + 1, token.end, []),
    )


def _placeholder(
    before: Token | None, token: Token, following: Token | None, mark: int
) -> tuple[Placeholder, int] | None:
    """Return the placeholder that begins at a token, and how many tokens it has."""
    kind, start = token.token_type, token.start
    is_after_value = before is not None and before.token_type in ENDS
    if kind is TokenType.PLACEHOLDER and token.text == "?" and not is_after_value:
        return Placeholder(style="?", key=mark, span=(start, start + 1)), 1
    if kind is TokenType.VAR and token.text[:1] == "$" and token.text[1:]:
        return _named(token.text[1:], (start, token.end + 1), 1)
    is_joined = following is not None and following.start == token.end + 1
    if following is None or not is_joined or not _is_name(following.text):
        if kind is TokenType.PARAMETER:
            raise PlaceholderError(*NOT_READ, span=(start, token.end + 1))
        return None
    span = (start, following.end + 1)
    if kind is TokenType.PARAMETER:
        return _named(following.text, span, 2)
    is_apart = before is None or before.end + 1 < start or before.token_type not in NAMES_BEFORE
    is_slice = before is not None and before.token_type is TokenType.L_BRACKET
    if kind is TokenType.COLON and not is_after_value and is_apart and not is_slice:
        return Placeholder(style=":name", key=following.text, span=span), 2
    return None


TYPES = {"DATE", "TIMESTAMP", "TIMESTAMPTZ", "DATETIME", "TIME", "NUMERIC", "DECIMAL"}
"""After these a text is a literal of that type."""

NAMES_BEFORE = {TokenType.DATE, TokenType.TIMESTAMP, TokenType.YEAR, TokenType.TIME}
"""Keywords that columns are called, too."""


def _named(name: str, span: tuple[int, int], width: int) -> tuple[Placeholder, int] | None:
    if name.isascii() and name.isdigit():
        number = int(name) if len(name) <= 6 else MOST_VALUES + 1
        return Placeholder(style="$1", key=number, span=span), width
    return Placeholder(style=":name", key=name, span=span), width


def _is_name(text: str) -> bool:
    return text.isidentifier() or (text.isascii() and text.isdigit())


def _standing_for(token: Token, number: int) -> list[Token]:
    """Return the tokens of a placeholder that no query has: its number among all of them."""
    place = (token.line, token.col, token.start, token.end)
    return [
        Token(TokenType.PARAMETER, "$", *place, []),
        Token(TokenType.VAR, f"{NUMBERED}{number}", *place, []),
    ]
