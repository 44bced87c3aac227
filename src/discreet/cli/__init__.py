"""The command `discreet`.

What it is asked for goes to standard output, all else to standard error. It ends with 0, with 1
after a refusal or a user's mistake, with 2 if it was called wrongly, with 3 if the budget does not
allow the question, with 70 after a mistake of ours, and with 130 if it was interrupted.
"""

import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from discreet.cli.commands import app
from discreet.cli.later import Later
from discreet.errors import BudgetError, DiscreetError

if TYPE_CHECKING:
    import discreet.cli.screen as screen  # noqa: PLR0402 - by its whole name
else:
    screen = Later("discreet.cli.screen")

REFUSED, EXHAUSTED, INTERNAL, INTERRUPTED = 1, 3, 70, 130


def main() -> None:
    """Run the command; a user's mistake is one sentence and an exit code, never a traceback."""
    _print_all_letters()
    try:
        app()
    except BudgetError as error:
        _end(str(error), EXHAUSTED)
    except DiscreetError as error:
        _end(str(error), REFUSED)
    except OSError as error:
        _end(screen.sentence_of(error), REFUSED)
    except KeyboardInterrupt:
        _end("interrupted; if the question was charged, asking it again is free.", INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - the outer edge: fixed words, no traceback
        what = f"an internal error ({type(error).__name__}); please report what you ran."
        _end(what, INTERNAL)


def _end(sentence: str, code: int) -> None:
    screen.complain(sentence)
    sys.exit(code)


def _print_all_letters() -> None:
    """Write letters that the terminal's encoding lacks as escapes, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
