"""Sums within a unit as SQL, the same in whatever order rows are added."""

from collections.abc import Callable

from discreet.catalog.schema import Kind
from discreet.engines.dialect import Dialect, Written, literal_of, nearest_float
from discreet.errors import UnboundedError
from discreet.query.tree import Expression

FIXED_POINT_BITS = 40
"""Sums of reals within a unit are exact to about this share of the largest value."""


def sum_of(
    argument: Expression, text: str, dialect: Dialect, over: Callable[[str], str] = str
) -> str:
    """Return a sum within a unit; of reals in fixed point, so that no order of adding shows.

    Where the sum is a window, `over` makes it one, or gives the column that it is computed in.
    """
    if argument.facts.kind is not Kind.REAL:
        return dialect.whole.format(over(f"sum({added(text, dialect)})"))
    grain, clamped = fixed_point(argument, text, dialect)
    scaled = _times(clamped, 1 / grain, dialect)
    whole = dialect.as_wide.format(f"floor({scaled} + {dialect.real(0.5)})")
    return _times(dialect.as_real.format(over(f"sum({whole})")), grain, dialect)


def _times(text: str, factor: float, dialect: Dialect) -> str:
    """Return a real times another one; NULL on overflow."""
    given = Written(text=text, kind=Kind.REAL)
    function = dialect.functions["multiply"]
    product = function.write((given, literal_of(factor, Kind.REAL, dialect)))
    return product if function.is_finite else dialect.finite(product)


def added(text: str, dialect: Dialect) -> str:
    """Return an integer as it enters a sum."""
    return dialect.addend.format(dialect.whole.format(text))


def fixed_point(argument: Expression, text: str, dialect: Dialect) -> tuple[float, str]:
    """Return the grain, a power of two, and the text moved into its interval."""
    interval = argument.facts.interval
    if interval.low is None or interval.high is None:
        raise UnboundedError(
            "A sum with GROUP BY on the privacy unit needs bounds",
            "Write SUM(CLAMP(x, low, high)), or ask the data owner to declare bounds",
        )
    low, high = nearest_float(interval.low), nearest_float(interval.high)
    reach = max(abs(interval.low), abs(interval.high))
    exponent = reach.numerator.bit_length() - reach.denominator.bit_length() + 1 if reach else 0
    grain = 2.0 ** min(1000, max(-1000, exponent - FIXED_POINT_BITS))
    least, most = dialect.real(low), dialect.real(high)
    clamped = (
        f"CASE WHEN {text} < {least} THEN {least} WHEN {text} > {most} THEN {most} ELSE {text} END"
    )
    return grain, clamped
