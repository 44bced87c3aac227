"""Calibration: the parameters of a mechanism from a cost, a margin of error or a share of both."""

from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, floor, log, log1p, sqrt

from discreet import on_use
from discreet.accounting.compose import compose
from discreet.accounting.events import Event
from discreet.errors import ParameterError, readable
from discreet.noise.enclosures import is_at_most, laplace_tail
from discreet.noise.laplace import SCALE_LEAST, SCALE_MOST
from discreet.parameters import Real, confidence_level, integer, rational

DIGITS = 6
"""Significant digits of an epsilon that was solved for."""


def few_digits_up(value: Fraction) -> Fraction:
    """Return value rounded up to DIGITS significant digits."""
    return _few_digits(value, ROUND_CEILING)


def few_digits_down(value: Fraction) -> Fraction:
    """Return value rounded down to DIGITS significant digits."""
    return _few_digits(value, ROUND_FLOOR)


def _few_digits(value: Fraction, rounding: str) -> Fraction:
    context = Context(prec=DIGITS, rounding=rounding)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


EPSILON_LEAST = Fraction(1, 10**12)


EPSILON_MOST = Fraction(10**6)


SENSITIVITY_LEAST = Fraction(1, 10**100)


SENSITIVITY_MOST = Fraction(10**100)


def checked_epsilon(epsilon: object) -> Fraction:
    """Return an epsilon in the range that mechanisms support."""
    return rational("epsilon", epsilon, above=0, least=EPSILON_LEAST, most=EPSILON_MOST)


def checked_sensitivity(sensitivity: Fraction) -> Fraction:
    """Return a sensitivity in the range that floats can represent."""
    return rational("sensitivity", sensitivity, least=SENSITIVITY_LEAST, most=SENSITIVITY_MOST)


def drawn_scale(
    epsilon: Fraction,
    steps: Fraction,
    *,
    instead: str = "",
    most: Fraction = SCALE_MOST,
    of: str = "this sensitivity",
) -> Fraction:
    """Return the scale steps / epsilon if the samplers support it, else raise about epsilon."""
    return drawn_scales(epsilon, (steps,), instead=instead, most=most, of=of)[0]


def drawn_scales(
    epsilon: Fraction,
    steps: Sequence[Fraction],
    *,
    instead: str = "",
    most: Fraction = SCALE_MOST,
    of: str = "this sensitivity",
) -> tuple[Fraction, ...]:
    """Return several scales. An error names epsilon, with a limit that is enough for all."""
    where = f"for {of}" + (f" ({instead})" if instead else "")
    largest, least = min(steps) / SCALE_LEAST, max(steps) / most
    if epsilon > largest:
        rule = f"must be {readable(few_digits_down(largest))} or less {where}"
        raise ParameterError("epsilon", epsilon, rule)
    if epsilon < least:
        rule = f"must be {readable(few_digits_up(least))} or more {where}"
        raise ParameterError("epsilon", epsilon, rule)
    return tuple(each / epsilon for each in steps)


def check_answers(mechanism: object, answers: int, size: int) -> None:
    """Reject an array with more numbers than the noise of the mechanism covers."""
    if size > answers:
        write = f"write {type(mechanism).__name__}(..., answers={size})"
        raise ParameterError(
            "answers", answers, f"must be {size} or more for {size} numbers: {write}"
        )


EXACT_MOST = 1 << 26
"""Up to this scale the error is the smallest integer; beyond, at most one part in 10**13 more."""


def miss_probability(confidence: object, answers: object) -> Fraction:
    """Return the probability of a miss that each answer may have (union bound)."""
    level = confidence_level(confidence)
    return (1 - level) / integer("answers", answers, least=1)


@lru_cache(maxsize=1024)
def laplace_accuracy(scale: Fraction, miss: Fraction) -> int:
    """Return the smallest n with P(|X| > n) ≤ miss for discrete Laplace X."""
    # P(|X| ≥ n + 1) = 2 q**(n + 1) / (1 + q) ≤ miss, solved in floats and decided exactly.
    near = float(scale) * (log_of(2 / miss) - log1p(exp(-1 / scale)))
    if scale > EXACT_MOST:
        return ceil(near * (1 + 1e-13))
    n = max(0, floor(near) - 2)
    while not is_at_most(laplace_tail(scale, n + 1), miss):
        n += 1
    return n


def gaussian_accuracy(deviation: float, miss: Fraction) -> float:
    """Return t with P(|X| > t) ≤ miss for normal X, rounded up in its last digits."""
    return -float(on_use.special.ndtri(float(miss / 2))) * deviation * (1 + 1e-12)


def log_of(value: Fraction) -> float:
    """Return ln(value), even if value itself is too large or too small for a float."""
    return log(value.numerator) - log(value.denominator)


def least_epsilon(
    error_at: Callable[[Fraction], float],
    within: object,
    *,
    least: Fraction = EPSILON_LEAST,
    most: Fraction = EPSILON_MOST,
) -> Fraction:
    """Return the smallest epsilon, with few digits, whose error meets the target.

    `error_at` must not grow with epsilon, except by the last step of a grid.
    """
    target = rational("within", within, above=0)
    low, high = least, most
    if error_at(high) > target:
        raise ParameterError("within", within, f"must be at least {error_at(high):.3g} here")
    if error_at(low) <= target:
        return low
    while high > low * (1 + Fraction(1, 10 ** (DIGITS + 2))):
        middle = Fraction(sqrt(low * high))
        low, high = (low, middle) if error_at(middle) <= target else (middle, high)
    readable = few_digits_up(high)
    return readable if error_at(readable) <= target else high


def epsilon_of_each(
    make_event: Callable[[Fraction], Event], epsilon: Real, delta: Real, releases: int
) -> Fraction:
    """Return the largest epsilon, with few digits, at which `releases` cost (epsilon, delta).

    Without delta this is exactly epsilon / releases. With delta it is the most that the best
    accountant for events fixed in advance allows, which is never less.
    """
    total = checked_epsilon(epsilon)
    count = integer("releases", releases, least=1)
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
