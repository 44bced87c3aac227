"""Which mechanism to take: the least proved error, and the shortest reports that come near it."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from discreet.errors import ParameterError, readable
from discreet.local.base import FrequencyOracle, checked_categories, checked_epsilon
from discreet.local.estimates import standard_error
from discreet.local.oracles.hadamard import HadamardResponse
from discreet.local.oracles.hashing import LocalHashing
from discreet.local.oracles.kary import KaryResponse
from discreet.local.oracles.subset import SubsetSelection
from discreet.local.oracles.unary import UnaryEncoding
from discreet.parameters import Real, whole

PEOPLE_MOST = 10**18
"""More people there are not, and floats hold the squares of such numbers."""

SLACK = 1.05
"""An error this many times the least is as good, if the reports are shorter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A mechanism with its error, the root mean square over all values, and its reports' bits."""

    mechanism: FrequencyOracle
    error: float
    """Of an estimated count."""
    bits: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The mechanism to take, why, and all that were compared, from the least error on."""

    mechanism: FrequencyOracle
    why: str
    candidates: tuple[Candidate, ...]

    def __str__(self) -> str:
        return f"{self.mechanism!r}: {self.why}"


def choose(epsilon: Real, categories: int, people: int, *, most_bits: int | None = None) -> Choice:
    """Return the mechanism of shortest reports among those within 5 % of the least proved error.

    The error is exact and the same whoever holds what: the mean variance of the estimated counts,
    (p (1 - p) + (k - 1) q (1 - q)) n / (k (p - q)²). `most_bits` bounds the length of a report.
    """
    n = whole("people", people, least=1, most=PEOPLE_MOST)
    candidates = _candidates(epsilon, categories, n)
    allowed = [each for each in candidates if most_bits is None or each.bits <= most_bits]
    if not allowed:
        least = min(each.bits for each in candidates)
        raise ParameterError("most_bits", most_bits, f"must be {least} or more")
    near = [each for each in allowed if each.error <= SLACK * allowed[0].error]
    taken = min(near, key=lambda each: each.bits)
    return Choice(
        mechanism=taken.mechanism,
        why=_why(taken, allowed[0], n),
        candidates=candidates,
    )


def _candidates(epsilon: Real, categories: int, people: int) -> tuple[Candidate, ...]:
    exact, k = checked_epsilon(epsilon), checked_categories(categories)
    mechanisms: tuple[FrequencyOracle, ...] = (
        *_responses(exact, k),
        UnaryEncoding.symmetric(epsilon=exact, categories=k),
        UnaryEncoding.optimised(epsilon=exact, categories=k),
        SubsetSelection(epsilon=exact, categories=k),
        LocalHashing(epsilon=exact, categories=k),
        HadamardResponse(epsilon=exact, categories=k),
    )
    found = (
        Candidate(mechanism=each, error=standard_error(each, people), bits=each.bits)
        for each in mechanisms
    )
    return tuple(sorted(found, key=lambda each: (each.error, each.bits)))


def _responses(epsilon: Fraction, categories: int) -> tuple[FrequencyOracle, ...]:
    """Return the k-ary response, if 64 bits can tell its truth from its lies."""
    try:
        return (KaryResponse(epsilon=epsilon, categories=categories),)
    except ParameterError:
        return ()


def _why(taken: Candidate, best: Candidate, people: int) -> str:
    epsilon = readable(taken.mechanism.epsilon)
    error = f"{100 * taken.error / people:.2g} % of {people} people"
    begin = f"at epsilon = {epsilon} its standard error is {error}"
    if taken is best:
        return f"{begin}, the least of all, with reports of {_bits(taken.bits)}."
    more = ceil(1000 * (taken.error / best.error - 1)) / 10
    name = type(best.mechanism).__name__
    return (
        f"{begin}, at most {more:g} % above that of {name}, "
        f"and its reports take {_bits(taken.bits)} instead of {best.bits}."
    )


def _bits(bits: int) -> str:
    return "1 bit" if bits == 1 else f"{bits} bits"
