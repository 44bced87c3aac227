"""Reports of one mechanism, and their tally.

Inside a process, reports are an array. Outside, they are the fingerprint of their mechanism
followed by the reports, all of the same size: one person's report is eight bytes and one row. The
same reports are always the same bytes. Bytes that no honest client can have sent are rejected.

A tally is the sum of reports. It holds no single report, travels as bytes, and can be merged.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, Self, TypeVar

import numpy as np

from discreet.deprecated import Renamed
from discreet.errors import ReportError
from discreet.local.mechanism import (
    FINGERPRINT_BYTES,
    Mechanism,
    ReportArray,
    check_mechanism,
    fingerprint,
    listed,
)
from discreet.noise.uniform import IntArray

MAGIC = b"DLT1"
"""Tallies begin with it. Then come the fingerprint, the number of people and the counters."""

HEAD_BYTES = 20

Kind_co = TypeVar("Kind_co", bound=Mechanism, covariant=True)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reports:
    """Reports of several people. Each was checked: the mechanism can make it."""

    mechanism: Mechanism
    rows: ReportArray

    def __post_init__(self) -> None:
        form = self.mechanism.report_format
        if not isinstance(self.rows, np.ndarray) or self.rows.ndim == 0:
            raise ReportError("rows of reports must be an array")
        if self.rows.dtype != form.dtype or self.rows.shape != form.shape(len(self.rows)):
            raise ReportError("these rows do not have the format of this mechanism's reports")
        if not self.mechanism.are_valid(self.rows):
            raise ReportError("this mechanism cannot make some of these reports")

    def __repr__(self) -> str:
        return f"Reports({self.mechanism!r}, {len(self)} of them)"

    def __len__(self) -> int:
        return len(self.rows)

    def __bytes__(self) -> bytes:
        return fingerprint(self.mechanism) + self.rows.tobytes()

    @classmethod
    def from_bytes(cls, mechanism: Mechanism, data: bytes) -> Self:
        """Read reports from bytes, or reject them."""
        rows = _rows_from_bytes(mechanism, data)
        return cls(mechanism, rows)

    @classmethod
    def join(cls, mechanism: Mechanism, parts: Iterable["bytes | Reports"]) -> Self:
        """Return all reports of several people or batches, in the order given."""
        rows = [
            same_mechanism(mechanism, each).rows
            if isinstance(each, Reports)
            else _rows_from_bytes(mechanism, each)
            for each in listed("parts", parts)
        ]
        return cls(mechanism, np.concatenate([mechanism.report_format.empty(0), *rows]))


def same_mechanism(mechanism: Mechanism, reports: Reports) -> Reports:
    """Return the reports if this mechanism made them, or reject them."""
    if fingerprint(reports.mechanism) != fingerprint(mechanism):
        raise ReportError(
            f"these reports were made by {reports.mechanism!r}, but {mechanism!r} was expected"
        )
    return reports


def _rows_from_bytes(mechanism: Mechanism, data: bytes) -> ReportArray:
    if not isinstance(data, bytes | bytearray | memoryview):
        raise ReportError("reports must be bytes, or the result of report_many")
    content = memoryview(data)
    if bytes(content[:FINGERPRINT_BYTES]) != fingerprint(mechanism):
        raise ReportError(f"these bytes are not reports of {mechanism!r}")
    form = mechanism.report_format
    content = content[FINGERPRINT_BYTES:]
    if len(content) % form.size:
        raise ReportError(f"reports of {mechanism!r} have {form.size} bytes each; some are missing")
    return np.frombuffer(content, form.dtype).reshape(form.shape(len(content) // form.size))


class Tally(Generic[Kind_co]):
    """The sum of reports of one mechanism. Parts that were counted separately can be merged."""

    __slots__ = ("counters", "mechanism", "people")

    def __init__(self, mechanism: Kind_co) -> None:
        rule = "must be a local mechanism, such as KaryResponse(epsilon=1, categories=4)"
        check_mechanism(mechanism, "tag", "counters", "tally", rule=rule)
        self.mechanism = mechanism
        self.people = 0
        self.counters: IntArray = np.zeros(mechanism.counters, np.int64)

    def __repr__(self) -> str:
        return f"Tally({self.mechanism!r}, people={self.people})"

    def add(self, reports: Reports | bytes) -> None:
        """Count reports, given as bytes or as the result of `report_many`; all or none of them."""
        if isinstance(reports, Reports):
            checked = same_mechanism(self.mechanism, reports)
        else:
            checked = Reports.from_bytes(self.mechanism, reports)
        self.counters += self.mechanism.tally(checked.rows)
        self.people += len(checked)

    def merge(self, other: "Tally[Mechanism]") -> None:
        """Add the counts of another tally of the same mechanism."""
        if not isinstance(other, Tally):
            raise ReportError("only a tally can be added to a tally")
        if fingerprint(other.mechanism) != fingerprint(self.mechanism):
            raise ReportError(
                f"counts of {other.mechanism!r} cannot be added to those of {self.mechanism!r}"
            )
        self.counters += other.counters
        self.people += other.people

    def __bytes__(self) -> bytes:
        counters = self.counters.astype("<i8").tobytes()
        return MAGIC + fingerprint(self.mechanism) + self.people.to_bytes(8, "little") + counters

    @classmethod
    def from_bytes(cls, mechanism: Kind_co, data: bytes) -> Self:  # type: ignore[misc] # it makes
        """Read a tally from bytes, or reject them."""
        tally = cls(mechanism)
        if not isinstance(data, bytes) or data[:12] != MAGIC + fingerprint(mechanism):
            raise ReportError(f"these bytes are not counts of {mechanism!r}")
        if len(data) != HEAD_BYTES + 8 * mechanism.counters:
            raise ReportError(
                f"counts of {mechanism!r} have {mechanism.counters} counters; some are missing"
            )
        tally.people = int.from_bytes(data[12:HEAD_BYTES], "little")
        if tally.people >= 1 << 62:
            raise ReportError("counts must be of fewer than 2**62 people")
        tally.counters += np.frombuffer(data, "<i8", offset=HEAD_BYTES)
        return tally

    cells = Renamed("counters")


def check_counts(tally: Tally[Mechanism], counts: IntArray, *, each: int = 1) -> None:
    """Reject a tally with negative counts, or whose counts are not `each` for every person."""
    if np.any(counts < 0) or int(counts.sum()) != each * tally.people:
        raise ReportError(f"reports of {tally.mechanism!r} cannot add up to these counts")
