"""What the pages show is run, and what they link to is there; the site is built as a whole."""

import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from datetime import date, datetime
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

import discreet
from discreet import errors
from discreet.catalog import Kind
from discreet.cli import main
from discreet.cli.app import TABLE, load
from discreet.curator import Curator
from discreet.demo import write_clinic
from discreet.query.expressions.functions import FUNCTIONS
from docs.build import DOCS, GENERATED
from docs.examples import Block, ExampleError, blocks, is_followed_by_output, pages, refreshed
from docs.sql_forms import COMPUTED, Form, forms
from docs.sql_functions import INTERNAL, spelling_of
from tests.properties.clinic import clinic as clinic_of
from tests.properties.curators import curator_of

ROOT = Path(__file__).parent.parent
PAGES = pages()
COOKBOOK = DOCS / "how-to" / "cookbook.md"
README = ROOT / "README.md"


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


# --------------------------------------------------------------------------- examples


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_examples_on_the_pages_give_what_they_show(page: Path) -> None:
    assert refreshed(text_of(page), page.stem) == text_of(page)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("```python\n>>> 1 + 1\n3\n```\n", "```python\n>>> 1 + 1\n2\n```\n"),
        ("```python\n>>> {}['a']\nTraceback (most recent call last):\nKeyError: 'b'\n```\n", "'a'"),
        ("```console\n$ discreet --version\n0\n```\n", "discreet"),
        ("```python\n1 + 1\n```\n\n```text\n3\n```\n", "2"),
    ],
)
def test_output_that_is_wrong_is_noticed_and_replaced(wrong: str, right: str) -> None:
    assert right in refreshed(wrong, "page")
    assert refreshed(refreshed(wrong, "page"), "page") == refreshed(wrong, "page") != wrong


def test_an_example_that_does_not_run_is_named() -> None:
    with pytest.raises(ExampleError, match="no_such_name"):
        refreshed("```python\n>>> no_such_name\n1\n```\n", "page")


def test_times_are_not_compared() -> None:
    page = "```console\n$ cat notes.txt\n2026-01-02 03:04:05 done\n```\n"
    before = '```toml title="notes.txt"\n2025-01-02 03:04:06 done\n```\n\n'
    assert refreshed(before + page, "page") == before + page


def recipes() -> list[tuple[Block, Block]]:
    """Return the queries of the cookbook, each with its output."""
    text = text_of(COOKBOOK)
    found = blocks(text)
    return [
        (a, b)
        for a, b in pairwise(found)
        if a.language == "sql" and is_followed_by_output(text, a, b)
    ]


def test_the_cookbook_answers_forty_questions() -> None:
    assert len(recipes()) == 40
    assert re.findall(r"^### (\d+)\. .*\?$", text_of(COOKBOOK), re.M) == [
        str(number) for number in range(1, 41)
    ]
    for query, shown in recipes():
        assert "ε = " in shown.body, query.body
        assert not shown.body.startswith("discreet: "), query.body


# --------------------------------------------------------------------------- links and the site


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", text_of(page), flags=re.M | re.S)
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", prose)
    missing = [link for link in links if not (page.parent / link).exists()]
    assert missing == []


def test_the_site_is_built_and_needs_nothing_from_elsewhere(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir"]
    ended = subprocess.run(  # noqa: S603 - our own command
        [*command, str(tmp_path)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (tmp_path / "search").is_dir()
    loads = re.compile(
        r"<(?:script|img|link|iframe)\b[^>]*?\b(?:src|href)=\"?(https?:)?//[^\s\">]+"
    )
    for page in tmp_path.rglob("*.html"):
        assert loads.search(page.read_text(encoding="utf-8")) is None, page


@pytest.mark.parametrize("page", [DOCS / "architecture.md", ROOT / "CONTRIBUTING.md"], ids=name_of)
def test_files_that_a_page_for_contributors_names_are_there(page: Path) -> None:
    named = set(
        re.findall(r"`((?:[\w*.-]+/)*[\w*-]+\.(?:py|md|toml)|(?:[\w*-]+/)+)`", text_of(page))
    )
    assert len(named) > 10
    folders = (ROOT, ROOT / "src" / "discreet")
    assert [each for each in named if not any(any(f.glob(each)) for f in folders)] == []


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_page_is_what_make_docs_writes(name: str) -> None:
    assert text_of(DOCS / name) == GENERATED[name]()


COLUMNS: dict[Kind, tuple[str, list[object]]] = {
    Kind.INTEGER: ("an_integer", [1]),
    Kind.REAL: ("a_real", [1.5]),
    Kind.TEXT: ("a_text", ["a"]),
    Kind.BOOLEAN: ("a_boolean", [True]),
    Kind.DATE: ("day", [date(2024, 1, 2)]),
    Kind.TIMESTAMP: ("time", [datetime(2024, 1, 2, 3, 4)]),
}
CONSTANTS = {Kind.INTEGER: "1", Kind.TEXT: "'a'"}
TIMES = {"date_part", "date_trunc", "date_diff"}


@pytest.fixture(scope="module")
def every_kind() -> Iterator[Curator]:
    columns = dict(COLUMNS.values()) | {"other_day": [date(2024, 1, 1)], "unit": [1]}
    with discreet.open({"t": pa.table(columns)}, unit="unit", epsilon=1) as curator:
        yield curator


@pytest.mark.parametrize("name", sorted(set(FUNCTIONS) - INTERNAL))
def test_a_function_is_accepted_as_its_page_spells_it(name: str, every_kind: Curator) -> None:
    function = FUNCTIONS[name]
    accepted = [*function.accepts, *function.accepts[-1:] * 2][:3]
    values = {
        letter: next(
            CONSTANTS[kind] if place in function.literals else COLUMNS[kind][0]
            for kind in COLUMNS
            if kind in kinds
        )
        for place, (letter, kinds) in enumerate(zip("xyz", accepted, strict=True))
    }
    values |= {"x": "'month'"} if name in TIMES else {}
    values |= {"y": "'(a)'"} if name == "regexp_extract" else {}
    found = re.sub(r"\b[xyz]\b", lambda each: values[each[0]], spelling_of(name))
    sql = f"SELECT COUNT(*) AS n FROM t WHERE ({found}) IS NOT NULL"  # noqa: S608 - our own page
    assert every_kind.explain(sql, epsilon=0.1).columns[0].name == "n"


@pytest.fixture(scope="module")
def asked() -> Curator:
    return curator_of(clinic_of(3))


@pytest.mark.parametrize("form", forms(), ids=str)
def test_a_form_of_sql_is_answered_or_rejected_as_its_page_says(form: Form, asked: Curator) -> None:
    for each in form.examples:
        if each.error is None:
            asked.explain(each.sql, epsilon=1, **each.how)
            continue
        with pytest.raises(errors.DiscreetError) as found:
            asked.explain(each.sql, epsilon=1, **each.how)
        assert found.type.__name__ == each.error, each.sql


def test_all_forms_of_sql_are_on_their_page() -> None:
    tables = re.findall(r"<!-- table: (\w+) -->", text_of(DOCS / "reference" / "sql.md"))
    assert set(tables) == {each.section for each in forms()} | set(COMPUTED)


def test_every_error_is_on_its_page() -> None:
    page = text_of(DOCS / "reference" / "errors.md")
    named = [name for name in vars(errors) if name.endswith(("Error", "Warning"))]
    assert len(named) > 30
    assert [name for name in named if f"`{name}`" not in page and f"### {name}" not in page] == []


# --------------------------------------------------------------------------- README and commands


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in the folder that `make demo` leaves behind."""
    write_clinic(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_readme_is_short() -> None:
    assert len(text_of(README).split()) < 700


def test_the_commands_of_the_readme_work(clinic: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands = [line for line in shell_lines(README) if line.startswith("discreet ")]
    assert len(commands) >= 4
    (clinic / "discreet.toml").unlink()
    for command in commands:
        arguments = shlex.split(command, comments=True)
        monkeypatch.setattr(sys, "argv", arguments)
        with pytest.raises(SystemExit) as left:
            main()
        assert left.value.code in (0, None), command


def shell_lines(page: Path) -> Iterator[str]:
    for block in blocks(text_of(page)):
        if block.language == "sh":
            yield from block.body.splitlines()


def test_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    for file in sorted((ROOT / "examples").glob("*.py")):
        runpy.run_path(str(file), run_name="__main__")
        assert capsys.readouterr().out, file


def test_every_command_and_option_is_on_its_page() -> None:
    page = text_of(DOCS / "reference" / "cli.md")
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
