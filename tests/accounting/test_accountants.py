"""Every accountant prices or refuses every kind of event, and none prices below the truth."""

from collections.abc import Callable
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from discreet.accounting import (
    ApproximateEvent,
    DiscreteGaussianEvent,
    DiscreteLaplaceEvent,
    Event,
    FixedSampleEvent,
    PoissonSampledEvent,
    RandomizedResponseEvent,
    advanced_epsilon,
    basic_cost,
    compose,
    epsilon_from_rdp,
    epsilon_from_rho,
    gdp_delta,
    gdp_epsilon,
    gdp_mu_squared,
    heterogeneous_epsilon,
    optimal_epsilon,
    pld,
    pld_delta,
    pld_epsilon,
    pure_epsilon,
    rdp_epsilon,
    zcdp_rho,
)
from discreet.accounting.gdp import delta_from_mu
from discreet.accounting.pld import grid
from discreet.accounting.pld.stretches import GaussianStretch, SampledStretch
from discreet.errors import ParameterError, UnsupportedEventError
from tests.accounting import exact
from tests.accounting.made import (
    ONE_OF_EACH,
    counts,
    deltas,
    discrete_laplace,
    epsilons,
    gaussian,
    gaussians,
    laplace,
    mixes,
    pure,
    pure_events,
    sampled,
    simple_events,
    tenth,
)

WITHOUT_PURE = {"gaussian/1", "discrete-gaussian/1", "approximate/1", "concentrated/1"}
SAMPLED = {"poisson-sampled/1", "fixed-sample/1"}  # of Gaussians, in the examples

REFUSED: dict[Callable[[Event], object], set[str]] = {
    pure_epsilon: WITHOUT_PURE | SAMPLED,
    basic_cost: (WITHOUT_PURE | SAMPLED) - {"approximate/1"},
    zcdp_rho: {"approximate/1"} | SAMPLED,
    lambda event: rdp_epsilon(event, 2): {"approximate/1"},
    lambda event: pld_epsilon(event, 1e-6): {"concentrated/1", "fixed-sample/1"},
}


@pytest.mark.parametrize("event", ONE_OF_EACH, ids=lambda event: event.tag)
def test_every_kind_is_priced_or_listed_as_refused(event: Event) -> None:
    for price, refused in REFUSED.items():
        if event.tag in refused:
            with pytest.raises(UnsupportedEventError):
                price(event)
        else:
            assert price(event) is not None


@pytest.mark.parametrize("event", ONE_OF_EACH, ids=lambda event: event.tag)
def test_only_gaussians_are_priced_by_gdp(event: Event) -> None:
    if event.tag == "gaussian/1":
        assert gdp_mu_squared(event) > 0
    else:
        with pytest.raises(UnsupportedEventError):
            gdp_mu_squared(event)


@pytest.mark.parametrize("event", ONE_OF_EACH, ids=lambda event: event.tag)
def test_every_kind_has_some_price_at_a_delta(event: Event) -> None:
    price = compose(event, 1e-6)
    assert 0 < price.epsilon < inf
    assert price.epsilon == min(price.alternatives.values())
    assert price.accountant in str(price)


# ------------------------------------------------------------------------ never below the truth


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(epsilons, st.integers(1, 4), st.integers(1, 5)), max_size=3), deltas)
def test_pld_is_never_below_enumeration(
    parts: list[tuple[Fraction, int, int]], delta: Fraction
) -> None:
    events = [discrete_laplace(epsilon, size) * count for epsilon, size, count in parts]
    laws = [exact.discrete_laplace_law(s, s / e) for e, s, k in parts for _ in range(k)]
    law = exact.summed(laws)
    price = pld_epsilon(events, delta)
    assert exact.delta_of(law, price) <= delta
    # Near the largest loss the plain sum is the tighter price.
    price = min(price, float(sum(epsilon * count for epsilon, _, count in parts)))
    assert price < 1e-9 or exact.delta_of(law, price * (1 - 1e-3) - 1e-5) > delta


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(epsilons, st.integers(1, 6)), min_size=1, max_size=3), st.floats(0, 8))
def test_pld_delta_is_never_below_enumeration(
    parts: list[tuple[Fraction, int]], epsilon: float
) -> None:
    law = exact.summed(exact.response_law(e) for e, k in parts for _ in range(k))
    true = exact.delta_of(law, epsilon)
    price = pld_delta([pure(e) * k for e, k in parts], epsilon)
    assert true * (1 - mp_tiny) <= price <= true * 1.001 + 1e-30


mp_tiny = 1e-30


@settings(max_examples=40, deadline=None)
@given(epsilons, st.integers(2, 2000), st.integers(1, 12), deltas)
def test_responses_among_many_values_are_priced_with_all_of_them(
    epsilon: Fraction, categories: int, count: int, delta: Fraction
) -> None:
    """Two values are told apart by two of the reports only; all others tell nothing."""
    law = exact.summed([exact.response_law(epsilon, categories)] * count)
    price = pld_epsilon(
        RandomizedResponseEvent(epsilon=epsilon, categories=categories) * count, delta
    )
    assert exact.delta_of(law, price) <= delta
    assert price < 1e-9 or exact.delta_of(law, price * (1 - 1e-3) - 1e-5) > delta


def test_ten_responses_among_a_thousand_values_cost_a_quarter_of_those_among_two() -> None:
    among = {
        k: pld_epsilon(RandomizedResponseEvent(epsilon=Fraction(1), categories=k) * 10, tenth(6))
        for k in (1, 2, 1000)
    }
    assert among[1] == among[2] == pytest.approx(10, rel=1e-4)
    assert among[1000] == pytest.approx(2.4479, rel=1e-4)


@pytest.mark.parametrize("added", [False, True])
@pytest.mark.parametrize("share", [0.5, 1e-3, 1e-6])
@pytest.mark.parametrize("mu", [0.5, 2.0, 0.01])
def test_the_mass_of_losses_on_a_sample_is_trusted_to_no_more_than_it_is_worth(
    mu: float, share: float, added: bool
) -> None:
    """Against 50 digits, between the losses of the whole that the floats name."""
    part = SampledStretch(whole=GaussianStretch(mu=mu), share=share, added=added)
    low, high = part.reach(1e-20)
    edges = np.linspace(low, high, 100_001)
    some = np.r_[0:40, 40 : len(edges) - 41 : 997, len(edges) - 41 : len(edges) - 1]
    starts, ends = edges[some], edges[some + 1]
    trust, masses = part.trust(starts, ends), part.mass(starts, ends)
    assert np.all(trust > 0)
    lows, highs = part._whole_losses(starts, ends)
    for i in range(len(some)):
        if not lows[i] < highs[i]:
            continue
        for found, shift in zip(
            part.whole.mass(lows[i : i + 1], highs[i : i + 1]), (-1, 1), strict=True
        ):
            a, b = ((mp.mpf(each) / mu + shift * mp.mpf(mu) / 2) for each in (lows[i], highs[i]))
            true = mp.ncdf(b) - mp.ncdf(a) if b < 0 else mp.ncdf(-a) - mp.ncdf(-b)
            if true > 1e-290:
                assert abs(mp.mpf(float(found[0])) / true - 1) <= trust[i]
    assert np.all(np.isfinite(masses))


@settings(max_examples=20, deadline=None)
@given(
    st.integers(1, 3),
    st.fractions(Fraction(1, 4), 9, max_denominator=8),
    st.integers(1, 3),
    st.integers(2, 12).map(tenth),
)
def test_small_discrete_gaussians_are_priced_from_their_law(
    shift: int, variance: Fraction, count: int, delta: Fraction
) -> None:
    event = DiscreteGaussianEvent(sensitivity_squared=Fraction(shift**2), variance=variance)
    law = exact.summed([exact.discrete_gaussian_law(shift, variance)] * count)
    price = pld_epsilon(event * count, delta)
    assert exact.delta_of(law, price) <= delta
    assert price < 1e-9 or exact.delta_of(law, price * (1 - 1e-3) - 1e-5) > delta


@settings(max_examples=40, deadline=None)
@given(epsilons, st.integers(1, 30), deltas)
def test_optimal_composition_is_exact(epsilon: Fraction, count: int, delta: Fraction) -> None:
    law = exact.summed([exact.response_law(epsilon)] * count)
    price = optimal_epsilon((epsilon, Fraction(0)), count, delta)
    assert exact.delta_of(law, price) <= delta
    assert price < 1e-9 or exact.delta_of(law, price * (1 - 1e-9) - 1e-12) > delta


@given(st.floats(0, 50), st.fractions(Fraction(1, 10**9), 20))
def test_the_gaussian_curve_is_never_below_50_digits(epsilon: float, mu: Fraction) -> None:
    true = exact.gaussian_delta_of(epsilon, Fraction(float(mu)))
    price = delta_from_mu(epsilon, float(mu))
    assert true <= price <= true * (1 + 1e-7) + 1e-300


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(gaussians, counts), min_size=1, max_size=4), deltas)
def test_pld_is_never_below_gdp_where_that_is_exact(
    parts: list[tuple[Event, int]], delta: Fraction
) -> None:
    events = [event * count for event, count in parts]
    true = gdp_epsilon(events, delta)
    assert true * (1 - 1e-12) <= pld_epsilon(events, delta) <= true * (1 + 1e-3) + 1e-6


@settings(max_examples=30, deadline=None)
@given(pure_events, counts, deltas)
def test_optimal_composition_is_never_below_pld(event: Event, count: int, delta: Fraction) -> None:
    """PLD knows more than the epsilon of each release, so it never costs more."""
    bound = optimal_epsilon(basic_cost(event), count, delta)
    assert pld_epsilon(event * count, delta) <= bound * (1 + 1e-4) + 1e-4


@given(st.integers(1, 4), st.integers(1, 4), epsilons, st.floats(-3, 3))
def test_a_vector_of_laplace_noise_costs_no_more_than_a_number(
    first: int, second: int, rate: Fraction, epsilon: float
) -> None:
    """The lemma by which vectors are priced like numbers of the same L1 sensitivity."""
    scale = 1 / rate
    apart = exact.summed(exact.discrete_laplace_law(s, scale) for s in (first, second))
    together = exact.discrete_laplace_law(first + second, scale)
    assert exact.delta_of(apart, epsilon) <= exact.delta_of(together, epsilon) + mp_tiny


@settings(deadline=None)
@given(st.integers(2, 300), st.integers(1, 6), deltas)
def test_discrete_gaussians_over_the_bridge_are_never_below_their_law(
    variance: int, shift: int, delta: Fraction
) -> None:
    event = DiscreteGaussianEvent(
        sensitivity_squared=Fraction(shift**2), variance=Fraction(variance)
    )
    epsilon = gdp_epsilon(event, delta)
    if epsilon < 30:
        law = exact.discrete_gaussian_law(shift, Fraction(variance))
        assert exact.delta_of(law, epsilon) <= delta
        assert exact.delta_of(law, epsilon) <= gdp_delta(event, Fraction(epsilon)) <= 1


def test_the_bridge_costs_nothing_on_the_grid_that_is_drawn_from() -> None:
    fine = DiscreteGaussianEvent(
        sensitivity_squared=Fraction(2**48), variance=Fraction(2**48), answers=1000
    )
    assert gdp_epsilon(fine, tenth(6)) == pytest.approx(gdp_epsilon(gaussian(1), tenth(6)), 1e-8)
    loud = DiscreteGaussianEvent(sensitivity_squared=Fraction(2**54), variance=Fraction(2**48))
    assert gdp_epsilon(loud, tenth(6)) == pytest.approx(
        gdp_epsilon(gaussian("1/8"), tenth(6)), 1e-8
    )


# -------------------------------------------------------------------------------- broken twins


def test_rounding_losses_down_would_be_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    law = exact.summed([exact.response_law(Fraction(1, 7))] * 10)
    monkeypatch.setattr(pld, "grid_width", lambda *_: 0.05)
    assert exact.delta_of(law, pld_epsilon(pure("1/7") * 10, tenth(4))) <= tenth(4)
    monkeypatch.setattr(grid, "_share_up", lambda ratio, _: 0.0 * ratio)
    assert exact.delta_of(law, pld_epsilon(pure("1/7") * 10, tenth(4))) > tenth(4)


def test_half_the_sensitivity_would_be_caught() -> None:
    law = exact.summed([exact.discrete_laplace_law(2, Fraction(10))] * 10)
    halved = pld_epsilon(DiscreteLaplaceEvent(sensitivity=1, scale=Fraction(10)) * 10, tenth(4))
    right = pld_epsilon(DiscreteLaplaceEvent(sensitivity=2, scale=Fraction(10)) * 10, tenth(4))
    assert exact.delta_of(law, halved) > tenth(4) >= exact.delta_of(law, right)


# ------------------------------------------------------------------------------------ monotone


@settings(max_examples=40, deadline=None)
@given(mixes, simple_events, deltas)
def test_one_more_release_never_costs_less(
    events: list[Event], more: Event, delta: Fraction
) -> None:
    before, after = compose(events, delta), compose([*events, more], delta)
    assert after.epsilon >= float(before.epsilon) * (1 - 1e-4) - 1e-9


@settings(max_examples=40, deadline=None)
@given(mixes, deltas)
def test_a_smaller_delta_never_costs_less(events: list[Event], delta: Fraction) -> None:
    high, low = compose(events, delta), compose(events, delta / 1000)
    assert low.epsilon >= float(high.epsilon) * (1 - 1e-4) - 1e-9


@settings(max_examples=40, deadline=None)
@given(mixes, deltas, st.randoms())
def test_the_order_of_releases_changes_no_digit(
    events: list[Event], delta: Fraction, shuffler: Any
) -> None:
    shuffled = list(events)
    shuffler.shuffle(shuffled)
    first, second = pld_epsilon(events, delta), pld_epsilon(shuffled, delta)
    assert first == pytest.approx(second, rel=1e-9, abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(mixes, st.integers(2, 9).map(tenth))
def test_pld_curves_are_inverse(events: list[Event], delta: Fraction) -> None:
    epsilon = pld_epsilon(events, delta)
    assert pld_delta(events, epsilon) <= float(delta) * 1.05


def test_sampling_a_unit_always_is_not_sampling() -> None:
    for event in (gaussian(1), laplace(1), pure(1)):
        always = PoissonSampledEvent(event=event, probability=Fraction(1))
        assert pld_epsilon(always, tenth(6)) == pytest.approx(pld_epsilon(event, tenth(6)), 1e-4)
        assert epsilon_from_rdp(always, tenth(6)) == epsilon_from_rdp(event, tenth(6))


def test_sampling_makes_a_pure_release_cheaper_as_the_theorem_says() -> None:
    event = sampled(pure(1), "1/100")
    assert float(pure_epsilon(event)) == pytest.approx(0.0170368632, rel=1e-8)
    assert pld_epsilon(event, tenth(6)) <= float(pure_epsilon(event)) * 1.001
    fixed = FixedSampleEvent(event=pure(1), size=1, population=100)
    assert pure_epsilon(fixed) == pure_epsilon(event)


def test_the_sampled_pair_is_never_below_enumeration() -> None:
    """Randomized response on a sample of one in ten, by hand, a unit removed and added."""
    share, epsilon = Fraction(1, 10), Fraction(1)
    top = exact.response_law(epsilon)
    pairs = {1: (top[epsilon], top[-epsilon]), -1: (top[-epsilon], top[epsilon])}
    mixed = {s: q + (p - q) / 10 for s, (p, q) in pairs.items()}
    events, delta = sampled(pure(epsilon), share) * 6, tenth(5)
    price = pld_epsilon(events, delta)
    for sign in (1, -1):
        law = {
            Fraction(float(sign * mp.log(mixed[s] / q))): (mixed[s] if sign == 1 else q)
            for s, (_, q) in pairs.items()
        }
        assert exact.delta_of(exact.summed([law] * 6), price) <= delta * Fraction(1000001, 1000000)


# ------------------------------------------------------------------------------ edges and input


@pytest.mark.parametrize("power", [1, 20, 50, 100, 200, 280, 300])
def test_tiny_deltas_give_sensible_prices(power: int) -> None:
    delta = tenth(power)
    for event in (gaussian(1), laplace("0.1") * 100, pure("0.1") * 100):
        price = float(compose(event, delta).epsilon)
        assert 0 < price < 50
    # (epsilon - 1/2) is about the normal quantile, which is below sqrt(2 ln(1/delta)).
    assert gdp_epsilon(gaussian(1), delta) <= 0.5 + (2 * 2.302586 * power) ** 0.5


def test_a_gaussian_without_a_delta_is_refused_with_what_to_do() -> None:
    with pytest.raises(UnsupportedEventError, match=r"(?i)give a delta above 0"):
        compose(gaussian(1), 0)


def test_a_delta_below_what_the_events_hold_is_refused() -> None:
    event = ApproximateEvent(epsilon=Fraction(1), delta=tenth(6))
    with pytest.raises(ParameterError, match="delta must be 1e-06 or more"):
        compose(event, 1e-7)


def test_samples_under_different_neighbours_do_not_mix() -> None:
    fixed = FixedSampleEvent(event=gaussian(1), size=1, population=2)
    with pytest.raises(ParameterError, match="neighbours"):
        compose([fixed, sampled(gaussian(1), "1/2") * 2], 1e-6)


BAD_DELTAS = [1, 2, -1e-9, float("nan"), float("inf"), True, "1e-6", None, Fraction(1, 10**301)]


@pytest.mark.parametrize("bad", BAD_DELTAS, ids=repr)
@pytest.mark.parametrize(
    "price",
    [
        lambda delta: compose(laplace(1), delta),
        lambda delta: pld_epsilon(laplace(1), delta),
        lambda delta: gdp_epsilon(gaussian(1), delta),
        lambda delta: epsilon_from_rdp(laplace(1), delta),
        lambda delta: epsilon_from_rho(Fraction(1), delta),
        lambda delta: optimal_epsilon((Fraction(1), Fraction(0)), 1, delta),
        lambda delta: heterogeneous_epsilon([(Fraction(1), 2)], delta),
    ],
)
def test_a_delta_that_is_none_is_refused(price: Callable[[Any], object], bad: Any) -> None:
    with pytest.raises(ParameterError, match="delta"):
        price(bad)


@pytest.mark.parametrize("bad", [1, 0, -2, float("nan"), float("inf"), True, "2"], ids=repr)
def test_an_order_that_is_none_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="alpha"):
        rdp_epsilon(gaussian(1), bad)


@pytest.mark.parametrize("bad", [3, "event", None, [3], [gaussian(1), None]], ids=repr)
def test_what_is_no_event_is_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="event"):
        compose(bad, 1e-6)


@settings(max_examples=50, deadline=None)
@given(epsilons, counts, deltas)
def test_the_advanced_bounds_stand_above_the_optimal_one(
    epsilon: Fraction, count: int, delta: Fraction
) -> None:
    optimal = optimal_epsilon((epsilon, Fraction(0)), count, delta)
    heterogeneous = heterogeneous_epsilon([(epsilon, count)], delta)
    assert optimal <= heterogeneous * (1 + 1e-9)
    assert heterogeneous <= advanced_epsilon(epsilon, count, delta) * (1 + 1e-9)
