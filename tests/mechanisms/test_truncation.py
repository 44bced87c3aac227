"""Truncated mechanisms: odds at the ends too, the channel, the error, ends of any size."""

from fractions import Fraction
from math import exp
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting.pure import pure_epsilon
from discreet.errors import ParameterError
from discreet.mechanisms import Geometric, Laplace
from discreet.noise.enclosures import Enclosure, scaled_exp_neg, share_against_exp_neg
from tests.mechanisms.checks import are_odds_within, is_covered
from tests.mechanisms.examples import made
from tests.mechanisms.strategies import moderate_epsilons, whole_sensitivities
from tests.replay import ReplayableEntropy
from tests.statistics import FALSE_ALARM, counts_misfit


def end_of(distance: int, scale: Fraction) -> Enclosure:
    """Enclose the mass at an end that lies so far beyond the exact answer (below 0: inside it).

    P(Z ≥ n) = a**n / (1 + a) for n ≥ 1, and P(Z ≥ -n) = 1 - a**(n + 1) / (1 + a).
    """
    share = share_against_exp_neg(Fraction(1), Fraction(1), 1 / scale)
    n = distance if distance >= 1 else 1 - distance

    def tail(bits: int) -> tuple[int, int]:
        power, part = scaled_exp_neg(Fraction(1), n / scale)(bits), share(bits)
        return power[0] * part[0] >> bits, -(-power[1] * part[1] >> bits)

    def rest(bits: int) -> tuple[int, int]:
        low, high = tail(bits)
        return (1 << bits) - high, (1 << bits) - low

    return tail if distance >= 1 else rest


@given(
    moderate_epsilons,
    whole_sensitivities,
    st.integers(min_value=-60, max_value=60),
    st.data(),
)
def test_both_ends_keep_the_price(
    epsilon: Fraction, sensitivity: int, exact: int, data: st.DataObject
) -> None:
    mechanism = Geometric(epsilon=epsilon, sensitivity=sensitivity)
    there = exact + data.draw(st.integers(min_value=-sensitivity, max_value=sensitivity))
    for sign in (1, -1):
        p, q = (end_of(sign * -each, mechanism.scale) for each in (exact, there))
        assert are_odds_within(p, q, epsilon)
        assert are_odds_within(q, p, epsilon)


def test_the_closed_form_of_the_ends_is_the_law_of_the_ends() -> None:
    mechanism = Geometric(epsilon=1, sensitivity=2).truncated(-5, 5)
    for exact in (-9, -5, 0, 3, 5, 8):
        low, high = end_of(5 - exact, mechanism.mechanism.scale)(80)  # type: ignore[attr-defined]
        assert low * 2.0**-80 == pytest.approx(mechanism.distribution(exact).pmf(5), abs=1e-14)
        assert high - low < 1 << 20


def test_renormalising_instead_of_clamping_breaks_the_price() -> None:
    """The broken twin: mass beyond the ends is spread over the range, unevenly for neighbours."""
    mechanism = Geometric(epsilon=1, sensitivity=1)

    def renormalised(exact: int, output: int) -> float:
        inside = sum(mechanism.distribution(exact).pmf(z) for z in range(4))
        return mechanism.distribution(exact).pmf(output) / inside

    worst = max(renormalised(0, z) / renormalised(1, z) for z in range(4))
    clamped = mechanism.truncated(0, 3)
    honest = max(clamped.distribution(0).pmf(z) / clamped.distribution(1).pmf(z) for z in range(4))
    assert honest <= exp(1) * (1 + 1e-12)
    assert worst > exp(1) * 1.1


@given(moderate_epsilons, whole_sensitivities)
def test_truncation_costs_nothing_more(epsilon: Fraction, sensitivity: int) -> None:
    mechanism = Geometric(epsilon=epsilon, sensitivity=sensitivity).truncated(0, 10)
    assert pure_epsilon(mechanism.event) == mechanism.epsilon == epsilon


def test_the_channel_keeps_the_price_everywhere() -> None:
    channel = Geometric(epsilon=0.5, sensitivity=1).truncated(0, 30).channel()
    assert np.allclose(channel.sum(axis=1), 1, atol=1e-12)
    odds = channel[1:] / channel[:-1]
    assert odds.max() <= exp(0.5) * (1 + 1e-9)
    assert odds.min() >= exp(-0.5) * (1 - 1e-9)
    # The truncated geometric's corner, by hand: 1 / (1 + a).
    assert channel[0, 0] == pytest.approx(1 / (1 + exp(-0.5)))


@pytest.mark.parametrize("exact", [0, 3, 9, -7, 40])
def test_released_counts_have_the_stated_law(exact: int) -> None:
    """A fresh seed cries wolf once in 10^6; the broken twin draws again what falls outside."""
    mechanism = Geometric(epsilon=0.5, sensitivity=1).truncated(0, 9)
    entropy = ReplayableEntropy(seed=141)
    samples = mechanism.release(np.full(50_000, exact), entropy=entropy)
    law = [mechanism.distribution(exact).pmf(z) for z in range(10)]
    assert sum(law) == pytest.approx(1, abs=1e-12)
    assert counts_misfit(*_common(np.bincount(samples, minlength=10), law)) > FALSE_ALARM
    inner = mechanism.mechanism.release(np.full(50_000, exact), entropy=entropy)
    inside = inner[(inner >= 0) & (inner <= 9)]
    if len(inside) > 1000:
        again = np.bincount(inside, minlength=10)
        assert counts_misfit(*_common(again, law)) < FALSE_ALARM


def _common(counts: np.ndarray, law: list[float]) -> tuple[list[int], list[float]]:
    """Keep the cells that expect ten or more, and all the others as one."""
    total = int(counts.sum())
    often = [z for z, p in enumerate(law) if p * total >= 10]
    rest = 1 - sum(law[z] for z in often)
    found = [int(counts[z]) for z in often], [law[z] for z in often]
    if rest * total < 1e-3:
        return found
    return [*found[0], total - sum(found[0])], [*found[1], rest]


@pytest.mark.parametrize(
    "mechanism", [Geometric(epsilon=1, sensitivity=1), Laplace(epsilon=1, sensitivity=1)], ids=repr
)
def test_the_error_is_kept_inside_the_range(mechanism: Geometric | Laplace) -> None:
    """A fresh seed cries wolf once in 10^6; the error never exceeds the range."""
    truncated, entropy = mechanism.truncated(0, 4), ReplayableEntropy(seed=142)
    error = truncated.margin(0.9)
    kept = sum(abs(truncated.release(1, entropy=entropy) - 1) <= error for _ in range(5_000))
    assert is_covered(kept, 5_000, 0.9)
    assert mechanism.truncated(0, 1).margin(0.999999) == 1


@pytest.mark.parametrize("exact", [-3.7, 0.0, 0.5, 9.99])
def test_reals_never_leave_the_range(exact: float) -> None:
    mechanism = Laplace(epsilon=0.1, sensitivity=0.1, answers=1000).truncated(0.3, 0.7)
    samples = mechanism.release(np.full(1000, exact), entropy=ReplayableEntropy(seed=143))
    assert samples.dtype == np.float64
    assert samples.min() >= float(mechanism.low) >= 0.3
    assert samples.max() <= float(mechanism.high) <= 0.7


def test_ends_of_any_size_are_served() -> None:
    mechanism, entropy = Geometric(epsilon=1, sensitivity=1), ReplayableEntropy(seed=144)
    wide = mechanism.truncated(0, 10**30)
    assert wide.release(np.array([-50, 5]), entropy=entropy)[0] == 0
    assert wide.release(10**31, entropy=entropy) == 10**30
    assert type(wide.release(-5, entropy=entropy)) is int


@pytest.mark.parametrize(
    ("low", "high", "named"),
    [
        (1, 1, "range"),
        (2, 1, "range"),
        (0.5, 1, "low"),
        (float("nan"), 1, "low"),
        (0, float("inf"), "high"),
        (None, 1, "low"),
        ("0", 1, "low"),
        (0, True, "high"),
    ],
)
def test_ends_that_are_none_are_refused(low: object, high: object, named: str) -> None:
    with pytest.raises(ParameterError, match=f"{named} must"):
        Geometric(epsilon=1, sensitivity=1).truncated(low, high)  # type: ignore[arg-type]


def test_ends_closer_than_a_step_are_refused() -> None:
    with pytest.raises(ParameterError, match="range must have low below high"):
        Laplace(epsilon=1, sensitivity=1).truncated(0.1, 0.1000001)


def test_the_channel_is_that_of_the_laws() -> None:
    """Its rows are cut out of one long row; the laws are asked one by one."""
    mechanism = Geometric(epsilon=0.5, sensitivity=1).truncated(-3, 9)
    one_by_one = [[mechanism.distribution(y).pmf(z) for z in range(-3, 10)] for y in range(-3, 10)]
    assert np.allclose(mechanism.channel(), one_by_one, rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    "mechanism", [Geometric(epsilon=1, sensitivity=1), made(Laplace)], ids=repr
)
def test_a_coarse_channel_holds_all_that_is_released_in_each_part(mechanism: Any) -> None:
    truncated = mechanism.truncated(0, 10_000)
    channel = truncated.channel(bins=10)
    assert channel.shape == (10, 10)
    assert np.allclose(channel.sum(axis=1), 1, atol=1e-12)
    law = truncated.distribution(4_500)
    assert channel[4, 4] == pytest.approx(law.cdf(5_000) - law.cdf(4_000))
    axes = truncated.plot().figure.axes[0]
    assert axes.get_title() == "truncated to 0 … 10000, ε = 1"
    assert [text.get_text() for text in axes.get_yticklabels()][:2] == ["100", "1100"]


@pytest.mark.parametrize("bins", [0, -1, 2.5, 2001, "2", True])
def test_parts_that_are_none_are_refused(bins: Any) -> None:
    with pytest.raises(ParameterError, match="bins must be"):
        made(Laplace).truncated(0, 1).channel(bins=bins)


def test_a_channel_too_large_to_hold_is_refused() -> None:
    with pytest.raises(ParameterError, match="range must hold at most 2000 values"):
        Geometric(epsilon=1, sensitivity=1).truncated(0, 10**6).channel()
