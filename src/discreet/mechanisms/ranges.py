"""The ranges of parameters that mechanisms support: limits of floats and of samplers."""

from collections.abc import Sequence
from fractions import Fraction

from discreet.errors import ParameterError, readable
from discreet.mechanisms.digits import few_digits_down, few_digits_up
from discreet.noise.laplace import SCALE_LEAST, SCALE_MOST
from discreet.parameters import rational

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
        write = f"(write {type(mechanism).__name__}(..., answers={size}))"
        raise ParameterError(
            "answers", answers, f"must be {size} or more for {size} numbers {write}"
        )
