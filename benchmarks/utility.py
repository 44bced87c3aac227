"""Optimal mechanisms: CPU seconds and certified gaps, next to a plain linprog and to qif."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import exp, isinf
from typing import TypeAlias

import numpy as np
from scipy.optimize import linprog

from benchmarks.environments import NUMPY, Peer, PeerError, lines_from_peer
from benchmarks.report import Figure, Report, Say, Table, Target
from benchmarks.utility_cases import (
    DISTANCE,
    EPSILON,
    LOSSES,
    OTHER_SIZE,
    SIZES,
    Chances,
    Solved,
    cases,
    solved,
    solved_from,
)
from discreet.utility import Method, Optimum, optimal_mechanism, path, uniform
from discreet.utility.priors import AnyGain

Optima: TypeAlias = dict[tuple[str, int], Optimum]
"""By loss and size."""

QIF = Peer(name="qif", requirement="qif==1.6.0", module="benchmarks.peers.qif", besides=(NUMPY,))

DENSE_MOST = 50
"""At n = 100 the dense matrix of constraints would fill 1.6 GB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One way to the optimum; `trouble` says why some sizes are missing."""

    name: str
    found: dict[tuple[str, int], Solved] = field(default_factory=dict)
    trouble: str | None = None


def run(say: Say) -> Report:
    """Time ourselves, a plain linprog, and qif in its own environment."""
    optima: Optima = {}
    ours = [_own(method, optima, say) for method in (Method.LINEAR_PROGRAM, Method.CLOSED_FORM)]
    dense = Column(name="linprog, dense")
    for size in SIZES:
        if size <= DENSE_MOST:
            say(f"linprog, n = {size}")
            dense.found[DISTANCE, size] = solved(DISTANCE, size, partial(_dense, size))
    columns = [*ours, dense, _peer(say)]
    return Report(
        name="utility",
        tables=[
            _seconds(columns),
            _results(columns),
            _others([columns[0], columns[-1]]),
            _gaps(optima),
        ],
        targets=_targets(columns),
    )


def _own(method: Method, optima: Optima, say: Say) -> Column:
    column = Column(name=f"discreet, {method.value}")
    for name, size in cases():
        if name == DISTANCE or method is Method.LINEAR_PROGRAM:
            say(f"{column.name}, {name}, n = {size}")
            solve = partial(_certified, method, name, size, optima)
            column.found[name, size] = solved(name, size, solve)
    return column


def _certified(method: Method, name: str, size: int, optima: Optima) -> Chances:
    """Return the chances of an optimum, with both certificates made."""
    gain: AnyGain = "absolute" if name == DISTANCE else partial(_gain, name)
    found = optimal_mechanism(
        path(0, size), EPSILON, prior=uniform(0, size), gain=gain, method=method
    )
    if method is Method.LINEAR_PROGRAM:
        optima[name, size] = found
    return found.channel.to_floats()


def _gain(name: str, w: int, y: int) -> int:
    return -int(LOSSES[name](w, y))


def _dense(size: int) -> Chances:
    """Solve as one writes it first: a dense matrix, and what comes out is taken as it is."""
    m = size + 1
    away = np.abs(np.subtract.outer(np.arange(m), np.arange(m)))
    upper = np.zeros((2 * size * m, m * m))
    row = 0
    for y in range(size):
        for w in range(m):
            for here, there in ((y, y + 1), (y + 1, y)):
                upper[row, here * m + w] = 1
                upper[row, there * m + w] = -exp(EPSILON)
                row += 1
    equal = np.kron(np.eye(m), np.ones((1, m)))
    cost = (away / m).ravel()
    found = linprog(cost, A_ub=upper, b_ub=np.zeros(row), A_eq=equal, b_eq=np.ones(m))
    return np.asarray(found.x).reshape(m, m)


def _peer(say: Say) -> Column:
    say("qif: its environment")
    column = Column(name=QIF.name)
    try:
        for line in lines_from_peer(QIF):
            each = solved_from(line)
            column.found[each.name, each.size] = each
            say(f"qif, {each.name}, n = {each.size}")
    except PeerError as trouble:
        return Column(name=QIF.name, found=column.found, trouble=str(trouble))
    return column


# --------------------------------------------------------------------------- showing


def _seconds(columns: list[Column]) -> Table:
    def figure(size: int, column: Column) -> str | Figure:
        return _figure((DISTANCE, size), column, columns[0])

    notes = [
        "(r×): our linear program, with its repair and both certificates, is r times as fast.",
        *(each.trouble for each in columns if each.trouble),
    ]
    return _table("Optimal mechanism for a count: CPU seconds", figure, columns, notes)


def _figure(case: tuple[str, int], column: Column, own: Column) -> str | Figure:
    found, ours = column.found.get(case), own.found[case]
    if found is None:
        return "see below" if column.trouble else "–"
    times = found.seconds / found.yardstick / (ours.seconds / ours.yardstick)
    return Figure(found.seconds, None if column is own else times)


def _others(columns: list[Column]) -> Table:
    """Return the seconds for losses with which the geometric mechanism is not optimal."""
    names = [name for name in LOSSES if name != DISTANCE]
    rows = [
        (name, *(_figure((name, OTHER_SIZE), each, columns[0]) for each in columns))
        for name in names
    ]
    return Table(
        title=f"Losses for which the geometric mechanism is not optimal, n = {OTHER_SIZE}",
        columns=("loss", *(each.name for each in columns)),
        rows=rows,
    )


def _results(columns: list[Column]) -> Table:
    def figure(size: int, column: Column) -> str:
        found = column.found.get((DISTANCE, size))
        if found is None:
            return "–"
        epsilon = "infinite" if isinf(found.epsilon) else f"{found.epsilon:.9f}"
        return f"{found.loss:.7f}, ε {epsilon}"

    notes = [
        "ε: the largest privacy loss of the returned probabilities between neighbours; claimed: 1."
    ]
    return _table("Mean distance, and ε", figure, columns, notes)


def _table(
    title: str,
    figure: Callable[[int, Column], str | Figure],
    columns: list[Column],
    notes: list[str],
) -> Table:
    rows = [(str(size), *(figure(size, each) for each in columns)) for size in SIZES]
    return Table(
        title=title, columns=("n", *(each.name for each in columns)), rows=rows, notes=notes
    )


def _gaps(optima: Optima) -> Table:
    rows = [
        (
            name,
            str(size),
            f"{float(each.utility):.7f}",
            f"{float(each.bound):.7f}",
            f"{float(each.gap):.1e}",
        )
        for (name, size), each in optima.items()
    ]
    return Table(
        title="Our linear program: certified, in exact arithmetic",
        columns=("loss", "n", "utility", "no mechanism exceeds", "gap"),
        rows=rows,
    )


def _targets(columns: list[Column]) -> list[Target]:
    program, closed, _, qif = columns
    theirs = qif.found.get((DISTANCE, 50))

    def times(own: Solved) -> float | None:
        if theirs is None:
            return None
        return theirs.seconds / theirs.yardstick / (own.seconds / own.yardstick)

    return [
        Target(
            sentence="n = 100, linear program, certified",
            measured=program.found[DISTANCE, 100].seconds,
            unit="s",
            most=5.0,
        ),
        Target(
            sentence="n = 50, linear program, next to qif",
            measured=times(program.found[DISTANCE, 50]),
            unit="times as fast",
            least=10.0,
        ),
        Target(
            sentence="n = 50, closed form, next to qif",
            measured=times(closed.found[DISTANCE, 50]),
            unit="times as fast",
            least=10.0,
        ),
    ]
