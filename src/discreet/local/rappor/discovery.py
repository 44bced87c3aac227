"""Texts that nobody listed, found by their n-grams (after Fanti, Pihur, Erlingsson 2016).

The people are parted at random into groups: one for each place of an n-gram, and one for whole
texts. Each reports, once, the n-gram of the own text at the group's place, or the text. n-grams
that stand out and overlap are joined into candidates, which the last group's reports then test.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.errors import HIDDEN, ParameterError
from discreet.local.base import Row, Rows, check_mechanism, listed, settle, written
from discreet.local.charges import pure_event
from discreet.local.heavy import END, LETTERS
from discreet.local.rappor.client import first_rows
from discreet.local.rappor.mechanism import TEXTS_MOST, Rappor
from discreet.local.reports import Reports
from discreet.noise import SYSTEM, Entropy, uniform_integers
from discreet.noise.uniform import IntArray
from discreet.parameters import whole

if TYPE_CHECKING:
    from discreet.accounting.events import PureEvent

LENGTH_MOST = 32


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Discovery:
    """Report an n-gram of one's text, or all of it, through RAPPOR: as private as one report of it.

    The group is drawn on the device without regard to the text. Texts are `length` letters of
    `alphabet` at most; n-grams are `size` letters long and overlap by all but one.
    """

    tag: ClassVar[str] = "rappor-discovery/1"
    rappor: Rappor
    alphabet: str
    length: int
    size: int
    epsilon: Fraction = field(init=False)

    def __init__(
        self, rappor: Rappor, *, alphabet: str = LETTERS, length: int = 6, size: int = 2
    ) -> None:
        most = whole("length", length, least=2, most=LENGTH_MOST)
        if not isinstance(rappor, Rappor):
            raise ParameterError("rappor", rappor, "must be a Rappor(…)")
        if not isinstance(alphabet, str):
            raise ParameterError("alphabet", alphabet, "must be a text")
        if len(set(alphabet)) < len(alphabet) or len(alphabet) < 2 or END in alphabet:
            raise ParameterError("alphabet", alphabet, "must be different letters, without NUL")
        grams = whole("size", size, least=1, most=most)
        if (len(alphabet) + 1) ** grams > TEXTS_MOST:
            raise ParameterError("size", size, "must be less, so that all n-grams can be tried")
        settle(
            self,
            rappor=rappor,
            alphabet=alphabet,
            length=most,
            size=grams,
            epsilon=rappor.epsilon,
        )

    __repr__ = written

    @property
    def event(self) -> "PureEvent":
        """What one report costs the person who sends it."""
        return pure_event(self.epsilon)

    @property
    def groups(self) -> int:
        """One for each place of an n-gram, and one for whole texts."""
        return self.length - self.size + 2

    @property
    def row(self) -> Row:
        return Row(np.uint8, 1 + self.rappor.row.size)

    @property
    def cells(self) -> int:
        return self.groups * self.rappor.cells

    def are_valid(self, rows: Rows) -> bool:
        return bool(np.all(rows[:, 0] < self.groups)) and self.rappor.are_valid(rows[:, 1:])

    def tally(self, rows: Rows) -> IntArray:
        return np.concatenate(
            [self.rappor.tally(rows[rows[:, 0] == each, 1:]) for each in range(self.groups)]
        )

    def filled(self, text: str) -> str:
        """Return the text at its full length, or refuse it without showing it."""
        if not isinstance(text, str) or len(text) > self.length or set(text) - set(self.alphabet):
            rule = f"must be at most {self.length} letters of the alphabet; cut them on the device"
            raise ParameterError("texts", HIDDEN, rule)
        return text.ljust(self.length, END)

    def part(self, text: str, group: int) -> str:
        """Return what a group reports of a text of full length."""
        return text if group == self.groups - 1 else text[group : group + self.size]


@dataclass(frozen=True, slots=True)
class DiscoveryClient:
    """Makes reports about a text on the device of the person who used it."""

    mechanism: Discovery

    def __post_init__(self) -> None:
        check_mechanism(self.mechanism, "filled", "groups", rule="must be a Discovery")

    def report(self, text: str, *, entropy: Entropy = SYSTEM) -> bytes:
        """Return one person's report, ready to be sent."""
        return bytes(self.report_many([text], entropy=entropy))

    def report_many(self, texts: Sequence[str], *, entropy: Entropy = SYSTEM) -> Reports:
        """Return a report for each of many people."""
        mechanism = self.mechanism
        filled = [mechanism.filled(text) for text in listed("texts", texts)]
        groups = uniform_integers(mechanism.groups, len(filled), entropy=entropy)
        parts = [
            mechanism.part(text, group) for text, group in zip(filled, groups.tolist(), strict=True)
        ]
        rows = first_rows(mechanism.rappor, parts, entropy)
        named = groups.astype(np.uint8)[:, np.newaxis]
        return Reports(mechanism, np.concatenate([named, rows], axis=1))
