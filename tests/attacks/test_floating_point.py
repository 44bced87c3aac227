"""The attack on noise made of floats: wins against the textbook, whatever epsilon it claims."""

from dataclasses import replace
from fractions import Fraction

from discreet.attacks.defences import Discreet, FloatLaplace, Raw
from discreet.attacks.floating_point import floating_point
from tests.attacks.verdicts import achieves, breaks_its_promise, is_certain

FLOATS = FloatLaplace(each=Fraction(1, 10))


def test_a_few_outputs_of_floats_tell_the_exact_answer() -> None:
    """A success rate of 0.8 after one output and of 0.98 after six, each denied 1 in 10^6 times."""
    outcome = floating_point(FLOATS, queries=6, trials=60)
    assert achieves(outcome.steps[0], 0.8)
    assert achieves(outcome.steps[-1], 0.98)
    assert outcome.steps[0].success > 0.6


def test_against_discreet_last_bits_tell_nothing() -> None:
    assert not breaks_its_promise(
        floating_point(Discreet(epsilon=0.2, each=Fraction(1, 10)), queries=3, trials=30)
    )


def test_floats_that_claim_a_promise_are_caught() -> None:
    """Six questions at 1/10 each are promised: 77 % of guesses, where about 99 % are right."""
    assert breaks_its_promise(floating_point(replace(FLOATS, epsilon=0.6), queries=6, trials=60))


def test_exact_counts_are_told_at_once() -> None:
    assert is_certain(floating_point(Raw(), queries=1, trials=20).last)
