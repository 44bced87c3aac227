"""What an engine computes exactly: sums of whole numbers over bounded rows, by group."""

from dataclasses import dataclass
from enum import Enum

from discreet.query.tree import Expression, Rows


class Bounding(Enum):
    """How a unit's rows are held to the limit."""

    NONE = "one row per unit by construction"
    ROWS = "at most `limit` rows of each unit, chosen by a hash of their contents"
    UNITS_ONLY = "each unit counts once in each of at most `limit` groups"
    PAIRS = "at most `limit` different values of each unit, over all groups"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactQuery:
    """Whole numbers by group: what the engine computes, decided before any data is read.

    The rows are bounded by unit, grouped by `keys` (k0, k1, ... in the result), and each of `sums`
    (s0, s1, ...), an expression of whole numbers never NULL once coalesced to 0, is summed exactly.
    With `units` there is a column `units`, the number of different units in the group. With `cell`
    the rows are grouped by that whole number as well (column `cell`; rows where it is NULL are
    dropped), with their number in `n`. Without keys or cell there is exactly one row.
    """

    rows: Rows
    name: str
    keys: tuple[Expression, ...]
    bounding: Bounding
    limit: int
    sums: tuple[Expression, ...] = ()
    units: bool = False
    cell: Expression | None = None
    is_bounded: bool = False
    """Whether no unit has more than `limit` rows to begin with, so that none need be chosen."""
    distinct: Expression | None = None
    """With PAIRS: the value whose different values are counted (column `n`) or summed."""
