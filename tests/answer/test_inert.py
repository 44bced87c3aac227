"""No text of an answer, a note or an error commands a terminal or turns writing around."""

import csv
import json
from io import StringIO
from pathlib import Path

import pytest

import discreet
from discreet.answer.answer import Note
from discreet.answer.rendering import visible
from discreet.cli.console import printable
from discreet.errors import CatalogError, DiscreetError, SourceError, UnknownNameError
from discreet.explanation import Explanation
from tests.answer.made import make_answer

COMMANDS = [
    *map(chr, (*range(9), *range(11, 32), *range(0x7F, 0xA0))),
    *"\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069",
]
HOSTILE = "".join(f"a{each}" for each in COMMANDS) + "\x1b[2J\x1b]0;title\x07"


def found_in(text: str) -> list[str]:
    return [each for each in COMMANDS if each in text]


def test_no_form_of_an_answer_commands_a_terminal() -> None:
    answer = make_answer(
        {HOSTILE: [HOSTILE, "plain"], "n": [1, 2]},
        {"n": 1},
        keys=[HOSTILE],
        question=HOSTILE,
        notes=(HOSTILE, Note(HOSTILE, is_printed=True)),
    )
    forms = {
        "csv": str(answer.to_csv()),
        "json": answer.to_json(),
        "text": answer.to_text(notes=True),
        "repr": repr(answer),
        "html": answer._repr_html_(),
    }
    assert {name: found_in(text) for name, text in forms.items()} == {name: [] for name in forms}


def test_json_gives_the_very_text_back() -> None:
    told = json.loads(make_answer({"k": [HOSTILE]}).to_json())
    assert told["rows"] == [[HOSTILE]]


def test_csv_keeps_lines_tabs_and_letters_of_all_scripts() -> None:
    texts = ["two\nlines", "a\tb", "naïve", "日本", "عربي", "नि\u200dक", "👩\u200d🔬", "\ue000"]
    rows = list(csv.reader(StringIO(str(make_answer({"k": texts}).to_csv()), newline="")))
    assert [row[0] for row in rows[1:]] == texts


@pytest.mark.parametrize(
    "error",
    [
        SourceError(f"{HOSTILE} does not exist"),
        CatalogError(HOSTILE, HOSTILE, file=HOSTILE),
        UnknownNameError(HOSTILE, HOSTILE),
        UnknownNameError(HOSTILE, HOSTILE, span=(3, 9)),
    ],
)
def test_no_sentence_of_an_error_commands_a_terminal(error: DiscreetError) -> None:
    if isinstance(error, UnknownNameError):
        error.text = HOSTILE
    assert found_in(str(error)) == []


def test_a_caret_still_stands_below_its_place(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("who,x\n1,2\n")
    with discreet.open(tmp_path / "t.csv", unit="who", epsilon=1) as curator:
        with pytest.raises(DiscreetError) as caught:
            curator.ask("SELECT COUNT(*) /* \x1b[31m \u202e */ FROM nowhere", epsilon=1)
        explained = curator.explain('SELECT COUNT(*) AS "\x1b[31m\u202e" FROM t', epsilon=1)
    sentence, line, caret, fix = str(caught.value).split("\n")
    assert "nowhere" in sentence
    assert fix == "Available tables: t."
    assert caret.index("^") == line.index("nowhere")
    assert found_in(str(caught.value)) == []
    assert isinstance(explained, Explanation)
    forms = (explained.to_text(), explained.to_json(), explained._repr_html_(), repr(explained))
    assert [found_in(each) for each in forms] == [[], [], [], []]


def test_screens_escape_all_of_them() -> None:
    assert found_in(printable(HOSTILE)) == []
    assert found_in(visible(HOSTILE)) == []


def test_a_picture_is_drawn_of_hostile_names(tmp_path: Path) -> None:
    answer = make_answer({HOSTILE: ["x\x1b\u202e", "y"], "n": [1, 2]}, {"n": 1}, keys=[HOSTILE])
    svg = answer.plot().save(tmp_path / "a.svg").read_text(encoding="utf-8")
    assert found_in(svg) == []
