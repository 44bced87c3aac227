"""The cells that rows add to, and how far neighbours move them."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from discreet.mechanisms.sensitivity import ADD_REMOVE, Neighbours
from discreet.query.plan.components import Components
from tests.query.evaluate import sums_of


def cells_of(measure: Components, rows: Sequence[dict[str, Any]]) -> list[int]:
    sums = sums_of(measure.sums, rows)
    return [sum(a * b for a, b in zip(row, sums, strict=True)) for row in measure.cells]


def differences(
    vectors: list[tuple[int, ...]], neighbours: Neighbours
) -> Iterator[tuple[int, ...]]:
    if neighbours is ADD_REMOVE:
        yield from vectors
        return
    for p, q in product(vectors, vectors):
        yield tuple(a - b for a, b in zip(p, q, strict=True))
