"""Ctrl-C, remembered: drivers that wait for a query drop it, or call it a failure of the query."""

import signal
import threading
from types import FrameType

_noted = threading.Event()


def listen() -> None:
    """Note every Ctrl-C from now on, and raise `KeyboardInterrupt` as ever."""
    forget()
    if (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ):
        signal.signal(signal.SIGINT, _note)


def forget() -> None:
    """Take up work again: what was interrupted has been said."""
    _noted.clear()


def was_interrupted() -> bool:
    """Return whether Ctrl-C was pressed, whatever became of it."""
    return _noted.is_set()


def stop_if_interrupted() -> None:
    """Raise `KeyboardInterrupt` if Ctrl-C was pressed and somebody dropped it."""
    if was_interrupted():
        raise KeyboardInterrupt


def _note(signum: int, frame: FrameType | None) -> None:
    _noted.set()
    signal.default_int_handler(signum, frame)
