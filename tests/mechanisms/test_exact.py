"""Exact answers of every kind: placed without rounding, refused by type, never shown."""

from collections import UserList, deque
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.errors import HIDDEN, ParameterError
from discreet.mechanisms import (
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    NoisyMax,
    NoisyTop,
    PermuteAndFlip,
    RandomizedResponse,
    Sparse,
    Staircase,
)
from discreet.mechanisms.exact import CLOSEST, FARTHEST, Grid, exact_integers, noisy_sum
from discreet.noise.laplace import LARGEST
from discreet.noise.source import SYSTEM
from tests.mechanisms.checks import l1, told_by
from tests.mechanisms.examples import Maker, made
from tests.replay import ReplayableEntropy

SECRET = 987654321.5
TOLD = "987654321"

steps = st.integers(min_value=-40, max_value=70).map(lambda exponent: Fraction(2) ** exponent)
int64s = st.integers(min_value=-(2**63), max_value=2**63 - 1)
uint64s = st.integers(min_value=0, max_value=2**64 - 1)


# --------------------------------------------------------------------------- placed exactly


def clamped_place(exact: Fraction | int, step: Fraction) -> int:
    return int(max(-FARTHEST, min(FARTHEST, exact // step)))


@given(steps, st.lists(int64s, min_size=1, max_size=5))
def test_whole_arrays_are_placed_like_single_numbers(step: Fraction, exact: list[int]) -> None:
    places = Grid(step).places(np.array(exact, np.int64))
    assert places.tolist() == [clamped_place(each, step) for each in exact]


@given(steps, st.lists(uint64s, min_size=1, max_size=5))
def test_unsigned_arrays_are_placed_like_single_numbers(step: Fraction, exact: list[int]) -> None:
    places = Grid(step).places(np.array(exact, np.uint64))
    assert places.tolist() == [clamped_place(each, step) for each in exact]


@given(
    steps,
    st.lists(st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: abs(x) > 1e-280)),
)
def test_float_arrays_are_placed_like_single_numbers(step: Fraction, exact: list[float]) -> None:
    places = Grid(step).places(np.array(exact, float))
    assert places.tolist() == [clamped_place(Fraction(each), step) for each in exact]


@given(steps, st.lists(st.one_of(int64s, st.integers(), st.floats(-1e9, 1e9)), min_size=1))
def test_lists_are_placed_like_single_numbers(step: Fraction, exact: list[float]) -> None:
    """NumPy makes doubles of ints and floats in one list, and rounds; lists must not."""
    places = Grid(step).places(exact)
    assert places.tolist() == [clamped_place(Fraction(each), step) for each in exact]


@given(int64s.filter(lambda x: x < 2**63 - 1))
def test_neighbours_one_apart_stay_within_the_sensitivity_however_large(exact: int) -> None:
    """Doubles round beyond 2**53, which once set such neighbours 1024 apart."""
    mechanism = Laplace(epsilon=1, sensitivity=1, answers=2)
    grid = Grid(mechanism.step)
    here, there = np.array([exact, 0]), np.array([exact + 1, 0])
    assert l1(grid.places(here), grid.places(there)) <= mechanism.event.sensitivity
    scores = Exponential(epsilon=1, sensitivity=1)
    apart = l1(scores.grid.places(here), scores.grid.places(there))
    assert apart <= 1 / (2 * scores.rate_in_steps)


def test_neighbours_one_apart_are_far_apart_as_doubles() -> None:
    """The broken twin of the test above: what a cast to float64 does."""
    assert np.diff(np.array([2**60 + 128, 2**60 + 129]).astype(np.float64)).tolist() == [256]


def test_wide_floats_are_not_rounded_first() -> None:
    wide = np.longdouble(2) ** 60 + 1
    if wide == np.longdouble(2) ** 60:
        pytest.skip("long double is a double here")
    grid = Grid(Fraction(1))
    assert grid.places(np.array([wide])).tolist() == [2**60 + 1]
    assert grid.place(wide) == 2**60 + 1


# --------------------------------------------------------------------------- shapes and kinds

ADDITIVE = pytest.mark.parametrize(
    "mechanism",
    [
        Geometric(epsilon=1, sensitivity=1),
        Laplace(epsilon=1, sensitivity=1, answers=12),
        Gaussian(epsilon=1, delta=1e-6, sensitivity=1, answers=12),
        Geometric(epsilon=1, sensitivity=1).truncated(-100, 100),
        Laplace(epsilon=1, sensitivity=1, answers=12).truncated(-100, 100),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
KINDS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


@ADDITIVE
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_whole_arrays_of_every_width_keep_their_shape(mechanism: Any, kind: type) -> None:
    exact: NDArray[Any] = np.arange(12, dtype=kind).reshape(3, 4)
    noisy = mechanism.release(exact, entropy=ReplayableEntropy(seed=181))
    assert noisy.shape == (3, 4)
    is_real = isinstance(getattr(mechanism, "mechanism", mechanism), Laplace)
    assert noisy.dtype == (np.float64 if is_real else np.int64)
    assert exact.tolist() == np.arange(12).reshape(3, 4).tolist(), "the exact answers were changed"


@ADDITIVE
@pytest.mark.parametrize("exact", [[], (), np.array([], np.int64), np.zeros((0, 3), np.int32)])
def test_nothing_is_answered_with_nothing(mechanism: Any, exact: Any) -> None:
    noisy = mechanism.release(exact, entropy=ReplayableEntropy(seed=182))
    assert noisy.shape == np.shape(exact)


@ADDITIVE
@pytest.mark.parametrize("exact", [[1, 2, 3], (1, 2, 3), [[1, 2], [3, 4]], np.array([5], np.int32)])
def test_lists_and_tuples_are_answered_with_arrays(mechanism: Any, exact: Any) -> None:
    noisy = mechanism.release(exact, entropy=ReplayableEntropy(seed=183))
    assert isinstance(noisy, np.ndarray)
    assert noisy.shape == np.shape(exact)


@pytest.mark.parametrize("exact", [3, np.int64(3), np.uint8(3), np.array(3)], ids=repr)
def test_single_whole_numbers_stay_whole(exact: Any) -> None:
    entropy = ReplayableEntropy(seed=184)
    for mechanism in (made(Geometric), made(Gaussian), made(Geometric).truncated(0, 9)):
        assert type(mechanism.release(exact, entropy=entropy)) is int
    for mechanism in (made(Laplace), made(Staircase), made(Laplace).truncated(0, 9)):
        assert type(mechanism.release(exact, entropy=entropy)) is float


@pytest.mark.parametrize("exact", [0.5, np.float32(0.5), np.float64(0.5), Fraction(1, 2)], ids=repr)
def test_single_reals_stay_real(exact: Any) -> None:
    entropy = ReplayableEntropy(seed=185)
    for maker in (Laplace, Gaussian, Staircase):
        assert type(made(maker).release(exact, entropy=entropy)) is float


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble])
def test_floats_of_every_width_are_answered(kind: type) -> None:
    for mechanism in (made(Laplace, answers=2), made(Gaussian, answers=2)):
        noisy = mechanism.release(np.array([0.5, -2], kind), entropy=ReplayableEntropy(seed=186))
        assert noisy.dtype == np.float64


@pytest.mark.parametrize("exact", [10**30, -(10**30), 2**64, 10**400])
def test_huge_whole_numbers_are_answered_exactly(exact: int) -> None:
    entropy = ReplayableEntropy(seed=187)
    for maker in (Geometric, Gaussian):
        assert abs(made(maker).release(exact, entropy=entropy) - exact) < 1000


@pytest.mark.parametrize("exact", [10**400, -(10**400), 1.7e308, -1.7e308])
def test_reals_beyond_all_floats_are_moved_and_never_refused(exact: float) -> None:
    """What is refused or warned of must not depend on how large the answer is."""
    noisy = made(Laplace).release(exact, entropy=ReplayableEntropy(seed=188))
    assert np.isfinite(noisy)
    assert (noisy > 0) is (exact > 0)


@pytest.mark.parametrize(
    "exact", [[2**63, -1], [10**30, -1], [2**64, 0], [-(2**63), 2**63]], ids=repr
)
def test_lists_of_ints_are_served_however_large_these_are(exact: list[int]) -> None:
    entropy = ReplayableEntropy(seed=189)
    for mechanism in (made(Geometric), made(Gaussian, answers=2)):
        noisy = mechanism.release(exact, entropy=entropy)
        assert noisy.dtype == np.int64
        assert [value > 2**30 for value in noisy.tolist()] == [each > 2**30 for each in exact]
    assert exact_integers(exact).tolist() == [max(-FARTHEST, min(FARTHEST, x)) for x in exact]


def test_arrays_at_the_ends_of_64_bits_are_moved_inside() -> None:
    entropy = ReplayableEntropy(seed=190)
    for exact in (
        np.array([2**64 - 1, 0], np.uint64),
        np.array([2**63 - 1, -(2**63)]),
        np.array([1.7e308, -1.7e308]),
    ):
        for mechanism in (made(Laplace, answers=2), made(Gaussian, answers=2)):
            assert np.all(np.isfinite(mechanism.release(exact, entropy=entropy)))
    noisy = made(Geometric).release(np.array([2**64 - 1], np.uint64), entropy=entropy)
    assert 2**60 < noisy[0] < 2**62


@pytest.mark.parametrize("maker", [Geometric, Laplace, Gaussian, Staircase])
def test_the_same_bytes_give_the_same_answer(maker: Maker) -> None:
    first, second, other = (
        [made(maker).release(5, entropy=entropy) for _ in range(20)]
        for entropy in (ReplayableEntropy(seed=1), ReplayableEntropy(seed=1), SYSTEM)
    )
    assert first == second != other


def test_more_answers_than_were_paid_for_are_refused() -> None:
    for mechanism in (made(Laplace, answers=2), made(Gaussian, answers=2)):
        with pytest.raises(ParameterError, match="answers must be 3 or more for 3") as caught:
            mechanism.release(np.zeros(3))
        named = type(mechanism).__name__
        assert f"write {named}(..., answers=3), but 2 was given." in str(caught.value)


# --------------------------------------------------------------------------- refused, never shown

NO_ANSWER: list[Any] = [
    float("nan"),
    float("inf"),
    None,
    f"{SECRET}",
    [f"{SECRET}"],
    [SECRET, None],
    [[SECRET], [SECRET, SECRET]],
    [SECRET, float("nan")],
    np.array([SECRET, np.inf]),
    np.array([SECRET], dtype=object),
    np.array([int(SECRET)], dtype=object),
    np.array([SECRET], dtype=complex),
    complex(SECRET),
    {SECRET: SECRET},
    {SECRET},
    True,
    np.array([True, False]),
    np.array(["987654321"]),
    np.array([987654321], "datetime64[s]"),
    b"987654321",
]

RELEASES: list[Callable[[Any], object]] = [
    made(Geometric).release,
    made(Geometric).distribution,
    made(Geometric).truncated(0, 9).release,
    made(Laplace, answers=9).release,
    made(Laplace).distribution,
    made(Gaussian, answers=9).release,
    made(Gaussian).distribution,
    made(Staircase).release,
    Sparse(epsilon=1, sensitivity=1, threshold=0).start().ask,
    Sparse(epsilon=1, sensitivity=1, threshold=0).distribution,
    made(Exponential).release,
    made(PermuteAndFlip).release,
    made(NoisyMax).release,
    made(NoisyTop).release,
]


@pytest.mark.parametrize("exact", NO_ANSWER, ids=lambda exact: type(exact).__name__)
@pytest.mark.parametrize("release", RELEASES, ids=lambda each: each.__qualname__)
def test_what_is_no_answer_is_refused_and_never_shown(
    release: Callable[[Any], object], exact: Any
) -> None:
    with pytest.raises(ParameterError, match="must be") as caught:
        release(exact)
    assert TOLD not in told_by(caught.value)


@pytest.mark.parametrize(
    "exact", [SECRET, [SECRET], np.array([SECRET]), np.float64(SECRET), Fraction(str(SECRET))]
)
def test_reals_are_refused_where_whole_numbers_are_due_and_never_shown(exact: Any) -> None:
    for release in (
        made(Geometric).release,
        made(Geometric).truncated(0, 9).release,
        RandomizedResponse(epsilon=1, categories=3).release,
        RandomizedResponse(epsilon=1, categories=3).estimate,
    ):
        with pytest.raises(ParameterError, match="must be") as caught:
            release(exact)
        assert TOLD not in told_by(caught.value)


def test_an_error_that_shows_the_answer_would_be_noticed() -> None:
    """The broken twin: an answer that only an error's context shows."""

    def telling() -> None:
        try:
            float(f"{SECRET} and more")
        except ValueError:
            raise ParameterError("exact", HIDDEN, "must be a number") from None

    with pytest.raises(ParameterError, match="exact must be a number") as caught:
        telling()
    assert TOLD in told_by(caught.value)


@pytest.mark.parametrize("kind", [list, tuple, deque, UserList])
def test_numbers_of_two_kinds_are_placed_unrounded_whatever_holds_them(
    kind: Callable[[list[float]], Any],
) -> None:
    places = Grid(Fraction(1)).places(kind([2**53 + 1, 0.5]))
    assert places.tolist() == [2**53 + 1, 0]


def test_unsigned_numbers_below_one_wide_step_are_placed_at_zero() -> None:
    numbers = np.array([2**64 - 1, 2**63, 0], np.uint64)
    assert Grid(Fraction(2**64)).places(numbers).tolist() == [0, 0, 0]
    assert Grid(Fraction(2**63)).places(numbers).tolist() == [1, 1, 0]


@given(
    st.integers(-FARTHEST, FARTHEST),
    st.integers(1, 1 << 70).map(lambda beyond: LARGEST + beyond),
    st.sampled_from([-1, 1]),
    st.integers(0, 1 << 32),
)
def test_an_answer_is_a_function_of_exact_and_uncut_noise(
    exact: int, far: int, sign: int, block: int
) -> None:
    """Noise beyond 64 bits is cut to within 2^32 of the end; that must not show in the answer."""
    uncut = sign * far
    cut = np.array([sign * (LARGEST - block)], np.int64)
    released = noisy_sum(np.array([exact], np.int64), cut)
    assert released.tolist() == [max(-CLOSEST, min(CLOSEST, exact + uncut))]


def test_an_answer_that_is_not_moved_to_the_end_would_tell_the_exact_one() -> None:
    """The broken twin adds cut noise without moving the sum: neighbours then differ for certain."""
    cut = np.array([LARGEST], np.int64)
    here, there = np.array([7], np.int64), np.array([8], np.int64)
    assert (here + cut).tolist() != (there + cut).tolist()
    assert noisy_sum(here, cut).tolist() == noisy_sum(there, cut).tolist()
