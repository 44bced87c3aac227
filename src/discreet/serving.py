"""What was released before serves again: reading numbers off a kept table reveals nothing more.

A table that was released for more columns, or for a higher price, answers a question about the same
rows and groups, if it cost no less and its noise is no wider than what the question would buy.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.estimators import ExpectedMargin, MarginPerCount, RankMargin, SelectedValue
from discreet.query.plan.identity import meanings_of
from discreet.query.plan.planned import PlannedRelease
from discreet.tables import NoisyTable

LEVELS = (Fraction(95, 100), Fraction(999, 1000))
"""The confidences at which half widths are compared: tails of other noises may be longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A release as it is read off a kept table: with the noise and the numbers that were drawn."""

    planned: PlannedRelease
    noisy: NoisyTable


def read_off(asked: PlannedRelease, kept: PlannedRelease, noisy: NoisyTable) -> Served | None:
    """Return the asked columns of a kept table, or None if it lacks one or has more noise."""
    known = {each: place for place, each in enumerate(meanings_of(kept.release))}
    places = [known.get(each) for each in meanings_of(asked.release)]
    found = [each for each in places if each is not None]
    if len(found) < len(places) or kept.epsilon < asked.epsilon:
        return None
    if not _shows_as_many_keys(kept, asked):
        return None
    if not all(_is_as_good(kept, place, asked, number) for number, place in enumerate(found)):
        return None
    planned = replace(
        kept,
        release=asked.release,
        estimators=tuple(kept.estimators[place] for place in found),
        left_out=asked.left_out,
    )
    return Served(planned=planned, noisy=_selected(noisy, asked, kept, found))


def _selected(
    noisy: NoisyTable, asked: PlannedRelease, kept: PlannedRelease, places: list[int]
) -> NoisyTable:
    """Return keys, the asked aggregates and all noisy cells, as the asked release calls them."""
    table, keys = noisy.rows, len(asked.release.keys)
    cells = range(keys + len(kept.estimators), table.num_columns)
    chosen = table.select([*range(keys), *(keys + place for place in places), *cells])
    names = [
        *(each.name for each in asked.release.keys),
        *(f"a{number}" for number in range(len(places))),
        *(f"m{number}" for number in range(len(cells))),
    ]
    return NoisyTable(chosen.rename_columns(names))


def _shows_as_many_keys(kept: PlannedRelease, asked: PlannedRelease) -> bool:
    """Return whether keys that only the data know are shown from no larger a number of the same."""
    if kept.selection is None or asked.selection is None:
        return kept.selection is asked.selection
    is_same = kept.selection.selecting.of == asked.selection.selecting.of
    return is_same and kept.selection.mechanism.threshold <= asked.selection.mechanism.threshold


def _is_as_good(kept: PlannedRelease, place: int, asked: PlannedRelease, number: int) -> bool:
    ours, theirs = kept.estimators[place], asked.estimators[number]
    if isinstance(ours, SelectedValue) and isinstance(theirs, SelectedValue):
        if kept.picks[ours.pick].epsilon < asked.picks[theirs.pick].epsilon:
            return False
    elif type(ours) is not type(theirs):
        return False
    return all(
        _is_no_wider(kept.expected(place, level), asked.expected(number, level)) for level in LEVELS
    )


def _is_no_wider(kept: ExpectedMargin, asked: ExpectedMargin) -> bool:
    match kept, asked:
        case MarginPerCount(), MarginPerCount():
            return kept.power == asked.power and kept.numerator <= asked.numerator
        case RankMargin(), RankMargin():
            return kept.rows <= asked.rows
        case float() | int(), float() | int():
            return kept <= asked
        case _:
            return kept is None and asked is None
