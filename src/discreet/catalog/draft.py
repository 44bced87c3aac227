"""A first `discreet.toml`, written from the tables' schemas: what it guesses, it marks.

Nothing here sees data; types of CSV files were guessed from their first rows. A drafted catalog
holds names and types of columns, and facts that were found privately, if any were.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from discreet.catalog.fields import BLANK, meant
from discreet.catalog.places import written_key, written_text
from discreet.catalog.policy import nearest
from discreet.catalog.schema import Column, Kind
from discreet.catalog.units import ROW, written_unit
from discreet.catalog.write import written_column, written_number
from discreet.errors import CatalogError

PEOPLE = (
    "patient",
    "person",
    "user",
    "customer",
    "client",
    "member",
    "subject",
    "participant",
    "respondent",
    "employee",
    "student",
    "citizen",
    "voter",
    "household",
    "subscriber",
    "account",
    "device",
)
"""Whose rows tables usually hold, the likeliest first."""

HEAD = """\
# A draft: what only you know is marked FILL IN or commented out, and what was guessed is marked
# GUESS. All that stands here is public: anyone who may ask questions may read it."""

EPSILON = "epsilon = 1.0   # GUESS: {why}"
DELTA = "delta = 1e-6    # GUESS: {why}"
WHY_EPSILON = "how much may be revealed in all, for as long as the data are asked about"
WHY_DELTA = "keep it well below one part in the number of units; 0 for none"
NEIGHBOURS = """\
neighbours = "add-remove"   # a unit's rows appear or vanish; "replace" if only their contents do"""

COLUMNS = """\
# Where you know more, complete the commented line and put it in place of the one above it: bounds
# are the range that values can have at all, and values are all that there can be. Taken from the
# data, they would give away what the data hold."""

GUESSED = """\
# GUESS: all types below, from the first {rows} rows of the CSV file; no other rows were read. Check
# them: one odd value among these rows decides a type, and values of other rows that are not written
# as their type will be NULL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Facts about columns that were found privately, and what that has cost."""

    columns: tuple[Column, ...]
    epsilon: Fraction
    delta: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDraft:
    """A table to draft a catalog for; of its columns, names and kinds are used and nothing else."""

    name: str
    source: str
    columns: tuple[Column, ...]
    unit: str | None = None
    """The unit's column, if the owner has said it; or "row" for a table without such a column."""
    found: Found | None = None
    guessed_from: int | None = None
    """Of how many rows at most the kinds were guessed; None if the source says them."""


def draft(
    *tables: TableDraft, epsilon: Fraction | None = None, delta: Fraction | None = None
) -> str:
    """Return the text of a catalog for these tables, to be read and completed by the owner."""
    parts = [HEAD, "\n".join(_budget(epsilon, delta))]
    for table in tables:
        parts += ["\n".join(_head(table)), "\n".join(_columns(table))]
    return "\n\n".join(parts) + "\n"


def _budget(epsilon: Fraction | None, delta: Fraction | None) -> Iterator[str]:
    """Yield the budget: what the owner has said, or a guess that is marked as one."""
    yield "[budget]"
    for name, stated, guess, why in (
        ("epsilon", epsilon, EPSILON, WHY_EPSILON),
        ("delta", delta, DELTA, WHY_DELTA),
    ):
        said = "" if stated is None else f"{name} = {written_number(stated)}   # {why}"
        yield said or guess.format(why=why)
    yield NEIGHBOURS


def _head(table: TableDraft) -> Iterator[str]:
    yield f"[tables.{written_key(table.name)}]"
    yield f"from = {written_text(table.source)}"
    yield _unit(table)
    if _is_by_row(table):
        yield "# If anyone may see this table, write public = true in place of unit."
        return
    yield "# If anyone may see this table, write public = true in place of unit and rows_per_unit."
    yield "rows_per_unit = 10   # GUESS: at most so many rows of a unit count in an answer"


def _is_by_row(table: TableDraft) -> bool:
    """Return whether the owner has said that each row is a unit: a column of that name is none."""
    return table.unit == ROW and all(each.name.casefold() != ROW for each in table.columns)


def _unit(table: TableDraft) -> str:
    if _is_by_row(table):
        return f'unit = "{ROW}"'
    if table.unit is not None:
        return f"unit = {written_text(written_unit(_checked_unit(table, table.unit)))}"
    guess = unit_guess(table.name, table.columns)
    if guess is None:
        why = 'the column that says whose row it is, or "row" if each row is a unit of its own'
        return f'unit = "{BLANK}"   # {why}'
    return f"unit = {written_text(written_unit(guess))}   # GUESS: from the column's name alone"


def _checked_unit(table: TableDraft, unit: str) -> str:
    names = {each.name.casefold(): each.name for each in table.columns}
    if unit.casefold() not in names:
        near = nearest(unit, list(names.values()))
        fix = "name one of its columns" if near is None else meant(near)
        raise CatalogError(f"unit names {unit!r}, which is no column of {table.name!r}", fix)
    return names[unit.casefold()]


def unit_guess(table: str, columns: tuple[Column, ...]) -> str | None:
    """Return the column whose name says most that it tells people apart, if one does."""
    words = {each.name: _words(each.name) for each in columns}
    for person in PEOPLE:
        for name, each in words.items():
            if each in ([person, "id"], [person], [person, "no"], [person, "number"]):
                return name
    ids = [name for name, each in words.items() if len(each) > 1 and each[-1] == "id"]
    # visit_id in a table of visits tells rows apart, not people.
    own = [name for name in ids if table.casefold().startswith("_".join(words[name][:-1]))]
    others = [name for name in ids if name not in own]
    bare = [name for name, each in words.items() if each == ["id"]]
    return next(iter(others + own + bare), None)


def _words(name: str) -> list[str]:
    """Return the words of a column's name: patient_id, patientId and PatientID are the same."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).casefold()
    words = [word for word in re.split(r"[^a-z0-9]+", parted) if word]
    if len(words) == 1 and (found := re.fullmatch(r"([a-z]{3,})id", words[0])):
        words = [found[1], "id"] if found[1] in PEOPLE else words
    return words


def _columns(table: TableDraft) -> Iterator[str]:
    yield f"[tables.{written_key(table.name)}.columns]"
    yield COLUMNS
    if table.guessed_from is not None:
        yield GUESSED.format(rows=f"{table.guessed_from:,}".replace(",", " "))
    found = {} if table.found is None else {each.name: each for each in table.found.columns}
    for column in table.columns:
        plain = Column(name=column.name, kind=column.kind)
        if column.name in found and table.found is not None:
            kind = "values" if found[column.name].values is not None else "bounds"
            yield f"{_line(found[column.name])}   # found privately: {MAY_LACK[kind]}"
        else:
            yield _line(plain)
            yield from _advice(plain)


MAY_LACK = {
    "values": "rare ones may be missing, add those that you know",
    "bounds": "widen them if you know more",
}


def _line(column: Column) -> str:
    return f"{written_key(column.name)} = {written_column(column)}"


ADVICE = {
    Kind.INTEGER: ("bounds = [LOW, HIGH]", "to sum or average it"),
    Kind.REAL: ("bounds = [LOW, HIGH]", "to sum or average it"),
    Kind.DATE: ("bounds = [FIRST, LAST]", "to group by month, say"),
    Kind.TIMESTAMP: ("bounds = [FIRST, LAST]", "to group by month, say"),
    Kind.TIMESTAMP_TZ: ("bounds = [FIRST, LAST]", "to group by month, say"),
    Kind.TEXT: (f'values = ["{BLANK}"]', "to group by it without a delta"),
}
"""What the owner may add to a column of each kind, and what for."""


def _advice(column: Column) -> Iterator[str]:
    # Nobody sums numbers that only tell things apart.
    if column.kind in ADVICE and _words(column.name)[-1:] != ["id"]:
        example, why = ADVICE[column.kind]
        kind = written_text(column.kind.value)
        yield f"# {written_key(column.name)} = {{ type = {kind}, {example} }}   # {why}"
