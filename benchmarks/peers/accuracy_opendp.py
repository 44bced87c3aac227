"""OpenDP: its Polars for all but VARIANCE, which it has for vectors of a public size only."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from warnings import simplefilter

import opendp.prelude as dp  # type: ignore[import-not-found]  # lives in its own environment
import polars as pl

from benchmarks.accuracy.child import Asking, Found, serve
from benchmarks.accuracy.questions import (
    COST,
    COST_STEP,
    DELTA,
    DIAGNOSES,
    DIAGNOSES_PER_UNIT,
    EPSILON,
    REGIONS,
    REGIONS_PER_UNIT,
    ROWS,
    ROWS_PER_UNIT,
)

dp.enable_features("contrib", "honest-but-curious")
simplefilter("ignore")

UNIT = "patient_id"
BOUNDS = (float(COST[0]), float(COST[1]))
STEPS = round(1 / COST_STEP)
GRID = [number / STEPS for number in range(COST[0] * STEPS, COST[1] * STEPS + 1)]
KEYS = pl.LazyFrame({"region": REGIONS})
NO_CORR = "it has no correlation"


def opened(folder: Path) -> Any:
    return pl.scan_parquet(folder / "visits.parquet").collect().lazy()


def cost() -> Any:
    """Return the column, to which the library gives methods that Polars does not know."""
    return pl.col("cost").fill_null(0.0).fill_nan(0.0)


def query(visits: Any, *, delta: float = 0.0, **margin: Any) -> Any:
    """Return a query that costs all of a fresh budget; it asks for a public bound of rows."""
    context = dp.Context.compositor(
        data=visits,
        privacy_unit=dp.unit_of(contributions=1, identifier=pl.col(UNIT)),
        privacy_loss=dp.loss_of(epsilon=float(EPSILON), delta=delta),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=2 * ROWS, **margin)],
    )
    return context.query()


def made_once(make: Callable[[Any], Any]) -> Asking[Any]:
    """Return how a query is asked: its noise is calibrated at the first trial, which takes long."""
    kept: list[Any] = []

    def ask(visits: Any, _: int) -> Found:
        if not kept:
            kept.append(make(visits).resolve())
        return kept[0](visits).collect().rows()

    return ask


def one(number: Any) -> Asking[Any]:
    """Return how a number about all rows is asked for."""

    def make(visits: Any) -> Any:
        return query(visits).truncate_per_group(ROWS_PER_UNIT).select(number)

    return made_once(make)


def by_region(number: Any) -> Asking[Any]:
    def make(visits: Any) -> Any:
        limited = query(visits, by=["region"]).truncate_per_group(ROWS_PER_UNIT)
        return limited.group_by("region").agg(number).with_keys(KEYS)

    return made_once(make)


def units_by(key: str, limit: int, keys: Any = None, **terms: Any) -> Asking[Any]:
    """Return how units are counted: so many groups of each, one row in each of them.

    It keeps groups whose rank, from 1 on, is below its limit: one fewer than it is told.
    """

    def make(visits: Any) -> Any:
        limited = query(visits, by=[key], **terms)
        limited = limited.truncate_num_groups(limit + 1, by=[key], keep="first")
        counted = limited.truncate_per_group(1, by=[key]).group_by(key).agg(dp.len())
        return counted if keys is None else counted.with_keys(keys)

    return made_once(make)


def variance(visits: Any, _: int) -> Found:
    values = visits.select("cost").collect()["cost"].to_list()
    context = dp.Context.compositor(
        data=values,
        domain=dp.vector_domain(dp.atom_domain(T=float, nan=False)),
        privacy_unit=dp.unit_of(contributions=ROWS_PER_UNIT),
        privacy_loss=dp.loss_of(epsilon=float(EPSILON)),
        split_evenly_over=1,
    )
    sized = context.query().clamp(BOUNDS).resize(size=ROWS, constant=sum(BOUNDS) / 2)
    return [(sized.variance(ddof=0).laplace().release(),)]


ASKING: dict[str, Asking[Any]] = {
    "COUNT": one(dp.len()),
    "SUM": one(cost().dp.sum(BOUNDS)),
    "AVG": one(cost().dp.mean(BOUNDS)),
    "MEDIAN": one(cost().dp.median(GRID)),
    "q90": one(cost().dp.quantile(0.9, GRID)),
    "VARIANCE": variance,
    "COUNT by 20 keys": by_region(dp.len()),
    "SUM by 20 keys": by_region(cost().dp.sum(BOUNDS)),
    "AVG by 20 keys": by_region(cost().dp.mean(BOUNDS)),
    "units by 20 keys": units_by("region", REGIONS_PER_UNIT, KEYS),
    "unknown keys shown": units_by(
        "diagnosis", DIAGNOSES_PER_UNIT, delta=DELTA, max_groups=2 * DIAGNOSES
    ),
}

if __name__ == "__main__":
    serve(opened, ASKING, {"CORR": NO_CORR})
