"""The half that collects: reports are counted, counts are merged, estimates are stated."""

from typing import Self

from discreet.errors import ReportError
from discreet.local.base import FrequencyOracle
from discreet.local.estimates import Estimates, estimates_from_support
from discreet.local.reports import Reports
from discreet.local.tallies import Tally
from discreet.noise.uniform import IntArray
from discreet.parameters import Real, confidence_level


class Server:
    """Counts reports of one frequency oracle and says how many people hold each value.

    Parts that were counted apart are merged by adding, in any order; no single report is held.
    """

    __slots__ = ("tally",)

    def __init__(self, mechanism: FrequencyOracle) -> None:
        self.tally: Tally[FrequencyOracle] = Tally(mechanism)

    def __repr__(self) -> str:
        return f"Server({self.mechanism!r}, people={self.people})"

    @property
    def mechanism(self) -> FrequencyOracle:
        """What made the reports."""
        return self.tally.mechanism

    @property
    def people(self) -> int:
        """How many reports were counted."""
        return self.tally.people

    def add(self, reports: Reports | bytes) -> None:
        """Count reports, given as what `report_many` returned or as bytes; all or none of them."""
        self.tally.add(reports)

    def merge(self, other: "Server") -> None:
        """Count what another server of the same mechanism has counted."""
        if not isinstance(other, Server):
            raise ReportError("only a server can be merged with a server")
        self.tally.merge(other.tally)

    def spoken_for(self) -> IntArray:
        """Return how many reports speak for each value."""
        return self.mechanism.spoken_for(self.tally.cells, self.people)

    def estimate(self, *, confidence: Real = 0.95) -> Estimates:
        """Return how many people hold each value, with errors and intervals."""
        level = confidence_level(confidence)
        return estimates_from_support(self.mechanism, self.spoken_for(), self.people, level)

    def __bytes__(self) -> bytes:
        return bytes(self.tally)

    @classmethod
    def from_bytes(cls, mechanism: FrequencyOracle, data: bytes) -> Self:
        """Return the server whose counts these bytes are, or refuse them."""
        server = cls(mechanism)
        server.tally = Tally.from_bytes(mechanism, data)
        spoken_for = server.spoken_for()
        if not (spoken_for.min() >= 0 and spoken_for.max() <= server.people):
            raise ReportError(f"these counts are none that reports of {mechanism!r} add up to")
        return server
