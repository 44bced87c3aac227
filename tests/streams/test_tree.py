"""Trees of partial sums: nodes, noise, error, odds."""

from fractions import Fraction
from itertools import product
from math import exp, sqrt

import numpy as np
import pytest

from discreet.accounting import ApproximateEvent, PureEvent
from discreet.errors import ParameterError
from discreet.mechanisms import Geometric
from discreet.noise.uniform import IntArray
from discreet.streams import SquareRoot, StreamMechanism, Tree, best_mechanism
from discreet.streams.gaussian_grid import GaussianGrid
from discreet.streams.nodes import Digits, laplace_sum_margins, mean_noises
from tests.statistics import FALSE_ALARM, misfit
from tests.streams.units import numbers, squared_length, units, worst_unit

DELTA = Fraction(1, 10**6)


def nodes(tree: Tree, increments: IntArray) -> IntArray:
    """Return what is released at each tick before the noise, in counts."""
    return tree._exact(increments, 0)


# --------------------------------------------------------------------------- error


def test_errors_are_those_of_the_literature() -> None:
    fresh = Tree(ticks=365, epsilon=1, delta=DELTA, arity=365)
    assert fresh.levels == 1
    assert fresh.max_deviation == pytest.approx(sqrt(365) * 4.2247, rel=1e-4)
    binary = Tree(ticks=365, epsilon=1, delta=DELTA)
    assert binary.rms_deviation == pytest.approx(25.6, abs=0.05)
    assert binary.max_deviation == pytest.approx(35.8, abs=0.05)
    assert Tree(ticks=365, epsilon=1, arity=20).rms_deviation < 12


@pytest.mark.parametrize("delta", [0, DELTA])
def test_the_best_arity_is_the_best_of_all(delta: Fraction) -> None:
    best = Tree.best(ticks=100, epsilon=1, delta=delta, rows_per_unit=3, rows_per_tick=1)
    others = [
        Tree(
            ticks=100, epsilon=1, delta=delta, arity=arity, rows_per_unit=3, rows_per_tick=1
        ).rms_deviation
        for arity in range(2, 101)
    ]
    assert best.rms_deviation == pytest.approx(min(others))


@pytest.mark.parametrize("digits", Digits)
def test_the_mean_number_of_noises_is_counted_without_a_list(digits: Digits) -> None:
    for ticks, arity in product((1, 2, 9, 27, 40), (3, 5, 27, 81)):
        levels = 4 if arity < 27 else 2
        used = np.zeros(ticks)
        for tick in range(1, ticks + 1):
            rest = tick
            for level in range(levels):
                digit = rest % arity if level < levels - 1 else rest
                if digits is Digits.BALANCED:
                    digit = (rest + arity // 2) % arity - arity // 2
                used[tick - 1] += abs(digit)
                rest = (rest - digit) // arity
        assert mean_noises(ticks, arity, levels, digits) == pytest.approx(used.mean())


@pytest.mark.parametrize(
    "terms", [{"arity": 2}, {"arity": 3}, {"arity": 7, "delta": 1e-6}, {"arity": 60}]
)
def test_sampled_errors_have_the_stated_deviations(terms: dict[str, float]) -> None:
    runs = 3000
    tree = Tree(ticks=60, epsilon=1, cells=runs, **terms)  # type: ignore[arg-type]
    increments = np.tile(np.arange(60)[:, None] % 7, (1, runs))
    record = tree.release(increments)
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


def test_margins_cover_as_often_as_they_say() -> None:
    runs = 20_000
    for epsilon in (1, Fraction(1, 10)):  # noise of scale 2 and 20
        tree = Tree(ticks=9, epsilon=epsilon, arity=3, cells=runs)
        record = tree.release(np.zeros((9, runs), int))
        missed = (np.abs(tree.running(record)) > tree.margins(0.9)[:, None]).sum(axis=1)
        # Integers miss less often than stated. Six standard deviations of a binomial share.
        assert missed.max() < runs / 10 + 6 * sqrt(runs * 0.09)
        assert missed.min() > runs / 10 * (0.6 if epsilon == 1 else 0.8)


def test_a_margin_of_one_noise_is_that_of_the_mechanism() -> None:
    for scale in (Fraction(1, 2), Fraction(3), Fraction(25), Fraction(10**6)):
        plain = Geometric(epsilon=1 / scale, sensitivity=1).margin(0.95)
        ours = laplace_sum_margins(scale, np.array([0, 1]), Fraction(1, 20))
        assert ours[0] == 0
        assert plain <= ours[1] <= plain * (1 + 1e-6) + 1


# --------------------------------------------------------------------------- nodes


@pytest.mark.parametrize("arity", [2, 3, 5, 20])
def test_a_total_is_the_sum_of_its_nodes(arity: int) -> None:
    tree = Tree(ticks=20, epsilon=1, arity=arity, cells=2)
    increments = numbers(3, -50, 50, 17, 2)
    record = nodes(tree, increments)
    assert (tree.running(record) == np.cumsum(increments, axis=0)).all()
    assert (tree.windows(record, 1) == increments).all()
    for since in (0, 5, 17):
        assert (tree._exact(increments, since) == record[since:]).all()
        assert tree.release(increments, since).shape == (17 - since, 2)


def test_large_sums_are_exact_until_they_are_clamped() -> None:
    tree = Tree(ticks=8, epsilon=1)
    increments = np.full((8, 1), 2**59)
    assert nodes(tree, increments)[:, 0].tolist() == [
        2**59 * size if size < 4 else 2**61 for size in (1, 2, 1, 4, 1, 2, 1, 4)
    ]


@pytest.mark.parametrize(("rows", "per_tick"), [(1, None), (3, None), (3, 1), (5, 2)])
@pytest.mark.parametrize("arity", [2, 3, 12])
def test_no_unit_moves_the_nodes_more_than_the_sensitivity(
    arity: int, rows: int, per_tick: int | None
) -> None:
    terms = {"ticks": 12, "cells": 2, "rows": rows, "per_tick": per_tick or rows, "magnitude": 3}
    given = {
        "ticks": 12,
        "epsilon": 1,
        "arity": arity,
        "cells": 2,
        "rows_per_unit": rows,
        "rows_per_tick": per_tick,
        "magnitude": 3,
    }
    pure, gaussian = Tree(**given), Tree(**given, delta=1e-6)  # type: ignore[arg-type]
    assert isinstance(pure.noise, Geometric)
    assert isinstance(gaussian.noise, GaussianGrid)
    squared = gaussian.noise.event.sensitivity_squared * gaussian.noise.step**2
    for added in units(rows, trials=200, **terms):
        moved = nodes(pure, added)
        assert np.abs(moved).sum() <= pure.noise.sensitivity
        assert squared_length(moved) <= squared
    if per_tick is None:
        worst = nodes(pure, worst_unit(**terms))
        assert np.abs(worst).sum() == pure.noise.sensitivity
        assert squared_length(worst) == squared


# --------------------------------------------------------------------------- odds


def probability(noise: Geometric, record: tuple[int, ...], exact: IntArray) -> float:
    a = exp(-1 / noise.scale)
    return float(
        np.prod(
            [(1 - a) / (1 + a) * a ** abs(y - x) for y, x in zip(record, exact.flat, strict=True)]
        )
    )


def test_no_record_of_a_reacting_stream_has_worse_odds_than_its_cost() -> None:
    """The stream's second tick depends on what was released at the first. Records in reach."""
    tree = Tree(ticks=3, epsilon=1, arity=2)
    assert isinstance(tree.noise, Geometric)
    worst = 0.0
    for record in product(range(-4, 6), repeat=3):
        reaction = 2 if record[0] > 0 else -1
        later = -reaction if record[1] % 2 else 1
        without = np.array([[0], [reaction], [later]])
        for tick in range(3):
            added = without.copy()
            added[tick] += 1
            ratio = probability(tree.noise, record, nodes(tree, added)) / probability(
                tree.noise, record, nodes(tree, without)
            )
            worst = max(worst, ratio, 1 / ratio)
    assert worst == pytest.approx(exp(1), rel=1e-12)


def test_each_node_has_fresh_geometric_noise() -> None:
    runs = 20_000
    tree = Tree(ticks=4, epsilon=1, arity=2, cells=runs)
    assert isinstance(tree.noise, Geometric)
    a = exp(-1 / tree.noise.scale)
    record = tree.release(np.zeros((4, runs), int))
    for row in record:
        assert misfit(row, lambda z: (1 - a) / (1 + a) * a ** abs(z), 30) > FALSE_ALARM / 4
    correlations = np.asarray(np.corrcoef(record))[np.triu_indices(4, 1)]
    assert np.abs(correlations).max() < 6 / sqrt(runs)


# --------------------------------------------------------------------------- cost and choice


def test_the_whole_stream_is_one_charge() -> None:
    pure = Tree(ticks=365, epsilon=Fraction(1, 2))
    assert pure.events == pure.concentrated_events == (PureEvent(epsilon=Fraction(1, 2)),)
    gaussian = Tree(ticks=365, epsilon=1, delta=DELTA, cells=4)
    assert gaussian.events == (ApproximateEvent(epsilon=Fraction(1), delta=DELTA),)
    (event,) = gaussian.concentrated_events
    assert event.answers == 365 * 4  # type: ignore[attr-defined]
    assert eval(repr(gaussian), {"Tree": Tree}) == gaussian  # noqa: S307


@pytest.mark.parametrize(
    ("ticks", "delta", "kind"),
    [
        (30, 1e-6, Tree),
        (365, 1e-6, SquareRoot),
        (365, 0, Tree),
        (365, 1e-9, Tree),
        (4000, 1e-9, SquareRoot),
    ],
)
def test_the_mechanism_of_least_error_is_chosen(
    ticks: int, delta: float, kind: type[StreamMechanism]
) -> None:
    found = best_mechanism(ticks=ticks, epsilon=1, delta=delta)
    assert isinstance(found, kind)
    assert found.is_adaptive
    assert not found.keeps_secrets
    assert found.rms_deviation <= Tree.best(ticks=ticks, epsilon=1).rms_deviation


@pytest.mark.parametrize(
    ("terms", "sentence"),
    [
        ({"arity": 1}, "arity must be 2 or more"),
        ({"delta": -1}, "delta must be 0 or more"),
        ({"epsilon": 0}, "epsilon must be more than 0"),
        ({"rows_per_unit": 0}, "rows_per_unit must be 1 or more"),
    ],
)
def test_wrong_terms_are_rejected_in_a_sentence(terms: dict[str, float], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        Tree(**({"ticks": 10, "epsilon": 1} | terms))  # type: ignore[arg-type]
