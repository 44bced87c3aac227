"""Bounds that a query lacks, found privately before it is asked: each by a query of its own."""

from collections.abc import Callable, Mapping
from fractions import Fraction

from discreet.bounds import BoundsSearch, FoundBounds, bounds_from
from discreet.bounds.histogram import ColumnRef
from discreet.catalog.schema import Bounds
from discreet.errors import NothingFoundError
from discreet.executor import Executor
from discreet.known_releases import DataChange, KnownReleases
from discreet.planner import BoundPlan, Planner
from discreet.query.plan import Plan
from discreet.reuse import Reuse
from discreet.written import WrittenQuery


class BoundsFinder:
    """Finds bounds once: what was paid for is read, whoever paid."""

    def __init__(
        self, *, planner: Planner, reuse: Reuse, executor: Executor, warn: Callable[[Plan], None]
    ) -> None:
        self._planner, self._reuse, self._executor = planner, reuse, executor
        self._warn = warn

    def find(
        self, search: BoundsSearch, query: WrittenQuery, account: str
    ) -> tuple[FoundBounds, DataChange | None]:
        """Find missing bounds, each by a question of its own; say if the data changed.

        What cannot be answered or afforded is rejected before the first is charged.
        """
        finding = {ref: self._planner.bind(each) for ref, each in search.plans.items()}
        known = {ref: self._reuse.find(each.plan, account) for ref, each in finding.items()}
        unpaid = [search.plans[ref] for ref, each in known.items() if each.unpaid]
        if unpaid:
            # Whatever the bounds, the rest costs no more: keys that they make known take no delta.
            widest = self._planner.plan(query, search.target, search.with_placeholders())
            self._warn(widest.plan)
            self._executor.check_affordable([*unpaid, widest.plan], account)
        bounds, charged = {}, Fraction(0)
        for ref, bound in finding.items():
            bounds[ref], price = self.found(ref, bound, known[ref], account)
            charged += price
        found = FoundBounds(
            catalog=search.with_bounds(bounds),
            target=search.target,
            bounds=bounds,
            epsilon_each=search.epsilon_each,
            charged=charged,
        )
        return found, next((each.change for each in known.values() if each.change), None)

    def found(
        self, ref: ColumnRef, bound: BoundPlan, known: KnownReleases, account: str
    ) -> tuple[Bounds, Fraction]:
        """Return a column's bounds, and what was charged for them now."""
        note = f"find_bounds({str(ref)!r})"
        released = self._executor.execute(bound, known, note=note, account=account)
        found = bounds_from(ref, bound.plan, released.noisy)
        if found is None:
            raise NothingFoundError(str(ref), bound.plan.epsilon)
        return found, released.charged.epsilon

    def known(
        self, finding: Mapping[ColumnRef, BoundPlan], account: str
    ) -> dict[ColumnRef, Bounds] | None:
        """Return the bounds that were found before, if all of them were."""
        known = {}
        for ref, bound in finding.items():
            noisy = self._reuse.find(bound.plan, account).tables()
            bounds = None if noisy is None else bounds_from(ref, bound.plan, noisy)
            if bounds is None:
                return None
            known[ref] = bounds
        return known
