"""How a catalog says whose row it is: a column, a path to one, or the row itself."""

import re
from dataclasses import dataclass

from discreet.catalog.fields import a_text
from discreet.catalog.places import Place
from discreet.catalog.schema import ColumnUnit, RowUnit

ROW = "row"
UNIT_FIX = (
    'write unit = "COLUMN" for the column that says whose row it is, '
    'unit = "row" if every row is a unit of its own, or public = true if anyone may see the table'
)
PATH_FIX = 'write a path as unit = "TABLE.COLUMN via COLUMN_OF_THIS_TABLE"'


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitPath:
    """The unit is that of the row of `table` which `via`, a column here, refers to.

    `column` is the unit's column as the path names it, in the table where all paths end.
    """

    table: str
    column: str
    via: str | None


DeclaredUnit = RowUnit | ColumnUnit | UnitPath

# A name in quotes may hold anything, as in SQL; a bare one has no dots and no quotes.
_NAME = r'"(?:[^"]|"")+"|[^".]+'
_COLUMN = re.compile(rf"({_NAME})")
_PATH = re.compile(rf'({_NAME})\.("(?:[^"]|"")+"|[^".]+?)(?:\s+via\s+({_NAME}))?')


def unit_from(place: Place, value: object) -> DeclaredUnit:
    """Return the unit that a text states."""
    text = a_text(place, value, UNIT_FIX).strip()
    if text == ROW:
        return RowUnit()
    if found := _PATH.fullmatch(text):
        table, column, via = (None if each is None else _unquoted(each) for each in found.groups())
        return UnitPath(table=table or "", column=column or "", via=via)
    if not _COLUMN.fullmatch(text):
        raise place.refused(f"is {text!r}, neither a column nor a path to one", UNIT_FIX)
    if " via " in text and not text.startswith('"'):
        raise place.refused(f"is {text!r}, a path that names no column", PATH_FIX)
    return ColumnUnit(column=_unquoted(text))


def written_unit(column: str, *, table: str | None = None, via: str | None = None) -> str:
    """Return the text that states a column, or a path to one, as a unit."""
    if table is None:
        return _quoted(column)
    return f"{_quoted(table)}.{_quoted(column)}" + ("" if via is None else f" via {_quoted(via)}")


def _quoted(name: str) -> str:
    is_plain = re.fullmatch(r"\w+( \w+)*", name) and name != ROW and " via " not in f" {name} "
    return name if is_plain else '"' + name.replace('"', '""') + '"'


def _unquoted(name: str) -> str:
    return name[1:-1].replace('""', '"') if name.startswith('"') else name.strip()
