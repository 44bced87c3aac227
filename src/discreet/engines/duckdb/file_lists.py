"""The files that a path or a pattern stands for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from glob import glob, has_magic
from pathlib import Path

from discreet.errors import SourceError


@dataclass(frozen=True, slots=True)
class FilesNow:
    """The files that a pattern stands for at one moment: those that come later are not read."""

    pattern: str
    files: tuple[Path, ...]

    def __str__(self) -> str:
        return self.pattern


InFiles = str | Path | FilesNow


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFile:
    """What a file was when all of its bytes were read."""

    path: Path
    size: int
    digest: str = field(repr=False)
    identity: str = ""
    """What changes when the file does; empty if it had changed just before."""
    prefixes: Mapping[int, str] = field(default_factory=dict, repr=False)
    """Digests of its first bytes, by how many these are."""


def files_of(source: InFiles) -> tuple[Path, ...]:
    """Return the files that a path or a pattern stands for; reject one that stands for none."""
    if isinstance(source, FilesNow):
        return source.files
    text = str(source)
    if has_magic(text) and not _is_file(Path(text)):
        files = tuple(Path(each) for each in sorted(glob(text, recursive=True)))
    else:
        files = (Path(text),)
    if not files or not all(_is_file(each) for each in files):
        raise SourceError(f"{source} does not exist", "Check the path")
    return files


def _is_file(path: Path) -> bool:
    """Return whether there is a file; a name that no file can have is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False
