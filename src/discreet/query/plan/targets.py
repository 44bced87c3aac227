"""What the analyst asks for: a price, or an accuracy."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from discreet.errors import HIDDEN, ParameterError, shown
from discreet.parameters import Real, confidence_level, rational

MOST = 10**300
"""Larger prices and distances have no float, and no question."""


@dataclass(frozen=True, slots=True, init=False)
class EpsilonTarget:
    """Spend this epsilon, and this delta where one is needed."""

    epsilon: Fraction
    delta: Fraction | None
    """None leaves it to the catalog."""

    def __init__(self, epsilon: Real, *, delta: Real | None = None) -> None:
        price = rational("epsilon", epsilon, above=0, most=MOST)
        object.__setattr__(self, "epsilon", price)
        object.__setattr__(self, "delta", _checked_delta(delta))


@dataclass(frozen=True, slots=True, init=False)
class MarginTarget:
    """Spend the least epsilon for which the noise of a column stays within a distance.

    `within` is one distance for all columns, or one for each column that is named.
    """

    within: Fraction | Mapping[str, Fraction]
    confidence: Fraction
    delta: Fraction | None
    """None leaves it to the catalog."""

    def __init__(
        self,
        within: Real | Mapping[str, Real],
        *,
        confidence: Real = Fraction(95, 100),
        delta: Real | None = None,
    ) -> None:
        object.__setattr__(self, "within", _checked_within(within))
        object.__setattr__(self, "confidence", confidence_level(confidence))
        object.__setattr__(self, "delta", _checked_delta(delta))


Target = EpsilonTarget | MarginTarget


def make_target(
    epsilon: Real | None,
    delta: Real | None,
    within: Real | Mapping[str, Real] | None,
    confidence: Real,
) -> Target | None:
    """Return the target that was given, if one was; a price and an accuracy exclude each other."""
    if within is None:
        return None if epsilon is None else EpsilonTarget(epsilon, delta=delta)
    if epsilon is not None:
        raise ParameterError(
            "within", HIDDEN, "and epsilon cannot both be given", "Give one of them"
        )
    return MarginTarget(within, confidence=confidence, delta=delta)


def _checked_delta(delta: Real | None) -> Fraction | None:
    return None if delta is None else rational("delta", delta, least=0, below=1)


def _checked_within(within: Real | Mapping[str, Real]) -> Fraction | Mapping[str, Fraction]:
    if not isinstance(within, Mapping):
        return rational("within", within, above=0, most=MOST)
    if not within:
        raise ParameterError("within", within, "must name at least one column")
    each = {
        name: rational(f"within[{shown(name)}]", value, above=0, most=MOST)
        for name, value in within.items()
    }
    return MappingProxyType(each)
