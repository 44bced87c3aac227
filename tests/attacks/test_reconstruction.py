"""Whole columns of secrets are recovered from many good answers, and not from a budget's worth."""

from dataclasses import dataclass

import numpy as np
import pytest

from discreet.attacks.defences import Bounded, Discreet, Raw, Rounded
from discreet.attacks.people import People
from discreet.attacks.reconstruction import Solver, reconstruction, recovered
from discreet.attacks.targets import AttackedSystem, KnownDefence
from discreet.noise import bernoulli
from tests.attacks.verdicts import achieves, breaks_its_promise, is_certain, refutes

PROMISED = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgetful:
    """A twin of Discreet that promises little and lets its curator answer all the same."""

    each: float = 2.0
    name: str = "forgetful"
    epsilon: float = PROMISED
    is_fixed: bool = False

    @property
    def _real(self) -> Discreet:
        return Discreet(epsilon=1_000_000, each=self.each)

    @property
    def deviation(self) -> float:
        return self._real.deviation

    def protect(self, people: People) -> AttackedSystem:
        return self._real.protect(people)

    def negative_log_likelihood(self, answer: float, exact: int) -> float:
        return self._real.negative_log_likelihood(answer, exact)


@pytest.mark.parametrize("by", Solver)
def test_exact_counts_give_everybody_away(by: Solver) -> None:
    """Twice as many counts as people fix all secrets, but for coincidences."""
    outcome = reconstruction(Raw(), people=24, queries=60, by=by)
    assert is_certain(outcome.last)
    assert outcome.steps[0].queries == 1


@pytest.mark.parametrize("by", Solver)
@pytest.mark.parametrize("defence", [Rounded(to=4), Bounded(within=1)])
def test_small_errors_hide_nobody(defence: KnownDefence, by: Solver) -> None:
    """Of 40 secrets 95 % are recovered from 240 counts that are off by no more than 2."""
    outcome = reconstruction(defence, people=40, queries=240, by=by)
    assert achieves(outcome.last, 0.95)
    assert refutes(outcome.last, 0.5)


@pytest.mark.slow
def test_95_percent_of_200_secrets_are_recovered_from_counts_that_are_rounded_to_tens() -> None:
    """Errors of 2.9 leave each estimate 0.2 off, and 7 in 1000 on the wrong side of one half."""
    outcome = reconstruction(Rounded())
    assert outcome.last.guesses == 200
    assert outcome.last.success >= 0.95


@pytest.mark.parametrize("by", Solver)
def test_discreet_gives_no_more_away_than_it_promised(by: Solver) -> None:
    """As often right as coins of the allowed chance, if not less: an exact binomial test holds."""
    defence = Discreet(epsilon=PROMISED, each=PROMISED / 10)
    outcome = reconstruction(defence, people=100, queries=20, by=by)
    assert outcome.refused_after == 10
    assert not breaks_its_promise(outcome)
    assert not achieves(outcome.last, 0.95)


def test_a_twin_that_ignores_its_budget_is_caught() -> None:
    """The same curator, asked 160 times instead of none, gives 40 people away."""
    outcome = reconstruction(Forgetful(), people=40, queries=160)
    assert breaks_its_promise(outcome)


def test_where_nothing_is_answered_secrets_are_guessed_by_coins() -> None:
    outcome = reconstruction(Discreet(epsilon=0.1, each=1), people=50, queries=3)
    assert outcome.refused_after == 0
    assert [step.queries for step in outcome.steps] == [0]
    assert not refutes(outcome.last, 0.5)
    assert outcome.plot().figure.axes


@pytest.mark.parametrize("by", Solver)
def test_fewer_answers_than_people_still_tell_something(by: Solver) -> None:
    """From half as many exact counts as people, 55 % of 400 secrets at least are recovered."""
    right = 0
    for _ in range(10):
        groups = bernoulli(0.5, 20 * 40).reshape(20, 40)
        secrets = bernoulli(0.5, 40)
        answers = (groups.astype(int) @ secrets.astype(int)).tolist()
        right += int(np.sum(recovered(groups, answers, Raw(), by) == secrets))
    assert right > 220


def test_progress_goes_from_nothing_to_all() -> None:
    told: list[float] = []
    reconstruction(Raw(), people=8, queries=10, trials=2, progress=told.append)
    assert told == sorted(told)
    assert told[0] == 0
    assert 0.9 < told[-1] <= 1
