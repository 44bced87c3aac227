"""The rows, made by DuckDB from `range` and `hash`: the same on every machine."""

import json
from hashlib import sha256
from pathlib import Path

import duckdb

from benchmarks.accuracy.child import Rows
from benchmarks.accuracy.questions import (
    COST,
    COST_STEP,
    DIAGNOSES,
    DIAGNOSES_PER_UNIT,
    MINUTES,
    QUESTIONS,
    REGIONS,
    REGIONS_PER_UNIT,
    ROWS,
    ROWS_PER_UNIT,
)
from benchmarks.report import RESULTS

PART = "((hash(hash({of})) >> 11)::DOUBLE / (1::UBIGINT << 53))"
"""A number from 0 to 1 that follows from the numbers of the unit and its row alone."""

VISITS = f"""
WITH visits AS (
    SELECT u, k, {PART.format(of="u, k, 'cost'")} AS cost
    FROM range({ROWS}) AS units(u), range({ROWS_PER_UNIT}) AS of_unit(k)
    WHERE k <= u % {ROWS_PER_UNIT}
    ORDER BY u, k LIMIT {{rows}}
)
SELECT
    row_number() OVER (ORDER BY hash(u, k)) AS visit_id,
    u::INTEGER AS patient_id,
    'region ' || lpad(floor({len(REGIONS)} * pow(
        {PART.format(of=f"u, hash(u, k, 'place') % {REGIONS_PER_UNIT}, 'region'")}, 1.5
    ))::INTEGER::VARCHAR, 2, '0') AS region,
    'diagnosis ' || floor({DIAGNOSES} * pow(
        {PART.format(of=f"u, hash(u, k, 'illness') % {DIAGNOSES_PER_UNIT}, 'diagnosis'")}, 4
    ))::INTEGER AS diagnosis,
    round({round((COST[1] - COST[0]) / COST_STEP)} * pow(cost, 2)) / {round(1 / COST_STEP)} AS cost,
    floor({MINUTES[1]} * (cost + {PART.format(of="u, k, 'minutes'")}) / 2)::INTEGER AS minutes
FROM visits ORDER BY hash(u, k)
"""
"""A unit has 1 to 20 rows, in at most 3 regions and with at most 5 diagnoses."""


def make_visits(rows: int = ROWS, root: Path = RESULTS) -> Path:
    """Return the folder with visits.parquet, written now if it is not there yet."""
    sql = VISITS.format(rows=rows)
    folder = root / f"accuracy-{rows}-{sha256(sql.encode()).hexdigest()[:8]}"
    file = folder / "visits.parquet"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = file.with_suffix(".part")
        with duckdb.connect() as connection:
            connection.execute(f"COPY ({sql}) TO '{unfinished}' (FORMAT parquet)")
        unfinished.rename(file)
    return folder


def truths(folder: Path) -> dict[str, Rows]:
    """Return the exact answer to every question."""
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW visits AS FROM '{folder / 'visits.parquet'}'")
        found = {each.name: connection.execute(each.sql).fetchall() for each in QUESTIONS}
    return {name: json.loads(json.dumps(rows)) for name, rows in found.items()}
