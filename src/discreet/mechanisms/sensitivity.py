"""Sensitivity: the most that one unit can change an answer. All noise is scaled by it.

Both neighbour relations of the literature are supported, and they differ. Adding or removing a unit
changes a histogram by 1 in L1, and replacing one changes it by 2. Confusing them is a common
mistake.
"""

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from math import isqrt, sqrt

from discreet.errors import ParameterError
from discreet.parameters import Real, call_text, choice, freeze_fields, integer, rational


class Neighbours(Enum):
    """Which two datasets are neighbours."""

    ADD_REMOVE = "add-remove"
    """One dataset has one more unit than the other."""

    REPLACE = "replace"
    """Both datasets have the same size and differ in one unit's data."""


ADD_REMOVE = Neighbours.ADD_REMOVE
REPLACE = Neighbours.REPLACE


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Sensitivity:
    """The largest difference of a vector of answers between neighbours, in three norms."""

    l1: Fraction
    l2_squared: Fraction
    linf: Fraction
    neighbours: Neighbours

    def __post_init__(self) -> None:
        for name in ("l1", "l2_squared", "linf"):
            freeze_fields(self, **{name: rational(name, getattr(self, name), above=0)})
        freeze_fields(self, neighbours=_checked(self.neighbours))

    __repr__ = call_text

    @property
    def l2(self) -> float:
        return sqrt(self.l2_squared)


def counting_query(neighbours: Neighbours | str = ADD_REMOVE) -> Sensitivity:
    """Return the sensitivity of one count of units: 1, for both kinds of neighbours."""
    return counting_queries(1, neighbours)


def counting_queries(count: int, neighbours: Neighbours | str = ADD_REMOVE) -> Sensitivity:
    """Return the sensitivity of several counts of units: one unit may change each by 1."""
    k = Fraction(integer("count", count, least=1))
    return Sensitivity(l1=k, l2_squared=k, linf=Fraction(1), neighbours=_checked(neighbours))


def histogram(neighbours: Neighbours | str = ADD_REMOVE) -> Sensitivity:
    """Return the sensitivity of counts of disjoint classes: a unit is in one of them."""
    relation = _checked(neighbours)
    moved = Fraction(1 if relation is ADD_REMOVE else 2)
    return Sensitivity(l1=moved, l2_squared=moved, linf=Fraction(1), neighbours=relation)


def bounded_sum(low: Real, high: Real, neighbours: Neighbours | str = ADD_REMOVE) -> Sensitivity:
    """Return the sensitivity of a sum with one value in [low, high] for each unit."""
    a, b = _range(low, high)
    relation = _checked(neighbours)
    return _scalar(max(abs(a), abs(b)) if relation is ADD_REMOVE else b - a, relation)


def bounded_mean(
    low: Real, high: Real, *, least: int = 0, neighbours: Neighbours | str = ADD_REMOVE
) -> Sensitivity:
    """Return the sensitivity of a mean of values in [low, high] over at least `least` units.

    This least number must be public. With n units or more, the mean changes by (high - low) / n if
    one is replaced, and by (high - low) / (n + 1) if one is added or removed. Without a least
    number it may change by the whole range.
    """
    a, b = _range(low, high)
    relation = _checked(neighbours)
    n = integer("least", least, least=0)
    if n == 0:
        return _scalar(b - a, relation)
    return _scalar((b - a) / (n + 1 if relation is ADD_REMOVE else n), relation)


def percentage(*, least: int, neighbours: Neighbours | str = ADD_REMOVE) -> Sensitivity:
    """Return the sensitivity of a percentage of at least `least` units, in percentage points."""
    return bounded_mean(0, 100, least=least, neighbours=neighbours)


def maximum(low: Real, high: Real, neighbours: Neighbours | str = ADD_REMOVE) -> Sensitivity:
    """Return the sensitivity of a maximum, minimum or median: the whole range."""
    a, b = _range(low, high)
    return _scalar(b - a, _checked(neighbours))


def l1_of(sensitivity: Real | Sensitivity) -> Fraction:
    """Return the L1 sensitivity, given as a number or as a `Sensitivity`."""
    return sensitivity.l1 if isinstance(sensitivity, Sensitivity) else _positive(sensitivity)


def l2_squared_of(sensitivity: Real | Sensitivity) -> Fraction:
    """Return the square of the L2 sensitivity, given as a number or as a `Sensitivity`."""
    if isinstance(sensitivity, Sensitivity):
        return sensitivity.l2_squared
    return _positive(sensitivity) ** 2


def linf_of(sensitivity: Real | Sensitivity) -> Fraction:
    """Return the L∞ sensitivity, given as a number or as a `Sensitivity`."""
    return sensitivity.linf if isinstance(sensitivity, Sensitivity) else _positive(sensitivity)


def checked_monotone(monotone: bool, sensitivity: Real | Sensitivity) -> bool:
    """Reject `monotone` for replace neighbours: replacing a unit changes scores both ways."""
    is_replace = isinstance(sensitivity, Sensitivity) and sensitivity.neighbours is REPLACE
    if monotone and is_replace:
        raise ParameterError("monotone", True, "must be False for replace neighbours")
    return monotone


def root_up(square: Fraction) -> Fraction:
    """Return a fraction at or a little above √square: at most 2**-60 of it more."""
    shift = max(0, 64 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2)
    scaled = -(-(square.numerator << 2 * shift) // square.denominator)
    root = isqrt(scaled)
    return Fraction(root if root * root == scaled else root + 1, 1 << shift)


def _positive(sensitivity: Real) -> Fraction:
    return rational("sensitivity", sensitivity, above=0)


def _scalar(moved: Fraction, neighbours: Neighbours) -> Sensitivity:
    return Sensitivity(l1=moved, l2_squared=moved**2, linf=moved, neighbours=neighbours)


def _range(low: Real, high: Real) -> tuple[Fraction, Fraction]:
    a, b = rational("low", low), rational("high", high)
    if a >= b:
        raise ParameterError("bounds", (low, high), "must have low below high")
    return a, b


def _checked(neighbours: Neighbours | str) -> Neighbours:
    return choice("neighbours", neighbours, Neighbours)
