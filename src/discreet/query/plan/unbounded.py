"""Which bounds must be found before a question can be answered, and what that takes of its price.

All of it follows from the question and the catalog: nothing here has seen data.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.catalog.policy import Catalog
from discreet.catalog.schema import AUTO, Auto, Bounds, Kind, PrivateTable, Table
from discreet.errors import HIDDEN, ParameterError, TargetError, UnboundedError
from discreet.query.plan.bins import Place, all_places, place_of
from discreet.query.plan.targets import EpsilonTarget, ErrorTarget, Target

PART = Fraction(1, 5)
"""What bounds take of a question's epsilon, all of them together."""

REACH = {
    Kind.INTEGER: Fraction(2**40),
    Kind.REAL: Fraction(2**40),
    Kind.DATE: Fraction(2**15),
    Kind.TIMESTAMP: Fraction(2**51),
    Kind.TIMESTAMP_TZ: Fraction(2**51),
}
"""How far bounds are taken to reach while nobody knows them; 2**15 days are 90 years."""

Refusal = Callable[[Catalog], UnboundedError | None]
"""Why a question cannot be planned under a catalog, if that is for lack of bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundsFirst:
    """Columns whose bounds are found first, each for the same epsilon, and what then remains.

    The epsilons add up to exactly that of the question.
    """

    places: tuple[Place, ...]
    each: Fraction
    rest: EpsilonTarget

    @property
    def epsilon(self) -> Fraction:
        """Of all the bounds together."""
        return self.each * len(self.places)


def bounds_first(
    catalog: Catalog, target: Target | None, named: Collection[str], refusal: Refusal
) -> BoundsFirst | None:
    """Return what must be found first, if anything must.

    That are columns with bounds = AUTO, or named here, without whose bounds there is no plan.
    """
    names = (named,) if isinstance(named, str) else named
    if not isinstance(names, Collection) or not all(isinstance(each, str) for each in names):
        raise ParameterError(
            "find_bounds", named, 'must be a list of columns, such as ["visits.cost"]'
        )
    asked = tuple(dict.fromkeys(place_of(catalog, each) for each in names))
    opened = with_bounds(catalog, dict.fromkeys(asked, AUTO))
    places = tuple(each for each in all_places(opened) if isinstance(each.column.bounds, Auto))
    if not places:
        return None
    needed = _needed(places, opened, refusal)
    _refuse_unneeded(asked, needed)
    return _shared(needed, target) if needed else None


def _needed(places: tuple[Place, ...], catalog: Catalog, refusal: Refusal) -> tuple[Place, ...]:
    """Return the columns whose open ends alone make the plan fail."""
    if refusal(catalog) is None:
        return ()
    assumed = {each: assumed_bounds(each.column.kind) for each in places}
    for_want_of_others = refusal(with_bounds(catalog, assumed))
    if for_want_of_others is not None:
        raise for_want_of_others
    for each in places:
        without = {place: bounds for place, bounds in assumed.items() if place != each}
        if refusal(with_bounds(catalog, without)) is None:
            assumed = without
    return tuple(assumed)


def _refuse_unneeded(asked: tuple[Place, ...], needed: tuple[Place, ...]) -> None:
    known = {str(each) for each in needed}
    for each in asked:
        if str(each) not in known:
            rule = "must only name columns whose bounds this query needs"
            raise ParameterError("find_bounds", str(each), rule)


def _shared(needed: tuple[Place, ...], target: Target | None) -> BoundsFirst:
    names = " and ".join(str(each) for each in needed)
    if isinstance(target, ErrorTarget):
        raise TargetError(
            f"The noise of this query depends on the bounds of {names}, which must be found first",
            "Use epsilon for this query. Or find the bounds with find_bounds, declare them in the "
            "catalog, and run the query again",
        )
    if target is None:
        raise ParameterError("epsilon", HIDDEN, f"must be given to find the bounds of {names}")
    whole = target.epsilon
    return BoundsFirst(
        places=needed,
        each=whole * PART / len(needed),
        rest=EpsilonTarget(whole * (1 - PART), delta=target.delta),
    )


def assumed_bounds(kind: Kind, *, part: Fraction = Fraction(1)) -> Bounds:
    """Return bounds that stand for others while nobody knows them: wide, on both sides of 0.

    What can be planned for them can be planned for narrower ones. What differs between them and a
    `part` of them is not known before the bounds are.
    """
    return Bounds(low=-REACH[kind] * part, high=REACH[kind] * part)


def with_bounds(catalog: Catalog, found: Mapping[Place, Bounds | Auto]) -> Catalog:
    """Return the catalog with these bounds in place of others, and without steps from those."""
    by_name = {(place.table.name, place.column.name): bounds for place, bounds in found.items()}
    return replace(catalog, tables=tuple(_with_bounds(each, by_name) for each in catalog.tables))


def _with_bounds(table: Table, found: Mapping[tuple[str, str], Bounds | Auto]) -> Table:
    if not isinstance(table, PrivateTable):
        return table
    columns = tuple(
        replace(each, bounds=found[table.name, each.name], step=None)
        if (table.name, each.name) in found
        else each
        for each in table.columns
    )
    return replace(table, columns=columns)
