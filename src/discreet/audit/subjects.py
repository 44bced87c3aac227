"""Subjects of an audit: code that claims to be private, run on two neighbouring inputs."""

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
"""Runs the subject a number of times on the same input, with independent noise."""


class Kind(Enum):
    """Where a subject comes from."""

    MECHANISM = "mechanism"
    LOCAL = "local"
    QUESTION = "question"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A claim (epsilon, delta), and the two distributions that it is about.

    The claim is false if the probability of some event `here` is more than e^epsilon times its
    probability `there` plus delta, or the other way round. `is_broken` marks a deliberately broken
    variant: an auditor must catch it, which tests the power of the audit.
    """

    name: str
    kind: Kind
    epsilon: Fraction
    here: Draw
    there: Draw
    delta: Fraction = Fraction(0)
    is_broken: bool = False
    runs: int = 100_000
    """The number of runs on each input in a quick audit. A long one has ten times as many."""
