"""Costs with two numbers, an amount and a delta, which add up."""

from collections.abc import Iterable
from fractions import Fraction

Cost = tuple[Fraction, Fraction]
"""An epsilon or a rho, and a delta."""


def summed_costs(costs: Iterable[tuple[Cost, int]]) -> Cost:
    """Return the sum of costs, each multiplied by its number of times."""
    amount = delta = Fraction(0)
    for (each_amount, each_delta), count in costs:
        amount, delta = amount + each_amount * count, delta + each_delta * count
    return amount, delta
