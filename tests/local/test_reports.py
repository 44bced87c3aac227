"""Reports as bytes: what comes back, and what is rejected."""

import numpy as np
import pytest

from discreet.errors import ReportError
from discreet.local import Client, KaryResponse, Reports, SubsetSelection, fingerprint
from tests.local.mechanisms import MAKERS

VALUES = np.arange(100) % 13


@pytest.mark.parametrize("name", MAKERS)
def test_reports_survive_their_bytes(name: str) -> None:
    mechanism = MAKERS[name](epsilon=1, categories=13)
    reports = Client(mechanism).report_many(VALUES)
    again = Reports.from_bytes(mechanism, bytes(reports))
    assert np.array_equal(again.rows, reports.rows)
    assert bytes(again) == bytes(reports)
    assert len(bytes(reports)) == 8 + 100 * mechanism.report_format.size


@pytest.mark.parametrize("name", MAKERS)
def test_reports_of_several_people_are_joined(name: str) -> None:
    mechanism = MAKERS[name](epsilon=1, categories=13)
    client = Client(mechanism)
    one, many = client.report(3), client.report_many(VALUES)
    joined = Reports.join(mechanism, [one, many])
    assert bytes(joined) == one + bytes(many)[8:]
    assert len(Reports.join(mechanism, [])) == 0
    with pytest.raises(ReportError, match="not reports of"):
        Reports.join(mechanism, [one, b"something else"])


@pytest.mark.parametrize("name", MAKERS)
def test_bytes_of_another_mechanism_are_refused(name: str) -> None:
    mechanism = MAKERS[name](epsilon=1, categories=13)
    for other in (
        MAKERS[name](epsilon=2, categories=13),
        MAKERS[name](epsilon=1, categories=14),
        *(make(epsilon=1, categories=13) for each, make in MAKERS.items() if each != name),
    ):
        with pytest.raises(ReportError, match="not reports of"):
            Reports.from_bytes(mechanism, Client(other).report(0))


@pytest.mark.parametrize("name", ["symmetric", "subset", "hashing"])
@pytest.mark.parametrize("change", [lambda data: data[:-1], lambda data: data + b"\0"])
def test_bytes_that_are_too_few_or_too_many_are_refused(name: str, change: object) -> None:
    mechanism = MAKERS[name](epsilon=1, categories=300)
    data = bytes(Client(mechanism).report_many(VALUES))
    assert callable(change)
    with pytest.raises(ReportError, match="bytes each"):
        Reports.from_bytes(mechanism, change(data))


@pytest.mark.parametrize("data", [b"", b"abc", b"\0" * 100])
def test_bytes_that_are_no_reports_are_refused(data: bytes) -> None:
    with pytest.raises(ReportError, match="not reports of"):
        Reports.from_bytes(KaryResponse(epsilon=1, categories=3), data)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("k-ary", [13]),
        ("symmetric", [0, 0b00100000]),
        ("optimized", [0, 0b10000000]),
        ("subset", [0, 0]),
        ("subset", [0xFF, 0]),
        ("subset", [0b111, 0b00100000]),
        ("hashing", [1 << 7]),
        ("hadamard", [16]),
    ],
)
def test_reports_that_nobody_can_have_sent_are_refused(name: str, row: list[int]) -> None:
    mechanism = MAKERS[name](epsilon=1, categories=13)
    good, bad = bytes(Client(mechanism).report_many(VALUES)), bytes(row)
    with pytest.raises(ReportError, match="This mechanism cannot make"):
        Reports.from_bytes(mechanism, good + bad.ljust(mechanism.report_format.size, b"\0"))


def test_rows_of_another_form_are_refused() -> None:
    mechanism = SubsetSelection(epsilon=1, categories=13)
    for rows in (np.zeros(3, np.uint8), np.zeros((3, 3), np.uint8), np.zeros((3, 2), np.uint16)):
        with pytest.raises(ReportError, match="format of this mechanism"):
            Reports(mechanism, rows)


def test_text_is_no_report() -> None:
    with pytest.raises(ReportError, match="Reports must be bytes"):
        Reports.from_bytes(KaryResponse(epsilon=1, categories=3), "text")  # type: ignore[arg-type]


def test_reports_show_what_made_them_and_no_more() -> None:
    mechanism = KaryResponse(epsilon=1, categories=3)
    shown = repr(Client(mechanism).report_many([0, 1, 2]))
    assert shown == "Reports(KaryResponse(epsilon=1, categories=3), 3 of them)"
    assert len(fingerprint(mechanism)) == 8
