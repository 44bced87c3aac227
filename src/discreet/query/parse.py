"""Text to sqlglot's tree; spans."""

import logging
import re
from contextlib import suppress
from itertools import accumulate, pairwise

from sqlglot import ErrorLevel, ParseError, TokenError, exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from discreet import on_use
from discreet.catalog.catalog import Catalog
from discreet.errors import (
    QuestionError,
    QuestionSizeError,
    SqlSyntaxError,
    StatementError,
    UnsupportedError,
)
from discreet.query.dialect_kinds import kinds_in
from discreet.query.dialect_meanings import with_our_meaning
from discreet.query.filled_tree import filled
from discreet.query.placeholders import numbered
from discreet.query.privacy_clause import (
    CLAUSES,
    PrivacyOptions,
    check_aggregates,
    check_catalog,
    without_clause,
)
from discreet.query.spans import span_of as span_of  # noqa: PLC0414 - its old home
from discreet.query.spans import with_spans
from discreet.query.syntax_fixes import tried_fix
from discreet.written import SqlDialect, WrittenQuery, written

logging.getLogger("sqlglot").addHandler(
    logging.NullHandler()
)  # its warnings are for its own developers


DIALECT = DuckDB
"""The class, not its name: sqlglot loads names when they are first used, which threads must not do
at the same time."""


def class_of(dialect: SqlDialect) -> type[Dialect]:
    """Return sqlglot's class of a dialect, loaded as Python loads modules, one thread at a time."""
    match dialect:
        case SqlDialect.POSTGRES:
            return on_use.postgres.Postgres
        case SqlDialect.BIGQUERY:
            return on_use.bigquery.BigQuery
        case SqlDialect.DUCKDB:
            return DIALECT


LONGEST = 100_000
"""The most characters of a query."""


DEEPEST = 100
"""The most levels of brackets, CASE, functions and operators; AND, OR and || do not nest."""


LONGEST_CHAIN = 4_000
"""The most operators and keywords of a query: chains of them nest in the parser."""


MARK = "\ufeff"
"""The byte order mark with which some editors begin a file."""


OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}


CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}


BEGINNINGS = {TokenType.SELECT, TokenType.WITH, TokenType.FROM, TokenType.L_PAREN, TokenType.VALUES}


PREFIXES = {TokenType.NOT, TokenType.DASH, TokenType.TILDE, TokenType.PLUS}


def parse(query: str | WrittenQuery, catalog: Catalog | None = None) -> exp.Query:
    """Return the tree of a query: a SELECT, or several combined by UNION and the like.

    It is in DuckDB's dialect. What means another thing in the dialect of the query is rewritten, or
    rejected; for that the types of the catalog's columns are needed.
    """
    asked = written(query) if isinstance(query, str) else query
    tree, options = read_tree(asked)
    if asked.dialect is not SqlDialect.DUCKDB:
        tree = _translated(tree, asked, catalog)
    if options is not None:
        check_aggregates(tree)
        if catalog is not None:
            check_catalog(options, tree, catalog)
    if "to_char" in asked.text.casefold():
        _keep_to_char(tree)
    return tree


def options_in(query: WrittenQuery) -> PrivacyOptions | None:
    """Return what WITH DIFFERENTIAL_PRIVACY OPTIONS states in a query, if it has that clause."""
    if not any(each in query.text.upper() for each in CLAUSES):
        return None
    return without_clause(_tokens(query.text, class_of(query.dialect)))[1]


def names_in(query: WrittenQuery) -> tuple[str, ...]:
    """Return the names of the placeholders of a query, each once; none if it cannot be read."""
    try:
        read, _ = without_clause(_tokens(query.text, class_of(query.dialect)))
        _, placeholders = numbered(read)
    except QuestionError:
        return ()
    named = [each.key for each in placeholders if isinstance(each.key, str)]
    return tuple(dict.fromkeys(named))


def read_tree(query: WrittenQuery) -> tuple[exp.Query, PrivacyOptions | None]:
    """Return the tree of a query in its own dialect, with the values of its placeholders.

    Beside it is what WITH DIFFERENTIAL_PRIVACY OPTIONS states, which is not in the tree.
    """
    text = " " + query.text[1:] if query.text.startswith(MARK) else query.text
    dialect = class_of(query.dialect)
    read, options = without_clause(_only_statement(_tokens(text, dialect)))
    tokens, placeholders = numbered(read)
    _check_size(tokens)
    _check_verb(tokens[0])
    _check_intervals(tokens)
    tree = _tree(tokens, text, dialect)
    _check_tree(tree)
    _note_names(tree, text)
    if placeholders or query.parameters:
        tree = filled(tree, placeholders, query.parameters, LONGEST - len(text))
    return tree, options


def _translated(tree: exp.Query, query: WrittenQuery, catalog: Catalog | None) -> exp.Query:
    """Return the tree in DuckDB's dialect, with places in the query as it was written."""
    ours = with_our_meaning(tree.copy(), query.dialect, kinds_in(tree, catalog))
    try:
        text = ours.sql(dialect=DIALECT, comments=False, unsupported_level=ErrorLevel.RAISE)
    except SqlglotError:
        raise UnsupportedError(
            "A part of this query has no equivalent in DuckDB's dialect",
            "Write the query as DuckDB does, and leave dialect out",
        ) from None
    again = _tree(_tokens(text, DIALECT), text, DIALECT)
    _check_tree(again)
    return with_spans(again, text, tree, query.text)


def _tree(tokens: list[Token], text: str, dialect: type[Dialect]) -> exp.Query:
    try:
        tree = _parsed(tokens, text, dialect)
    except ParseError as error:
        raise _syntax_error(text, error, tokens, dialect) from None
    except RecursionError:
        raise _too_deep() from None
    if not isinstance(tree, exp.Query):
        verb = "" if tree is None else tree.key.upper()
        raise _not_a_question(next((t for t in tokens if t.text.upper() == verb), tokens[0]))
    return tree


def _parsed(tokens: list[Token], text: str, dialect: type[Dialect]) -> exp.Expr | None:
    """Return what the parser makes of the only statement.

    With too few arguments of some functions it fails by an error of Python.
    """
    parser = dialect().parser(error_level=ErrorLevel.IMMEDIATE)
    try:
        (tree,) = parser.parse(tokens, text)
    except (AttributeError, LookupError, TypeError, ValueError):
        raise SqlSyntaxError(
            "A function cannot be read", "Check which arguments each function needs"
        ) from None
    return tree


def _note_names(tree: exp.Expr, text: str) -> None:
    """Note what the query calls each function: the parser has other names for many."""
    for node in tree.find_all(exp.Func):
        start, end = node.meta.get("start"), node.meta.get("end")
        if start is not None and end is not None:
            node.meta["name"] = text[start : end + 1]


def _keep_to_char(tree: exp.Expr) -> None:
    """Let TO_CHAR be what it is: DuckDB has none, and would be given it without its format."""
    for node in list(tree.find_all(exp.ToChar)):
        given = [each for each in node.args.values() if isinstance(each, exp.Expr)]
        named = exp.Anonymous(this="TO_CHAR", expressions=given)
        named.meta.update(node.meta)
        node.replace(named)


def canonical_text(query: str | WrittenQuery) -> str | None:
    """Return a query on one line, without comments, names in small letters; None if it is none.

    It is in its own dialect, and the values of placeholders are written out.

    It is for people who compare queries, and it can be run. Which queries share an answer is
    decided by what they mean: see `query.identity`.
    """
    try:
        asked = written(query) if isinstance(query, str) else query
        return read_tree(asked)[0].sql(
            dialect=class_of(asked.dialect),
            comments=False,
            normalize=True,
            normalize_functions="upper",
            unsupported_level=ErrorLevel.IGNORE,
        )
    except (QuestionError, RecursionError, SqlglotError):
        return None


def noted(query: WrittenQuery) -> str:
    """Return a query as it is noted beside its charge: as written, or all that it asks as SQL."""
    return query.text if query.is_plain else canonical_text(query) or query.text


def _tokens(text: str, dialect: type[Dialect]) -> list[Token]:
    if len(text) > LONGEST:
        raise QuestionSizeError(
            f"The query has {len(text):,} characters, and at most {LONGEST:,} are allowed",
            "Put long lists into a public table",
        )
    try:
        text.encode()
    except UnicodeEncodeError as cause:
        raise SqlSyntaxError(
            f"Character {cause.start + 1} of the query is a lone surrogate, which is not text",
            "Remove it",
        ) from None
    if "\x00" in text:
        place = text.index("\x00")
        raise SqlSyntaxError(
            "The query contains a NUL character", "Remove it", span=(place, place + 1)
        )
    try:
        tokens = dialect().tokenize(text)
    except TokenError:
        raise _unclosed() from None
    if not tokens:
        raise SqlSyntaxError(
            "The query is empty", "Write a SELECT, such as SELECT COUNT(*) FROM visits"
        )
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
            f"The query has {chained:,} words and operators, and at most {LONGEST_CHAIN:,} are "
            "allowed",
            "Shorten it. Values in lists do not count",
        )


NESTING = (exp.Binary, exp.Unary, exp.Func, exp.SetOperation)


CHAINS = (exp.And, exp.Or, exp.DPipe, exp.Paren)
"""Operators whose runs are taken as one, and brackets, which were counted before."""


def _check_tree(tree: exp.Query) -> None:
    """Reject operators that are nested too deeply, and an empty SELECT, GROUP BY or function."""
    waiting: list[tuple[exp.Expr, int]] = [(tree, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEPEST:
            raise _too_deep()
        if _names_nothing(node):
            word = "SELECT" if isinstance(node, exp.Select) else "GROUP BY"
            raise SqlSyntaxError(f"{word} is empty", f"Write one or more columns after {word}")
        if _is_bare_limit(node):
            raise SqlSyntaxError(
                'Syntax error at or near "LIMIT"',
                "Write a column after ORDER BY or GROUP BY",
                span=span_of(node),
            )
        if isinstance(node, exp.Func) and not any(node.args.values()) and node.error_messages():
            raise SqlSyntaxError(
                "A function has no arguments",
                "Write what it is computed of, such as MAX(cost)",
                span=span_of(node),
            )
        deeper = depth + (isinstance(node, NESTING) and not isinstance(node, CHAINS))
        waiting += ((each, deeper) for each in node.iter_expressions())


def _names_nothing(node: exp.Expr) -> bool:
    if isinstance(node, exp.Group):
        return not any(node.args.values())
    return isinstance(node, exp.Select) and not node.expressions


def _is_bare_limit(node: exp.Expr) -> bool:
    """Return whether the parser took the word LIMIT for a column to order or group by."""
    is_name = isinstance(node, exp.Column) and isinstance(node.parent, exp.Ordered | exp.Group)
    return is_name and node.name.upper() == "LIMIT" and not node.this.args.get("quoted")


def _longest_prefix(tokens: list[Token]) -> int:
    """Return the length of the longest run of signs, each of which nests in the parser."""
    longest = run = 0
    for each in tokens:
        run = run + 1 if each.token_type in PREFIXES else 0
        longest = max(longest, run)
    return longest


def _too_deep() -> QuestionSizeError:
    return QuestionSizeError(
        "The query is nested too deeply",
        f"Use at most {DEEPEST} levels of brackets, CASE and operators",
    )


def _check_verb(first: Token) -> None:
    if first.token_type not in BEGINNINGS:
        raise _not_a_question(first)


ONE_PART = re.compile(r"\s*-?[0-9]+(?:\.[0-9]+)?\s*[a-zA-Z]+\s*")
"""A number and a unit of an interval, as the parser finds them."""


def _check_intervals(tokens: list[Token]) -> None:
    """Reject an interval of which the parser would read the first part alone, such as 1 day ago."""
    for word, each in pairwise(tokens):
        if word.token_type is not TokenType.INTERVAL or each.token_type is not TokenType.STRING:
            continue
        first = ONE_PART.match(each.text)
        is_cut = first is not None and first.end() < len(each.text)
        if is_cut and len(ONE_PART.findall(each.text)) == 1:
            raise UnsupportedError(
                "An interval must be made of numbers and units",
                "Write INTERVAL '1 day 2 hours', or add several intervals",
                span=_span(each),
            )


def _not_a_question(first: Token) -> StatementError:
    verb = first.text.upper()[:20]
    return StatementError(
        f"{verb} is not allowed", "Discreet only runs SELECT queries", span=_span(first)
    )


def _only_statement(tokens: list[Token]) -> list[Token]:
    """Return the tokens of the only statement, or reject a second one."""
    ends = [i for i, each in enumerate(tokens) if each.token_type is TokenType.SEMICOLON]
    if not ends:
        return tokens
    for each in tokens[ends[0] :]:
        if each.token_type is not TokenType.SEMICOLON:
            raise StatementError(
                "A query must be a single statement",
                "Run the second one separately",
                span=_span(each),
            )
    if not ends[0]:
        raise _not_a_question(tokens[0])
    return tokens[: ends[0]]


def _unclosed() -> SqlSyntaxError:
    return SqlSyntaxError(
        "The query ends inside a quoted text, a quoted name or a comment",
        "Close the quote or the comment",
    )


def _syntax_error(
    text: str, error: ParseError, tokens: list[Token], dialect: type[Dialect]
) -> SqlSyntaxError:
    """Return our own sentence with the parser's place. Its message is for its developers."""

    def is_sql(changed: str) -> bool:
        with suppress(QuestionError, SqlglotError, RecursionError):
            return isinstance(_parsed(_tokens(changed, dialect), changed, dialect), exp.Query)
        return False

    place = error.errors[0] if error.errors else {}
    line, column = place.get("line"), place.get("col")
    span = None
    if line and column is not None:
        start = sum(len(each) + 1 for each in text.split("\n")[: line - 1])
        width = max(1, len(place.get("highlight") or " "))
        first = min(max(0, start + column - width), max(0, len(text) - 1))
        span = (first, min(first + width, len(text)))
    fix = None if span is None else tried_fix(text, tokens, span[0], is_sql)
    if fix is not None:
        return SqlSyntaxError(fix.what, fix.fix, span=fix.span)
    near = "" if span is None else " ".join(text[slice(*span)].split())[:40]
    return SqlSyntaxError(
        f'Syntax error at or near "{near}"' if near else "Syntax error",
        "Check for a missing bracket, comma or keyword near it",
        span=span,
    )


def _span(token: Token) -> tuple[int, int]:
    return token.start, token.end + 1
