"""At the edge of the proofs: what is outside is refused by name, what is just inside is served."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.noise import (
    bernoulli,
    bernoulli_exp,
    discrete_gaussian,
    discrete_laplace,
    exponential_choice,
    geometric,
    permutation,
    permute_and_flip_choice,
    responses,
    uniform_integers,
)

NO_NUMBERS = [nan, inf, -inf, True, "3", 3j, None, [1], Decimal("NaN"), np.bool_(True)]
TINY = Fraction(1, 10**30)

SIZED: list[Callable[[Any], Any]] = [
    lambda size: geometric(1, size),
    lambda size: discrete_laplace(10, size),
    lambda size: discrete_laplace(2**40, size),
    lambda size: discrete_gaussian(1, size),
    lambda size: bernoulli(0.5, size),
    lambda size: uniform_integers(3, size),
    permutation,
]


@pytest.mark.parametrize("sampler", [geometric, discrete_laplace])
@pytest.mark.parametrize(
    ("scale", "rule"),
    [
        (0, "or more"),
        (-1, "or more"),
        (Fraction(1, 256) - TINY, "or more"),
        (10**17 + TINY, "or less"),
        (1e300, "or less"),
        *[(value, "finite number") for value in NO_NUMBERS],
    ],
    ids=str,
)
def test_a_scale_outside_the_proof_is_refused(
    sampler: Callable[[Any], int], scale: object, rule: str
) -> None:
    with pytest.raises(ParameterError, match=rule) as refused:
        sampler(scale)
    assert refused.value.name == "scale"
    assert "was given" in str(refused.value)


@pytest.mark.parametrize(
    ("variance", "rule"),
    [
        (0, "or more"),
        (-1, "or more"),
        (Fraction(1, 65536) - TINY, "or more"),
        (10**34 + TINY, "or less"),
        *[(value, "finite number") for value in NO_NUMBERS],
    ],
    ids=str,
)
def test_a_variance_outside_the_proof_is_refused(variance: Any, rule: str) -> None:
    with pytest.raises(ParameterError, match=rule) as refused:
        discrete_gaussian(variance)
    assert refused.value.name == "variance"


@pytest.mark.parametrize("scale", [Fraction(1, 256), 2**26, 2**26 + TINY, 2**26 + 1, 10**17])
def test_scales_at_the_edge_of_a_path_are_served(scale: Fraction | int) -> None:
    """Most draws lie within 60 scales: a false alarm has probability below e^-50."""
    for sampler in (geometric, discrete_laplace):
        assert np.abs(sampler(scale, 1000)).max() <= max(60 * scale, 1)
        assert abs(sampler(scale)) <= max(60 * scale, 1)


@pytest.mark.parametrize("variance", [Fraction(1, 65536), 2**96, 2**98, 10**34], ids=str)
def test_variances_at_the_edge_of_a_path_are_served(variance: Fraction | int) -> None:
    """All draws lie within 12 deviations: a false alarm has probability below e^-60."""
    drawn = discrete_gaussian(variance, 1000).astype(float)
    assert (drawn**2).max() <= 144 * float(variance)
    assert discrete_gaussian(variance) ** 2 <= 144 * float(variance)


@pytest.mark.parametrize("probability", [-TINY, 1 + TINY, -1, 2, *NO_NUMBERS], ids=str)
def test_what_is_no_probability_is_refused(probability: Any) -> None:
    with pytest.raises(ParameterError, match="probability"):
        bernoulli(probability)


@pytest.mark.parametrize("make", SIZED)
@pytest.mark.parametrize("size", [-1, 2.5, True, "3", nan, inf, 3j, [3]], ids=str)
def test_a_size_that_is_no_count_is_refused(make: Callable[[Any], Any], size: object) -> None:
    with pytest.raises(ParameterError, match="size"):
        make(size)


@pytest.mark.parametrize("make", SIZED)
def test_a_size_of_zero_gives_an_empty_array(make: Callable[[Any], Any]) -> None:
    assert make(0).shape == (0,)


@pytest.mark.parametrize("make", SIZED)
@pytest.mark.parametrize("size", [1, 7, 8, 8191, 8192, 8193])
def test_a_size_gives_as_many_draws(make: Callable[[Any], Any], size: int) -> None:
    assert make(size).shape == (size,)


@pytest.mark.parametrize("below", [0, -1, (1 << 63) + 1, 2.5, *NO_NUMBERS], ids=str)
def test_a_bound_that_no_word_reaches_is_refused(below: Any) -> None:
    with pytest.raises(ParameterError, match="below"):
        uniform_integers(below)


CHOOSERS = [exponential_choice, permute_and_flip_choice]
NOT_INTEGERS: list[Any] = [
    np.array([0.0, 1.0]),
    np.array([True, False]),
    np.array([0, 1], np.uint64),
    np.array([[0, 1]]),
    np.array(3),
    np.array(["a"]),
    [10**30, 0],
    "scores",
    None,
]


@pytest.mark.parametrize("choose", CHOOSERS)
@pytest.mark.parametrize("scores", NOT_INTEGERS, ids=str)
def test_scores_that_are_no_integers_are_refused(
    choose: Callable[[Any, int], int], scores: object
) -> None:
    with pytest.raises(ParameterError, match="scores must be a flat array of 64-bit integers"):
        choose(scores, 1)


@pytest.mark.parametrize("choose", CHOOSERS)
def test_no_candidate_is_no_choice(choose: Callable[[Any, int], int]) -> None:
    with pytest.raises(ParameterError, match="scores must hold at least one candidate"):
        choose(np.array([], np.int64), 1)


@pytest.mark.parametrize("choose", CHOOSERS)
@pytest.mark.parametrize("rate", [-1, -TINY, *NO_NUMBERS], ids=str)
def test_a_rate_below_zero_is_refused(choose: Callable[[Any, Any], int], rate: object) -> None:
    with pytest.raises(ParameterError, match="rate"):
        choose(np.array([1, 2]), rate)


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.uint8, np.uint32, ">i8"])
def test_narrow_and_foreign_integers_are_served(kind: Any) -> None:
    scores = np.array([0, 100], kind)
    assert exponential_choice(scores, 10) == 1
    assert permute_and_flip_choice(scores, 10) == 1
    assert bernoulli_exp(scores, 10).tolist() == [True, False]


def test_an_array_that_is_a_view_is_left_as_it_was() -> None:
    scores = np.arange(100)[::-3]
    scores.flags.writeable = False
    before = scores.copy()
    assert exponential_choice(scores, 1000) == 0
    assert permute_and_flip_choice(scores, 1000) == 0
    assert np.array_equal(responses(scores, 100, 1000), scores)
    assert np.array_equal(scores, before)


def test_a_negative_exponent_is_refused() -> None:
    with pytest.raises(ParameterError, match="exponents must be 0 or more"):
        bernoulli_exp(np.array([3, -1]), 1)


@pytest.mark.parametrize("categories", [1, 0, -3, (1 << 62) + 1, 2.5, *NO_NUMBERS], ids=str)
def test_categories_without_an_alternative_are_refused(categories: Any) -> None:
    with pytest.raises(ParameterError, match="categories"):
        responses(np.array([0]), categories, 1)


@pytest.mark.parametrize("values", [[4], [-1], [0, 1, 2, 3, 4]])
def test_values_outside_the_categories_are_refused_unseen(values: list[int]) -> None:
    with pytest.raises(ParameterError, match="values must lie in 0, …, 3, but 'one outside'"):
        responses(np.array(values), 4, 1)


@pytest.mark.parametrize("epsilon", [-1, -TINY, *NO_NUMBERS], ids=str)
def test_an_epsilon_below_zero_is_refused(epsilon: Any) -> None:
    with pytest.raises(ParameterError, match="epsilon"):
        responses(np.array([0]), 4, epsilon)


def test_empty_arrays_are_answered_with_empty_arrays() -> None:
    nothing = np.array([], np.int64)
    assert bernoulli_exp(nothing, 1).shape == (0,)
    assert responses(nothing, 4, 1).shape == (0,)
