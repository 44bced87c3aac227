"""Files that people ask for: in folders that are there, over plain files, never through links."""

import os
import stat
from pathlib import Path

from discreet.errors import ParameterError

NO_FOLDER = "must be in a folder that exists"
LINK = "must not be a symbolic link"
NOT_PLAIN = "must be a new file or a regular file, not a folder or a device"


def check_place(option: str, path: str | Path) -> Path:
    """Return where a file is to be written, or refuse a place that could not be, by its option."""
    if not isinstance(path, str | Path) or not str(path) or "\0" in str(path):
        raise ParameterError(option, path, "must be the path of a file")
    place = Path(path)
    try:
        if not place.parent.is_dir():
            fix = f"Create the folder {place.parent} first, or choose another"
            raise ParameterError(option, str(path), NO_FOLDER, fix)
        mode = os.lstat(place).st_mode
    except FileNotFoundError:
        return place
    except (OSError, UnicodeError) as cause:
        raise ParameterError(option, str(path), "must be the path of a file") from cause
    if stat.S_ISLNK(mode):
        raise ParameterError(option, str(path), LINK)
    if not stat.S_ISREG(mode):
        raise ParameterError(option, str(path), NOT_PLAIN)
    return place


def write_file(option: str, path: str | Path, content: bytes) -> Path:
    """Write a file, in place of a plain one that is there, and return its path."""
    place = check_place(option, path)
    # What took its place meanwhile is not followed, and not cut before it is known to be a file.
    flags = os.O_WRONLY | os.O_CREAT
    for each in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
        flags |= getattr(os, each, 0)
    try:
        with os.fdopen(os.open(place, flags, 0o666), "wb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise ParameterError(option, str(path), NOT_PLAIN)
            file.truncate(0)
            file.write(content)
    except OSError as cause:
        what = (cause.strerror or "the system refused it").lower()
        raise ParameterError(option, str(path), f"could not be written ({what})") from cause
    return place
