"""Tumult Analytics on a local Spark, the tables cached in memory; units bounded by the library."""

import os
import sys
from pathlib import Path
from typing import Any, TypeAlias
from warnings import simplefilter

simplefilter("ignore")
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

from pyspark.sql import SparkSession  # noqa: E402
from tmlt.analytics import (  # type: ignore[import-not-found]  # noqa: E402
    AddRowsWithID,
    ApproxDPBudget,
    ColumnType,
    KeySet,
    MaxRowsPerID,
    QueryBuilder,
    Session,
)

from benchmarks.workloads.child import Asking, Found, serve  # noqa: E402
from benchmarks.workloads.questions import (  # noqa: E402
    COST,
    DELTA,
    EPSILON,
    MINUTES,
    REGIONS,
    ROWS_PER_UNIT,
    SEXES,
    TOTAL,
)

UNIT = "patient_id"
Untyped: TypeAlias = Any
REGION_KEYS = {"region": list(REGIONS)}


class Tables:
    """Both tables in Spark's memory, and sessions with a fresh budget over them."""

    def __init__(self, folder: Path, rows: int) -> None:
        del rows
        builder = SparkSession.builder.master(f"local[{os.cpu_count()}]")
        for key, value in (
            ("spark.driver.memory", "8g"),
            ("spark.sql.shuffle.partitions", "4"),
            ("spark.ui.enabled", "false"),
            ("spark.ui.showConsoleProgress", "false"),
            ("spark.sql.warehouse.dir", str(folder / "spark-warehouse")),
        ):
            builder = builder.config(key, value)
        self.spark = builder.getOrCreate()
        self.spark.sparkContext.setLogLevel("ERROR")
        self.frames = {
            name: self.spark.read.parquet(str(folder / f"{name}.parquet")).cache()
            for name in ("visits", "patients")
        }
        for each in self.frames.values():
            each.count()

    def session(self) -> Untyped:
        """Return a session whose budget is that of one question."""
        builder = Session.Builder().with_privacy_budget(ApproxDPBudget(EPSILON, DELTA))
        builder = builder.with_id_space("patients")
        for name, frame in self.frames.items():
            builder = builder.with_private_dataframe(
                name, frame, protected_change=AddRowsWithID(UNIT, "patients")
            )
        return builder.build()


def part(share: float, delta: float = 0.0) -> Untyped:
    return ApproxDPBudget(EPSILON * share, delta)


def visits() -> Untyped:
    return QueryBuilder("visits").enforce(MaxRowsPerID(ROWS_PER_UNIT))


def count(tables: Tables, _: int) -> Found:
    return tables.session().evaluate(visits().count(), part(1)).collect()


def by_region(tables: Tables, _: int) -> Found:
    session, keys = tables.session(), KeySet.from_dict(REGION_KEYS)
    grouped = visits().groupby(keys)
    queries = grouped.count(), grouped.sum("cost", *COST), grouped.average("minutes", *MINUTES)
    counts, costs, minutes = (
        dict(map(tuple, session.evaluate(query, part(1 / 3)).collect())) for query in queries
    )
    return [(key, counts[key], costs[key], minutes[key]) for key in counts]


def by_unknown_keys(tables: Tables, _: int) -> Found:
    session = tables.session()
    found = session.evaluate(visits().get_groups(["day", "region"]), part(0.5, DELTA))
    query = visits().groupby(KeySet.from_dataframe(found)).count()
    return session.evaluate(query, part(0.5)).collect()


def median(tables: Tables, _: int) -> Found:
    return tables.session().evaluate(visits().median("cost", *COST), part(1)).collect()


def count_units(tables: Tables, _: int) -> Found:
    query = QueryBuilder("visits").count_distinct([UNIT])
    return tables.session().evaluate(query, part(1)).collect()


def joined(tables: Tables, _: int) -> Found:
    session = tables.session()
    both = QueryBuilder("visits").join_private(QueryBuilder("patients"))
    grouped = both.enforce(MaxRowsPerID(ROWS_PER_UNIT)).groupby(
        KeySet.from_dict({"sex": list(SEXES)})
    )
    counts, costs = (
        dict(map(tuple, session.evaluate(query, part(0.5)).collect()))
        for query in (grouped.count(), grouped.average("cost", *COST))
    )
    return [(key, counts[key], costs[key]) for key in counts]


def mean_of_totals(tables: Tables, _: int) -> Found:
    totals = QueryBuilder("visits").flat_map_by_id(
        lambda rows: [{"total": float(sum(row["cost"] for row in rows))}],
        new_column_types={"total": ColumnType.DECIMAL},
    )
    query = totals.enforce(MaxRowsPerID(1)).average("total", *TOTAL)
    return tables.session().evaluate(query, part(1)).collect()


ASKING: dict[str, Asking[Tables]] = {
    "W1": count,
    "W2": by_region,
    "W3": by_unknown_keys,
    "W4": median,
    "W5": count_units,
    "W6": joined,
    "W7": mean_of_totals,
}

if __name__ == "__main__":
    serve(Tables, ASKING)
