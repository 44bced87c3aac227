"""Who answers a statement: Discreet, the settings of the connection, or the hollow PostgreSQL."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from discreet.server.pgwire.lexer import SqlStatement, Word, WordKind, names_table
from discreet.server.pgwire.sqlstates import WireError
from discreet.server.pgwire.variables import PASSED_ON, PREFIX, is_iso


class Route(Enum):
    """Who answers."""

    HOLLOW = auto()
    """The hollow PostgreSQL: no table of the catalog is read."""
    ASK = auto()
    """Discreet: the query may cost."""
    EXPLAIN = auto()
    """Discreet, for free: what a query would cost and how good its answer would be."""
    COPY = auto()
    """Discreet: the rows of an answer, as COPY sends them."""
    DECLARE = auto()
    FETCH = auto()
    CLOSE = auto()
    """Cursors over answers."""
    SET = auto()
    RESET = auto()
    SHOW = auto()
    """Settings of Discreet, and those that have no effect."""
    DEALLOCATE = auto()
    DISCARD = auto()


QUERIES = frozenset(["select", "with", "values", "table", "(", "from"])
TRANSACTIONS = frozenset(
    ["begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release"]
)
"""Statements that begin or end a transaction, or a part of one."""

ROLLS_BACK = frozenset(["rollback", "abort"])
ENDS_TRANSACTION = frozenset(["commit", "end", *ROLLS_BACK])
"""Statements that a transaction which has failed still accepts."""

ONLY_READS = (
    "This server answers SELECT and does not run this statement",
    "Data are changed by their owner, where they are",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownNames:
    """What the route of a statement depends on."""

    tables: frozenset[str]
    """Names of the tables of the catalog, in small letters."""
    cursors: frozenset[str] = frozenset()
    statements: frozenset[str] = frozenset()
    """Names of cursors and prepared statements that are not the hollow PostgreSQL's."""


def route_of(statement: SqlStatement, known: KnownNames) -> Route:
    """Return who answers a statement, or reject one that nobody does."""
    verb = statement.verb
    if statement.words[0].kind is WordKind.QUOTED:
        raise WireError("42601", f'syntax error at or near "{verb}"', position=1)
    if verb in QUERIES:
        return Route.ASK if names_table(statement, known.tables) else Route.HOLLOW
    if verb in TRANSACTIONS:
        return Route.HOLLOW
    decide = ROUTES.get(verb)
    if decide is None:
        raise WireError("0A000", *ONLY_READS, position=1)
    return decide(statement, known)


def _explain(statement: SqlStatement, known: KnownNames) -> Route:
    return Route.EXPLAIN if names_table(statement, known.tables) else Route.HOLLOW


def _copy(statement: SqlStatement, known: KnownNames) -> Route:
    texts = [each.text for each in statement.words if each.kind is WordKind.WORD]
    if "to" not in texts or "stdout" not in texts or "program" in texts:
        fix = "Write COPY (SELECT …) TO STDOUT"
        raise WireError("0A000", "Only COPY of a query to STDOUT is supported", fix, position=1)
    return Route.COPY if names_table(_unbracketed(statement), known.tables) else Route.HOLLOW


def _unbracketed(statement: SqlStatement) -> SqlStatement:
    """Return COPY t TO … as if t stood after FROM, so that it is seen as a table."""
    words = (Word(WordKind.WORD, "from", 0, 0), *statement.words[1:])
    return SqlStatement(text=statement.text, offset=statement.offset, words=words)


def _declare(statement: SqlStatement, known: KnownNames) -> Route:
    name = statement.words[1].text if len(statement.words) > 1 else ""
    if name in known.cursors:
        raise WireError("42P03", f'cursor "{name}" already exists')
    return Route.DECLARE if names_table(statement, known.tables) else Route.HOLLOW


def _fetch(statement: SqlStatement, known: KnownNames) -> Route:
    return Route.FETCH if statement.words[-1].text in known.cursors else Route.HOLLOW


def _close(statement: SqlStatement, known: KnownNames) -> Route:
    name = statement.words[-1]
    is_all = name.kind is WordKind.WORD and name.text == "all"
    return Route.CLOSE if is_all or name.text in known.cursors else Route.HOLLOW


def _set(statement: SqlStatement, _: KnownNames) -> Route:
    found = setting_in(statement)
    if found.name == "datestyle" and not is_iso(found.value or ""):
        hint = "SET datestyle = 'ISO'"
        raise WireError("0A000", "This server writes dates as 2024-12-31 only", hint)
    return Route.HOLLOW if found.name in PASSED_ON else Route.SET


def _reset(statement: SqlStatement, _: KnownNames) -> Route:
    name = name_of(statement.words[1:])
    return Route.HOLLOW if name in PASSED_ON else Route.RESET


def _show(statement: SqlStatement, _: KnownNames) -> Route:
    return Route.SHOW if name_of(statement.words[1:]).startswith(PREFIX) else Route.HOLLOW


def _deallocate(statement: SqlStatement, known: KnownNames) -> Route:
    name = statement.words[-1]
    is_all = name.kind is WordKind.WORD and name.text == "all"
    return Route.DEALLOCATE if is_all or name.text in known.statements else Route.HOLLOW


def _discard(statement: SqlStatement, _: KnownNames) -> Route:
    return Route.DISCARD if statement.starts_with("discard", "all") else Route.HOLLOW


def _prepare(statement: SqlStatement, known: KnownNames) -> Route:
    if names_table(statement, known.tables):
        fix = "Prepare it with the driver's own call, which most drivers do by themselves"
        raise WireError("0A000", "PREPARE is not supported for these tables", fix, position=1)
    return Route.HOLLOW


def _hollow(_: SqlStatement, __: KnownNames) -> Route:
    return Route.HOLLOW


ROUTES = {
    "explain": _explain,
    "copy": _copy,
    "declare": _declare,
    "fetch": _fetch,
    "move": _fetch,
    "close": _close,
    "set": _set,
    "reset": _reset,
    "show": _show,
    "deallocate": _deallocate,
    "discard": _discard,
    "prepare": _prepare,
    "execute": _hollow,
    "unlisten": _hollow,
}
"""Statements besides queries and transactions, by their first word."""


# --------------------------------------------------------------------------- settings


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingStatement:
    """SET name = value."""

    name: str
    value: str | None
    """None is DEFAULT."""
    is_local: bool


def name_of(words: Sequence[Word]) -> str:
    """Return the name of a setting, which may have dots."""
    name = ""
    for i, each in enumerate(words):
        if i % 2 == 0 and each.is_name:
            name += each.text.casefold()
        elif i % 2 and each.text == ".":
            name += "."
        else:
            break
    return name.removesuffix(".")


SPECIAL = {"time": "timezone", "transaction": "transaction", "names": "names", "schema": ""}


def setting_in(statement: SqlStatement) -> SettingStatement:
    """Return what SET sets."""
    words, is_local = list(statement.words[1:]), False
    if words and words[0].kind is WordKind.WORD and words[0].text in ("session", "local"):
        following = words[1].text if len(words) > 1 else ""
        if following == "characteristics":
            return SettingStatement(name="session characteristics", value="", is_local=False)
        if following == "authorization":
            raise WireError("42501", "The account of a connection cannot be changed")
        is_local = words.pop(0).text == "local"
    if not words:
        raise WireError("42601", "SET has no name", "Write SET discreet.epsilon = 0.1")
    if words[0].text == "role":
        raise WireError("42501", "The role of a connection cannot be changed")
    if words[0].text in SPECIAL:
        first = words[0].text
        rest = [each for each in words[1:] if each.text != "zone"]
        return SettingStatement(name=SPECIAL[first], value=_value(rest), is_local=is_local)
    name = name_of(words)
    after = words[2 * name.count(".") + 1 :]
    if not after or after[0].text not in ("=", "to"):
        fix = "Write SET discreet.epsilon = 0.1"
        raise WireError("42601", "SET has no value", fix)
    return SettingStatement(name=name, value=_value(after[1:]), is_local=is_local)


def _value(words: Sequence[Word]) -> str | None:
    if len(words) == 1 and words[0].kind is WordKind.WORD and words[0].text == "default":
        return None
    return "".join(string_in(each) for each in words)


def string_in(word: Word) -> str:
    """Return the value of a word: a text without its quotes, anything else as it is."""
    if word.kind is not WordKind.STRING or "'" not in word.text:
        return word.text
    return word.text[word.text.index("'") + 1 : -1].replace("''", "'")


# --------------------------------------------------------------------------- parts of statements


def explained_in(statement: SqlStatement) -> tuple[SqlStatement, frozenset[str]]:
    """Return the query that EXPLAIN is about, and the options of EXPLAIN."""
    words, place, options = statement.words, 1, set()
    if len(words) > 1 and words[1].text == "(" and words[1].kind is WordKind.SIGN:
        closing = closing_bracket(words, 1)
        if words[2].text not in QUERIES:
            options = {each.text for each in words[2:closing]}
            place = closing + 1
    while place < len(words) and words[place].text in ("analyze", "analyse", "verbose"):
        options.add(words[place].text)
        place += 1
    return statement.part(place), frozenset(options)


def closing_bracket(words: Sequence[Word], opening: int) -> int:
    """Return where the bracket is that closes another one."""
    depth = 0
    for i in range(opening, len(words)):
        if words[i].kind is WordKind.SIGN and words[i].text in ("(", ")"):
            depth += 1 if words[i].text == "(" else -1
            if depth == 0:
                return i
    raise WireError("42601", "A bracket is not closed", position=words[opening].start + 1)
