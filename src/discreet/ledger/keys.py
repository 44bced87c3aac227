"""Keys of 256 random bits in files of one user. They are created once and never shown.

What is called by a digest of data can be guessed by whoever reads the ledger. With a key in it,
which is in no entry and in no export, nobody can check a guess.
"""

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG

from discreet.noise import SYSTEM

LENGTH = 32


def key_in(file: Path) -> bytes:
    """Return the key that a file holds, made if there is none; raise OSError or ValueError."""
    with suppress(FileNotFoundError):
        return _read(file)
    with tempfile.TemporaryDirectory(prefix=".key-", dir=file.parent) as folder:
        new = Path(folder) / "key"
        handle = os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            os.write(handle, SYSTEM.draw(LENGTH))
            os.fsync(handle)
        finally:
            os.close(handle)
        with suppress(FileExistsError):  # of two processes, both take the key of the first
            os.link(new, file)
    return _read(file)


def _read(file: Path) -> bytes:
    handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        found = os.read(handle, LENGTH + 1) if S_ISREG(os.fstat(handle).st_mode) else b""
    finally:
        os.close(handle)
    if len(found) != LENGTH:
        raise ValueError
    return found
