"""The command `discreet`.

What it is asked for goes to standard output, all else to standard error. It ends with 0, with 1
after a refusal or a user's mistake, with 2 if it was called wrongly, with 3 if the budget does not
allow the question, with 70 after a mistake of ours, and with 130 if it was interrupted.
"""

import sys
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from discreet.cli.commands import app
from discreet.cli.interrupts import listen, was_interrupted
from discreet.cli.later import Later
from discreet.errors import BudgetError, DiscreetError, DiscreetWarning

if TYPE_CHECKING:
    import discreet.cli.screen as screen  # noqa: PLR0402 - by its whole name
else:
    screen = Later("discreet.cli.screen")

REFUSED, EXHAUSTED, INTERNAL, INTERRUPTED = 1, 3, 70, 130


def main() -> None:
    """Run the command; a user's mistake is one sentence and an exit code, never a traceback."""
    _print_all_letters()
    listen()
    warnings.showwarning = _show_warning
    try:
        app()
    except SystemExit as end:
        if end.code != INTERRUPTED:
            raise
        _end(*_told(KeyboardInterrupt()))
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the outer edge: no traceback
        _end(*_told(error))


def _told(error: BaseException) -> tuple[str, int]:
    """Return what to say of an error, and the exit code."""
    if isinstance(error, KeyboardInterrupt) or was_interrupted():
        return "interrupted; if a question was charged, asking it again is free.", INTERRUPTED
    match error:
        case BudgetError():
            return str(error), EXHAUSTED
        case DiscreetError():
            return str(error), REFUSED
        case OSError():
            return screen.sentence_of(error), REFUSED
        case _:
            what = f"an internal error ({type(error).__name__}); please report what you ran."
            return what, INTERNAL


def _end(sentence: str, code: int) -> None:
    screen.complain(sentence)
    sys.exit(code)


_show_plainly = warnings.showwarning


def _show_warning(
    message: Warning | str, category: type[Warning], *where: Any, **more: Any
) -> None:
    """Print what an owner should know as one sentence on standard error, without source lines."""
    if issubclass(category, DiscreetWarning):
        screen.complain(str(message))
    else:
        _show_plainly(message, category, *where, **more)


def _print_all_letters() -> None:
    """Write letters that the terminal's encoding lacks as escapes, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
