"""Privacy loss distributions: the tightest cost of releases whose parameters are fixed in advance.

Each release is replaced by a pair of distributions that dominates it (`pairs`). The distribution of
its privacy loss is put on a grid that never understates it (`grid`), and the losses are added
(`convolution`). The result is at least the true cost and close to it: every approximation rounds
up.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import inf

from discreet.accounting.events import (
    DiscreteGaussianEvent,
    Event,
    GaussianEvent,
    PoissonSampledEvent,
    counted,
)
from discreet.accounting.gdp import Bridge, gdp_mu_squared, ideal_mu_squared
from discreet.accounting.pld.convolution import Laws, LogMoments, convolved
from discreet.accounting.pld.grid import Weighted, grid_width, law_on_grid, refuse_the_extreme
from discreet.accounting.pld.pairs import dominating_pairs, gaussian_pair, is_beyond_the_bridge
from discreet.accounting.rounding import float_down, positive_delta
from discreet.parameters import rational

__all__ = ["pld_delta", "pld_epsilon"]


def pld_epsilon(events: Event | Iterable[Event], delta: object) -> float:
    """Return the least epsilon, rounded up, for which the events are (epsilon, delta)-DP together.

    Valid for events whose parameters were fixed in advance. Use a budget for adaptive ones.
    """
    target = positive_delta(delta)
    bridge, directions = _directions(counted(events))

    def ideal(delta_down: float) -> float:
        return max(_epsilon(pairs, delta_down) for pairs in directions)

    return bridge.epsilon(ideal, target) if directions[0] else 0.0


def pld_delta(events: Event | Iterable[Event], epsilon: object) -> float:
    """Return the least delta, rounded up, for which the events are (epsilon, delta)-DP together."""
    target = float_down(rational("epsilon", epsilon, least=0))
    bridge, directions = _directions(counted(events))

    def ideal(epsilon_down: float) -> float:
        return max(_delta(pairs, epsilon_down) for pairs in directions)

    return bridge.delta(ideal, target) if directions[0] else 0.0


def _directions(counts: Mapping[Event, int]) -> tuple[Bridge, list[Weighted]]:
    """Return the bridge and the pairs to compose, once for each direction that differs.

    All Gaussians, and the discrete ones beyond the bridge, are one pair. Events are sorted, so
    their original order changes no digit.
    """
    bridge = Bridge.over(_discrete(counts))
    ideal = {
        event: count
        for event, count in counts.items()
        if isinstance(event, GaussianEvent) or is_beyond_the_bridge(event)
    }
    mu_squared = sum((_mu_squared(e) * k for e, k in ideal.items()), Fraction(0))
    others = [event for event in counts if event not in ideal]
    both = [(dominating_pairs(event), counts[event]) for event in sorted(others, key=repr)]
    gaussian = [(gaussian_pair(mu_squared), 1)] if mu_squared else []
    removed = gaussian + [(pairs.removed, count) for pairs, count in both]
    added = gaussian + [(pairs.added, count) for pairs, count in both]
    symmetric = all(pairs.removed is pairs.added for pairs, _ in both)
    return bridge, [removed] if symmetric else [removed, added]


def _discrete(counts: Mapping[Event, int]) -> dict[DiscreteGaussianEvent, int]:
    """Return the discrete Gaussians that cross the bridge, on samples or not."""
    crossing: dict[DiscreteGaussianEvent, int] = {}
    for event, count in counts.items():
        inner = event.event if isinstance(event, PoissonSampledEvent) else event
        if is_beyond_the_bridge(inner):
            crossing[inner] = crossing.get(inner, 0) + count
    return crossing


def _mu_squared(event: Event) -> Fraction:
    if isinstance(event, DiscreteGaussianEvent):
        return ideal_mu_squared(event)
    return gdp_mu_squared(event)


def _epsilon(pairs: Weighted, delta: float) -> float:
    if any(pair.infinite >= 1 for pair, _ in pairs):
        return inf
    laws, width = _on_grid(pairs, max(1e-7 * delta, 1e-290))
    moments, least = LogMoments(laws, width), inf
    for tilt in moments.tilts_for_delta(delta):
        total = convolved(laws, width, moments, tilt)
        least = min(least, total.epsilon(delta))
        if total.noise(least) < 1e-6 * delta:
            break
    return least


def _delta(pairs: Weighted, epsilon: float) -> float:
    if any(pair.infinite >= 1 for pair, _ in pairs):
        return 1.0
    laws, width = _on_grid(pairs, 1e-30)
    moments = LogMoments(laws, width)
    return convolved(laws, width, moments, moments.tilt_for_epsilon(epsilon)).delta(epsilon)


def _on_grid(pairs: Weighted, tail: float) -> tuple[Laws, float]:
    """Return the loss distributions and the width of their grid. `tail` may go to infinity."""
    each = tail / sum(count for _, count in pairs)
    refuse_the_extreme(pairs, each)
    width = grid_width(pairs, each)
    return [(law_on_grid(pair, width, each), count) for pair, count in pairs], width
