"""The laws' own arithmetic: probabilities that sum to 1, curves, means and variances."""

from collections.abc import Callable
from fractions import Fraction
from math import exp, fsum, inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.mechanisms import Gaussian, Geometric, Laplace, Staircase
from discreet.mechanisms.distributions import (
    FINE,
    ClampedDistribution,
    DiscreteGaussianDistribution,
    DiscreteLaplaceDistribution,
    Distribution,
    FineDistribution,
    RoundedDistribution,
    StaircaseDistribution,
)

HALF = Fraction(1, 2)
LAWS: list[Distribution] = [
    DiscreteLaplaceDistribution(centre=Fraction(3), scale=Fraction(5)),
    DiscreteLaplaceDistribution(centre=Fraction(3, 2), scale=Fraction(7, 3), step=HALF),
    DiscreteLaplaceDistribution(centre=Fraction(0), scale=Fraction(1, 4)),
    DiscreteGaussianDistribution(centre=Fraction(-2), spread=Fraction(1, 3)),
    DiscreteGaussianDistribution(centre=Fraction(-2), spread=Fraction(90)),
    DiscreteGaussianDistribution(centre=Fraction(5, 2), spread=Fraction(60), step=HALF),
    StaircaseDistribution(centre=Fraction(1), epsilon=Fraction(1), width=7, tread=2, step=HALF),
    StaircaseDistribution(
        centre=Fraction(1), epsilon=Fraction(1, 5), width=2, tread=1, step=Fraction(1)
    ),
    RoundedDistribution(
        distribution=DiscreteGaussianDistribution(centre=Fraction(3), spread=Fraction(4), step=HALF)
    ),
    RoundedDistribution(
        distribution=DiscreteGaussianDistribution(
            centre=Fraction(0), spread=Fraction(9), step=Fraction(1, 1024)
        )
    ),
    *(
        ClampedDistribution(distribution=inner, low=Fraction(low), high=Fraction(high))
        for inner in (
            DiscreteLaplaceDistribution(centre=Fraction(3), scale=Fraction(5)),
            DiscreteLaplaceDistribution(centre=Fraction(3, 2), scale=Fraction(7, 3), step=HALF),
        )
        for low, high in ((0, 9), (3, 4), (20, 30), (-50, -40))
    ),
]
every_law = pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{law}"[:60])


def values(law: Distribution) -> list[Fraction]:
    """List the values that hold all but e^-40 of a law."""
    step, support = law.support.step, law.support
    centre = round(Fraction(law.mean) / step) * step
    low = centre - 400 if support.low is None else support.low
    high = centre + 400 if support.high is None else support.high
    return [low + k * step for k in range(int((high - low) / step) + 1)]


@every_law
def test_probabilities_sum_to_1(law: Distribution) -> None:
    assert fsum(law.pmf(z) for z in values(law)) == pytest.approx(1, abs=1e-11)


@every_law
def test_the_curve_is_the_running_sum_of_the_probabilities(law: Distribution) -> None:
    """A Gaussian curve of many steps is the normal law's, to within 1 / (24 variance in steps)."""
    is_normal = isinstance(law, DiscreteGaussianDistribution) and law.spread / law.step**2 >= FINE
    slack = float(law.support.step) ** 2 / (24 * law.variance) if is_normal else 1e-7
    total = 0.0
    for z in values(law):
        total += law.pmf(z)
        assert law.cdf(z) == pytest.approx(total, abs=slack)
        assert law.cdf(z + law.support.step / 3) == law.cdf(z)


@every_law
def test_mean_and_variance_are_those_of_the_probabilities(law: Distribution) -> None:
    weights = [(float(z), law.pmf(z)) for z in values(law)]
    mean = fsum(z * p for z, p in weights)
    variance = fsum((z - mean) ** 2 * p for z, p in weights)
    # Rounding from a grid moves halves upwards, by half of the grid's step on average.
    moved = (
        float(law.distribution.support.step) / 2 if isinstance(law, RoundedDistribution) else 0.0
    )
    assert law.mean == pytest.approx(mean, abs=moved + 1e-6)
    assert law.variance == pytest.approx(variance, rel=1e-5, abs=moved**2 + 1e-9)


@every_law
def test_what_is_off_the_grid_never_comes_out(law: Distribution) -> None:
    for z in values(law)[::50]:
        assert law.pmf(z + law.support.step / 3) == 0


@pytest.mark.parametrize(
    ("law", "height"),
    [
        (Laplace(epsilon=1, sensitivity=1).distribution(0), 0.5),
        (Gaussian(epsilon=1, delta=1e-6, sensitivity=1).distribution(0.0), 0.0944),
        (Staircase(epsilon=1, sensitivity=1).distribution(0), 0.521),
    ],
    ids=["laplace", "gaussian", "staircase"],
)
def test_densities_are_those_of_the_line(law: FineDistribution, height: float) -> None:
    """A probability is that of one step of the grid; a density does not know the grid."""
    assert law.density(0) == pytest.approx(height, abs=1e-3)
    assert law.density(0) == law.pmf(0) / law.support.step
    assert law.density(0.3) == pytest.approx(law.density(-0.3), rel=1e-3)
    assert 0 < law.density(0.3) <= law.density(0), "0.3 is not on the grid, and yet has a height"


def test_rounding_a_fine_law_moves_its_mean_by_half_a_step_at_most() -> None:
    law = RoundedDistribution(
        distribution=DiscreteGaussianDistribution(
            centre=Fraction(0), spread=Fraction(9), step=Fraction(1, 1024)
        )
    )
    weights = [(float(z), law.pmf(z)) for z in values(law)]
    mean = fsum(z * p for z, p in weights)
    assert abs(law.mean - mean) <= 1 / 2048 + 1e-9
    variance = fsum((z - mean) ** 2 * p for z, p in weights)
    assert law.variance == pytest.approx(variance, rel=1e-5)
    assert variance == pytest.approx(9 + 1 / 12, rel=1e-5)


@pytest.mark.parametrize(("exact", "end"), [(-1000, 0), (1000, 9)])
def test_answers_far_outside_a_range_come_out_at_its_end(exact: int, end: int) -> None:
    law = Geometric(epsilon=1, sensitivity=1).truncated(0, 9).distribution(exact)
    assert law.pmf(end) == pytest.approx(1)
    assert law.mean == pytest.approx(end)
    assert law.variance == pytest.approx(0, abs=1e-9)
    assert law.pmf(10) == law.pmf(-1) == 0
    assert (law.cdf(-1), law.cdf(9), law.cdf(100)) == (0, 1, 1)


def test_clamped_fine_laws_have_the_mean_and_spread_of_their_curve() -> None:
    law = Laplace(epsilon=1, sensitivity=1).truncated(-1, 2).distribution(0.5)
    assert law.mean == pytest.approx(0.5, abs=1e-3)
    # E[min(|Z|, 3/2)²] = 2 (1 - e^-c (1 + c)) for Laplace of scale 1 and c = 3/2.
    assert law.variance == pytest.approx(2 * (1 - exp(-1.5) * 2.5), rel=1e-3)


@given(st.integers(min_value=-60, max_value=60), st.integers(min_value=-60, max_value=60))
def test_log_odds_are_those_of_the_probabilities(output: int, centre: int) -> None:
    laplace = [
        DiscreteLaplaceDistribution(centre=Fraction(at), scale=Fraction(5)) for at in (0, centre)
    ]
    stairs = [
        StaircaseDistribution(
            centre=Fraction(at), epsilon=Fraction(1, 2), width=7, tread=2, step=Fraction(1)
        )
        for at in (0, centre)
    ]
    for odds, ratio in (
        (
            laplace[0].privacy_loss(output, laplace[1]),
            laplace[0].pmf(output) / laplace[1].pmf(output),
        ),
        (stairs[0].privacy_loss(output, stairs[1]), stairs[0].pmf(output) / stairs[1].pmf(output)),
    ):
        assert exp(odds) == pytest.approx(ratio, rel=1e-9)


@settings(max_examples=30)
@given(st.integers(min_value=-40, max_value=40), st.sampled_from([20, 64, 200]))
def test_brackets_hold_the_probabilities(output: int, bits: int) -> None:
    law = DiscreteLaplaceDistribution(centre=Fraction(1), scale=Fraction(5), step=Fraction(1))
    low, high = law.enclose(output)(bits)
    assert high - low <= 16
    assert low * 2.0**-bits <= law.pmf(output) * (1 + 1e-12)
    assert law.pmf(output) * (1 - 1e-12) <= high * 2.0**-bits


@pytest.mark.parametrize(
    ("make", "variance"),
    [
        (lambda: Laplace(epsilon=2, sensitivity=3).distribution(0), 2 * 1.5**2),
        (
            lambda: Geometric(epsilon=1, sensitivity=1).distribution(0),
            2 * exp(-1) / (1 - exp(-1)) ** 2,
        ),
        (lambda: Staircase(epsilon=Fraction(1, 10**12), sensitivity=1).distribution(0), 2e24),
    ],
    ids=["laplace", "geometric", "staircase"],
)
def test_variances_are_the_textbook_ones(make: Callable[[], Distribution], variance: float) -> None:
    """The staircase of the least epsilon is as wide as Laplace noise, and told at once."""
    assert make().variance == pytest.approx(variance, rel=1e-4)


def test_gaussian_laws_know_their_deviation() -> None:
    mechanism = Gaussian(epsilon=1, delta=1e-6, sensitivity=1)
    assert mechanism.distribution(0.5).variance == pytest.approx(mechanism.scale**2)
    assert mechanism.distribution(0).variance == pytest.approx(
        mechanism.scale**2 + 1 / 12, rel=1e-3
    )
    assert mechanism.rho == pytest.approx(1 / (2 * mechanism.scale**2))
    assert mechanism.distribution(0.5).cdf(10**9) < inf
