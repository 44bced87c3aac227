"""The measurements of a table's coverage, what each costs, and how the ledger knows them.

A measurement at any epsilon is about the same rows and groups, so all that were ever paid for begin
with the same name in the ledger; the one for the largest epsilon is read. Who paid does not matter.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.bounds.histogram import ColumnRef
from discreet.catalog.catalog import Catalog, column_of
from discreet.catalog.schema import Bounds, Column, PrivateTable
from discreet.coverage.limits import may_be_cut
from discreet.coverage.questions import ABOVE, BELOW, rows_question, values_question
from discreet.coverage.shares import Share, UnitSizes, share_of
from discreet.errors import CatalogError, ParameterError, UnknownNameError
from discreet.parameters import did_you_mean
from discreet.planner import Planner
from discreet.query.plan import Plan
from discreet.query.plan.identity import Identity
from discreet.query.plan.plan import EpsilonTarget
from discreet.query.questions import Question
from discreet.tables import NoisyTable

DEFAULT_PART = Fraction(1, 20)
"""What the coverage of a table costs by default, as a part of the total epsilon."""

ROWS_PART = Fraction(2, 3)
"""Of that, for rows of units. Columns share the rest equally."""

ANY = Fraction(1)
"""Stands for the epsilon where only rows and groups matter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One histogram: of the rows of a table's units, or of the values of a column."""

    table: PrivateTable
    ref: ColumnRef | None = None
    """The column; None for rows of units."""

    @property
    def name(self) -> tuple[str, str | None]:
        return self.table.name, None if self.ref is None else self.ref.column.name


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideBounds:
    """The shares of values below and above the bounds of a column."""

    below: Share
    above: Share

    @property
    def is_known(self) -> bool:
        """Whether both are narrow enough to be of use."""
        return self.below.is_known and self.above.is_known


Found = UnitSizes | OutsideBounds
"""What a released measurement tells."""


class Measurements:
    """Plans measurements over one catalog, and reads what was released."""

    def __init__(self, planner: Planner, catalog: Catalog) -> None:
        self._planner, self._catalog = planner, catalog
        self._plans: dict[tuple[tuple[str, str | None], Fraction], Plan] = {}

    def plan(self, measurement: Measurement, epsilon: Fraction) -> Plan:
        """Return the plan of a measurement; it takes no delta."""
        place = measurement.name, epsilon
        if place not in self._plans:
            question, catalog = self._question(measurement), self._catalog
            target = EpsilonTarget(epsilon, delta=0)
            self._plans[place] = self._planner.draft_question(question, target, catalog)
        return self._plans[place]

    def identity(self, measurement: Measurement) -> Identity:
        """Return what it shares with the same measurement at any epsilon."""
        return self.plan(measurement, ANY).identities[0]

    def read(self, measurement: Measurement, epsilon: Fraction, noisy: NoisyTable) -> Found:
        """Return what a released table tells."""
        part = self.plan(measurement, epsilon).releases[0].components[0]
        total = part.measure.total
        scale = float(part.noise.scale) / total
        cells = [
            noisy.rows.column(f"m{number}").to_numpy().astype(float) / total
            for number in range(len(part.measure.cells))
        ]
        if measurement.ref is None:
            return UnitSizes(lower=cells[0], upper=cells[1], scale=scale)
        values = np.asarray(cells[0], float)
        return OutsideBounds(
            below=share_of(values, scale, BELOW), above=share_of(values, scale, ABOVE)
        )

    def _question(self, measurement: Measurement) -> Question:
        public, ref = self._planner.public, measurement.ref
        if ref is None:
            return rows_question(measurement.table, self._catalog, public)
        assert isinstance(ref.column.bounds, Bounds)  # noqa: S101 - only such are measured
        return values_question(ref, ref.column.bounds, self._catalog, public)


# --------------------------------------------------------------------------- of a table


def table_named(name: str, catalog: Catalog) -> PrivateTable:
    """Return the private table of this name, or reject it."""
    if not isinstance(name, str):
        raise ParameterError("table", name, 'must be the name of a table, such as "visits"')
    table = catalog.table(name)
    if isinstance(table, PrivateTable):
        return table
    if table is not None:
        raise ParameterError("table", name, "must be a private table: all of a public one is used")
    known = [each.name for each in catalog.tables if isinstance(each, PrivateTable)]
    fix = did_you_mean(name, known, otherwise=f"Private tables: {', '.join(known)}")
    raise UnknownNameError("There is no private table of this name", fix)


def measurements_of(
    table: PrivateTable, columns: Collection[str] | None = None
) -> tuple[Measurement, ...]:
    """Return what coverage measures of a table: rows of units, if any can be left out, and columns.

    These are all numbers with declared bounds, or those that are named.
    """
    rows = (Measurement(table=table),) if may_be_cut(table) else ()
    values = [Measurement(table=table, ref=each) for each in _columns(table, columns)]
    if not rows and not values:
        raise CatalogError(
            f"there is nothing to measure in {table.name}: no rows can be left out, and no column "
            "has bounds",
            "Declare bounds of the columns that are summed",
        )
    return (*rows, *values)


def _columns(table: PrivateTable, names: Collection[str] | None) -> list[ColumnRef]:
    if names is None:
        return [ColumnRef(table=table, column=each) for each in table.columns if _is_bounded(each)]
    if isinstance(names, str) or not isinstance(names, Collection):
        raise ParameterError("columns", names, 'must be a list of columns, such as ["cost"]')
    found = {}
    for name in names:
        column = column_of(table, name) if isinstance(name, str) else None
        if column is None or not _is_bounded(column):
            rule = f"must be numbers of {table.name} with declared bounds"
            raise ParameterError("columns", name, rule)
        found[column.name] = ColumnRef(table=table, column=column)
    return list(found.values())


def _is_bounded(column: Column) -> bool:
    return isinstance(column.bounds, Bounds) and column.kind.is_number


def epsilons_of(
    measurements: Sequence[Measurement], epsilon: Fraction
) -> dict[Measurement, Fraction]:
    """Return what each measurement takes of epsilon; they add up to exactly that."""
    values = [each for each in measurements if each.ref is not None]
    rows = [each for each in measurements if each.ref is None]
    for_rows = epsilon * (ROWS_PART if values else 1) if rows else Fraction(0)
    each_value = (epsilon - for_rows) / max(1, len(values))
    return {each: for_rows if each.ref is None else each_value for each in measurements}
