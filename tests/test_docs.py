"""What the pages show is run, the README first: examples as doctests."""

import ast
import doctest
import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet.cli import main
from discreet.cli.app import TABLE, load
from discreet.demo import write_clinic

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_examples_on_the_pages_give_what_they_show(page: Path) -> None:
    # The closing fence of a block would count as output of its last example.
    text = page.read_text(encoding="utf-8").replace("```", "")
    example = doctest.DocTestParser().get_doctest(text, {}, page.stem, str(page), 0)
    report = doctest.DocTestRunner(verbose=False)
    assert report.run(example).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if not (page.parent / link).exists()]
    assert missing == []


# --------------------------------------------------------------------------- the README


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return the blocks of a page: what each is called, and what it holds."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)


def shape(shown: str) -> list[str]:
    """Return the lines of an answer without its numbers, which are noisy."""
    plain = re.sub(r"\d[\d .]*(e-\d+)?", "# ", shown)
    return [" ".join(line.split()) for line in plain.strip().splitlines()]


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in the folder that `make demo` leaves behind."""
    write_clinic(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("clinic")
def test_the_first_lines_of_the_readme_give_an_answer_like_the_one_shown() -> None:
    (_, code), (_, shown), *_ = blocks(ROOT / "README.md")
    *statements, question = ast.parse(code).body
    assert isinstance(question, ast.Expr)
    names: dict[str, object] = {}
    exec(compile(ast.Module(statements, []), "README.md", "exec"), names)  # noqa: S102 - our page
    answer = eval(compile(ast.Expression(question.value), "README.md", "eval"), names)  # noqa: S307
    assert shape(str(answer)) == shape(shown)


def test_the_commands_of_the_readme_work(clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = [line for line in shell_lines(ROOT / "README.md") if not line.startswith("cd ")]
    assert len(commands) >= 5
    for command in commands:
        arguments = shlex.split(command, comments=True)
        monkeypatch.setattr(sys, "argv", arguments)
        with pytest.raises(SystemExit) as left:
            main()
        assert left.value.code in (0, None), command
    assert (clinic / "cost.png").exists()


def shell_lines(page: Path) -> Iterator[str]:
    for name, block in blocks(page):
        if name == "sh":
            yield from block.splitlines()


def test_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    for file in sorted((ROOT / "examples").glob("*.py")):
        runpy.run_path(str(file), run_name="__main__")
        assert capsys.readouterr().out, file


def test_every_command_and_option_is_on_its_page() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^#+ (discreet[\w ]*)\n(.*?)(?=^#|\Z)", page, re.M | re.S))
    general = page.partition("\n## ")[0]
    for entry in TABLE:
        for path, options in commands_of(load(entry.name), f"discreet {entry.name}"):
            assert path in sections
            missing = [each for each in options if f"`{each}`" not in sections[path] + general]
            assert missing == [], path


def commands_of(command: object, path: str) -> Iterator[tuple[str, list[str]]]:
    """Yield every command by its whole name, with its options."""
    children: dict[str, object] = getattr(command, "commands", {})
    for name, child in children.items():
        yield from commands_of(child, f"{path} {name}")
    if not children:
        options = [opt for each in getattr(command, "params", []) for opt in each.opts]
        yield path, [each for each in options if each.startswith("-") and each != "--help"]
