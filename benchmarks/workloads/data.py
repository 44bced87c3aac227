"""The data of all workloads: two Parquet files that DuckDB makes of nothing but numbers of rows."""

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import duckdb

from benchmarks.report import RESULTS
from benchmarks.workloads.child import Rows
from benchmarks.workloads.questions import (
    COST,
    COST_STEP,
    DAYS,
    MINUTES,
    REGIONS,
    ROWS_PER_UNIT,
    SEXES,
    WORKLOADS,
    Workload,
)

MEAN_ROWS_OF_UNIT = 10
SKEW = 1.2
"""Units with small numbers have more rows: one in a hundred has more than the limit of 20."""

PART = "(hash(hash(i, '{name}')) >> 11)::DOUBLE / (1::UBIGINT << 53)"
"""A number from 0 to 1 that follows from the number of the row alone."""

VISITS = """
SELECT
    floor({units} * pow({unit}, {skew}))::INTEGER AS patient_id,
    (hash(hash(i, 'day')) % {days})::INTEGER AS day,
    'region ' || lpad(floor({regions} * pow({region}, 1.5))::INTEGER::VARCHAR, 2, '0') AS region,
    round({steps} * pow({cost}, 2)) / {steps_of_one} AS cost,
    floor({minutes} * {minute})::INTEGER AS minutes,
    'diagnosis ' || floor(500 * pow({diagnosis}, 4))::INTEGER AS diagnosis
FROM range({rows}) AS rows(i)
"""
"""Rows of one unit lie far apart, as in a table in the order of time."""

PATIENTS = """
SELECT i::INTEGER AS patient_id, {sexes}[1 + (hash(hash(i, 'sex')) % {kinds})::INTEGER] AS sex,
    (1930 + hash(hash(i, 'birth')) % 90)::INTEGER AS birth_year
FROM range({units}) AS rows(i)
"""

WEIGHTED = f"""
WITH weighted AS (
    SELECT visits.*, least(1, {ROWS_PER_UNIT} / units.n) AS weight FROM visits
    JOIN (SELECT patient_id, count(*) AS n FROM visits GROUP BY patient_id) AS units
    USING (patient_id)
)
"""

CATALOG = f"""
[budget]
epsilon = 1000000
delta = 0.1

[tables.visits]
from = "visits.parquet"
unit = "patient_id"
rows_per_unit = {ROWS_PER_UNIT}

[tables.visits.columns]
cost = {{ bounds = {list(COST)}, step = {COST_STEP} }}
minutes = {{ bounds = {list(MINUTES)} }}
region = {{ values = {list(REGIONS)} }}

[tables.patients]
from = "patients.parquet"
unit = "patient_id"
rows_per_unit = 1

[tables.patients.columns]
sex = {{ values = {list(SEXES)} }}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A folder with the data of one size, and where its other forms are when they are made."""

    folder: Path
    rows: int

    @property
    def visits(self) -> Path:
        return self.folder / "visits.parquet"

    @property
    def patients(self) -> Path:
        return self.folder / "patients.parquet"

    @property
    def raw(self) -> Path:
        """A DuckDB file with the same tables."""
        return self.folder / "raw.duckdb"

    @property
    def catalog(self) -> Path:
        return self.folder / "discreet.toml"

    @property
    def limited(self) -> Path:
        """A catalog with a limit of memory."""
        return self.folder / "limited.toml"


def make_site(rows: int, root: Path = RESULTS) -> Site:
    """Return the data of so many visits, written now if they are not there yet."""
    units = max(1, rows // MEAN_ROWS_OF_UNIT)
    parts = ("unit", "region", "cost", "minute", "diagnosis")
    visits = VISITS.format(
        **{name: PART.format(name=name) for name in parts},
        rows=rows,
        units=units,
        skew=SKEW,
        days=DAYS,
        regions=len(REGIONS),
        steps=round((COST[1] - COST[0]) / COST_STEP),
        steps_of_one=round(1 / COST_STEP),
        minutes=MINUTES[1] + 1,
    )
    patients = PATIENTS.format(sexes=list(SEXES), kinds=len(SEXES), units=units)
    key = sha256(f"{visits}{patients}{CATALOG}".encode()).hexdigest()[:8]
    site = Site(folder=root / f"workloads-{rows}-{key}", rows=rows)
    site.folder.mkdir(parents=True, exist_ok=True)
    _write_parquet(visits, site.visits)
    _write_parquet(patients, site.patients)
    site.catalog.write_text(CATALOG, encoding="utf-8")
    return site


def make_raw(site: Site) -> None:
    """Load the tables into a DuckDB file, if that was not done yet."""
    if site.raw.exists():
        return
    unfinished = site.raw.with_suffix(".part")
    unfinished.unlink(missing_ok=True)
    with duckdb.connect(str(unfinished)) as connection:
        for table in (site.visits, site.patients):
            connection.execute(f"CREATE TABLE {table.stem} AS FROM '{table}'")
    unfinished.rename(site.raw)


def truths(site: Site) -> dict[str, Rows]:
    """Return what each workload comes to, computed once for each size and kept."""
    make_raw(site)
    key = sha256(repr((WEIGHTED, WORKLOADS)).encode()).hexdigest()[:8]
    file = site.folder / f"truth-{key}.json"
    if not file.exists():
        with duckdb.connect(str(site.raw), read_only=True) as connection:
            found = {each.name: _truth(connection, each) for each in WORKLOADS}
        file.write_text(json.dumps(found), encoding="utf-8")
    kept: dict[str, Rows] = json.loads(file.read_text(encoding="utf-8"))
    return kept


def share_cut(site: Site) -> float:
    """Return the share of rows that the limits leave out."""
    ((kept,),) = truths(site)["W1"]
    return 1 - float(kept) / site.rows


def _truth(connection: duckdb.DuckDBPyConnection, workload: Workload) -> Rows:
    sql = workload.sql if workload.weighted is None else WEIGHTED + workload.weighted
    return [list(row) for row in connection.execute(sql).fetchall()]


def _write_parquet(sql: str, file: Path) -> None:
    if not file.exists():
        unfinished = file.with_suffix(".part")
        with duckdb.connect() as connection:
            connection.execute(f"COPY ({sql}) TO '{unfinished}' (FORMAT parquet)")
        unfinished.rename(file)
