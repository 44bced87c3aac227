"""`discreet attack`: a verdict, a picture, and one sentence for what cannot be."""

import json
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from discreet.attacks.targets import ExactTarget
from discreet.errors import RefusedError
from tests.cli.conftest import Discreet
from tests.cli.runs import CATALOG


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in a folder with a catalog, and without its data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    (tmp_path / "discreet.toml").write_text(CATALOG)
    return tmp_path


PUBLIC = '[budget]\nepsilon = 1\n[tables.regions]\nfrom = "regions.csv"\npublic = true\n'
SMALL = ("--people", "12", "--queries", "4", "--trials", "5")


def test_the_verdict_is_printed_and_a_picture_saved(discreet: Discreet, here: Path) -> None:
    told = discreet("attack", "averaging", "--against", "raw", *SMALL)
    assert told.code == 0, told.err
    assert told.out.startswith(
        "Averaging against raw: after 4 queries, the attack guessed 100% of 5"
    )
    assert "Chart: attack.png" in told.err
    assert (here / "attack.png").exists()


@pytest.mark.parametrize("attack", ["averaging", "differencing", "reconstruction"])
def test_discreet_is_attacked_within_its_budget(discreet: Discreet, attack: str) -> None:
    told = discreet("attack", attack, "-e", "0.2", "--epsilon-per-query", "0.1", *SMALL, "--json")
    found = json.loads(told.out)
    assert found["against"] == "discreet"
    assert found["epsilon"] == 0.2
    assert found["refused_after"] == (None if attack == "averaging" else 2)


def test_people_of_a_catalog_are_made_up_without_its_data(discreet: Discreet, here: Path) -> None:
    told = discreet(
        *("attack", "reconstruction", "-c", "discreet.toml", "--secret", "age", "--json"),
        *("--people", "20", "--queries", "20", "-p", "own.svg"),
    )
    found = json.loads(told.out)
    assert found["epsilon"] == 2
    assert found["refused_after"] == 10
    assert (here / "own.svg").exists()
    assert not (here / "discreet.ledger").exists()


def test_ways_are_told_by_name(discreet: Discreet) -> None:
    told = discreet(
        *("attack", "reconstruction", "--against", "bounded", "--method", "linear-program"),
        *("--people", "10", "--queries", "20"),
    )
    assert told.code == 0, told.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("averagin",), "('averaging' is near)"),
        (("averaging", "--against", "rouned"), "('rounded' is near)"),
        (("averaging", "--method", "edge"), "method must be one of mean, belief"),
        (("differencing", "--queries", "0"), "queries must be between 1 and"),
        (("differencing", "--queries", "1"), "queries must be 2 or more"),
        (("averaging", "--trials", "1000001"), "trials must be between 1 and"),
        (("averaging", "--epsilon", "0"), "epsilon must be more than 0"),
        (("averaging", "--epsilon-per-query", "-1"), "epsilon-per-query must be more than 0"),
        (("averaging", "--against", "raw", "--epsilon", "-1"), "epsilon must be more than 0"),
        (("averaging", "--epsilon", "1e400"), "epsilon must be 256 or less"),
        (("averaging", "--against", "float-laplace", "-e", "1e-320"), "epsilon must be 1e-09 or"),
        (("averaging", "-c", "public.toml"), "No column of a private table can be the secret"),
        (("averaging", "--secret", "age"), "needs a catalog"),
        (("averaging", "-c", "discreet.toml", "--secret", "agee"), "such as 'age'"),
        (("averaging", "-c", "nowhere.toml"), "nowhere.toml"),
        (("averaging", "--plot", "a.gif"), "must end in one of"),
        (("errors", "-c", "discreet.toml"), "catalog must be left out for errors"),
        (("errors", "--method", "mean"), "method must be left out"),
    ],
)
def test_mistakes_are_one_sentence(
    discreet: Discreet, here: Path, options: tuple[str, ...], words: str
) -> None:
    (here / "public.toml").write_text(PUBLIC)
    told = discreet("attack", *options)
    assert told.code == 1
    assert words in told.err
    assert len(told.err.strip().splitlines()) == 1
    assert not (here / "attack.png").exists()


def test_a_price_that_a_defence_does_not_know_is_remarked(discreet: Discreet) -> None:
    told = discreet("attack", "averaging", "--against", "raw", "-e", "2", *SMALL)
    assert told.code == 0
    assert "raw has no ε: --epsilon and --epsilon-per-query have no effect." in told.err


def test_a_picture_that_cannot_be_saved_is_refused_before_the_attack(
    discreet: Discreet, here: Path
) -> None:
    (here / "file").touch()
    told = discreet("attack", "averaging", "--against", "raw", *SMALL, "-p", "file/attack.png")
    assert told.code == 1
    assert not told.out
    assert "plot must be in a folder that exists" in told.err


@pytest.fixture
def hears_ctrl_c() -> Iterator[None]:
    """Hear Ctrl-C, which processes that a script starts in the background ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("hears_ctrl_c")
@pytest.mark.parametrize("becomes", [KeyboardInterrupt, RuntimeError, RefusedError, None])
def test_ctrl_c_ends_an_attack_whatever_a_driver_makes_of_it(
    discreet: Discreet, monkeypatch: pytest.MonkeyPatch, becomes: type[BaseException] | None
) -> None:
    def ask(_: ExactTarget, sql: str) -> float:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        if becomes is not None:
            raise becomes(sql)
        return 0.0

    monkeypatch.setattr(ExactTarget, "ask", ask)
    told = discreet("attack", "reconstruction", "--against", "raw", *SMALL[:4])
    assert told.code == 130
    assert told.out == ""
    assert told.err.strip().startswith("discreet: Interrupted.")
