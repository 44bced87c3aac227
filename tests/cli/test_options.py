"""Numbers that no float holds, or that are none, end a command with one sentence."""

from io import StringIO
from pathlib import Path

import pytest

from tests.cli.conftest import Discreet

NUMBERS = ["1e400", "1e-999", "nan", "-1", "0", "", "1/0", "9" * 400]

COUNT = "SELECT region, COUNT(*) AS n, AVG(age) AS a FROM visits GROUP BY region"

OPTIONS = {
    "epsilon": ("explain", COUNT, "--epsilon={}"),
    "within": ("explain", COUNT, "--within={}"),
    "within one": ("explain", "SELECT COUNT(*) AS n FROM visits", "--within=n={}"),
    "delta": ("explain", COUNT, "-e", "0.1", "--delta={}"),
    "confidence": ("explain", COUNT, "-w", "10", "--confidence={}"),
    "ask": ("ask", COUNT, "--epsilon={}"),
    "ask within": ("ask", COUNT, "--within={}"),
    "shell": ("shell", "--epsilon={}"),
    "init": ("init", "visits.csv", "-o", "new.toml", "--force", "--epsilon={}"),
    "init delta": ("init", "visits.csv", "-o", "new.toml", "--force", "--delta={}"),
    "cap": ("analyst", "add", "ann", "--epsilon={}"),
    "cap delta": ("analyst", "add", "ann", "-e", "1", "--delta={}"),
    "price": ("price", "laplace {}"),
    "price times": ("price", "{} x laplace 0.1"),
    "price delta": ("price", "laplace 1", "--delta={}"),
    "design": ("design", "--range", "0", "{}", "-e", "1"),
    "design epsilon": ("design", "--range", "0", "2", "--epsilon={}"),
    "people": ("local", "simulate", "-e", "1", "--people={}"),
    "categories": ("local", "simulate", "-e", "1", "-n", "9", "--categories={}"),
    "report": ("local", "simulate", "-n", "9", "--epsilon={}"),
    "min people": ("local", "collect", "none.txt", "--min-people={}"),
}


@pytest.mark.parametrize("option", OPTIONS)
def test_a_number_out_of_range_is_refused(
    folder: Path, discreet: Discreet, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    monkeypatch.setattr("sys.stdin", StringIO(""))
    (folder / "none.txt").write_text("")
    for number in NUMBERS:
        ended = discreet(*(each.format(number) for each in OPTIONS[option]))
        assert ended.code in {0, 1, 2, 3}, (number, ended)
        assert "internal error" not in ended.err
        assert "Traceback" not in ended.err


@pytest.mark.parametrize("number", ["1e400", "9" * 25 + "e300"])
def test_a_distance_that_no_float_holds_is_refused(
    folder: Path, discreet: Discreet, number: str
) -> None:
    assert (folder / "discreet.toml").exists()
    ended = discreet("ask", COUNT, f"--within={number}")
    assert ended.code == 1
    assert ended.err == "discreet: within must be 1e+300 or less, but more than 1e300 was given.\n"
