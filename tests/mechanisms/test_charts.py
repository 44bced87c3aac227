"""Pictures of mechanisms: drawn, shown by notebooks, saved as pictures and as nothing else."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.mechanisms import (
    Exponential,
    Gaussian,
    Geometric,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    RandomizedResponse,
    Staircase,
)
from discreet.plots.figure import Plot
from tests.mechanisms.examples import made

DRAWN: list[Any] = [
    made(Geometric),
    made(Laplace),
    made(Gaussian),
    made(Staircase),
    made(Geometric).truncated(0, 5),
    RandomizedResponse(epsilon=1, categories=3),
]
every_drawn = pytest.mark.parametrize("mechanism", DRAWN, ids=lambda each: type(each).__name__)


def panels(plot: Plot) -> Any:
    """Return the laws' axes and the odds', asked through `Any`: Matplotlib's types are wide."""
    return plot.figure.axes


@every_drawn
def test_a_mechanism_draws_itself(mechanism: Any) -> None:
    plot = mechanism.plot()
    assert isinstance(plot, Plot)
    assert plot._repr_png_().startswith(b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip, NoisyMax])
def test_a_selector_draws_two_neighbouring_lists_of_scores(kind: Any) -> None:
    plot = made(kind).plot([3, 9, 4], [3, 8, 4])
    top, bottom = panels(plot)
    assert [len(line.get_xdata()) for line in top.lines] == [3, 3]
    assert bottom.get_xlabel() == "candidate"


def test_the_gaussian_picture_reaches_beyond_its_epsilon_and_names_its_delta() -> None:
    """Noise that seems to keep e^epsilon everywhere would look pure."""
    top, bottom = panels(Gaussian(epsilon=1, delta=1e-6, sensitivity=1).plot())
    assert top.get_title() == "Gaussian noise, ε = 1, δ = 1e-06"
    log_odds = bottom.lines[-1].get_ydata()
    assert max(log_odds) > 1
    assert min(log_odds) < -1
    many = Gaussian.for_budget(epsilon=1, delta=1e-6, releases=100, sensitivity=1)
    assert panels(many.plot())[0].get_title().endswith("δ = 1e-06, 100 releases")


@pytest.mark.parametrize("epsilon", [1, 0.01, 1e-6])
def test_nothing_is_drawn_between_whole_numbers(epsilon: float) -> None:
    top, bottom = panels(Geometric(epsilon=epsilon, sensitivity=1).plot(5))
    assert top.get_ylabel() == "probability"
    assert {line.get_linestyle() for line in top.lines} == {"None"}
    assert bottom.lines[-1].get_drawstyle() == "steps-mid"
    assert all(float(tick).is_integer() for tick in bottom.get_xticks())


@pytest.mark.parametrize("maker", [Laplace, Gaussian, Staircase])
@pytest.mark.parametrize("sensitivity", [1, 2**17])
def test_reals_are_drawn_as_densities_however_wide_their_steps(
    maker: Any, sensitivity: int
) -> None:
    top, _ = panels(made(maker, sensitivity=sensitivity).plot())
    assert top.get_ylabel() == "density"
    values, heights = top.lines[0].get_data()
    assert np.trapezoid(heights, values) == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("maker", [Geometric, Laplace, Gaussian, Staircase])
def test_large_answers_are_written_out(maker: Any) -> None:
    plot = made(maker).plot(1_000_000)
    top, bottom = panels(plot)
    names = [text.get_text() for text in top.get_legend().get_texts()]
    assert names == ["exact answer 1000000", "neighbour 1000001"]
    plot._repr_png_()
    assert not bottom.xaxis.get_offset_text().get_text()


@pytest.mark.parametrize("maker", [Geometric, Laplace, Gaussian, Staircase])
def test_the_odds_have_three_ticks_however_large_epsilon_is(maker: Any) -> None:
    changed = {"sensitivity": 10**6, "epsilon": 10**6} if maker is Geometric else {}
    _, bottom = panels(made(maker, **changed).plot())
    assert bottom.get_ylabel() == "likelihood ratio"
    assert [text.get_text() for text in bottom.get_yticklabels()] == ["e^-ε", "1", "e^ε"]


@pytest.mark.parametrize("maker", [Geometric, Laplace, Gaussian, Staircase])
@pytest.mark.parametrize("exact", ["x", float("nan"), None, [1]], ids=repr)
def test_no_picture_is_drawn_of_no_answer(maker: Any, exact: Any) -> None:
    with pytest.raises(ParameterError, match=r"^exact must be"):
        made(maker).plot(exact)


@every_drawn
def test_the_same_picture_is_the_same_file(mechanism: Any, tmp_path: Path) -> None:
    first, second = (mechanism.plot().save(tmp_path / name) for name in ("a.svg", "b.svg"))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("name", "start"), [("law.png", b"\x89PNG"), ("LAW.SVG", b"<?xml"), ("law.pdf", b"%PDF")]
)
def test_a_picture_is_saved_by_its_ending(name: str, start: bytes, tmp_path: Path) -> None:
    saved = made(Geometric).plot().save(tmp_path / name)
    assert saved.read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["law.exe", "law", "law.png.sh", ".svg"])
def test_no_other_file_is_written(name: str, tmp_path: Path) -> None:
    plot = made(Geometric).plot()
    with pytest.raises(ParameterError, match=r"path must end in one of \.png, \.svg, \.pdf"):
        plot.save(tmp_path / name)
    assert not list(tmp_path.iterdir())
