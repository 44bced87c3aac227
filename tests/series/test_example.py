"""The example that plays days through a real server."""

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "series" / "two_years.py"


@pytest.mark.parametrize("days", [7, pytest.param(731, marks=pytest.mark.slow)])
def test_days_are_played_through_a_server_for_three_charges(
    days: int, capsys: pytest.CaptureFixture[str]
) -> None:
    runpy.run_path(str(EXAMPLE))["main"](["--days", str(days)])
    shown = capsys.readouterr().out
    assert f"patients so far: running total ({days} of 3,653 days released)" in shown
    assert f"3 charges for {days} days of three charts" in shown
