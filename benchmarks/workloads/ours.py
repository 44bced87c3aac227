"""The workloads as discreet answers them, and as plain SQL: `python -m benchmarks.workloads.ours`.

The first argument is the way, the others are those of every child.
"""

import sys
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

import discreet
from benchmarks.workloads.child import Asking, Opening, serve
from benchmarks.workloads.data import Site
from benchmarks.workloads.questions import (
    BY_NAME,
    COST,
    COST_STEP,
    DELTA,
    EPSILON,
    MINUTES,
    REGIONS,
    ROWS_PER_UNIT,
    SEXES,
    Workload,
)
from discreet.curator import Curator
from discreet.engines.duckdb.loading import load
from discreet.engines.duckdb.store import Store

RAW, RAW_FILE = "raw", "raw-file"
PREPARED, PER_QUERY, COPY, LIMITED = "prepared", "per-query", "copy", "limited"

STEPS = 2**20
"""Steps of epsilon: each ask costs a little more than the one before, or it would be free."""


def open_raw(folder: Path, rows: int) -> Store:
    """Return a store with the tables in memory and the engine's own settings, for plain SQL."""
    store = Store()
    for table in _tables(folder, rows).items():
        load(store.connection, *table)
    store.seal()
    return store


def open_raw_file(folder: Path, rows: int) -> Store:
    """Return a store that reads the tables from a DuckDB file."""
    store = Store()
    store.connection.execute(f"ATTACH '{Site(folder=folder, rows=rows).raw}' AS raw (READ_ONLY)")
    for name in _tables(folder, rows):
        store.connection.execute(f"CREATE VIEW {name} AS FROM raw.{name}")
    store.seal()
    return store


def open_prepared(folder: Path, rows: int, way: str = PREPARED) -> Curator:
    """Return a curator of the Parquet files: loaded and prepared now."""
    return discreet.open(
        _tables(folder, rows),
        unit={"visits": "patient_id", "patients": "patient_id"},
        rows_per_unit={"visits": ROWS_PER_UNIT, "patients": 1},
        bounds={"visits.cost": COST, "visits.minutes": MINUTES},
        step={"visits.cost": COST_STEP},
        values={"visits.region": REGIONS, "patients.sex": SEXES},
        epsilon=10**6,
        delta=0.1,
        row_choice="once" if way == PREPARED else way,
    )


def open_per_query(folder: Path, rows: int) -> Curator:
    """Return a curator whose questions choose the rows that count one by one."""
    return open_prepared(folder, rows, PER_QUERY)


def open_copy(folder: Path, rows: int) -> Curator:
    """Return a curator that reads the copy that `discreet prepare` made; its books end with it."""
    return discreet.open(Site(folder=folder, rows=rows).catalog, ledger=":memory:")


def open_limited(folder: Path, rows: int) -> Curator:
    """Return the same with a limit of memory."""
    return discreet.open(Site(folder=folder, rows=rows).limited, ledger=":memory:")


def asked_raw(workload: Workload) -> Asking[Store]:
    def ask(store: Store, number: int) -> list[tuple[object, ...]]:
        del number
        with store.cursor() as cursor:
            rows: list[tuple[object, ...]] = cursor.sql(workload.sql).fetchall()
            return rows

    return ask


def asked(workload: Workload) -> Asking[Curator]:
    def ask(curator: Curator, number: int) -> list[list[object]]:
        epsilon = EPSILON * (1 + Fraction(number, STEPS))
        answer = curator.ask(workload.sql, epsilon=epsilon, delta=DELTA)
        return [list(row.values()) for row in answer.rows]

    return ask


OPENINGS_RAW: Mapping[str, Opening[Store]] = {RAW: open_raw, RAW_FILE: open_raw_file}
OPENINGS: Mapping[str, Opening[Curator]] = {
    PREPARED: open_prepared,
    PER_QUERY: open_per_query,
    COPY: open_copy,
    LIMITED: open_limited,
}


def _tables(folder: Path, rows: int) -> dict[str, Path]:
    site = Site(folder=folder, rows=rows)
    return {"visits": site.visits, "patients": site.patients}


def main() -> None:
    way = sys.argv.pop(1)
    if way in OPENINGS_RAW:
        serve(OPENINGS_RAW[way], {name: asked_raw(each) for name, each in BY_NAME.items()})
    else:
        serve(OPENINGS[way], {name: asked(each) for name, each in BY_NAME.items()})


if __name__ == "__main__":
    main()
