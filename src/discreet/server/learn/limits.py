"""Bounds of the parameters of playgrounds. They are public, and keep every call small."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Annotated

from pydantic import Field

from discreet.parameters import rational
from discreet.server.bodies import Amount, exact

EPSILON_LEAST, EPSILON_MOST = Fraction(1, 100), Fraction(10)
DELTA_LEAST, DELTA_MOST = Fraction(1, 10**12), Fraction(1, 10)

Epsilon = Annotated[Amount, Field(description="From 0.01 to 10")]
Delta = Annotated[Amount, Field(description="From 1e-12 to 0.1")]
Share = Annotated[Amount, Field(description="A probability")]
Sensitivity = Annotated[int, Field(ge=1, le=100, description="The most one person can change")]
Draws = Annotated[int, Field(ge=0, le=200, description="How often to draw")]


def epsilon_of(amount: object, name: str = "epsilon") -> Fraction:
    """Return an epsilon within the bounds of playgrounds."""
    return rational(name, exact(amount), least=EPSILON_LEAST, most=EPSILON_MOST)


def delta_of(amount: object) -> Fraction:
    """Return a delta within the bounds of playgrounds."""
    return rational("delta", exact(amount), least=DELTA_LEAST, most=DELTA_MOST)


def share_of(amount: object, name: str) -> Fraction:
    """Return a probability strictly between 0 and 1, in at most six digits."""
    return rational(name, exact(amount), least=Fraction(1, 10**6), most=1 - Fraction(1, 10**6))


def shown(values: Iterable[float]) -> list[float]:
    """Return the numbers of a curve in six digits, which is more than a screen shows."""
    return [float(f"{each:.6g}") for each in values]
