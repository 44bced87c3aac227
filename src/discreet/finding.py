"""Bounds that a question needs and nobody has declared: found first, for a part of its price.

Finding bounds is a question like any other, planned, charged, run, released and kept by the
curator's own means. So it is paid for once, and nothing else of the data is used.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction

from discreet.answer import Price
from discreet.books import Books
from discreet.catalog.policy import Catalog
from discreet.catalog.schema import Bounds
from discreet.errors import NothingFoundError, UnboundedError
from discreet.explanation import Explanation
from discreet.explanation.from_plan import explain_found, explain_unfound, note_of_bounds
from discreet.query.check.sources import PublicReader
from discreet.query.plan import Plan, make_plan
from discreet.query.plan.bins import Place, bounds_read, place_of, values_by_bin
from discreet.query.plan.kept import bounded
from discreet.query.plan.targets import EpsilonTarget, Target
from discreet.query.plan.unbounded import BoundsFirst, assumed_bounds, bounds_first, with_bounds
from discreet.tables import NoisyTable

Noisy = tuple[NoisyTable, ...]

ANY = EpsilonTarget(1)
"""Stands for the target while it is only asked whether there is a plan at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A plan with all the bounds that it needs, and what finding them took."""

    plan: Plan
    notes: tuple[str, ...] = ()
    """What was found."""
    epsilon: Fraction = Fraction(0)
    """Of all that was found, now or before."""
    charged: Fraction = Fraction(0)
    """Of what was found now."""

    def price(self, paid: Price) -> tuple[Price, bool]:
        """Return what is paid now, or, if all was paid before, what it cost; and whether it was."""
        now = Price(epsilon=paid.epsilon + self.charged, delta=paid.delta)
        if not now.is_free or not self.plan.releases:
            return now, False
        return Price(epsilon=self.plan.epsilon + self.epsilon, delta=self.plan.delta), True


Planner = Callable[[str, Target | None, Catalog], Plan]
"""How a curator plans a question under a catalog."""


class Finder:
    """Finds bounds by a curator's own means."""

    def __init__(
        self,
        catalog: Catalog,
        public: PublicReader,
        books: Books,
        planner: Planner,
        check: Callable[[Plan], None],
    ) -> None:
        self.catalog, self._public, self._books, self._planner = catalog, public, books, planner
        self._check = check

    def bounds(self, column: str, epsilon: Fraction) -> Bounds:
        """Return a column's bounds at the price of epsilon, or raise if none stand out."""
        place = place_of(self.catalog, column)
        return self._found(place, self._bins(place, epsilon))[0]

    def ready(self, sql: str, target: Target | None, named: Collection[str]) -> Ready:
        """Return the plan of a question, with bounds that were found for it if it needs any."""
        first = self.first(sql, target, named)
        if first is None:
            return Ready(plan=self._planner(sql, target, self.catalog))
        plans = self._plans(first)
        self._check_affordable(sql, first, plans)
        found = {place: self._found(place, plan) for place, plan in plans.items()}
        bounds = {place: each for place, (each, _) in found.items()}
        return Ready(
            plan=self._plan_with(sql, first, bounds),
            notes=tuple(note_of_bounds(*each, first.each) for each in bounds.items()),
            epsilon=first.epsilon,
            charged=first.each * sum(not was_kept for _, was_kept in found.values()),
        )

    # ----------------------------------------------------------------------- before data is read

    def first(self, sql: str, target: Target | None, named: Collection[str]) -> BoundsFirst | None:
        """Return which bounds must be found first; follows from the question and the catalog."""

        def refusal(catalog: Catalog) -> UnboundedError | None:
            try:
                self._planner(sql, ANY, catalog)
            except UnboundedError as error:
                return error
            return None

        return bounds_first(self.catalog, target, named, refusal)

    def explanation(
        self, sql: str, first: BoundsFirst, explained: Callable[[Plan], Explanation]
    ) -> Explanation:
        """Explain with the bounds that are in the books, else what holds whatever they are."""
        plans = self._plans(first)
        known = self._known(plans)
        if known is not None:
            return explain_found(explained(self._plan_with(sql, first, known)), first, known)
        wide, narrow = (
            explained(self._plan_with(sql, first, _assumed(first, part)))
            for part in (Fraction(1), Fraction(1, 2))
        )
        finding = [explained(each) for each in plans.values()]
        return explain_unfound((wide, narrow), first, finding)

    def _known(self, plans: dict[Place, Plan]) -> dict[Place, Bounds] | None:
        """Return the bounds, if all of them are in the books."""
        known = {}
        for place, plan in plans.items():
            noisy = self._books.kept(plan)
            bounds = None if noisy is None else _read(place, plan, noisy)
            if bounds is None:
                return None
            known[place] = bounds
        return known

    def _plan_with(self, sql: str, first: BoundsFirst, bounds: dict[Place, Bounds]) -> Plan:
        return self._planner(sql, first.rest, with_bounds(self.catalog, bounds))

    def _plans(self, first: BoundsFirst) -> dict[Place, Plan]:
        return {place: self._bins(place, first.each) for place in first.places}

    def _bins(self, place: Place, epsilon: Fraction) -> Plan:
        """Return the plan that finds a column's bounds; it takes no delta."""
        question = bounded(values_by_bin(place, self.catalog, self._public), self.catalog)
        plan = make_plan(question, EpsilonTarget(epsilon, delta=0), self.catalog.budget)
        self._check(plan)
        return plan

    def _check_affordable(self, sql: str, first: BoundsFirst, finding: dict[Place, Plan]) -> None:
        """Refuse before anything is charged if what is left does not cover all parts."""
        unpaid = [plan for plan in finding.values() if not self._books.is_paid(plan)]
        if unpaid:
            # Whatever the bounds, the rest costs no more: keys that they make known take no delta.
            plans = [*unpaid, self._plan_with(sql, first, _assumed(first, Fraction(1)))]
            self._books.afford(plans)

    # ----------------------------------------------------------------------- charge, run, keep

    def _found(self, place: Place, plan: Plan) -> tuple[Bounds, bool]:
        """Return a column's bounds, and whether they were in the books."""
        paid = self._books.pay(plan, f"find_bounds({str(place)!r})")
        found = _read(place, plan, paid.noisy)
        if found is None:
            raise NothingFoundError(str(place), plan.epsilon)
        return found, paid.price.is_free


def _read(place: Place, plan: Plan, noisy: Noisy) -> Bounds | None:
    counts = [int(each) for each in noisy[0].rows.column("a0").to_numpy()]
    return bounds_read(plan.releases[0], counts, place.column.kind)


def _assumed(first: BoundsFirst, part: Fraction) -> dict[Place, Bounds]:
    return {place: assumed_bounds(place.column.kind, part=part) for place in first.places}
