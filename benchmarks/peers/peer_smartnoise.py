"""SmartNoise SQL over data frames in memory, which it hands to SQLite; units bounded by its SQL."""

from pathlib import Path
from warnings import simplefilter

import pandas as pd
import snsql  # type: ignore[import-not-found]  # lives in its own environment
from snsql.metadata import Metadata  # type: ignore[import-not-found]

from benchmarks.workloads.child import Asking, Found, serve
from benchmarks.workloads.questions import COST, DELTA, EPSILON, MINUTES, ROWS_PER_UNIT

simplefilter("ignore")

VISITS = {
    "max_ids": ROWS_PER_UNIT,
    "sample_max_ids": True,
    "row_privacy": False,
    "censor_dims": True,
    "patient_id": {"type": "int", "private_id": True},
    "day_of_year": {"type": "int"},
    "region": {"type": "string"},
    "cost": {"type": "float", "lower": float(COST[0]), "upper": float(COST[1])},
    "minutes": {"type": "int", "lower": MINUTES[0], "upper": MINUTES[1]},
}


def visits(folder: Path, rows: int) -> tuple[pd.DataFrame, int]:
    """Return the visits; one column is renamed, as DAY is a word of its grammar."""
    columns = ["patient_id", "day", "region", "cost", "minutes"]
    frame = pd.read_parquet(folder / "visits.parquet", columns=columns)
    return frame.rename(columns={"day": "day_of_year"}), rows


def asked(sql: str) -> Asking[tuple[pd.DataFrame, int]]:
    """Return how a question is asked: the epsilon of each of its columns adds up to ours."""

    def ask(state: tuple[pd.DataFrame, int], _: int) -> Found:
        frame, rows = state
        metadata = Metadata.from_dict({"": {"main": {"visits": {**VISITS, "rows": rows}}}})
        asking = snsql.Privacy(epsilon=EPSILON, delta=DELTA)
        whole, _ = snsql.from_df(frame, privacy=asking, metadata=metadata).get_privacy_cost(sql)
        each = snsql.Privacy(epsilon=EPSILON * EPSILON / whole, delta=DELTA)
        return snsql.from_df(frame, privacy=each, metadata=metadata).execute(sql)[1:]

    return ask


ASKING = {
    "W1": asked("SELECT COUNT(*) AS n FROM main.visits"),
    "W2": asked(
        "SELECT region, COUNT(*) AS n, SUM(cost) AS cost, AVG(minutes) AS minutes "
        "FROM main.visits GROUP BY region"
    ),
    "W3": asked(
        "SELECT day_of_year, region, COUNT(*) AS n FROM main.visits GROUP BY day_of_year, region"
    ),
    "W5": asked("SELECT COUNT(DISTINCT patient_id) AS n FROM main.visits"),
}

REFUSED = {
    "W4": "it has no quantiles",
    "W6": "it answers on tables with one private key only, not on joins of two",
    "W7": "it has no aggregates of aggregates",
}

if __name__ == "__main__":
    serve(visits, ASKING, REFUSED)
