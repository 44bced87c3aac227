"""PipelineDP on its local backend: a list of rows in memory."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
import pipeline_dp as pdp  # type: ignore[import-not-found]  # lives in its own environment

from benchmarks.accuracy.child import Asking, Found, serve
from benchmarks.accuracy.questions import (
    COST,
    DELTA,
    DIAGNOSES_PER_UNIT,
    EPSILON,
    REGIONS,
    REGIONS_PER_UNIT,
    ROWS_PER_UNIT,
)

logging.disable(logging.WARNING)

Visit: TypeAlias = tuple[int, str, str, float]
"""Patient, region, diagnosis, cost."""

UNIT, REGION, DIAGNOSIS, MONEY = range(4)
ALL = "all"
"""The one group of questions that have none."""

IN_ONE = {"max_partitions_contributed": 1, "max_contributions_per_partition": ROWS_PER_UNIT}
IN_ALL = {"max_contributions": ROWS_PER_UNIT}
"""Limits of rows: in the one group, and in all groups together."""

COSTS = {"min_value": COST[0], "max_value": COST[1]}
LAPLACE, GAUSSIAN = pdp.NoiseKind.LAPLACE, pdp.NoiseKind.GAUSSIAN


def opened(folder: Path) -> list[Visit]:
    columns = ["patient_id", "region", "diagnosis", "cost"]
    frame = pd.read_parquet(folder / "visits.parquet", columns=columns)
    return list(zip(*(frame[each].tolist() for each in columns), strict=True))


class Backend(pdp.LocalBackend):  # type: ignore[misc]
    """The local backend; it keeps what is there before the noise, as the limits cut nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Any] = []

    def combine_accumulators_per_key(self, *arguments: Any, **more: Any) -> Iterator[Any]:
        found = super().combine_accumulators_per_key(*arguments, **more)

        def kept() -> Iterator[Any]:
            if not self.kept:
                self.kept.extend(found)
            yield from self.kept

        return kept()


def asked(metric: Any, *, key: int | None = None, **limits: Any) -> Asking[list[Visit]]:
    """Return how a metric is asked for, with the whole of a fresh budget each time."""
    backend = Backend()
    public = {None: [ALL], REGION: list(REGIONS), DIAGNOSIS: None}[key]
    params = pdp.AggregateParams(metrics=[metric], **{"noise_kind": LAPLACE, **limits})
    extractors = pdp.DataExtractors(
        privacy_id_extractor=lambda row: row[UNIT],
        partition_extractor=lambda row: ALL if key is None else row[key],
        value_extractor=lambda row: row[MONEY],
    )

    def ask(rows: list[Visit], _: int) -> Found:
        accountant = pdp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=DELTA)
        engine = pdp.DPEngine(accountant, backend)
        found = engine.aggregate(rows, params, extractors, public_partitions=public)
        accountant.compute_budgets()
        for name, numbers in found:
            yield numbers if key is None else (name, *numbers)

    return ask


ASKING: dict[str, Asking[list[Visit]]] = {
    "COUNT": asked(pdp.Metrics.COUNT, **IN_ONE),
    "SUM": asked(pdp.Metrics.SUM, **COSTS, **IN_ONE),
    "AVG": asked(pdp.Metrics.MEAN, **COSTS, **IN_ONE),
    "MEDIAN": asked(pdp.Metrics.PERCENTILE(50), **COSTS, **IN_ONE),
    "q90": asked(pdp.Metrics.PERCENTILE(90), **COSTS, **IN_ONE),
    "VARIANCE": asked(pdp.Metrics.VARIANCE, **COSTS, **IN_ONE),
    "COUNT by 20 keys": asked(pdp.Metrics.COUNT, key=REGION, **IN_ALL),
    "SUM by 20 keys": asked(pdp.Metrics.SUM, key=REGION, **COSTS, **IN_ALL),
    "AVG by 20 keys": asked(pdp.Metrics.MEAN, key=REGION, **COSTS, **IN_ALL),
    "units by 20 keys": asked(
        pdp.Metrics.PRIVACY_ID_COUNT,
        key=REGION,
        max_partitions_contributed=REGIONS_PER_UNIT,
        max_contributions_per_partition=1,
    ),
    "unknown keys shown": asked(
        pdp.Metrics.PRIVACY_ID_COUNT,
        key=DIAGNOSIS,
        max_partitions_contributed=DIAGNOSES_PER_UNIT,
        max_contributions_per_partition=1,
        noise_kind=GAUSSIAN,
        partition_selection_strategy=pdp.PartitionSelectionStrategy.GAUSSIAN_THRESHOLDING,
        post_aggregation_thresholding=True,
    ),
}

if __name__ == "__main__":
    serve(opened, ASKING, {"CORR": "it has no correlation"})
