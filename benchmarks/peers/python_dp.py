"""python-dp (Google's C++ library): it adds noise to one number at a time, so we loop in Python."""

import pydp.algorithms.numerical_mechanisms as mechanisms  # type: ignore[import-not-found]  # lives in its own environment

from benchmarks.cases import NOISE, ONE_DRAW, tell
from benchmarks.timing import Case, Run

DELTA = 1e-6
SIGMA_AT_ONE = 4.2266
"""The standard deviation that the library chooses for epsilon 1, this delta and sensitivity 1."""


def make(case: Case, size: int) -> Run:
    """Return a run of one case; its Laplace noise on integers is geometric, its Gaussian real."""
    if case.what.endswith("laplace"):
        laplace = mechanisms.LaplaceMechanism(epsilon=1 / case.scale, sensitivity=1.0)
        return lambda: [laplace.add_noise(0) for _ in range(size)]
    gaussian = mechanisms.GaussianMechanism(
        epsilon=1.0, delta=DELTA, sensitivity=case.scale / SIGMA_AT_ONE
    )
    return lambda: [gaussian.add_noise(0.0) for _ in range(size)]


if __name__ == "__main__":
    tell((*NOISE, *ONE_DRAW), make)
