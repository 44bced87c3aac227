"""The words of statements, as PostgreSQL divides a text: what a statement is, not what it means.

A statement is looked at here to decide who answers it. What goes to Discreet is parsed and checked
there. What goes to the database that describes the tables is parsed there, one statement at a time,
so a text that is divided wrongly here is an error there.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto


class WordKind(Enum):
    """What a word is."""

    WORD = auto()
    """A key word or a name without quotes, in small letters."""
    QUOTED = auto()
    """A name in quotes, without them."""
    STRING = auto()
    """A text, with its quotes."""
    NUMBER = auto()
    PARAMETER = auto()
    SIGN = auto()
    """One character, or an operator of several."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a statement, and where it is."""

    kind: WordKind
    text: str
    start: int
    end: int

    @property
    def is_name(self) -> bool:
        """Whether it may be the name of a table or a column."""
        return self.kind in (WordKind.WORD, WordKind.QUOTED)


class LexicalError(ValueError):
    """A text that cannot be divided: a quote or a comment has no end."""


TOKEN = re.compile(
    r"""
    (?P<space>\s+|--[^\n\r]*)
  | (?P<comment>/\*)
  | (?P<unicode>[uU]&(?=["']))
  | (?P<escaped>[eE]'(?:[^'\\]|\\.|'')*'(?P<continued>(?:[ \t\f\v]|--[^\n\r]*)*[\n\r]
      (?:[ \t\n\r\f\v]|--[^\n\r]*[\n\r])*')?)
  | (?P<string>(?:[bBxXnN])?'(?:[^']|'')*')
  | (?P<dollar>\$(?P<tag>[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_\u0080-\U0010ffff]*)?\$)
  | (?P<quoted>"(?:[^"]|"")*")
  | (?P<word>[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_$\u0080-\U0010ffff]*)
  | (?P<parameter>\$[0-9]+)
  | (?P<number>[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?)
  | (?P<operator><>|!=|<=|>=|::|:=|=>|\|\|)
  | (?P<sign>[^'"])
    """,
    re.VERBOSE | re.DOTALL,
)


def words_of(text: str) -> list[Word]:
    """Return the words of a text, without comments; raise LexicalError if a quote has no end."""
    return list(_words(text))


KINDS = {
    "string": WordKind.STRING,
    "escaped": WordKind.STRING,
    "quoted": WordKind.QUOTED,
    "word": WordKind.WORD,
    "parameter": WordKind.PARAMETER,
    "number": WordKind.NUMBER,
    "operator": WordKind.SIGN,
    "sign": WordKind.SIGN,
}


def _words(text: str) -> Iterator[Word]:
    place = 0
    while place < len(text):
        found = TOKEN.match(text, place)
        if found is None:
            raise LexicalError("A quote has no end")
        start, place, group = place, found.end(), found.lastgroup or ""
        if group == "comment":
            place = _after_comment(text, place)
        elif group == "unicode":
            raise LexicalError("Names and texts in U& quotes are not supported")
        elif found["continued"] is not None:  # the rest would have escapes too, without an E
            raise LexicalError("Texts in E quotes that go on in another line are not supported")
        elif group in ("dollar", "tag"):
            place = _after_dollars(text, place, found["dollar"])
            yield Word(WordKind.STRING, text[start:place], start, place)
        elif group != "space":
            yield Word(KINDS[group], _meant(found[0], KINDS[group]), start, place)


def _meant(text: str, kind: WordKind) -> str:
    """Return a name as it is meant: in small letters, or without its quotes."""
    if kind is WordKind.QUOTED:
        return text[1:-1].replace('""', '"')
    return text.lower() if kind is WordKind.WORD else text


def _after_dollars(text: str, place: int, quote: str) -> int:
    closing = text.find(quote, place)
    if closing < 0:
        raise LexicalError("A text in dollar quotes has no end")
    return closing + len(quote)


NESTED = re.compile(r"/\*|\*/")


def _after_comment(text: str, place: int) -> int:
    """Return the place after a comment; comments may be inside each other."""
    depth = 1
    while depth:
        found = NESTED.search(text, place)
        if found is None:
            raise LexicalError("A comment has no end")
        depth += 1 if found[0] == "/*" else -1
        place = found.end()
    return place


@dataclass(frozen=True, slots=True, kw_only=True)
class SqlStatement:
    """One statement of a text."""

    text: str
    """From its first word to its last."""
    offset: int
    """Where it begins in the text that was sent."""
    words: tuple[Word, ...]
    """Their places count from the beginning of the statement."""

    def starts_with(self, *words: str) -> bool:
        """Return whether it begins with these key words."""
        return [each.text for each in self.words[: len(words)]] == list(words) and all(
            each.kind is WordKind.WORD for each in self.words[: len(words)]
        )

    @property
    def verb(self) -> str:
        """Its first key word; "(" for a query in brackets."""
        return self.words[0].text if self.words else ""

    def part(self, first: int, last: int | None = None) -> "SqlStatement":
        """Return the statement that some of its words are."""
        words = self.words[first:last]
        if not words:
            return SqlStatement(text="", offset=self.offset, words=())
        return _statement(self.text, words, self.offset)


def _statement(text: str, words: Sequence[Word], offset: int = 0) -> SqlStatement:
    start, end = words[0].start, words[-1].end
    moved = (Word(each.kind, each.text, each.start - start, each.end - start) for each in words)
    return SqlStatement(text=text[start:end], offset=offset + start, words=tuple(moved))


def statements_of(text: str) -> list[SqlStatement]:
    """Return the statements of a text, which semicolons divide; empty ones are left out."""
    found: list[SqlStatement] = []
    current: list[Word] = []
    for each in words_of(text):
        if each.kind is WordKind.SIGN and each.text == ";":
            if current:
                found.append(_statement(text, current))
            current = []
        else:
            current.append(each)
    if current:
        found.append(_statement(text, current))
    return found


# --------------------------------------------------------------------------- what it is about

CATALOG_SCHEMAS = frozenset(["pg_catalog", "information_schema"])

BEFORE_TABLES = frozenset(["from", "join", "only", "lateral", "table", ",", "("])
"""What stands before the name of a table."""

MOST_PARTS = 3
"""Parts of the name of a table: of its database, its schema, and itself."""

LONGEST_NAME = 63
"""Bytes of a name that PostgreSQL keeps; of a longer one, those are its name."""


def names_table(statement: SqlStatement, tables: frozenset[str]) -> bool:
    """Return whether a statement reads one of some tables, whose names are in small letters.

    Where a name could be anything else, it is taken for a table: the database that describes them
    has no rows, and would answer as if there were none. Only in a statement that reads the
    catalog of the database, a name that is not in the place of a table is something else.
    """
    named = [i for i, each in enumerate(statement.words) if _may_name(statement.words, i, tables)]
    if not named:
        return False
    return not _reads_catalog(statement) or any(_is_in_from(statement.words, i) for i in named)


def _may_name(words: Sequence[Word], i: int, tables: frozenset[str]) -> bool:
    if not words[i].is_name or _kept(words[i].text).casefold() not in tables:
        return False
    return not (
        i >= 2 and words[i - 1].text == "." and words[i - 2].text.casefold() in CATALOG_SCHEMAS
    )


def _kept(name: str) -> str:
    """Return what PostgreSQL keeps of a name."""
    if len(name) <= LONGEST_NAME // 4:
        return name
    return name.encode("utf-8", "replace")[:LONGEST_NAME].decode("utf-8", "ignore")


def _is_in_from(words: Sequence[Word], i: int) -> bool:
    """Return whether a name is where the name of a table is, with or without that of a schema."""
    for _ in range(MOST_PARTS - 1):
        if i >= 2 and words[i - 1].text == "." and words[i - 2].is_name:
            i -= 2
    return i > 0 and words[i - 1].kind is not WordKind.QUOTED and words[i - 1].text in BEFORE_TABLES


def _reads_catalog(statement: SqlStatement) -> bool:
    """Return whether a table of the database's own catalog is named as a table."""
    words = statement.words
    return any(
        each.is_name
        and (each.text.startswith("pg_") or each.text in CATALOG_SCHEMAS)
        and _is_in_from(words, i)
        for i, each in enumerate(words)
    )


# --------------------------------------------------------------------------- empty by its text

SETS = frozenset(["union", "intersect", "except"])
ENDS_WHERE = frozenset(["group", "having", "window", "order", "limit", "offset", "fetch", "for"])
QUERIES = frozenset(["select", "table"])
"""What a query inside a query begins with, if it reads tables."""

NOT_PLAIN = frozenset(["or", "case", "["])
"""What makes AND in a condition mean something else than that all must hold."""

FALSE = ("1=0", "0=1", "1<>1", "0<>0", "1!=1", "1=2", "2=1", "false")
"""Conditions that no row meets, as clients write them to learn the columns of a table."""


def is_empty_by_text(statement: SqlStatement) -> bool:
    """Return whether no row of a table matters: LIMIT 0, or a condition that no row meets.

    What PostgreSQL answers is then the same with and without rows. Without rows it may still have
    one row: that of COUNT(*).
    """
    return _ends_with_nothing(statement) or _false_condition(statement) is not None


def has_no_rows(statement: SqlStatement) -> bool:
    """Return whether a result has no rows by its text; not so if COUNT(*) of nothing is in it."""
    if _ends_with_nothing(statement):
        return True
    found = _false_condition(statement)
    if found is None:
        return False
    texts, before, after = found
    rest = texts[after:]
    has_call = "(" in texts[:before] or "(" in rest
    return "having" not in rest and (not has_call or ("group" in rest and "(" not in rest))


def _ends_with_nothing(statement: SqlStatement) -> bool:
    """Return whether LIMIT 0 ends a statement."""
    texts = _texts(_top(statement))
    for i, each in enumerate(texts):
        if each == "limit" and texts[i + 1 : i + 2] == ["0"] and _ends(texts, i + 2):
            return True
        if each == "fetch" and texts[i + 1 : i + 2] in (["first"], ["next"]):
            return texts[i + 2 : i + 3] == ["0"]
    return False


def _top(statement: SqlStatement) -> list[Word]:
    """Return the words that are in no brackets, and the brackets around others."""
    depth, top = 0, []
    for each in statement.words:
        if each.kind is WordKind.SIGN and each.text == ")":
            depth -= 1
        if depth == 0:
            top.append(each)
        if each.kind is WordKind.SIGN and each.text == "(":
            depth += 1
    return top


def _texts(words: Sequence[Word]) -> list[str]:
    """Return key words, numbers and signs; of what is quoted, and of labels, nothing."""
    found = [each.text if each.kind in PLAIN else "" for each in words]
    return [
        "" if i and found[i - 1] in ("as", ".") and each.isidentifier() else each
        for i, each in enumerate(found)
    ]


PLAIN = frozenset([WordKind.WORD, WordKind.NUMBER, WordKind.SIGN])


def _ends(texts: Sequence[str], i: int) -> bool:
    """Return whether a LIMIT ends there: what follows could make another number of it."""
    return i >= len(texts) or texts[i] in ("offset", "for", "fetch")


def _false_condition(statement: SqlStatement) -> tuple[list[str], int, int] | None:
    """Return where FROM begins and WHERE ends, if one of its conditions is false for all rows.

    All conditions must hold. A query inside the statement must be between both places: elsewhere
    it may be answered though no row is left.
    """
    top = _top(statement)
    texts = _texts(top)
    if statement.verb != "select" or "where" not in texts or SETS & set(texts):
        return None
    where = texts.index("where")
    last = next((i for i in range(where, len(texts)) if texts[i] in ENDS_WHERE), len(texts))
    if "from" not in texts[:where] or last == where + 1 or NOT_PLAIN & set(texts[where:last]):
        return None
    first = where - 1 - texts[:where][::-1].index("from")
    start, end = top[where + 1].start, top[last - 1].end
    for each in statement.words[1:]:
        is_inside = top[first].start < each.start < end
        if each.kind is WordKind.WORD and each.text in QUERIES and not is_inside:
            return None
    condition = [each for each in statement.words if start <= each.start and each.end <= end]
    is_false = any(_is_false(each) for each in _conjuncts(condition))
    return (texts, first, last) if is_false else None


def _conjuncts(words: Sequence[Word]) -> Iterator[list[Word]]:
    """Yield the parts of a condition between the ANDs at its top."""
    depth, is_between = 0, False
    part: list[Word] = []
    for each in words:
        if each.kind is WordKind.SIGN and each.text in "()":
            depth += 1 if each.text == "(" else -1
        if depth == 0 and each.kind is WordKind.WORD and each.text == "between":
            is_between = True
        if depth == 0 and each.kind is WordKind.WORD and each.text == "and" and not is_between:
            yield part
            part = []
            continue
        if depth == 0 and each.kind is WordKind.WORD and each.text == "and":
            is_between = False
        part.append(each)
    yield part


def _is_false(words: Sequence[Word]) -> bool:
    first, last = 0, len(words)
    while last - first >= 2 and words[first].text == "(" and words[last - 1].text == ")":
        first, last = first + 1, last - 1
    inner = words[first:last]
    if any(each.kind not in PLAIN for each in inner):
        return False
    return len(inner) <= MOST_WORDS and "".join(each.text for each in inner) in FALSE


MOST_WORDS = 3
"""Words of a condition that no row meets."""


def placeholders(statement: SqlStatement) -> int:
    """Return the number of the last placeholder, 0 without any."""
    return max(
        (int(each.text[1:]) for each in statement.words if each.kind is WordKind.PARAMETER),
        default=0,
    )
