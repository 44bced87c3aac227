"""Rejections name functions as the query does, never by what the parser calls them."""

import re

import duckdb
import pytest

from discreet.errors import DiscreetError
from discreet.query.expressions.rejections import (
    FIXES,
    NONDETERMINISTIC,
    WITHOUT_PRIVATE_FORM,
    written_name,
)
from discreet.query.expressions.translate import translate
from discreet.query.parse import parse
from tests.query.nasty import BOUNDED, Names, parsed, translated

CALLS = ("{0}(s)", "{0}(s, 'a')", "{0}(d, d)", "{0}(i, i, i)", "{0}()")

FUNCTIONS = sorted({*WITHOUT_PRIVATE_FORM, *FIXES, *NONDETERMINISTIC})


def sentence_of(text: str) -> str | None:
    """Return what the rejection of an expression says first; None if it is not rejected."""
    try:
        translate(parse(f"SELECT {text}").selects[0], Names(BOUNDED))
    except DiscreetError as error:
        return str(error).split(". ")[0]
    return None


def names_in(sentence: str) -> set[str]:
    """Return the words in capital letters that could be names of functions."""
    found = set(re.findall(r"\b[A-Z][A-Z0-9_]{2,}\b", sentence))
    return found - {"NULL", "SELECT", "OVER", "CAST", "HAVING", "TEXT", "DATE_PART", "TIME", "ZONE"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_rejection_names_the_function_as_the_query_does(name: str) -> None:
    for form in CALLS:
        text = form.format(name)
        sentence = sentence_of(text)
        if sentence is not None:
            assert names_in(sentence) <= set(re.findall(r"\w+", text.upper())), (text, sentence)


@pytest.mark.slow
def test_no_function_of_duckdb_is_rejected_by_another_name() -> None:
    sql = "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'scalar'"
    known = [
        name for (name,) in duckdb.execute(sql).fetchall() if re.fullmatch(r"[a-z_0-9]+", name)
    ]
    assert len(known) > 300
    for name in sorted(known):
        sentence = sentence_of(f"{name}(s, s)")
        if sentence is not None and "does not take" not in sentence and "needs" not in sentence:
            assert names_in(sentence) <= {name.upper(), "AND", "ALL", "ANY"}, (name, sentence)


def test_a_function_without_a_place_is_named_as_duckdb_names_it() -> None:
    assert written_name(parsed("CURRENT_DATE")) == "CURRENT_DATE"
    assert written_name(parsed("strptime(s, '%Y')")) == "STRPTIME"


@pytest.mark.parametrize("text", ["random()", "uuid()", "random() < 0.1"])
def test_chance_is_not_taken_for_a_date(text: str) -> None:
    with pytest.raises(DiscreetError, match="To use fewer rows, add a condition") as caught:
        translated(text)
    assert "DATE" not in str(caught.value)
