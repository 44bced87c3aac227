"""Flights of a year, from a fixed seed: 336,776 rows of about 4,000 planes, very unevenly."""

from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

ROWS, PLANES, SEED = 336_776, 4_043, 20130101
ORIGINS = np.array(["EWR", "JFK", "LGA"])
SHARES = (0.36, 0.33, 0.31)
LARGEST = 620


def scattered(number: int, seed: int) -> NDArray[np.float64]:
    """Return numbers between 0 and 1 that look random and are always the same (splitmix64)."""
    x = (np.arange(number, dtype=np.uint64) + np.uint64(SEED + seed)) * np.uint64(
        0x9E3779B97F4A7C15
    )
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return ((x ^ (x >> np.uint64(31))) >> np.uint64(11)) / float(1 << 53)


@cache
def rows_of_planes() -> NDArray[np.int64]:
    """Return how many rows each plane has: from one to some 600, and 336,776 of all."""
    # Log-normal: the sum of twelve uniform numbers is all but normal.
    normal = sum(scattered(PLANES, seed) for seed in range(1, 13)) - 6
    sizes = np.minimum(np.exp(3.6 + 1.35 * normal), LARGEST)
    whole: NDArray[np.int64] = np.maximum(1, (sizes * ROWS / sizes.sum()).astype(np.int64))
    short = ROWS - int(whole.sum())
    whole[np.argsort(whole)[::-1][: abs(short)]] += int(np.sign(short))
    return whole


def share_counted(limit: int) -> float:
    """Return the exact share of rows that a limit counts."""
    return float(np.minimum(rows_of_planes(), limit).sum() / ROWS)


@cache
def flights() -> pd.DataFrame:
    """Return the table: plane, origin, carrier, delay and distance of each flight."""
    plane = np.repeat(np.arange(PLANES), rows_of_planes())
    carriers = np.array([f"C{number:02d}" for number in range(16)])
    return pd.DataFrame(
        {
            "tailnum": np.char.add("N", plane.astype(str)),
            "origin": ORIGINS[np.searchsorted(np.cumsum(SHARES)[:2], scattered(ROWS, 20))],
            "carrier": carriers[(scattered(PLANES, 21) * 16).astype(int)][plane],
            "arr_delay": (-130 * np.log1p(-scattered(ROWS, 22))).astype(np.int64) - 60,
            "distance": (80 + 2920 * scattered(ROWS, 23)).astype(np.int64),
        }
    )
