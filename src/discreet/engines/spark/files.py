"""Parquet files of a path, as Spark lists them: which they are, and what folders say of their rows.

Only what Spark offers everyone is used, so that it is the same over Spark Connect.
"""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from discreet.catalog.sources import is_spark_path
from discreet.engines.base import log
from discreet.engines.spark.sessions import failures, is_remote
from discreet.errors import SourceError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LOG = "_delta_log"
"""The folder that makes a folder a Delta table."""

ICEBERG = "/metadata/"
"""Where Iceberg writes what its tables are."""

COMPARED = 64 * 2**20
"""Bytes of files that are compared with each other; no two longer ones should be alike."""

GLOBS = frozenset("*?[]{}\\")

FILE = "file:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A file, how long it is, and when it was written, in milliseconds."""

    path: str
    size: int
    written: int


def listed(own: "SparkSession", places: Sequence[str]) -> tuple[Listed, ...]:
    """Return the files that Spark finds at places: all below folders, none that is hidden."""
    files = own.read.format("binaryFile").option("recursiveFileLookup", "true")
    shown = "path", "length", "CAST(unix_millis(modificationTime) AS BIGINT) AS written"
    found = files.load(list(places)).selectExpr(*shown).toArrow()
    return tuple(
        Listed(path=path, size=size, written=written)
        for path, size, written in zip(*(each.to_pylist() for each in found.columns), strict=True)
    )


def state_of(files: Sequence[Listed]) -> str:
    """Return what changes when a file does, or when there are others."""
    return "|".join(sorted(f"{each.path}:{each.size}:{each.written}" for each in files))


def is_delta(own: "SparkSession", place: str) -> bool:
    """Return whether a folder is a Delta table."""
    return not GLOBS & set(place) and _has_log(own, place)


def _has_log(own: "SparkSession", pattern: str) -> bool:
    """Return whether one of the folders of a pattern is a Delta table."""
    try:
        own.read.format("binaryFile").load(f"{pattern.rstrip('/')}/{LOG}").schema  # noqa: B018 - looks
    except failures() as cause:
        if "PATH_NOT_FOUND" not in str(cause):
            log.debug("there may be a Delta table", exc_info=cause)
            raise
        return False
    return True


def refuse_table_formats(own: "SparkSession", name: str, files: Sequence[Listed]) -> None:
    """Reject files of a table whose own log says which of them count."""
    if any(ICEBERG in each.path and each.path.endswith(".metadata.json") for each in files):
        raise SourceError(
            f"The table {name} is an Iceberg table, whose files cannot be read without its "
            "metadata",
            "Name it as a table of Spark's catalog, on a cluster that has Iceberg",
        )
    roots = {_root(each.path) for each in files}
    if any(_has_log(own, each) for each in _at_or_below(files)) or any(
        _is_below_log(own, each) for each in roots
    ):
        raise SourceError(
            f"The files of the table {name} belong to a Delta table, and some may be deleted there",
            "Name the folder of the Delta table, without a pattern",
        )


def _root(path: str) -> str:
    """Return the folder above all folders like year=2024 that a file lies in."""
    folders = path.split("/")[:-1]
    while folders and "=" in folders[-1]:
        folders.pop()
    return "/".join(folders)


def _at_or_below(files: Sequence[Listed]) -> set[str]:
    """Return patterns of all folders of files, one for each depth below a root."""
    depths = {(_root(each.path), each.path.count("/")) for each in files}
    return {
        _plain(root) + "/*" * below
        for root, depth in depths
        for below in range(depth - root.count("/"))
    }


def _is_below_log(own: "SparkSession", root: str) -> bool:
    """Return whether a folder above is a Delta table; one that may not be looked into is none."""
    parts = root.split("/")
    above = ["/".join(parts[:end]) for end in range(4 if "://" in root else 2, len(parts))]
    for each in above:
        with suppress(*failures()):
            if _has_log(own, _plain(each)):
                return True
    return False


def _plain(path: str) -> str:
    """Return the pattern that stands for one path alone."""
    return "".join(f"\\{each}" if each in GLOBS else each for each in path)


def folder_columns(place: str, files: Sequence[Listed]) -> frozenset[str]:
    """Return the columns, in lower case, that Spark reads off names of folders below a path.

    It may be more than Spark reads, never less. A pattern names as many folders as it is written
    with, unless it goes back with .. or has braces; Spark looks only below what it names.
    """
    parts = _parts(place)
    is_plain = place.startswith("/") or "://" in place
    is_as_deep = is_plain and not {"{", "\\"} & set(place) and not {".", ".."} & set(parts)
    depth = len(parts) if is_as_deep else 0
    folders = {folder for each in files for folder in _parts(each.path)[depth:-1]}
    return frozenset(
        unescaped(each.partition("=")[0]).casefold() for each in folders if "=" in each
    )


def folder_values(path: str) -> dict[str, str]:
    """Return what the names of folders say, as Spark understands them."""
    pairs = (each.partition("=") for each in _parts(path)[:-1] if "=" in each)
    return {unescaped(name): unescaped(value) for name, _, value in pairs}


def unescaped(text: str) -> str:
    """Return a part of a folder's name as Spark reads it: each %XX is one character."""
    return unquote(text, encoding="latin-1")


def _parts(path: str) -> list[str]:
    """Return the names of folders and of the file, without scheme and host."""
    scheme, sign, rest = path.partition("://")
    place = (rest.partition("/")[2] if scheme != "file" else rest) if sign else path
    return [each for each in place.removeprefix(FILE).split("/") if each]


def refuse_hidden(name: str, stored: Sequence[str], from_folders: frozenset[str]) -> None:
    """Reject a column of files that names of folders hide: all of a folder would be one unit."""
    for each in stored:
        if each.casefold() in from_folders:
            raise SourceError(
                f"The table {name} has {each!r} both in its files and in the names of their "
                "folders",
                "Rename one of them",
            )


def stored_types(own: "SparkSession", name: str, places: Sequence[str]) -> dict[str, str]:
    """Return the columns that the files store; reject files that store one as different types.

    It is read at the ends of all files. Spark fails when it reads a file that is not as the first,
    and leaves it out if its statistics say that no row there is asked for: whether a query fails
    would tell if there is such a row.
    """
    files = own.read.option("recursiveFileLookup", "true")
    try:
        return dict(files.option("mergeSchema", "true").parquet(*places).dtypes)
    except failures() as cause:
        log.warning("the files of %s differ", name, exc_info=cause)
    raise different_types(name)


def different_types(name: str) -> SourceError:
    """Return the error about files of which one has to be read as another."""
    return SourceError(
        f"The Parquet files of the table {name} store a column with different types",
        "Write all files with the same types",
    )


def refuse_listed_twice(name: str, paths: Sequence[str]) -> None:
    """Reject files that are read twice: two rows would have one name, and be one unit.

    Paths, patterns, folders and links on this machine can all lead to the same file.
    """
    real = [
        str(Path(_local_path(each)).resolve()) if each.startswith(FILE) else each for each in paths
    ]
    if len(set(real)) < len(real):
        raise SourceError(
            f"The table {name} reads a file twice, so its rows cannot be identified",
            "List every file once",
        )


def _local_path(path: str) -> str:
    rest = path.removeprefix(FILE)
    return "/" + rest.lstrip("/")


def can_name_rows(own: "SparkSession", files: Sequence[Listed]) -> bool:
    """Return whether a file and a position name a row: not if two files may be links to one.

    Links on the machine of a Spark Connect server are found by what the files are: one that is
    linked has one length, time and content.
    """
    if not is_remote(own):
        return True
    known = Counter((each.size, each.written) for each in files if each.path.startswith(FILE))
    alike = [
        each for each in files if each.path.startswith(FILE) and known[each.size, each.written] > 1
    ]
    if not alike or max(each.size for each in alike) > COMPARED:
        return not alike
    read = own.read.format("binaryFile").load([each.path for each in alike])
    ((different,),) = read.selectExpr("count(DISTINCT sha2(content, 256))").collect()
    return int(different) == len(alike)


def is_path(source: object) -> bool:
    """Return whether Spark reads a source by its path, not as a table of its catalog."""
    return isinstance(source, Path) or (isinstance(source, str) and is_spark_path(source))


def input_files(frame: "DataFrame") -> list[str]:
    """Return the files that a frame reads, written as `listed` writes them."""
    return [unquote(each).replace("file:///", FILE + "/", 1) for each in frame.inputFiles()]


def guessed_by_server(frame: "DataFrame") -> frozenset[str]:
    """Return the columns that may be read off names of folders; only the server knows which are."""
    files = [Listed(path=each, size=0, written=0) for each in input_files(frame)]
    return folder_columns("", files)
