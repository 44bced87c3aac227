"""Sensitivities against brute force: every small data set, both neighbour relations."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.mechanisms import (
    ADD_REMOVE,
    REPLACE,
    Neighbours,
    Sensitivity,
    bounded_mean,
    bounded_sum,
    counting_queries,
    counting_query,
    histogram,
    maximum,
    percentage,
)
from discreet.mechanisms.sensitivity import root_up
from tests.mechanisms.strategies import sensitivities

Data = tuple[int, ...]
Query = Callable[[Data], Sequence[Fraction | int]]
both = pytest.mark.parametrize("neighbours", list(Neighbours), ids=lambda each: each.value)


def pairs(
    values: Sequence[int], neighbours: Neighbours, *, least: int
) -> Iterator[tuple[Data, Data]]:
    """List neighbouring data sets of at least so many units, and up to two more."""
    for size in range(least, least + 3):
        for rest in combinations_with_replacement(values, size):
            if neighbours is ADD_REMOVE:
                yield from ((rest, (*rest, value)) for value in values)
            elif rest:
                yield from ((rest, (*rest[1:], value)) for value in values)
                yield from ((rest, (*rest[:-1], value)) for value in values)


def found(
    query: Query, values: Sequence[int], neighbours: Neighbours, least: int = 0
) -> tuple[Fraction, Fraction, Fraction]:
    """Return the farthest that neighbours are apart: L1, L2 squared, L∞."""
    moves = [
        [abs(Fraction(x) - y) for x, y in zip(query(here), query(there), strict=True)]
        for here, there in pairs(values, neighbours, least=least)
    ]
    return (
        max(sum(each, Fraction(0)) for each in moves),
        max(sum((x**2 for x in each), Fraction(0)) for each in moves),
        max(max(each) for each in moves),
    )


def norms(sensitivity: Sensitivity) -> tuple[Fraction, Fraction, Fraction]:
    return sensitivity.l1, sensitivity.l2_squared, sensitivity.linf


@both
def test_a_count_moves_by_one(neighbours: Neighbours) -> None:
    def count(data: Data) -> list[int]:
        return [sum(value > 1 for value in data)]

    assert found(count, [0, 1, 2], neighbours) == norms(counting_query(neighbours))


@both
def test_several_counts_move_together(neighbours: Neighbours) -> None:
    def counts(data: Data) -> list[int]:
        return [sum(value > limit for value in data) for limit in (0, 1, 2)]

    assert found(counts, [0, 1, 3], neighbours) == norms(counting_queries(3, neighbours))


@both
def test_a_histogram_moves_by_one_or_two(neighbours: Neighbours) -> None:
    def cells(data: Data) -> list[int]:
        return [data.count(value) for value in (0, 1, 2)]

    assert found(cells, [0, 1, 2], neighbours) == norms(histogram(neighbours))
    assert histogram(REPLACE).l1 == 2 * histogram(ADD_REMOVE).l1


@both
@pytest.mark.parametrize(("low", "high"), [(0, 4), (-3, 2), (-5, -1), (2, 7)])
def test_a_sum_moves_as_far_as_its_bounds_let_it(
    low: int, high: int, neighbours: Neighbours
) -> None:
    def total(data: Data) -> list[int]:
        return [sum(data)]

    values = range(low, high + 1)
    assert found(total, values, neighbours) == norms(bounded_sum(low, high, neighbours))


@both
@pytest.mark.parametrize("least", [1, 2, 4])
def test_a_mean_of_enough_units_moves_little(least: int, neighbours: Neighbours) -> None:
    def mean(data: Data) -> list[Fraction]:
        return [Fraction(sum(data), len(data))]

    stated = bounded_mean(-2, 6, least=least, neighbours=neighbours)
    assert found(mean, [-2, 1, 6], neighbours, least) == norms(stated)


@both
def test_a_mean_of_any_number_of_units_may_cross_its_range(neighbours: Neighbours) -> None:
    """The mean of nobody is a number of the range, as an engine would have to choose one."""

    def mean(data: Data) -> list[Fraction]:
        return [Fraction(sum(data), len(data)) if data else Fraction(-2)]

    stated = bounded_mean(-2, 6, neighbours=neighbours)
    assert found(mean, [-2, 1, 6], neighbours) == norms(stated)


@both
@pytest.mark.parametrize("least", [1, 3])
def test_a_percentage_moves_in_percentage_points(least: int, neighbours: Neighbours) -> None:
    def share(data: Data) -> list[Fraction]:
        return [Fraction(100 * sum(value > 0 for value in data), len(data))]

    stated = percentage(least=least, neighbours=neighbours)
    assert found(share, [0, 1], neighbours, least) == norms(stated)


@both
@pytest.mark.parametrize("query", [max, min, lambda data: sorted(data)[len(data) // 2]])
def test_a_largest_smallest_or_middle_value_may_cross_its_range(
    query: Callable[[Data], int], neighbours: Neighbours
) -> None:
    stated = maximum(-1, 5, neighbours)
    assert found(lambda data: [query(data)], [-1, 2, 5], neighbours, 1) == norms(stated)


@given(sensitivities)
def test_roots_are_rounded_up_and_by_little(square: Fraction) -> None:
    root = root_up(square)
    assert square <= root**2 <= square * (1 + Fraction(1, 2**58))


@given(st.integers(min_value=1, max_value=10**9), st.integers(min_value=1, max_value=10**9))
def test_roots_of_squares_that_floats_hold_are_exact(root: int, shift: int) -> None:
    square = Fraction(root**2, 1 << 2 * (shift % 32))
    assert root_up(square) ** 2 == square


def test_the_l2_norm_is_the_root_of_its_square() -> None:
    assert histogram(REPLACE).l2 == pytest.approx(2**0.5)
