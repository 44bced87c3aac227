"""Results that are made here: their rows, and how clients get them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from struct import Struct
from typing import Any

from discreet.server.pgwire.frames import (
    COPY_DONE,
    SUSPENDED,
    UINT16,
    WireColumn,
    WireFrame,
    complete,
    data_row,
    row_description,
)
from discreet.server.pgwire.lexer import SqlStatement, WordKind
from discreet.server.pgwire.routing import closing_bracket, string_in
from discreet.server.pgwire.sqlstates import WireError
from discreet.server.pgwire.values import SIZES, TEXT, encoded, shown

Row = tuple[Any, ...]


def column(name: str, type_: int) -> WireColumn:
    """Return a column of a result."""
    return WireColumn(name=name, type=type_, size=SIZES.get(type_, -1))


def text_column(name: str) -> tuple[WireColumn, ...]:
    """Return the only column of a result of texts."""
    return (column(name, TEXT),)


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyForm:
    """How COPY writes rows."""

    form: str = "text"
    has_header: bool = False
    delimiter: str = ""
    null: str | None = None


@dataclass(slots=True, kw_only=True)
class Result:
    """What a statement gives."""

    tag: str
    """What is said when it is done; the number of rows is added for a result with rows."""
    columns: tuple[WireColumn, ...] | None = None
    rows: Sequence[Row] = ()
    notices: tuple[WireFrame, ...] = ()
    copy: CopyForm | None = None
    sent: int = field(default=0)
    """How many rows the client has."""

    def description(self, formats: Sequence[int]) -> WireFrame | None:
        """Return the columns, if there are rows to come."""
        if self.columns is None or self.copy is not None:
            return None
        return row_description(self.columns, formats)

    def frames(self, formats: Sequence[int], most: int = 0) -> Iterator[WireFrame]:
        """Yield the next rows, at most so many (0 is all), and how it ended."""
        if self.sent == 0:
            yield from self.notices
        if self.copy is not None:
            yield from _copied(self, self.copy)
            return
        if self.columns is None:
            yield complete(self.tag)
            return
        last = len(self.rows) if most <= 0 else min(len(self.rows), self.sent + most)
        types = [each.type for each in self.columns]
        for row in self.rows[self.sent : last]:
            yield data_row(map(encoded, row, types, formats))
        count, self.sent = last - self.sent, last
        if most > 0 and count == most:
            yield SUSPENDED
        else:
            rows = self.sent if most <= 0 else count
            yield complete(f"{self.tag} {rows}" if self.tag in COUNTED else self.tag)


COUNTED = frozenset(["SELECT", "FETCH"])
"""Statements whose number of rows is said when they are done."""


# --------------------------------------------------------------------------- COPY

SIGNATURE = b"PGCOPY\n\xff\r\n\0" + Struct("!ii").pack(0, 0)
TRAILER = Struct("!h").pack(-1)

ESCAPES = str.maketrans(
    {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\b": "\\b", "\f": "\\f", "\v": "\\v"}
)


def _copied(result: Result, how: CopyForm) -> Iterator[WireFrame]:
    """Yield rows as COPY … TO STDOUT sends them."""
    columns = result.columns or ()
    code = 1 if how.form == "binary" else 0
    head = Struct("!b").pack(code) + UINT16.pack(len(columns)) + UINT16.pack(code) * len(columns)
    yield WireFrame(b"H", head)
    writers = {"binary": _binary, "csv": _csv, "text": _text}
    for each in writers[how.form](result, columns, how):
        yield WireFrame(b"d", each)
    yield COPY_DONE
    yield complete(f"COPY {len(result.rows)}")


def _binary(result: Result, columns: Sequence[WireColumn], _: CopyForm) -> Iterator[bytes]:
    types = [each.type for each in columns]
    head = SIGNATURE
    for row in result.rows:
        yield head + data_row(map(encoded, row, types, [1] * len(types))).body
        head = b""
    yield head + TRAILER


def _text(result: Result, columns: Sequence[WireColumn], how: CopyForm) -> Iterator[bytes]:
    null, between = ("\\N" if how.null is None else how.null), how.delimiter or "\t"
    escapes = {ord(between): f"\\{between}"} | ESCAPES
    if how.has_header:
        names = (each.name.translate(escapes) for each in columns)
        yield f"{between.join(names)}\n".encode()
    for row in result.rows:
        cells = (null if each is None else shown(each).translate(escapes) for each in row)
        yield f"{between.join(cells)}\n".encode("utf-8", "replace")


def _csv(result: Result, columns: Sequence[WireColumn], how: CopyForm) -> Iterator[bytes]:
    rows: list[list[str | None]] = [[each.name for each in columns]] if how.has_header else []
    rows += [[None if each is None else shown(each) for each in row] for row in result.rows]
    null, between = how.null or "", how.delimiter or ","
    special = re.compile(f'["\\r\\n{re.escape(between)}]')
    for row in rows:
        cells = (
            null
            if each is None
            else _quoted(each)
            if special.search(each) or each in (null, "\\.")
            else each
            for each in row
        )
        yield f"{between.join(cells)}\n".encode("utf-8", "replace")


def _quoted(text: str) -> str:
    """Return a text of CSV in quotes, so that nobody takes it for several, or for NULL."""
    return '"' + text.replace('"', '""') + '"'


def copied_in(statement: SqlStatement) -> tuple[SqlStatement, CopyForm]:
    """Return the query of COPY (query) TO STDOUT, and how its rows are written."""
    words = statement.words
    if len(words) < 3 or words[1].text != "(":
        hint = "Individual rows are never shown. Write COPY (SELECT … aggregates …) TO STDOUT"
        raise WireError("42501", "COPY of a table would show individual rows", hint, position=1)
    closing = closing_bracket(words, 1)
    return statement.part(2, closing), _form(statement.part(closing + 1))


UNKNOWN_OPTIONS = frozenset(
    ["quote", "escape", "force", "force_quote", "force_null", "force_not_null"]
)


def _form(options: SqlStatement) -> CopyForm:
    given: dict[str, str] = {}
    words = [each for each in options.words if each.text not in ("(", ")", ",", "=")]
    for i, each in enumerate(words):
        following = words[i + 1] if i + 1 < len(words) else None
        if each.kind is not WordKind.WORD:
            continue
        if each.text in ("binary", "csv", "text"):
            given["form"] = each.text
        elif each.text == "header":
            is_off = following is not None and following.text in ("false", "off", "0")
            given["header"] = "" if is_off else "yes"
        elif each.text in ("delimiter", "null") and following is not None:
            if following.text == "as" and i + 2 < len(words):
                following = words[i + 2]
            given[each.text] = string_in(following).replace("\\t", "\t")
        elif each.text in UNKNOWN_OPTIONS:
            raise WireError("0A000", f"The option {each.text} of COPY is not supported")
    delimiter = given.get("delimiter", "")
    if len(delimiter) > 1 or delimiter in ("\n", "\r", "\\", '"'):
        raise WireError("22023", "The delimiter of COPY must be one character")
    return CopyForm(
        form=given.get("form", "text"),
        has_header=bool(given.get("header")),
        delimiter=delimiter,
        null=given.get("null"),
    )
