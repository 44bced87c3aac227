"""The half that counts: adding, merging, saving, estimating."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError, ReportError
from discreet.local import BitFlips, Client, Duchi, KaryResponse, Memoized, Rappor, Server
from discreet.local.estimates import estimate_tally
from tests.local.mechanisms import EVERY, MAKERS

VALUES = np.arange(3000) % 13


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=10)
@given(
    people=st.integers(0, 3000),
    categories=st.integers(2, 70),
    epsilon=st.sampled_from([0.1, 1, 3, 8]),
)
def test_counting_fast_is_counting_one_by_one(
    name: str, people: int, categories: int, epsilon: float
) -> None:
    mechanism = MAKERS[name](epsilon=epsilon, categories=categories)
    reports = Client(mechanism).report_many(np.arange(people) % categories)
    server = Server(mechanism)
    server.add(reports)
    assert server.people == people
    expected = mechanism.supports(reports.rows).sum(axis=0)
    assert server.support_counts().tolist() == expected.tolist()


@pytest.mark.parametrize("name", MAKERS)
def test_parts_add_up_to_the_whole_in_any_order(name: str) -> None:
    mechanism = MAKERS[name](epsilon=1, categories=13)
    reports = Client(mechanism).report_many(VALUES)
    whole, left, right = (Server(mechanism) for _ in range(3))
    whole.add(reports)
    data = bytes(reports)
    head, size = data[:8], mechanism.report_format.size
    left.add(head + data[8 : 8 + 500 * size])
    right.add(head + data[8 + 500 * size :])
    one, other = (Server.from_bytes(mechanism, bytes(each)) for each in (left, right))
    one.merge(right)
    other.merge(left)
    assert bytes(one) == bytes(other) == bytes(whole)
    assert np.array_equal(one.estimate().counts, whole.estimate().counts)


@pytest.mark.parametrize("name", MAKERS)
def test_estimates_are_near_the_truth_and_intervals_hold_it(name: str) -> None:
    """All intervals at once are missed at most once in 10^6."""
    mechanism = MAKERS[name](epsilon=2, categories=13)
    values = np.repeat(np.arange(13), np.arange(13) * 300)
    server = Server(mechanism)
    server.add(Client(mechanism).report_many(values))
    found = server.estimate(confidence=1 - 1e-6)
    true = np.bincount(values, minlength=13)
    assert np.all((found.low <= true) & (true <= found.high))
    assert np.all((found.low <= found.counts) & (found.counts <= found.high))
    assert found.consistent().sum() == pytest.approx(len(values))


def test_what_is_refused_is_not_counted() -> None:
    mechanism, other = (KaryResponse(epsilon=1, categories=each) for each in (13, 14))
    server = Server(mechanism)
    with pytest.raises(ReportError, match="were made by"):
        server.add(Client(other).report_many(VALUES))
    with pytest.raises(ReportError, match="This mechanism cannot make"):
        server.add(Client(mechanism).report(1)[:8] + bytes([1, 2, 13]))
    with pytest.raises(ReportError, match="cannot be added"):
        server.merge(Server(other))
    assert server.people == 0
    assert not server.tally.counters.any()


@pytest.mark.parametrize("name", MAKERS)
def test_counts_that_no_reports_add_up_to_are_refused(name: str) -> None:
    mechanism = MAKERS[name](epsilon=1, categories=13)
    server = Server(mechanism)
    server.add(Client(mechanism).report_many(VALUES))
    data = bytes(server)
    for bad in (
        b"",
        b"XXXX" + data[4:],
        data[:-1],
        data + b"\0" * 8,
        data[:12] + b"\0" * 8 + data[20:],
        data[:-8] + (10**6).to_bytes(8, "little"),
        data[:-8] + (-(10**6)).to_bytes(8, "little", signed=True),
    ):
        with pytest.raises(ReportError):
            Server.from_bytes(mechanism, bad)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 2, "high"])
def test_a_confidence_outside_0_to_1_is_refused(confidence: object) -> None:
    server = Server(KaryResponse(epsilon=1, categories=3))
    with pytest.raises(ParameterError, match="confidence"):
        server.estimate(confidence=confidence)  # type: ignore[arg-type]


# --------------------------------------------------------------------------- every mechanism


@pytest.mark.parametrize(
    ("mechanism", "values", "asked"), EVERY, ids=[each.tag for each, _, _ in EVERY]
)
def test_every_mechanism_has_one_client_and_one_server(
    mechanism: Any, values: list[Any], asked: dict[str, Any]
) -> None:
    client, one, other = Client(mechanism), Server(mechanism), Server(mechanism)
    for value in values:
        one.add(client.report(value))
    other.add(client.report_many(values))
    one.merge(other)
    assert one.people == 2 * len(values)
    again = Server.from_bytes(mechanism, bytes(one))
    assert bytes(again) == bytes(one)
    assert repr(again.estimate(**asked)) == repr(one.estimate(**asked)) or "resamples" in asked
    with pytest.raises(ParameterError, match="confidence"):
        one.estimate(confidence=1, **asked)
    assert client.price > 0
    assert Client.from_json(mechanism, client.to_json()).price == client.price


@pytest.mark.parametrize("mechanism", [each for each, _, _ in EVERY], ids=lambda each: each.tag)
def test_counts_of_memoized_reports_are_counts_of_their_mechanism(mechanism: Any) -> None:
    if isinstance(mechanism, Rappor | BitFlips):
        return
    server: Any = Server(Memoized(mechanism))
    assert server.mechanism is mechanism
    assert bytes(server) == bytes(Server(mechanism))


def test_an_unknown_mechanism_has_no_estimates() -> None:
    class Unknown(Duchi):
        pass

    assert Server(Unknown(epsilon=1)).estimate().people == 0
    with pytest.raises(ParameterError, match="whose estimates are known"):
        estimate_tally(object(), Server(Duchi(epsilon=1)).tally, Fraction(1, 2))
