"""The command, run as a user runs it: in a process of its own."""

import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from discreet import __version__
from discreet.cli import main

PNG = b"\x89PNG\r\n\x1a\n"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "discreet", *arguments]
    wide = os.environ | {"COLUMNS": "120", "NO_COLOR": "1", "TERM": "dumb"}
    return subprocess.run(command, capture_output=True, text=True, env=wide, check=False)  # noqa: S603


def test_the_tour_answers_charges_refuses_and_saves_its_pictures(tmp_path: Path) -> None:
    tour = run("demo", "--output", str(tmp_path / "pictures"))
    assert tour.returncode == 0, tour.stderr
    assert tour.stderr == ""
    for sign in ("± 95 %", "left ε = 0 of 3", "Refused: the budget does not allow this", "4.7746"):
        assert sign in tour.stdout
    for picture in ("regions.png", "law.png"):
        assert (tmp_path / "pictures" / picture).read_bytes().startswith(PNG)


def test_two_tours_draw_different_noise(tmp_path: Path) -> None:
    """Equal by chance with a probability below one in a million: a dozen noisy numbers each."""
    first, second = (run("demo", "--output", str(tmp_path)).stdout for _ in range(2))
    assert first != second


def test_a_price_names_the_best_accountant() -> None:
    priced = run(
        "price", "30 x laplace 0.1", "100 x gaussian 20", "2 x laplace 0.5", "--delta", "1e-6"
    )
    assert priced.returncode == 0, priced.stderr
    assert "PLD ← best" in priced.stdout
    assert "epsilon 4.2006" in priced.stdout


@pytest.mark.parametrize(
    ("arguments", "fix"),
    [
        (["price", "100 laplace 0.1"], "must look like '100 x laplace 0.1'"),
        (["price", "3 x laplacian 0.1"], "geometric, laplace, exponential"),
        (["price", "laplace 0"], "must be more than 0"),
        (["price", "laplace 1/0"], "must be a decimal or a fraction"),
        (["price", "laplace 0.1", "--delta", "2"], "delta must be less than 1"),
        (["price", "99999999999999999999 x laplace 0.1"], "must look like"),
        (["price", "gaussian 1e400", "--delta", "1e-6"], "must look like"),
        (["price", "gaussian 3"], "give a delta above 0"),
        (["demo", "--output", "/proc/nowhere"], "/proc/nowhere"),
    ],
)
def test_a_mistake_gets_one_sentence_and_no_traceback(
    arguments: list[str],
    fix: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "argv", ["discreet", *arguments])
    with pytest.raises(SystemExit) as left:
        main()
    said = capsys.readouterr().err
    assert left.value.code == 1
    assert said.startswith("discreet: ")
    assert said.count("\n") == 1
    assert fix in said


def test_a_mistake_of_ours_is_said_in_fixed_words(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> None:
        raise ZeroDivisionError("a secret number")

    monkeypatch.setattr("discreet.cli.app", broken)
    with pytest.raises(SystemExit) as left:
        main()
    said = capsys.readouterr().err
    assert left.value.code == 70
    assert "ZeroDivisionError" in said
    assert "secret" not in said


def test_the_version_is_printed() -> None:
    assert run("--version").stdout == "discreet 0.1.0\n"
    assert version("discreet") == __version__ == "0.1.0"


def test_without_arguments_it_says_what_it_can_do() -> None:
    shown = run()
    assert "demo" in shown.stdout + shown.stderr
    assert "price" in shown.stdout + shown.stderr
