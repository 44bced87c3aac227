"""Best guesses of released counts: what someone who knows something makes of them."""

from fractions import Fraction

import pytest

from discreet.errors import ParameterError
from discreet.utility import Prior, best_guesses, best_remap, binomial, geometric_channel, uniform
from tests.answer.made import make_answer
from tests.curated import curator_of

VISITS: dict[str, list[float]] = {
    "patient_id": [1, 2, 3, 4, 5, 6],
    "cost": [1.5, 2.5, 3.5, 4.0, 5.0, 6.0],
}


def test_guesses_for_single_releases_are_those_of_the_remap() -> None:
    prior = binomial(12, 0.2)
    remap = best_remap(geometric_channel(0, 12, epsilon=0.5), prior, "absolute")
    inside = list(range(1, 12))
    assert best_guesses(inside, prior, "absolute", epsilon=0.5) == [remap[z] for z in inside]


def test_counts_beyond_what_can_be_are_guessed_within() -> None:
    assert best_guesses([-7, 3, 10**9], uniform(0, 5), epsilon=1) == [0, 3, 5]


def test_a_released_count_can_be_guessed_for_free() -> None:
    clinic = curator_of(VISITS, bounds={"cost": (0, 10)})
    answer = clinic.ask(
        "SELECT COUNT(DISTINCT patient_id) AS n, AVG(cost) AS c FROM visits", epsilon=2
    )
    left = clinic.remaining
    noisy = answer.rows[0]["n"]
    assert isinstance(noisy, int)
    certain = Prior({**dict.fromkeys(range(20), 0), 6: 1})
    assert answer.best_guess(certain) == [6]
    assert answer.best_guess(uniform(0, 100), column="n") == [min(max(noisy, 0), 100)]
    assert clinic.remaining == left


def test_the_scale_is_that_of_the_noise_that_was_drawn() -> None:
    answer = curator_of(VISITS).ask(
        "SELECT COUNT(DISTINCT patient_id) AS n FROM visits", epsilon=Fraction(1, 2)
    )
    assert answer.scales == (Fraction(2),)


def test_a_kept_answer_keeps_the_scale_of_its_own_noise() -> None:
    """At a lower price the first answer is given again, with the noise that it has."""
    clinic, question = curator_of(VISITS), "SELECT COUNT(DISTINCT patient_id) AS n FROM visits"
    first, again = (clinic.ask(question, epsilon=epsilon) for epsilon in (2, Fraction(1, 2)))
    assert again.is_free
    assert first.scales == again.scales == (Fraction(1, 2),)


@pytest.mark.parametrize(
    "question",
    ["SELECT AVG(cost) AS n FROM visits", "SELECT COUNT(*) + 1 AS n FROM visits"],
    ids=["a mean", "something made of a count"],
)
def test_what_is_no_count_with_geometric_noise_is_not_guessed(question: str) -> None:
    answer = curator_of(VISITS, bounds={"cost": (0, 10)}).ask(question, epsilon=1)
    with pytest.raises(ParameterError, match="geometric noise"):
        answer.best_guess(uniform(0, 10))


def test_of_two_counts_one_must_be_named() -> None:
    answer = make_answer({"a": [1], "b": [2]}, {"a": 1, "b": 1}, scales=(Fraction(1), Fraction(1)))
    with pytest.raises(ParameterError, match="a, b"):
        answer.best_guess(uniform(0, 9))
    assert answer.best_guess(uniform(0, 9), column="b") == [2]
