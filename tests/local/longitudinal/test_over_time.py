"""Reports over time: kept answers, bits flipped once, and what rounds really cost."""

from fractions import Fraction
from itertools import product
from math import log
from typing import Any

import numpy as np
import pytest

from discreet.accounting.events import PureEvent
from discreet.errors import ParameterError, ReportError
from discreet.local import Client, KaryResponse, Server, fingerprint
from discreet.local.longitudinal import BitFlipClient, BitFlips, KeptAnswers, estimate_buckets
from discreet.local.longitudinal.accounts import (
    fresh_price,
    kept_price,
    prices_over_time,
    rappor_price,
)
from discreet.local.longitudinal.bit_flips import (
    _asked,
    bit_flip_error,
    bit_flip_influence,
    first_reports,
)
from discreet.local.numeric import Duchi, NumericClient, Piecewise
from discreet.local.rappor import Rappor, RapporClient
from discreet.local.reports import Reports
from discreet.local.states import state_to_json
from discreet.local.tallies import Tally
from discreet.noise import SYSTEM
from tests.local.certify import is_certified, keeps
from tests.statistics import FALSE_ALARM, counts_misfit

# --------------------------------------------------------------------------- kept answers


def test_a_kept_answer_is_the_same_for_ever_and_paid_for_once() -> None:
    mechanism = KaryResponse(epsilon=1, categories=1000)
    person = KeptAnswers(Client(mechanism))
    assert len({person.report(7) for _ in range(50)}) == 1
    assert person.report(np.int64(7)) == person.report(7)  # type: ignore[arg-type]
    assert person.price == 1
    person.report(8)
    assert person.price == 2
    again = KeptAnswers.from_json(Client(mechanism), person.to_json())
    assert again.report(7) == person.report(7)
    assert again.price == 2
    other = Client(KaryResponse(epsilon=2, categories=1000))
    with pytest.raises(ReportError, match="none of"):
        KeptAnswers.from_json(other, person.to_json())


def test_one_value_is_one_answer_however_it_is_written() -> None:
    """Else a person who says 6 and 6.0 by turns is asked twice for the same thing."""
    person = KeptAnswers(NumericClient(Piecewise(epsilon=1, bounds=(0, 24))))
    written = (6, 6.0, np.float32(6), np.int8(6))
    assert len({person.report(each) for each in written}) == 1  # type: ignore[arg-type]
    assert person.report(0.0) == person.report(-0.0) == person.report(0)
    assert person.price == 2
    yes = KeptAnswers(Client(KaryResponse.binary(epsilon=1)))
    assert yes.report(True) == yes.report(1)
    assert yes.price == 1


def test_a_state_with_two_reports_for_a_value_is_damaged() -> None:
    client = Client(KaryResponse(epsilon=1, categories=4))
    two = bytes(client.report_many([1, 2])).hex()
    state = state_to_json(client.mechanism, {"kept": {"a": two}})
    with pytest.raises(ReportError, match="damaged"):
        KeptAnswers.from_json(client, state)


@pytest.mark.parametrize("places", [[1, 9], [3, 1], [1, 1], [-1, 2], [0, 2]])
def test_a_device_does_not_wake_up_with_buckets_that_are_not_its_own(places: list[int]) -> None:
    mechanism = BitFlips(epsilon=1, buckets=8, asked=2)
    rows = mechanism.sent(np.array([[1, 3]]), np.array([[True, False]]), SYSTEM)
    kept = {"1": bytes(Reports(mechanism, rows)).hex()}
    BitFlipClient.from_json(mechanism, state_to_json(mechanism, {"places": [1, 3], "kept": kept}))
    state = state_to_json(mechanism, {"places": places, "kept": kept})
    with pytest.raises(ReportError, match="damaged"):
        BitFlipClient.from_json(mechanism, state)


def test_averaging_defeats_fresh_noise_and_not_kept_answers() -> None:
    """The attack that memory is for: a month of hourly reports of one person.

    A fresh seed fails once in 10⁶: 720 reports of truth 0.62 show a majority, which is wrong with a
    chance below exp(-2 · 720 · 0.12²) = 10⁻⁹.
    """
    client = Client(KaryResponse.binary(epsilon=Fraction(1, 2)))
    fresh = Server(client.mechanism)
    fresh.add(client.report_many([1] * 720))
    assert fresh.spoken_for()[1] > 360
    kept = KeptAnswers(client)
    assert len({kept.report(1) for _ in range(720)}) == 1


def test_numbers_have_kept_answers_too() -> None:
    person = KeptAnswers(NumericClient(Duchi(epsilon=1)))
    assert person.report(0.25) == person.report(0.25)
    assert person.price == 1
    assert "0.25" not in person.to_json()


# --------------------------------------------------------------------------- bits flipped once


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(5)], ids=str)
def test_the_channel_of_asked_buckets_keeps_its_epsilon_exactly(epsilon: Fraction) -> None:
    """Whatever buckets are asked: the values are in the first, in the second or in none of them."""
    mechanism = BitFlips(epsilon=epsilon, buckets=8, asked=3)
    values = [(True, False, False), (False, True, False), (False, False, False)]
    reports = list(product((False, True), repeat=3))
    channel = [
        [
            mechanism.chance(a, x) * mechanism.chance(b, y) * mechanism.chance(c, z)
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
        tally = Tally(mechanism)
        tally.add(bytes(first_reports(mechanism, held)))
        found = estimate_buckets(tally)
        z.append((found.counts - true) / found.standard_errors)
    assert np.abs(np.mean(z, axis=0)).max() < 5.3 / 10
    assert np.abs(np.std(z, axis=0) - 1).max() < 5.3 / np.sqrt(200)
    assert found.standard_errors[0] == pytest.approx(bit_flip_error(mechanism, 3000), rel=0.3)
    assert (found.low <= true).all()
    assert (true <= found.high).all()


def test_a_device_answers_each_state_once_and_pays_for_states() -> None:
    mechanism = BitFlips(epsilon=1, buckets=16, asked=2)
    device = BitFlipClient(mechanism)
    first = [device.report(bucket) for bucket in range(16)]
    assert [device.report(bucket) for bucket in range(16)] == first
    assert device.price == 3
    assert len(set(first)) <= 3
    again = BitFlipClient.from_json(mechanism, device.to_json())
    assert [again.report(bucket) for bucket in range(16)] == first
    assert again.price == 3


STATES = ["", "{}", "[]", "null", '{"mechanism": "00"}', '{"mechanism": "HERE"}']


@pytest.mark.parametrize("state", [*STATES, '{"mechanism": "HERE", "kept": {"0": "zz"}}'])
def test_damaged_states_are_refused(state: str) -> None:
    flips, rappor = BitFlips(epsilon=1, buckets=4), Rappor()
    client = Client(KaryResponse(epsilon=1, categories=4))
    with pytest.raises(ReportError, match="this state"):
        BitFlipClient.from_json(flips, state.replace("HERE", fingerprint(flips).hex()))
    with pytest.raises(ReportError, match="this state"):
        RapporClient.from_json(rappor, state.replace("HERE", fingerprint(rappor).hex()))
    name = fingerprint(client.mechanism).hex()
    with pytest.raises(ReportError, match="this state"):
        KeptAnswers.from_json(client, state.replace("HERE", name))


def test_prices_are_events_that_accountants_know() -> None:
    assert BitFlips(epsilon=1, buckets=4).event == PureEvent(epsilon=Fraction(1))
    assert Duchi(epsilon=2).event == PureEvent(epsilon=Fraction(2))
    assert Rappor().event == PureEvent(epsilon=Rappor().permanent)


def test_one_malicious_device_moves_no_count_by_more_than_stated() -> None:
    mechanism = BitFlips(epsilon=1, buckets=4, asked=2)
    tally = Tally(mechanism)
    tally.add(first_reports(mechanism, np.zeros(400, np.int64)))
    before, stated = estimate_buckets(tally).counts, bit_flip_influence(tally)
    most = 0.0
    for row in product(range(8), repeat=2):
        if row[0] // 2 < row[1] // 2:
            moved = Tally.from_bytes(mechanism, bytes(tally))
            moved.add(Reports(mechanism, np.array([row], np.uint16)))
            most = max(most, float(np.abs(estimate_buckets(moved).counts - before).max()))
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
            BitFlipClient(mechanism).report(bad)  # type: ignore[arg-type]
    for row in ([[2, 2]], [[4, 1]], [[0, 16]]):
        with pytest.raises(ReportError):
            Reports(mechanism, np.array(row, np.uint16))


# --------------------------------------------------------------------------- prices


def test_a_reset_every_day_is_paid_every_day() -> None:
    """ε = 16 a day is 480 a month; a delta helps little where each day is so dear."""
    assert fresh_price(epsilon=16, rounds=30).epsilon == 480
    assert 450 < fresh_price(epsilon=16, rounds=30, delta=1e-6).epsilon <= 480
    small = fresh_price(epsilon=Fraction(1, 10), rounds=100, delta=1e-6)
    assert small.epsilon == pytest.approx(4.7746, abs=1e-3)
    assert kept_price(epsilon=16, rounds=30).epsilon == 16
    assert kept_price(epsilon=16, rounds=30, values=3).epsilon == 48


def test_rappor_stops_at_its_permanent_price() -> None:
    mechanism = Rappor()
    prices = [rappor_price(mechanism, rounds=k).epsilon for k in (1, 7, 30, 365, 10**5)]
    assert prices == sorted(prices)
    assert prices[0] == pytest.approx(1.0743, abs=1e-4)
    assert prices[-1] == pytest.approx(4 * log(3), abs=1e-9)
    assert rappor_price(mechanism, rounds=365, values=2).epsilon == pytest.approx(8 * log(3))


def test_practices_are_told_side_by_side() -> None:
    told = prices_over_time(epsilon=2, rounds=30)
    assert [round(each.epsilon, 2) for each in (told[0], told[2])] == [60, 2]
    assert str(told[0]).startswith(
        "fresh noise every round (or a reset every day): ε = 60 after 30 "
    )
    assert "at δ = 1e-06" in str(told[1])
    with pytest.raises(ParameterError, match="values"):
        kept_price(epsilon=1, rounds=2, values=3)
