"""Every mechanism for streams as a subject: records of whole streams that differ in one unit.

Besides the record, the auditor sees its log-likelihood ratio, which is the strongest statistic.
Each column of a stream with many cells is one run, because its noise is independent.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from discreet.audit.subjects import AuditCase, Outputs, Subject, SubjectKind, subjects_of
from discreet.mechanisms import Geometric
from discreet.noise.uniform import FloatArray, IntArray
from discreet.streams import BufferedStream, BufferedToeplitz, SquareRoot, SubtractionTree, Tree
from discreet.streams.square_root import UNIT_BITS, square_root_coefficients

EPSILONS = (Fraction(1), Fraction(3))

DELTA = Fraction(1, 50)

TICKS = 8

RUNS, FEW = 20_000, 2_000

CELLS = 10**7
"""More than the runs of any audit."""

NOBODY = (0,) * TICKS
FIRST = (1, *NOBODY[1:])
LATER = (0, 0, 0, 1, 0, 0, 0, 0)
THREE_TICKS = (1, 1, 1, *NOBODY[3:])
THREE_ROWS = (3, *NOBODY[1:])

SIZES = np.array([1, 2, 1, 4, 1, 2, 1, 4])
"""How many ticks the node has that a binary tree releases at each tick."""

AnyGaussian = SquareRoot | Tree | BufferedToeplitz

Stream = tuple[int, ...]
"""The increments of one cell."""


def subjects() -> tuple[Subject, ...]:
    """Return every mechanism for streams as a subject."""
    return subjects_of(cases(), SubjectKind.MECHANISM)


def cases() -> Iterator[AuditCase]:
    """Yield every mechanism for streams, with a unit more or less."""
    add = partial(AuditCase, here=NOBODY, there=FIRST, runs=RUNS)
    for epsilon in EPSILONS:
        make: dict[str, Any] = {"ticks": TICKS, "epsilon": epsilon, "cells": CELLS}
        pure, three = Tree(**make, arity=2), {"rows_per_unit": 3, "rows_per_tick": 1}
        yield add(mechanism=pure, draw=_tree, what="without delta")
        yield add(mechanism=pure, draw=_reacting, what="a stream that reacts")
        yield add(mechanism=SubtractionTree(**make, arity=3), draw=_subtracted)
        yield add(
            mechanism=SubtractionTree(**make, arity=3, rows_per_unit=3),
            there=THREE_ROWS,
            draw=_subtracted,
            what="three rows",
        )
        make["delta"] = DELTA
        with_delta = partial(add, draw=_gaussian, delta=DELTA)
        yield with_delta(mechanism=Tree(**make, arity=2), what="with delta")
        yield with_delta(mechanism=SquareRoot(**make))
        yield with_delta(mechanism=SquareRoot(**make), there=LATER, what="a later row")
        reacts = "a stream that reacts"
        yield with_delta(mechanism=SquareRoot(**make), draw=_reacting_root, what=reacts)
        yield with_delta(
            mechanism=SquareRoot(**make, **three), there=THREE_TICKS, what="three rows"
        )
        buffered = BufferedToeplitz(**make, buffers=2)
        yield with_delta(mechanism=buffered, runs=FEW)
        yield with_delta(mechanism=buffered, draw=_stepped, runs=FEW, what="step by step")


def broken_subjects() -> tuple[Subject, ...]:
    """Return streams with mistakes, each of which claims the epsilon of the correct one."""
    make: dict[str, Any] = {"ticks": TICKS, "epsilon": 1, "cells": CELLS}
    root, tree = SquareRoot(**make, delta=DELTA), Tree(**make, arity=2)
    each = Geometric(epsilon=1, sensitivity=1)
    return (
        _broken("a stream with noise for one row of three", root, _gaussian, THREE_TICKS, DELTA),
        _broken("a stream that pays once for a total at each tick", each, _totals, FIRST),
        _broken("a tree with the noise of one node for all", tree, _noise_reused, FIRST),
    )


def _broken(
    name: str, mechanism: Any, draw: Any, there: Stream, delta: Fraction = Fraction(0)
) -> Subject:
    return Subject(
        name=name,
        kind=SubjectKind.MECHANISM,
        epsilon=Fraction(1),
        delta=delta,
        here=lambda count: draw(mechanism, NOBODY, count),
        there=lambda count: draw(mechanism, there, count),
        is_broken=True,
        runs=RUNS,
    )


def _columns(stream: Stream, count: int) -> IntArray:
    return np.tile(np.array(stream)[:, None], (1, count))


def _tree(mechanism: Tree, stream: Stream, count: int) -> Outputs:
    return _with_ratio(mechanism.release(_columns(stream, count)))


def _with_ratio(record: IntArray) -> Outputs:
    """Return a record and Σ |y - 1| - |y| over the nodes that end at ticks 1, 2, 4 and 8.

    These have the first row. The ratio of their likelihoods follows from the sum.
    """
    first = record[[0, 1, 3, 7]]
    return np.column_stack([record.T, (np.abs(first - 1) - np.abs(first)).sum(axis=0)])


def _reacting(mechanism: Tree, stream: Stream, count: int) -> Outputs:
    """Release tick by tick. What arrives next depends on the sign of what was released."""
    increments = _columns(stream, count)
    record = np.zeros((0, count), np.int64)
    for tick in range(TICKS):
        if tick:
            increments[tick] += 5 * np.sign(record[-1])
        record = np.concatenate([record, mechanism.release(increments[: tick + 1], tick)])
    return _with_ratio(record - _reaction(record))


def _reaction(record: IntArray) -> IntArray:
    """Return the part of each node that is a reaction, which follows from the record."""
    steps = np.concatenate([np.zeros((1, record.shape[1]), int), 5 * np.sign(record[:-1])])
    sums = np.concatenate([np.zeros((1, record.shape[1]), int), np.cumsum(steps, axis=0)])
    ends = np.arange(1, TICKS + 1)
    found: IntArray = sums[ends] - sums[ends - SIZES]
    return found


def _subtracted(mechanism: SubtractionTree, stream: Stream, count: int) -> Outputs:
    """Return the record, and the steps of its totals: these are noises of single nodes."""
    record, _ = mechanism.release(_columns(stream, count))
    return np.column_stack([record.T, np.diff(record, axis=0).T])


def _gaussian(mechanism: AnyGaussian, stream: Stream, count: int) -> Outputs:
    return _projected(mechanism, mechanism.release(_columns(stream, count)))


def _reacting_root(mechanism: SquareRoot, stream: Stream, count: int) -> Outputs:
    """Release tick by tick. What arrives next depends on the sign of what was released.

    The part of the record that is a reaction follows from the record, and is taken away.
    """
    reactions = np.zeros((TICKS, count), np.int64)
    record = np.zeros((0, count), np.int64)
    for tick in range(TICKS):
        if tick:
            reactions[tick] = 5 * np.sign(record[-1])
        increments = _columns(stream, count) + reactions
        record = np.concatenate([record, mechanism.release(increments[: tick + 1], tick)])
    c = square_root_coefficients(TICKS)
    rows = [[c[t - s] if s <= t else 0 for s in range(TICKS)] for t in range(TICKS)]
    return _projected(mechanism, record - mechanism.grid.places(np.array(rows) @ reactions))


def _stepped(mechanism: BufferedToeplitz, stream: Stream, count: int) -> Outputs:
    steps = BufferedStream(mechanism, count)
    record = np.array([steps.step(each) for each in _columns(stream, count)])
    return _projected(mechanism, record)


def _projected(mechanism: AnyGaussian, record: IntArray) -> Outputs:
    """Return a record in deviations of its noise, and along what a row in the first tick adds.

    If a unit has three rows, they are in the first three ticks.
    """
    (event,) = mechanism.concentrated_events
    scaled = record.T / sqrt(event.variance)  # type: ignore[attr-defined]
    rows = THREE_TICKS if mechanism.rows_per_unit == 3 else FIRST
    return np.column_stack([scaled, scaled @ _moved(mechanism, rows)])


def _moved(mechanism: AnyGaussian, rows: Stream) -> FloatArray:
    """Return what rows add to a record, from the part of it that does not vary, about."""
    c = np.zeros(TICKS)
    if isinstance(mechanism, Tree):
        c[[0, 1, 3, 7]] = 1
        return c
    if isinstance(mechanism, SquareRoot):
        c = square_root_coefficients(TICKS) / 2.0**UNIT_BITS
    else:
        c[0] = 1
        for decay, weight in zip(mechanism.decays, mechanism.weights, strict=True):
            c[1:] += float(weight) * float(decay) ** np.arange(TICKS - 1)
    return np.convolve(rows, c)[:TICKS]


def _totals(mechanism: Geometric, stream: Stream, count: int) -> Outputs:
    totals = np.cumsum(_columns(stream, count), axis=0)
    record = mechanism.release(totals)
    return np.column_stack([record.T, (np.abs(record - 1) - np.abs(record)).sum(axis=0)])


def _noise_reused(mechanism: Tree, stream: Stream, count: int) -> Outputs:
    """Add one noise to all nodes. Their sums are what a tree without noise would have."""
    increments = _columns(stream, count)
    noise = mechanism.release(np.zeros((1, count), np.int64))
    totals = np.concatenate([np.zeros((1, count), int), np.cumsum(increments, axis=0)])
    ends = np.arange(1, TICKS + 1)
    record: IntArray = totals[ends] - totals[ends - SIZES] + noise
    return record.T
