"""diffprivlib on arrays in memory: it protects single rows, whose number is public to it."""

from pathlib import Path
from typing import Any, TypeAlias
from warnings import simplefilter

import pandas as pd
from diffprivlib import tools  # type: ignore[import-not-found]  # lives in its own environment

from benchmarks.accuracy.child import Asking, Found, serve
from benchmarks.accuracy.questions import COST, EPSILON, REGIONS

simplefilter("ignore")

State: TypeAlias = pd.DataFrame

ONE = {"epsilon": float(EPSILON), "bounds": COST}
EACH = EPSILON / 2
"""By key: a row that is replaced may leave one key and enter another."""


def opened(folder: Path) -> State:
    return pd.read_parquet(folder / "visits.parquet", columns=["region", "cost"])


def one(tool: Any, *before: Any) -> Asking[State]:
    def ask(frame: State, _: int) -> Found:
        return [(tool(frame.cost.to_numpy(), *before, **ONE),)]

    return ask


def count(frame: State, _: int) -> Found:
    return [(tools.count_nonzero((frame.cost >= 0).to_numpy(), epsilon=float(EPSILON)),)]


def count_by_region(frame: State, _: int) -> Found:
    for key in REGIONS:
        yield key, tools.count_nonzero((frame.region == key).to_numpy(), epsilon=EACH)


def sum_by_region(frame: State, _: int) -> Found:
    for key in REGIONS:
        costs = frame.cost[frame.region == key].to_numpy()
        yield key, tools.sum(costs, epsilon=EACH, bounds=COST)


ASKING: dict[str, Asking[State]] = {
    "COUNT": count,
    "SUM": one(tools.sum),
    "AVG": one(tools.mean),
    "MEDIAN": one(tools.median),
    "q90": one(tools.quantile, 0.9),
    "VARIANCE": one(tools.var),
    "COUNT by 20 keys": count_by_region,
    "SUM by 20 keys": sum_by_region,
}
REFUSED = {
    "AVG by 20 keys": "its mean takes the exact number of rows as public, which it is not by key",
    "units by 20 keys": "it has no units but rows",
    "unknown keys shown": "it has no unknown keys",
    "CORR": "it has no correlation",
}

if __name__ == "__main__":
    serve(opened, ASKING, REFUSED)
