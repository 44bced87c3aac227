"""How far one unit can move what is measured, by the form in which its rows are bounded.

Every vector here has a coordinate for each cell of each group. A neighbour by add-remove has a
unit's contribution p more or less; by replace it has q in place of p. Proofs:
docs/proofs/measures.md, sections 2 and 12.

A unit has at most r rows (rows_per_unit) in at most g groups (groups_per_unit), over all groups
together. Planes with r = 300 flights and g = 1 carrier, by carrier, add-remove:

    number of planes      L1 = L2² = min(r, g) = 1, and 300 without g
    number of flights     L1 = L2 = r = 300: all of them may be in one group
    delays of 0 to 60     L1 = L2 = 60 r, likewise
    planes, two limits    two keys with g₁ = 1 and g₂ = 12 make g = 12
"""

from fractions import Fraction

from discreet.mechanisms.sensitivity import ADD_REMOVE, Neighbours, Sensitivity
from discreet.query.questions import Aggregation
from discreet.query.tree import ContributionBounding


def rows_of_a_unit(release: Aggregation) -> int:
    """Return the most rows of a unit that count, over all groups together."""
    return 1 if release.one_row_per_unit else release.contribution_limit


def groups_of_a_unit(release: Aggregation) -> int:
    """Return the most groups in which a unit counts: no more than it has rows, or is limited to."""
    rows, limit = rows_of_a_unit(release), release.group_limit
    return rows if limit is None else min(rows, limit.most)


def rows_bounding(release: Aggregation) -> ContributionBounding:
    """Return the cheapest form that holds a unit to its rows."""
    return ContributionBounding.NONE if release.one_row_per_unit else ContributionBounding.ROWS


def component_sensitivity(mass: int, places: int | None, neighbours: Neighbours) -> Sensitivity:
    """Return that of whole numbers, none negative, of which a unit adds `mass` at most in all.

    `places` is in how many numbers it can be, None if nobody knows. With one of them the number
    stays within `mass` of itself; else all of it may vanish here and appear there.
    """
    size = Fraction(mass)
    moved = 1 if neighbours is ADD_REMOVE or places == 1 else 2
    return Sensitivity(
        l1=moved * size, l2_squared=moved * size**2, linf=size, neighbours=neighbours
    )


def signed_sum_sensitivity(
    low: int, high: int, rows: int, *, is_grouped: bool, neighbours: Neighbours
) -> Sensitivity:
    """Return that of one sum for each group, of up to `rows` values of a unit from low to high.

    Rows may be missing, so that a unit adds between rows · min(low, 0) and rows · max(high, 0).
    """
    size = Fraction(rows * max(abs(low), abs(high)))
    reach = Fraction(rows * (max(high, 0) - min(low, 0)))
    if neighbours is ADD_REMOVE:
        return Sensitivity(l1=size, l2_squared=size**2, linf=size, neighbours=neighbours)
    if not is_grouped:
        return Sensitivity(l1=reach, l2_squared=reach**2, linf=reach, neighbours=neighbours)
    return Sensitivity(
        l1=2 * size,
        l2_squared=max(reach**2, 2 * size**2),
        linf=reach,
        neighbours=neighbours,
    )


def unit_count_sensitivity(marks: int, places: int | None, neighbours: Neighbours) -> Sensitivity:
    """Return that of numbers of units: a unit counts once in each of `marks` groups at most."""
    moved = marks if neighbours is ADD_REMOVE else 2 * marks
    size = Fraction(moved if places is None else max(1, min(moved, places)))
    return Sensitivity(l1=size, l2_squared=size, linf=Fraction(1), neighbours=neighbours)
