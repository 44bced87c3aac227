"""Data that change otherwise than by growing: what a unit moves then, and what late rows count."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.streams.mechanism import Contribution
from discreet.streams.square_root import square_root_coefficients
from discreet.streams.toeplitz import decoding_series, squared_sensitivity
from tests.series.made import FIRST, TICKS, Visit, increments_over, visits

MOST = 3
CELLS = 2
COEFFICIENTS = np.array(square_root_coefficients(TICKS), np.int64)
ALLOWED = MOST**2 * int((COEFFICIENTS.astype(object) ** 2).sum())
"""The square of the sensitivity for rows that are only added."""

Rows = Sequence[tuple[int, int]]
"""Ticks and cells of a unit's rows."""


def first_rows(rows: Rows) -> NDArray[np.int64]:
    """Return what a unit adds at each tick: its first rows."""
    counted = np.zeros((TICKS, CELLS), np.int64)
    for tick, cell in sorted(rows)[:MOST]:
        counted[tick, cell] += 1
    return counted


def squared_shifts(tables: Sequence[Rows]) -> int:
    """Return by how much a unit moves the record, squared, if tick t is released from tables[t]."""
    total = 0
    for tick, rows in enumerate(tables):
        counted = first_rows([each for each in rows if each[0] <= tick])
        moved = COEFFICIENTS[tick::-1] @ counted[: tick + 1]
        total += int((moved.astype(object) ** 2).sum())
    return total


rows = st.lists(st.tuples(st.integers(0, TICKS - 1), st.integers(0, CELLS - 1)), max_size=8)


@settings(max_examples=60)
@given(rows)
def test_a_unit_whose_rows_only_come_moves_the_record_as_charged(unit: Rows) -> None:
    assert squared_shifts([unit] * TICKS) <= ALLOWED


@settings(max_examples=60)
@given(st.lists(rows, min_size=2, max_size=5), st.data())
def test_each_change_of_a_unit_costs_the_series_once_more(
    versions: list[Rows], data: st.DataObject
) -> None:
    changes = sorted(
        data.draw(
            st.lists(st.integers(0, TICKS), min_size=len(versions) - 1, max_size=len(versions) - 1)
        )
    )
    tables = [versions[sum(tick >= each for each in changes)] for tick in range(TICKS)]
    assert squared_shifts(tables) <= len(versions) * ALLOWED


@settings(max_examples=60)
@given(rows, st.integers(0, TICKS))
def test_a_unit_that_is_deleted_costs_nothing_more(unit: Rows, gone: int) -> None:
    assert squared_shifts([unit] * gone + [()] * (TICKS - gone)) <= ALLOWED


@settings(max_examples=100)
@given(rows, st.lists(st.integers(0, TICKS - 1), min_size=8, max_size=8))
def test_late_rows_cost_nothing_more(unit: Rows, late: list[int]) -> None:
    """Also those that push later rows of their unit out."""
    tables = [
        [row for row, by in zip(unit, late, strict=False) if tick >= row[0] + by]
        for tick in range(TICKS)
    ]
    assert squared_shifts(tables) <= ALLOWED


def test_rows_that_change_again_and_again_would_be_noticed() -> None:
    """The twin: a unit that is moved at every tick moves the record by more than was charged."""
    tables = [[(tick, 0)] * MOST for tick in range(TICKS)]
    assert squared_shifts(tables) > 3 * ALLOWED


def test_the_allowed_movement_is_the_one_that_is_charged() -> None:
    limits = Contribution(
        ticks=TICKS, cells=CELLS, rows_per_unit=MOST, rows_per_tick=None, magnitude=1
    )
    assert squared_sensitivity(COEFFICIENTS, limits) == ALLOWED


@pytest.mark.parametrize(
    ("late", "after", "share"),
    [(1, 0, 0.5), (1, 7, 0.8), (1, 30, 0.9), (7, 0, 0.21), (7, 30, 0.72)],
)
def test_late_rows_are_counted_in_part(late: int, after: int, share: float) -> None:
    """The figures of docs/how-to/grow-every-day.md."""
    ticks = 60
    seen = square_root_coefficients(ticks).astype(float) / 2**20
    decoding = decoding_series(seen)
    seen[:late] = 0
    counted = np.convolve(decoding, seen)[late + after]
    assert counted == pytest.approx(share, abs=0.006)


def test_an_engine_follows_deletions_and_the_past_of_others_stays() -> None:
    """A patient is forgotten: later ticks count the others as before."""
    before = visits(300, seed=3, patients=30)
    after = [each for each in before if each.patient != 7]
    (_, (kept, _)), (_, (gone, _)) = (increments_over("duckdb", rows) for rows in (before, after))
    assert 0 < (kept - gone).sum() <= MOST
    assert (kept >= gone).all()


def test_a_correction_by_two_more_rows_is_a_sum_of_both() -> None:
    at = FIRST + timedelta(hours=2)
    wrong = Visit(patient=1, clinic="north", cost=9, arrived=at)
    rows = [wrong, replace(wrong, cost=4, arrived=at + timedelta(days=1))]
    _, (counts, sums) = increments_over("duckdb", rows)
    assert counts[:, 0].sum() == 2
    assert sums[:, 0].sum() > sums[:1, 0].sum() > 0
