"""The page on security leaves no known attack out, and names tests that there are."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
ROOT = TESTS.parent
PAGE = ROOT / "docs" / "security-tests.md"

CASES = {
    case: title
    for group in tomllib.loads((TESTS / "golden" / "security.toml").read_text("utf-8")).values()
    for case, title in group.items()
}

ROW = re.compile(r"^\| ([A-Z]\d+) \| (.+?) \| (.+?) \| (.+?) \|$", re.M)
NAMED = re.compile(r"`(test_\w+)`")
NO_SERVER = "no server yet"


def rows() -> dict[str, tuple[str, str, str]]:
    """Return the lines of the page's tables by case: its title, what is done, what holds it."""
    found = ROW.findall(PAGE.read_text(encoding="utf-8"))
    assert len({case for case, *_ in found}) == len(found), "a case has two lines"
    return {case: (title, done, held) for case, title, done, held in found}


@cache
def functions() -> frozenset[str]:
    """Return the names of all tests, whatever file they are in."""
    return frozenset(
        each.name
        for file in TESTS.rglob("test_*.py")
        for each in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(each, ast.FunctionDef) and each.name.startswith("test_")
    )


def missing(named: list[str]) -> list[str]:
    """Return the tests that are named and do not exist."""
    return [each for each in named if each not in functions()]


def test_every_case_has_a_line() -> None:
    assert {case: title for case, (title, *_) in rows().items()} == CASES


@pytest.mark.parametrize("case", CASES)
def test_a_line_names_tests_or_says_why_there_are_none(case: str) -> None:
    _, _, held = rows()[case]
    assert NAMED.search(held) or held.startswith("*"), held


def test_every_test_that_the_page_names_is_there() -> None:
    named = NAMED.findall(PAGE.read_text(encoding="utf-8"))
    assert len(named) > len(CASES)
    assert missing(named) == []


def test_a_test_that_is_not_there_is_noticed() -> None:
    """The broken variant: a name that no test has."""
    assert missing(["test_every_case_has_a_line", "test_of_nothing"]) == ["test_of_nothing"]


def test_no_test_is_named_by_its_file() -> None:
    """Files move, and two lines of the page would name the same test differently."""
    assert re.findall(r"`[\w/]*\.py::\w+`", PAGE.read_text(encoding="utf-8")) == []


def test_nobody_says_that_there_is_no_server_once_there_is_one() -> None:
    is_said = NO_SERVER in PAGE.read_text(encoding="utf-8")
    assert is_said is not (ROOT / "src" / "discreet" / "server").exists()
