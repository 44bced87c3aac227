"""What samples alone prove about how much a mechanism gives away, by the auditor of the product."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.audit import audit_outputs
from tests.statistics import FALSE_ALARM

Codes: TypeAlias = NDArray[np.int64]


def epsilon_lower_bound(here: Codes, there: Codes) -> float:
    """Return an epsilon that the mechanism exceeds or equals, wrong once in 1 / FALSE_ALARM."""
    return audit_outputs(here, there, confidence=1 - FALSE_ALARM).measured


def low_bits(values: NDArray[np.float64], bits: int = 3) -> Codes:
    """Code floats by size, sign and their last bits, which naive noise leaves a trace in."""
    last = values.view(np.int64) & ((1 << bits) - 1)
    exponents = np.clip(np.frexp(values)[1].astype(np.int64), -8, 8) + 8
    return (2 * exponents + np.signbit(values)) << bits | last
