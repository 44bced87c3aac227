"""One example of each mechanism, to ask all of them the same question."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from discreet.mechanisms import (
    AboveThreshold,
    Exponential,
    Extreme,
    Gaussian,
    Geometric,
    Laplace,
    NoisyMax,
    NoisyTop,
    NumericSparse,
    PartitionSelection,
    PermuteAndFlip,
    Quantile,
    RandomizedResponse,
    Sparse,
    Staircase,
)

Maker = Callable[..., Any]
"""Takes parameters by name; what comes out is asked through `Any`, as wrong calls are tested."""

PARAMETERS: Mapping[Maker, Mapping[str, object]] = {
    Geometric: {"epsilon": 1, "sensitivity": 1},
    Laplace: {"epsilon": 1, "sensitivity": 1},
    Gaussian: {"epsilon": 1, "delta": 1e-6, "sensitivity": 1},
    Staircase: {"epsilon": 1, "sensitivity": 1},
    Exponential: {"epsilon": 1, "sensitivity": 1},
    PermuteAndFlip: {"epsilon": 1, "sensitivity": 1},
    NoisyMax: {"epsilon": 1, "sensitivity": 1},
    NoisyTop: {"epsilon": 1, "sensitivity": 1, "count": 1},
    AboveThreshold: {"epsilon": 1, "sensitivity": 1, "threshold": 0},
    Sparse: {"epsilon": 1, "sensitivity": 1, "threshold": 0},
    NumericSparse: {"epsilon": 1, "sensitivity": 1, "threshold": 0},
    RandomizedResponse: {"epsilon": 1},
    PartitionSelection: {"epsilon": 1, "delta": 1e-6},
    Quantile: {"epsilon": 1, "fraction": 0.5},
    Extreme: {"epsilon": 1, "end": "max"},
}


def made(maker: Maker, **changed: object) -> Any:
    """Return the example of this mechanism, with some parameters changed."""
    return maker(**{**PARAMETERS[maker], **changed})


def every(*without: Maker) -> pytest.MarkDecorator:
    """Ask every mechanism but these."""
    makers = [maker for maker in PARAMETERS if maker not in without]
    return pytest.mark.parametrize("maker", makers, ids=lambda maker: maker.__name__)
