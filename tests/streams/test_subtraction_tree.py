"""The tree with subtraction: error, secrets between ticks, odds over whole streams."""

from fractions import Fraction
from itertools import product
from math import exp, sqrt

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.streams import NodeNoise, SubtractionTree
from tests.statistics import FALSE_ALARM, misfit

CALL = {"SubtractionTree": SubtractionTree}


def test_errors_are_those_of_the_literature() -> None:
    year = SubtractionTree(ticks=365, epsilon=1)
    assert (year.arity, year.levels) == (29, 2)
    assert 10.3 < year.rms_deviation <= 10.4
    assert year.max_deviation == pytest.approx(14.5, abs=0.05)
    assert SubtractionTree(ticks=10**6, epsilon=1).rms_deviation == pytest.approx(33.7, abs=0.1)


@pytest.mark.parametrize(("ticks", "arity"), [(40, 3), (40, 5), (40, 81), (365, None)])
def test_sampled_errors_have_the_stated_deviations(ticks: int, arity: int | None) -> None:
    runs = 2000
    tree = SubtractionTree(ticks=ticks, epsilon=1, arity=arity, cells=runs)
    increments = np.tile(np.arange(ticks)[:, None] % 7, (1, runs))
    record, _ = tree.release(increments)
    week = np.cumsum(increments, axis=0)
    week[7:] -= week[:-7].copy()
    for estimates, exact, deviations in (
        (tree.running(record), np.cumsum(increments, axis=0), tree.deviations()),
        (tree.windows(record, 7), week, tree.window_deviations(7)),
    ):
        errors = (estimates - exact) / deviations[:, None]
        # Of a mean square of n numbers with kurtosis 6 or less, the deviation is √(5 / n).
        assert np.abs((errors**2).mean(axis=1) - 1).max() < 6.5 * sqrt(5 / runs)
        assert np.abs(errors.mean(axis=1)).max() < 6 / sqrt(runs)


def test_released_tick_by_tick_the_errors_are_correlated_in_the_same_way() -> None:
    """Windows are as precise as stated only if the noise of earlier ticks is used again."""
    runs, ticks = 3000, 25
    tree = SubtractionTree(ticks=ticks, epsilon=1, arity=5, cells=runs)
    increments = np.ones((ticks, runs), int)
    secrets, rows = None, []
    for tick in range(ticks):
        row, secrets = tree.release(increments[: tick + 1], tick, secrets=secrets)
        secrets = NodeNoise.from_bytes(secrets.to_bytes())
        rows.append(row)
    errors = tree.windows(np.concatenate(rows), 1) - 1
    shares = (errors**2).mean(axis=1) / tree.window_deviations(1) ** 2
    assert np.abs(shares - 1).max() < 6.5 * sqrt(5 / runs)


def test_noise_that_was_drawn_again_is_noticed() -> None:
    """The broken twin of the test above: noise of earlier ticks is forgotten."""
    runs = 3000
    tree = SubtractionTree(ticks=25, epsilon=1, arity=5, cells=runs)
    rows = [tree.release(np.ones((tick, runs), int))[0][-1:] for tick in range(1, 26)]
    errors = tree.windows(np.concatenate(rows), 1) - 1
    shares = (errors**2).mean(axis=1) / tree.window_deviations(1) ** 2
    assert np.abs(shares - 1).max() > 6.5 * sqrt(5 / runs)


def test_secrets_are_not_shown_and_belong_to_their_tick() -> None:
    tree = SubtractionTree(ticks=10, epsilon=1)
    _, secrets = tree.release([[1]] * 4)  # type: ignore[list-item]
    assert repr(secrets) == "NodeNoise(sealed)"
    with pytest.raises(ParameterError, match="secrets must be what was returned at tick 4"):
        tree.release([[1]] * 5, 4)  # type: ignore[list-item]
    with pytest.raises(
        ParameterError, match="secrets must be what this mechanism returned at tick"
    ):
        tree.release([[1]] * 5, 3, secrets=secrets)  # type: ignore[list-item]
    with pytest.raises(ParameterError, match="stored must be what to_bytes returned"):
        NodeNoise.from_bytes(secrets.to_bytes()[:-8])
    with pytest.raises(ParameterError, match="stored must be what to_bytes returned"):
        NodeNoise.from_bytes(np.array([4, -1, -2, 1, 7, 8]).tobytes())


def test_no_record_has_worse_odds_than_its_cost() -> None:
    """Written in base 3 with digits -1, 0, 1, the first ticks are 1, 10 - 1, 10.

    So their totals have the noises a, b - c and b, of the nodes [1, 1], [1, 3] and (2, 3].
    """
    tree = SubtractionTree(ticks=4, epsilon=1, arity=3)
    assert tree.levels == 2
    q = exp(-1 / tree.scale)

    def weight(noise: int) -> float:
        return (1 - q) / (1 + q) * q ** abs(noise)

    def chance(record: tuple[int, ...], exact: tuple[int, ...]) -> float:
        one, two, three = (record[i] - sum(exact[: i + 1]) for i in range(3))
        return weight(one) * weight(three) * weight(three - two)

    worst = 0.0
    for record in product(range(-5, 6), repeat=3):
        for added in ((1, 0, 0), (0, 1, 0), (0, 0, 1)):
            ratio = chance(record, added) / chance(record, (0, 0, 0))
            worst = max(worst, ratio, 1 / ratio)
    assert worst <= exp(1) * (1 + 1e-12)
    # What is released has these noises, and they are independent.
    runs = 20_000
    noisy, _ = SubtractionTree(ticks=4, epsilon=1, arity=3, cells=runs).release(
        np.zeros((3, runs), int)
    )
    noises = np.array([noisy[0], noisy[2], noisy[2] - noisy[1]])
    for each in noises:
        assert misfit(each, weight, 25) > FALSE_ALARM / 3
    correlations = np.asarray(np.corrcoef(noises))[np.triu_indices(3, 1)]
    assert np.abs(correlations).max() < 6 / sqrt(runs)


def test_it_is_only_for_streams_that_do_not_react() -> None:
    tree = SubtractionTree(ticks=365, epsilon=Fraction(1, 2), rows_per_unit=3, magnitude=5)
    assert not tree.is_adaptive
    assert tree.keeps_secrets
    assert tree.scale == 3 * 5 * 2 * 2
    assert tree.delta == 0
    assert eval(repr(tree), CALL) == tree  # noqa: S307


def test_an_even_arity_is_rejected() -> None:
    with pytest.raises(ParameterError, match="arity must be odd"):
        SubtractionTree(ticks=10, epsilon=1, arity=4)
