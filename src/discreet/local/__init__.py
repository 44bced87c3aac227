"""Local differential privacy: each person's device adds noise before it sends anything.

A mechanism is a frozen value that both halves share. A `Client` turns a value into a report on the
person's device. A `Server` counts reports and estimates what people hold, with errors.

This is the one import path of the local model. Names are loaded on first use, so a device loads
NumPy and `discreet.noise` only.
"""

from typing import TYPE_CHECKING

from discreet.deprecated import deprecated_modules, deprecated_names
from discreet.on_use import names_of

if TYPE_CHECKING:
    from discreet.local.bit_flips import (
        BitFlipEstimates,
        BitFlips,
        bit_flip_error,
        bit_flip_influence,
    )
    from discreet.local.client import Client, Histories, Memoized
    from discreet.local.collector import Collector
    from discreet.local.estimates import Correction, Estimates, RapporEstimates, standard_error
    from discreet.local.hashing import LocalHashing
    from discreet.local.heavy_hitters import (
        FoundWords,
        HeavyHitters,
        SketchEstimates,
        heavy_influence,
        sketch_influence,
    )
    from discreet.local.means import MeanEstimate, choose_mean, mean_influence
    from discreet.local.mechanism import (
        FrequencyOracle,
        Mechanism,
        ReportChannel,
        channel,
        fingerprint,
        influence,
    )
    from discreet.local.numeric import Duchi, Hybrid, Piecewise
    from discreet.local.prices import (
        RoundsPrice,
        fresh_price,
        memoized_price,
        prices_over_time,
        rappor_price,
        shuffled_epsilon,
        shuffled_epsilon_2021,
        shuffled_epsilon_closed,
        shuffled_epsilon_closed_2021,
        shuffled_event,
    )
    from discreet.local.rappor import Discovery, Rappor
    from discreet.local.registry import (
        OracleCandidate,
        OracleChoice,
        choose,
        mechanism_from_json,
        mechanism_to_json,
    )
    from discreet.local.reports import Reports, Tally
    from discreet.local.response import HadamardResponse, KaryResponse
    from discreet.local.server import Server
    from discreet.local.sketches import CountMeanSketch, HadamardSketch
    from discreet.local.square_wave import Histogram, SquareWave
    from discreet.local.subset import SubsetSelection
    from discreet.local.unary import UnaryEncoding, UnaryForm

__all__ = [
    "BitFlipEstimates",
    "BitFlips",
    "Client",
    "Collector",
    "Correction",
    "CountMeanSketch",
    "Discovery",
    "Duchi",
    "Estimates",
    "FoundWords",
    "FrequencyOracle",
    "HadamardResponse",
    "HadamardSketch",
    "HeavyHitters",
    "Histogram",
    "Histories",
    "Hybrid",
    "KaryResponse",
    "LocalHashing",
    "MeanEstimate",
    "Mechanism",
    "Memoized",
    "OracleCandidate",
    "OracleChoice",
    "Piecewise",
    "Rappor",
    "RapporEstimates",
    "ReportChannel",
    "Reports",
    "RoundsPrice",
    "Server",
    "SketchEstimates",
    "SquareWave",
    "SubsetSelection",
    "Tally",
    "UnaryEncoding",
    "UnaryForm",
    "bit_flip_error",
    "bit_flip_influence",
    "channel",
    "choose",
    "choose_mean",
    "fingerprint",
    "fresh_price",
    "heavy_influence",
    "influence",
    "mean_influence",
    "mechanism_from_json",
    "mechanism_to_json",
    "memoized_price",
    "prices_over_time",
    "rappor_price",
    "shuffled_epsilon",
    "shuffled_epsilon_2021",
    "shuffled_epsilon_closed",
    "shuffled_epsilon_closed_2021",
    "shuffled_event",
    "sketch_influence",
    "standard_error",
]

_NAMES_OF = {
    "bit_flips": "BitFlipEstimates BitFlips bit_flip_error bit_flip_influence",
    "client": "Client Histories Memoized",
    "collector": "Collector",
    "estimates": "Correction Estimates RapporEstimates standard_error",
    "hashing": "LocalHashing",
    "heavy_hitters": "FoundWords HeavyHitters SketchEstimates heavy_influence sketch_influence",
    "means": "MeanEstimate choose_mean mean_influence",
    "mechanism": "FrequencyOracle Mechanism ReportChannel channel fingerprint influence",
    "numeric": "Duchi Hybrid Piecewise",
    "prices": "RoundsPrice fresh_price memoized_price prices_over_time rappor_price "
    "shuffled_epsilon shuffled_epsilon_2021 shuffled_epsilon_closed shuffled_epsilon_closed_2021 "
    "shuffled_event",
    "rappor": "Discovery Rappor",
    "registry": "OracleCandidate OracleChoice choose mechanism_from_json mechanism_to_json",
    "reports": "Reports Tally",
    "response": "HadamardResponse KaryResponse",
    "server": "Server",
    "sketches": "CountMeanSketch HadamardSketch",
    "square_wave": "Histogram SquareWave",
    "subset": "SubsetSelection",
    "unary": "UnaryEncoding UnaryForm",
}

if not TYPE_CHECKING:
    __getattr__ = deprecated_names(
        __name__,
        {
            "Candidate": "discreet.local.OracleCandidate",
            "Channel": "discreet.local.ReportChannel",
            "Choice": "discreet.local.OracleChoice",
            "Form": "discreet.local.UnaryForm",
        },
        names_of(__name__, _NAMES_OF),
    )


def __dir__() -> list[str]:
    """List the public names."""
    return sorted(__all__)


deprecated_modules(
    {
        "discreet.local.heavy": {
            "Found": "discreet.local.FoundWords",
            "HeavyClient": "discreet.local.Client",
            "find_words": "discreet.local.old_names.find_words",
            "*": "discreet.local.heavy_hitters",
        },
        "discreet.local.histories": {
            "price_of_kept": "discreet.local.client.memoized_epsilon",
            "*": "discreet.local.client",
        },
        "discreet.local.longitudinal": {
            "BitFlipClient": "discreet.local.Client",
            "KeptAnswers": "discreet.local.old_names.KeptAnswers",
            "estimate_buckets": "discreet.local.old_names.estimate_buckets",
            "*": "discreet.local.bit_flips",
        },
        "discreet.local.longitudinal.accounts": {
            "kept_price": "discreet.local.memoized_price",
            "*": "discreet.local.prices",
        },
        "discreet.local.shuffle": {"*": "discreet.local.prices"},
        "discreet.local.tallies": {"*": "discreet.local.reports"},
    }
)
