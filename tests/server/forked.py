"""Processes that begin with everything imported: one process imports the server, and forks others.

So most servers of tests start in a fraction of a second. What they run is what `python -m` runs,
which `test_serve.py` and others start as people do.
"""

import os
import runpy
import sys
import time
from multiprocessing import get_context
from pathlib import Path
from tempfile import mkstemp

FORKS = get_context("forkserver")
FORKS.set_forkserver_preload(["discreet.cli.app", "discreet.cli.serve", "discreet.server.run"])


class ServerProcess:
    """A process that runs a module, with the part of `subprocess.Popen` that tests use."""

    def __init__(self, module: str, *arguments: str, output: Path | None = None) -> None:
        self._is_temporary = output is None
        self._output = output or _new_file()
        given = (module, arguments, dict(os.environ), str(self._output))
        self._process = FORKS.Process(target=_run, args=given, daemon=True)
        self._process.start()

    @property
    def pid(self) -> int:
        """The number of the process."""
        assert self._process.pid is not None
        return self._process.pid

    def poll(self) -> int | None:
        """Return the exit code, or nothing while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end; return the exit code."""
        self._process.join(timeout)
        code = self._process.exitcode
        assert code is not None, "the process did not end"
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal, if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Tell it to stop."""
        self._process.terminate()

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def written(self) -> str:
        """Return all that it has written."""
        return self._output.read_text(encoding="utf-8")

    def close(self) -> None:
        """End it at once, if it still runs, and forget it."""
        self.kill()
        self.wait(30)
        self._process.close()
        if self._is_temporary:
            self._output.unlink()


def _new_file() -> Path:
    handle, name = mkstemp(prefix="server-", suffix=".output")
    os.close(handle)
    return Path(name)


def _run(module: str, arguments: tuple[str, ...], environment: dict[str, str], output: str) -> None:
    """Run a module as `python -m` does."""
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
    to = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for each in (1, 2):
        os.dup2(to, each)
    os.close(to)
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
