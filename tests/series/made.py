"""Visits that arrive over days, a series over them, and what it must count, computed by hand."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from discreet.catalog.arguments import declare
from discreet.catalog.resolve import resolve
from discreet.engines.base import Engine
from discreet.engines.public_store import PublicStore
from discreet.planner import Planner
from discreet.query.plan.series import plan_series
from discreet.query.plan.ticks import SeriesPlan
from tests.engines.contract import engine_of
from tests.replay import ReplayableEntropy

FIRST = datetime(2026, 1, 5)  # a Monday
CLINICS = ("north", "south")
TICKS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A row, as the table has it."""

    patient: int | None
    clinic: str | None
    cost: int | None
    arrived: datetime | None


def visits(count: int, seed: int, patients: int = 5) -> list[Visit]:
    """Return rows from before the first tick to after the last one, some of them odd."""
    source = ReplayableEntropy(seed)

    def below(count: int) -> int:
        return int.from_bytes(source.draw(8)) % count

    def one_of(*choices: Any) -> Any:
        return choices[below(len(choices))]

    return [
        Visit(
            patient=one_of(*range(patients), None),
            clinic=one_of(*CLINICS, "east", None),
            cost=one_of(None, -5, 0, 3, 7, 10, 99),
            arrived=None
            if below(10) == 0
            else FIRST + timedelta(hours=below(24 * TICKS + 70) - 30),
        )
        for _ in range(count)
    ]


MICROSECONDS = pa.timestamp("us")


def table_of(rows: Iterable[Visit], arrival: pa.DataType = MICROSECONDS) -> pa.Table:
    """Return rows as a table, with arrival times of a type."""
    found = list(rows)
    times: list[Any] = [each.arrived for each in found]
    if pa.types.is_date(arrival):
        times = [None if each is None else each.date() for each in times]
    return pa.table(
        {
            "patient": pa.array([each.patient for each in found], pa.int64()),
            "clinic": pa.array([each.clinic for each in found], pa.string()),
            "cost": pa.array([each.cost for each in found], pa.int64()),
            "arrived": pa.array(times, arrival),
        }
    )


DECLARED: Mapping[str, Any] = {
    "epsilon": 10,
    "delta": 1e-6,
    "unit": "patient",
    "values": {"clinic": list(CLINICS)},
    "bounds": {"cost": (0, 10)},
    "arrival": "arrived",
}

BY_CLINIC = "SELECT clinic, COUNT(*) AS n, SUM(cost) AS cost FROM visits GROUP BY clinic"


def series_of(**changed: Any) -> dict[str, Any]:
    """Return a series as the catalog declares it."""
    return {
        "name": "visits",
        "question": BY_CLINIC,
        "clock": "day",
        "first": FIRST.date(),
        "ticks": TICKS,
        "epsilon": 1,
        "rows_per_unit": 3,
        **changed,
    }


def plan_over(
    engine: Engine, *, declared: Mapping[str, Any] = DECLARED, **series: Any
) -> SeriesPlan:
    """Return the plan of a series over the visits of an engine."""
    terms = {**declared, "series": [series_of(**series)]}
    catalog = resolve(declare({"visits": None}, **terms), engine.columns)
    planner = Planner(engine=engine, public=PublicStore({}))
    (policy,) = catalog.series
    question = planner.checked(policy.question, catalog)
    return plan_series(policy, question, catalog.budget)


def increments_over(
    name: str, rows: Iterable[Visit], *, kind: pa.DataType = MICROSECONDS, **series: Any
) -> tuple[SeriesPlan, list[np.ndarray[Any, Any]]]:
    """Return the plan of a series over rows in an engine, and what arrives at each tick."""
    with closing(engine_of(name, {"visits": table_of(rows, kind)})) as engine:
        plan = plan_over(engine, **series)
        return plan, exact_increments(engine, plan, plan.policy.ticks)


def exact_increments(engine: Engine, plan: SeriesPlan, last: int) -> list[np.ndarray[Any, Any]]:
    """Return what arrives at each tick, for each measure, as the engine has it: ticks by groups."""
    tables = [engine.run(engine.bind(each), ()).unseal() for each in plan.queries(last)]
    places = {keys: number for number, keys in enumerate(plan.tick_keys(last))}
    found = []
    for measure in plan.measures:
        cells = np.zeros(len(places), object)
        for row in tables[plan.query_of(measure)].to_pylist():
            keys = tuple(row[f"k{number}"] for number in range(len(plan.key_kinds)))
            if keys in places:
                sums = [int(row[name] or 0) for name in measure.columns]
                (cell,) = measure.measure.cells
                cells[places[keys]] += sum(a * b for a, b in zip(cell, sums, strict=True))
        found.append(cells.reshape(last, len(plan.groups)))
    return found


def counted(
    rows: Sequence[Visit], most: int, in_tick: int | None = None
) -> Counter[tuple[int, Any]]:
    """Return how many rows count in each tick and clinic, computed by hand."""
    used: Counter[Any] = Counter()
    found: Counter[tuple[int, Any]] = Counter()
    known = [each for each in rows if each.patient is not None and each.arrived is not None]
    # Ties are broken by what the rows contain; these rows have no ties of one patient.
    for each in sorted(known, key=lambda visit: visit.arrived or FIRST):
        assert each.arrived is not None
        tick = (each.arrived - FIRST) // timedelta(days=1) + 1
        if not 1 <= tick <= TICKS or used[each.patient] >= most:
            continue
        if in_tick is not None and used[each.patient, tick] >= in_tick:
            continue
        used[each.patient] += 1
        used[each.patient, tick] += 1
        found[tick, each.clinic] += 1
    return found
