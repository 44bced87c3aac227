"""A table's coverage: what was measured before, or else charged, run, released and kept now."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction

from discreet.amounts import Price, balance_from
from discreet.catalog.schema import Bounds, PrivateTable
from discreet.coverage.lookup import CoverageLookup
from discreet.coverage.measurements import (
    DEFAULT_PART,
    Found,
    Measurement,
    OutsideBounds,
    epsilons_of,
    measurements_of,
    table_named,
)
from discreet.coverage.shares import UnitSizes
from discreet.executor import Executor
from discreet.explanation.coverage import ClampedColumn, Coverage
from discreet.explanation.months import used_months, without_month
from discreet.explanation.notes import unit_of
from discreet.known_releases import SavedTable
from discreet.ledger import OWNER, AccountBalance
from discreet.parameters import Real, rational
from discreet.planner import Planner
from discreet.query.check import Checker
from discreet.reuse import Reuse


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What measurements tell, and what they cost."""

    found: Mapping[Measurement, Found]
    epsilon: Fraction
    """Of all of them, now or when they were paid for."""
    charged: Fraction
    balance: AccountBalance


class CoverageMeasurer:
    """Measures each thing once: what was paid for at no less epsilon is read, whoever paid."""

    def __init__(
        self, *, planner: Planner, reuse: Reuse, executor: Executor, lookup: CoverageLookup
    ) -> None:
        self._planner, self._reuse = planner, reuse
        self._executor, self._lookup = executor, lookup

    def coverage(
        self,
        name: str,
        epsilon: Real | None,
        columns: Collection[str] | None,
        account: str,
    ) -> Coverage:
        """Return the coverage of a table, for exactly epsilon or what was paid before."""
        catalog = self._lookup.catalog
        table = table_named(name, catalog)
        price = catalog.budget.epsilon * DEFAULT_PART
        if epsilon is not None:
            price = rational("epsilon", epsilon, above=0)
        wanted = epsilons_of(measurements_of(table, columns), price)
        return self._value(table, self.measure(wanted, account))

    def known(self, name: str) -> Coverage | None:
        """Return what was measured of a table at any epsilon; None if nothing was. It is free."""
        table = table_named(name, self._lookup.catalog)
        wanted = dict.fromkeys(measurements_of(table), Fraction(0))
        kept = self._kept(wanted)
        if not kept:
            return None
        measured = Measured(
            found={each: self._lookup.read(each, saved) for each, saved in kept.items()},
            epsilon=sum((each.epsilon for each in kept.values()), Fraction(0)),
            charged=Fraction(0),
            balance=self._reuse.balance(OWNER),
        )
        return self._value(table, measured)

    def _value(self, table: PrivateTable, measured: Measured) -> Coverage:
        checker = Checker(catalog=self._lookup.catalog, public=self._planner.public)
        return _value(table, unit_of(checker.scan(table).rows).name, measured)

    def measure(self, wanted: Mapping[Measurement, Fraction], account: str) -> Measured:
        """Measure what was not measured at this epsilon or a larger one.

        What cannot be afforded is rejected before the first is charged.
        """
        kept = self._kept(wanted)
        due = {each: epsilon for each, epsilon in wanted.items() if each not in kept}
        plans = {each: self._lookup.measurements.plan(each, due[each]) for each in due}
        known = {each: self._reuse.find(plan, account) for each, plan in plans.items()}
        unpaid = [plans[each] for each, found in known.items() if found.unpaid]
        if len(unpaid) > 1:
            self._executor.check_affordable(unpaid, account)
        found = {each: self._lookup.read(each, saved) for each, saved in kept.items()}
        charged = Fraction(0)
        balance = self._reuse.balance(account)
        for each, plan in plans.items():
            bound = self._planner.bind(plan)
            note = f"coverage({' '.join(filter(None, each.name))!r})"
            released = self._executor.execute(bound, known[each], note=note, account=account)
            found[each] = self._lookup.measurements.read(each, due[each], released.noisy[0])
            charged += released.charged.epsilon
            balance = released.balance
        epsilons = [kept[each].epsilon if each in kept else due[each] for each in wanted]
        return Measured(
            found={each: found[each] for each in wanted},
            epsilon=sum(epsilons, Fraction(0)),
            charged=charged,
            balance=balance,
        )

    def _kept(self, wanted: Mapping[Measurement, Fraction]) -> dict[Measurement, SavedTable]:
        """Return the saved tables of what was measured at no less epsilon."""
        identities = [self._lookup.measurements.identity(each) for each in wanted]
        found = {}
        for each, tables in zip(wanted, self._reuse.saved(identities), strict=True):
            best = self._lookup.best(each, tables)
            if best is not None and best.epsilon >= wanted[each]:
                found[each] = best
        return found


def _value(table: PrivateTable, unit: str, measured: Measured) -> Coverage:
    sizes = next((each for each in measured.found.values() if isinstance(each, UnitSizes)), None)
    is_new = measured.charged > 0
    return Coverage(
        table=table.name,
        unit="" if sizes is None else unit,
        rows_per_unit=table.rows_per_unit,
        rows=None if sizes is None else sizes.share_counted(table.rows_per_unit),
        largest=None if sizes is None else sizes.largest,
        columns=tuple(
            _column(measurement, found)
            for measurement, found in measured.found.items()
            if isinstance(found, OutsideBounds)
        ),
        price=Price(epsilon=measured.charged if is_new else measured.epsilon),
        remaining=balance_from(measured.balance.remaining, measured.balance.limit),
        from_ledger=not is_new,
        sizes=sizes,
        months_per_unit=used_months(table),
        without_month="" if table.by_month is None else without_month(table.by_month),
    )


def _column(measurement: Measurement, found: OutsideBounds) -> ClampedColumn:
    assert measurement.ref is not None  # noqa: S101 - it is about a column
    bounds = measurement.ref.column.bounds
    assert isinstance(bounds, Bounds)  # noqa: S101 - only such are measured
    return ClampedColumn(
        name=measurement.ref.column.name,
        low=bounds.low,
        high=bounds.high,
        below=found.below,
        above=found.above,
    )
