"""The command `discreet`.

Results go to standard output, everything else to standard error. Exit codes: 0 for success, 1 for a
rejected query or a user's mistake, 2 for a wrong call, 3 if the budget is not enough, 70 for an
internal error, 130 if interrupted. With `--json`, an error is also an object on standard output,
except for a wrong call. Ctrl-C is remembered, because drivers that wait for a query may
drop it. The help needs no console, so that is loaded when there is something to print.
"""

import json
import signal
import sys
import threading
import warnings
from contextlib import suppress
from types import FrameType
from typing import Any

from discreet.cli.app import commands, module
from discreet.errors import BudgetError, DiscreetError, DiscreetWarning

REJECTED, EXHAUSTED, INTERNAL, INTERRUPTED = 1, 3, 70, 130


def main() -> None:
    """Run the command. A user's mistake is one sentence and an exit code, never a traceback."""
    _print_all_letters()
    listen()
    warnings.showwarning = _show_warning
    try:
        commands(prog_name="discreet")
    except SystemExit as end:
        if end.code != INTERRUPTED:
            raise
        _end(KeyboardInterrupt())
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the outer edge: no traceback
        _end(error)


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
            return module("console").sentence_of(error), REJECTED
        case _:
            sentence = f"Internal error ({type(error).__name__}). Please report what you ran."
            return sentence, INTERNAL


def _end(error: BaseException) -> None:
    sentence, code = _sentence_and_code(error)
    module("console").complain(sentence)
    if _wants_json():
        name = "Interrupted" if code == INTERRUPTED else type(error).__name__
        told = {"type": name, "message": sentence, "exit_code": code}
        sys.stdout.write(json.dumps({"error": told}) + "\n")
    sys.exit(code)


def _wants_json() -> bool:
    """Return whether the command was called with `--json`, and not with a text that says so."""
    arguments = sys.argv[1:]
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return "--json" in arguments[:end]


_show_plainly = warnings.showwarning


def _show_warning(
    message: Warning | str, category: type[Warning], *where: Any, **more: Any
) -> None:
    """Print our own warnings as one sentence on standard error, without source lines."""
    if issubclass(category, DiscreetWarning):
        module("console").complain(str(message))
    else:
        _show_plainly(message, category, *where, **more)


def _print_all_letters() -> None:
    """Write letters that the terminal's encoding lacks as escapes, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]


# --------------------------------------------------------------------------- Ctrl-C

_interrupted = threading.Event()


def listen() -> None:
    """Remember every Ctrl-C from now on, and raise `KeyboardInterrupt` as usual."""
    clear_interrupt()
    if (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ):
        signal.signal(signal.SIGINT, _note)


def clear_interrupt() -> None:
    """Go on after a Ctrl-C that was reported."""
    _interrupted.clear()


def was_interrupted() -> bool:
    """Return whether Ctrl-C was pressed, even if a driver dropped it."""
    return _interrupted.is_set()


def stop_if_interrupted() -> None:
    """Raise `KeyboardInterrupt` if Ctrl-C was pressed and a driver dropped it."""
    if was_interrupted():
        raise KeyboardInterrupt


def _note(signum: int, frame: FrameType | None) -> None:
    _interrupted.set()
    signal.default_int_handler(signum, frame)
