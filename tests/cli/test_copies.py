"""Preparing tables once, and forgetting them."""

import re
from pathlib import Path

from tests.cli.conftest import Discreet
from tests.cli.runs import VISITS

COUNT = "SELECT COUNT(*) AS visits FROM visits WHERE age > 30"


def test_a_copy_is_made_used_and_forgotten(folder: Path, discreet: Discreet) -> None:
    made = discreet("prepare")
    assert made.code == 0, made.err
    assert re.fullmatch(
        r"discreet\.prepared is made: \d\.\d MB, private rows that only you may read\n", made.out
    )
    assert discreet("prepare").out == "discreet.prepared is up to date\n"
    asked = discreet("ask", COUNT, "-e", "1")
    assert asked.code == 0
    assert asked.err == ""
    assert discreet("forget").out == "discreet.prepared is removed\n"
    assert discreet("forget").out == "there is no discreet.prepared\n"
    assert not list(folder.glob("discreet.prepared*"))


def test_a_copy_of_other_data_is_said_to_be(folder: Path, discreet: Discreet) -> None:
    discreet("prepare")
    with (folder / VISITS).open("a", encoding="utf-8") as visits:
        visits.write("1,30,north\n")
    asked = discreet("ask", COUNT, "-e", "1")
    assert asked.code == 0
    assert "make it anew by discreet prepare" in " ".join(asked.err.split())


def test_rows_can_be_chosen_by_the_question(discreet: Discreet, folder: Path) -> None:
    assert folder.is_dir()
    told = discreet("explain", COUNT, "-e", "1", "--bounding", "per-query")
    assert "row_number" in told.out or "least(count(*)" in told.out
    assert '"kept"' not in told.out
    wrong = discreet("ask", COUNT, "-e", "1", "--bounding", "never")
    assert wrong.code == 1
    assert "must be 'once' or 'per-query'" in wrong.err
