"""Counts of reports of any mechanism: they add up, travel as bytes, and hold no single report."""

from typing import Generic, Self, TypeVar

import numpy as np

from discreet.errors import ReportError
from discreet.local.base import Mechanism, check_mechanism, fingerprint
from discreet.local.reports import Reports, same_mechanism
from discreet.noise.uniform import IntArray

MAGIC = b"DLT1"
"""Aggregates begin with it, then come the fingerprint, the number of people and the cells."""

HEAD_BYTES = 20

Kind_co = TypeVar("Kind_co", bound=Mechanism, covariant=True)


class Tally(Generic[Kind_co]):
    """The aggregate of reports of one mechanism; parts that were counted apart are merged."""

    __slots__ = ("cells", "mechanism", "people")

    def __init__(self, mechanism: Kind_co) -> None:
        rule = "must be a local mechanism, such as KaryResponse(epsilon=1, categories=4)"
        check_mechanism(mechanism, "tag", "cells", "tally", rule=rule)
        self.mechanism = mechanism
        self.people = 0
        self.cells: IntArray = np.zeros(mechanism.cells, np.int64)

    def __repr__(self) -> str:
        return f"Tally({self.mechanism!r}, people={self.people})"

    def add(self, reports: Reports | bytes) -> None:
        """Count reports, given as what `report_many` returned or as bytes; all or none of them."""
        if isinstance(reports, Reports):
            checked = same_mechanism(self.mechanism, reports)
        else:
            checked = Reports.from_bytes(self.mechanism, reports)
        self.cells += self.mechanism.tally(checked.rows)
        self.people += len(checked)

    def merge(self, other: "Tally[Mechanism]") -> None:
        """Count what another tally of the same mechanism has counted."""
        if not isinstance(other, Tally):
            raise ReportError("only a tally can be added to a tally")
        if fingerprint(other.mechanism) != fingerprint(self.mechanism):
            raise ReportError(
                f"counts of {other.mechanism!r} cannot be added to those of {self.mechanism!r}"
            )
        self.cells += other.cells
        self.people += other.people

    def __bytes__(self) -> bytes:
        cells = self.cells.astype("<i8").tobytes()
        return MAGIC + fingerprint(self.mechanism) + self.people.to_bytes(8, "little") + cells

    @classmethod
    def from_bytes(cls, mechanism: Kind_co, data: bytes) -> Self:  # type: ignore[misc] # it makes
        """Return the tally that these bytes are, or refuse them."""
        tally = cls(mechanism)
        if not isinstance(data, bytes) or data[:12] != MAGIC + fingerprint(mechanism):
            raise ReportError(f"these bytes are no counts of {mechanism!r}")
        if len(data) != HEAD_BYTES + 8 * mechanism.cells:
            raise ReportError(f"counts of {mechanism!r} have {mechanism.cells} cells; some miss")
        tally.people = int.from_bytes(data[12:HEAD_BYTES], "little")
        if tally.people >= 1 << 62:
            raise ReportError("counts are of fewer than 2**62 people")
        tally.cells += np.frombuffer(data, "<i8", offset=HEAD_BYTES)
        return tally


def check_counts(tally: Tally[Mechanism], counts: IntArray, *, each: int = 1) -> None:
    """Refuse a tally whose counts are negative, or do not add up to `each` for every person."""
    if np.any(counts < 0) or int(counts.sum()) != each * tally.people:
        raise ReportError(f"these counts are none that reports of {tally.mechanism!r} add up to")
