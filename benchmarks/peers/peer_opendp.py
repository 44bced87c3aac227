"""OpenDP with Polars: the workloads on a lazily read file, units bounded by the library itself."""

from pathlib import Path
from typing import Any
from warnings import simplefilter

import opendp.prelude as dp  # type: ignore[import-not-found]  # lives in its own environment
import polars as pl

from benchmarks.workloads.child import Asking, Found, serve
from benchmarks.workloads.questions import (
    COST,
    COST_STEP,
    DELTA,
    EPSILON,
    KEYS,
    MINUTES,
    REGIONS,
    ROWS_PER_UNIT,
    TOTAL,
)

dp.enable_features("contrib", "honest-but-curious")
simplefilter("ignore")

UNIT = "patient_id"
CENTS = round(1 / COST_STEP)


def column(name: str) -> Any:
    """Return a column, to which the library gives methods that Polars does not know."""
    return pl.col(name)


class Frame:
    """The visits, and how many there may be at most: the library asks for a public bound."""

    def __init__(self, folder: Path, rows: int) -> None:
        self.visits = pl.scan_parquet(folder / "visits.parquet")
        self.most = 2 * rows

    def query(self, *, delta: float = 0.0, **margin: Any) -> dp.polars.LazyFrameQuery:
        """Return a query that costs all of a fresh budget."""
        context = dp.Context.compositor(
            data=self.visits,
            privacy_unit=dp.unit_of(contributions=1, identifier=pl.col(UNIT)),
            privacy_loss=dp.loss_of(epsilon=float(EPSILON), delta=delta),
            split_evenly_over=1,
            margins=[dp.polars.Margin(max_length=self.most, **margin)],
        )
        return context.query()

    def rows(self, **margin: Any) -> dp.polars.LazyFrameQuery:
        """Return a query over so many rows of each unit as may count."""
        return self.query(**margin).truncate_per_group(ROWS_PER_UNIT)


def count(frame: Frame, _: int) -> Found:
    return frame.rows().select(dp.len()).release().collect().rows()


def by_region(frame: Frame, _: int) -> Found:
    query = frame.rows(by=["region"], invariant="keys", max_groups=len(REGIONS), delta=DELTA)
    cost = column("cost").fill_null(0.0).fill_nan(0.0).dp.sum(tuple(map(float, COST)))
    minutes = column("minutes").fill_null(0).dp.sum(MINUTES)
    found = query.group_by("region").agg(dp.len(), cost, minutes).release().collect()
    for region, number, cost_sum, minute_sum in found.iter_rows():
        yield region, number, cost_sum, minute_sum / max(1, number)


def by_unknown_keys(frame: Frame, _: int) -> Found:
    query = frame.rows(by=["day", "region"], max_groups=KEYS, delta=DELTA)
    return query.group_by("day", "region").agg(dp.len()).release().collect().rows()


def median(frame: Frame, _: int) -> Found:
    grid = [number / CENTS for number in range(COST[0] * CENTS, COST[1] * CENTS + 1)]
    cost = column("cost").fill_null(0.0).fill_nan(0.0).dp.median(grid)
    return frame.rows().select(cost).release().collect().rows()


def count_units(frame: Frame, _: int) -> Found:
    return frame.query().truncate_per_group(1).select(dp.len()).release().collect().rows()


def mean_of_totals(frame: Frame, _: int) -> Found:
    totals = frame.query().group_by(UNIT).agg(column("cost").sum())
    total = column("cost").fill_null(0.0).fill_nan(0.0).dp.sum(tuple(map(float, TOTAL)))
    for number, sum_of_totals in totals.select(dp.len(), total).release().collect().iter_rows():
        yield (sum_of_totals / max(1, number),)


ASKING: dict[str, Asking[Frame]] = {
    "W1": count,
    "W2": by_region,
    "W3": by_unknown_keys,
    "W4": median,
    "W5": count_units,
    "W7": mean_of_totals,
}
REFUSED = {"W6": "joins of private tables are not supported"}

if __name__ == "__main__":
    serve(Frame, ASKING, REFUSED)
