"""Costs over time, against exact likelihood ratios of all pairs of short histories."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import inf, log, prod

import pytest

from discreet.errors import ParameterError
from discreet.local import (
    BitFlips,
    FrequencyOracle,
    Histories,
    KaryResponse,
    Rappor,
    SubsetSelection,
    UnaryEncoding,
    channel,
    fresh_price,
    memoized_price,
    prices_over_time,
    rappor_price,
)
from discreet.local.client import hold_alike
from tests.local.certify import is_distribution, keeps

VALUES, LONGEST = 3, 4
SAME, ANY = Histories.SAME_ROUNDS, Histories.ANY

History = tuple[int, ...]
Distribution = dict[tuple[int, ...], Fraction]
"""The probability of each sequence of answers."""


def histories(rounds: int) -> list[History]:
    return list(product(range(VALUES), repeat=rounds))


def pairs(rounds: int) -> list[tuple[History, History]]:
    return list(product(histories(rounds), histories(rounds)))


def memoized_distribution(matrix: Sequence[Sequence[Fraction]], history: History) -> Distribution:
    """Return the distribution of answers that are drawn once for each value and then repeated."""
    held = sorted(set(history))
    drawn = product(range(len(matrix[0])), repeat=len(held))
    found: Distribution = {}
    for answers in drawn:
        kept = dict(zip(held, answers, strict=True))
        probability = prod((matrix[value][kept[value]] for value in held), start=Fraction(1))
        found[tuple(kept[value] for value in history)] = probability
    assert is_distribution(list(found.values()))
    return found


def ratio(here: Distribution, there: Distribution) -> Fraction | float:
    """Return the largest likelihood ratio of any sequence of answers between two distributions."""
    if here.keys() - there.keys():
        return inf
    return max(probability / there[answers] for answers, probability in here.items())


def is_true(found: Fraction | float, epsilon: float | Fraction) -> bool:
    """Tell whether these likelihood ratio keep a stated price, in exact arithmetic."""
    if epsilon == inf:
        return True
    return isinstance(found, Fraction) and keeps(found, Fraction(epsilon))


def changes(history: Sequence[int]) -> list[bool]:
    return [one != next_one for one, next_one in pairwise(history)]


# --------------------------------------------------------------------------- kept answers


@pytest.mark.parametrize(
    "mechanism",
    [
        KaryResponse(epsilon=1, categories=VALUES),
        SubsetSelection(epsilon=Fraction(1, 2), categories=VALUES),
        UnaryEncoding.symmetric(epsilon=2, categories=VALUES),
    ],
    ids=repr,
)
def test_kept_answers_cost_what_is_stated_for_all_pairs_of_short_histories(
    mechanism: FrequencyOracle,
) -> None:
    """For equal values in the same rounds the price is exact; for all others it is infinite."""
    matrix = channel(mechanism).matrix
    longest = LONGEST if len(matrix[0]) <= VALUES else LONGEST - 1
    worst: dict[int, Fraction] = {}
    for rounds in range(1, longest + 1):
        distributions = {
            history: memoized_distribution(matrix, history) for history in histories(rounds)
        }
        for here, there in pairs(rounds):
            found, many = (
                ratio(distributions[here], distributions[there]),
                max(len(set(here)), len(set(there))),
            )
            stated = {
                each: memoized_price(
                    epsilon=mechanism.epsilon, rounds=rounds, values=many, histories=each
                ).epsilon
                for each in Histories
            }
            assert is_true(found, stated[ANY])
            if hold_alike(here, there):
                assert is_true(found, stated[SAME])
                worst[many] = max(worst.get(many, Fraction(1)), Fraction(found))
            else:
                assert (
                    max(found, ratio(distributions[there], distributions[here]))
                    == inf
                    == stated[ANY]
                )
    for many, found in worst.items():
        tight = mechanism.epsilon * many * (1 - Fraction(1, 10**6))
        assert not keeps(found, tight), "a lower price would do"


def test_the_same_times_of_change_do_not_suffice() -> None:
    """The broken twin is the claim as it was: returning to an old value is seen with certainty."""
    matrix = channel(KaryResponse(epsilon=1, categories=VALUES)).matrix
    here, there = (0, 1, 0), (0, 1, 2)
    assert changes(here) == changes(there)
    assert not hold_alike(here, there)
    assert ratio(memoized_distribution(matrix, there), memoized_distribution(matrix, here)) == inf


def test_every_price_over_time_says_for_which_histories_it_holds() -> None:
    told = prices_over_time(epsilon=2, rounds=30, values=3)
    assert [each.histories for each in told] == [ANY, ANY, SAME, ANY]
    assert [each.epsilon for each in told[2:]] == [6, inf]
    assert all(str(each).endswith(f"for {each.histories.value}") for each in told)
    assert "ε = ∞" in str(told[3])
    assert [each.epsilon for each in prices_over_time(epsilon=2, rounds=1)[2:]] == [2, 2]


# --------------------------------------------------------------------------- bits flipped once


@pytest.mark.parametrize("asked", [1, 2, 3])
def test_flipped_bits_cost_what_is_stated_for_all_pairs_of_short_histories(asked: int) -> None:
    """Given the buckets that are asked, which everyone sees: it is their states that count."""
    mechanism = BitFlips(epsilon=1, buckets=VALUES, asked=asked)
    worst = Fraction(1)
    for places in combinations(range(VALUES), asked):
        states = [places.index(bucket) if bucket in places else asked for bucket in range(VALUES)]
        bits = list(product((False, True), repeat=asked))
        matrix = [
            [
                prod(
                    (mechanism.probability(state == at, bit) for at, bit in enumerate(told)),
                    start=Fraction(1),
                )
                for told in bits
            ]
            for state in range(asked + 1)
        ]
        for rounds in range(1, LONGEST + (asked < VALUES)):
            distributions = {
                history: memoized_distribution(matrix, tuple(states[each] for each in history))
                for history in histories(rounds)
            }
            for here, there in pairs(rounds):
                seen = [tuple(states[each] for each in one) for one in (here, there)]
                found, many = (
                    ratio(distributions[here], distributions[there]),
                    max(len(set(each)) for each in seen),
                )
                if hold_alike(*seen):
                    assert is_true(found, many * mechanism.epsilon)
                    worst = max(worst, Fraction(found))
                else:
                    assert max(found, ratio(distributions[there], distributions[here])) == inf
    assert not keeps(worst, Fraction(99, 100) * mechanism.epsilon * min(asked, 2) / 2)


def test_equal_values_in_the_same_rounds_do_not_suffice_where_few_buckets_are_asked() -> None:
    """Asked about 0 only, a device that goes from 2 to 3 stays in one state."""
    mechanism = BitFlips(epsilon=1, buckets=4)
    matrix = [
        [mechanism.probability(there, told) for told in (False, True)] for there in (True, False)
    ]
    moved, stayed = memoized_distribution(matrix, (0, 1)), memoized_distribution(matrix, (1, 1))
    assert hold_alike((0, 1), (2, 3))
    assert ratio(moved, stayed) == inf


# --------------------------------------------------------------------------- RAPPOR

RAPPORS = [
    Rappor(bits=8, hashes=1, cohorts=1),
    Rappor(bits=8, hashes=1, cohorts=1, f=Fraction(1, 4), p=Fraction(1, 10), q=Fraction(9, 10)),
    Rappor(bits=8, hashes=1, cohorts=1, f=Fraction(3, 4), p=0, q=1),
]


def bit_distribution(mechanism: Rappor, history: History, setter: int | None) -> Distribution:
    """Return the distribution of one bit in all rounds, which one of the texts sets, or none."""
    found: Distribution = {}
    for sent in product((0, 1), repeat=len(history)):
        probability = Fraction(1)
        for text in set(history):
            of_it = [[bool(bit)] for bit, held in zip(sent, history, strict=True) if held == text]
            probability *= mechanism.probability([text == setter], of_it)
        if probability:
            found[sent] = probability
    assert is_distribution(list(found.values()))
    return found


Bits = dict[tuple[History, int | None], Distribution]


def bit_distributions(mechanism: Rappor, rounds: int) -> Bits:
    setters = (*range(VALUES), None)
    return {
        (history, setter): bit_distribution(mechanism, history, setter)
        for history in histories(rounds)
        for setter in setters
    }


def rappor_ratio(distributions: Bits, here: History, there: History, bits: int) -> Fraction | float:
    """Return the worst likelihood ratio: bits are independent, and each text sets one."""
    found = [
        ratio(distributions[here, each], distributions[there, each])
        for each in (*range(VALUES), None)
    ]
    if inf in found:
        return inf
    *of_texts, of_none = (Fraction(each) for each in found)
    return prod(of_texts, start=of_none ** (bits - VALUES))


@pytest.mark.parametrize("mechanism", RAPPORS, ids=repr)
def test_rappor_costs_what_is_stated_for_all_pairs_of_short_histories(mechanism: Rappor) -> None:
    for rounds in range(1, LONGEST + 1):
        distributions = bit_distributions(mechanism, rounds)
        prices = {
            (many, each): rappor_price(
                mechanism, rounds=rounds, values=many, histories=each
            ).epsilon
            for many in range(1, min(rounds, VALUES) + 1)
            for each in Histories
        }
        for here, there in pairs(rounds):
            found = rappor_ratio(distributions, here, there, mechanism.bits)
            many = max(len(set(here)), len(set(there)))
            assert is_true(found, prices[many, ANY])
            if hold_alike(here, there):
                assert is_true(found, prices[many, SAME])


def test_returning_to_an_old_text_costs_more_than_the_permanent_bits() -> None:
    """The broken twin is the claim as it was: the permanent price for each of three texts."""
    mechanism = Rappor(hashes=1)
    here, there = (0, 1, 0, 1), (0, 1, 2, 1)
    distributions = bit_distributions(mechanism, 4)
    found = rappor_ratio(distributions, here, there, mechanism.bits)
    assert changes(here) == changes(there)
    assert not is_true(found, 3 * mechanism.permanent)
    assert is_true(found, rappor_price(mechanism, rounds=4, values=3, histories=ANY).epsilon)


def test_permanent_bits_sent_as_they_are_promise_nothing_for_any_two_histories() -> None:
    bare = Rappor(bits=8, hashes=1, p=0, q=1)
    assert bare.epsilon_of_any(1) == bare.epsilon
    assert bare.epsilon_of_any(2) == inf
    distributions = bit_distributions(bare, 3)
    assert rappor_ratio(distributions, (0, 1, 2), (0, 1, 0), bare.bits) == inf


def test_a_reset_every_day_is_paid_every_day() -> None:
    """ε = 16 a day is 480 a month; a delta helps little where each day is so dear."""
    assert fresh_price(epsilon=16, rounds=30).epsilon == 480
    assert 450 < fresh_price(epsilon=16, rounds=30, delta=1e-6).epsilon <= 480
    small = fresh_price(epsilon=Fraction(1, 10), rounds=100, delta=1e-6)
    assert small.epsilon == pytest.approx(4.7746, abs=1e-3)
    assert memoized_price(epsilon=16, rounds=30).epsilon == 16
    assert memoized_price(epsilon=16, rounds=30, values=3).epsilon == 48


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
        memoized_price(epsilon=1, rounds=2, values=3)
