"""The share of a budget that each of several equal releases may spend."""

from collections.abc import Callable
from fractions import Fraction
from math import sqrt

from discreet.accounting.compose import compose
from discreet.accounting.events import Event
from discreet.mechanisms.digits import DIGITS, few_digits_down
from discreet.mechanisms.ranges import checked_epsilon
from discreet.parameters import Real, rational, whole


def epsilon_of_each(
    make_event: Callable[[Fraction], Event], epsilon: Real, delta: Real, releases: int
) -> Fraction:
    """Return the largest epsilon, with few digits, at which `releases` cost (epsilon, delta).

    Without delta this is exactly epsilon / releases. With delta it is the most that the best
    accountant for events fixed in advance allows, which is never less.
    """
    total = checked_epsilon(epsilon)
    count = whole("releases", releases, least=1)
    slack = rational("delta", delta, least=0, below=1)

    def is_allowed(each: Fraction) -> bool:
        return compose(make_event(each) * count, delta=slack).epsilon <= total

    low, high = total / count, total
    if slack == 0 or count == 1:
        return low
    while high > low * (1 + Fraction(1, 10 ** (DIGITS - 1))):
        middle = few_digits_down(Fraction(sqrt(low * high)))
        if not low < middle < high:
            break
        low, high = (middle, high) if is_allowed(middle) else (low, middle)
    return low
