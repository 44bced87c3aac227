"""Mechanisms: they add noise to exact answers and know its distribution, error and cost."""

from typing import TYPE_CHECKING

from discreet.deprecated import deprecated_modules, deprecated_names
from discreet.on_use import names_of

if TYPE_CHECKING:
    from discreet.mechanisms.exponential import Exponential, PermuteAndFlip
    from discreet.mechanisms.gaussian import Calibration, Gaussian
    from discreet.mechanisms.gaussian_selection import GaussianPartitionSelection
    from discreet.mechanisms.geometric import Geometric
    from discreet.mechanisms.laplace import Laplace
    from discreet.mechanisms.margins import gaussian_margin, laplace_margin
    from discreet.mechanisms.noisy_max import NoiseKind, NoisyMax, NoisyTop, Top
    from discreet.mechanisms.partition_selection import PartitionSelection, Selected
    from discreet.mechanisms.quantile import End, Extreme, Quantile
    from discreet.mechanisms.randomized_response import Frequencies, RandomizedResponse
    from discreet.mechanisms.sensitivity import (
        ADD_REMOVE,
        REPLACE,
        Neighbours,
        Sensitivity,
        bounded_mean,
        bounded_sum,
        counting_queries,
        counting_query,
        histogram,
        maximum,
        percentage,
    )
    from discreet.mechanisms.sparse_vector import AboveThreshold, NumericSparse, Sparse
    from discreet.mechanisms.staircase import Staircase
    from discreet.mechanisms.truncation import Truncated

__all__ = [
    "ADD_REMOVE",
    "REPLACE",
    "AboveThreshold",
    "Calibration",
    "End",
    "Exponential",
    "Extreme",
    "Frequencies",
    "Gaussian",
    "GaussianPartitionSelection",
    "Geometric",
    "Laplace",
    "Neighbours",
    "NoiseKind",
    "NoisyMax",
    "NoisyTop",
    "NumericSparse",
    "PartitionSelection",
    "PermuteAndFlip",
    "Quantile",
    "RandomizedResponse",
    "Selected",
    "Sensitivity",
    "Sparse",
    "Staircase",
    "Top",
    "Truncated",
    "bounded_mean",
    "bounded_sum",
    "counting_queries",
    "counting_query",
    "gaussian_margin",
    "histogram",
    "laplace_margin",
    "maximum",
    "percentage",
]

_MODULES = {
    "exponential": "Exponential PermuteAndFlip",
    "gaussian": "Calibration Gaussian",
    "gaussian_selection": "GaussianPartitionSelection",
    "geometric": "Geometric",
    "laplace": "Laplace",
    "margins": "gaussian_margin laplace_margin",
    "noisy_max": "NoiseKind NoisyMax NoisyTop Top",
    "partition_selection": "PartitionSelection Selected",
    "quantile": "End Extreme Quantile",
    "randomized_response": "Frequencies RandomizedResponse",
    "sensitivity": (
        "ADD_REMOVE REPLACE Neighbours Sensitivity bounded_mean bounded_sum "
        "counting_queries counting_query histogram maximum percentage"
    ),
    "sparse_vector": "AboveThreshold NumericSparse Sparse",
    "staircase": "Staircase",
    "truncation": "Truncated",
}
"""The modules, and the public names that each gives."""

if not TYPE_CHECKING:
    __getattr__ = deprecated_names(
        __name__,
        {
            "Noise": "discreet.mechanisms.NoiseKind",
            "gaussian_spread": "discreet.mechanisms.gaussian_margin",
            "laplace_spread": "discreet.mechanisms.laplace_margin",
        },
        names_of(__name__, _MODULES),
    )

deprecated_modules(
    {
        "discreet.mechanisms.laws": {
            "Law": "discreet.mechanisms.distributions.Distribution",
            "FineLaw": "discreet.mechanisms.distributions.FineDistribution",
            "DiscreteLaplaceLaw": "discreet.mechanisms.distributions.DiscreteLaplaceDistribution",
            "DiscreteGaussianLaw": "discreet.mechanisms.distributions.DiscreteGaussianDistribution",
            "StaircaseLaw": "discreet.mechanisms.distributions.StaircaseDistribution",
            "ClampedLaw": "discreet.mechanisms.distributions.ClampedDistribution",
            "RoundedLaw": "discreet.mechanisms.distributions.RoundedDistribution",
            "ChoiceLaw": "discreet.mechanisms.distributions.ChoiceDistribution",
            "*": "discreet.mechanisms.distributions",
        },
    }
)
