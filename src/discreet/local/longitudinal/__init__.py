"""Reports over time: answers that are kept, bits that are flipped once, and what rounds cost."""

from discreet.local.longitudinal.bit_flips import (
    BitFlipClient,
    BitFlipEstimates,
    BitFlips,
    estimate_buckets,
)
from discreet.local.longitudinal.kept import KeptAnswers

__all__ = ["BitFlipClient", "BitFlipEstimates", "BitFlips", "KeptAnswers", "estimate_buckets"]
