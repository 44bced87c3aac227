"""The half that runs on a person's device: a value goes in, a report comes out.

It needs NumPy and discreet.noise and nothing else; it keeps nothing.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import HIDDEN, ParameterError
from discreet.local.base import FrequencyOracle, array_of, check_mechanism
from discreet.local.reports import Reports
from discreet.noise import SYSTEM, Entropy
from discreet.noise.uniform import IntArray


@dataclass(frozen=True, slots=True)
class Client:
    """Makes reports; each costs its sender epsilon, also a second one about the same value."""

    mechanism: FrequencyOracle

    def __post_init__(self) -> None:
        rule = "must be one of values that are listed, such as KaryResponse(epsilon=1, ...)"
        check_mechanism(self.mechanism, "categories", "draw", "row", rule=rule)

    def report(self, value: int, *, entropy: Entropy = SYSTEM) -> bytes:
        """Return one person's report, ready to be sent."""
        return bytes(self.report_many([value], entropy=entropy))

    def report_many(self, values: ArrayLike, *, entropy: Entropy = SYSTEM) -> Reports:
        """Return a report for each of many people."""
        checked = checked_values(self.mechanism, values)
        return Reports(self.mechanism, self.mechanism.draw(checked, entropy))


def checked_values(mechanism: FrequencyOracle, values: ArrayLike) -> IntArray:
    """Return values as a flat array of whole numbers, or refuse them without showing any."""
    found = array_of(values)
    if found is None:
        raise _refusal(mechanism)
    if found.dtype == np.bool_ or found.size == 0:
        found = found.astype(np.int64)
    if found.dtype.kind not in "iu" or found.ndim != 1:
        raise _refusal(mechanism)
    if found.size and not (found.min() >= 0 and found.max() < mechanism.categories):
        raise _refusal(mechanism)
    return found


def _refusal(mechanism: FrequencyOracle) -> ParameterError:
    rule = f"must be whole numbers from 0 to {mechanism.categories - 1}"
    return ParameterError("values", HIDDEN, rule)
