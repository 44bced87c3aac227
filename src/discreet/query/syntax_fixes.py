"""What is wrong with text that is not SQL, and a fix that was tried: the text with it is SQL."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from sqlglot.tokenizer_core import Token, TokenType

LONGEST = 10_000
"""Longer queries are not tried again."""

MOST_TRIED = 12

QUOTES = str.maketrans({"“": "'", "”": "'", "‘": "'", "’": "'", "„": "'"})

KEYWORDS = ("FROM", "WHERE", "GROUP", "ORDER", "HAVING", "LIMIT", "JOIN")

PLAIN = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING, TokenType.NUMBER)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntaxFix:
    """A changed text, and the sentences that say what was changed."""

    text: str
    what: str
    fix: str
    span: tuple[int, int]


def tried_fix(
    text: str, tokens: Sequence[Token], near: int, is_sql: Callable[[str], bool]
) -> SyntaxFix | None:
    """Return a fix of text that is wrong near a place, if a common one makes it SQL."""
    if len(text) > LONGEST:
        return None
    at = next((i for i, each in enumerate(tokens) if each.end >= near), len(tokens) - 1)
    for number, each in enumerate(_fixes(text, tokens, at)):
        if number >= MOST_TRIED:
            return None
        if is_sql(each.text):
            return each
    return None


def _fixes(text: str, tokens: Sequence[Token], at: int) -> Iterator[SyntaxFix]:
    yield from _typographic(text)
    yield from _top(text, tokens)
    around = [i for i in (at, at - 1, at + 1, at - 2) if 0 <= i < len(tokens)]
    for i in around:
        yield from _trailing_comma(text, tokens, i)
    for i in around:
        yield from _misspelt(text, tokens[i])
    for i in around:
        yield from _reserved(text, tokens, i)
    for i in around[:2]:
        yield from _missing_comma(text, tokens, i)


def _typographic(text: str) -> Iterator[SyntaxFix]:
    plain = text.translate(QUOTES)
    if plain != text:
        place = next(i for i, (a, b) in enumerate(zip(text, plain, strict=True)) if a != b)
        yield SyntaxFix(
            text=plain,
            what=f"{text[place]} is not a quotation mark of SQL",
            fix="Write ' before and after a text",
            span=(place, place + 1),
        )


def _top(text: str, tokens: Sequence[Token]) -> Iterator[SyntaxFix]:
    for first, second, third in zip(tokens, tokens[1:], tokens[2:], strict=False):
        is_top = first.token_type is TokenType.SELECT and second.text.upper() == "TOP"
        if is_top and third.token_type is TokenType.NUMBER:
            rest = text.rstrip().rstrip(";")
            yield SyntaxFix(
                text=f"{rest[: second.start]}{rest[third.end + 1 :]} LIMIT {third.text}",
                what="TOP is not supported",
                fix=f"Leave it out, and write LIMIT {third.text} at the end",
                span=(second.start, third.end + 1),
            )


def _trailing_comma(text: str, tokens: Sequence[Token], at: int) -> Iterator[SyntaxFix]:
    token = tokens[at]
    if token.token_type is TokenType.COMMA:
        yield SyntaxFix(
            text=text[: token.start] + text[token.end + 1 :],
            what="There is a comma too much",
            fix="Remove it",
            span=(token.start, token.end + 1),
        )


def _missing_comma(text: str, tokens: Sequence[Token], at: int) -> Iterator[SyntaxFix]:
    token = tokens[at]
    if at and token.token_type in PLAIN and tokens[at - 1].token_type is not TokenType.COMMA:
        yield SyntaxFix(
            text=f"{text[: token.start]}, {text[token.start :]}",
            what=f'There is a comma missing before "{token.text[:40]}"',
            fix="Write a comma between two columns",
            span=(token.start, token.end + 1),
        )


def _misspelt(text: str, token: Token) -> Iterator[SyntaxFix]:
    if token.token_type is not TokenType.VAR:
        return
    for word in get_close_matches(token.text.upper(), KEYWORDS, n=1, cutoff=0.7):
        if word != token.text.upper():
            yield SyntaxFix(
                text=f"{text[: token.start]}{word}{text[token.end + 1 :]}",
                what=f'Syntax error at or near "{token.text}"',
                fix=f"Did you mean {word}?",
                span=(token.start, token.end + 1),
            )


def _reserved(text: str, tokens: Sequence[Token], at: int) -> Iterator[SyntaxFix]:
    """Put a word of SQL in quotes, here or wherever it stands."""
    token = tokens[at]
    if token.token_type in PLAIN or not token.text.isidentifier():
        return
    same = [each for each in tokens if each.text == token.text]
    for quoted in ([token], same):
        yield SyntaxFix(
            text=_quoted(text, quoted),
            what=f"{token.text} is a word of SQL and cannot be a name here",
            fix=f'If it is a column or a table, write "{token.text}"',
            span=(token.start, token.end + 1),
        )


def _quoted(text: str, tokens: Sequence[Token]) -> str:
    for each in sorted(tokens, key=lambda token: token.start, reverse=True):
        word = text[each.start : each.end + 1]
        text = f'{text[: each.start]}"{word}"{text[each.end + 1 :]}'
    return text
