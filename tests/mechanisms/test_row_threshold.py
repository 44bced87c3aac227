"""A threshold on noisy numbers of rows: what it shows of one unit, and what it says of groups."""

from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta

from discreet.accounting.events import ApproximateEvent
from discreet.errors import ParameterError
from discreet.mechanisms.geometric import Geometric
from discreet.mechanisms.row_threshold import RowThreshold, _tail
from discreet.noise import discrete_laplace
from tests.replay import ReplayableEntropy
from tests.statistics import FALSE_ALARM, share_misfit


def made(
    *,
    epsilon: float = 1,
    rows: int = 3,
    groups: int | None = None,
    total: int = 1,
    cells: int = 2,
    delta: float = 1e-6,
    neighbours: str = "add-remove",
) -> RowThreshold:
    moved = rows * total * (1 if neighbours == "add-remove" else 2)
    return RowThreshold(
        noise=Geometric(epsilon=epsilon, sensitivity=moved),
        cells=cells,
        total=total,
        rows=rows,
        groups=rows if groups is None else groups,
        delta=delta,
        neighbours=neighbours,
    )


def noise_law(mechanism: RowThreshold, far: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return P(the noise of all cells of a group is z), z from -far to far, by convolution."""
    z = np.abs(np.arange(-far, far + 1))
    one = np.exp(-z / float(mechanism.noise.scale))
    one /= one.sum()
    law = one
    for _ in range(mechanism.cells - 1):
        law = np.convolve(law, one, mode="same")
    return law


def shown(mechanism: RowThreshold, rows: int, threshold: int) -> float:
    """Return P(a group of so many rows is shown), by the law that is drawn."""
    far = 60 * int(mechanism.noise.scale) + threshold * mechanism.total
    law = noise_law(mechanism, far)
    least = (threshold - rows) * mechanism.total + 1
    return float(law[least + far :].sum())


@pytest.mark.parametrize("cells", [1, 2, 3, 4])
def test_the_tail_is_that_of_a_sum_of_laplace_noises(cells: int) -> None:
    """Noise of many steps is all but continuous. A fresh seed cries wolf once in 10^6."""
    entropy, scale = ReplayableEntropy(seed=400), 10**6
    wide = discrete_laplace(Fraction(scale), cells * 400_000, entropy=entropy)
    draws = wide.reshape(cells, -1).sum(axis=0) / scale
    for x in (0, 1, 3):
        share = float(_tail(cells, Fraction(x)))
        assert share_misfit(int((draws > x).sum()), draws.size, share) > FALSE_ALARM
    assert _tail(1, Fraction(5)) == pytest.approx(exp(-5) / 2)
    assert _tail(2, Fraction(5)) == pytest.approx(exp(-5) * 7 / 4)


@settings(max_examples=20)
@given(
    st.sampled_from([0.3, 1, 4]),
    st.integers(min_value=1, max_value=4),
    st.integers(min_value=1, max_value=3),
    st.sampled_from([1e-6, 0.01]),
    st.sampled_from(["add-remove", "replace"]),
)
def test_groups_of_one_unit_are_shown_with_delta_at_most_however_its_rows_lie(
    epsilon: float, rows: int, cells: int, delta: float, neighbours: str
) -> None:
    """By the exact law of the noise, for all ways in which a unit's rows lie in its groups."""
    mechanism = made(
        epsilon=epsilon, rows=rows, cells=cells, delta=delta, neighbours=neighbours, total=2
    )
    k = mechanism.threshold
    chance = [shown(mechanism, each, k) for each in range(rows + 1)]
    ways = [each for each in product(range(rows + 1), repeat=rows) if 0 < sum(each) <= rows]
    alone = max(sum(chance[each] for each in way) for way in ways)
    sides = 1 if neighbours == "add-remove" else 2
    assert sides * alone <= delta * (1 + 1e-9)


def test_two_groups_keep_the_definition_in_all_their_outputs_together() -> None:
    """One cell and two groups of a unit of two rows, over all pairs of outputs.

    The twin has a threshold of which one unit's group is shown twice as often.
    """
    right = made(epsilon=2, rows=2, groups=2, cells=1, delta=0.02)
    assert _worst(right, right.threshold) <= 0.02 * (1 + 1e-9)
    assert _worst(right, right.threshold - 3) > 0.02


def _worst(mechanism: RowThreshold, threshold: int) -> float:
    growth, far = exp(2), 60
    law = noise_law(mechanism, far)

    def outputs(rows: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        moved = np.zeros(4 * far)
        moved[far + rows : far + rows + law.size] = law
        numbers = np.arange(4 * far) - 2 * far
        hidden = 1.0 if rows == 0 else float(moved[numbers <= threshold].sum())
        return np.concatenate([[hidden], np.where((numbers > threshold) & (rows > 0), moved, 0)])

    worst = 0.0
    for before in product((0, 1, 5, threshold), repeat=2):
        for moves in ((2, 0), (1, 1), (0, 1)):
            after = [n + m for n, m in zip(before, moves, strict=True)]
            p, q = (np.outer(outputs(a), outputs(b)) for a, b in (before, after))
            for one, other in ((p, q), (q, p)):
                worst = max(worst, float(np.maximum(0, one - growth * other).sum()))
    return worst


def test_a_limit_on_groups_and_more_noise_change_the_threshold() -> None:
    many, few = made(rows=300, groups=300), made(rows=300, groups=1)
    assert few.threshold < many.threshold
    assert made(rows=300, epsilon=20).threshold < many.threshold / 10


def test_a_group_of_one_unit_is_seldom_seen() -> None:
    """By the Clopper-Pearson bound, with three rows in one group, and noise that is drawn.

    A fresh seed cries wolf less than once in 10^6; the twin forgets that all rows may be in one.
    """
    mechanism, runs = made(rows=3, cells=2, delta=0.02, epsilon=1, total=4), 100_000
    entropy = ReplayableEntropy(seed=401)
    noise = discrete_laplace(mechanism.noise.scale, 2 * runs, entropy=entropy).reshape(runs, 2)
    cells = noise + np.array([4, 8])

    def upper(hits: int) -> float:
        return float(beta.ppf(1 - FALSE_ALARM, hits + 1, runs - hits))

    assert upper(int(mechanism.kept(cells).sum())) <= 0.02
    lax = cells.sum(axis=1) > (mechanism.threshold - 6) * mechanism.total
    assert upper(int(lax.sum())) > 0.02


def test_groups_are_seen_as_often_as_is_said() -> None:
    """A fresh seed cries wolf once in 10^6; the twin has one cell less."""
    mechanism, runs = made(rows=5, total=1024, cells=2), 100_000
    half, most = mechanism.smallest_seen(0.5), mechanism.smallest_seen(0.99)
    assert mechanism.threshold <= half < most < mechanism.clear(0.95)
    noise = discrete_laplace(
        mechanism.noise.scale, 2 * runs, entropy=ReplayableEntropy(seed=402)
    ).reshape(runs, 2)
    hits = int(mechanism.kept(noise + most * 512).sum())
    share = mechanism.keep_probability(most)
    assert share_misfit(hits, runs, share) > FALSE_ALARM
    assert share_misfit(hits, runs, made(rows=5, total=1024, cells=1).keep_probability(most)) < (
        FALSE_ALARM
    )


def test_it_costs_delta_alone_and_checks_what_it_is_given() -> None:
    mechanism = made()
    assert mechanism.event == ApproximateEvent(epsilon=Fraction(0), delta=Fraction(1, 10**6))
    assert mechanism.epsilon == 1
    for wrong in ({"groups": 4}, {"groups": 0}, {"delta": 0}, {"cells": 9}, {"rows": 0}):
        with pytest.raises(ParameterError):
            made(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(("rows", "epsilon"), [(10**6, 0.01), (1, 100), (10**4, 1)])
def test_the_threshold_is_the_least_one_at_every_scale(rows: int, epsilon: float) -> None:
    mechanism = made(rows=rows, epsilon=epsilon, total=1024, cells=3)
    k = mechanism.threshold
    assert mechanism.beyond_up(k) <= mechanism.delta
    assert k == rows + 1 or mechanism.beyond_up(k - 1) > mechanism.delta
    assert mechanism.smallest_seen(0.5) <= mechanism.smallest_seen(0.99)


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3), st.integers(-2, 2))
def test_cells_of_any_size_are_added_up_exactly(cells: list[int], near: int) -> None:
    mechanism = made(cells=3, total=2)
    most = mechanism.threshold * mechanism.total
    for row in (cells, [2**62, -(2**62), most + near], [-(2**63), 2**60, 2**60]):
        (is_kept,) = mechanism.kept(np.array([row], np.int64))
        assert is_kept == (sum(row) > most)
