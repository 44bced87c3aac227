"""The shell: piped, typed, and what it completes."""

from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from discreet.catalog import Catalog, load
from discreet.cli.completion import Words
from discreet.cli.given import Terms, exact
from discreet.cli.shell import COMMANDS, run_shell
from discreet.cli.typed import inputs, is_whole
from tests.cli.runs import run

COUNT, ROWS = "SELECT COUNT(*) AS visits FROM visits", "SELECT * FROM visits;"


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["SELECT 1; SELECT 2;\n"], ["SELECT 1", "SELECT 2"]),
        (["SELECT\n", "1\n", ";\n"], ["SELECT\n1"]),
        (["SELECT ';' -- ; no\n", ', ";" /* ; */;\n'], ["SELECT ';' -- ; no\n, \";\" /* ; */"]),
        (["\\budget\n", "SELECT 1\n", "\\q\n"], ["\\budget", "SELECT 1\n\\q"]),
        (["SELECT 'it''s; fine';"], ["SELECT 'it''s; fine'"]),
        (["SELECT 'never closed;\n"], ["SELECT 'never closed;"]),
        ([";;\n", "\n"], []),
    ],
)
def test_statements_end_with_a_semicolon_that_is_one(lines: list[str], expected: list[str]) -> None:
    assert list(inputs(lines)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", True), ("SELECT 1", False), ("SELECT 1;\n", True), ("\\d x", True), ("SELECT ';", False)],
)
def test_enter_ends_what_is_whole(text: str, expected: bool) -> None:
    assert is_whole(text) is expected


def test_a_pipe_is_answered_goes_on_after_a_refusal_and_ends_with_its_code(folder: Path) -> None:
    piped = "\n".join(
        [
            "\\tables",
            "\\d visits",
            COUNT + ";" + ROWS,
            "\\epsilon 1/4",
            "SELECT AVG(age)\nFROM visits;",
            "\\plot picture.png",
            "\\budget",
            "\\explain SELECT COUNT(*) FROM visits",
            "\\explan",
            "SELECT MAX(age) FROM visits",
        ]
    )
    ended = run("shell", "--epsilon", "0.5", folder=folder, given=piped)
    assert ended.code == 1
    assert "each patient_id, with up to 3 rows" in ended.out
    assert "age          integer   0 to 110" in ended.out
    assert ended.out.count("Spent ε") == 3
    assert "left ε = 1.25 of 2" in ended.out
    assert "nothing, because the answer is already saved (it cost ε = 0.25)" in ended.out
    assert "Spent ε = 0.25 · Remaining: ε = 1 of 2" in ended.out
    assert "would show rows of units" in ended.err
    assert "perhaps \\explain" in ended.err
    assert (folder / "picture.png").exists()


@pytest.mark.parametrize(
    ("given", "expected", "sign"),
    [
        (f"{COUNT};", 3, "the budget does not allow this"),
        ("\\plot x.png", 1, "needs an answer"),
        ("\\plot", 1, "needs a file"),
        ("\\d vists", 1, "perhaps 'visits'"),
        ("\\epsilon 0", 1, "must be more than 0"),
        ("\\epsilon x", 1, "is not a number"),
        ("\\within", 0, "each question costs ε = 5"),
        ("\\help", 0, "\\explain SQL"),
        ("\\q\nnonsense;", 0, ""),
    ],
)
def test_each_mistake_is_one_sentence(
    given: str,
    expected: int,
    sign: str,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", Lines(given.splitlines(keepends=True)))
        code = run_shell(folder / "discreet.toml", Terms(epsilon=exact("5")))
    assert code == expected
    assert sign in capsys.readouterr().err


class Lines(list[str]):
    """Lines that come from no terminal."""

    def isatty(self) -> bool:
        return False


def test_what_is_typed_is_asked_until_the_end_and_kept_in_the_history(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C drops what was begun; a question has two lines; Ctrl-D ends."""
    with create_pipe_input() as typed:
        typed.send_text("SELECT nonsense\x03")
        typed.send_text("SELECT COUNT(*)\nFROM visits;\n")
        typed.send_text("\\budget\n")
        typed.send_text("\x04")
        terms = Terms(epsilon=exact("0.5"))
        code = run_shell(folder / "discreet.toml", terms, terminal=(typed, DummyOutput()))
    said = capsys.readouterr()
    assert code == 0
    assert "Spent ε = 0.5 · Remaining: ε = 1.5 of 2" in said.out
    assert "SELECT COUNT(*) FROM visits" in said.out
    assert "nonsense" not in said.out + said.err
    history = folder / "state" / "discreet" / "history"
    assert "SELECT COUNT(*)" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("text", "expected", "missing"),
    [
        ("SELECT pat", "patient_id", "age"),
        ("sel", "SELECT", "visits"),
        ("SELECT * FROM vi", "visits", "SELECT"),
        ("SELECT visits.a", "age", "AS"),
        ("SELECT v.reg", "region", "visits"),
        ("\\ep", "\\epsilon", "\\explain"),
        ("\\d vis", "visits", "SELECT"),
    ],
)
def test_words_are_completed(folder: Path, text: str, expected: str, missing: str) -> None:
    found = completions(load(folder / "discreet.toml"), text)
    assert expected in found
    assert missing not in found


def test_nothing_is_proposed_for_nothing(folder: Path) -> None:
    assert completions(load(folder / "discreet.toml"), "SELECT ") == []


def completions(catalog: Catalog, text: str) -> list[str]:
    words = Words(catalog, COMMANDS)
    return [each.text for each in words.get_completions(Document(text), CompleteEvent())]
