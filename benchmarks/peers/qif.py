"""qif: optimal mechanisms with constraints on neighbours only, by its own choice of solver."""

from functools import partial

import numpy as np
import qif  # type: ignore[import-not-found]  # lives in its own environment

from benchmarks.utility_cases import EPSILON, LOSSES, Chances, cases, line_from, solved


def solve(name: str, size: int) -> Chances:
    """Return the chances that qif finds."""
    found = qif.mechanism.d_privacy.min_loss_given_d(
        qif.probab.uniform(size + 1),
        size + 1,
        lambda a, b: EPSILON * abs(a - b),
        LOSSES[name],
        # Pairs whose constraint follows from others': without this it fails at n = 50.
        d_priv_ch=lambda a, b: abs(a - b) > 1,
    )
    return np.array(found)


if __name__ == "__main__":
    for name, size in cases():
        print(line_from(solved(name, size, partial(solve, name, size))), flush=True)
