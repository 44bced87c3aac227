"""What the shell can complete: SQL words, tables, columns, and its own commands."""

import re
from collections.abc import Iterable, Iterator

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from discreet.catalog import Catalog

WORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "AS", "AND", "OR"),
    *("NOT", "IN", "BETWEEN", "LIKE", "IS NULL", "JOIN", "LEFT JOIN", "ON", "USING", "WITH"),
    *("UNION ALL", "DISTINCT", "CASE", "WHEN", "THEN", "ELSE", "END", "ASC", "DESC", "DATE"),
    *("INTERVAL", "TRUE", "FALSE", "FILTER", "COUNT", "SUM", "AVG", "MEDIAN", "MIN", "MAX"),
    *("STDDEV", "VARIANCE", "QUANTILE_CONT", "ROUND", "FLOOR", "ABS", "COALESCE", "CAST"),
    *("DATE_TRUNC", "EXTRACT", "LOWER", "UPPER"),
)
"""Words of SQL that questions are made of."""

TYPED = re.compile(r'(?:(?P<table>\w+|"[^"]*")\.)?(?P<word>\\?\w*)$')
"""The word before the cursor, and the table before its dot."""


class Words(Completer):
    """Completes names of the catalog before words of SQL, whatever their letter case."""

    def __init__(self, catalog: Catalog, commands: Iterable[str]) -> None:
        self._columns = {
            table.name: tuple(column.name for column in table.columns) for table in catalog.tables
        }
        self._commands = tuple(commands)

    def get_completions(
        self,
        document: Document,
        complete_event: CompleteEvent,  # noqa: ARG002 - the protocol's
    ) -> Iterator[Completion]:
        found = TYPED.search(document.current_line_before_cursor)
        word = "" if found is None else found["word"]
        table = None if found is None else found["table"]
        if not word and table is None:
            return
        for each in self._known(document.text_before_cursor, table):
            if each.casefold().startswith(word.casefold()) and each != word:
                yield Completion(each, start_position=-len(word))

    def _known(self, before: str, table: str | None) -> Iterator[str]:
        if re.fullmatch(r"\s*\\\w*", before):
            yield from self._commands
            return
        if table is not None:
            yield from map(_written, self._of(table.strip('"')))
            return
        names = [*self._columns, *(each for columns in self._columns.values() for each in columns)]
        yield from map(_written, dict.fromkeys(names))
        yield from WORDS

    def _of(self, table: str) -> tuple[str, ...]:
        """Return the columns of a table; of all tables for an alias, which may be any."""
        for name, columns in self._columns.items():
            if name.casefold() == table.casefold():
                return columns
        return tuple(dict.fromkeys(each for columns in self._columns.values() for each in columns))


def _written(name: str) -> str:
    """Return a name as SQL writes it."""
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else '"' + name.replace('"', '""') + '"'
