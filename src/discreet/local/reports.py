"""Reports of one mechanism: an array inside a process, a few bytes outside of it.

The canonical form of any number of reports is the fingerprint of their mechanism followed by the
reports, each of the same size: one person's report is eight bytes and one row. The same reports
are always the same bytes, and bytes that no honest client can have sent are refused.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from discreet.errors import ReportError
from discreet.local.base import FINGERPRINT_BYTES, Mechanism, Rows, fingerprint, listed


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reports:
    """Reports that people sent, each checked to be one that the mechanism can make."""

    mechanism: Mechanism
    rows: Rows

    def __post_init__(self) -> None:
        row = self.mechanism.row
        if not isinstance(self.rows, np.ndarray) or self.rows.ndim == 0:
            raise ReportError("rows of reports are an array")
        if self.rows.dtype != row.kind or self.rows.shape != row.shape(len(self.rows)):
            raise ReportError("these rows do not have the form of a report of this mechanism")
        if not self.mechanism.are_valid(self.rows):
            raise ReportError("some of these reports are none that this mechanism makes")

    def __repr__(self) -> str:
        return f"Reports({self.mechanism!r}, {len(self)} of them)"

    def __len__(self) -> int:
        return len(self.rows)

    def __bytes__(self) -> bytes:
        return fingerprint(self.mechanism) + self.rows.tobytes()

    @classmethod
    def from_bytes(cls, mechanism: Mechanism, data: bytes) -> Self:
        """Return the reports that these bytes are, or refuse them."""
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
        return cls(mechanism, np.concatenate([mechanism.row.empty(0), *rows]))


def same_mechanism(mechanism: Mechanism, reports: Reports) -> Reports:
    """Return the reports if they were made by this mechanism, or refuse them."""
    if fingerprint(reports.mechanism) != fingerprint(mechanism):
        raise ReportError(
            f"these reports were made by {reports.mechanism!r}, and {mechanism!r} was expected"
        )
    return reports


def _rows_from_bytes(mechanism: Mechanism, data: bytes) -> Rows:
    if not isinstance(data, bytes | bytearray | memoryview):
        raise ReportError("reports are bytes, or what report_many returned")
    content = memoryview(data)
    if bytes(content[:FINGERPRINT_BYTES]) != fingerprint(mechanism):
        raise ReportError(f"these bytes are no reports of {mechanism!r}")
    row = mechanism.row
    content = content[FINGERPRINT_BYTES:]
    if len(content) % row.size:
        raise ReportError(f"reports of {mechanism!r} have {row.size} bytes each; some are missing")
    return np.frombuffer(content, row.kind).reshape(row.shape(len(content) // row.size))
