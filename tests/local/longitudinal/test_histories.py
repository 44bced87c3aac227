"""Prices over time against exact odds: all pairs of short histories, returning ones included."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, pairwise, product
from math import inf, prod

import pytest

from discreet.local import Client, KaryResponse, SubsetSelection, UnaryEncoding
from discreet.local.base import FrequencyOracle
from discreet.local.channels import channel
from discreet.local.histories import Histories, hold_alike
from discreet.local.longitudinal import BitFlipClient, BitFlips, KeptAnswers
from discreet.local.longitudinal.accounts import kept_price, prices_over_time, rappor_price
from discreet.local.rappor import Rappor
from tests.local.certify import is_law, keeps

VALUES, LONGEST = 3, 4
SAME, ANY = Histories.SAME_ROUNDS, Histories.ANY

History = tuple[int, ...]
Law = dict[tuple[int, ...], Fraction]
"""The chance of each sequence of answers."""


def histories(rounds: int) -> list[History]:
    return list(product(range(VALUES), repeat=rounds))


def pairs(rounds: int) -> list[tuple[History, History]]:
    return list(product(histories(rounds), histories(rounds)))


def law_of_kept(matrix: Sequence[Sequence[Fraction]], history: History) -> Law:
    """Return the law of answers that are drawn once for each value and then given again."""
    held = sorted(set(history))
    drawn = product(range(len(matrix[0])), repeat=len(held))
    found: Law = {}
    for answers in drawn:
        kept = dict(zip(held, answers, strict=True))
        chance = prod((matrix[value][kept[value]] for value in held), start=Fraction(1))
        found[tuple(kept[value] for value in history)] = chance
    assert is_law(list(found.values()))
    return found


def odds(here: Law, there: Law) -> Fraction | float:
    """Return the largest odds of any sequence of answers between two laws."""
    if here.keys() - there.keys():
        return inf
    return max(chance / there[answers] for answers, chance in here.items())


def is_true(found: Fraction | float, epsilon: float | Fraction) -> bool:
    """Tell whether these odds keep a stated price, in exact arithmetic."""
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
        laws = {history: law_of_kept(matrix, history) for history in histories(rounds)}
        for here, there in pairs(rounds):
            found, many = odds(laws[here], laws[there]), max(len(set(here)), len(set(there)))
            stated = {
                each: kept_price(
                    epsilon=mechanism.epsilon, rounds=rounds, values=many, histories=each
                ).epsilon
                for each in Histories
            }
            assert is_true(found, stated[ANY])
            if hold_alike(here, there):
                assert is_true(found, stated[SAME])
                worst[many] = max(worst.get(many, Fraction(1)), Fraction(found))
            else:
                assert max(found, odds(laws[there], laws[here])) == inf == stated[ANY]
    for many, found in worst.items():
        tight = mechanism.epsilon * many * (1 - Fraction(1, 10**6))
        assert not keeps(found, tight), "a lower price would do"


def test_the_same_times_of_change_do_not_suffice() -> None:
    """The broken twin is the claim as it was: returning to an old value is seen with certainty."""
    matrix = channel(KaryResponse(epsilon=1, categories=VALUES)).matrix
    here, there = (0, 1, 0), (0, 1, 2)
    assert changes(here) == changes(there)
    assert not hold_alike(here, there)
    assert odds(law_of_kept(matrix, there), law_of_kept(matrix, here)) == inf


def test_a_client_says_what_it_promises_for_which_histories() -> None:
    person = KeptAnswers(Client(KaryResponse(epsilon=1, categories=VALUES)))
    person.report(0)
    assert person.price_for(SAME) == person.price_for(ANY) == 1
    person.report(1)
    assert person.price_for(SAME) == person.price == 2
    assert person.price_for(ANY) == inf
    device = BitFlipClient(BitFlips(epsilon=1, buckets=2, asked=2))
    device.report(0)
    device.report(1)
    assert device.price_for(SAME) == device.price == 2
    assert device.price_for(ANY) == inf


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
                    (mechanism.chance(state == at, bit) for at, bit in enumerate(told)),
                    start=Fraction(1),
                )
                for told in bits
            ]
            for state in range(asked + 1)
        ]
        for rounds in range(1, LONGEST + (asked < VALUES)):
            laws = {
                history: law_of_kept(matrix, tuple(states[each] for each in history))
                for history in histories(rounds)
            }
            for here, there in pairs(rounds):
                seen = [tuple(states[each] for each in one) for one in (here, there)]
                found, many = odds(laws[here], laws[there]), max(len(set(each)) for each in seen)
                if hold_alike(*seen):
                    assert is_true(found, many * mechanism.epsilon)
                    worst = max(worst, Fraction(found))
                else:
                    assert max(found, odds(laws[there], laws[here])) == inf
    assert not keeps(worst, Fraction(99, 100) * mechanism.epsilon * min(asked, 2) / 2)


def test_equal_values_in_the_same_rounds_do_not_suffice_where_few_buckets_are_asked() -> None:
    """Asked about 0 only, a device that goes from 2 to 3 stays in one state."""
    mechanism = BitFlips(epsilon=1, buckets=4)
    matrix = [[mechanism.chance(there, told) for told in (False, True)] for there in (True, False)]
    moved, stayed = law_of_kept(matrix, (0, 1)), law_of_kept(matrix, (1, 1))
    assert hold_alike((0, 1), (2, 3))
    assert odds(moved, stayed) == inf


# --------------------------------------------------------------------------- RAPPOR

RAPPORS = [
    Rappor(bits=8, hashes=1, cohorts=1),
    Rappor(bits=8, hashes=1, cohorts=1, f=Fraction(1, 4), p=Fraction(1, 10), q=Fraction(9, 10)),
    Rappor(bits=8, hashes=1, cohorts=1, f=Fraction(3, 4), p=0, q=1),
]


def bit_law(mechanism: Rappor, history: History, setter: int | None) -> Law:
    """Return the law of one bit in all rounds, which one of the texts sets, or none."""
    found: Law = {}
    for sent in product((0, 1), repeat=len(history)):
        chance = Fraction(1)
        for text in set(history):
            of_it = [[bool(bit)] for bit, held in zip(sent, history, strict=True) if held == text]
            chance *= mechanism.chance([text == setter], of_it)
        if chance:
            found[sent] = chance
    assert is_law(list(found.values()))
    return found


Bits = dict[tuple[History, int | None], Law]


def bit_laws(mechanism: Rappor, rounds: int) -> Bits:
    setters = (*range(VALUES), None)
    return {
        (history, setter): bit_law(mechanism, history, setter)
        for history in histories(rounds)
        for setter in setters
    }


def rappor_odds(laws: Bits, here: History, there: History, bits: int) -> Fraction | float:
    """Return the worst odds: bits are independent, each text sets one, and the others are 0."""
    found = [odds(laws[here, each], laws[there, each]) for each in (*range(VALUES), None)]
    if inf in found:
        return inf
    *of_texts, of_none = (Fraction(each) for each in found)
    return prod(of_texts, start=of_none ** (bits - VALUES))


@pytest.mark.parametrize("mechanism", RAPPORS, ids=repr)
def test_rappor_costs_what_is_stated_for_all_pairs_of_short_histories(mechanism: Rappor) -> None:
    for rounds in range(1, LONGEST + 1):
        laws = bit_laws(mechanism, rounds)
        prices = {
            (many, each): rappor_price(
                mechanism, rounds=rounds, values=many, histories=each
            ).epsilon
            for many in range(1, min(rounds, VALUES) + 1)
            for each in Histories
        }
        for here, there in pairs(rounds):
            found = rappor_odds(laws, here, there, mechanism.bits)
            many = max(len(set(here)), len(set(there)))
            assert is_true(found, prices[many, ANY])
            if hold_alike(here, there):
                assert is_true(found, prices[many, SAME])


def test_returning_to_an_old_text_costs_more_than_the_permanent_bits() -> None:
    """The broken twin is the claim as it was: the permanent price for each of three texts."""
    mechanism = Rappor(hashes=1)
    here, there = (0, 1, 0, 1), (0, 1, 2, 1)
    laws = bit_laws(mechanism, 4)
    found = rappor_odds(laws, here, there, mechanism.bits)
    assert changes(here) == changes(there)
    assert not is_true(found, 3 * mechanism.permanent)
    assert is_true(found, rappor_price(mechanism, rounds=4, values=3, histories=ANY).epsilon)


def test_permanent_bits_sent_as_they_are_promise_nothing_for_any_two_histories() -> None:
    bare = Rappor(bits=8, hashes=1, p=0, q=1)
    assert bare.epsilon_of_any(1) == bare.epsilon
    assert bare.epsilon_of_any(2) == inf
    laws = bit_laws(bare, 3)
    assert rappor_odds(laws, (0, 1, 2), (0, 1, 0), bare.bits) == inf
