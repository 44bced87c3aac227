"""How prepared forms follow tables that grow: what is told of it, and which tables go together.

A grown form has the rows that a full preparation of the same data has. Three facts make that cheap.
Which rows of a unit are kept follows from the unit's own rows alone, so units without new rows stay
as they are. A unit within its limit keeps what it has and what is new. Of a unit beyond it the
first rows by their order are kept; a row that was not among the first of fewer rows is not among
those of more, so rows that were left out need not be looked at again.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

from discreet.query.tree import Scan


class Anew(Enum):
    """Why tables are prepared anew, although there is a form of them."""

    RELEASE = "made by another release"
    CATALOG = "the catalog changed"
    DATABASE = "another version of the database"
    CHANGED = "old rows changed or are gone"
    TYPES = "columns, types or bounds differ"
    GUESSED = "types of a CSV file must be guessed again"
    MONTHS = "a unit's first months may change"
    PATH = "old rows may belong to new units"
    PLACE = "what is new cannot be told from what is old"
    MANY = "too many units exceed their limit only now"


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeAnew:
    """All rows are read; of this table and those that its path leads over, or of all."""

    reason: Anew
    table: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Grows:
    """Rows are added to a form that was there. How many is nobody's to know."""

    table: str
    files: int | None = None
    """How many files are read for it; None if it is not made of files."""


Step = MadeAnew | Grows


Told = Callable[[Step], None]
"""Hears what preparing does, and why."""


def tell_nobody(_: Step) -> None:
    """Say nothing."""


class CannotGrowError(Exception):
    """A form does not grow: what was begun is undone, and tables are prepared anew. Not shown."""

    def __init__(self, reason: Anew, table: str | None = None) -> None:
        super().__init__(reason.value)
        self.reason, self.table = reason, table


def families(scans: tuple[Scan, ...]) -> tuple[tuple[Scan, ...], ...]:
    """Return tables that are tied by paths to their units together, parents first."""
    groups: list[list[Scan]] = []
    for scan in sorted(scans, key=lambda each: len(each.parents)):
        names = {each.name for each in (scan.table, *scan.parents)}
        tied = [each for each in groups if names & _names(each)]
        groups = [each for each in groups if each not in tied]
        groups.append([*(scan for group in tied for scan in group), scan])
    return tuple(tuple(sorted(each, key=lambda scan: len(scan.parents))) for each in groups)


def _names(scans: Iterable[Scan]) -> set[str]:
    return {each.name for scan in scans for each in (scan.table, *scan.parents)}


def refuse_months(scan: Scan) -> None:
    """Refuse to grow if only a unit's first months are used: which these are all rows decide."""
    dated = scan.table.by_month
    if scan.table.is_by_month and dated is not None and dated.most is not None:
        raise CannotGrowError(Anew.MONTHS, scan.table.name)
