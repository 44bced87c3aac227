"""What the running time of single draws reveals together with their outputs, in this process.

The processor time of one call of `release` is measured by the clock of the thread, which excludes
other processes. The time that a network or a server adds is not measured. If larger noise took
longer, the time and the noisy answer together would reveal the exact answer. So the pair
(output, time) is checked against the same epsilon as the output.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from time import thread_time_ns
from typing import Any, TypeVar

from discreet.audit.auditor import OWN_CONFIDENCE, audit_outputs
from discreet.audit.findings import Finding
from discreet.audit.subjects import Kind, Outputs, Subject
from discreet.mechanisms import Gaussian, Geometric, Laplace
from discreet.noise import uniform_integers
from discreet.parameters import Real

Input = TypeVar("Input")

Timed = tuple[object, int]
"""An output and its running time in nanoseconds."""

RUNS = 4_000
DELTA = Fraction(1, 50)

STEPS = 10_000
"""The number of empty steps per unit of noise, which takes some hundred microseconds."""


def timed_outputs(
    mechanism: Callable[[Input], object], here: Input, there: Input, runs: int
) -> tuple[list[Timed], list[Timed]]:
    """Time calls of a function on both inputs in turn. A coin decides which input is first.

    So any change over time, such as the speed of the processor, is the same for both sides. Runs
    are exchangeable within each pair, even if they are not independent of each other.
    """
    found: tuple[list[Timed], list[Timed]] = ([], [])
    for coin in uniform_integers(2, runs).tolist():
        for is_there in (coin, 1 - coin):
            exact = there if is_there else here
            begun = thread_time_ns()
            output = mechanism(exact)
            found[is_there].append((output, thread_time_ns() - begun))
    return found


def lower_bound_with_time(  # noqa: PLR0913 - a function, a pair and a claim
    mechanism: Callable[[Input], object],
    here: Input,
    there: Input,
    *,
    epsilon: Real | None = None,
    delta: Real = 0,
    runs: int = RUNS,
    confidence: Real = OWN_CONFIDENCE,
) -> Finding:
    """Compute a lower bound on epsilon from outputs together with their processor time."""
    outputs = timed_outputs(mechanism, here, there, runs)
    name = f"{getattr(mechanism, '__qualname__', type(mechanism).__name__)} with its time"
    return audit_outputs(*outputs, name=name, epsilon=epsilon, delta=delta, confidence=confidence)


def subjects() -> tuple[Subject, ...]:
    """Return single draws with their times, for a long trial only."""
    geometric, laplace = (each(epsilon=1, sensitivity=1) for each in (Geometric, Laplace))
    gaussian = Gaussian(epsilon=1, delta=DELTA, sensitivity=1)
    return (
        _subject(geometric, 0, 1),
        _subject(laplace, 0.0, 1.0),
        _subject(gaussian, 0.0, 1.0, delta=DELTA),
    )


def twins() -> tuple[Subject, ...]:
    """Return the variant that must be caught: larger noise takes longer."""
    return (_subject(_Slow(epsilon=Fraction(1)), 0, 1, is_broken=True),)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Slow:
    """Geometric noise whose running time is that of a loop that counts up to it."""

    epsilon: Fraction

    def release(self, exact: int) -> int:
        noise = Geometric(epsilon=self.epsilon, sensitivity=1).release(0)
        for _ in range(STEPS * abs(noise)):
            pass
        return exact + noise


def _subject(
    mechanism: Any,
    here: Any,
    there: Any,
    *,
    delta: Fraction = Fraction(0),
    is_broken: bool = False,
) -> Subject:
    turns = _Turns(mechanism.release, here, there)
    name = "a loop up to the noise" if is_broken else type(mechanism).__name__
    return Subject(
        name=f"{name} with its time, ε = {float(mechanism.epsilon):.3g}",
        kind=Kind.MECHANISM,
        epsilon=mechanism.epsilon,
        delta=delta,
        here=turns.here,
        there=turns.there,
        is_broken=is_broken,
        runs=RUNS,
    )


class _Turns:
    """Runs both sides when the first is requested, so that they can take turns."""

    def __init__(self, mechanism: Callable[[Any], object], here: Any, there: Any) -> None:
        self._mechanism, self._inputs = mechanism, (here, there)
        self._there: list[Timed] = []

    def here(self, runs: int) -> Outputs:
        found, self._there = timed_outputs(self._mechanism, *self._inputs, runs)
        return found

    def there(self, runs: int) -> Outputs:
        if len(self._there) != runs:
            self.here(runs)
        return self._there
