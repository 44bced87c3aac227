"""Shares that are read off noisy numbers: they hold what is true as often as they say."""

from math import sinh

import numpy as np
import pytest

from discreet.coverage.questions import KNOTS, STEPS, place
from discreet.coverage.shares import Floats, UnitSizes, ratio, reach, share_of
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.margins import laplace_margin
from tests.coverage.flights import rows_of_planes, share_counted
from tests.replay import ReplayableEntropy

EPSILON = 0.05
TRIALS = 60
MISSES_MOST = 15
"""Of 60 intervals of 95% confidence, 15 or more miss once in five million."""


def exact_cells() -> Floats:
    """Return the mass of all planes at the lower and upper ends, in whole steps."""
    cells = np.zeros((len(KNOTS), 2))
    for size in rows_of_planes().tolist():
        group, within = place(size)
        cells[group] += (STEPS - within, within)
    return cells


def measured(seed: int, *, scale: float = 1.0, epsilon: float = EPSILON) -> UnitSizes:
    """Return what a release shows; `scale` is how far its reader takes the noise to reach."""
    noise = Geometric(epsilon=epsilon, sensitivity=STEPS)
    exact = exact_cells().astype(np.int64)
    noisy = noise.release(exact, entropy=ReplayableEntropy(seed)) / STEPS
    return UnitSizes(lower=noisy[:, 0], upper=noisy[:, 1], scale=scale / epsilon)


def share_up_to(largest: int, limit: int) -> float:
    """Return the exact share of planes of up to so many rows, which the interval is about."""
    sizes = rows_of_planes()
    seen = sizes[sizes <= largest]
    return float(np.minimum(seen, limit).sum() / seen.sum())


def misses(scale: float = 1.0) -> int:
    missed = 0
    for seed in range(TRIALS):
        sizes = measured(seed, scale=scale)
        share, largest = sizes.share_counted(10), sizes.largest
        assert share is not None
        assert largest is not None
        missed += not share.low <= share_up_to(largest, 10) <= share.high
    return missed


def test_an_interval_holds_the_true_share_as_often_as_it_says() -> None:
    assert misses() < MISSES_MOST


def test_a_reader_who_takes_the_noise_for_smaller_is_caught() -> None:
    assert misses(scale=0.1) >= MISSES_MOST


def test_the_share_of_flights_is_right_within_its_margin() -> None:
    share = measured(1, epsilon=0.2).share_counted(10)
    assert share is not None
    assert share.low <= share_counted(10) <= share.high
    assert share.margin < 0.03
    assert abs(share.estimate - share_counted(10)) < 0.02


def test_empty_groups_of_large_units_do_not_dominate() -> None:
    """Noise of 20 units of a million rows each would be sixty times all flights."""
    found = [measured(seed).largest for seed in range(20)]
    assert all(each is not None and each < 2**12 for each in found)


def test_where_no_unit_stands_out_nothing_is_said() -> None:
    few = UnitSizes(lower=np.full(21, 5.0), upper=np.zeros(21), scale=10.0)
    assert (few.largest, few.share_counted(10), few.best_limit(1.0)) == (None, None, None)


@pytest.mark.parametrize("limit", [1, 2, 3, 10, 100, 512, 600])
def test_without_noise_the_interval_holds_the_share_and_bends_only_between_knots(
    limit: int,
) -> None:
    cells = exact_cells() / STEPS
    share = UnitSizes(lower=cells[:, 0], upper=cells[:, 1], scale=1e-6).share_counted(limit)
    assert share is not None
    assert share.low - 1e-3 <= share_counted(limit) <= share.high + 1e-3
    if limit in KNOTS:
        assert abs(share.estimate - share_counted(limit)) < 1e-3


def test_the_best_limit_costs_little_more_than_the_true_optimum() -> None:
    sizes = rows_of_planes()

    def error(limit: int) -> float:
        return float(np.maximum(sizes - limit, 0).sum()) + limit / 0.1

    best = min(error(each) for each in range(1, 700))
    for seed in range(10):
        found = measured(seed, epsilon=0.2).best_limit(1 / 0.1)
        assert found is not None
        assert error(found) < 1.4 * best


def test_a_dearer_row_makes_the_limit_smaller() -> None:
    sizes = measured(3, epsilon=1)
    limits = [sizes.best_limit(1 / epsilon) for epsilon in (10, 1e-3, 3e-4, 1e-5)]
    assert limits == sorted(limits, key=lambda each: -(each or 0))
    assert limits[-1] == 1


def test_a_share_of_few_counts() -> None:
    found = share_of(np.array([100.0, 800.0, 100.0]), 2.0, 2)
    assert found.low < 0.1 < found.high
    assert abs(found.estimate - 0.1) < 1e-12
    none = share_of(np.array([3.0, -4.0, 1.0]), 100.0, 0)
    assert (none.low, none.high, none.is_known) == (0.0, 1.0, False)


def test_few_noises_reach_as_far_as_they_do_and_more_no_less() -> None:
    weights = np.array([[3.0, 2.0, 1.0]])
    assert reach(weights, 5.0, 0.99) == laplace_margin(weights * 5, 0.99)
    many = np.concatenate([np.full((1, 8), 2.0), np.full((1, 8), 1.0)], axis=1)
    assert reach(many, 1.0, 0.95) > laplace_margin(np.full((1, 8), 2.0), 0.95)


def test_geometric_noise_reaches_no_further_than_laplace_noise() -> None:
    """The moment generating functions, at all rates that Chernoff's inequality tries."""
    for scale in (0.3, 1.0, 20.0, 1e4):
        for part in (0.01, 0.3, 0.7, 0.99):
            # cosh(x) - 1 = 2 sinh(x / 2)**2, without loss of digits
            most, at = sinh(0.5 / scale) ** 2, sinh(0.5 * part / scale) ** 2
            assert most / (most - at) <= 1 / (1 - part**2) * (1 + 1e-9)


def test_a_ratio_of_nothing_is_unknown() -> None:
    found = ratio(np.ones(2), np.ones(2), np.array([-1.0, 0.5]), 1.0, 0.95)
    assert (found.low, found.high) == (0.0, 1.0)
