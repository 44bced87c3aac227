"""Errors and time as oracles: certain against an engine, and nothing to see of Discreet.

Nothing here depends on how fast this machine is: time is a clock that targets turn themselves.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from discreet.attacks.averaging import VICTIM
from discreet.attacks.defences import Discreet, FloatLaplace, Raw
from discreet.attacks.people import PLAIN, People, synthetic_people
from discreet.attacks.side_channels import (
    ANSWERED,
    COSTLY,
    FAILING,
    HIT,
    LONG,
    Watched,
    by_rank,
    errors,
    seen_of_both,
    timing,
    with_secret,
    words_of,
)
from discreet.attacks.targets import AttackedSystem, Defence, protected_by
from discreet.attacks.trials import uniforms
from tests.attacks.verdicts import is_certain, refutes


@pytest.mark.parametrize("defence", [Raw(), FloatLaplace()])
def test_one_failing_question_tells_a_secret(defence: Defence) -> None:
    """Each of them alone: noise on answers hides nothing of whether there is one."""
    seen = seen_of_both(
        Watched(defence=defence, see=words_of), 5, [PLAIN.count(each) for each in FAILING]
    )
    assert all(each != ANSWERED for each in seen[True][0])
    assert all(each == ANSWERED for each in seen[False][0])
    assert all(map(is_certain, errors(defence, trials=10, people=5).steps))


def test_discreet_answers_or_refuses_twins_in_the_same_words() -> None:
    watched = Watched(defence=Discreet(), see=words_of)
    questions = [PLAIN.count(each) for each in FAILING]
    seen = seen_of_both(watched, 5, questions)
    assert seen[True] == seen[False]
    assert ANSWERED in seen[True][0]
    assert not refutes(errors(Discreet(), trials=22, people=5).last, 0.5)


def test_discreet_refuses_what_takes_a_row_long() -> None:
    texts, numbers = (PLAIN.count(each.format(hit=HIT, many=LONG)) for each in COSTLY)
    with protected_by(Discreet(), synthetic_people(5)) as target:
        assert words_of(target, texts) != ANSWERED
        assert words_of(target, numbers) == ANSWERED


@dataclass(frozen=True, slots=True, kw_only=True)
class Slow:
    """Takes as long as it is told to if the victim has the secret, and answers 0 to everything."""

    turn: Callable[[bool], None]
    name: str = "slow"
    epsilon: float | None = None

    def protect(self, people: People) -> AttackedSystem:
        return _SlowTarget(self.turn, bool(people.secrets[VICTIM]))


@dataclass(frozen=True, slots=True)
class _SlowTarget:
    turn: Callable[[bool], None]
    secret: bool

    def ask(self, sql: str) -> float:
        del sql
        self.turn(self.secret)
        return 0.0


class Clock:
    """Time that passes only where it is turned: by some luck, and by more for a secret."""

    def __init__(self, more: float) -> None:
        self.now, self._more = 0.0, more

    def turn(self, secret: bool) -> None:
        self.now += float(uniforms(1)[0]) + self._more * secret


def test_time_tells_a_secret_that_takes_long() -> None:
    clock = Clock(more=2.0)
    outcome = timing(Slow(turn=clock.turn), trials=30, clock=lambda: clock.now)
    assert is_certain(outcome.last)


def test_time_tells_nothing_where_it_does_not_depend_on_the_secret() -> None:
    """False alarm 1 in 10^6; the broken twin is the test above."""
    clock = Clock(more=0.0)
    outcome = timing(Slow(turn=clock.turn), trials=200, clock=lambda: clock.now)
    assert not refutes(outcome.last, 0.5)


EQUAL = np.array([1.0, 2.0])
"""Twins that time does not tell apart: of pairs, as many have one slower as the other."""


def test_times_count_as_much_as_they_told_twins_apart() -> None:
    slow, fast = [np.array([5.0, 6.0]), EQUAL], [np.array([1.0, 2.0]), EQUAL]
    assert by_rank(slow, fast, [5.5, 1.5]) > 0 > by_rank(slow, fast, [1.5, 1.5])
    assert by_rank(slow, fast, [4.0]) > 0 > by_rank(slow, fast, [3.0])
    assert by_rank([EQUAL], [EQUAL], [9.0]) == 0


def test_twins_differ_by_the_victim_alone() -> None:
    people = synthetic_people(6)
    with_it, without = with_secret(people, True), with_secret(people, False)
    assert (with_it.secrets != without.secrets).tolist() == [True, *[False] * 5]
    assert with_it.table.drop(["secret"]) == without.table.drop(["secret"])


def test_a_price_is_no_way_to_be_refused_differently() -> None:
    """When the budget is gone, twins are refused alike too."""
    watched = Watched(defence=Discreet(epsilon=0.2, each=Fraction(1, 10)), see=words_of)
    seen = seen_of_both(watched, 5, [PLAIN.count(each) for each in FAILING])
    assert seen[True] == seen[False]
