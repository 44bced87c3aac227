"""One setting of a catalog file changed in its text: comments, order and all else stay."""

import re
import tomllib

from discreet.errors import CatalogError

HEADER = re.compile(r"\s*\[")
SETTING = re.compile(
    r"""(?P<before>\s*rows_per_unit\s*=\s*)(?P<value>"[^"]*"|'[^']*'|[\w+]+)(?P<after>.*)"""
)
UNIT = re.compile(r"\s*unit\s*=")
GUESS = re.compile(r"\s*# GUESS.*")


def with_rows_per_unit(text: str, table: str, number: int) -> str:
    """Return the text of a catalog with another rows_per_unit of a table, or refuse to guess."""
    wanted = _changed(tomllib.loads(text), table, number)
    lines = text.splitlines(keepends=True)
    for first in range(len(lines)):
        tried = "".join(_edited(lines, first, number))
        try:
            if tomllib.loads(tried) == wanted:
                return tried
        except tomllib.TOMLDecodeError:
            continue
    raise CatalogError(
        f"The section of {table} in the catalog could not be edited",
        f"Write rows_per_unit = {number} there yourself",
    )


def _changed(content: dict[str, object], table: str, number: int) -> dict[str, object]:
    """Return the content of a catalog as it is to be."""
    tables = content.get("tables")
    assert isinstance(tables, dict)  # noqa: S101 - the catalog was read before
    name = next(each for each in tables if each.casefold() == table.casefold())
    changed = {**tables[name], "rows_per_unit": number}
    return {**content, "tables": {**tables, name: changed}}


def _edited(lines: list[str], first: int, number: int) -> list[str]:
    """Return the lines with the setting of the section that begins there, or added to it."""
    if not HEADER.match(lines[first]):
        return lines
    last = next((i for i in range(first + 1, len(lines)) if HEADER.match(lines[i])), len(lines))
    for i in range(first + 1, last):
        if found := SETTING.fullmatch(lines[i].rstrip("\r\n")):
            end = lines[i][len(lines[i].rstrip("\r\n")) :]
            after = GUESS.sub("", found["after"])
            return [*lines[:i], f"{found['before']}{number}{after}{end}", *lines[i + 1 :]]
    place = next((i for i in range(first + 1, last) if UNIT.match(lines[i])), first)
    return [*lines[: place + 1], f"rows_per_unit = {number}\n", *lines[place + 1 :]]
