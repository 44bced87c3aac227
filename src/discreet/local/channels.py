"""The law of a mechanism as a matrix of fractions, and the proof of its epsilon from the matrix."""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from discreet.errors import ParameterError
from discreet.local.base import FrequencyOracle, Rows, check_mechanism
from discreet.noise.enclosures import exp_neg, is_at_most
from discreet.parameters import Real, rational

CHANCES_MOST = 1 << 18
"""Chances in a channel: a second or so of fractions."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Channel:
    """P(report | value held), exactly: a line for each value, a column for each report."""

    reports: Rows
    matrix: tuple[tuple[Fraction, ...], ...]

    @property
    def odds(self) -> Fraction:
        """The largest ratio of two chances of one report: e^epsilon is not smaller."""
        columns = zip(*self.matrix, strict=True)
        return max(Fraction(max(each), min(each)) for each in columns)

    def is_private(self, epsilon: Real) -> bool:
        """Decide, in whole-number arithmetic, whether no ratio exceeds e^epsilon."""
        return is_within(self.odds, rational("epsilon", epsilon, above=0))


def channel(mechanism: FrequencyOracle) -> Channel:
    """Return the exact law of a mechanism of few values."""
    rule = "must be one of values that are listed, such as KaryResponse(epsilon=1, ...)"
    check_mechanism(mechanism, "categories", "bits", "every_report", rule=rule)
    if mechanism.categories << mechanism.bits > CHANCES_MOST:
        raise ParameterError(
            "categories", mechanism.categories, "must be fewer for a whole channel"
        )
    reports = mechanism.every_report()
    sets = mechanism.speaks_for(reports)
    values = range(mechanism.categories)
    matrix = tuple(tuple(mechanism.chance(each, value) for each in sets) for value in values)
    return Channel(reports=reports, matrix=matrix)


def is_within(odds: Fraction, epsilon: Fraction) -> bool:
    """Decide odds ≤ e^epsilon exactly, by brackets of e^-epsilon as tight as it takes."""
    return is_at_most(partial(exp_neg, epsilon), 1 / odds)
