"""Membership from counts: wins against exact and rounded ones, within epsilon against Discreet."""

from fractions import Fraction
from math import log

import numpy as np
import pytest
from scipy.stats import binom

from discreet.attacks.defences import Discreet, FreshLaplace, Raw, Rounded
from discreet.attacks.membership import log_odds, membership
from tests.attacks.verdicts import achieves, breaks_its_promise


def test_evidence_is_the_likelihood_ratio() -> None:
    others, share, count = 10, 0.3, 4
    chances = np.asarray(binom.pmf(np.arange(others + 1), others, share))[None, :]
    expected = log(binom.pmf(count - 1, others, share) / binom.pmf(count, others, share))
    assert log_odds(Raw(), [count], chances) == pytest.approx(expected)


def test_what_no_count_can_be_is_no_evidence() -> None:
    chances = np.full((1, 11), 1 / 11)
    assert log_odds(Raw(), [99.5], chances) == 0
    assert log_odds(Raw(), [0], chances) < 0 < log_odds(Raw(), [11], chances)


def test_many_exact_counts_tell_who_is_in_a_group() -> None:
    """24 counts about 6 people: a success rate of 0.95, denied 1 in 10^6 times if it is right."""
    outcome = membership(Raw(), people=6, queries=24, trials=40)
    assert achieves(outcome.last, 0.95)
    assert outcome.steps[0].success < outcome.last.success


def test_rounding_does_not_hide_who_is_in_a_group() -> None:
    """32 counts to the nearest 10 about 6 people: 0.9, denied 1 in 10^6 times if it is right."""
    assert achieves(membership(Rounded(), people=6, queries=32, trials=30).last, 0.9)


def test_against_discreet_counts_tell_no_more_than_epsilon_allows() -> None:
    outcome = membership(
        Discreet(epsilon=0.2, each=Fraction(1, 10)), people=15, queries=4, trials=30
    )
    assert outcome.refused_after == 2
    assert not breaks_its_promise(outcome)


def test_a_budget_that_nobody_keeps_is_noticed() -> None:
    """A twin that promises 0.02 in all and spends 4 on each of 24 answers."""
    twin = FreshLaplace(each=4, epsilon=0.02)
    assert breaks_its_promise(membership(twin, people=6, queries=24, trials=40))
