"""RAPPOR: exact costs of one, several and all reports, samplers, memory, rejections."""

import json
from fractions import Fraction
from itertools import product
from math import log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError, ReportError
from discreet.local import Client, Rappor, Reports, Server
from discreet.local.rappor import instant_reports, permanent_bits
from discreet.local.sketches import keys_of
from discreet.noise import SYSTEM
from tests.local.certify import is_certified, is_distribution, keeps, worst_ratio
from tests.statistics import FALSE_ALARM, counts_misfit, share_misfit

PAPER = Rappor(bits=8, hashes=2, cohorts=1)
BITS = (False, True)


def test_the_papers_prices_are_met() -> None:
    """With h = 2, f = 1/2, p = 1/2, q = 3/4: ε₁ = 1.0743, ε∞ = 4 ln 3 = 4.3944."""
    assert float(PAPER.epsilon) == pytest.approx(1.0743, abs=5e-5)
    assert float(PAPER.permanent) == pytest.approx(4 * log(3), abs=1e-9)


@pytest.mark.parametrize(
    "mechanism",
    [
        PAPER,
        Rappor(bits=8, hashes=1, f=0.25, p=0.1, q=0.9),
        Rappor(bits=8, hashes=3, f=0.75, p=0, q=1),
        Rappor(bits=8, hashes=2, f=0.1, p=0, q=0.5),
    ],
    ids=repr,
)
def test_the_channel_keeps_its_epsilon_exactly_and_wastes_none(mechanism: Rappor) -> None:
    """The two filters share no bit; all 256 reports are listed."""
    h = mechanism.hashes
    here = [True] * h + [False] * (8 - h)
    there = [False] * h + [True] * h + [False] * (8 - 2 * h)
    reports = list(product(BITS, repeat=8))
    channel = [[mechanism.probability(bits, [each]) for each in reports] for bits in (here, there)]
    assert all(map(is_distribution, channel))
    assert worst_ratio(channel) == mechanism.likelihood_ratio_after(1)
    assert is_certified(channel, mechanism.epsilon)
    # The broken twin forgets that texts differ in bits of both kinds.
    assert not keeps(worst_ratio(channel), mechanism.epsilon / 2)


@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_several_reports_cost_what_their_joint_distribution_costs(rounds: int) -> None:
    """Bits are independent, so the odds of h bits of each kind are a product."""
    seen = [[[bit] for bit in each] for each in product(BITS, repeat=rounds)]
    zero, one = ([PAPER.probability([bit], each) for each in seen] for bit in BITS)
    assert is_distribution(zero)
    assert is_distribution(one)
    up = max(p / q for p, q in zip(one, zero, strict=True))
    down = max(p / q for p, q in zip(zero, one, strict=True))
    assert PAPER.likelihood_ratio_after(rounds) == (up * down) ** PAPER.hashes


@given(
    st.fractions(min_value=Fraction(1, 50), max_value=Fraction(49, 50), max_denominator=100),
    st.fractions(min_value=0, max_value=Fraction(1, 2), max_denominator=100),
    st.fractions(min_value=Fraction(51, 100), max_value=1, max_denominator=100),
)
def test_prices_rise_with_reports_up_to_the_permanent_one(
    f: Fraction, p: Fraction, q: Fraction
) -> None:
    mechanism = Rappor(f=f, p=p, q=q)
    prices = [mechanism.epsilon_after(rounds) for rounds in (1, 2, 4, 50)]
    assert prices == sorted(prices)
    assert prices[0] == mechanism.epsilon
    assert prices[1] <= 2 * mechanism.epsilon
    assert prices[-1] <= mechanism.permanent
    assert keeps(mechanism.likelihood_ratio_after(4), prices[2])


def test_reports_have_the_stated_distribution() -> None:
    """A fresh seed cries wolf once in 10⁶; the broken twin is the law of another text."""
    mechanism, text = Rappor(bits=8, hashes=1, cohorts=1), "apple"
    rows = Client(mechanism).report_many([text] * 100_000).rows
    reports = list(product(BITS, repeat=8))
    counts = np.bincount(rows[:, 2].astype(np.int64), minlength=256)
    order = [sum(bit << i for i, bit in enumerate(each)) for each in reports]
    filter_bits = mechanism.filters(keys_of([text]), np.array([0]))[0].tolist()
    law = [float(mechanism.probability(filter_bits, [each])) for each in reports]
    assert counts_misfit(counts[order], law) > FALSE_ALARM
    moved = filter_bits[1:] + filter_bits[:1]
    twin = [float(mechanism.probability(moved, [each])) for each in reports]
    assert counts_misfit(counts[order], twin) < FALSE_ALARM


def test_two_reports_share_their_permanent_bits() -> None:
    """A fresh seed cries wolf once in 10⁶; the broken twin draws permanent bits for each report."""
    mechanism = Rappor(bits=8, hashes=1, cohorts=1, f=0.5, p=0.1, q=0.9)
    filters = np.zeros((40_000, 8), np.bool_)
    permanent = permanent_bits(mechanism, filters, SYSTEM)
    nobody = np.zeros(len(filters), np.int64)
    first, second = (
        np.unpackbits(instant_reports(mechanism, permanent, nobody, SYSTEM)[:, 2:].astype(np.uint8))
        for _ in range(2)
    )
    together = int(np.count_nonzero(first & second))
    stated = float(mechanism.probability([False], [[True], [True]]))
    assert share_misfit(together, first.size, stated) > FALSE_ALARM
    alone = float(mechanism.probability([False], [[True]])) ** 2
    assert share_misfit(together, first.size, alone) < FALSE_ALARM


def test_permanent_bits_are_kept_and_paid_for_once_a_text() -> None:
    mechanism = Rappor(bits=8, p=0, q=1)
    client = Client(mechanism)
    sent = {client.report("apple") for _ in range(20)}
    assert len(sent) == 1
    assert client.price == mechanism.permanent
    again = Client.from_json(mechanism, client.to_json())
    assert again.report("apple") in sent
    assert json.loads(again.to_json())["cohort"] == json.loads(client.to_json())["cohort"]
    client.report("pear")
    assert client.price == 2 * mechanism.permanent
    assert "apple" not in client.to_json() + repr(client)
    with pytest.raises(ReportError, match="does not belong to"):
        Client.from_json(PAPER, client.to_json())


def test_one_malicious_report_moves_each_sum_by_one() -> None:
    mechanism = Rappor(bits=8, cohorts=2)
    server = Server(mechanism)
    server.add(Reports(mechanism, np.array([[1, 0, 255]], np.uint8)))
    assert server.tally.counters.tolist() == [0] * 8 + [1] * 8 + [0, 1]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bits", 100),
        ("bits", 4),
        ("hashes", 0),
        ("cohorts", 0),
        ("f", 0),
        ("f", 1),
        ("f", 1e-15),
        ("p", 0.8),
        ("p", -0.1),
        ("q", 1.1),
        ("q", float("nan")),
    ],
)
def test_bad_parameters_are_refused_by_name(name: str, value: Any) -> None:
    stated: dict[str, Any] = {name: value}
    with pytest.raises(ParameterError, match=name):
        Rappor(**stated)


def test_bad_reports_and_texts_are_refused() -> None:
    mechanism = Rappor(cohorts=3)
    good = Client(mechanism).report("apple")
    for bad in (good[:-1], good + b"\0", good[:8] + b"\xff" * (len(good) - 8), b""):
        with pytest.raises(ReportError):
            Server(mechanism).add(bad)
    with pytest.raises(ParameterError, match="words"):
        Client(mechanism).report(None)
    with pytest.raises(ParameterError, match="rounds"):
        mechanism.epsilon_after(0)
