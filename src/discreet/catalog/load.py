"""A catalog from a file or from Python values: all that is wrong is refused, with its place."""

import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from discreet.catalog.complete import ColumnsOf, complete
from discreet.catalog.declared import Declared, declared_from
from discreet.catalog.places import Place, lines_of
from discreet.catalog.policy import Catalog
from discreet.errors import CatalogError


def read(path: str | Path) -> Declared:
    """Return what a `discreet.toml` declares; reads that file and nothing else.

    Paths in it are taken from the folder that it is in.
    """
    file = Path(path)
    entries, place = _parsed(_text(file), str(path))
    return declared_from(entries, folder=file.absolute().parent, place=place)


def load(path: str | Path, columns_of: ColumnsOf | None = None) -> Catalog:
    """Return the catalog of a `discreet.toml`; without `columns_of`, it must have all types."""
    return complete(read(path), columns_of)


def catalog_from(
    entries: Mapping[str, object],
    columns_of: ColumnsOf | None = None,
    *,
    folder: str | Path | None = None,
) -> Catalog:
    """Return the catalog of the same entries as Python values."""
    where = None if folder is None else Path(folder).absolute()
    return complete(declared_from(entries, folder=where), columns_of)


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        fix = "name another file, or let 'discreet init DATA' draft one"
        raise CatalogError("there is no such catalog", fix, file=str(file)) from None
    except OSError as cause:
        fix = "check that it is a file and that you may read it"
        raise CatalogError("the catalog cannot be read", fix, file=str(file)) from cause
    except UnicodeDecodeError as cause:
        line = cause.object[: cause.start].count(b"\n") + 1
        what = "the catalog is not UTF-8 text"
        raise CatalogError(what, "save it as UTF-8", file=str(file), line=line) from None


def _parsed(text: str, file: str) -> tuple[dict[str, object], Place]:
    try:
        entries = tomllib.loads(text, parse_float=Decimal)
        return entries, Place(file=file, lines=lines_of(text))
    except tomllib.TOMLDecodeError as cause:
        raise _reworded(str(cause), text, file) from None
    except (ValueError, RecursionError, ArithmeticError) as cause:
        fix = "write shorter numbers and fewer lists inside each other"
        raise CatalogError("the catalog has a value too long to read", fix, file=file) from cause


def _reworded(message: str, text: str, file: str) -> CatalogError:
    """Return one sentence of ours for what the TOML parser says."""
    found = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", message)
    what, at = (message, None) if found is None else found.groups()
    line = text.rstrip().count("\n") + 1 if at is None else int(at)
    if re.search(r"\b(LOW|HIGH|FIRST|LAST)\b", text.split("\n")[line - 1].partition("#")[0]):
        what, fix = "bounds are still to be filled in", "write the range that values can have"
    elif what == "Cannot overwrite a value":
        what, fix = "a key stands here for the second time", "keep one of the two lines"
    else:
        what, fix = f"this is not TOML: {what[:1].lower()}{what[1:]}", "mend what stands there"
    return CatalogError(what, fix, file=file, line=line)
