"""The table that whole questions are timed on, made by DuckDB alone, and the questions."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import duckdb

import discreet
from benchmarks.report import RESULTS
from discreet.curator import Curator
from discreet.engines.duckdb.loading import load
from discreet.engines.duckdb.store import Store

ROWS_PER_UNIT = 10
SKEW = 1.2
"""Units with small numbers have more rows; the median has 10, one in a hundred 21 or more."""

REGIONS = tuple(f"region {number:02d}" for number in range(20))

VISITS = """
SELECT
    floor({units} * pow((hash(i, 'unit') >> 11)::DOUBLE / (1::UBIGINT << 53), {skew}))::INTEGER
        AS patient_id,
    'region ' || lpad((hash(i, 'region') % 20)::VARCHAR, 2, '0') AS region,
    'city ' || lpad((hash(i, 'city') % 20)::VARCHAR, 2, '0') AS city,
    DATE '2025-01-01' + (hash(i, 'day') % 365)::INTEGER AS day,
    (hash(i, 'age') % 101)::INTEGER AS age,
    (hash(i, 'cost') % 50001)::DOUBLE / 100 AS cost
FROM range({rows}) AS rows(i)
"""
"""Rows of one unit lie far apart, as in a table in the order of time."""

AREAS = """
SELECT 'region ' || lpad(i::VARCHAR, 2, '0') AS region, 'area ' || i % 5 AS area
FROM range(20) AS rows(i)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question, asked with noise and without."""

    name: str
    sql: str
    epsilon: Fraction = Fraction(1)
    delta: Fraction | None = None


QUESTIONS = (
    Question(name="COUNT(*)", sql="SELECT COUNT(*) AS n FROM visits"),
    Question(
        name="COUNT, SUM, AVG by 20 regions",
        sql="SELECT region, COUNT(*) AS n, SUM(cost) AS cost, AVG(age) AS age "
        "FROM visits GROUP BY region",
    ),
    Question(
        name="COUNT by 7300 undeclared groups",
        sql="SELECT city, day, COUNT(*) AS n FROM visits GROUP BY city, day",
        epsilon=Fraction(6),  # at 10^6 rows a key has 137, and most pass the threshold
        delta=Fraction(1, 10**6),
    ),
    Question(name="MEDIAN", sql="SELECT MEDIAN(cost) AS cost FROM visits"),
    Question(name="COUNT(DISTINCT unit)", sql="SELECT COUNT(DISTINCT patient_id) AS n FROM visits"),
    Question(
        name="COUNT(DISTINCT unit) by 20 regions, 2 of each unit",
        sql="SELECT region, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY region",
    ),
    Question(
        name="AVG by month, filtered",
        sql="SELECT MONTH(day) AS month, AVG(cost) AS cost FROM visits "
        "WHERE age >= 18 GROUP BY MONTH(day)",
    ),
    Question(
        name="COUNT by area, joined",
        sql="SELECT areas.area, COUNT(*) AS n FROM visits "
        "JOIN areas ON visits.region = areas.region GROUP BY areas.area",
    ),
)

BY_NAME: Mapping[str, Question] = {each.name: each for each in QUESTIONS}


def sources(rows: int) -> dict[str, Path]:
    """Return the files of both tables, written now if they are not there yet."""
    visits = VISITS.format(units=rows // ROWS_PER_UNIT, skew=SKEW, rows=rows)
    return {"visits": _file(visits), "areas": _file(AREAS)}


def open_visits(rows: int, ledger: Path | None = None) -> Curator:
    """Return a curator with a budget that no benchmark uses up."""
    return discreet.open(
        sources(rows),
        unit={"visits": "patient_id"},
        bounds={"age": (0, 120), "cost": (0, 500)},
        values={"visits.region": REGIONS},
        groups_per_unit={"visits": {"region": 2}},
        public=["areas"],
        epsilon=10**6,
        delta=0.1,
        ledger=ledger,
    )


def open_raw(rows: int) -> Store:
    """Return a store with the same tables and settings as the curator's, for plain SQL."""
    store = Store()
    for name, file in sources(rows).items():
        load(store.connection, name, file)
    store.seal()
    return store


def _file(sql: str) -> Path:
    file = RESULTS / f"{sha256(sql.encode()).hexdigest()[:12]}.parquet"
    if not file.exists():
        RESULTS.mkdir(parents=True, exist_ok=True)
        unfinished = file.with_suffix(".part")
        with duckdb.connect() as connection:
            connection.execute(f"COPY ({sql}) TO '{unfinished}' (FORMAT parquet)")
        unfinished.rename(file)
    return file
