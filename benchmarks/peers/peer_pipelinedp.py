"""PipelineDP on its local backend: a list of rows in memory, units bounded by the library."""

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
import pipeline_dp as pdp  # type: ignore[import-not-found]  # lives in its own environment

from benchmarks.workloads.child import Asking, Found, serve
from benchmarks.workloads.questions import (
    COST,
    DELTA,
    EPSILON,
    MINUTES,
    REGIONS,
    ROWS_PER_UNIT,
    TOTAL,
)

logging.disable(logging.WARNING)

Visit: TypeAlias = tuple[int, int, str, float, int]
"""Patient, day, region, cost, minutes."""

UNIT, DAY, REGION, MONEY, TIME = range(5)
ALL = "all"
"""The one group of questions that have none."""


def visits(folder: Path, _: int) -> list[Visit]:
    columns = ["patient_id", "day", "region", "cost", "minutes"]
    frame = pd.read_parquet(folder / "visits.parquet", columns=columns)
    return list(zip(*(frame[each].tolist() for each in columns), strict=True))


class Budget:
    """One budget for all that a question asks, split by the library."""

    def __init__(self) -> None:
        self.accountant = pdp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=DELTA)
        self.engine = pdp.DPEngine(self.accountant, pdp.LocalBackend())

    def results(
        self,
        rows: list[Visit],
        metrics: list[object],
        *,
        key: tuple[int, ...] = (),
        value: int | None = None,
        public: Iterable[object] | None = None,
        **limits: object,
    ) -> Any:
        """Return keys and numbers, computed when the budget has been split."""
        extractors = pdp.DataExtractors(
            privacy_id_extractor=lambda row: row[UNIT],
            partition_extractor=lambda row: tuple(row[each] for each in key) or ALL,
            value_extractor=lambda row: 0 if value is None else row[value],
        )
        params = pdp.AggregateParams(metrics=metrics, **limits)
        known = None if public is None else list(public)
        return self.engine.aggregate(rows, params, extractors, public_partitions=known)


def one_group(rows: list[Visit], metrics: list[object], **more: object) -> Found:
    budget = Budget()
    limits = {"max_partitions_contributed": 1, "noise_kind": pdp.NoiseKind.LAPLACE, **more}
    found = budget.results(rows, metrics, public=[ALL], **limits)
    budget.accountant.compute_budgets()
    ((_, numbers),) = found
    return numbers


def count(rows: list[Visit], _: int) -> Found:
    found = one_group(rows, [pdp.Metrics.COUNT], max_contributions_per_partition=ROWS_PER_UNIT)
    return [(found.count,)]


def by_region(rows: list[Visit], _: int) -> Found:
    budget = Budget()
    limits = {"max_contributions": ROWS_PER_UNIT, "noise_kind": pdp.NoiseKind.GAUSSIAN}
    public = [(each,) for each in REGIONS]
    metrics = pdp.Metrics
    costs = budget.results(
        rows,
        [metrics.COUNT, metrics.SUM],
        key=(REGION,),
        value=MONEY,
        public=public,
        min_value=COST[0],
        max_value=COST[1],
        **limits,
    )
    minutes = budget.results(
        rows,
        [metrics.MEAN],
        key=(REGION,),
        value=TIME,
        public=public,
        min_value=MINUTES[0],
        max_value=MINUTES[1],
        **limits,
    )
    budget.accountant.compute_budgets()
    means = dict(minutes)
    for key, found in costs:
        yield *key, found.count, found.sum, means[key].mean


def by_unknown_keys(rows: list[Visit], _: int) -> Found:
    budget = Budget()
    found = budget.results(
        rows,
        [pdp.Metrics.COUNT],
        key=(DAY, REGION),
        max_partitions_contributed=ROWS_PER_UNIT,
        max_contributions_per_partition=1,
        noise_kind=pdp.NoiseKind.GAUSSIAN,
    )
    budget.accountant.compute_budgets()
    for key, numbers in found:
        yield *key, numbers.count


def median(rows: list[Visit], _: int) -> Found:
    found = one_group(
        rows,
        [pdp.Metrics.PERCENTILE(50)],
        value=MONEY,
        max_contributions_per_partition=ROWS_PER_UNIT,
        min_value=COST[0],
        max_value=COST[1],
    )
    return [(found.percentile_50,)]


def count_units(rows: list[Visit], _: int) -> Found:
    metrics = [pdp.Metrics.PRIVACY_ID_COUNT]
    return [(one_group(rows, metrics, max_contributions_per_partition=1).privacy_id_count,)]


def mean_of_totals(rows: list[Visit], _: int) -> Found:
    found = one_group(
        rows,
        [pdp.Metrics.SUM, pdp.Metrics.PRIVACY_ID_COUNT],
        value=MONEY,
        max_contributions_per_partition=1,
        min_sum_per_partition=TOTAL[0],
        max_sum_per_partition=TOTAL[1],
    )
    return [(found.sum / max(1, found.privacy_id_count),)]


ASKING: dict[str, Asking[list[Visit]]] = {
    "W1": count,
    "W2": by_region,
    "W3": by_unknown_keys,
    "W4": median,
    "W5": count_units,
    "W7": mean_of_totals,
}
REFUSED = {"W6": "it has no joins"}

if __name__ == "__main__":
    serve(visits, ASKING, REFUSED)
