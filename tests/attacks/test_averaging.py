"""Averaging beats noise that is drawn anew, and nothing that is kept or counted."""

from math import exp

import pytest

from discreet.attacks.averaging import Inference, averaging, belief
from discreet.attacks.defences import Bounded, Discreet, FloatLaplace, FreshLaplace, Raw, Sticky
from discreet.attacks.targets import KnownDefence, most_success
from discreet.errors import ParameterError
from discreet.utility import belief_after_counts, uniform
from tests.attacks.verdicts import achieves, breaks_its_promise, is_certain, refutes


def test_one_exact_count_tells_a_secret_if_all_others_are_known() -> None:
    outcome = averaging(Raw(), people=20, queries=2, trials=20)
    assert all(is_certain(step) for step in outcome.steps)


@pytest.mark.parametrize("by", Inference)
@pytest.mark.parametrize("defence", [FreshLaplace(), FloatLaplace(), Bounded(within=2)])
def test_noise_that_is_drawn_anew_cancels_out(defence: KnownDefence, by: Inference) -> None:
    """Of 100 secrets 95 are told by 64 answers; a defence that holds is not taken for a loser."""
    outcome = averaging(defence, people=20, queries=64, trials=60, by=by)
    assert achieves(outcome.last, 0.95)
    assert refutes(outcome.last, 0.5)
    assert outcome.allowed is None


@pytest.mark.parametrize("by", Inference)
def test_noise_that_follows_from_the_words_does_not_cancel_out(by: Inference) -> None:
    """One answer at epsilon = 0.5 is right in 62 of 100 cases, and so are 64 of the same."""
    outcome = averaging(Sticky(each=0.5), people=20, queries=64, trials=200, by=by)
    assert not refutes(outcome.last, most_success(0.5))
    assert not achieves(outcome.last, 0.95)
    assert len({step.right for step in outcome.steps}) == 1


def test_discreet_gives_no_more_away_than_it_promised() -> None:
    """Asked again, an answer is the same and free: nothing more is learnt, nothing is refused."""
    outcome = averaging(Discreet(epsilon=0.1, each=0.1), people=12, queries=2, trials=25)
    assert outcome.allowed == pytest.approx(exp(0.2) / (1 + exp(0.2)))
    assert not breaks_its_promise(outcome)
    assert outcome.refused_after is None
    assert len({step.right for step in outcome.steps}) == 1


def test_a_twin_that_promises_as_much_and_keeps_no_books_is_caught() -> None:
    outcome = averaging(FreshLaplace(each=1, epsilon=0.25), people=12, queries=64, trials=60)
    assert breaks_its_promise(outcome)


def test_beliefs_are_those_of_the_geometric_mechanism() -> None:
    answers = [11, 9, 12, 10, 13]
    own = belief(FreshLaplace(each=0.5), 10, [float(each) for each in answers])
    exact = belief_after_counts(uniform(10, 11), answers, epsilon=0.5)
    assert own == pytest.approx(float(exact[11]), abs=1e-12)


def test_answers_that_cannot_be_change_no_belief() -> None:
    assert belief(Bounded(within=1), 10, [50.0]) == 0.5
    assert belief(Bounded(within=1), 10, [12.0]) == 1


@pytest.mark.parametrize("name", ["people", "queries", "trials"])
def test_there_must_be_someone_and_something_to_ask(name: str) -> None:
    with pytest.raises(ParameterError, match=name):
        averaging(Raw(), **{name: 0})  # type: ignore[arg-type]
