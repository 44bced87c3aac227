"""What each defence answers, and how well it knows its own errors."""

from fractions import Fraction
from math import exp, inf, log, sqrt

import numpy as np
import pytest

from discreet.attacks.defences import (
    Bounded,
    Discreet,
    FreshLaplace,
    Raw,
    Rounded,
    Sticky,
    allowed_for_values,
    float_laplace,
)
from discreet.attacks.people import synthetic_people
from discreet.attacks.registry import DEFENCES, EPSILON_MOST, DefenceOptions
from discreet.attacks.targets import KnownDefence, most_success, protected_by
from discreet.errors import ParameterError, RefusedError
from discreet.mechanisms.sensitivity import Neighbours
from tests.statistics import FALSE_ALARM, curve_misfit

EVERYONE = "SELECT COUNT(*) FROM people"
ALL = f'{EVERYONE} WHERE "secret"'


def answers(defence: KnownDefence, people: int, *questions: str) -> tuple[int, list[float]]:
    """Return the exact number of secrets, and what a defence answers."""
    asked = synthetic_people(people)
    with protected_by(defence, asked) as target:
        return int(asked.secrets.sum()), [target.ask(each) for each in questions]


def test_raw_answers_are_exact() -> None:
    exact, (first, second) = answers(Raw(), 50, ALL, "SELECT COUNT(*) + 1 FROM people")
    assert (first, second) == (exact, 51)


@pytest.mark.parametrize(("number", "rounded"), [(0, 0), (4, 0), (5, 10), (14, 10), (15, 20)])
def test_rounded_answers_are_the_nearest_multiples(number: int, rounded: int) -> None:
    _, (answer,) = answers(Rounded(), 20, f"{EVERYONE} WHERE person < {number}")
    assert answer == rounded
    assert Rounded().negative_log_likelihood(answer, number) == 0
    assert Rounded().negative_log_likelihood(answer, number + 10) == inf


def test_bounded_answers_stay_within_their_bound_and_differ() -> None:
    exact, found = answers(Bounded(within=3), 40, *[ALL] * 150)
    assert {each - exact for each in found} == set(range(-3, 4))
    assert Bounded(within=3).deviation == pytest.approx(np.std(range(-3, 4)))


def test_the_same_words_have_the_same_noise_and_other_words_another() -> None:
    reworded = [f"{ALL} AND person <> -{number}" for number in range(1, 21)]
    _, found = answers(Sticky(each=0.1), 40, ALL, ALL, *reworded)
    assert found[0] == found[1]
    assert len(set(found[2:])) > 5


def test_two_databases_have_other_noise_for_the_same_words() -> None:
    errors = set()
    for _ in range(8):
        exact, (answer,) = answers(Sticky(each=0.01), 4, ALL)
        errors.add(answer - exact)
    assert len(errors) > 1


def test_fresh_noise_never_ends() -> None:
    _, found = answers(FreshLaplace(each=0.1), 4, *[ALL] * 200)
    assert len(set(found)) > 10


def test_textbook_noise_is_laplace_as_far_as_its_curve_tells() -> None:
    samples = np.array([float_laplace(2.0) for _ in range(4000)])

    def cdf(
        x: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    ) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        tail = np.exp(-np.abs(x) / 2) / 2
        return np.where(x < 0, tail, 1 - tail)

    assert curve_misfit(samples, cdf) > FALSE_ALARM
    assert curve_misfit(samples * 1.3, cdf) < FALSE_ALARM


def test_discreet_answers_what_it_was_paid_for_and_then_refuses() -> None:
    people = synthetic_people(10)
    with protected_by(Discreet(epsilon=1, each=0.5), people) as target:
        first = target.ask(ALL)
        assert target.ask(ALL.replace("SELECT", "select")) == first
        target.ask(f"{ALL} AND person <> 3")
        with pytest.raises(RefusedError, match="budget"):
            target.ask(f"{ALL} AND person <> 4")
        assert target.ask(ALL) == first


@pytest.mark.parametrize("defence", [Raw(), Discreet()])
def test_what_is_no_question_is_refused(defence: KnownDefence) -> None:
    with protected_by(defence, synthetic_people(3)) as target, pytest.raises(RefusedError):
        target.ask("SELECT COUNT(*) FROM nobody")


@pytest.mark.parametrize("defence", [Raw(), Discreet(epsilon=50, each=50)])
def test_an_answer_that_is_no_number_counts_as_nothing(defence: KnownDefence) -> None:
    with protected_by(defence, synthetic_people(3)) as target:
        assert target.ask("SELECT NULLIF(COUNT(*), COUNT(*)) FROM people") == 0


NOISY = [each(DefenceOptions(epsilon=EPSILON_MOST, each=Fraction(1))) for each in DEFENCES.values()]


@pytest.mark.parametrize(
    "defence", [each for each in NOISY if not each.is_fixed], ids=lambda each: str(each.name)
)
def test_spread_is_how_far_answers_are_off(defence: KnownDefence) -> None:
    """Within a factor of two, which 100 draws of any of these laws miss once in a million."""
    words = [f"{ALL} AND person <> -{number}" for number in range(1, 101)]
    exact, found = answers(defence, 10, *words)
    off = sqrt(np.mean([(each - exact) ** 2 for each in found]))
    assert defence.deviation / 2 < off < 2 * defence.deviation


def test_what_is_allowed_depends_on_who_is_a_neighbour() -> None:
    assert allowed_for_values(Raw()) is None
    removing = allowed_for_values(Discreet(epsilon=1))
    replacing = allowed_for_values(Discreet(epsilon=1, neighbours=Neighbours.REPLACE))
    assert removing == pytest.approx(exp(2) / (1 + exp(2)))
    assert replacing == pytest.approx(exp(1) / (1 + exp(1)))
    loose = allowed_for_values(Discreet(epsilon=1, delta=0.01, neighbours=Neighbours.REPLACE))
    assert loose == pytest.approx((exp(1) + 0.01) / (1 + exp(1)))


def test_nobody_guesses_better_than_from_randomized_response() -> None:
    """Truth with odds e^epsilon is right with the chance that is the most that there can be."""
    assert most_success(log(3)) == 0.75
    assert most_success(0.0) == 0.5
    assert most_success(0.0, delta=0.2) == pytest.approx(0.6)
    assert most_success(1.0, delta=1.0) == 1
    assert most_success(1e6) == 1
    assert most_success(0.1, distance=3) == pytest.approx(most_success(0.3))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Rounded(to=0),
        lambda: Bounded(within=-1),
        lambda: Sticky(each=0),
        lambda: FreshLaplace(each=-1),
        lambda: Discreet(epsilon=0),
        lambda: Discreet(each=float("nan")),
    ],
)
def test_numbers_that_make_no_defence_are_refused(make: "object") -> None:
    with pytest.raises(ParameterError):
        make()  # type: ignore[operator]
