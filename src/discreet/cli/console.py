"""What is printed where: results on standard output, everything else on standard error.

Output is safe to print: text from the data is never treated as markup, and control characters are
escaped.
"""

import re
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from textwrap import fill

from rich.cells import cell_len
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.status import Status
from rich.text import Text

WIDTH, NARROWEST = 100, 40
"""Columns that texts are folded to: those of the terminal if it has fewer, but not below these."""

PIPED_CELL = 62
"""The widest cell of a table where there is no terminal."""

LEAST_CELL = 12
"""The narrowest cell that a long column is shortened to."""

GAP = "   "
"""Between two columns of a table."""

PATIENCE = 0.5
"""Seconds of work before a spinner shows that it is going on."""

STYLES = (
    (r"^(note: .*|… .* more rows …)$", "dim"),
    (r"±\d[\d ,.]*\d|±[\d.]+", "cyan"),
    (r"^(paid|free:|would cost|left|Spent|Cost|Remaining) .*$", "green"),
)
"""How parts of an answer look on a terminal."""


# --------------------------------------------------------------------------- consoles


def answers() -> Console:
    """Return the console for results."""
    # Where there is no terminal there is no width to ask for.
    width = None if sys.stdout.isatty() else WIDTH
    return Console(width=width, highlight=False, markup=False, emoji=False, soft_wrap=True)


def remarks() -> Console:
    """Return the console for everything else."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def width_of(console: Console) -> int:
    """Return how many columns a text may take."""
    return max(NARROWEST, min(console.width, WIDTH)) if console.is_terminal else WIDTH


def is_interactive() -> bool:
    """Return whether someone can be asked: input and errors are a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


# --------------------------------------------------------------------------- texts


def show(text: str) -> None:
    """Print a result as it is laid out; on a terminal, its parts have colours."""
    answers().print(coloured(text))


def say(sentences: str) -> None:
    """Print a result in sentences, folded to the terminal."""
    show(_folded(sentences, answers()))


def coloured(text: str) -> Text:
    """Return an answer's text with colours for margins of error, notes and costs."""
    shown = Text(printable(text))
    for pattern, style in STYLES:
        shown.highlight_regex(f"(?m){pattern}", style)
    return shown


def remark(text: str, style: str = "") -> None:
    """Print something other than a result, folded to the terminal."""
    console = remarks()
    console.print(Text(printable(_folded(text, console)), style=style))


def complain(sentence: str) -> None:
    """Print what went wrong."""
    remark(f"discreet: {sentence}", style="red")


def _folded(text: str, console: Console) -> str:
    """Return the text with long lines folded on a terminal; indented ones, as SQL is, stay."""
    if not console.is_terminal:
        return text
    return "\n".join(
        line if line.startswith(" ") else folded(line, width_of(console))
        for line in text.split("\n")
    )


def folded(line: str, width: int) -> str:
    """Return a line folded between words; paths, names and equations stay whole."""
    tied = re.sub(r" ([=≈]) ", "\u00a0\\1\u00a0", line)
    text = fill(tied, width, break_on_hyphens=False, break_long_words=False)
    return text.replace("\u00a0", " ")


def sentence_of(error: OSError) -> str:
    """Return an error of the operating system as a sentence, and what to do."""
    what = error.strerror or "the system could not do this"
    where = "" if error.filename is None else f"{error.filename}: "
    return f"{where}{what[:1].lower()}{what[1:]}. Check the path and its permissions."


def printable(text: str) -> str:
    """Return the text with everything but lines, spaces and visible characters escaped."""
    return "".join(
        each if each.isprintable() or each == "\n" else each.encode("unicode_escape").decode()
        for each in text
    )


def number(count: int, one: str, several: str | None = None) -> str:
    """Return a count with its noun: 1 charge, 2,000 charges."""
    return f"{count:,} {one if count == 1 else several or f'{one}s'}"


# --------------------------------------------------------------------------- tables


def show_table(
    columns: Mapping[str, Sequence[object]], *, right: Collection[str] = (), folds: bool = False
) -> None:
    """Print columns of texts side by side; the widest is shortened or folded to the screen."""
    console = answers()
    widest = console.width if console.is_terminal else None
    show("\n".join(table_lines(columns, width=widest, right=right, folds=folds)))


def table_lines(
    columns: Mapping[str, Sequence[object]],
    *,
    width: int | None = None,
    right: Collection[str] = (),
    folds: bool = False,
) -> Iterator[str]:
    """Yield the lines of a table. Without a width, each cell has at most `PIPED_CELL` columns."""
    cells = [[_cell(each) for each in (name, *column)] for name, column in columns.items()]
    widths = _widths(cells, width)
    for row in zip(*cells, strict=True):
        yield from _row_lines(row, widths, [name in right for name in columns], folds=folds)


def _cell(content: object) -> Text:
    """Return a cell on one line, safe to print."""
    return Text(printable(" ".join(str(content).split())))


def _widths(cells: Sequence[Sequence[Text]], width: int | None) -> list[int]:
    """Return the width of each column; the widest one gives way where there is too little room."""
    widths = [max(cell_len(each.plain) for each in column) for column in cells]
    if width is None:
        return [min(each, PIPED_CELL) for each in widths]
    excess = sum(widths) + len(GAP) * (len(widths) - 1) - width
    widest = widths.index(max(widths))
    widths[widest] -= max(0, min(excess, widths[widest] - LEAST_CELL))
    return widths


def _row_lines(
    row: Sequence[Text], widths: Sequence[int], is_right: Sequence[bool], *, folds: bool
) -> Iterator[str]:
    """Yield the line of a row, or several where cells are folded."""
    console = answers()
    parts = [
        list(cell.wrap(console, width)) if folds and cell else [cell]
        for cell, width in zip(row, widths, strict=True)
    ]
    for i in range(max(map(len, parts))):
        line = [part[i] if i < len(part) else Text() for part in parts]
        for cell, width, to_right in zip(line, widths, is_right, strict=True):
            cell.truncate(width, overflow="ellipsis")
            cell.align("right" if to_right else "left", width)
        yield GAP.join(cell.plain for cell in line).rstrip()


# --------------------------------------------------------------------------- progress


@contextmanager
def waiting(what: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show on a terminal that work is going on, once it has taken a while.

    What it yields takes a name, how many are done, and of how many, to be shown as well.
    """
    console = remarks()
    if not console.is_terminal:
        yield lambda _name, _done, _of: None
        return
    spinner = _Spinner(console.status(Text(printable(what))))
    timer = threading.Timer(PATIENCE, spinner.start)
    timer.daemon = True
    timer.start()

    def advance(name: str, done: int, of: int) -> None:
        spinner.say(f"{what}: {name} {done:,} of {of:,}")

    try:
        yield advance
    finally:
        timer.cancel()
        spinner.stop()


@contextmanager
def progress(what: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show a bar on a terminal; what it yields takes a name, how many are done, and of how many."""
    console = remarks()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with bar:
        task = bar.add_task(escape(printable(what)), total=None)

        def advance(name: str, done: int, of: int) -> None:
            shown = escape(printable(f"{what}: {name}"))
            bar.update(task, description=shown, completed=done, total=of)

        yield advance


class _Spinner:
    """A status that a late timer cannot start once it was stopped."""

    def __init__(self, status: Status) -> None:
        self._status, self._lock, self._is_over = status, threading.Lock(), False

    def start(self) -> None:
        with self._lock:
            if not self._is_over:
                self._status.start()

    def say(self, text: str) -> None:
        self._status.update(Text(printable(text)))

    def stop(self) -> None:
        with self._lock:
            self._is_over = True
            self._status.stop()
