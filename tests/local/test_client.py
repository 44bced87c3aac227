"""The half on a person's device: reports, memoized answers, saved states, and what is rejected."""

from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
import pytest

from discreet.errors import ParameterError, ReportError
from discreet.local import (
    BitFlips,
    Client,
    Duchi,
    Histories,
    KaryResponse,
    Memoized,
    Piecewise,
    Rappor,
    Reports,
    Server,
    SquareWave,
    fingerprint,
)
from discreet.local.client import state_to_json
from tests.local.mechanisms import MAKERS


@pytest.mark.parametrize("name", MAKERS)
def test_one_report_is_eight_bytes_and_a_row(name: str) -> None:
    mechanism = MAKERS[name](epsilon=1, categories=100)
    report = Client(mechanism).report(99)
    assert len(report) == 8 + mechanism.report_format.size
    assert len(Reports.from_bytes(mechanism, report)) == 1


def test_true_and_false_are_values_of_two() -> None:
    client = Client(KaryResponse.binary(epsilon=20))
    assert client.report_many([True, False, True]).rows.tolist() == [1, 0, 1]
    assert client.report_many(np.array([], bool)).rows.tolist() == []


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.int64, np.uint64])
@pytest.mark.parametrize("name", MAKERS)
def test_whole_numbers_of_any_width_are_taken(name: str, kind: type) -> None:
    mechanism = MAKERS[name](epsilon=1, categories=100)
    assert len(Client(mechanism).report_many(np.array([0, 99, 5], kind))) == 3


@pytest.mark.parametrize(
    "values",
    [[3], [-1], [0.5], ["one"], [None], [[0, 1]], [[0], [0, 1]], [2**70], 1, [float("nan")]],
)
def test_values_outside_the_domain_are_refused_unseen(values: object) -> None:
    with pytest.raises(ParameterError) as refusal:
        Client(KaryResponse(epsilon=1, categories=3)).report_many(values)  # type: ignore[arg-type]
    assert str(refusal.value) == "values must be whole numbers from 0 to 2."


@pytest.mark.parametrize("mask", [False, [False, True]])
def test_masked_values_are_not_uncovered(mask: Any) -> None:
    hidden = np.ma.array([0, 1], mask=mask)
    mechanism = BitFlips(epsilon=1, buckets=3)
    for report_many in (
        *(each.report_many for each in CLIENTS[:3]),
        Client(mechanism).report_many,
    ):
        with pytest.raises(ParameterError, match="must be"):
            report_many(hidden)


CLIENTS: list[Any] = [
    Client(KaryResponse(epsilon=1, categories=3)),
    Client(Duchi(epsilon=1)),
    Client(SquareWave(epsilon=1)),
    Client(BitFlips(epsilon=1, buckets=3)),
]


@pytest.mark.parametrize("client", CLIENTS, ids=repr)
@pytest.mark.parametrize("value", [[1], [], [[1], [1, 2]], np.array([1]), None, "1"], ids=repr)
def test_one_report_takes_one_value(client: Any, value: object) -> None:
    with pytest.raises(ParameterError, match=r"must be (whole )?numbers from -?\d to \d"):
        client.report(value)


def test_a_memoized_answer_is_always_the_same_and_costs_once() -> None:
    mechanism = KaryResponse(epsilon=1, categories=1000)
    person = Client(Memoized(mechanism))
    assert len({person.report(7) for _ in range(50)}) == 1
    assert person.report(np.int64(7)) == person.report(7)
    assert person.price == 1
    person.report(8)
    assert person.price == 2
    again = Client.from_json(Memoized(mechanism), person.to_json())
    assert again.report(7) == person.report(7)
    assert again.price == 2
    other = KaryResponse(epsilon=2, categories=1000)
    with pytest.raises(ReportError, match="does not belong to"):
        Client.from_json(Memoized(other), person.to_json())


def test_one_value_is_one_answer_however_it_is_written() -> None:
    """Else a person who says 6 and 6.0 by turns is asked twice for the same thing."""
    person = Client(Memoized(Piecewise(epsilon=1, bounds=(0, 24))))
    written = (6, 6.0, np.float32(6), np.int8(6))
    assert len({person.report(each) for each in written}) == 1
    assert person.report(0.0) == person.report(-0.0) == person.report(0)
    assert person.price == 2
    yes = Client(Memoized(KaryResponse.binary(epsilon=1)))
    assert yes.report(True) == yes.report(1)
    assert yes.price == 1


def test_a_state_with_two_reports_for_a_value_is_damaged() -> None:
    client = Client(KaryResponse(epsilon=1, categories=4))
    two = bytes(client.report_many([1, 2])).hex()
    state = state_to_json(client.mechanism, {"kept": {"a": two}})
    with pytest.raises(ReportError, match="damaged"):
        Client.from_json(Memoized(client.mechanism), state)


def test_averaging_defeats_fresh_noise_and_not_kept_answers() -> None:
    """The attack that memory is for: a month of hourly reports of one person.

    A fresh seed fails once in 10⁶: 720 reports of truth 0.62 show a majority, which is wrong with a
    probability below exp(-2 · 720 · 0.12²) = 10⁻⁹.
    """
    client = Client(KaryResponse.binary(epsilon=Fraction(1, 2)))
    fresh = Server(client.mechanism)
    fresh.add(client.report_many([1] * 720))
    assert fresh.support_counts()[1] > 360
    kept = Client(Memoized(client.mechanism))
    assert len({kept.report(1) for _ in range(720)}) == 1


def test_numbers_have_kept_answers_too() -> None:
    person = Client(Memoized(Duchi(epsilon=1)))
    assert person.report(0.25) == person.report(0.25)
    assert person.price == 1
    assert "0.25" not in person.to_json()


def test_a_client_says_what_it_promises_for_which_histories() -> None:
    person = Client(Memoized(KaryResponse(epsilon=1, categories=3)))
    person.report(0)
    assert person.price_for(Histories.SAME_ROUNDS) == person.price_for(Histories.ANY) == 1
    person.report(1)
    assert person.price_for(Histories.SAME_ROUNDS) == person.price == 2
    assert person.price_for(Histories.ANY) == inf
    device = Client(BitFlips(epsilon=1, buckets=2, asked=2))
    device.report(0)
    device.report(1)
    assert device.price_for(Histories.SAME_ROUNDS) == device.price == 2
    assert device.price_for(Histories.ANY) == inf


STATES = ["", "{}", "[]", "null", '{"mechanism": "00"}', '{"mechanism": "HERE"}']


@pytest.mark.parametrize("state", [*STATES, '{"mechanism": "HERE", "kept": {"0": "zz"}}'])
def test_damaged_states_are_refused(state: str) -> None:
    flips, rappor = BitFlips(epsilon=1, buckets=4), Rappor()
    client = Client(KaryResponse(epsilon=1, categories=4))
    with pytest.raises(ReportError, match="This state"):
        Client.from_json(flips, state.replace("HERE", fingerprint(flips).hex()))
    with pytest.raises(ReportError, match="This state"):
        Client.from_json(rappor, state.replace("HERE", fingerprint(rappor).hex()))
    name = fingerprint(client.mechanism).hex()
    with pytest.raises(ReportError, match="This state"):
        Client.from_json(Memoized(client.mechanism), state.replace("HERE", name))


def test_a_state_that_says_something_twice_is_damaged() -> None:
    mechanism = KaryResponse(epsilon=1, categories=4)
    person = Client(Memoized(mechanism))
    person.report(1)
    state = person.to_json()
    with pytest.raises(ReportError, match="damaged"):
        Client.from_json(Memoized(mechanism), state.replace("{", '{"kept": {}, ', 1))


# --------------------------------------------------------------------------- fresh noise


def test_fresh_noise_costs_epsilon_for_each_report_and_any_two_histories() -> None:
    mechanism = KaryResponse(epsilon=Fraction(1, 2), categories=1000)
    client = Client(mechanism)
    assert client.price == 0
    assert len({client.report(7) for _ in range(20)}) > 1
    assert client.price == client.price_for(Histories.ANY) == 10
    client.report_many([1, 2, 3])
    assert client.price == 10
    again = Client.from_json(mechanism, client.to_json())
    again.report(7)
    assert again.price == Fraction(21, 2)
    with pytest.raises(ParameterError, match="values"):
        client.report(1000)
    assert client.price == 10


@pytest.mark.parametrize("reports", ["-1", "true", "1.5", '"1"', "null"])
def test_a_damaged_number_of_reports_is_rejected(reports: str) -> None:
    mechanism = KaryResponse(epsilon=1, categories=4)
    state = f'{{"mechanism": "{fingerprint(mechanism).hex()}", "reports": {reports}}}'
    with pytest.raises(ReportError, match="damaged"):
        Client.from_json(mechanism, state)


# --------------------------------------------------------------------------- memoized mechanisms


def test_a_memoized_client_never_draws_for_many_people() -> None:
    """One client is one person: fresh noise for the same value would undo the memory."""
    client = Client(Memoized(KaryResponse(epsilon=1, categories=4)))
    with pytest.raises(ParameterError, match="must not be Memoized for report_many"):
        client.report_many([1, 2])


@pytest.mark.parametrize("mechanism", [Rappor(), BitFlips(epsilon=1, buckets=4)], ids=repr)
def test_mechanisms_that_remember_are_not_memoized_again(mechanism: Any) -> None:
    with pytest.raises(ParameterError, match="must not have a memory already"):
        Memoized(mechanism)


def test_states_of_memoized_and_fresh_clients_are_not_confused() -> None:
    mechanism = KaryResponse(epsilon=1, categories=4)
    for one, other in ((mechanism, Memoized(mechanism)), (Memoized(mechanism), mechanism)):
        client: Any = Client(one)
        client.report(1)
        with pytest.raises(ReportError, match="damaged"):
            Client.from_json(other, client.to_json())
