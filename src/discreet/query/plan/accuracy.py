"""The least epsilon for a margin of error, and the ceiling that may be set for it."""

from collections.abc import Callable, Sequence
from fractions import Fraction

from discreet.errors import ParameterError, TargetError, readable
from discreet.query.plan.plan import MarginTarget, PlannedRelease
from discreet.query.questions import OriginKind, Question

DIGITS = 4
"""Significant digits of an epsilon that was solved for."""


EPSILON_SOUGHT = (Fraction(1, 10**4), Fraction(100))
"""An epsilon for an accuracy is sought between these."""


Planner = Callable[[Fraction], tuple[PlannedRelease, ...]]
"""From an epsilon to what would be released for it."""


Where = tuple[int, int, str]
"""A release, an aggregate of it, and the column's name."""


Wanted = tuple[Where, float]
"""An aggregate, and the margin of error that it may have."""


def least_epsilon(question: Question, target: MarginTarget, planner: Planner) -> Fraction:
    """Return the least epsilon of few digits at which every named column is within its distance."""
    wanted = _wanted(question, target)
    low, high = EPSILON_SOUGHT

    def is_enough(epsilon: Fraction) -> bool:
        releases = planner(epsilon)
        return all(_spread_at(releases, *where, target) <= within for where, within in wanted)

    if not is_enough(high):
        raise TargetError(
            "This margin of error would need more than ε = 100", "Ask for a larger margin"
        )
    least = _few_digits_up(_bracketed(is_enough, low, high), is_enough)
    if target.most is None or least <= target.most:
        return least
    margins = _margins_at(target.most, wanted, target, planner)
    if margins and all(margin <= within for _, within, margin in margins):
        return target.most  # it was only the rounding of the least that passed the ceiling
    raise _too_expensive(least, target.most, wanted, margins)


def _margins_at(
    epsilon: Fraction, wanted: Sequence[Wanted], target: MarginTarget, planner: Planner
) -> list[tuple[str, float, float]]:
    """Return each named column, its wanted margin and its margin at an epsilon.

    None of them if no sampler covers the noise.
    """
    try:
        releases = planner(epsilon)
    except ParameterError:
        return []
    return [(where[2], within, _spread_at(releases, *where, target)) for where, within in wanted]


def _too_expensive(
    least: Fraction,
    most: Fraction,
    wanted: Sequence[Wanted],
    margins: Sequence[tuple[str, float, float]],
) -> TargetError:
    """Return the rejection of a margin that costs more than may be spent; it says both numbers."""
    asked = ", ".join(f"±{within:.4g} for {where[2]}" for where, within in wanted)
    given = ", ".join(f"±{margin:.4g} for {name}" for name, _, margin in margins)
    would = f". ε = {readable(most)} would give {given}" if given else ""
    return TargetError(
        f"A margin of error of {asked} needs ε = {readable(least)}, and at most "
        f"ε = {readable(most)} may be spent{would}",
        "Allow a larger epsilon, or ask for a larger margin",
    )


def _bracketed(is_enough: Callable[[Fraction], bool], low: Fraction, high: Fraction) -> Fraction:
    """Return one that is enough, by less than the digits that are kept above the least."""
    if is_enough(low):
        return low
    while high > low * (1 + Fraction(1, 10 ** (DIGITS + 1))):
        middle = Fraction((float(low) * float(high)) ** 0.5)
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _few_digits_up(value: Fraction, is_enough: Callable[[Fraction], bool]) -> Fraction:
    rounded = Fraction(f"{float(value):.{DIGITS - 1}e}")
    step = Fraction(1, 10 ** (DIGITS - 1)) * Fraction(10) ** int(f"{float(value):e}"[-3:])
    while rounded < value or not is_enough(rounded):
        rounded += step
    return rounded


def _wanted(question: Question, target: MarginTarget) -> list[Wanted]:
    """Return which aggregates must be how accurate."""
    found = {
        name: (origin.release, origin.index, name)
        for name, origin in zip(question.columns, question.sources, strict=True)
        if origin is not None and origin.kind is OriginKind.AGGREGATE
    }
    if isinstance(target.within, Fraction):
        if not found:
            raise TargetError(
                "within needs a column that is a plain aggregate, such as COUNT(*) AS n",
                "Use epsilon for this query",
            )
        return [(where, float(target.within)) for where in found.values()]
    wanted = []
    for name, within in target.within.items():
        if name not in found:
            known = (
                f"Columns that it can name: {', '.join(found)}. Or" if found else "For this query,"
            )
            raise TargetError(
                f"within names {name}, which is not a column with a plain aggregate",
                f"{known} use epsilon",
            )
        wanted.append((found[name], float(within)))
    return wanted


def _spread_at(
    releases: tuple[PlannedRelease, ...], release: int, number: int, name: str, target: MarginTarget
) -> float:
    planned = releases[release]
    spread = planned.expected(number, target.confidence)
    if isinstance(spread, float | int):
        return float(spread)
    raise TargetError(
        f"The margin of error of {name} cannot be fixed in advance, because it depends on the "
        "number of rows, which is private",
        "Use epsilon, or name only counts and sums in within",
    )
