"""What is typed into the shell, and what it completes."""

from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from discreet.catalog import Catalog, load
from discreet.cli.shell import COMMANDS
from discreet.cli.shell_input import Words, inputs, is_complete


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
def test_enter_ends_what_is_complete(text: str, expected: bool) -> None:
    assert is_complete(text) is expected


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
