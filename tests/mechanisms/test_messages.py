"""Refusals: by the name that was written, with the limit in its own unit, before any waiting."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.mechanisms import (
    AboveThreshold,
    Exponential,
    Geometric,
    Laplace,
    NoisyMax,
    NoisyTop,
    NumericSparse,
    PermuteAndFlip,
    RandomizedResponse,
    Sparse,
    Staircase,
    Truncated,
)
from discreet.mechanisms.distributions import ChoiceDistribution
from tests.mechanisms.examples import Maker, made


@pytest.mark.parametrize(
    ("maker", "changed", "rule"),
    [
        (Geometric, {"epsilon": 300}, "256 or less for this sensitivity (Laplace has a wider"),
        (Geometric, {"epsilon": 1e-12, "sensitivity": 10**6}, "1e-11 or more for this"),
        (Laplace, {"epsilon": 1e-12, "answers": 10**6}, "1.07475e-08 or more for this"),
        (NoisyMax, {"epsilon": 10**6}, "524288 or less for this"),
        (NoisyMax, {"epsilon": 1e-12}, "1.81899e-12 or more for this"),
        (NoisyTop, {"epsilon": 1e-12}, "1.81899e-12 or more for this"),
        (Sparse, {"epsilon": 10**6}, "677867 or less for this"),
        (Sparse, {"epsilon": 1e-12, "answers": 1000}, "2.06008e-11 or more for this"),
    ],
)
def test_noise_that_cannot_be_drawn_is_blamed_on_epsilon(
    maker: Maker, changed: dict[str, Any], rule: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        made(maker, **changed)
    assert str(caught.value).startswith(f"epsilon must be {rule}")
    limit = float(rule.split(maxsplit=1)[0])
    assert made(maker, **changed | {"epsilon": limit}).epsilon > 0, "the limit itself is refused"


SELECTOR: Any = PermuteAndFlip(epsilon=1, sensitivity=1)
COUNT: Any = Geometric(epsilon=1, sensitivity=1)
RESPONSE: Any = RandomizedResponse(epsilon=1, categories=3)
FIRST: Any = AboveThreshold(epsilon=1, sensitivity=1, threshold=0)
NUMBERS: Any = NumericSparse(epsilon=1, sensitivity=1, threshold=0)
ENDS: Any = Truncated
WRONG: list[tuple[Callable[[], object], str]] = [
    (lambda: ENDS(mechanism=COUNT, low="a", high=3), "low must be a finite number"),
    (lambda: FIRST.release(5), "exact must be a stream of numbers"),
    (lambda: NUMBERS.release(None), "exact must be a stream of numbers"),
    (lambda: FIRST.release(np.array(5)), "exact must be a stream of numbers"),
    (lambda: FIRST.distribution([[1, 2], [3, 4]]), "exact must be a stream of numbers"),
    (lambda: ChoiceDistribution((0.5, 0.5)).pmf(7), "index must be 1 or less, but 7 was given."),
    (lambda: ChoiceDistribution((0.5, 0.5)).pmf(-1), "index must be 0 or more, but -1 was given."),
    (lambda: SELECTOR.choose({1: 2}, abs), "candidates must be a list or another sequence."),
    (lambda: SELECTOR.choose({1, 2}, abs), "candidates must be a list or another sequence."),
    (lambda: SELECTOR.release(["a"]), "scores must be finite numbers."),
    (lambda: SELECTOR.release([1, None]), "scores must be finite numbers."),
    (lambda: SELECTOR.release([[1], [2, 3]]), "scores must be numbers in rows of equal length."),
    (lambda: COUNT.release([1, None]), "exact must be whole numbers."),
    (lambda: COUNT.release(["a"]), "exact must be whole numbers."),
    (lambda: COUNT.release([True]), "exact must be whole numbers."),
    (lambda: COUNT.release("a"), "exact must be a whole number."),
    (lambda: COUNT.release([1, 2.5]), "exact must be whole numbers. Use Laplace for real numbers."),
    (lambda: COUNT.release(2.5), "exact must be a whole number. Use Laplace for real numbers."),
    (
        lambda: COUNT.distribution(2.5),
        "exact must be a whole number. Use Laplace for real numbers.",
    ),
    (lambda: RESPONSE.release("yes"), "exact must be whole numbers from 0 to 2."),
    (lambda: RESPONSE.release(0.5), "exact must be whole numbers from 0 to 2."),
    (lambda: RESPONSE.release(3), "exact must be whole numbers from 0 to 2."),
    (lambda: RESPONSE.estimate([3]), "reports must be whole numbers from 0 to 2."),
    (lambda: RESPONSE.estimate(["yes"]), "reports must be whole numbers from 0 to 2."),
    (lambda: made(Staircase).release([1, 2]), "exact must be one number. Use Laplace for arrays."),
    (lambda: COUNT.truncated(3, 1), "range must have low below high, but is 3 … 1."),
]


@pytest.mark.parametrize(("call", "sentence"), WRONG, ids=[sentence for _, sentence in WRONG])
def test_what_is_wrong_is_said_by_its_name(call: Callable[[], object], sentence: str) -> None:
    with pytest.raises(ParameterError) as caught:
        call()
    assert str(caught.value).startswith(sentence)


VAST: Any = RandomizedResponse(epsilon=1, categories=2**31)
LARGE: list[tuple[Callable[[], object], str]] = [
    (
        lambda: made(AboveThreshold, epsilon=1e-5).distribution([1, 2]).pmf([True]),
        "epsilon must be 0.0284091 or more to compute the distribution, but 1e-05 was given.",
    ),
    (
        lambda: made(NoisyMax, epsilon=1e-5, noise="laplace").distribution([1, 2]),
        "scores must be fewer or closer together, or epsilon larger,",
    ),
    (
        lambda: made(NoisyMax, noise="laplace").distribution(list(range(500))),
        "scores must be fewer or closer together, or epsilon larger,",
    ),
    (
        lambda: VAST.distribution(0),
        "categories must be 1000000 or less",
    ),
    (
        VAST.channel,
        "categories must be 2000 or less",
    ),
    (VAST.plot, "categories must be 2000 or less"),
    (
        lambda: VAST.estimate([0]),
        "categories must be 1000000 ",
    ),
    (
        lambda: made(Laplace).truncated(0, 10).channel(),
        "range must hold at most 2000 values (or write channel(bins=50)).",
    ),
]


@pytest.mark.parametrize(("call", "sentence"), LARGE, ids=range(len(LARGE)))
def test_what_would_take_hours_or_gigabytes_is_refused(
    call: Callable[[], object], sentence: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        call()
    assert str(caught.value).startswith(sentence)


@pytest.mark.parametrize(
    ("maker", "changed"),
    [
        (Laplace, {"sensitivity": 1}),
        (Exponential, {"sensitivity": 1, "candidates": 10}),
        (PermuteAndFlip, {"sensitivity": 1, "candidates": 10}),
        (RandomizedResponse, {"people": 10}),
    ],
)
def test_a_target_out_of_reach_is_blamed_and_nothing_else(
    maker: Any, changed: dict[str, Any]
) -> None:
    """A float once took 1 - p for 0, and so found an epsilon for any target."""
    with pytest.raises(ParameterError, match=r"^within must be at least"):
        maker.for_margin(within=1e-30, confidence=0.95, **changed)
