"""Counts of words that nobody listed in advance: Apple's count-mean sketch and its one-bit form."""

from discreet.local.sketches.count_mean import CountMeanSketch
from discreet.local.sketches.estimates import (
    SketchClient,
    SketchEstimates,
    estimate_words,
    sketch_influence,
)
from discreet.local.sketches.hadamard import HadamardSketch

__all__ = [
    "CountMeanSketch",
    "HadamardSketch",
    "SketchClient",
    "SketchEstimates",
    "estimate_words",
    "sketch_influence",
]
