"""Trials: what is asked, when it is refused, and how guesses are counted."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pytest
from scipy.stats import binom

from discreet.attacks.defences import Discreet, Raw
from discreet.attacks.people import People
from discreet.attacks.targets import AttackedSystem, most_success
from discreet.attacks.trials import (
    Trial,
    allowed_for_presence,
    bare_people,
    coin,
    evidence,
    guessed,
    steps_to,
    tally,
)
from discreet.errors import RefusedError
from discreet.mechanisms.sensitivity import Neighbours
from tests.statistics import FALSE_ALARM


@dataclass(kw_only=True)
class Tired:
    """Answers 1 to so many questions, then none; remembers what was asked and given back."""

    answers: int
    name: str = "tired"
    epsilon: float | None = None
    asked: list[str] = field(default_factory=list)
    closed: int = 0

    def protect(self, people: People) -> AttackedSystem:
        del people
        return _TiredTarget(self, self.answers)


@dataclass
class _TiredTarget:
    of: Tired
    left: int

    def ask(self, sql: str) -> float:
        self.of.asked.append(sql)
        if not self.left:
            raise RefusedError("enough")
        self.left -= 1
        return 1.0

    def close(self) -> None:
        self.of.closed += 1


def one_trial(questions: Sequence[str]) -> Trial:
    return Trial(
        people=bare_people("village", pa.array(["Ashby"])),
        truth=True,
        questions=questions,
        log_odds=lambda answers: len(answers) - 1.5,
    )


def test_asking_ends_with_the_first_refusal() -> None:
    tired = Tired(answers=2)
    found = tally(tired, lambda: one_trial("abcd"), trials=3, at=(1, 2, 4))
    assert tired.asked == list("abc") * 3
    assert tired.closed == 3
    assert found.refused_after == 2
    assert [step.right for step in found.steps] == [0, 3, 3]


def test_who_answers_nothing_refused_after_no_question() -> None:
    found = tally(Tired(answers=0), lambda: one_trial("ab"), trials=2, at=(2,))
    assert found.refused_after == 0


def test_who_answers_all_never_refused() -> None:
    found = tally(Tired(answers=9), lambda: one_trial("ab"), trials=2, at=(1, 2))
    assert found.refused_after is None


def test_progress_ends_at_1() -> None:
    told: list[float] = []
    tally(Tired(answers=1), lambda: one_trial("a"), trials=4, at=(1,), progress=told.append)
    assert told == [0.25, 0.5, 0.75, 1.0]


@pytest.mark.parametrize("otherwise", [True, False])
def test_a_coin_decides_where_nothing_else_does(otherwise: bool) -> None:
    assert guessed(0.0, otherwise) is otherwise
    assert guessed(0.1, otherwise) is True
    assert guessed(-0.1, otherwise) is False


def test_coins_are_fair() -> None:
    """False alarm 1 in 10^6; a coin of 60 % heads is caught."""
    heads = sum(coin() for _ in range(3000))
    assert 2 * min(binom.cdf(heads, 3000, 0.5), binom.sf(heads - 1, 3000, 0.5)) > FALSE_ALARM
    assert min(binom.cdf(heads, 3000, 0.6), binom.sf(heads - 1, 3000, 0.6)) < FALSE_ALARM


def test_steps_double_up_to_the_most() -> None:
    assert steps_to(1) == (1,)
    assert steps_to(100) == (1, 3, 6, 12, 25, 50, 100)


def test_evidence_is_finite_and_nothing_where_neither_is_possible() -> None:
    assert evidence(Raw(), 1, 0, 1) > 0 > evidence(Raw(), 0, 0, 1)
    assert evidence(Raw(), 7, 0, 1) == 0


def test_presence_is_one_step_for_each_person() -> None:
    assert allowed_for_presence(Raw()) is None
    assert allowed_for_presence(Discreet(epsilon=0.5), people=3) == most_success(1.5)
    assert allowed_for_presence(Discreet(neighbours=Neighbours.REPLACE)) is None
