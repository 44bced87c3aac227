"""Bounds that a question needs and nobody has declared: which they are, and what they cost.

Finding bounds is a question like any other: a histogram, planned, charged, run, released and kept
before the question itself. All that is decided here follows from the question and the catalog, and
all that is read here was released.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from discreet.bounds.histogram import (
    ColumnRef,
    all_columns,
    column_named,
    histogram_question,
    read_bounds,
)
from discreet.catalog.catalog import Catalog
from discreet.catalog.schema import AUTO, Auto, Bounds, Kind, PrivateTable, Table
from discreet.errors import HIDDEN, ParameterError, TargetError, UnboundedError
from discreet.planner import Planner
from discreet.query.plan import Plan
from discreet.query.plan.plan import EpsilonTarget, MarginTarget, Target
from discreet.tables import NoisyTable
from discreet.written import WrittenQuery

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

ANY = EpsilonTarget(1)
"""Stands for the target while it is only asked whether there is a plan at all."""

Rejection = Callable[[Catalog], UnboundedError | None]
"""Why a question cannot be planned under a catalog, if that is for lack of bounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundsSearch:
    """Columns whose bounds are found first, each for the same epsilon, and what then remains.

    The epsilons add up to exactly that of the question.
    """

    columns: tuple[ColumnRef, ...]
    epsilon_each: Fraction
    target: EpsilonTarget
    """What remains for the question itself."""
    plans: Mapping[ColumnRef, Plan]
    """For each column, the histogram off which its bounds are read."""
    catalog: Catalog

    @property
    def epsilon(self) -> Fraction:
        """Of all the bounds together."""
        return self.epsilon_each * len(self.columns)

    def with_bounds(self, found: Mapping[ColumnRef, Bounds]) -> Catalog:
        """Return the catalog with the bounds that were found."""
        return with_bounds(self.catalog, found)

    def with_placeholders(self, part: Fraction = Fraction(1)) -> Catalog:
        """Return the catalog with wide bounds, or a part of them, in place of unknown ones."""
        wide = {each: placeholder_bounds(each.column.kind, part=part) for each in self.columns}
        return with_bounds(self.catalog, wide)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundBounds:
    """What a question is planned with once its bounds are known, and what finding them took."""

    catalog: Catalog
    target: Target | None
    bounds: Mapping[ColumnRef, Bounds] = field(default_factory=dict)
    epsilon_each: Fraction = Fraction(0)
    charged: Fraction = Fraction(0)
    """Of what was found now."""

    @property
    def epsilon(self) -> Fraction:
        """Of all that was found, now or before."""
        return self.epsilon_each * len(self.bounds)


def bounds_search(
    planner: Planner,
    query: WrittenQuery,
    target: Target | None,
    named: Collection[str],
    catalog: Catalog,
) -> BoundsSearch | None:
    """Return what must be found first, if anything must; None for most questions.

    That are columns with bounds = AUTO, or named here, without whose bounds there is no plan.
    """
    names = (named,) if isinstance(named, str) else named
    if not isinstance(names, Collection) or not all(isinstance(each, str) for each in names):
        rule = 'must be a list of columns, such as ["visits.cost"]'
        raise ParameterError("find_bounds_of", named, rule)
    asked = tuple(dict.fromkeys(column_named(catalog, each) for each in names))
    opened = with_bounds(catalog, dict.fromkeys(asked, AUTO)) if asked else catalog
    columns = tuple(each for each in all_columns(opened) if isinstance(each.column.bounds, Auto))
    if not columns:
        return None

    def rejection(tried: Catalog) -> UnboundedError | None:
        try:
            planner.draft(query, ANY, tried)
        except UnboundedError as error:
            return error
        return None

    needed = _needed(columns, opened, rejection)
    _reject_unneeded(asked, needed)
    return _search(planner, needed, _whole(needed, target), catalog) if needed else None


def histogram_plan(planner: Planner, ref: ColumnRef, epsilon: Fraction, catalog: Catalog) -> Plan:
    """Return the plan that finds a column's bounds; it takes no delta."""
    question = histogram_question(ref, catalog, planner.public)
    return planner.draft_question(question, EpsilonTarget(epsilon, delta=0), catalog)


def bounds_from(ref: ColumnRef, plan: Plan, noisy: Sequence[NoisyTable]) -> Bounds | None:
    """Return the bounds that a released histogram tells; None if no bin stands out."""
    counts = [int(each) for each in noisy[0].rows.column("a0").to_numpy()]
    return read_bounds(plan.releases[0], counts, ref.column.kind)


def _search(
    planner: Planner, needed: tuple[ColumnRef, ...], whole: EpsilonTarget, catalog: Catalog
) -> BoundsSearch:
    each = whole.epsilon * PART / len(needed)
    return BoundsSearch(
        columns=needed,
        epsilon_each=each,
        target=EpsilonTarget(whole.epsilon * (1 - PART), delta=whole.delta),
        plans={ref: histogram_plan(planner, ref, each, catalog) for ref in needed},
        catalog=catalog,
    )


def _needed(
    columns: tuple[ColumnRef, ...], catalog: Catalog, rejection: Rejection
) -> tuple[ColumnRef, ...]:
    """Return the columns whose open ends alone make the plan fail."""
    if rejection(catalog) is None:
        return ()
    assumed = {each: placeholder_bounds(each.column.kind) for each in columns}
    for_want_of_others = rejection(with_bounds(catalog, assumed))
    if for_want_of_others is not None:
        raise for_want_of_others
    for each in columns:
        without = {ref: bounds for ref, bounds in assumed.items() if ref != each}
        if rejection(with_bounds(catalog, without)) is None:
            assumed = without
    return tuple(assumed)


def _reject_unneeded(asked: tuple[ColumnRef, ...], needed: tuple[ColumnRef, ...]) -> None:
    known = {str(each) for each in needed}  # by name: the two come from different catalogs
    for each in asked:
        if str(each) not in known:
            rule = "must only name columns whose bounds this query needs"
            fix = f"Remove {each} from it"
            raise ParameterError("find_bounds_of", str(each), rule, fix)


def _whole(needed: tuple[ColumnRef, ...], target: Target | None) -> EpsilonTarget:
    """Return the target of the question and its bounds together; it must be a price."""
    names = " and ".join(str(each) for each in needed)
    if isinstance(target, MarginTarget):
        raise TargetError(
            f"The noise of this query depends on the bounds of {names}, which must be found first",
            "Use epsilon for this query. Or find the bounds with find_bounds, declare them in the "
            "catalog, and run the query again",
        )
    if target is None:
        raise ParameterError("epsilon", HIDDEN, f"must be given to find the bounds of {names}")
    return target


def placeholder_bounds(kind: Kind, *, part: Fraction = Fraction(1)) -> Bounds:
    """Return bounds that stand for others while nobody knows them: wide, on both sides of 0.

    What can be planned for them can be planned for narrower ones. What differs between them and a
    `part` of them is not known before the bounds are.
    """
    return Bounds(low=-REACH[kind] * part, high=REACH[kind] * part)


def with_bounds(catalog: Catalog, found: Mapping[ColumnRef, Bounds | Auto]) -> Catalog:
    """Return the catalog with these bounds in place of others, and without steps from those."""
    by_name = {(ref.table.name, ref.column.name): bounds for ref, bounds in found.items()}
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
