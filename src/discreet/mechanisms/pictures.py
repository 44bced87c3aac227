"""The laws of two neighbouring answers, as points to draw."""

from fractions import Fraction
from math import ceil, floor
from typing import Protocol

import numpy as np

from discreet.mechanisms.laws import ChoiceLaw, FineLaw, Law
from discreet.plots import Plot, plot_choices, plot_counts, plot_curves

POINTS = 401
"""A picture has about this many points at most: more would not be seen."""

DRAWN = Fraction(999, 1000)
"""The share of all releases that a picture reaches."""


class Priced(Protocol):
    """A mechanism with an epsilon."""

    @property
    def epsilon(self) -> Fraction: ...


def title_of(mechanism: Priced) -> str:
    """Return a picture's title: Geometric noise, ε = 0.5."""
    return f"{type(mechanism).__name__} noise, ε = {float(mechanism.epsilon):g}"


def wholes_plot(here: Law, there: Law, *, epsilon: Fraction, reach: float, title: str) -> Plot:
    """Draw the laws of two whole answers, so far from each."""
    places = _places(here, there, Fraction(reach))
    return plot_counts(
        np.array([float(place) for place in places]),
        np.array([here.pmf(place) for place in places]),
        np.array([there.pmf(place) for place in places]),
        epsilon=float(epsilon),
        title=title,
        names=_names(here, there),
    )


def reals_plot(
    here: FineLaw, there: FineLaw, *, epsilon: Fraction, reach: float, title: str
) -> Plot:
    """Draw the densities of two real answers, so far from each."""
    places = _places(here, there, Fraction(reach))
    return plot_curves(
        np.array([float(place) for place in places]),
        np.array([here.density(place) for place in places]),
        np.array([there.density(place) for place in places]),
        epsilon=float(epsilon),
        title=title,
        names=_names(here, there),
    )


def choices_plot(here: ChoiceLaw, there: ChoiceLaw, *, epsilon: Fraction, title: str) -> Plot:
    """Draw the laws of a choice by two neighbouring lists of scores."""
    return plot_choices(
        np.array(here.probabilities),
        np.array(there.probabilities),
        epsilon=float(epsilon),
        title=f"{title}, ε = {float(epsilon):g}",
        names=("by the exact scores", "by a neighbour's"),
    )


def _places(here: Law, there: Law, reach: Fraction) -> list[Fraction]:
    """Return values that can come out, evenly spread as far as the reach."""
    step = here.support.step
    first = floor((Fraction(min(here.mean, there.mean)) - reach) / step)
    last = ceil((Fraction(max(here.mean, there.mean)) + reach) / step)
    return [k * step for k in range(first, last + 1, max(1, (last - first) // POINTS))]


def _names(here: Law, there: Law) -> tuple[str, str]:
    """Return the curves' names, with as many digits as it takes to tell them apart."""
    digits = 6
    while f"{here.mean:.{digits}g}" == f"{there.mean:.{digits}g}" and digits < 17:
        digits += 1
    return f"exact answer {here.mean:.{digits}g}", f"its neighbour {there.mean:.{digits}g}"
