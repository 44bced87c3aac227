"""The tour: what it shows, what it leaves behind, and what it leaves alone."""

import shlex
from pathlib import Path

import pytest

from discreet.cli.tour import NEXT
from discreet.demo import CATALOG
from tests.cli.conftest import Discreet
from tests.cli.runs import run

PNG = b"\x89PNG\r\n\x1a\n"


def test_the_tour_asks_refuses_repeats_explains_and_can_be_gone_on_with(
    tmp_path: Path, discreet: Discreet, monkeypatch: pytest.MonkeyPatch
) -> None:
    tour = run("demo", "--output", "clinic", folder=tmp_path)
    assert tour.code == 0, tour.err
    assert tour.err == ""
    assert max(map(len, tour.out.splitlines())) <= 100
    for sign in (
        "Spent ε = 0.5 · Remaining: ε = 2.5 of 3",
        "Rejected: This query would return individual rows",
        "^^^^",
        "Spent nothing: this is the saved answer",
        "Cost        ε = 0.2",
        "Chart: clinic/weeks.png",
    ):
        assert sign in tour.out
    assert "Fabry" not in tour.out
    assert (tmp_path / "clinic" / "weeks.png").read_bytes().startswith(PNG)
    monkeypatch.chdir(tmp_path / "clinic")
    for command, _ in NEXT:
        name, *arguments = shlex.split(command)
        assert name == "discreet"
        if arguments != ["shell"]:
            assert discreet(*arguments).code == 0, command


def test_each_tour_begins_with_a_new_ledger_and_noise(tmp_path: Path, discreet: Discreet) -> None:
    first, second = (discreet("demo", "-o", str(tmp_path)).out for _ in range(2))
    assert first != second
    assert first.count("Spent ε") == second.count("Spent ε") == 5


@pytest.mark.parametrize("file", ["discreet.toml", "discreet.ledger"])
def test_the_tour_touches_nobody_s_catalog_or_ledger(
    file: str, tmp_path: Path, discreet: Discreet
) -> None:
    (tmp_path / file).write_text("mine")
    ended = discreet("demo", "--output", str(tmp_path))
    assert ended.code == 1
    assert "Name another folder with --output" in ended.err
    assert [path.name for path in tmp_path.iterdir()] == [file]
    assert (tmp_path / file).read_text() == "mine" != CATALOG
