"""Why a release has Laplace or Gaussian noise, as values; `explanation` makes English of it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingMeasured:
    """No number gets noise of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoDelta:
    """There is no delta, and Laplace noise needs none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownGroups:
    """The number of groups is not known in advance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotDrawable:
    """Gaussian noise cannot be drawn at this epsilon and delta."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceNarrower:
    """Gaussian noise is not worth its delta."""

    compared: Callable[[], float | None] = field(compare=False, repr=False)

    @property
    def ratio(self) -> float | None:
        """How many times as wide as Laplace noise it would be; None if it cannot be drawn.

        It is computed when it is asked for: which noise is narrower follows from less.
        """
        return self.compared()


@dataclass(frozen=True, slots=True, kw_only=True)
class GaussianNarrower:
    """Gaussian noise is this many times as wide as Laplace noise would be."""

    ratio: float
    rho: Fraction | None = None
    """What it costs, where that is the rho of the Laplace noise."""


NoiseReason = (
    NothingMeasured | NoDelta | UnknownGroups | NotDrawable | LaplaceNarrower | GaussianNarrower
)
"""Why it is this noise."""
