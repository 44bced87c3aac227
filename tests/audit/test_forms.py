"""Outputs of every form are told apart where they differ, and nothing is found where not."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.audit import audit_outputs, event_search
from discreet.audit.event_search import learnt_binnings
from discreet.audit.features import Absent, output_table
from discreet.errors import ParameterError
from discreet.mechanisms import Geometric

RUNS = 400


@dataclass(frozen=True)
class Told:
    """An output with names."""

    what: str
    numbers: tuple[float, ...]


PAIRS: dict[str, tuple[Any, Any]] = {
    "whole numbers": (0, 1),
    "huge whole numbers": (10**400, -(10**400)),
    "whole numbers beyond 64 bits": (2**64, 2**65),
    "truth values": (True, False),
    "reals": (0.5, 0.25),
    "infinities": (inf, -inf),
    "NaN": (nan, 1.0),
    "NaN that signals": (Decimal("sNaN"), 1.0),
    "fractions and decimals": (Fraction(1, 3), Decimal("0.5")),
    "texts": ("yes", "no"),
    "bytes": (b"yes", b"no"),
    "None": (None, 0),
    "lengths": ((1, 1), (1, 1, 1)),
    "nothing": ((), (0,)),
    "places of None": ((1.0, None), (None, 1.0)),
    "tuples": (("a", 1.0, None), ("a", 2.0, None)),
    "keys": ((("north", 3), ("south", 4)), (("north", 3), ("east", 4))),
    "rows in another order": ((("a", 1), ("b", 1)), (("b", 1), ("a", 1))),
    "tables": ((("north", 3, 1.5),), (("north", 3, 1.75),)),
    "dictionaries": ({"a": 1}, {"b": 1}),
    "values of dictionaries": ({"a": {"b": 1}}, {"a": {"b": 2}}),
    "dataclasses": (Told("x", (1.0,)), Told("x", (2.0,))),
    "NumPy's numbers": (np.float64(1.5), np.int64(2)),
    "types": (Told, int),
    "frames": (pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [2]})),
    "arrays in a list": (np.array([1, 2]), np.array([2, 1])),
}


@pytest.mark.parametrize(("here", "there"), PAIRS.values(), ids=PAIRS)
def test_different_outputs_are_told_apart(here: Any, there: Any) -> None:
    found = audit_outputs([here] * RUNS, [there] * RUNS, confidence=0.999)
    assert found.measured > 2
    assert {found.here.share, found.there.share} == {0, 1}
    assert len(found.event) < 300


@pytest.mark.parametrize(("here", "there"), PAIRS.values(), ids=PAIRS)
def test_mixed_outputs_of_the_same_law_are_not(here: Any, there: Any) -> None:
    outputs = [here, there] * (RUNS // 2)
    found = audit_outputs(outputs, outputs, confidence=0.999)
    assert found.measured == 0
    assert found.here == found.there


@pytest.mark.parametrize(
    "make",
    [
        lambda value: np.full(RUNS, value),
        lambda value: np.full((RUNS, 3), value, np.uint8),
        lambda value: np.full((RUNS, 2, 2), value / 4),
        lambda value: np.full((RUNS, 400), value, np.bool_),
        lambda value: np.full(RUNS, f"text {value}"),
        lambda value: np.array([None, "x"], object)[np.full(RUNS, value)],
    ],
)
def test_arrays_are_told_apart(make: Callable[[int], Any]) -> None:
    assert audit_outputs(make(0), make(1), confidence=0.999).measured > 2
    assert audit_outputs(make(1), make(1), confidence=0.999).measured == 0


COINS = np.array([[0, 1], [1, 0]] * (RUNS // 2))
OF_OTHER_TYPES: dict[str, tuple[Any, Any]] = {
    "texts of other widths": (COINS.astype("U1"), COINS.astype("U20")),
    "bytes of other widths": (COINS.astype("S1"), COINS.astype("S20")),
    "smaller numbers": (COINS.astype(np.int8), COINS),
    "reals among whole numbers": (COINS, COINS.astype(np.float64)),
}


@pytest.mark.parametrize(("here", "there"), OF_OTHER_TYPES.values(), ids=OF_OTHER_TYPES)
def test_arrays_of_other_types_are_not_told_apart_by_their_types(
    here: Any, there: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One long text makes all others of its array wider; the twin takes that for a difference."""
    assert audit_outputs(here, there, confidence=0.999).measured == 0
    monkeypatch.setattr(event_search, "alike", lambda *sides: sides)
    assert audit_outputs(here, there, confidence=0.999).measured > 2


def test_arrays_that_have_no_type_in_common_are_told_apart() -> None:
    days = np.full(RUNS, "2024-01-01", "M8[D]")
    assert audit_outputs(days, np.zeros(RUNS), confidence=0.999).measured > 2


def test_an_output_without_a_place_is_absent_there() -> None:
    columns = output_table([{"a": 1}, {"b": "x"}])
    assert columns.column(("a",)) == [1, Absent.ABSENT]
    assert columns.column(("b",)) == [Absent.ABSENT, "x"]
    assert columns.column(("c",)) == [Absent.ABSENT] * 2


def test_a_difference_in_one_of_many_places_is_found() -> None:
    noise = Geometric(epsilon=4, sensitivity=1)
    moved = np.zeros((4_000, 40), np.int64)
    moved[:, 17] = 1
    found = audit_outputs(noise.release(np.zeros_like(moved)), noise.release(moved), epsilon=1)
    assert found.is_violated
    assert "number 18" in found.event


def test_what_only_the_last_bits_tell_is_found() -> None:
    """Sums of powers of two lie on different grids, whatever their size."""
    size = Geometric(epsilon=0.001, sensitivity=1).release(np.zeros(4_000, np.int64))
    found = audit_outputs(size * 0.5, size * 0.5 + 0.25, epsilon=1)
    assert found.is_violated
    even = audit_outputs(size * 2, size * 2 + 1, epsilon=1)
    assert even.is_violated


def test_what_only_all_places_together_tell_is_found() -> None:
    """Each of two coins is fair, and they are equal on one side only."""
    coin = np.array([0, 1] * 1_000)
    equal, other = np.column_stack([coin, coin]), np.column_stack([coin, 1 - coin])
    assert audit_outputs(equal, other, epsilon=1).is_violated


leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-3, 3),
    st.floats(),
    st.sampled_from([0.5, 0.1, 2.0]),
    st.sampled_from(["a", "b"]),
)
outputs = st.one_of(
    leaves, st.lists(leaves, max_size=3).map(tuple), st.tuples(st.just("k"), leaves)
)


@given(st.lists(outputs, min_size=8, max_size=16), st.lists(outputs, min_size=1, max_size=6))
def test_the_case_of_an_output_follows_from_that_output_alone(
    learnt: list[Any], judged: list[Any]
) -> None:
    """So counts of an event are those of independent runs, whatever came out beside them."""
    half = len(learnt) // 2
    here, there = output_table(learnt[:half]), output_table(learnt[half:])
    places = {**here.columns, **there.columns}.keys()
    for coding in learnt_binnings(here, there):
        together = coding.code(output_table(judged, places)).tolist()
        alone = [int(coding.code(output_table([each], places))[0]) for each in judged]
        assert together == alone, coding.name
        assert all(0 <= case < coding.size for case in together)


def test_outputs_of_no_numbers_are_all_alike() -> None:
    found = audit_outputs(np.zeros((RUNS, 0)), np.zeros((RUNS, 0)), epsilon=1)
    assert found.measured == 0


@pytest.mark.parametrize("outputs", [5, np.array(5), iter([1] * RUNS)])
def test_what_is_no_list_is_refused_by_name(outputs: Any) -> None:
    with pytest.raises(ParameterError, match="outputs must be a list or an array"):
        audit_outputs(outputs, outputs)


def test_an_epsilon_that_no_float_holds_is_refused_by_name() -> None:
    with pytest.raises(ParameterError, match="epsilon must be"):
        audit_outputs([0] * RUNS, [1] * RUNS, epsilon=10**400)
