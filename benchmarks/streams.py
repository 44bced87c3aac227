"""Streams: errors of running totals by horizon, sampled errors, and time for each tick."""

from collections.abc import Callable, Mapping
from functools import partial
from json import loads
from math import log2, sqrt
from time import process_time

import numpy as np

from benchmarks.environments import OPENDP_TREE, PeerError, lines_from_peer
from benchmarks.report import RESULTS, Figure, Report, Say, Table, Target, power
from benchmarks.stream_cases import DELTA, EPSILON, HORIZONS
from discreet.noise import SYSTEM
from discreet.noise.uniform import IntArray
from discreet.plots import plot_horizons
from discreet.streams import (
    BufferedStream,
    BufferedToeplitz,
    SquareRoot,
    SubtractionTree,
    Tree,
    best_mechanism,
)

AnyMechanism = SquareRoot | BufferedToeplitz | Tree | SubtractionTree

MAKERS: Mapping[str, Callable[[int], AnyMechanism]] = {
    "fresh noise, δ": lambda ticks: Tree(
        ticks=ticks, epsilon=EPSILON, delta=DELTA, arity=max(2, ticks)
    ),
    "binary tree, δ": lambda ticks: Tree(ticks=ticks, epsilon=EPSILON, delta=DELTA),
    "square root, δ": lambda ticks: SquareRoot(ticks=ticks, epsilon=EPSILON, delta=DELTA),
    "4 buffers, δ": lambda ticks: BufferedToeplitz(ticks=ticks, epsilon=EPSILON, delta=DELTA),
    "best tree": lambda ticks: Tree.best(ticks=ticks, epsilon=EPSILON),
    "subtraction tree": lambda ticks: SubtractionTree(ticks=ticks, epsilon=EPSILON),
}
HONAKER = "Honaker's tree, δ"

SAMPLED_TICKS, SAMPLED_CELLS = 365, 2000

FAR, FAR_RUNS = 10**6, 200

TIMED_TICKS, TIMED_CELLS = 3653, 100


def run(say: Say) -> Report:
    """Compute errors exactly, sample some, and time one tick."""
    errors: dict[str, dict[int, tuple[float, float]]] = {}
    for name, make in MAKERS.items():
        say(name)
        made = {ticks: make(ticks) for ticks in HORIZONS}
        errors[name] = {
            ticks: (each.max_deviation, each.rms_deviation) for ticks, each in made.items()
        }
    errors[HONAKER] = {ticks: _honaker(ticks) for ticks in HORIZONS}
    say("OpenDP: its environment")
    peer, trouble = _peer()
    rms = {name: {t: pair[1] for t, pair in each.items()} for name, each in errors.items()}
    RESULTS.mkdir(parents=True, exist_ok=True)
    title = "Deviation of running counts, ε = 1, δ = 10⁻⁶ where there is one"
    plot_horizons(rms, title=title, error="rms deviation, in counts").save(RESULTS / "streams.svg")
    say("samples")
    tables = [_errors(errors, peer, trouble), _sampled(), _sampled_far()]
    say("times")
    return Report(name="streams", tables=[*tables, _times()], targets=_targets(errors))


def _honaker(ticks: int) -> tuple[float, float]:
    """Return the largest and the rms deviation of a binary tree with estimates from below.

    A node of level l has variance v_l with 1 / v_l = 1 + 1 / (2 v_(l-1)) (Honaker 2015).
    """
    levels = int(log2(ticks)) + 1
    one = SquareRoot(ticks=1, epsilon=EPSILON, delta=DELTA).max_deviation
    here, variance, total = np.arange(1, ticks + 1), 1.0, np.zeros(ticks)
    for level in range(levels):
        total += (here >> level & 1) * variance
        variance = 1 / (1 + 1 / (2 * variance))
    return one * sqrt(levels * total.max()), one * sqrt(levels * total.mean())


def _peer() -> tuple[dict[int, dict[str, float]], str | None]:
    found: dict[int, dict[str, float]] = {}
    try:
        for line in lines_from_peer(OPENDP_TREE):
            each = loads(line)
            found[int(each["ticks"])] = each
    except PeerError as trouble:
        return found, str(trouble)
    return found, None


def _errors(
    errors: Mapping[str, Mapping[int, tuple[float, float]]],
    peer: Mapping[int, Mapping[str, float]],
    trouble: str | None,
) -> Table:
    def pair(largest: float, rms: float) -> str:
        return f"{Figure(largest)} / {Figure(rms)}"

    names = ["fresh noise, δ", "binary tree, δ", HONAKER, *list(MAKERS)[2:]]
    rows = [
        [
            power(ticks),
            *(pair(*errors[name][ticks]) for name in names),
            pair(peer[ticks]["max"], peer[ticks]["rms"])
            if ticks in peer
            else ("see below" if trouble else "–"),
        ]
        for ticks in HORIZONS
    ]
    notes = [
        "Computed from coefficients, for one row of each unit. δ: with δ = 10⁻⁶; others without.",
        "Honaker's tree is a baseline that is computed here only.",
        "OpenDP: make_b_ary_tree with Laplace noise and consistency, without δ, 200 runs. It is"
        " released once, after the last tick, so it is no mechanism for streams.",
        *([trouble] if trouble else []),
    ]
    return Table(
        title="Running counts: largest / rms deviation, in counts, ε = 1",
        columns=["ticks", *names, "OpenDP's tree"],
        rows=rows,
        notes=notes,
    )


def _sampled() -> Table:
    rows: list[list[str | Figure]] = []
    for name, make in MAKERS.items():
        mechanism = _with_cells(make(SAMPLED_TICKS), SAMPLED_CELLS)
        increments = np.tile(np.arange(SAMPLED_TICKS)[:, None] % 7, (1, SAMPLED_CELLS))
        record = _record(mechanism, increments)
        errors = mechanism.running(record) - np.cumsum(increments, axis=0)
        by_run = (errors**2).mean(axis=0)
        found = sqrt(by_run.mean())
        spread = by_run.std() / sqrt(SAMPLED_CELLS) / (2 * found)
        rows.append(
            [name, Figure(mechanism.rms_deviation, digits=4), f"{found:.2f} ± {spread:.2f}"]
        )
    return Table(
        title=f"{SAMPLED_TICKS} ticks, {SAMPLED_CELLS} runs: rms deviation of running counts",
        columns=["mechanism", "computed", "sampled"],
        rows=rows,
        notes=["±: one standard deviation of the sampled figure."],
    )


def _sampled_far() -> Table:
    """Sample the last running total of a very long stream, in which nothing arrives."""
    rows: list[list[str | Figure]] = []
    for name in ("square root, δ", "4 buffers, δ"):
        mechanism = MAKERS[name](FAR)
        assert isinstance(mechanism, SquareRoot | BufferedToeplitz)
        nothing = np.zeros((FAR, 1), np.int64)
        ends = np.array(
            [
                mechanism.running(mechanism.grid.release(nothing, SYSTEM))[-1, 0]
                for _ in range(FAR_RUNS)
            ]
        )
        found = sqrt((ends**2).mean())
        spread = found / sqrt(2 * FAR_RUNS)
        computed = Figure(float(mechanism.deviations()[-1]), digits=4)
        rows.append([name, computed, f"{found:.2f} ± {spread:.2f}"])
    return Table(
        title=f"{power(FAR)} ticks, {FAR_RUNS} runs: deviation of the last running count",
        columns=["mechanism", "computed", "sampled"],
        rows=rows,
        notes=["±: one standard deviation of the sampled figure. The last count has the largest."],
    )


def _times() -> Table:
    rows: list[list[str | Figure]] = []
    increments = np.ones((TIMED_TICKS, TIMED_CELLS), np.int64)
    for name in ("square root, δ", "4 buffers, δ", "best tree"):
        mechanism = _with_cells(MAKERS[name](TIMED_TICKS), TIMED_CELLS)
        release = _seconds(partial(mechanism.release, increments, TIMED_TICKS - 1))
        running = _seconds(partial(mechanism.running, increments))
        rows.append([name, Figure(release * 1e3), Figure(running * 1e3)])
        if isinstance(mechanism, BufferedToeplitz):
            stream = BufferedStream(mechanism, TIMED_CELLS)
            step = _seconds(partial(stream.step, increments[0]), times=200)
            rows.append(["4 buffers, BufferedStream", Figure(step * 1e3), "in the same step"])
    return Table(
        title=f"The last of {TIMED_TICKS} ticks, {TIMED_CELLS} cells: CPU milliseconds",
        columns=["mechanism", "release it", "estimate all ticks"],
        rows=rows,
        notes=["Release reads the increments of all ticks. BufferedStream reads those of one."],
    )


def _with_cells(mechanism: AnyMechanism, cells: int) -> AnyMechanism:
    """Return the same mechanism for more cells."""
    terms: dict[str, object] = {
        "ticks": mechanism.ticks,
        "epsilon": mechanism.epsilon,
        "cells": cells,
    }
    match mechanism:
        case SquareRoot():
            terms["delta"] = mechanism.delta
        case BufferedToeplitz():
            terms |= {"delta": mechanism.delta}
            terms |= {"decays": mechanism.decays, "weights": mechanism.weights}
        case Tree():
            terms |= {"delta": mechanism.delta, "arity": mechanism.arity}
        case SubtractionTree():
            terms["arity"] = mechanism.arity
    return type(mechanism)(**terms)  # type: ignore[arg-type]


def _record(mechanism: AnyMechanism, increments: IntArray) -> IntArray:
    if isinstance(mechanism, SubtractionTree):
        return mechanism.release(increments)[0]
    return mechanism.release(increments)


def _seconds(call: Callable[[], object], times: int = 5) -> float:
    """Return the CPU seconds of the fastest of some calls, after one that fills caches."""
    call()
    found = []
    for _ in range(times):
        start = process_time()
        call()
        found.append(process_time() - start)
    return min(found)


def _targets(errors: Mapping[str, Mapping[int, tuple[float, float]]]) -> list[Target]:
    chosen = best_mechanism(ticks=365, epsilon=EPSILON, delta=DELTA)
    wishes = (
        ("365 ticks, subtraction tree: rms", errors["subtraction tree"][365][1], 10.4),
        ("1024 ticks, square root: rms", errors["square root, δ"][1024][1], 13.2),
        ("3653 ticks, square root: largest", errors["square root, δ"][3653][0], 15.6),
        ("10^6 ticks, square root: largest", errors["square root, δ"][10**6][0], 23.7),
        ("10^6 ticks, 4 buffers: largest", errors["4 buffers, δ"][10**6][0], 23.7),
        ("365 ticks, what best_mechanism chooses: rms", chosen.rms_deviation, 11.8),
    )
    return [
        Target(sentence=sentence, measured=measured, unit="counts", most=most)
        for sentence, measured, most in wishes
    ]
