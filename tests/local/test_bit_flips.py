"""d-bit flip: exact channels, buckets drawn evenly, unbiased counts, states."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet.errors import ParameterError, ReportError
from discreet.local import BitFlips, Client, Reports, Server, bit_flip_error, bit_flip_influence
from discreet.local.bit_flips import _asked
from discreet.local.client import state_to_json
from discreet.noise import SYSTEM
from tests.local.certify import is_certified, keeps
from tests.statistics import FALSE_ALARM, counts_misfit


@pytest.mark.parametrize("places", [[1, 9], [3, 1], [1, 1], [-1, 2], [0, 2]])
def test_a_device_does_not_wake_up_with_buckets_that_are_not_its_own(places: list[int]) -> None:
    mechanism = BitFlips(epsilon=1, buckets=8, asked=2)
    rows = mechanism.sent(np.array([[1, 3]]), np.array([[True, False]]), SYSTEM)
    kept = {"1": bytes(Reports(mechanism, rows)).hex()}
    Client.from_json(mechanism, state_to_json(mechanism, {"places": [1, 3], "kept": kept}))
    state = state_to_json(mechanism, {"places": places, "kept": kept})
    with pytest.raises(ReportError, match="damaged"):
        Client.from_json(mechanism, state)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)], ids=str)
def test_the_channel_of_asked_buckets_keeps_its_epsilon_exactly(epsilon: Fraction) -> None:
    """Whatever buckets are asked: the values are in the first, in the second or in none of them."""
    mechanism = BitFlips(epsilon=epsilon, buckets=8, asked=3)
    values = [(True, False, False), (False, True, False), (False, False, False)]
    reports = list(product((False, True), repeat=3))
    channel = [
        [
            mechanism.probability(a, x) * mechanism.probability(b, y) * mechanism.probability(c, z)
            for x, y, z in reports
        ]
        for a, b, c in values
    ]
    assert is_certified(channel, epsilon)
    # The broken twin gives each bit the whole epsilon.
    assert not keeps(((1 - mechanism.flip) / mechanism.flip) ** 4, epsilon)


def test_devices_are_asked_about_different_buckets_drawn_evenly() -> None:
    """A fresh seed cries wolf once in 10⁶; the broken twin prefers one set."""
    mechanism = BitFlips(epsilon=1, buckets=5, asked=2)
    places = _asked(mechanism, 50_000, SYSTEM)
    sets = places[:, 0] * 5 + places[:, 1]
    possible = [5 * i + j for i in range(5) for j in range(i + 1, 5)]
    counts = np.bincount(sets, minlength=25)
    assert counts.sum() == counts[possible].sum()
    assert counts_misfit(counts[possible], [0.1] * 10) > FALSE_ALARM
    assert counts_misfit(counts[possible], [0.19, *[0.09] * 9]) < FALSE_ALARM


def test_buckets_are_counted_without_bias_and_with_the_stated_error() -> None:
    """A fresh seed cries wolf about once in 10⁶ for each of two claims."""
    mechanism = BitFlips(epsilon=2, buckets=8, asked=3)
    held = np.repeat(np.arange(8), [0, 100, 200, 300, 400, 500, 600, 900])
    true = np.bincount(held)
    z = []
    for _ in range(100):
        server = Server(mechanism)
        server.add(bytes(Client(mechanism).report_many(held)))
        found = server.estimate()
        z.append((found.counts - true) / found.standard_errors)
    assert np.abs(np.mean(z, axis=0)).max() < 5.3 / 10
    assert np.abs(np.std(z, axis=0) - 1).max() < 5.3 / np.sqrt(200)
    assert found.standard_errors[0] == pytest.approx(bit_flip_error(mechanism, 3000), rel=0.3)
    assert (found.low <= true).all()
    assert (true <= found.high).all()


def test_a_device_answers_each_state_once_and_pays_for_states() -> None:
    mechanism = BitFlips(epsilon=1, buckets=16, asked=2)
    device = Client(mechanism)
    first = [device.report(bucket) for bucket in range(16)]
    assert [device.report(bucket) for bucket in range(16)] == first
    assert device.price == 3
    assert len(set(first)) <= 3
    again = Client.from_json(mechanism, device.to_json())
    assert [again.report(bucket) for bucket in range(16)] == first
    assert again.price == 3


def test_one_malicious_device_moves_no_count_by_more_than_stated() -> None:
    mechanism = BitFlips(epsilon=1, buckets=4, asked=2)
    server = Server(mechanism)
    server.add(Client(mechanism).report_many(np.zeros(400, np.int64)))
    before, stated = server.estimate().counts, bit_flip_influence(server.tally)
    most = 0.0
    for row in product(range(8), repeat=2):
        if row[0] // 2 < row[1] // 2:
            moved = Server.from_bytes(mechanism, bytes(server))
            moved.add(Reports(mechanism, np.array([row], np.uint16)))
            most = max(most, float(np.abs(moved.estimate().counts - before).max()))
    assert 0.5 * stated < most <= stated


@pytest.mark.parametrize(
    ("name", "value"), [("epsilon", 0), ("buckets", 1), ("asked", 0), ("asked", 9)]
)
def test_bad_parameters_are_refused_by_name(name: str, value: Any) -> None:
    stated: dict[str, Any] = {"epsilon": 1, "buckets": 8, "asked": 2}
    with pytest.raises(ParameterError, match=name):
        BitFlips(**(stated | {name: value}))


def test_bad_buckets_and_reports_are_refused() -> None:
    mechanism = BitFlips(epsilon=1, buckets=8, asked=2)
    for bad in (8, -1, 1.5, "a"):
        with pytest.raises(ParameterError, match="buckets must be whole numbers"):
            Client(mechanism).report(bad)
    for row in ([[2, 2]], [[4, 1]], [[0, 16]]):
        with pytest.raises(ReportError):
            Reports(mechanism, np.array(row, np.uint16))
