"""OpenDP: prefix sums from its b-ary tree with Laplace noise, made consistent, at ε = 1.

The tree is released once, after the last tick. It is not a mechanism for streams, but the nearest
thing that OpenDP offers.
"""

from json import dumps
from time import process_time

import numpy as np
import opendp.prelude as dp  # type: ignore[import-not-found]  # lives in its own environment

from benchmarks.stream_cases import PEER_HORIZONS, PEER_RUNS

dp.enable_features("contrib", "honest-but-curious")


def measure(ticks: int) -> dict[str, float]:
    """Return the deviation of prefix sums, over all ticks and runs, and seconds for one run."""
    branching = dp.t.choose_branching_factor(ticks)
    space = dp.vector_domain(dp.atom_domain(T="i32")), dp.l1_distance(T="i32")
    tree = dp.t.make_b_ary_tree(*space, leaf_count=ticks, branching_factor=branching)
    consistent = dp.t.make_consistent_b_ary_tree(branching)

    def released(scale: float) -> dp.Measurement:
        return tree >> dp.m.then_laplace(scale) >> consistent

    scale = dp.binary_search_param(released, d_in=1, d_out=1.0)
    release, exact = released(scale), np.zeros(ticks, np.int32)
    start = process_time()
    errors = np.array([np.cumsum(release(exact)) for _ in range(PEER_RUNS)])[:, :ticks]
    seconds = (process_time() - start) / PEER_RUNS
    squares = (errors**2).mean(axis=0)
    return {
        "ticks": ticks,
        "branching": branching,
        "max": float(np.sqrt(squares.max())),
        "rms": float(np.sqrt(squares.mean())),
        "seconds": seconds,
    }


if __name__ == "__main__":
    for each in PEER_HORIZONS:
        print(dumps(measure(each)), flush=True)
