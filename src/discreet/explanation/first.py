"""What an explanation says of bounds that are found first."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from discreet.answer.amounts import amount_up, equation
from discreet.bounds import BoundsSearch
from discreet.bounds.histogram import ColumnRef, bounds_text
from discreet.catalog.schema import Bounds
from discreet.explanation.explanations import ExplainedColumn, Explanation

BOUNDS = "(bounds)"
"""Stands where a column's name would, for the price of finding bounds."""

UNTIL_THEN = "known with the bounds"
"""Stands where a spread would that depends on bounds which are not found yet."""


def explain_found(
    answered: Explanation, first: BoundsSearch, found: Mapping[ColumnRef, Bounds]
) -> Explanation:
    """Return the explanation of a question whose bounds were found, and paid for, before.

    Its price is that of what remains.
    """
    told = tuple(
        f"The bounds of {place} are {bounds_text(bounds, place.column.kind)}: they were found for "
        f"{_epsilon(first.epsilon_each)} before, and are not paid for again."
        for place, bounds in found.items()
    )
    return replace(answered, first=told)


def explain_unfound(
    assumed: tuple[Explanation, Explanation], first: BoundsSearch, finding: Sequence[Explanation]
) -> Explanation:
    """Return the explanation of a question whose bounds nobody knows yet.

    It is `assumed` under two sets of bounds, and only what it says under both is said; `finding`
    explains how each column's bounds are found.
    """
    one, other = assumed
    told = tuple(
        f"The bounds of {place} are found first, for {_epsilon(first.epsilon_each)}: they are read "
        "off noisy numbers of values by magnitude, and hold for this question."
        for place in first.columns
    )
    columns = tuple(map(_finding_column, finding, first.columns))
    return replace(
        one,
        price=replace(one.price, epsilon=one.price.epsilon + first.epsilon),
        due=None,
        first=told,
        columns=(*columns, *map(_common_column, one.columns, other.columns)),
        bounding=_common(one.bounding, other.bounding),
        keys=_common(one.keys, other.keys),
        left_out=_common(one.left_out, other.left_out),
        sqls=_common(one.sqls, other.sqls),
    )


def note_of_bounds(place: ColumnRef, bounds: Bounds, epsilon: Fraction) -> str:
    """Return what an answer says of bounds that were found for it."""
    text = bounds_text(bounds, place.column.kind)
    return f"The bounds of {place}, {text}, were found first, for {_epsilon(epsilon)} of the price."


def _finding_column(finding: Explanation, place: ColumnRef) -> ExplainedColumn:
    column = finding.columns[0]
    return replace(column, name=BOUNDS, statistic=f"values of {place} by magnitude", why="")


def _common_column(one: ExplainedColumn, other: ExplainedColumn) -> ExplainedColumn:
    spread = one.spread_text if one.spread_text == other.spread_text else UNTIL_THEN
    noise = one.noise if one.noise == other.noise else UNTIL_THEN
    return replace(one, spread_text=spread, noise=noise)


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(each for each in one if each in other)


def _epsilon(amount: Fraction) -> str:
    return equation("ε", amount_up(amount))
