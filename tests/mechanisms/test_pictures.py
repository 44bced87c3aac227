"""Pictures of mechanisms: drawn, shown by notebooks, saved as pictures and as nothing else."""

from pathlib import Path
from typing import Any

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
from discreet.plots import Plot
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


@every_drawn
def test_a_mechanism_draws_itself(mechanism: Any) -> None:
    plot = mechanism.plot()
    assert isinstance(plot, Plot)
    assert plot._repr_png_().startswith(b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip, NoisyMax])
def test_a_selector_draws_two_neighbouring_lists_of_scores(kind: Any) -> None:
    plot = made(kind).plot([3, 9, 4], [3, 8, 4])
    top, bottom = plot.figure.axes
    assert [len(line.get_xdata()) for line in top.lines] == [3, 3]
    assert bottom.get_xlabel() == "candidate"


@pytest.mark.parametrize(
    ("name", "start"), [("law.png", b"\x89PNG"), ("LAW.SVG", b"<?xml"), ("law.pdf", b"%PDF")]
)
def test_a_picture_is_saved_by_its_ending(name: str, start: bytes, tmp_path: Path) -> None:
    saved = made(Geometric).plot().save(tmp_path / "new folder" / name)
    assert saved.read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["law.exe", "law", "law.png.sh", ".svg"])
def test_no_other_file_is_written(name: str, tmp_path: Path) -> None:
    plot = made(Geometric).plot()
    with pytest.raises(ParameterError, match=r"path must end in one of \.png, \.svg, \.pdf"):
        plot.save(tmp_path / name)
    assert not list(tmp_path.iterdir())
