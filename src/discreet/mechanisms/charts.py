"""The distributions of two neighbouring answers, as points of a plot."""

from fractions import Fraction
from math import ceil, floor
from typing import Protocol

import numpy as np

from discreet import plots
from discreet.mechanisms.distributions import ChoiceDistribution, Distribution, FineDistribution

POINTS = 401
"""The approximate most points of a plot. More would not be visible."""


DRAWN = Fraction(999, 1000)
"""The share of all releases that a plot covers."""


class Priced(Protocol):
    """A mechanism with an epsilon."""

    @property
    def epsilon(self) -> Fraction: ...


def title_of(mechanism: Priced) -> str:
    """Return the title of a plot: Geometric noise, ε = 0.5."""
    return f"{type(mechanism).__name__} noise, ε = {float(mechanism.epsilon):g}"


def wholes_plot(
    here: Distribution, there: Distribution, *, epsilon: Fraction, reach: float, title: str
) -> "plots.Plot":
    """Plot the distributions of two integer answers, up to `reach` from each."""
    places = _places(here, there, Fraction(reach))
    return plots.plot_counts(
        np.array([float(place) for place in places]),
        np.array([here.pmf(place) for place in places]),
        np.array([there.pmf(place) for place in places]),
        epsilon=float(epsilon),
        title=title,
        names=_names(here, there),
    )


def reals_plot(
    here: FineDistribution, there: FineDistribution, *, epsilon: Fraction, reach: float, title: str
) -> "plots.Plot":
    """Plot the densities of two real answers, up to `reach` from each."""
    places = _places(here, there, Fraction(reach))
    return plots.plot_curves(
        np.array([float(place) for place in places]),
        np.array([here.density(place) for place in places]),
        np.array([there.density(place) for place in places]),
        epsilon=float(epsilon),
        title=title,
        names=_names(here, there),
    )


def choices_plot(
    here: ChoiceDistribution, there: ChoiceDistribution, *, epsilon: Fraction, title: str
) -> "plots.Plot":
    """Plot the distributions of a choice for two neighbouring lists of scores."""
    return plots.plot_choices(
        np.array(here.probabilities),
        np.array(there.probabilities),
        epsilon=float(epsilon),
        title=f"{title}, ε = {float(epsilon):g}",
        names=("exact scores", "neighbouring scores"),
    )


def _places(here: Distribution, there: Distribution, reach: Fraction) -> list[Fraction]:
    """Return possible values, evenly spaced within the reach."""
    step = here.support.step
    first = floor((Fraction(min(here.mean, there.mean)) - reach) / step)
    last = ceil((Fraction(max(here.mean, there.mean)) + reach) / step)
    return [k * step for k in range(first, last + 1, max(1, (last - first) // POINTS))]


def _names(here: Distribution, there: Distribution) -> tuple[str, str]:
    """Return the names of the curves, with enough digits to distinguish them."""
    digits = 6
    while f"{here.mean:.{digits}g}" == f"{there.mean:.{digits}g}" and digits < 17:
        digits += 1
    return f"exact answer {here.mean:.{digits}g}", f"neighbour {there.mean:.{digits}g}"
