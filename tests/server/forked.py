"""Processes that begin with everything imported: one process imports the server, and forks others.

So most servers and commands of tests start in a fraction of a second. What they run is what
`python -m` runs, which `test_serve.py` and others start as people do.
"""

import os
import runpy
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory, mkstemp

FORKS = get_context("forkserver")
FORKS.set_forkserver_preload(["discreet.cli.app", "discreet.cli.serve", "discreet.server.run"])


class ServerProcess:
    """A process that runs a module, with the part of `subprocess.Popen` that tests use."""

    def __init__(self, module: str, *arguments: str, output: Path | None = None) -> None:
        self._is_temporary = output is None
        self._output = output or _new_file()
        given = ([module, *arguments], dict(os.environ), Path.cwd(), [self._output] * 2)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What a command wrote, and its exit code."""

    returncode: int
    stdout: str
    stderr: str


def run_command(*arguments: str, folder: Path, environment: Mapping[str, str]) -> Ended:
    """Run `discreet` in a folder to its end."""
    with TemporaryDirectory() as made:
        out, err = (Path(made, name) for name in ("out", "err"))
        given = (["discreet", *arguments], dict(environment), folder, [out, err])
        process = FORKS.Process(target=_run, args=given, daemon=True)
        process.start()
        process.join(60)
        code = process.exitcode
        process.kill()
        process.join()
        process.close()
        assert code is not None, "the command did not end"
        return Ended(returncode=code, stdout=out.read_text(), stderr=err.read_text())


def _run(command: list[str], environment: dict[str, str], folder: Path, files: list[Path]) -> None:
    """Run a module as `python -m` does."""
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    for number, file in enumerate(files, start=1):
        opened = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.argv = command
    runpy.run_module(command[0], run_name="__main__", alter_sys=True)
