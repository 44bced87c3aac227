"""Private temporary folders that are removed even after a kill.

Each holds a lock that the system gives up when its process ends, however it ends. A folder whose
lock is free belongs to nobody any more, and the next process of the same user removes it.
"""

import fcntl
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LOCK = "lock"


@dataclass(frozen=True, slots=True)
class LockedFolder:
    """A folder that only this user can enter, and the lock that says that it is in use."""

    folder: Path
    lock: int

    def remove(self) -> None:
        """Remove it with all that is in it, and give up the lock."""
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self.lock)


def make_locked_folder(prefix: str) -> LockedFolder:
    """Make a folder of mode 700 below the system's folder for temporary files."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    begun = folder / f"{LOCK}.new"
    lock = os.open(begun, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    # Only now is it called a lock: nobody can find it free while its process lives.
    begun.rename(folder / LOCK)
    return LockedFolder(folder, lock)


def remove_abandoned_folders(prefix: str) -> None:
    """Remove the folders of this user's processes that ended without doing so."""
    if not shutil.rmtree.avoids_symlink_attacks:
        return
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for each in [Path(entry.path) for entry in entries if entry.name.startswith(prefix)]:
            with suppress(OSError):
                _remove_if_abandoned(each)


def _remove_if_abandoned(folder: Path) -> None:
    found = os.lstat(folder)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        return
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        lock = os.open(LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=at)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its process lives
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)
    finally:
        os.close(at)
