"""What a guess is worth: gains of guesses against exact answers."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import lcm
from typing import TypeAlias

from discreet.errors import ParameterError
from discreet.mechanisms.frozen import settle
from discreet.parameters import Real, choice, rational
from discreet.utility.graphs import Label, labels


class Known(Enum):
    """Gains that have names."""

    IDENTITY = "identity"
    """1 for the exact answer, 0 for any other."""
    ABSOLUTE = "absolute"
    """The width of the range less the distance."""
    SQUARED = "squared"
    """The square of the width of the range less the square of the distance."""
    PARITY = "parity"
    """1 for a guess as even or odd as the answer: the classical gain that is not anti-monotone."""


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Gain:
    """g(guess, answer), exactly: a row for each guess, a column for each answer."""

    guesses: tuple[Label, ...]
    answers: tuple[Label, ...]
    matrix: tuple[tuple[Fraction, ...], ...]

    def __init__(
        self,
        matrix: Sequence[Sequence[Real]],
        *,
        answers: Iterable[Label] | None = None,
        guesses: Iterable[Label] | None = None,
    ) -> None:
        rows = tuple(tuple(rational("gain", each) for each in row) for row in matrix)
        width = len(rows[0]) if rows else 0
        named = labels("answers", range(width) if answers is None else answers)
        offered = labels("guesses", range(len(rows)) if guesses is None else guesses)
        if len(rows) != len(offered) or any(len(row) != len(named) for row in rows):
            rule = "must have a row for each guess and a column for each answer"
            raise ParameterError("gain", (len(rows), width), rule)
        settle(self, guesses=offered, answers=named, matrix=rows)

    def __repr__(self) -> str:
        return f"Gain({len(self.guesses)} guesses, {len(self.answers)} answers)"

    @property
    def is_anti_monotone(self) -> bool:
        """Whether a guess farther from the answer is never worth more, and one as far as much.

        |w - y| ≤ |v - y| implies g(w, y) ≥ g(v, y): what universal optimality asks for (Ghosh,
        Roughgarden, Sundararajan 2009, Section 2). Guesses and answers must be numbers.
        """
        if not all(isinstance(each, int) for each in (*self.guesses, *self.answers)):
            return False
        return all(
            _falls(sorted((abs(w - y), row[j]) for w, row in zip(self.guesses, self.matrix)))  # type: ignore[operator]  # noqa: B905 - as many by construction
            for j, y in enumerate(self.answers)
        )

    def of(self, databases: Iterable[Label], answer: Callable[..., Label]) -> "Gain":
        """Return the gain against databases whose answer is guessed."""
        named = labels("databases", databases)
        columns = [self.answers.index(answer(each)) for each in named]
        rows = [[row[j] for j in columns] for row in self.matrix]
        return Gain(rows, answers=named, guesses=self.guesses)

    @property
    def weights(self) -> tuple[tuple[tuple[int, ...], ...], int]:
        """The gains as whole numbers, and what they are all divided by."""
        common = lcm(*(each.denominator for row in self.matrix for each in row))
        return tuple(tuple(int(each * common) for each in row) for row in self.matrix), common

    @property
    def spread(self) -> Fraction:
        """The difference of the largest gain and the least."""
        every = [each for row in self.matrix for each in row]
        return max(every) - min(every)


AnyGain: TypeAlias = Gain | Known | str | Callable[..., Real]
"""A gain, the name of one, or a function of a guess and an answer."""


def gain_over(gain: AnyGain, answers: Iterable[Label]) -> Gain:
    """Return a gain over these answers, guesses being the answers themselves.

    A gain that is one already is returned as it is, if it is about these answers.
    """
    named = labels("answers", answers)
    if isinstance(gain, Gain):
        if gain.answers != named:
            rule = "must be about the same answers as the prior, in the same order"
            raise ParameterError("gain", f"{len(gain.answers)} answers", rule)
        return gain
    if not all(isinstance(each, int) for each in named) and _needs_numbers(gain):
        raise ParameterError("gain", gain, "needs answers that are whole numbers")
    function = gain if callable(gain) else _known(choice("gain", gain, Known), named)
    rows = [[rational("gain", function(w, y)) for y in named] for w in named]
    return Gain(rows, answers=named, guesses=named)


def threshold_gain(within: int, answers: Iterable[Label]) -> Gain:
    """Return the gain 1 for guesses no farther than so much, 0 for others."""
    reach = rational("within", within, least=0)
    return gain_over(lambda w, y: int(abs(w - y) <= reach), answers)


def _needs_numbers(gain: object) -> bool:
    return not callable(gain) and choice("gain", gain, Known) is not Known.IDENTITY


def _known(name: Known, named: Sequence[Label]) -> Callable[..., Real]:
    if name is Known.IDENTITY:
        return lambda w, y: int(w == y)
    if name is Known.PARITY:
        return lambda w, y: int((w - y) % 2 == 0)
    width = max(named) - min(named)  # type: ignore[type-var, operator]
    return partial(_absolute if name is Known.ABSOLUTE else _squared, width)


def _absolute(width: int, w: int, y: int) -> int:
    return width - abs(w - y)


def _squared(width: int, w: int, y: int) -> int:
    return width**2 - (w - y) ** 2


def _falls(found: list[tuple[int, Fraction]]) -> bool:
    """Return whether what belongs to larger distances is no larger, and to equal ones equal."""
    pairs = pairwise(found)
    return all(
        here >= there and (near < far or here == there) for (near, here), (far, there) in pairs
    )
