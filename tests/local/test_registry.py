"""Mechanisms as JSON, and which frequency oracle is chosen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError, ReportError
from discreet.local import (
    BitFlips,
    CountMeanSketch,
    Discovery,
    Duchi,
    HadamardResponse,
    HadamardSketch,
    HeavyHitters,
    Hybrid,
    KaryResponse,
    LocalHashing,
    Mechanism,
    Piecewise,
    Rappor,
    SquareWave,
    SubsetSelection,
    UnaryEncoding,
    choose,
    fingerprint,
    mechanism_from_json,
    mechanism_to_json,
    standard_error,
)
from discreet.local.registry import KINDS, SLACK

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
        "LocalHashing(epsilon=1, categories=100): at epsilon = 1 its standard error is 0.19% of "
        "1,000,000 people, at most 1.5% above that of SubsetSelection, and its reports take "
        "10 bits instead of 100."
    )
    assert choose(1, 2, N).why.endswith("the smallest of all, with reports of 1 bit.")


def test_reports_may_be_bounded_in_length() -> None:
    assert isinstance(choose(1, 100, N, most_bits=8).mechanism, HadamardResponse)
    with pytest.raises(ParameterError, match="most_bits must be 7 or more"):
        choose(1, 100, N, most_bits=6)


def test_the_published_order_of_variances_holds() -> None:
    """Wang et al. 2017, Table 2: k-ary response wins below k = 3 e^epsilon + 2, OUE above."""
    for categories, is_few in ((9, True), (11, False)):
        response = KaryResponse(epsilon=1, categories=categories)
        unary = UnaryEncoding.optimized(epsilon=1, categories=categories)
        p, q = ((float(each.p), float(each.q)) for each in (response, unary))
        rare = [b * (1 - b) / (a - b) ** 2 for a, b in (p, q)]
        assert (rare[0] < rare[1]) is is_few


EVERY: list[Mechanism] = [
    KaryResponse(epsilon=1, categories=4),
    UnaryEncoding(epsilon=0.1, categories=5, form="symmetric"),
    SubsetSelection(epsilon=1, categories=9),
    LocalHashing(epsilon=1, categories=9),
    HadamardResponse(epsilon=1, categories=9),
    Duchi(epsilon=1, bounds=(0, 0.1)),
    Piecewise(epsilon=1),
    Hybrid(epsilon=1),
    SquareWave(epsilon=1),
    CountMeanSketch(epsilon=1),
    HadamardSketch(epsilon=1),
    HeavyHitters(epsilon=1),
    Rappor(f=0.3),
    Discovery(Rappor(f=0.3), length=4),
    BitFlips(epsilon=1, buckets=4),
]


@pytest.mark.parametrize("mechanism", EVERY, ids=lambda each: each.tag)
def test_every_mechanism_is_written_and_read_exactly(mechanism: Mechanism) -> None:
    again = mechanism_from_json(mechanism_to_json(mechanism))
    assert again == mechanism
    assert fingerprint(again) == fingerprint(mechanism)
    assert "Fraction" not in repr(mechanism)


def test_no_kind_of_mechanism_is_forgotten() -> None:
    assert {each.tag for each in EVERY} == set(KINDS)

    class Unknown(KaryResponse):
        tag = "unknown/1"

    with pytest.raises(ReportError, match="cannot be written as JSON"):
        mechanism_to_json(Unknown(epsilon=1, categories=2))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"mechanism": "spell/1"}',
        '{"mechanism": "kary-response/1", "epsilon": 1}',
        '{"mechanism": "kary-response/1", "epsilon": {"exact": "1/0"}, "categories": 2}',
        '{"mechanism": "kary-response/1", "epsilon": -1, "categories": 2}',
        '{"mechanism": "kary-response/1", "epsilon": 1, "categories": 2, "x": 1}',
        '{"mechanism": "kary-response/1", "epsilon": {"exact": "1e99999999"}, "categories": 2}',
        '{"mechanism": "kary-response/1", "epsilon": {"exact": 1}, "categories": 2}',
        '{"mechanism": ["kary-response/1"], "epsilon": 1, "categories": 2}',
        '{"mechanism": "rappor-discovery/1", "rappor": 1}',
        "[" * 100_000,
    ],
    ids=lambda text: text[:60],
)
def test_what_describes_no_mechanism_is_refused(text: str) -> None:
    with pytest.raises(ReportError, match="does not describe a mechanism"):
        mechanism_from_json(text)


def test_a_description_that_says_something_twice_is_refused() -> None:
    """Which of the two is meant is left open, and readers differ."""
    mechanism = KaryResponse(epsilon=1, categories=4)
    text = mechanism_to_json(mechanism)
    assert mechanism_from_json(text) == mechanism
    twice = text.replace('"categories": 4', '"categories": 4, "categories": 2')
    assert twice != text
    with pytest.raises(ReportError, match="does not describe a mechanism"):
        mechanism_from_json(twice)
    nested = mechanism_to_json(Discovery(Rappor())).replace(
        '"cohorts": 64', '"cohorts": 1, "cohorts": 64'
    )
    with pytest.raises(ReportError, match="does not describe a mechanism"):
        mechanism_from_json(nested)
