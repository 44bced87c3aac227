"""A report that is near: one of `width` places beside the true one, or any other at all.

A value at place i of `places` is reported as a place y of places + width - 1. The `width` reports
from i on have one chance, all others another, e^epsilon times smaller. With a width of e^(-ε/2) of
all places this is the piecewise mechanism (Wang et al. 2019), with another the square wave (Li et
al. 2020), both on a grid, where all chances are fractions.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.local.draws import coins
from discreet.local.odds import chance_up, odds_down
from discreet.noise import Entropy, uniform_integers
from discreet.noise.uniform import IntArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The channel from `places` places to places + width - 1, of odds near : far ≤ e^epsilon."""

    places: int
    width: int
    far: Fraction

    @classmethod
    def of(cls, epsilon: Fraction, *, places: int, width: int) -> "Window":
        """Return the channel whose odds are as near to e^epsilon as 64 bits allow, from below."""
        far = chance_up(1 / (width * odds_down(epsilon) + places - 1))
        return cls(places=places, width=width, far=far)

    @property
    def reports(self) -> int:
        """How many reports there are."""
        return self.places + self.width - 1

    @property
    def near(self) -> Fraction:
        """The chance of each report of the window."""
        return (1 - (self.places - 1) * self.far) / self.width

    def draw(self, places: IntArray, entropy: Entropy) -> IntArray:
        """Return a report for each place, with exactly the law that `chances` states."""
        is_far = coins((self.places - 1) * self.far, len(places), entropy)
        out = places + uniform_integers(self.width, len(places), entropy=entropy)
        beyond = uniform_integers(self.places - 1, int(np.count_nonzero(is_far)), entropy=entropy)
        beyond += self.width * (beyond >= places[is_far])
        out[is_far] = beyond
        return out

    def chances(self, place: int) -> list[Fraction]:
        """Return the exact probability of each report, given the true place."""
        inside = range(place, place + self.width)
        return [self.near if y in inside else self.far for y in range(self.reports)]

    @property
    def slope(self) -> Fraction:
        """How far the mean report moves when the true place moves by one."""
        return (self.near - self.far) * self.width

    @property
    def base(self) -> Fraction:
        """The mean report at place 0."""
        y, w = self.reports, self.width
        return self.far * y * (y - 1) / 2 + (self.near - self.far) * w * (w - 1) / 2
