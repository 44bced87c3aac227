"""`discreet design`: mechanisms side by side, and what is refused."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Discreet


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


def test_mechanisms_stand_in_the_order_of_their_worth_and_a_picture_is_saved(
    discreet: Discreet, here: Path
) -> None:
    told = discreet("design", "--range", "0", "12", "--epsilon", "1", "--prior", "binomial=0.1")
    assert told.code == 0, told.err
    names = [line.split("  ")[0] for line in told.out.splitlines()]
    assert names[1:5] == [
        "Laplace, rounded",
        "geometric",
        "geometric + remap",
        "optimum (linear program)",
    ]
    assert "Ghosh" in told.err
    assert (here / "design.png").exists()


def test_everything_is_there_as_json(discreet: Discreet, here: Path) -> None:
    (here / "seen.txt").write_text("3\n4\n4\n99\n")
    told = discreet(
        *("design", "--range", "0", "8", "-e", "0.5", "--gain", "parity", "--json"),
        *("--prior", "seen.txt", "-p", "p.svg"),
    )
    found = json.loads(told.out)
    worth = [each["utility"] for each in found["mechanisms"]]
    assert worth[1] < worth[3] <= found["bound"]
    assert found["gap"] < 1e-8
    assert not found["is_universal"]
    assert all(each["epsilon"] <= 0.5 for each in found["mechanisms"])


def test_without_a_prior_the_worst_answer_counts(discreet: Discreet) -> None:
    told = discreet("design", "--range", "0", "8", "--epsilon", "1", "--prior", "worst", "--json")
    worth = [each["utility"] for each in json.loads(told.out)["mechanisms"]]
    assert worth[0] < worth[1] < worth[2] < 8
    shown = discreet("design", "--range", "0", "8", "--epsilon", "1", "--prior", "worst")
    assert "for the worst answer" in shown.err
    assert "Gupte" in shown.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--range", "5", "5"), "must go up"),
        (("--range", "0", "9999"), "300 answers"),
        (("--range", "0", "101", "--prior", "worst"), "100 answers"),
        (("--prior", "nowhere.txt"), "uniform, worst, binomial=0.3"),
        (("--prior", "binomial=much"), "like 0.3"),
        (("--gain", "distance"), "'identity' or"),
        (("--epsilon", "1000"), "between 0.001 and 50"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(
    discreet: Discreet, options: tuple[str, ...], words: str
) -> None:
    told = discreet("design", "--range", "0", "5", "--epsilon", "1", *options)
    assert told.code == 1
    assert words in told.err


def test_a_price_names_the_best_accountant(discreet: Discreet) -> None:
    priced = discreet(
        "price", "30 x laplace 0.1", "100 x gaussian 20", "2 x laplace 0.5", "--delta", "1e-6"
    )
    assert priced.code == 0, priced.err
    assert "PLD ← best" in priced.out
    assert "Total cost: ε ≤ 4.2006" in priced.out
