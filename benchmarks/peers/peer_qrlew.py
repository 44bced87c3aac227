"""Qrlew: it rewrites SQL into SQL with noise, which DuckDB runs on tables in memory."""

import json
from pathlib import Path

import duckdb
import pyqrlew  # type: ignore[import-not-found]  # lives in its own environment
import sqlalchemy

from benchmarks.workloads.child import Asking, Found, serve
from benchmarks.workloads.questions import (
    BY_NAME,
    COST,
    DAYS,
    DELTA,
    EPSILON,
    MINUTES,
    REGIONS,
    ROWS_PER_UNIT,
    SEXES,
)

SCHEMA = (
    "CREATE TABLE visits (patient_id INTEGER, day INTEGER, region TEXT, cost FLOAT, "
    "minutes INTEGER)",
    "CREATE TABLE patients (patient_id INTEGER, sex TEXT, birth_year INTEGER)",
)
UNIT: list[tuple[str, list[str], str]] = [
    ("visits", [], "patient_id"),
    ("patients", [], "patient_id"),
]


class Database:
    """Both tables in DuckDB, and what is public of them, as the library wants to be told."""

    def __init__(self, folder: Path, rows: int) -> None:
        self.connection = duckdb.connect()
        for name in ("visits", "patients"):
            file = folder / f"{name}.parquet"
            self.connection.execute(f"CREATE TABLE {name} AS FROM '{file}'")
        units = rows // 10
        dataset = _sized(_schema(), {"visits": rows, "patients": units})
        for column, low, high in (
            ("patient_id", 0, units),
            ("day", 0, DAYS - 1),
            ("cost", *COST),
            ("minutes", *MINUTES),
        ):
            dataset = dataset.with_range(None, "visits", column, low, high)
        self.dataset = dataset.with_range(None, "patients", "patient_id", 0, units)


def _schema() -> pyqrlew.Dataset:
    """Return the library's picture of tables, which it takes from a database only."""
    pool = sqlalchemy.pool.StaticPool
    engine = sqlalchemy.create_engine("sqlite://", poolclass=pool)
    with engine.begin() as connection:
        for each in SCHEMA:
            connection.execute(sqlalchemy.text(each))
    return pyqrlew.dataset_from_database("db", engine)


def _sized(dataset: pyqrlew.Dataset, sizes: dict[str, int]) -> pyqrlew.Dataset:
    """Return the same with numbers of rows, on which its noise for unknown keys depends."""
    told = dict(line.split(": ", 1) for line in str(dataset).splitlines() if ": " in line)
    size = json.loads(dataset.size)
    for each in size["statistics"]["union"]["fields"]:
        each["statistics"]["struct"]["size"] = str(sizes[each["name"]])
    return pyqrlew.Dataset.from_str(told["Dataset"], dataset.schema, json.dumps(size))


def asked(
    name: str, groups: int, values: dict[tuple[str, str], tuple[str, ...]]
) -> Asking[Database]:
    """Return how a workload is asked; a unit counts in so many groups, of these public keys."""

    def ask(database: Database, _: int) -> Found:
        dataset = database.dataset
        for (table, column), known in values.items():
            dataset = dataset.with_possible_values(None, table, column, known)
        rewritten = dataset.relation(BY_NAME[name].sql).rewrite_with_differential_privacy(
            dataset=dataset,
            privacy_unit=UNIT,
            epsilon_delta={"epsilon": float(EPSILON), "delta": DELTA},
            max_multiplicity=float(ROWS_PER_UNIT),
            max_multiplicity_share=1.0,
            max_privacy_unit_groups=groups,
        )
        sql = rewritten.relation().to_query(pyqrlew.Dialect.PostgreSql)
        return database.connection.execute(sql).fetchall()

    return ask


ASKING = {
    "W1": asked("W1", 1, {}),
    "W2": asked("W2", ROWS_PER_UNIT, {("visits", "region"): REGIONS}),
    "W3": asked("W3", ROWS_PER_UNIT, {}),
    "W5": asked("W5", 1, {}),
    "W6": asked("W6", 1, {("patients", "sex"): SEXES}),
    "W7": asked("W7", 1, {}),
}
REFUSED = {"W4": "it has no quantiles"}

if __name__ == "__main__":
    serve(Database, ASKING, REFUSED)
