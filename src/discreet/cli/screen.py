"""What is shown where: answers on standard output, all else on standard error.

Nothing that is shown can command a terminal: texts are never taken for markup, and characters
that move the cursor or turn the direction of writing are written as escapes.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock, Timer

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.status import Status
from rich.text import Text

WIDTH, NARROWEST = 100, 40
"""Columns that texts are folded to: those of the terminal if it has fewer, but not below these."""

PATIENCE = 0.5
"""Seconds of work before a spinner shows that it is going on."""

LOOKS = (
    (r"^(note: .*|… .* more rows …)$", "dim"),
    (r"±\d[\d,.]*\d|±[\d.]+", "cyan"),
    (r"^(Spent|Cost|Remaining|left) .*$", "green"),
)
"""How parts of an answer look on a terminal."""


def answers() -> Console:
    """Return the console for what was asked for."""
    # Where there is no terminal there is no width to ask for.
    width = None if sys.stdout.isatty() else WIDTH
    return Console(width=width, highlight=False, markup=False, emoji=False, soft_wrap=True)


def remarks() -> Console:
    """Return the console for everything else."""
    return Console(stderr=True, highlight=False, markup=False, emoji=False, soft_wrap=True)


def width_of(console: Console) -> int:
    """Return how many columns a text may take."""
    return max(NARROWEST, min(console.width, WIDTH)) if console.is_terminal else WIDTH


def show(text: str) -> None:
    """Print what was asked for; a terminal has its parts in colours."""
    console = answers()
    console.print(coloured(text))


def coloured(text: str) -> Text:
    """Return an answer's text with its error bars, notes and prices told apart."""
    shown = Text(printable(text))
    for pattern, style in LOOKS:
        shown.highlight_regex(f"(?m){pattern}", style)
    return shown


def remark(text: str, style: str = "") -> None:
    """Print something besides what was asked for."""
    remarks().print(Text(printable(text), style=style))


def complain(sentence: str) -> None:
    """Print what went wrong."""
    remark(f"discreet: {sentence}", style="red")


def sentence_of(error: OSError) -> str:
    """Return what an operating system refused, in one sentence."""
    what = error.strerror or "the system could not do this"
    where = "" if error.filename is None else f"{error.filename}: "
    return f"{where}{what[:1].lower()}{what[1:]}; check the path and that you may use it."


def printable(text: str) -> str:
    """Return the text with all but lines, spaces and visible characters written as escapes."""
    return "".join(
        each if each.isprintable() or each == "\n" else each.encode("unicode_escape").decode()
        for each in text
    )


def is_interactive() -> bool:
    """Return whether someone sits before a terminal and can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show on a terminal that work is going on, once it has taken a while."""
    console = remarks()
    if not console.is_terminal:
        yield
        return
    spinner = _Spinner(console.status(Text(printable(what))))
    timer = Timer(PATIENCE, spinner.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        spinner.stop()


@contextmanager
def progress(what: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show on a terminal how much is done; what it yields is told a name, how many, and of all."""
    console = remarks()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with bar:
        task = bar.add_task(escape(printable(what)), total=None)

        def tell(name: str, done: int, of: int) -> None:
            shown = escape(printable(f"{what}: {name}"))
            bar.update(task, description=shown, completed=done, total=of)

        yield tell


class _Spinner:
    """A status that a late timer cannot start once it was stopped."""

    def __init__(self, status: Status) -> None:
        self._status, self._lock, self._is_over = status, Lock(), False

    def start(self) -> None:
        with self._lock:
            if not self._is_over:
                self._status.start()

    def stop(self) -> None:
        with self._lock:
            self._is_over = True
            self._status.stop()
