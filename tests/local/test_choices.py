"""Which mechanism is chosen, and what is said about it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.local import (
    HadamardResponse,
    KaryResponse,
    LocalHashing,
    SubsetSelection,
    UnaryEncoding,
    choose,
)
from discreet.local.choices import SLACK
from discreet.local.estimates import standard_error

N = 10**6


@pytest.mark.parametrize(
    ("epsilon", "categories", "kind"),
    [
        (1, 2, KaryResponse),
        (5, 100, KaryResponse),
        (1, 100, LocalHashing),
        (3, 10**6, LocalHashing),
        (0.1, 10**4, HadamardResponse),
        (0.5, 16, SubsetSelection),
    ],
)
def test_each_mechanism_has_its_place(epsilon: float, categories: int, kind: type) -> None:
    assert isinstance(choose(epsilon, categories, N).mechanism, kind)


@given(st.floats(0.01, 12), st.integers(2, 5000))
def test_the_shortest_of_the_most_exact_is_chosen(epsilon: float, categories: int) -> None:
    choice = choose(epsilon, categories, N)
    errors = [each.error for each in choice.candidates]
    assert errors == sorted(errors)
    taken = next(each for each in choice.candidates if each.mechanism == choice.mechanism)
    assert taken.error == standard_error(choice.mechanism, N)
    assert taken.error <= SLACK * errors[0]
    near = [each.bits for each in choice.candidates if each.error <= SLACK * errors[0]]
    assert taken.bits == min(near)


@given(st.floats(0.01, 12), st.integers(2, 5000))
def test_subset_selection_is_never_beaten_by_more_than_rounding(
    epsilon: float, categories: int
) -> None:
    choice = choose(epsilon, categories, N)
    mechanism = SubsetSelection(epsilon=epsilon, categories=categories)
    assert standard_error(mechanism, N) <= choice.candidates[0].error * (1 + 1e-9)


def test_the_reason_is_said() -> None:
    assert str(choose(1, 100, N)) == (
        "LocalHashing(epsilon=1, categories=100): at epsilon = 1 its standard error is 0.19 % of "
        "1000000 people, at most 1.5 % above that of SubsetSelection, and its reports take 10 bits "
        "instead of 100."
    )
    assert choose(1, 2, N).why.endswith("the least of all, with reports of 1 bit.")


def test_reports_may_be_bounded_in_length() -> None:
    assert isinstance(choose(1, 100, N, most_bits=8).mechanism, HadamardResponse)
    with pytest.raises(ParameterError, match="most_bits must be 7 or more"):
        choose(1, 100, N, most_bits=6)


def test_the_published_order_of_variances_holds() -> None:
    """Wang et al. 2017, Table 2: k-ary response wins below k = 3 e^epsilon + 2, OUE above."""
    for categories, is_few in ((9, True), (11, False)):
        response = KaryResponse(epsilon=1, categories=categories)
        unary = UnaryEncoding.optimised(epsilon=1, categories=categories)
        p, q = ((float(each.own), float(each.other)) for each in (response, unary))
        rare = [b * (1 - b) / (a - b) ** 2 for a, b in (p, q)]
        assert (rare[0] < rare[1]) is is_few
