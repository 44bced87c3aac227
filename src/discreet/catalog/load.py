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
    text = _text(file)
    entries = _entries(text, str(path))
    place = Place(file=str(path), lines=lines_of(text))
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


def _entries(text: str, file: str) -> dict[str, object]:
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as cause:
        raise _reworded(str(cause), text, file) from None
    except (ValueError, RecursionError, ArithmeticError) as cause:
        fix = "write shorter numbers and fewer lists inside each other"
        raise CatalogError("the catalog has a value too long to read", fix, file=file) from cause


def _reworded(message: str, text: str, file: str) -> CatalogError:
    """Return one sentence of ours for what the TOML parser says."""
    found = re.fullmatch(r"(?P<what>.*) \(at (?:line (?P<line>\d+), column (\d+)|end.*)\)", message)
    what = message if found is None else found["what"]
    if found is None or found["line"] is None:
        line = text.rstrip().count("\n") + 1
    else:
        line = int(found["line"])
    what = f"the catalog is not TOML: {what[:1].lower()}{what[1:]}"
    return CatalogError(what, "mend what stands there", file=file, line=line)
