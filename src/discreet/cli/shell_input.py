"""What is typed into the shell: complete statements and commands, and completion of words."""

import re
from collections.abc import Iterable, Iterator

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from discreet.catalog import Catalog

PART = re.compile(
    r"""'(?:[^']|'')*('|$)      # text
    | "(?:[^"]|"")*("|$)        # a quoted name
    | --[^\n]*                  # a comment to the end of the line
    | /\*.*?(\*/|$)             # a comment
    | ;""",
    re.VERBOSE | re.DOTALL,
)
"""Where a semicolon does not end a statement, and where it does."""

WORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "AS", "AND", "OR"),
    *("NOT", "IN", "BETWEEN", "LIKE", "IS NULL", "JOIN", "LEFT JOIN", "ON", "USING", "WITH"),
    *("UNION ALL", "DISTINCT", "CASE", "WHEN", "THEN", "ELSE", "END", "ASC", "DESC", "DATE"),
    *("INTERVAL", "TRUE", "FALSE", "FILTER", "COUNT", "SUM", "AVG", "MEDIAN", "MIN", "MAX"),
    *("STDDEV", "VARIANCE", "QUANTILE_CONT", "ROUND", "FLOOR", "ABS", "COALESCE", "CAST"),
    *("DATE_TRUNC", "EXTRACT", "LOWER", "UPPER"),
)
"""Words of SQL to complete."""

TYPED = re.compile(r'(?:(?P<table>\w+|"[^"]*")\.)?(?P<word>\\?\w*)$')
"""The word before the cursor, and the table before its dot."""


def statements_and_rest(text: str) -> tuple[list[str], str]:
    """Return the complete statements, each up to its semicolon, and the text after them."""
    statements, begin = [], 0
    for found in PART.finditer(text):
        if found[0] == ";":
            statements.append(text[begin : found.start()].strip())
            begin = found.end()
    return [each for each in statements if each], text[begin:]


def is_command(text: str) -> bool:
    """Return whether this is a command of the shell, which ends with its line."""
    return text.lstrip().startswith("\\")


def is_complete(text: str) -> bool:
    """Return whether there is nothing to wait for: a command, a statement, or nothing."""
    return is_command(text) or not statements_and_rest(text)[1].strip()


def inputs(lines: Iterable[str]) -> Iterator[str]:
    """Yield statements and commands from lines; the last statement needs no semicolon."""
    begun = ""
    for line in lines:
        if not begun.strip() and is_command(line):
            yield line.strip()
            continue
        statements, begun = statements_and_rest(begun + line)
        yield from statements
    if begun.strip():
        yield begun.strip()


class Words(Completer):
    """Completes names of the catalog before words of SQL, in any letter case."""

    def __init__(self, catalog: Catalog | None, commands: Iterable[str]) -> None:
        self._columns = {
            table.name: tuple(column.name for column in table.columns)
            for table in ([] if catalog is None else catalog.tables)
        }
        self._commands = tuple(commands)

    def get_completions(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002 - the protocol's
    ) -> Iterator[Completion]:
        word, completions = self.completing(document.text_before_cursor)
        for each in completions:
            yield Completion(each, start_position=-len(word))

    def completing(self, before: str) -> tuple[str, list[str]]:
        """Return the word that a text ends with, and what it can be completed to."""
        found = TYPED.search(before.rpartition("\n")[2])
        word = "" if found is None else found["word"]
        table = None if found is None else found["table"]
        if not word and table is None:
            return word, []
        known = self._known(before, table)
        start = word.casefold()
        return word, [each for each in known if each.casefold().startswith(start) and each != word]

    def _known(self, before: str, table: str | None) -> Iterator[str]:
        if re.fullmatch(r"\s*\\\w*", before):
            yield from self._commands
            return
        if table is not None:
            yield from map(_sql_name, self._of(table.strip('"')))
            return
        names = [*self._columns, *(each for columns in self._columns.values() for each in columns)]
        yield from map(_sql_name, dict.fromkeys(names))
        yield from WORDS

    def _of(self, table: str) -> tuple[str, ...]:
        """Return the columns of a table; of all tables for an alias, which may be any."""
        for name, columns in self._columns.items():
            if name.casefold() == table.casefold():
                return columns
        return tuple(dict.fromkeys(each for columns in self._columns.values() for each in columns))


def _sql_name(name: str) -> str:
    """Return a name as SQL writes it."""
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else '"' + name.replace('"', '""') + '"'
