"""Differencing beats exact counts at once, and rounding and noise in the end, but no budget."""

import pytest

from discreet.attacks.defences import (
    Bounded,
    Discreet,
    FloatLaplace,
    FreshLaplace,
    Raw,
    Rounded,
    Sticky,
)
from discreet.attacks.differencing import Way, differencing
from discreet.attacks.targets import KnownDefence, most_success
from discreet.errors import ParameterError
from tests.attacks.verdicts import achieves, breaks_its_promise, is_certain, refutes


@pytest.mark.parametrize("way", Way)
def test_exact_counts_tell_a_secret(way: Way) -> None:
    """In two questions, or in a few more where an edge is looked for that is everywhere."""
    outcome = differencing(Raw(), people=20, queries=16, trials=15, by=way)
    assert is_certain(outcome.last)
    assert is_certain(outcome.steps[0]) == (way is not Way.EDGE)


@pytest.mark.parametrize("to", [4, 10])
def test_rounding_is_beaten_by_a_group_at_its_edge(to: int) -> None:
    """With 60 people there is an edge but once in a million times, and eight questions find it."""
    outcome = differencing(Rounded(to=to), people=60, queries=16, trials=25)
    assert is_certain(outcome.last)
    assert not is_certain(outcome.steps[0])


def test_a_group_without_an_edge_tells_nothing() -> None:
    outcome = differencing(Rounded(to=1000), people=20, queries=8, trials=60)
    assert not refutes(outcome.last, 0.5)


def test_rounding_survives_the_same_pair_in_any_words() -> None:
    """A person is seen only where the count of all is at an edge, once in ten times."""
    outcome = differencing(Rounded(), people=40, queries=4, trials=150, by=Way.REPEATED)
    assert not achieves(outcome.last, 0.95)


def test_noise_that_follows_from_the_words_is_beaten_in_other_words_only() -> None:
    """Of 100 secrets 95 are told by 8 pairs at epsilon = 4; asked again, one pair stays one."""
    reworded = differencing(Sticky(each=4), people=20, queries=16, trials=40)
    repeated = differencing(Sticky(each=0.5), people=20, queries=64, trials=150, by=Way.REPEATED)
    assert achieves(reworded.last, 0.95)
    assert refutes(reworded.last, 0.5)
    assert not achieves(repeated.last, 0.95)
    assert len({step.right for step in repeated.steps}) == 1


@pytest.mark.parametrize("defence", [FreshLaplace(each=2), FloatLaplace(each=2), Bounded(within=1)])
def test_noise_that_is_drawn_anew_is_beaten_in_the_same_words(defence: KnownDefence) -> None:
    outcome = differencing(defence, people=20, queries=64, trials=60, by=Way.REPEATED)
    assert achieves(outcome.last, 0.95)
    assert refutes(outcome.last, 0.5)


def test_discreet_answers_until_its_budget_is_gone_and_no_more_is_told() -> None:
    defence = Discreet(epsilon=0.1, each=0.05)
    outcome = differencing(defence, people=16, queries=4, trials=25)
    assert outcome.refused_after == 2
    assert outcome.last.queries == 2
    assert outcome.allowed == most_success(0.1, distance=2)
    assert not breaks_its_promise(outcome)


def test_a_twin_that_promises_as_much_and_keeps_no_books_is_caught() -> None:
    twin = FreshLaplace(each=2, epsilon=0.25)
    outcome = differencing(twin, people=12, queries=64, trials=60, by=Way.REPEATED)
    assert breaks_its_promise(outcome)


def test_a_pair_is_two_questions() -> None:
    with pytest.raises(ParameterError, match="queries"):
        differencing(Raw(), queries=1)
