"""The benchmark of streams: its baseline, and its picture."""

from pathlib import Path

import pytest

from benchmarks.streams import _honaker, _seconds, _with_cells
from discreet.plots import plot_horizons
from discreet.streams import BufferedToeplitz, SquareRoot, SubtractionTree, Tree


@pytest.mark.parametrize(
    ("ticks", "largest", "rms"), [(30, 15.7, 12.1), (365, 27.8, 19.8), (1024, 33.8, 23.9)]
)
def test_the_baseline_has_its_published_error(ticks: int, largest: float, rms: float) -> None:
    assert _honaker(ticks) == pytest.approx((largest, rms), abs=0.06)


def test_more_cells_leave_the_rest_as_it_is() -> None:
    buffered = BufferedToeplitz(ticks=9, epsilon=1, delta=1e-6, decays=[0.5], weights=[0.5])
    for mechanism in (
        SquareRoot(ticks=9, epsilon=1, delta=1e-6),
        buffered,
        Tree(ticks=9, epsilon=1, arity=3),
        SubtractionTree(ticks=9, epsilon=1),
    ):
        more = _with_cells(mechanism, 5)
        assert more.cells == 5
        assert more.rms_deviation == pytest.approx(mechanism.rms_deviation, rel=1e-6)


def test_errors_are_drawn_against_horizons(tmp_path: Path) -> None:
    plot = plot_horizons({"a": {10: 1.0, 100: 2.0}, "b": {10: 3.0}}, title="t", error="e")
    (axes,) = plot.figure.axes
    assert [line.get_label() for line in axes.lines] == ["a", "b"]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert plot.save(tmp_path / "x.svg").stat().st_size > 1000
    assert _seconds(lambda: None, times=2) >= 0
