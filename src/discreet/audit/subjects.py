"""What is audited: something that claims to be private, run on two neighbouring inputs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Outputs = Sequence[Any] | NDArray[np.generic]
"""Independent outputs, one for each run: numbers, labels, None, tuples, or rows of an array."""

Draw = Callable[[int], Outputs]
"""Runs the subject so many times, each time from the same input and with noise of its own."""


class Kind(Enum):
    """Where a subject comes from."""

    MECHANISM = "mechanism"
    LOCAL = "local"
    QUESTION = "question"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A claim (epsilon, delta), and the two laws that it is about.

    The claim is false if some event is more likely `here` than e^epsilon times its chance `there`
    and delta more, or the other way round. A twin is a subject that is broken on purpose: an
    auditor that does not catch it has lost its power.
    """

    name: str
    kind: Kind
    epsilon: Fraction
    here: Draw
    there: Draw
    delta: Fraction = Fraction(0)
    is_broken: bool = False
    runs: int = 100_000
    """How often each side is run in a quick audit; a long one takes ten times as many."""
