"""OpenDP: integer Laplace and Gaussian noise, and the noisy max, from NumPy arrays."""

import numpy as np
import opendp.prelude as dp  # type: ignore[import-not-found]  # lives in its own environment

from benchmarks.cases import CHOICES, NOISE, ONE_DRAW, scores, tell
from benchmarks.timing import Case, Run

dp.enable_features("contrib", "honest-but-curious")

INTEGER = dp.atom_domain(T="i64")
INTEGERS = dp.vector_domain(INTEGER)


def make(case: Case, size: int) -> Run:
    """Return a run of one case."""
    scale = float(case.scale)
    match case.what:
        case "laplace":
            release = dp.m.make_laplace(INTEGERS, dp.l1_distance(T="i64"), scale)
            return _on(release, np.zeros(size, np.int64))
        case "gaussian":
            release = dp.m.make_gaussian(INTEGERS, dp.l2_distance(T="f64"), scale)
            return _on(release, np.zeros(size, np.int64))
        case "one laplace":
            return _on(dp.m.make_laplace(INTEGER, dp.absolute_distance(T="i64"), scale), 0)
        case "one gaussian":
            return _on(dp.m.make_gaussian(INTEGER, dp.absolute_distance(T="f64"), scale), 0)
        case "permute-and-flip":
            return _on(_noisy_max(dp.max_divergence(), scale), scores(size))
        case _:
            return _on(_noisy_max(dp.zero_concentrated_divergence(), scale), scores(size))


def _noisy_max(measure: dp.Measure, scale: float) -> dp.Measurement:
    """Permute-and-flip under the max divergence, the exponential mechanism under zCDP."""
    return dp.m.make_noisy_max(INTEGERS, dp.linf_distance(T="i64"), measure, scale)


def _on(release: dp.Measurement, exact: object) -> Run:
    return lambda: release(exact)


if __name__ == "__main__":
    tell((*NOISE, *ONE_DRAW, *CHOICES), make)
