"""The laws of two neighbouring answers, as points to draw."""

from fractions import Fraction
from math import ceil
from typing import Protocol

import numpy as np

from discreet.mechanisms.laws import ChoiceLaw, Law
from discreet.parameters import Real
from discreet.plots import Plot, plot_neighbours

POINTS = 401


class Priced(Protocol):
    """A mechanism whose answers have an epsilon and an error."""

    @property
    def epsilon(self) -> Fraction: ...
    def error(self, confidence: Real, answers: int = 1) -> float: ...


def neighbours_plot(here: Law, there: Law, mechanism: Priced) -> Plot:
    """Draw the laws of two answers as far as all but one release in a thousand reaches."""
    reach = Fraction(mechanism.error(Fraction(999, 1000)))
    step = here.support.step
    first = ceil((Fraction(min(here.mean, there.mean)) - reach) / step)
    last = ceil((Fraction(max(here.mean, there.mean)) + reach) / step)
    is_whole = last - first < POINTS
    places = [k * step for k in range(first, last + 1, max(1, (last - first) // POINTS))]
    width = 1.0 if is_whole else float(step)
    return plot_neighbours(
        np.array([float(place) for place in places]),
        np.array([here.pmf(place) for place in places]) / width,
        np.array([there.pmf(place) for place in places]) / width,
        epsilon=float(mechanism.epsilon),
        title=f"{type(mechanism).__name__} noise, ε = {float(mechanism.epsilon):g}",
        names=(f"exact answer {here.mean:g}", f"its neighbour {there.mean:g}"),
        is_whole=is_whole,
    )


def choices_plot(here: ChoiceLaw, there: ChoiceLaw, epsilon: Fraction, title: str) -> Plot:
    """Draw the laws of a choice by two neighbouring lists of scores."""
    return plot_neighbours(
        np.arange(len(here.probabilities), dtype=np.float64),
        np.array(here.probabilities),
        np.array(there.probabilities),
        epsilon=float(epsilon),
        title=f"{title}, ε = {float(epsilon):g}",
        names=("by the exact scores", "by a neighbour's"),
        is_whole=True,
        label="candidate",
    )
