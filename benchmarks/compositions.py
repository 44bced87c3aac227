"""The compositions that accountants are measured on; needs the standard library only."""

from dataclasses import dataclass
from fractions import Fraction

DELTA = Fraction(1, 10**6)


@dataclass(frozen=True, slots=True)
class Part:
    """So many releases of one law: a Gaussian's noise multiplier, or a Laplace's epsilon."""

    law: str
    parameter: Fraction
    count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What was released, and the delta at which its epsilon is asked for."""

    name: str
    parts: tuple[Part, ...]
    delta: Fraction = DELTA


def gaussian(noise_multiplier: Fraction | int, count: int = 1) -> Part:
    return Part("gaussian", Fraction(noise_multiplier), count)


def laplace(epsilon: Fraction | str, count: int = 1) -> Part:
    return Part("laplace", Fraction(epsilon), count)


def different(count: int) -> tuple[Part, ...]:
    """Return so many Gaussians and as many Laplaces, no two alike."""
    gaussians = (gaussian(20 + Fraction(i, 2)) for i in range(count))
    laplaces = (laplace(Fraction(1, 100 + 10 * i)) for i in range(count))
    return *gaussians, *laplaces


WORKLOADS = (
    Workload(name="1 × Gaussian(50)", parts=(gaussian(50),)),
    Workload(name="1 × Laplace(0.1)", parts=(laplace("0.1"),)),
    Workload(name="1000 × Gaussian(50)", parts=(gaussian(50, 1000),)),
    Workload(name="10000 × Gaussian(200)", parts=(gaussian(200, 10**4),), delta=Fraction(1, 10**8)),
    Workload(name="100 × Laplace(0.1)", parts=(laplace("0.1", 100),)),
    Workload(
        name="100 × discrete Laplace(0.1)",
        parts=(Part("discrete laplace", Fraction(1, 10), 100),),
    ),
    Workload(name="20 × Laplace(0.5)", parts=(laplace("0.5", 20),), delta=Fraction(1, 10**5)),
    Workload(
        name="30 × Laplace(0.1) + 100 × Gaussian(20) + 2 × Laplace(0.5)",
        parts=(laplace("0.1", 30), gaussian(20, 100), laplace("0.5", 2)),
    ),
    Workload(name="100 + 100 different Gaussians and Laplaces", parts=different(100)),
    Workload(name="500 + 500 different Gaussians and Laplaces", parts=different(500)),
)
