"""Sketches: exact channels, samplers, unbiased counts with errors that include collisions."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import ParameterError, ReportError
from discreet.local import (
    Client,
    CountMeanSketch,
    HadamardSketch,
    Reports,
    Server,
    sketch_influence,
)
from discreet.local.heavy_hitters import Sketch, same_word_pairs
from discreet.local.sketches import columns, keys_of, seeds, transformed_rows
from tests.local.certify import is_certified, keeps, worst_ratio
from tests.statistics import FALSE_ALARM, counts_misfit

KINDS: list[type[Sketch]] = [CountMeanSketch, HadamardSketch]
WORDS = ["apple", "pear", "fig", "plum", "kiwi", "lime"]


def small(kind: type[Sketch], epsilon: Fraction | int = 1) -> Sketch:
    return kind(epsilon=epsilon, hashes=2, width=8)


def places(sketch: Sketch, word: str) -> list[int]:
    of_each = seeds(sketch.family, sketch.hashes)
    found = columns(np.repeat(keys_of([word]), sketch.hashes), of_each, sketch.width)
    return [int(each) for each in found]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(6)], ids=str)
def test_the_channel_keeps_its_epsilon_exactly_and_wastes_none(
    kind: type[Sketch], epsilon: Fraction
) -> None:
    sketch = small(kind, epsilon)
    channel = [sketch.distribution(places(sketch, word)) for word in WORDS]
    assert is_certified(channel, epsilon)
    # The broken twin: bits flipped as if a word had one bit, not two, to hide (or none).
    twin = kind(epsilon=2 * epsilon, hashes=2, width=8)
    assert not keeps(
        worst_ratio([twin.distribution(places(twin, word)) for word in WORDS]), epsilon
    )


def indices(sketch: Sketch, reports: Reports) -> "np.ndarray[Any, np.dtype[np.int64]]":
    """Return the place of each report in the list of chances."""
    if isinstance(sketch, HadamardSketch):
        return reports.rows.astype(np.int64)
    bits = np.unpackbits(reports.rows[:, 2:].astype(np.uint8), axis=1, bitorder="little")
    return reports.rows[:, 0].astype(np.int64) * 256 + bits @ (1 << np.arange(7, -1, -1))


@pytest.mark.parametrize("kind", KINDS)
def test_reports_have_the_stated_distribution(kind: type[Sketch]) -> None:
    """A fresh seed cries wolf once in 10⁶; the broken twin is the law of another word."""
    sketch = small(kind)
    reports = Client(sketch).report_many(["apple"] * 100_000)
    law = [float(p) for p in sketch.distribution(places(sketch, "apple"))]
    counts = np.bincount(indices(sketch, reports), minlength=len(law))
    assert counts_misfit(counts, law) > FALSE_ALARM
    twin = [float(p) for p in sketch.distribution(places(sketch, "pear"))]
    assert counts_misfit(counts, twin) < FALSE_ALARM


def simulated(sketch: Sketch, true: "np.ndarray[Any, np.dtype[np.int64]]") -> Server[Sketch]:
    server = Server(sketch)
    words = [f"word{i}" for i in np.repeat(np.arange(len(true)), true).tolist()]
    server.add(bytes(Client(sketch).report_many(words)))
    return server


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("hashes", "width"), [(64, 256), (4, 32)])
def test_counts_have_no_bias_and_errors_that_include_collisions(
    kind: type[Sketch], hashes: int, width: int
) -> None:
    """A fresh seed cries wolf about once in 10⁶ for each of two claims.

    The broken twin, for few and narrow rows, is an error of noise alone.
    """
    true = (20_000 / np.arange(1, 201) ** 1.1).astype(np.int64)
    sketch = kind(epsilon=4, hashes=hashes, width=width, family=3)
    server = simulated(sketch, true)
    found = server.estimate(words=[f"word{i}" for i in range(200)])
    z = (found.counts - true) / found.standard_errors
    # Words that share columns err together, so half as many count as independent.
    assert abs(z.mean()) < 4.9 / np.sqrt(100)
    assert abs(z.std() - 1) < 4.9 / np.sqrt(2 * 100)
    assert (np.abs(found.counts - true) <= found.high - found.counts).mean() > 0.98
    if width == 32:
        alone = np.sqrt(server.people * sketch.noise(0.0))
        assert ((found.counts - true) / alone).std() > 1 + 4.9 / np.sqrt(2 * 100)
    pairs = float((true * (true - 1)).sum())
    assert same_word_pairs(server.tally) == pytest.approx(pairs, rel=0.35)


@pytest.mark.parametrize("kind", KINDS)
def test_one_malicious_report_moves_no_count_by_more_than_stated(kind: type[Sketch]) -> None:
    sketch = small(kind)
    server = simulated(sketch, np.array([50, 30]))
    before = server.estimate(words=WORDS).counts
    most = 0.0
    rows = Client(sketch).report_many(WORDS * 50).rows
    worst = rows[:2].copy()
    if isinstance(sketch, CountMeanSketch):
        worst[:, 2:] = [[0], [255]]
    for row in (*np.split(worst, 2), *np.split(rows, len(rows))):
        moved = Server.from_bytes(sketch, bytes(server))
        moved.add(Reports(sketch, row))
        most = max(most, float(np.abs(moved.estimate(words=WORDS).counts - before).max()))
    assert 0.9 * sketch_influence(sketch) < most <= sketch_influence(sketch) * (1 + 1e-9)


def test_the_transform_is_the_hadamard_matrix() -> None:
    size = 16
    matrix = [[(-1) ** (i & j).bit_count() for j in range(size)] for i in range(size)]
    rows = np.arange(3.0 * size).reshape(3, size) ** 2
    assert transformed_rows(rows) == pytest.approx(rows @ np.array(matrix))


@pytest.mark.parametrize("width", [2, 8, 1024])
def test_columns_are_uniform_and_rows_differ(width: int) -> None:
    """A fresh family cries wolf once in 10⁶; the broken twin has one column twice as often."""
    keys = keys_of(range(20_000))
    first, second = (columns(keys, seed, width) for seed in seeds(1, 2))
    counts = np.bincount(first, minlength=width)
    assert counts_misfit(counts, [1 / width] * width) > FALSE_ALARM
    twin = np.where(first == 1, 0, first)
    shares = (np.bincount(twin, minlength=width) + 1e-9) / len(keys)
    assert counts_misfit(counts, (shares / shares.sum()).tolist()) < FALSE_ALARM
    together = int(np.count_nonzero(first == second))
    spread = np.sqrt(len(keys) / width)
    assert abs(together - len(keys) / width) < 4.9 * spread


def test_words_of_different_kinds_are_different_words() -> None:
    assert len(set(keys_of(["5", b"5", 5, "05", 50]).tolist())) == 5
    assert keys_of([5])[0] == keys_of(np.array([5]))[0]


@pytest.mark.parametrize("bad", [[1.5], [None], [True], "text", [["a"]], ["x" * 70_000]])
def test_what_is_no_word_is_refused_and_not_shown(bad: Any) -> None:
    with pytest.raises(ParameterError, match="words must be") as caught:
        Client(HadamardSketch(epsilon=1)).report_many(bad)
    assert "given" not in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epsilon", 0),
        ("hashes", 0),
        ("hashes", 1 << 17),
        ("width", 100),
        ("width", 1),
        ("family", -1),
    ],
)
def test_bad_parameters_are_refused_by_name(kind: Any, name: str, value: int) -> None:
    with pytest.raises(ParameterError, match=name):
        kind(**({"epsilon": 1} | {name: value}))


@pytest.mark.parametrize("kind", KINDS)
def test_reports_of_other_sketches_or_of_none_are_refused(kind: type[Sketch]) -> None:
    here, there = kind(epsilon=1, hashes=3), kind(epsilon=1, hashes=3, family=1)
    server = Server(here)
    good = Client(here).report("apple")
    row = b"\xff" * (len(good) - 8)
    for bad in (Client(there).report("apple"), good[:-1], good + b"\0", good[:8] + row, b""):
        with pytest.raises(ReportError):
            server.add(bad)
    assert server.people == 0
    with pytest.raises(ParameterError, match="at least one"):
        server.estimate(words=[])
    empty = server.estimate(words=["apple"])
    assert empty.counts.tolist() == [0.0]
