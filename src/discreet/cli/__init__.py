"""The command `discreet`.

Results go to standard output, everything else to standard error. Exit codes: 0 for success, 1 for a
rejected query or a user's mistake, 2 for a wrong call, 3 if the budget is not enough, 70 for an
internal error, 130 if interrupted.
"""

import sys
import warnings
from contextlib import suppress
from typing import Any

from discreet.cli.app import commands
from discreet.cli.console import complain, listen, sentence_of, was_interrupted
from discreet.errors import BudgetError, DiscreetError, DiscreetWarning

REJECTED, EXHAUSTED, INTERNAL, INTERRUPTED = 1, 3, 70, 130


def main() -> None:
    """Run the command. A user's mistake is one sentence and an exit code, never a traceback."""
    _print_all_letters()
    listen()
    warnings.showwarning = _show_warning
    try:
        commands()
    except SystemExit as end:
        if end.code != INTERRUPTED:
            raise
        _end(*_sentence_and_code(KeyboardInterrupt()))
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the outer edge: no traceback
        _end(*_sentence_and_code(error))


def _sentence_and_code(error: BaseException) -> tuple[str, int]:
    """Return the sentence to print for an error, and the exit code."""
    if isinstance(error, KeyboardInterrupt) or was_interrupted():
        sentence = "Interrupted. If the query had already been charged, repeating it is free."
        return sentence, INTERRUPTED
    match error:
        case BudgetError():
            return str(error), EXHAUSTED
        case DiscreetError():
            return str(error), REJECTED
        case OSError():
            return sentence_of(error), REJECTED
        case _:
            sentence = f"Internal error ({type(error).__name__}). Please report what you ran."
            return sentence, INTERNAL


def _end(sentence: str, code: int) -> None:
    complain(sentence)
    sys.exit(code)


_show_plainly = warnings.showwarning


def _show_warning(
    message: Warning | str, category: type[Warning], *where: Any, **more: Any
) -> None:
    """Print our own warnings as one sentence on standard error, without source lines."""
    if issubclass(category, DiscreetWarning):
        complain(str(message))
    else:
        _show_plainly(message, category, *where, **more)


def _print_all_letters() -> None:
    """Write letters that the terminal's encoding lacks as escapes, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
