"""Texts from data and questions are shown, never obeyed."""
# ruff: noqa: S608 - nasty questions are the point

import io
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from discreet.cli import console as screen
from tests.cli.conftest import Discreet

NASTY = "[bold red]x[/]\x1b[31m\u202e:smile:"


def test_no_text_commands_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    screen.show(NASTY)
    screen.complain(NASTY)
    for shown in capsys.readouterr():
        assert "[bold red]x[/]" in shown
        assert ":smile:" in shown
        assert "\\x1b[31m\\u202e" in shown
        assert not {"\x1b", "\u202e"} & set(shown)


def test_no_value_of_the_data_and_no_question_commands_the_terminal(
    folder: Path, discreet: Discreet
) -> None:
    (folder / "visits.csv").write_text(
        "patient_id,age,region\n" + "".join(f"{i},30,{NASTY}\n" for i in range(600))
    )
    catalog = (folder / "discreet.toml").read_text().replace(', values = ["north", "south"]', "")
    (folder / "discreet.toml").write_text(catalog)
    sql = f'SELECT region AS "{NASTY}", COUNT(*) AS n FROM visits GROUP BY region -- {NASTY}'
    asked = discreet("ask", sql, "-e", "1", "--delta", "1e-7")
    assert asked.code == 0, asked.err
    refused = discreet("ask", f"SELECT * FROM visits /* {NASTY} */", "-e", "1")
    assert refused.code == 1
    for ended in (asked, refused, discreet("budget"), discreet("ledger", "show")):
        assert "[bold red]x[/]" in ended.out + ended.err
        assert not {"\x1b", "\u202e"} & set(ended.out + ended.err)


def test_an_answer_is_in_colours_on_a_terminal_and_says_the_same() -> None:
    text = "     n     ±\n12,418   ±41\nSpent ε = 0.5 · Remaining: ε = 2.5 of 3"
    shown = io.StringIO()
    console = Console(file=shown, force_terminal=True, color_system="standard", width=80)
    console.print(screen.coloured(text), soft_wrap=True)
    assert "\x1b[36m±41\x1b[0m" in shown.getvalue()
    assert screen.coloured(text).plain == text


def test_a_spinner_is_shown_only_on_a_terminal_and_only_for_long_work(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with screen.waiting("working"):
        pass
    assert capsys.readouterr().err == ""
    shown = io.StringIO()
    terminal = Console(file=shown, force_terminal=True, width=80)
    monkeypatch.setattr(screen, "remarks", lambda: terminal)
    with screen.waiting("working"):
        pass
    assert "working" not in shown.getvalue()
    with screen.progress("counting") as tell:
        tell("[red]age", 1, 2)
    assert "counting: [red]age" in shown.getvalue()


def test_what_the_system_refused_is_one_sentence() -> None:
    refused = PermissionError(13, "Permission denied", "x.toml")
    said = screen.sentence_of(refused)
    assert said == "x.toml: permission denied. Check the path and its permissions."


def test_the_widest_column_of_a_table_gives_way_and_no_line_is_too_long() -> None:
    columns = {"n": ["1", "20"], "query": ["SELECT 日本 " * 20, "short\nline"], "what": ["a", "b"]}
    for width in (80, 40, 30):
        lines = list(screen.table_lines(columns, width=width, right={"n"}))
        assert max(map(cell_len, lines)) == width
        assert lines[1].startswith(" 1   SELECT ")
        assert "…" in lines[1]
        assert lines[2].split() == ["20", "short", "line", "b"]
    folded = "".join(screen.table_lines(columns, width=40, folds=True))
    assert folded.count("SELECT") == 20
    assert "…" not in folded


def test_sentences_are_folded_on_a_terminal_and_sql_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = io.StringIO()
    terminal = Console(file=shown, force_terminal=True, width=60, soft_wrap=True, no_color=True)
    monkeypatch.setattr(screen, "remarks", lambda: terminal)
    sql = "  SELECT " + "a" * 70
    screen.complain("This is a sentence of many words, and it goes on for a while.\n" + sql)
    lines = Text.from_ansi(shown.getvalue()).plain.splitlines()
    assert max(map(len, lines[:-1])) <= 60
    assert lines[-1] == sql


def test_counts_have_their_noun() -> None:
    assert screen.number(1, "charge") == "1 charge"
    assert screen.number(2000, "entry", "entries") == "2,000 entries"
