"""From text to a tree: one SELECT, of a size that can be looked through, or a refusal."""

import logging
from itertools import accumulate

from sqlglot import ErrorLevel, ParseError, TokenError, Tokenizer, exp, parse_one
from sqlglot.tokenizer_core import Token, TokenType

from discreet.errors import ParameterError, QuestionSizeError, SqlSyntaxError, StatementError

logging.getLogger("sqlglot").addHandler(logging.NullHandler())  # its warnings are for its authors

DIALECT = "duckdb"

LONGEST = 100_000
"""Characters of a question."""

DEEPEST = 100
"""Levels of brackets, CASE, functions and operators in a question; AND, OR and || do not nest."""

LONGEST_CHAIN = 4_000
"""Operators and keywords in a question: chains of them nest in the parser."""

MARK = "\ufeff"
"""Some editors begin a file with it."""

OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
BEGINNINGS = {TokenType.SELECT, TokenType.WITH, TokenType.FROM, TokenType.L_PAREN, TokenType.VALUES}
PREFIXES = {TokenType.NOT, TokenType.DASH, TokenType.TILDE, TokenType.PLUS}


def parse(text: str) -> exp.Query:
    """Return the question's tree: a SELECT, or several tied by UNION and the like."""
    if not isinstance(text, str):
        raise ParameterError("sql", text, "must be the text of a question")
    text = " " + text[1:] if text.startswith(MARK) else text
    tokens = _tokens(text)
    _check_size(tokens)
    _check_verb(tokens[0])
    end = _end_of_first(tokens, len(text))
    try:
        tree = parse_one(text[:end], dialect=DIALECT, error_level=ErrorLevel.IMMEDIATE)
    except ParseError as error:
        raise _syntax_error(text, error) from None
    except RecursionError:
        raise _too_deep() from None
    if not isinstance(tree, exp.Query):
        raise _not_a_question(tokens[0])
    _check_tree(tree)
    return tree


def _tokens(text: str) -> list[Token]:
    if len(text) > LONGEST:
        raise QuestionSizeError(
            f"the question has {len(text)} characters",
            f"the most is {LONGEST}; put long lists into a public table",
        )
    try:
        text.encode()
    except UnicodeEncodeError as cause:
        raise SqlSyntaxError(
            f"character {cause.start + 1} of the question is half of one", "remove it"
        ) from None
    if "\x00" in text:
        place = text.index("\x00")
        raise SqlSyntaxError(
            "the question contains a NUL character", "remove it", span=(place, place + 1)
        )
    try:
        tokens = Tokenizer(dialect=DIALECT).tokenize(text)
    except TokenError:
        raise SqlSyntaxError(
            "the question ends inside a quoted text, a quoted name or a comment",
            "close the quote or the comment",
        ) from None
    if not tokens:
        raise SqlSyntaxError("the question is empty", "write a SELECT")
    return tokens


def _check_size(tokens: list[Token]) -> None:
    levels = accumulate(
        (each.token_type in OPENING) - (each.token_type in CLOSING) for each in tokens
    )
    if max(levels) > DEEPEST or _longest_prefix(tokens) > DEEPEST:
        raise _too_deep()
    # Commas make lists, which do not nest; all else may.
    chained = sum(
        each.token_type not in (TokenType.COMMA, TokenType.NUMBER, TokenType.STRING)
        for each in tokens
    )
    if chained > LONGEST_CHAIN:
        raise QuestionSizeError(
            f"the question has {chained} words and signs",
            f"the most is {LONGEST_CHAIN}, lists of values apart; write it shorter",
        )


NESTING = (exp.Binary, exp.Unary, exp.Func, exp.SetOperation)
CHAINS = (exp.And, exp.Or, exp.DPipe, exp.Paren)
"""Operators whose runs are taken as one, and brackets, which were counted before."""


def _check_tree(tree: exp.Query) -> None:
    """Refuse operators within operators beyond a depth, and a SELECT of nothing."""
    waiting: list[tuple[exp.Expr, int]] = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEPEST:
            raise _too_deep()
        if _names_nothing(node):
            word = "SELECT" if isinstance(node, exp.Select) else "GROUP BY"
            raise SqlSyntaxError(f"{word} names nothing", "write what is meant after it")
        deeper = depth + (isinstance(node, NESTING) and not isinstance(node, CHAINS))
        waiting += ((each, deeper) for each in node.iter_expressions())


def _names_nothing(node: exp.Expr) -> bool:
    if isinstance(node, exp.Group):
        return not any(node.args.values())
    return isinstance(node, exp.Select) and not node.expressions


def _longest_prefix(tokens: list[Token]) -> int:
    """Return the length of the longest run of signs, each of which nests in the parser."""
    longest = run = 0
    for each in tokens:
        run = run + 1 if each.token_type in PREFIXES else 0
        longest = max(longest, run)
    return longest


def _too_deep() -> QuestionSizeError:
    return QuestionSizeError(
        "the question is nested too deeply",
        f"use at most {DEEPEST} levels of brackets, CASE and operators",
    )


def _check_verb(first: Token) -> None:
    if first.token_type not in BEGINNINGS:
        raise _not_a_question(first)


def _not_a_question(first: Token) -> StatementError:
    verb = first.text.upper()[:20]
    return StatementError(
        f"{verb} does not begin a question", "only SELECT is answered", span=_span(first)
    )


def _end_of_first(tokens: list[Token], length: int) -> int:
    """Return where the only statement ends; refuse a second one."""
    ends = [i for i, each in enumerate(tokens) if each.token_type is TokenType.SEMICOLON]
    if not ends:
        return length
    for each in tokens[ends[0] :]:
        if each.token_type is not TokenType.SEMICOLON:
            raise StatementError(
                "the question has more than one statement", "ask one at a time", span=_span(each)
            )
    return tokens[ends[0]].start


def _syntax_error(text: str, error: ParseError) -> SqlSyntaxError:
    """Return our own sentence with the parser's place: its words are made for parsers' authors."""
    place = error.errors[0] if error.errors else {}
    line, column = place.get("line"), place.get("col")
    span = None
    if line and column is not None:
        start = sum(len(each) + 1 for each in text.split("\n")[: line - 1])
        width = max(1, len(place.get("highlight") or " "))
        first = min(max(0, start + column - width), max(0, len(text) - 1))
        span = (first, min(first + width, len(text)))
    return SqlSyntaxError("this is not SQL", "look at what stands here and before it", span=span)


def _span(token: Token) -> tuple[int, int]:
    return token.start, token.end + 1
