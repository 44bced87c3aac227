"""The shell: piped and typed."""

from pathlib import Path

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from discreet.cli.options import QuestionOptions, exact
from discreet.cli.shell import run_shell
from tests.cli.runs import run

COUNT, ROWS = "SELECT COUNT(*) AS visits FROM visits", "SELECT * FROM visits;"


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
    assert "each patient_id, at most 3 rows" in ended.out
    assert "age          integer   0 to 110" in ended.out
    assert ended.out.count("Spent ε") == 3
    assert "Remaining: ε = 1.25 of 2" in ended.out
    assert "nothing: read from the saved answer to another query" in ended.out
    assert "Spent ε = 0.25 · Remaining: ε = 1 of 2" in ended.out
    assert "would return individual rows of visits" in ended.err
    assert "Did you mean \\explain?" in ended.err
    assert (folder / "picture.png").exists()


@pytest.mark.parametrize(
    ("given", "expected", "sign"),
    [
        (f"{COUNT};", 3, "Not enough budget: this would cost ε = 5"),
        ("\\plot x.png", 1, "needs an answer"),
        ("\\plot", 1, "needs a file"),
        ("\\d vists", 1, "Did you mean visits?"),
        ("\\epsilon 0", 1, "must be more than 0"),
        ("\\epsilon x", 1, "is not a number"),
        ("\\within", 0, "Each query costs ε = 5"),
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
        code = run_shell(folder / "discreet.toml", QuestionOptions(epsilon=exact("5")))
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
        terms = QuestionOptions(epsilon=exact("0.5"))
        code = run_shell(folder / "discreet.toml", terms, terminal=(typed, DummyOutput()))
    said = capsys.readouterr()
    assert code == 0
    assert "Spent ε = 0.5 · Remaining: ε = 1.5 of 2" in said.out
    assert "SELECT COUNT(*) FROM visits" in said.out
    assert "nonsense" not in said.out + said.err
    history = folder / "state" / "discreet" / "history"
    assert "SELECT COUNT(*)" in history.read_text()
    assert history.stat().st_mode & 0o077 == 0


def test_tables_with_many_columns_are_listed_in_a_few_lines(folder: Path) -> None:
    names = [f"measurement_{i}" for i in range(150)]
    (folder / "wide.csv").write_text(",".join(names) + "\n" + ",".join("1" * 150) + "\n")
    catalog = (folder / "discreet.toml").read_text()
    (folder / "discreet.toml").write_text(
        catalog + '\n[tables.wide]\nfrom = "wide.csv"\nunit = "row"\n'
    )
    lines = run("shell", folder=folder, given="\\tables").out.splitlines()
    assert lines == [
        "visits: each patient_id, at most 3 rows",
        "  patient_id, age, region",
        "wide: each row",
        *lines[3:6],
    ]
    assert lines[3].startswith("  measurement_0, measurement_1, ")
    assert lines[5].endswith(", … and 133 more")
    assert max(map(len, lines)) <= 100
