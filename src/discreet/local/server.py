"""The half that collects: reports are counted, counts are merged, estimates are stated."""

from typing import Self

import numpy as np

from discreet.errors import ReportError
from discreet.local.base import FrequencyOracle, fingerprint
from discreet.local.estimates import Estimates, estimates_from_support
from discreet.local.reports import Reports, same_mechanism
from discreet.noise.uniform import IntArray
from discreet.parameters import Real, confidence_level

MAGIC = b"DLT1"
"""Aggregates begin with it, then come the fingerprint, the number of people and the cells."""

HEAD_BYTES = 20


class Server:
    """Counts reports of one mechanism; holds no single one of them.

    Parts that were counted apart are merged by adding, in any order.
    """

    __slots__ = ("_tally", "mechanism", "people")

    def __init__(self, mechanism: FrequencyOracle) -> None:
        self.mechanism = mechanism
        self.people = 0
        self._tally = np.zeros(mechanism.cells, np.int64)

    def __repr__(self) -> str:
        return f"Server({self.mechanism!r}, people={self.people})"

    def add(self, reports: Reports | bytes) -> None:
        """Count reports, given as what `report_many` returned or as bytes; all or none of them."""
        if isinstance(reports, Reports):
            checked = same_mechanism(self.mechanism, reports)
        else:
            checked = Reports.from_bytes(self.mechanism, reports)
        self._tally += self.mechanism.tally(checked.rows)
        self.people += len(checked)

    def merge(self, other: "Server") -> None:
        """Count what another server of the same mechanism has counted."""
        if fingerprint(other.mechanism) != fingerprint(self.mechanism):
            raise ReportError(
                f"counts of {other.mechanism!r} cannot be added to those of {self.mechanism!r}"
            )
        self._tally += other.tally
        self.people += other.people

    @property
    def tally(self) -> IntArray:
        """A copy of the aggregate that is kept."""
        return self._tally.copy()

    def spoken_for(self) -> IntArray:
        """Return how many reports speak for each value."""
        return self.mechanism.spoken_for(self._tally, self.people)

    def estimate(self, *, confidence: Real = 0.95) -> Estimates:
        """Return how many people hold each value, with errors and intervals."""
        level = confidence_level(confidence)
        return estimates_from_support(self.mechanism, self.spoken_for(), self.people, level)

    def __bytes__(self) -> bytes:
        cells = self._tally.astype("<i8").tobytes()
        return MAGIC + fingerprint(self.mechanism) + self.people.to_bytes(8, "little") + cells

    @classmethod
    def from_bytes(cls, mechanism: FrequencyOracle, data: bytes) -> Self:
        """Return the server whose counts these bytes are, or refuse them."""
        if data[:12] != MAGIC + fingerprint(mechanism):
            raise ReportError(f"these bytes are no counts of {mechanism!r}")
        if len(data) != HEAD_BYTES + 8 * mechanism.cells:
            raise ReportError(f"counts of {mechanism!r} have {mechanism.cells} cells; some miss")
        server = cls(mechanism)
        server.people = int.from_bytes(data[12:HEAD_BYTES], "little")
        server._tally[:] = np.frombuffer(data, "<i8", offset=HEAD_BYTES)
        spoken_for = server.spoken_for()
        if server.people >= 1 << 62 or not _are_counts(spoken_for, server.people):
            raise ReportError(f"these counts are none that reports of {mechanism!r} add up to")
        return server


def _are_counts(spoken_for: IntArray, people: int) -> bool:
    return bool(spoken_for.min() >= 0 and spoken_for.max() <= people)
