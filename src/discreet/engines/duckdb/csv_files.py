"""CSV files, and the types of columns: how values are read, and the line that cannot be read."""

import csv
import gzip
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import TextIO

from discreet.catalog.schema import Column, Kind
from discreet.engines.dialect import CALENDAR, text_literal
from discreet.engines.duckdb.conditions import canonical_real, finite
from discreet.errors import SourceError

DELIMITERS = (",", ";", "\t", "|")


CHUNK = 1 << 20


WHOLE = r"\s*[+-]?[0-9]+(\.0*)?\s*"
"""How an integer may be written where it tells nobody apart."""


_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"


_MOMENT = rf"{_DAY}[ T]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{{1,6}})?"


SPELLING: Mapping[Kind, str] = {
    Kind.INTEGER: "0|-?[1-9][0-9]{0,18}",
    Kind.DATE: _DAY,
    Kind.TIMESTAMP: _MOMENT,
    Kind.TIMESTAMP_TZ: rf"{_MOMENT}(Z|[+-](0[0-9]|1[0-5])(:[0-5][0-9])?)",
}
"""How values are written that tell units or rows apart: no number or day has two spellings."""


REAL = re.compile(r"[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]+)?|nan|[+-]?inf", re.I)
"""How numbers are written in a column that is taken for one of reals."""


EXAMPLES: Mapping[Kind, str] = {
    Kind.INTEGER: "an integer of 64 bits: 7 or -12, not 007, 7.0 or 1_000",
    Kind.DATE: "a date: 2026-03-31",
    Kind.TIMESTAMP: "a timestamp: 2026-03-31 12:00:00, with at most 6 digits after the seconds",
    Kind.TIMESTAMP_TZ: "a timestamp with its offset: 2026-03-31 12:00:00+02:00",
}


UNREADABLE = "Check that the file exists and that you may read it"


ROW_NAME = "row_name"
"""The name of a first column without one: the row names that pandas and R write by default."""


def header_of(file: Path) -> tuple[str, tuple[str, ...]]:
    """Return the delimiter and the columns' names, or say what is wrong with the first line."""
    first = _first_record(file)
    splits = {each: fields for each in DELIMITERS if (fields := _fields(first, each)) is not None}
    if not splits:
        raise _fault(file, 1, "A quote is not closed", "Close it, or double it")
    delimiter = max(splits, key=lambda each: len(splits[each]))
    names = _with_row_name(file, delimiter, tuple(splits[delimiter]))
    if not any(splits[delimiter]):
        raise _fault(
            file, 1, "There is no header", "Write the names of the columns in the first line"
        )
    for number, name in enumerate(names, start=1):
        if not name.strip():
            raise _fault(file, 1, f"Column {number} has no name", "Name it in the first line")
        if _is_number(name):
            raise _fault(
                file, 1, "The first line looks like data", "Write the names of the columns above it"
            )
    twice = repeated(names)
    if twice is not None:
        raise _fault(file, 1, f"Two columns are called {twice!r}", "Give each a different name")
    return delimiter, names


def header_options(file: Path, delimiter: str, names: tuple[str, ...]) -> str:
    """Return how DuckDB is to read the header; only where a name is missing is it told the names.

    A header that is one name short is skipped: DuckDB would not take it for one.
    """
    first = _first_record(file)
    written = tuple(_fields(first, delimiter) or ())
    if written == names:
        return "header=true, skip=0"
    listed = f"names=[{', '.join(map(text_literal, names))}]"
    if len(written) == len(names):
        return f"header=true, skip=0, {listed}"
    return f"header=false, skip={len(first.splitlines())}, {listed}"


def _with_row_name(file: Path, delimiter: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names, with one for a first column that pandas or R wrote without."""
    if ROW_NAME in {each.casefold() for each in names}:
        return names
    if len(names) > 1 and not names[0].strip():
        return ROW_NAME, *names[1:]
    is_short = len(_second_record(file, delimiter)) == len(names) + 1
    # A line above the header is none: R writes names without spaces.
    is_header = all(re.fullmatch(r"[^\W\d][\w.]*", each) for each in names)
    return (ROW_NAME, *names) if is_short and is_header else names


def _second_record(file: Path, delimiter: str) -> list[str]:
    """Return the fields of the first row of data; none if it cannot be read."""
    try:
        with _text(file) as stream:
            rows = csv.reader(stream, delimiter=delimiter, strict=True)
            next(rows)
            return next((row for row in rows if row), [])
    except (csv.Error, UnicodeDecodeError, OSError, StopIteration):
        return []


def repeated(names: tuple[str, ...]) -> str | None:
    """Return a name that occurs twice, whatever its letter case."""
    seen: set[str] = set()
    for name in names:
        if name.casefold() in seen:
            return name
        seen.add(name.casefold())
    return None


def refuse_nul(file: Path) -> None:
    """Reject a file with the character NUL in it: no text has one, broken files do."""
    line = 1
    with _binary(file) as stream:
        while chunk := stream.read(CHUNK):
            if (place := chunk.find(b"\0")) >= 0:
                line += chunk.count(b"\n", 0, place)
                raise _fault(file, line, "There is a NUL character", "Export the file again")
            line += chunk.count(b"\n")


def fault_in(file: Path, delimiter: str, width: int) -> SourceError:
    """Return what is wrong with a file that could not be read, and in which line."""
    try:
        found = _first_fault(file, delimiter, width)
    except UnicodeDecodeError:
        return _fault(
            file, _first_line_not_utf8(file), "The text is not UTF-8", "Convert the file to UTF-8"
        )
    except OSError:
        return SourceError(f"{file} could not be read", UNREADABLE)
    return found or SourceError(
        f"{file} is not a table of comma-separated values", "Export it again as CSV in UTF-8"
    )


def kinds_guessed(
    file: Path, delimiter: str, names: tuple[str, ...], rows: int
) -> tuple[Kind, ...]:
    """Return what columns seem to be by the first rows of a file, the only ones that are read."""
    try:
        with _text(file) as stream:
            found = csv.reader(stream, delimiter=delimiter, strict=True)
            next(found)
            read = [row for row in islice(found, rows) if row]
    except (csv.Error, UnicodeDecodeError, OSError):
        raise fault_in(file, delimiter, len(names)) from None
    if any(len(row) != len(names) for row in read):
        raise fault_in(file, delimiter, len(names))
    columns = zip(*read, strict=True) if read else [()] * len(names)
    return tuple(_kind_of([text for text in column if text]) for column in columns)


def _kind_of(texts: list[str]) -> Kind:
    """Return the first kind that all texts are written as; numbers like 007 are text."""
    if not texts:
        return Kind.TEXT
    if all(text.casefold() in ("true", "false") for text in texts):
        return Kind.BOOLEAN
    for kind in (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_TZ):
        if all(
            REAL.fullmatch(text) is not None if kind is Kind.REAL else _is_written(text, kind)
            for text in texts
        ):
            return kind
    return Kind.TEXT


def first_not_written(
    files: tuple[Path, ...], delimiter: str, columns: Mapping[int, tuple[str, Kind]]
) -> SourceError:
    """Return in which line a value that tells units or rows apart is not written as its kind.

    `columns` has names and kinds by place. The value itself is not shown.
    """
    for file in files:
        with _text(file) as stream:
            rows = csv.reader(stream, delimiter=delimiter, strict=True)
            next(rows)
            begin = rows.line_num + 1
            for row in rows:
                for place, (name, kind) in columns.items():
                    if place < len(row) and not _is_written(row[place], kind):
                        whose = f"A value of {name!r}, which identifies units or rows,"
                        what = f"{whose} is not {EXAMPLES[kind]}"
                        return _fault(file, begin, what, _as_text(name))
                begin = rows.line_num + 1
    listed = " or ".join(repr(name) for name, _ in columns.values())
    return SourceError(
        f"{files[0]} has a value of {listed} that is not written as its type", _as_text(listed)
    )


def _as_text(name: str) -> str:
    return f'Write it in this form, or declare the type of {name} as "text"'


def _is_written(text: str, kind: Kind) -> bool:
    if not text or kind not in SPELLING:
        return True
    if not re.fullmatch(SPELLING[kind], text):
        return False
    try:
        if kind is Kind.INTEGER:
            return -(2**63) <= int(text) < 2**63
        (date if kind is Kind.DATE else datetime).fromisoformat(text)
    except ValueError:
        return False
    return True


def _first_fault(file: Path, delimiter: str, width: int) -> SourceError | None:
    with _text(file) as stream:
        rows = csv.reader(stream, delimiter=delimiter, strict=True)
        begin = 1
        while True:
            try:
                row = next(rows)
            except StopIteration:
                break
            except csv.Error as cause:
                return _unread(file, begin, is_long="limit" in str(cause))
            if row and begin > 1 and len(row) != width:
                there = "There is 1 field" if len(row) == 1 else f"There are {len(row)} fields"
                what = f"{there} instead of {width}"
                return _fault(file, begin, what, "Complete the row, or quote the field")
            begin = rows.line_num + 1
    return _mixed_endings(file)


def _unread(file: Path, line: int, *, is_long: bool) -> SourceError:
    if not is_long:
        return _fault(file, line, "A quote is not closed", "Close it, or double it")
    what = f"A field has more than {csv.field_size_limit():,} characters, or a quote is not closed"
    return _fault(file, line, what, "Close the quote, or keep long texts in a Parquet file")


def _mixed_endings(file: Path) -> SourceError | None:
    with _binary(file) as stream:
        is_windows: bool | None = None
        for number, line in enumerate(stream, start=1):
            if not line.endswith(b"\n"):
                continue
            if is_windows is not None and is_windows != line.endswith(b"\r\n"):
                return _fault(
                    file,
                    number,
                    "This line ends differently from the lines above it",
                    "Use the same line ending in the whole file",
                )
            is_windows = line.endswith(b"\r\n")
    return None


def _first_line_not_utf8(file: Path) -> int:
    with _binary(file) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode()
            except UnicodeDecodeError:
                return number
    return 1


def _first_record(file: Path) -> str:
    """Return the first line, or more if a quoted name goes over its end."""
    try:
        with _text(file) as stream:
            return "".join(_until_quotes_close(stream))
    except UnicodeDecodeError as cause:
        line = _first_line_not_utf8(file)
        raise _fault(file, line, "The text is not UTF-8", "Convert the file to UTF-8") from cause
    except OSError as cause:
        raise SourceError(f"{file} could not be read", UNREADABLE) from cause


def _until_quotes_close(stream: TextIO) -> Iterator[str]:
    quotes = 0
    for line in stream:
        yield line
        quotes += line.count('"')
        if quotes % 2 == 0:
            return


def _fields(record: str, delimiter: str) -> list[str] | None:
    """Return the fields of a record, or None if it cannot be split so."""
    try:
        rows = list(csv.reader(io.StringIO(record), delimiter=delimiter, strict=True))
    except csv.Error:
        return None
    return rows[0] if rows else []


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip().casefold() not in ("nan", "inf", "infinity")


def _binary(file: Path) -> io.BufferedReader | gzip.GzipFile:
    return gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb")


def _text(file: Path) -> TextIO:
    return io.TextIOWrapper(_binary(file), encoding="utf-8-sig", newline="")


def _fault(file: Path, line: int, what: str, fix: str) -> SourceError:
    return SourceError(what, fix, place=f"{file}, line {line}")


# --------------------------------------------------------------------------- columns

SIMPLE = {
    "BOOLEAN": Kind.BOOLEAN,
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), Kind.INTEGER),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"), Kind.INTEGER),
    **dict.fromkeys(("FLOAT", "DOUBLE"), Kind.REAL),
    **dict.fromkeys(("VARCHAR", "JSON", "UUID"), Kind.TEXT),
    "DATE": Kind.DATE,
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), Kind.TIMESTAMP),
    "TIMESTAMP WITH TIME ZONE": Kind.TIMESTAMP_TZ,
}
"""Types of DuckDB by kind; those with parameters are matched apart, the rest is OTHER."""


STORED: Mapping[Kind, str] = {
    Kind.REAL: finite(canonical_real("CAST({0} AS DOUBLE)")),
    Kind.TEXT: "CAST({0} AS VARCHAR)",
    Kind.DATE: f"CASE WHEN {CALENDAR[Kind.DATE]} THEN {{0}} END",
    Kind.TIMESTAMP: (
        f"CASE WHEN {CALENDAR[Kind.TIMESTAMP].replace('{0}', 'TRY_CAST({0} AS TIMESTAMP)')} "
        "THEN TRY_CAST({0} AS TIMESTAMP) END"
    ),
    Kind.TIMESTAMP_TZ: f"CASE WHEN {CALENDAR[Kind.TIMESTAMP_TZ]} THEN {{0}} END",
}
"""How a column is stored: one type for each kind but INTEGER, finite reals without -0.0, years 1 to
9999.

Texts of a DuckDB file may bring a collation along, by which texts that differ are equal: units and
keys would be one, and a public row would meet more rows than were counted. They are stored without.
"""


READ_AS: Mapping[Kind, str] = {
    Kind.BOOLEAN: "BOOLEAN",
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
    Kind.TIMESTAMP_TZ: "TIMESTAMP WITH TIME ZONE",
}
"""What the text of a CSV file is read as, if its column is declared to be of a kind."""


NOT_WRITTEN = "a value is not written as its kind"


MERGING = (Kind.REAL, Kind.BOOLEAN)
"""Kinds of which different texts of a CSV file are the same value: they tell nobody apart."""


DIGITS = 15
"""Decimals of so many digits are different reals if they differ."""


def column_from_type(name: str, type_name: str, *, nulls: bool | None = None) -> Column:
    """Return a column by DuckDB's name of its type."""
    decimal = re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", type_name)
    if decimal and int(decimal[2]) == 0:
        return Column(name=name, kind=Kind.INTEGER, nulls=nulls)
    if decimal:
        step = Fraction(1, 10 ** int(decimal[2]))
        is_rounded = int(decimal[1]) > DIGITS
        return Column(name=name, kind=Kind.REAL, step=step, nulls=nulls, is_rounded=is_rounded)
    kind = Kind.TEXT if type_name.startswith("ENUM(") else SIMPLE.get(type_name, Kind.OTHER)
    return Column(name=name, kind=kind, nulls=nulls, is_rounded=type_name == "TIMESTAMP_NS")


def read_as(text: str, kind: Kind) -> str:
    """Return a text as a value of a kind, NULL if it is none.

    DuckDB would read 7.5 and 0x10 as the integers 8 and 16, and 1_000 as a number.
    """
    value = _cast(text, kind)
    if kind is Kind.INTEGER:
        is_whole = f"regexp_full_match({text}, {text_literal(WHOLE)})"
        return (
            f"CASE WHEN CAST({value} AS VARCHAR) = {text} THEN {value} "
            f"WHEN {is_whole} THEN {value} END"
        )
    return f"CASE WHEN NOT contains({text}, '_') THEN {value} END" if kind is Kind.REAL else value


def written_as(text: str, kind: Kind) -> str:
    """Return a text as a value of a kind, and fail if it is not written as one."""
    value = STORED.get(kind, "{0}").format(_cast(text, kind))
    if kind in (Kind.TEXT, Kind.OTHER, *MERGING):
        return value
    is_written = (
        f"CAST({value} AS VARCHAR) = {text}"
        if kind in (Kind.INTEGER, Kind.DATE)
        else f"{value} IS NOT NULL AND regexp_full_match({text}, {text_literal(SPELLING[kind])})"
    )
    return (
        f"CASE WHEN {text} IS NULL THEN NULL WHEN {is_written} THEN {value} "
        f"ELSE error({text_literal(NOT_WRITTEN)}) END"
    )


def _cast(text: str, kind: Kind) -> str:
    # A cast of the bare column would be moved into DuckDB's reader, where it raises an error.
    is_text = kind in (Kind.TEXT, Kind.OTHER)
    return text if is_text else f"TRY_CAST(concat({text}) AS {READ_AS[kind]})"


def promised(column: Column) -> Column:
    """Return the column without a promise that values which became NULL would break."""
    if column.kind in (Kind.REAL, Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_TZ):
        return replace(column, nulls=None)
    return column
