"""Completion inside of the cells: options, tables, columns, words of SQL, and variables."""

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from weakref import WeakKeyDictionary

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)
from IPython.core.error import UsageError

from discreet.asked import Answers
from discreet.cli.shell_input import Words
from discreet.errors import DiscreetError
from discreet.magics.choice import Choice
from discreet.magics.options import completed_options

CELL = re.compile(r"%%(ask|explain)\b")
LINE = re.compile(r"\s*(?:[\w., \[\]'\"]+=\s*)?%(ask|explain|discreet)\s+(.*)", re.DOTALL)
"""Where a cell or a line is ours."""

VARIABLE = re.compile(r"(?<![\w:]):(\w*)$")
"""A placeholder that is being typed."""

VALUES = (bool, int, float, Decimal, str, date, list, tuple)
"""What a placeholder may stand for."""


class CellCompletion:
    """A matcher of IPython that knows the catalog of whoever is asked."""

    def __init__(self, choice: Choice) -> None:
        self._choice = choice
        self._words: WeakKeyDictionary[Answers, Words] = WeakKeyDictionary()

    @context_matcher(identifier="discreet")  # type: ignore[untyped-decorator]  # of IPython
    def match(self, context: CompletionContext) -> SimpleMatcherResult:
        """Complete what is before the cursor, if it is in a cell or a line of ours."""
        word, found = self._completed(context)
        completions = [SimpleCompletion(text=each) for each in found]
        return {"completions": completions, "matched_fragment": word, "suppress": True}

    def _completed(self, context: CompletionContext) -> tuple[str, Sequence[str]]:
        before = context.text_until_cursor
        cell = CELL.match(context.full_text)
        if cell and context.cursor_line > 0:
            earlier = context.full_text.split("\n")[1 : context.cursor_line]
            return self._sql("\n".join([*earlier, before]))
        if cell:
            return completed_options(cell[1], before[cell.end() :])
        line = LINE.match(before)
        if line is None:
            return "", ()
        if line[1] == "discreet":
            return line[2], [each for each in self._choice.candidates() if _is_begun(line[2], each)]
        word, found = completed_options(line[1], f" {line[2]}")
        return (word, found) if found else self._sql(line[2])

    def _sql(self, before: str) -> tuple[str, Sequence[str]]:
        variable = VARIABLE.search(before)
        if variable is None:
            return self._known_words().completing(before)
        names = [
            name
            for name, value in self._choice.variables.items()
            if isinstance(value, VALUES) and not name.startswith("_") and name not in CACHES
        ]
        return variable[1], sorted(each for each in names if _is_begun(variable[1], each))

    def _known_words(self) -> Words:
        """Return the words to complete. A catalog is read once, because a server must send it."""
        try:
            chosen = self._choice.answers()
        except UsageError:
            return Words(None, ())
        if chosen not in self._words:
            try:
                self._words[chosen] = Words(chosen.catalog, ())
            except DiscreetError:
                self._words[chosen] = Words(None, ())
        return self._words[chosen]


CACHES = {"In", "Out"}
"""Variables that IPython keeps."""


def _is_begun(word: str, name: str) -> bool:
    return name.startswith(word) and name != word
