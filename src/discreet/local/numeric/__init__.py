"""Bounded numbers: means (Duchi, piecewise, hybrid) and histograms (square wave)."""

from discreet.local.numeric.duchi import Duchi
from discreet.local.numeric.hybrid import Hybrid
from discreet.local.numeric.means import (
    MeanEstimate,
    NumericClient,
    choose_numeric,
    estimate_mean,
)
from discreet.local.numeric.piecewise import Piecewise
from discreet.local.numeric.square_wave import SquareWave, SquareWaveClient
from discreet.local.numeric.waves import Histogram, reconstruct

__all__ = [
    "Duchi",
    "Histogram",
    "Hybrid",
    "MeanEstimate",
    "NumericClient",
    "Piecewise",
    "SquareWave",
    "SquareWaveClient",
    "choose_numeric",
    "estimate_mean",
    "reconstruct",
]
