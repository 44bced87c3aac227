"""Noise, coins and choices: time per sample of discreet, of insecure NumPy and of peers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from benchmarks.cases import CHOICES, LAWS, NOISE, ONE_DRAW, SCALES, SIZES, scores, timing_from_line
from benchmarks.environments import OPENDP, PYTHON_DP, Peer, PeerError, lines_from_peer
from benchmarks.report import Figure, Report, Say, Table, Target, power
from benchmarks.timing import INSECURE, Case, Run, Timing, time_case, times_faster
from discreet import noise

Timings: TypeAlias = dict[Case, Timing]

US = "discreet"
LARGEST = max(SIZES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One way of doing things, timed on some cases; `trouble` says why a peer has fewer."""

    name: str
    timings: Timings
    trouble: str | None = None


def run(say: Say) -> Report:
    """Measure everything: a peer, ourselves, the other peer."""
    opendp = _peer_column(OPENDP, say)
    columns = _own_columns({**_noise_runs(), **_one_draw_runs(), **_choice_runs()}, say)
    coins = _own_columns(_coin_runs(), say)
    columns += [opendp, _peer_column(PYTHON_DP, say)]
    return Report(
        name="samplers",
        tables=[
            *(_noise_table(law, columns) for law in LAWS),
            _one_draw_table(columns),
            _choice_table(columns),
            _coin_table(coins),
        ],
        targets=_targets({column.name: column.timings for column in columns}),
    )


# --------------------------------------------------------------------------- what is run


def _noise_runs() -> dict[Case, dict[str, Run]]:
    return {case: _noise_run(case) for case in NOISE}


def _noise_run(case: Case) -> dict[str, Run]:
    scale, size = case.scale, case.size
    if case.what == "gaussian":
        return {
            US: lambda: noise.discrete_gaussian(scale**2, size),
            "NumPy": lambda: INSECURE.normal(0.0, scale, size),
            "NumPy, rounded": lambda: np.rint(INSECURE.normal(0.0, scale, size)).astype(np.int64),
        }
    p = -np.expm1(-1 / scale)
    return {
        US: lambda: noise.discrete_laplace(scale, size),
        "NumPy": lambda: INSECURE.laplace(0.0, scale, size),
        "NumPy, geometric": lambda: INSECURE.geometric(p, size) - INSECURE.geometric(p, size),
    }


def _one_draw_runs() -> dict[Case, dict[str, Run]]:
    return {case: _one_draw_run(case) for case in ONE_DRAW}


def _one_draw_run(case: Case) -> dict[str, Run]:
    scale = case.scale
    if case.what == "one gaussian":
        return {
            US: lambda: noise.discrete_gaussian(scale**2),
            "NumPy": lambda: INSECURE.normal(0.0, scale),
        }
    return {
        US: lambda: noise.discrete_laplace(scale),
        "NumPy": lambda: INSECURE.laplace(0.0, scale),
    }


def _choice_runs() -> dict[Case, dict[str, Run]]:
    return {case: _choice_run(case) for case in CHOICES}


def _choice_run(case: Case) -> dict[str, Run]:
    among, rate, size = scores(case.size), Fraction(1, case.scale), case.size
    if case.what == "exponential":
        return {
            US: lambda: noise.exponential_choice(among, rate),
            "NumPy": lambda: np.argmax(among / case.scale + INSECURE.gumbel(size=size)),
        }
    return {
        US: lambda: noise.permute_and_flip_choice(among, rate),
        "NumPy": lambda: np.argmax(among / case.scale + INSECURE.exponential(size=size)),
    }


def _coin_runs() -> dict[Case, dict[str, Run]]:
    size = LARGEST
    third, tenth = Fraction(1, 3), Fraction(1, 10)
    exponents = INSECURE.integers(0, 30, size)
    values = INSECURE.integers(0, 16, size)
    runs: dict[str, tuple[Run, Run]] = {
        "bernoulli(1/3)": (
            lambda: noise.bernoulli(third, size),
            lambda: INSECURE.random(size) < 1 / 3,
        ),
        "bernoulli_exp(n, 1/10)": (
            lambda: noise.bernoulli_exp(exponents, tenth),
            lambda: INSECURE.random(size) < np.exp(exponents * -0.1),
        ),
        "responses, 16 categories": (
            lambda: noise.responses(values, 16, 1),
            lambda: _insecure_responses(values, 16, 1.0),
        ),
        "uniform_integers(15)": (
            lambda: noise.uniform_integers(15, size),
            lambda: INSECURE.integers(0, 15, size),
        ),
        "uniform_integers(10^12)": (
            lambda: noise.uniform_integers(10**12, size),
            lambda: INSECURE.integers(0, 10**12, size),
        ),
        "geometric(1000)": (
            lambda: noise.geometric(1000, size),
            lambda: INSECURE.geometric(1e-3, size),
        ),
        "permutation": (lambda: noise.permutation(size), lambda: INSECURE.permutation(size)),
    }
    return {
        Case(what, 1, size): {US: ours, "NumPy": numpys} for what, (ours, numpys) in runs.items()
    }


def _insecure_responses(
    values: np.ndarray[tuple[int], np.dtype[np.int64]], categories: int, epsilon: float
) -> object:
    kept = INSECURE.random(len(values)) < 1 / (1 + (categories - 1) * np.exp(-epsilon))
    other = INSECURE.integers(0, categories - 1, len(values))
    other += other >= values
    return np.where(kept, values, other)


# --------------------------------------------------------------------------- measuring


def _own_columns(runs: Mapping[Case, Mapping[str, Run]], say: Say) -> list[Column]:
    columns: dict[str, Column] = {}
    for case, ways in runs.items():
        say(f"{US}: {_words(case)}")
        for name, timing in time_case(case, ways, 2.0 if case.size == LARGEST else 0.7).items():
            columns.setdefault(name, Column(name=name, timings={})).timings[case] = timing
    return list(columns.values())


def _peer_column(peer: Peer, say: Say) -> Column:
    say(f"{peer.name}: its environment")
    timings: Timings = {}
    try:
        for line in lines_from_peer(peer):
            timing = timing_from_line(line)
            timings[timing.case] = timing
            say(f"{peer.name}: {_words(timing.case)}")
    except PeerError as trouble:
        return Column(name=peer.name, timings=timings, trouble=str(trouble))
    return Column(name=peer.name, timings=timings)


def _words(case: Case) -> str:
    return f"{case.what}, scale {power(case.scale)}, size {power(case.size)}"


# --------------------------------------------------------------------------- showing


def _noise_table(law: str, columns: list[Column]) -> Table:
    cases = [case for case in NOISE if case.what == law]
    title = f"Discrete {law.capitalize()} noise: ns per sample"
    rows = [((power(case.scale), power(case.size)), case) for case in cases]
    return _table(title, ("scale", "size"), rows, columns, unit=1e-9)


def _one_draw_table(columns: list[Column]) -> Table:
    rows = [((case.what, power(case.scale)), case) for case in ONE_DRAW]
    return _table("A single draw: µs", ("draw", "scale"), rows, columns, unit=1e-6)


def _choice_table(columns: list[Column]) -> Table:
    rows = [((case.what, power(case.size)), case) for case in CHOICES]
    title = "Choosing among candidates: ns per candidate"
    notes = (
        "NumPy: argmax of scores with Gumbel or exponential noise. OpenDP: make_noisy_max.",
        "OpenDP's running time depends on its coins; its luckiest run is shown.",
    )
    return _table(title, ("mechanism", "candidates"), rows, columns, unit=1e-9, notes=notes)


def _coin_table(columns: list[Column]) -> Table:
    cases = columns[0].timings
    title = f"Coins, responses, integers, orders: ns per sample at size {power(LARGEST)}"
    return _table(title, ("sampler",), [((case.what,), case) for case in cases], columns, unit=1e-9)


def _table(  # noqa: PLR0913 - a table has this many parts
    title: str,
    heads: tuple[str, ...],
    rows: Sequence[tuple[tuple[str, ...], Case]],
    columns: list[Column],
    *,
    unit: float,
    notes: tuple[str, ...] = (),
) -> Table:
    cases = [case for _, case in rows]
    columns = [each for each in columns if each.trouble or each.timings.keys() & set(cases)]
    ours = columns[0].timings
    return Table(
        title=title,
        columns=(*heads, *(column.name for column in columns)),
        rows=[
            (*words, *(_figure(ours[case], column, case, unit) for column in columns))
            for words, case in rows
        ],
        notes=[
            "(r×): discreet is r times as fast.",
            *notes,
            *(column.trouble for column in columns if column.trouble),
            *_size_notes(columns, cases),
        ],
    )


def _figure(ours: Timing, column: Column, case: Case, unit: float) -> str | Figure:
    timing = column.timings.get(case)
    if timing is None:
        return "see below" if column.trouble else "–"
    ratio = None if timing is ours else times_faster(ours, timing)
    return Figure(timing.each / unit, ratio)


def _size_notes(columns: list[Column], cases: list[Case]) -> list[str]:
    notes = []
    for column in columns:
        timed = [column.timings[case] for case in cases if case in column.timings]
        cut = {each.timed_size for each in timed if each.timed_size < each.case.size}
        if cut:
            sizes = " or ".join(map(power, sorted(cut)))
            notes.append(f"{column.name}, being slow, was timed at size {sizes} for the largest.")
    return notes


# --------------------------------------------------------------------------- targets


def _targets(columns: Mapping[str, Timings]) -> list[Target]:
    def least_ratio(what: str, column: str, *, candidates: Iterable[Case] = NOISE) -> float | None:
        cases = [case for case in candidates if case.what == what and case.size == LARGEST]
        if any(case not in columns[column] for case in cases):
            return None
        return min(times_faster(columns[US][case], columns[column][case]) for case in cases)

    def slowest_draw(what: str) -> float:
        return max(columns[US][case].each * 1e6 for case in ONE_DRAW if case.what == what)

    def faster(
        sentence: str, what: str, column: str, least: float | None, cases: Iterable[Case] = NOISE
    ) -> Target:
        measured = least_ratio(what, column, candidates=cases)
        return Target(sentence=sentence, measured=measured, unit="×", least=least)

    scales = f"slowest of scales {', '.join(map(power, SCALES))}"
    return [
        faster(f"discrete Laplace against NumPy's laplace, {scales}", "laplace", "NumPy", 1),
        faster("… against NumPy's difference of geometrics", "laplace", "NumPy, geometric", None),
        faster("… against OpenDP", "laplace", OPENDP.name, 200),
        faster(f"discrete Gaussian against NumPy's normal, {scales}", "gaussian", "NumPy", 0.6),
        faster("… against OpenDP", "gaussian", OPENDP.name, 200),
        faster(
            "exponential mechanism over 10^6 against Gumbel argmax",
            "exponential",
            "NumPy",
            1,
            CHOICES,
        ),
        Target(
            sentence="one Laplace draw", measured=slowest_draw("one laplace"), unit="µs", most=15
        ),
        Target(
            sentence="one Gaussian draw", measured=slowest_draw("one gaussian"), unit="µs", most=15
        ),
    ]
