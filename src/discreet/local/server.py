"""The half that collects: counts reports, merges counts and states estimates with their errors."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Generic, Self, cast, overload

from discreet.deprecated import Renamed
from discreet.errors import ReportError
from discreet.local.bit_flips import BitFlipEstimates, BitFlips
from discreet.local.client import Kind_co, Memoized, reporting
from discreet.local.estimates import (
    Correction,
    Estimates,
    RapporEstimates,
    estimate_tally,
    support_counts,
)
from discreet.local.heavy_hitters import FoundWords, HeavyHitters, Sketch, SketchEstimates
from discreet.local.means import MeanEstimate, MeanMechanism
from discreet.local.mechanism import FrequencyOracle, Mechanism
from discreet.local.rappor import Discovery, Rappor
from discreet.local.reports import Reports, Tally
from discreet.local.sketches import Word
from discreet.local.square_wave import Histogram, SquareWave
from discreet.noise import SYSTEM, Entropy
from discreet.noise.uniform import IntArray
from discreet.parameters import Real, confidence_level


class Server(Generic[Kind_co]):
    """Counts reports of one mechanism and estimates what people hold.

    Servers that counted separately are merged by adding, in any order. No single report is held.
    """

    __slots__ = ("tally",)

    @overload
    def __init__(self, mechanism: Memoized[Kind_co]) -> None: ...
    @overload
    def __init__(self, mechanism: Kind_co) -> None: ...

    def __init__(self, mechanism: Kind_co | Memoized[Kind_co]) -> None:
        self.tally: Tally[Kind_co] = Tally(reporting(mechanism))

    def __repr__(self) -> str:
        return f"Server({self.mechanism!r}, people={self.people})"

    @property
    def mechanism(self) -> Kind_co:
        """The mechanism that made the reports."""
        return self.tally.mechanism

    @property
    def people(self) -> int:
        """How many reports were counted."""
        return self.tally.people

    def add(self, reports: Reports | bytes) -> None:
        """Count reports, given as bytes or as the result of `report_many`; all or none of them."""
        self.tally.add(reports)

    def merge(self, other: "Server[Mechanism]") -> None:
        """Add the counts of another server of the same mechanism."""
        if not isinstance(other, Server):
            raise ReportError("only a server can be merged with a server")
        self.tally.merge(other.tally)

    def support_counts(self: "Server[FrequencyOracle]") -> IntArray:
        """Return how many reports support each value of a frequency oracle."""
        return support_counts(self.tally)

    spoken_for = Renamed("support_counts")

    @overload
    def estimate(self: "Server[MeanMechanism]", *, confidence: Real = 0.95) -> MeanEstimate: ...
    @overload
    def estimate(
        self: "Server[SquareWave]",
        *,
        confidence: Real = 0.95,
        smooth: bool | None = None,
        resamples: int = 0,
        entropy: Entropy = SYSTEM,
    ) -> Histogram: ...
    @overload
    def estimate(
        self: "Server[Sketch]", *, words: Sequence[Word], confidence: Real = 0.95
    ) -> SketchEstimates: ...
    @overload
    def estimate(
        self: "Server[HeavyHitters]", *, confidence: Real = 0.95, most: int = 64
    ) -> FoundWords: ...
    @overload
    def estimate(
        self: "Server[Rappor]",
        *,
        texts: Sequence[str],
        confidence: Real = 0.95,
        correction: Correction | str = Correction.BONFERRONI,
    ) -> RapporEstimates: ...
    @overload
    def estimate(
        self: "Server[Discovery]", *, confidence: Real = 0.95, candidates: int = 2_000
    ) -> RapporEstimates | None: ...
    @overload
    def estimate(self: "Server[BitFlips]", *, confidence: Real = 0.95) -> BitFlipEstimates: ...
    @overload
    def estimate(self: "Server[FrequencyOracle]", *, confidence: Real = 0.95) -> Estimates: ...

    def estimate(self, *, confidence: Real = 0.95, **asked: Any) -> Any:
        """Return the estimates, with errors and intervals.

        Some mechanisms take more arguments: `words` for sketches, `texts` and `correction` for
        RAPPOR, `most` for heavy hitters, `candidates` for discovery, `smooth` and `resamples` for
        square waves (whose histograms state standard deviations and have no intervals).
        """
        level = confidence_level(confidence)
        if isinstance(self.mechanism, Rappor | Discovery):
            import_module("discreet.local.rappor_decoding")  # the only estimates that need SciPy
        return estimate_tally(self.mechanism, self.tally, level, **asked)

    def __bytes__(self) -> bytes:
        return bytes(self.tally)

    @classmethod
    def from_bytes(cls, mechanism: Kind_co, data: bytes) -> Self:  # type: ignore[misc] # it makes
        """Read a server's counts from bytes, or reject them."""
        server = cls(mechanism)
        server.tally = Tally.from_bytes(server.mechanism, data)
        if hasattr(server.mechanism, "support_counts"):
            support_counts(cast("Tally[FrequencyOracle]", server.tally))
        return server
