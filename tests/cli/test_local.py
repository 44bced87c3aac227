"""`discreet local`: reports are made up, counted once, and estimated."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Discreet


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


MECHANISMS = ["best", "kary", "symmetric", "unary", "subset", "hashing", "hadamard"]


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.usefixtures("here")
def test_counts_come_back_within_their_errors(discreet: Discreet, mechanism: str) -> None:
    """A fresh seed cries wolf once in 10⁶, which is the confidence that is asked for."""
    made = discreet("local", "simulate", "-e", "2", "-k", "4", "-n", "600", "-m", mechanism)
    assert made.code == 0, made.err
    truth = [int(line.split()[1]) for line in made.out.splitlines()[1:]]
    assert sum(truth) == 600
    counted = discreet("local", "collect", "reports.txt", "reports.txt")
    assert counted.out == "Counted 600 new reports. Ignored 600 duplicates. Total: 600.\n"
    told = discreet("local", "estimate", "--json", "--confidence", "0.999999")
    found = json.loads(told.out)
    for true, number, error in zip(truth, found["numbers"], found["errors"], strict=True):
        assert abs(true - number) <= error


@pytest.mark.parametrize("mechanism", ["duchi", "piecewise", "hybrid"])
@pytest.mark.usefixtures("here")
def test_means_come_back_within_their_errors(discreet: Discreet, mechanism: str) -> None:
    """A fresh seed cries wolf once in 10⁶, which is the confidence that is asked for."""
    made = discreet("local", "simulate", "-e", "2", "-n", "600", "-m", mechanism, "-o", "m.txt")
    assert made.out.split() == ["mean", "0.333333"]
    discreet("local", "collect", "m.txt", "--into", "m.db")
    found = json.loads(
        discreet("local", "estimate", "m.db", "--json", "--confidence", "0.999999").out
    )
    assert abs(found["numbers"][0] - 1 / 3) <= found["errors"][0]


def test_histograms_come_back_and_pictures_are_saved(discreet: Discreet, here: Path) -> None:
    discreet("local", "simulate", "-e", "3", "-k", "5", "-m", "square-wave")
    discreet("local", "collect", "reports.txt")
    shown = discreet("local", "estimate", "--plot", "shares.png")
    assert shown.code == 0, shown.err
    assert "10,000 people, ε = 3 per report" in shown.err
    shares = [float(line.split()[1]) for line in shown.out.splitlines()[1:]]
    assert shares == pytest.approx([0.447, 0.185, 0.142, 0.12, 0.106], abs=0.08)
    assert (here / "shares.png").stat().st_size > 1000


def test_values_are_read_from_a_file(discreet: Discreet, here: Path) -> None:
    (here / "values.txt").write_text("0\n1\n1\n3\n" * 50)
    made = discreet("local", "simulate", "-e", "1", "-k", "4", "--values", "values.txt")
    assert [line.split()[1] for line in made.out.splitlines()[1:]] == ["50", "100", "0", "50"]
    (here / "values.txt").write_text("0\nseven\n")
    wrong = discreet("local", "simulate", "-e", "1", "-k", "4", "--values", "values.txt")
    assert wrong.code == 1
    assert "one integer per line" in wrong.err
    assert "seven" not in wrong.err


def test_mistakes_get_one_sentence(discreet: Discreet, here: Path) -> None:
    discreet("local", "simulate", "-e", "1", "-n", "50")
    discreet("local", "collect", "reports.txt")
    (here / "bad.txt").write_text((here / "reports.txt").read_text() + "no report\n")
    (here / "none.txt").write_text("hello\n")
    (here / "empty.txt").write_text("")
    first, *rest = (here / "reports.txt").read_text().splitlines()
    (here / "cut.txt").write_text("\n".join([first, *rest[:9], rest[9][:-4]]))
    (here / "unnamed.txt").write_text("\n".join([first, " " + rest[0].split()[1]]))
    discreet("local", "simulate", "-e", "2", "-n", "50", "-o", "other.txt")
    for arguments, words in (
        (["estimate"], "Only 50 reports were counted, and results need at least 100"),
        (["estimate", "missing.db"], "no collection in this file"),
        (["collect", "missing.txt"], "missing.txt"),
        (["collect", "bad.txt"], "Line 52 of bad.txt is not an id with a report"),
        (
            ["collect", "cut.txt"],
            "Line 11 of cut.txt is not an id with a report of SubsetSelection(",
        ),
        (["collect", "unnamed.txt"], "Line 2 of unnamed.txt is not an id with a report"),
        (
            ["collect", "reports.txt", "--into", "nowhere/c.db"],
            "folder of the collection does not exist",
        ),
        (["simulate", "-e", "1", "--values", "empty.txt"], "and at least one"),
        (["simulate", "-e", "1", "-m", "duchi", "--values", "empty.txt"], "and at least one"),
        (["collect", "reports.txt", "--min-people", "7"], "counts of 100 people or more, which"),
        (["collect", "none.txt"], "does not describe a mechanism"),
        (["collect", "other.txt"], "Collect them into another file"),
        (["simulate", "-e", "1", "-m", "magic"], "mechanism must be one of best, kary"),
        (["simulate", "-e", "0"], "epsilon must be"),
    ):
        ended = discreet("local", *arguments)
        assert ended.code == 1, arguments
        assert words in ended.err
        assert ended.err.count("\n") == 1
