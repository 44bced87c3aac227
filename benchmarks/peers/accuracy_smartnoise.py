"""SmartNoise SQL over a data frame in memory, which it hands to SQLite."""

from pathlib import Path
from typing import Any
from warnings import simplefilter

import pandas as pd
import snsql  # type: ignore[import-not-found]  # lives in its own environment
from snsql.metadata import Metadata  # type: ignore[import-not-found]

from benchmarks.accuracy.child import Asking, Found, serve
from benchmarks.accuracy.questions import (
    BY_NAME,
    COST,
    DELTA,
    EPSILON,
    MINUTES,
    ROWS,
    ROWS_PER_UNIT,
)

simplefilter("ignore")

VISITS = {
    "max_ids": ROWS_PER_UNIT,
    "sample_max_ids": True,
    "row_privacy": False,
    "rows": ROWS,
    "patient_id": {"type": "int", "private_id": True},
    "region": {"type": "string"},
    "diagnosis": {"type": "string"},
    "cost": {"type": "float", "lower": float(COST[0]), "upper": float(COST[1])},
    "minutes": {"type": "int", "lower": MINUTES[0], "upper": MINUTES[1]},
}


def opened(folder: Path) -> pd.DataFrame:
    columns = ["patient_id", "region", "diagnosis", "cost", "minutes"]
    return pd.read_parquet(folder / "visits.parquet", columns=columns)


def asked(name: str) -> Asking[pd.DataFrame]:
    """Return how a question is asked: the epsilon of all its columns adds up to ours.

    Keys are censored only where they are unknown. The exact numbers are computed once, as the
    limit of rows leaves out none, and handed in as `pre_aggregated`.
    """
    sql = BY_NAME[name].sql.replace("FROM visits", "FROM main.visits").replace("VAR_POP", "VAR")
    table = {**VISITS, "censor_dims": BY_NAME[name].is_about_keys}
    metadata = Metadata.from_dict({"": {"main": {"visits": table}}})
    kept: list[Any] = []

    def ask(frame: pd.DataFrame, _: int) -> Found:
        if not kept:
            reader = _reader(frame, metadata, sql)
            kept.extend((reader, _exact(reader, sql)))
        reader, exact = kept
        return reader.execute(sql, pre_aggregated=exact)[1:]

    return ask


def _reader(frame: pd.DataFrame, metadata: Any, sql: str) -> Any:
    """Return a reader whose odometer counts our epsilon for this question."""
    whole = snsql.Privacy(epsilon=EPSILON, delta=DELTA)
    charged, _ = snsql.from_df(frame, privacy=whole, metadata=metadata).get_privacy_cost(sql)
    each = snsql.Privacy(epsilon=EPSILON * EPSILON / charged, delta=DELTA)
    return snsql.from_df(frame, privacy=each, metadata=metadata)


def _exact(reader: Any, sql: str) -> Found:
    """Return what its own reader computes before the noise."""
    subquery, _ = reader._rewrite(sql)  # noqa: SLF001  # it has no public name for this
    return reader._get_reader(subquery)._execute_ast(subquery)  # noqa: SLF001


NO_QUANTILES = "it has no quantiles"
REFUSED = {"MEDIAN": NO_QUANTILES, "q90": NO_QUANTILES, "CORR": "it has no correlation"}
ASKING = {name: asked(name) for name in BY_NAME if name not in REFUSED}

if __name__ == "__main__":
    serve(opened, ASKING, REFUSED)
