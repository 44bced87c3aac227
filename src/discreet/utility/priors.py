"""Priors and gain functions."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import product
from math import comb, lcm
from typing import TypeAlias

import numpy as np

from discreet.errors import ParameterError
from discreet.noise.uniform import FloatArray, IntArray
from discreet.parameters import Real, choice, freeze_fields, integer, rational
from discreet.utility.neighbours import Label, integers, labels


class Belief(Enum):
    """Beliefs that apply to any range."""

    UNIFORM = "uniform"
    """All answers are equally likely."""
    WORST = "worst"
    """No prior: a mechanism is judged by its worst-case answer."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Prior:
    """Probabilities that add up to 1, one for each label. Weights are scaled to add up to 1."""

    labels: tuple[Label, ...]
    probabilities: tuple[Fraction, ...]

    def __init__(self, chances: Mapping[Label, Real] | Sequence[Real]) -> None:
        """Take a probability for each label, or for 0, 1, 2, … if labels are not given."""
        pairs = chances if isinstance(chances, Mapping) else dict(enumerate(chances))
        weights = [rational("prior", each, least=0) for each in pairs.values()]
        total = sum(weights, Fraction(0))
        if total == 0:
            raise ParameterError("prior", "none", "must have a probability above 0")
        freeze_fields(
            self, labels=labels("prior", pairs), probabilities=tuple(w / total for w in weights)
        )

    def __repr__(self) -> str:
        return f"Prior({len(self.labels)} labels)"

    def __getitem__(self, label: Label) -> Fraction:
        """Return the probability of a label, or 0 if it was not given."""
        return self.probabilities[self.labels.index(label)] if label in self.labels else Fraction(0)

    def items(self) -> Iterator[tuple[Label, Fraction]]:
        """Yield every label with its probability."""
        return zip(self.labels, self.probabilities, strict=True)

    def probability(self, holds: Callable[..., bool]) -> Fraction:
        """Return the probability that a condition is true of the label."""
        return sum((p for label, p in self.items() if holds(label)), Fraction(0))

    def mapped(self, answer: Callable[..., Label]) -> "Prior":
        """Return the prior of a function of the label, such as the answer of a database."""
        found: dict[Label, Fraction] = {}
        for label, p in self.items():
            found[answer(label)] = found.get(answer(label), Fraction(0)) + p
        return Prior(found)

    @property
    def weights(self) -> tuple[int, ...]:
        """Integers proportional to the probabilities."""
        common = lcm(*(each.denominator for each in self.probabilities))
        return tuple(int(each * common) for each in self.probabilities)


def uniform(low: int, high: int) -> Prior:
    """Return the prior in which all integers from low to high are equally likely."""
    return Prior(dict.fromkeys(integers(low, high), 1))


def binomial(people: int, chance: Real) -> Prior:
    """Return the prior of a count of people who are each counted with the same probability."""
    n = integer("people", people, least=1)
    p = rational("chance", chance, least=0, most=1)
    return Prior([comb(n, k) * p**k * (1 - p) ** (n - k) for k in integers(0, n)])


def empirical(public: Iterable[int], low: int, high: int, *, besides: Real = 1) -> Prior:
    """Return the prior from public numbers: the frequency of each, plus `besides`.

    Numbers outside the range are clamped to it. If `besides` is 0, a number that never occurred has
    probability 0, and no answer will change that.
    """
    nodes = integers(low, high)
    seen: dict[Label, Fraction] = dict.fromkeys(nodes, rational("besides", besides, least=0))
    for each in public:
        seen[min(max(integer("public", each), nodes[0]), nodes[-1])] += 1
    return Prior(seen)


def independent(*chances: Real) -> Prior:
    """Return the prior of people who each have a property (1) or not (0), independently."""
    own = [rational("chances", each, least=0, most=1) for each in chances]
    found: dict[Label, Fraction] = {}
    for database in product((0, 1), repeat=len(own)):
        p = Fraction(1)
        for bit, each in zip(database, own, strict=True):
            p *= each if bit else 1 - each
        found[database] = p
    return Prior(found)


Weights: TypeAlias = tuple[tuple[int, ...], ...]


MOST = 10**100
"""The largest gain. Floats hold sums of such gains."""


WORD = 1 << 62


class Known(Enum):
    """Gains with names."""

    IDENTITY = "identity"
    """1 for the exact answer, 0 for any other."""
    ABSOLUTE = "absolute"
    """The width of the range minus the distance."""
    SQUARED = "squared"
    """The square of the width of the range minus the square of the distance."""
    PARITY = "parity"
    """1 for a guess of the same parity as the answer: a gain that is not anti-monotone."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Gain:
    """g(guess, answer), exactly: a row for each guess, a column for each answer.

    Stored as integers and a common divisor, which is exact and fast.
    """

    guesses: tuple[Label, ...]
    answers: tuple[Label, ...]
    weights: Weights
    divisor: int

    def __init__(
        self,
        matrix: Sequence[Sequence[Real]],
        *,
        answers: Iterable[Label] | None = None,
        guesses: Iterable[Label] | None = None,
    ) -> None:
        weights, divisor = _wholes(matrix)
        width = len(weights[0]) if weights else 0
        named = labels("answers", range(width) if answers is None else answers)
        offered = labels("guesses", range(len(weights)) if guesses is None else guesses)
        if len(weights) != len(offered) or any(len(row) != len(named) for row in weights):
            rule = "must have a row for each guess and a column for each answer"
            raise ParameterError("gain", (len(weights), width), rule)
        freeze_fields(self, guesses=offered, answers=named, weights=weights, divisor=divisor)

    def __repr__(self) -> str:
        return f"Gain({len(self.guesses)} guesses, {len(self.answers)} answers)"

    @property
    def matrix(self) -> tuple[tuple[Fraction, ...], ...]:
        """The gains as fractions."""
        return tuple(tuple(Fraction(each, self.divisor) for each in row) for row in self.weights)

    def to_floats(self) -> FloatArray:
        """Return the gains as the nearest floats."""
        return np.array([[each / self.divisor for each in row] for row in self.weights])

    @property
    def is_anti_monotone(self) -> bool:
        """Whether a guess farther from the answer never has a larger gain.

        |w - y| ≤ |v - y| implies g(w, y) ≥ g(v, y), so equal distances have equal gains. Universal
        optimality requires this (Ghosh, Roughgarden, Sundararajan 2009, Section 2). Guesses and
        answers must be numbers.
        """
        if not all(isinstance(each, int) for each in (*self.guesses, *self.answers)):
            return False
        away = np.abs(np.subtract.outer(_exact(self.guesses), _exact(self.answers)))
        order = np.argsort(away, axis=0)
        far = np.take_along_axis(away, order, axis=0)
        worth = np.take_along_axis(_exact(self.weights), order, axis=0)
        is_less, is_same = worth[1:] < worth[:-1], worth[1:] == worth[:-1]
        return bool((is_same | (is_less & (far[1:] > far[:-1]))).all())

    def of(self, databases: Iterable[Label], answer: Callable[..., Label]) -> "Gain":
        """Return the gain for databases whose answer is guessed."""
        named = labels("databases", databases)
        columns = [self.answers.index(answer(each)) for each in named]
        rows = [[row[j] for j in columns] for row in self.matrix]
        return Gain(rows, answers=named, guesses=self.guesses)

    @property
    def spread(self) -> Fraction:
        """The difference between the largest and the smallest gain."""
        return Fraction(max(map(max, self.weights)) - min(map(min, self.weights)), self.divisor)


def _wholes(matrix: Sequence[Sequence[Real]]) -> tuple[Weights, int]:
    """Return numbers as integers, and their common divisor."""
    if all(set(map(type, row)) == {int} for row in matrix) and _reach(matrix) <= MOST:  # type: ignore[arg-type]
        return tuple(tuple(row) for row in matrix), 1  # type: ignore[arg-type]
    rows = [[rational("gain", each, least=-MOST, most=MOST) for each in row] for row in matrix]
    common = lcm(*(each.denominator for row in rows for each in row))
    return tuple(tuple(int(each * common) for each in row) for row in rows), common


AnyGain: TypeAlias = Gain | Known | str | Callable[..., Real]
"""A gain, the name of one, or a function of a guess and an answer."""


def gain_over(gain: AnyGain, answers: Iterable[Label]) -> Gain:
    """Return a gain over these answers, in which guesses are the answers themselves.

    A `Gain` over these answers is returned unchanged.
    """
    named = labels("answers", answers)
    if isinstance(gain, Gain):
        if gain.answers != named:
            rule = "must be about the same answers as the prior, in the same order"
            raise ParameterError("gain", f"{len(gain.answers)} answers", rule)
        return gain
    if not all(isinstance(each, int) for each in named) and _needs_numbers(gain):
        raise ParameterError("gain", gain, "needs answers that are whole numbers")
    if callable(gain):
        rows = [[gain(w, y) for y in named] for w in named]
    else:
        rows = _known(choice("gain", gain, Known), named)
    return Gain(rows, answers=named, guesses=named)


def threshold_gain(within: int, answers: Iterable[Label]) -> Gain:
    """Return the gain that is 1 for guesses within this distance, and 0 for others."""
    reach = rational("within", within, least=0)
    return gain_over(lambda w, y: int(abs(w - y) <= reach), answers)


def _needs_numbers(gain: object) -> bool:
    return not callable(gain) and choice("gain", gain, Known) is not Known.IDENTITY


def _known(name: Known, named: Sequence[Label]) -> list[list[Real]]:
    if name is Known.IDENTITY:
        return [[int(w == y) for y in named] for w in named]
    numbers = [each for each in named if isinstance(each, int)]
    width = max(numbers) - min(numbers)
    if name is Known.PARITY:
        return [[(w - y + 1) % 2 for y in numbers] for w in numbers]
    if name is Known.ABSOLUTE:
        return [[width - abs(w - y) for y in numbers] for w in numbers]
    return [[width**2 - (w - y) ** 2 for y in numbers] for w in numbers]


def _reach(numbers: Sequence[Sequence[int]]) -> int:
    """Return the largest absolute value."""
    return max(max(map(abs, row)) for row in numbers)


def _exact(numbers: Sequence[object]) -> IntArray:
    """Return integers as machine words, or as Python integers if one is too large."""
    found = np.array(numbers, object)
    return found.astype(np.int64) if np.abs(found).max() < WORD else found
