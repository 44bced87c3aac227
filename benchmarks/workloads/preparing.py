"""Make the prepared copy of a catalog by its command, in a process whose memory is its own."""

import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter

from benchmarks.environments import ROOT, reason_in


class PreparingError(Exception):
    """The copy could not be made; the sentence says why."""


def prepared(catalog: Path, *, is_anew: bool = True) -> tuple[float, int]:
    """Make the copy, anew if that is asked; return the seconds and bytes of memory it took."""
    if is_anew:
        _finished("forget", catalog)
    return _finished("prepare", catalog)


def _finished(name: str, catalog: Path) -> tuple[float, int]:
    command = [sys.executable, "-m", "discreet", name, "--catalog", str(catalog)]
    start = perf_counter()
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        words = "" if process.stderr is None else process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise PreparingError(f"discreet {name} failed: {reason_in(words)}")
    return perf_counter() - start, usage.ru_maxrss * 1024
