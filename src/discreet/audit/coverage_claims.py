"""Coverage as subjects: released as in a query, on two tables of which one lacks a unit.

The exact tables come from the engine once for each table, and are released again and again.
"""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.audit.subjects import Draw, Subject, SubjectKind
from discreet.catalog.arguments import declare
from discreet.catalog.resolve import resolve
from discreet.coverage.measurements import Measurements, measurements_of, table_named
from discreet.engines.duckdb import DuckDbEngine
from discreet.engines.public_store import PublicStore
from discreet.mechanisms.geometric import Geometric
from discreet.opening.open import prepared_in
from discreet.planner import Planner
from discreet.query.plan.plan import PlannedRelease
from discreet.release import release
from discreet.tables import ExactTable, NoisyTable

EPSILON = Fraction(1)
RUNS = 5_000
LIMIT = 3
BOUNDS = {"x": (0, 8)}

OTHERS = [(1, 1.0), (2, 9.0), (2, 0.5), (3, 0.5)]
"""Units and values that are in both tables."""

VICTIM = [(0, 9.0)] * 512
"""Of one unit: so many rows that all of its mass is in one cell, all above the bounds."""

Alter = Callable[[PlannedRelease], PlannedRelease]


def subjects() -> tuple[Subject, ...]:
    """Return both measurements as they are."""
    return (_subject("rows of units"), _subject("values by bounds", is_values=True))


def broken_subjects() -> tuple[Subject, ...]:
    """Return them with half of the noise that is charged for."""
    return (
        _subject("rows of units, half the noise", _narrowed),
        _subject("values by bounds, half the noise", _narrowed, is_values=True),
    )


def _subject(name: str, alter: Alter | None = None, *, is_values: bool = False) -> Subject:
    return Subject(
        name=f"coverage: {name}",
        kind=SubjectKind.QUESTION,
        epsilon=EPSILON,
        here=_draw([*VICTIM, *OTHERS], alter, is_values=is_values),
        there=_draw(OTHERS, alter, is_values=is_values),
        is_broken=alter is not None,
        runs=RUNS,
    )


def _draw(rows: list[tuple[int, float]], alter: Alter | None, *, is_values: bool) -> Draw:
    def drawn(count: int) -> NDArray[np.int64]:
        units, values = zip(*rows, strict=True)
        table = pa.table({"u": pa.array(units), "x": pa.array(values)})
        with closing(DuckDbEngine.load({"t": table})) as engine:
            planned, exact = _planned(engine, is_values=is_values)
        chosen = planned if alter is None else alter(planned)
        return np.stack([_cells(release(chosen, exact)) for _ in range(count)])

    return drawn


def _planned(
    engine: DuckDbEngine, *, is_values: bool
) -> tuple[PlannedRelease, tuple[ExactTable, ...]]:
    """Return a measurement as it is planned for these data, and its exact tables."""
    declared = declare({"t": None}, unit="u", rows_per_unit=LIMIT, bounds=BOUNDS, epsilon=1000)
    catalog = prepared_in(resolve(declared, engine.columns), engine)
    planner = Planner(engine=engine, public=PublicStore({}))
    rows, values = measurements_of(table_named("t", catalog))
    plan = Measurements(planner, catalog).plan(values if is_values else rows, EPSILON)
    (statements,) = planner.bind(plan).statements
    return plan.releases[0], tuple(engine.run(each, ()) for each in statements)


def _cells(noisy: NoisyTable) -> NDArray[np.int64]:
    """Return all numbers of a release that have noise."""
    names = [each for each in noisy.rows.column_names if each.startswith("m")]
    return np.concatenate([noisy.rows.column(each).to_numpy() for each in names])


def _narrowed(planned: PlannedRelease) -> PlannedRelease:
    (measured,) = planned.components
    noise = Geometric(epsilon=2 * EPSILON, sensitivity=measured.measured.sensitivity)
    return replace(planned, components=(replace(measured, noise=noise),))
