"""What coverage the ledger has: read in the same transaction as the answer, and free."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from discreet.bounds.histogram import ColumnRef
from discreet.catalog.catalog import Catalog
from discreet.catalog.schema import PrivateTable
from discreet.coverage.limits import Limits, clamped_column, limits_of
from discreet.coverage.measurements import Found, Measurement, Measurements, OutsideBounds
from discreet.coverage.shares import Share, UnitSizes
from discreet.known_releases import SavedTable
from discreet.planner import Planner
from discreet.query.plan import Plan
from discreet.query.plan.plan import PlannedRelease
from discreet.query.questions import Clamped
from discreet.reuse import Reuse
from discreet.tables import noisy_from_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCoverage:
    """What was measured of tables and columns, by their names."""

    sizes: Mapping[str, UnitSizes] = field(default_factory=dict)
    counted: Mapping[str, Share | None] = field(default_factory=dict)
    """The share of a table's rows that its limit counts; None if no unit stands out."""
    outside: Mapping[str, OutsideBounds] = field(default_factory=dict)
    catalog: Catalog | None = None
    """Whose bounds are declared; None if nobody knows."""

    def column(self, planned: PlannedRelease, clamped: Clamped) -> ColumnRef | None:
        """Return the column that is clamped to its declared bounds, if it is one."""
        return None if self.catalog is None else clamped_column(planned, clamped, self.catalog)

    def is_measured(self, table: PrivateTable) -> bool:
        return table.name in self.counted

    def rows(self, table: PrivateTable) -> Share | None:
        return self.counted.get(table.name)

    def values(self, ref: ColumnRef | None) -> OutsideBounds | None:
        return None if ref is None else self.outside.get(str(ref))


UNKNOWN = KnownCoverage()
"""Nothing was measured."""


class CoverageLookup:
    """Finds the measurements that were paid for, by anyone; reads what others have read."""

    def __init__(self, *, planner: Planner, reuse: Reuse, catalog: Catalog) -> None:
        self.measurements = Measurements(planner, catalog)
        self._reuse, self.catalog = reuse, catalog
        self._found: dict[str, Found] = {}
        self._shares: dict[tuple[str, int], Share | None] = {}

    def limits(self, plan: Plan) -> Limits:
        """Return what a plan limits and clamps."""
        return limits_of(plan, self.catalog)

    def wanted(self, limits: Limits) -> tuple[Measurement, ...]:
        """Return the measurements that tell about these limits."""
        rows = [Measurement(table=self._declared(each)) for each in limits.tables]
        values = [Measurement(table=each.table, ref=each) for each in limits.columns]
        return (*rows, *values)

    def known(
        self, wanted: Sequence[Measurement], saved: Sequence[Sequence[SavedTable]]
    ) -> KnownCoverage:
        """Return what saved tables tell, of each measurement the most exact one."""
        sizes: dict[str, UnitSizes] = {}
        counted: dict[str, Share | None] = {}
        outside: dict[str, OutsideBounds] = {}
        for measurement, tables in zip(wanted, saved, strict=True):
            best = self.best(measurement, tables)
            if best is None:
                continue
            found = self.read(measurement, best)
            if isinstance(found, UnitSizes):
                name = measurement.table.name
                sizes[name] = found
                counted[name] = self._share(best, found, measurement.table.rows_per_unit)
            else:
                outside[str(measurement.ref)] = found
        return KnownCoverage(sizes=sizes, counted=counted, outside=outside, catalog=self.catalog)

    def best(self, measurement: Measurement, tables: Sequence[SavedTable]) -> SavedTable | None:
        """Return the first saved table that is this measurement at its epsilon."""
        for each in tables:
            identity = self.measurements.plan(measurement, each.epsilon).identities[0]
            if self._reuse.is_called(each.name, identity):
                return each
        return None

    def read(self, measurement: Measurement, saved: SavedTable) -> Found:
        """Return what a saved table tells."""
        if saved.name not in self._found:
            noisy = noisy_from_bytes(saved.answer)
            self._found[saved.name] = self.measurements.read(measurement, saved.epsilon, noisy)
        return self._found[saved.name]

    def _share(self, saved: SavedTable, found: UnitSizes, limit: int) -> Share | None:
        place = saved.name, limit
        if place not in self._shares:
            self._shares[place] = found.share_counted(limit)
        return self._shares[place]

    def _declared(self, table: PrivateTable) -> PrivateTable:
        found = self.catalog.table(table.name)
        return found if isinstance(found, PrivateTable) else table
