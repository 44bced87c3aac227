"""Regular expressions: the same matches everywhere, as DuckDB has them, in little time."""

# ruff: noqa: S608 - this file writes SQL

import time
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import duckdb
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.catalog.schema import Kind, Value
from discreet.engines.dialect import Dialect, Written
from discreet.engines.duckdb.dialect import DUCKDB
from discreet.engines.postgresql.dialect import POSTGRESQL
from discreet.engines.spark.dialect import SPARK
from discreet.query.expressions.functions import LONGEST_TEXT
from discreet.query.expressions.regular import LONGEST_SEARCHED, PatternError, is_empty
from discreet.query.expressions.regular_check import read_pattern
from discreet.query.expressions.regular_text import pattern_text
from tests.fuzzing.choices import Choices
from tests.postgresql import shared_server
from tests.spark import shared_session

ALPHABET = "aabcABk/.-\n1ſé😀\u212a\r\u2028 "
ATOMS = (
    *("a", "b", "c", "k", "/", r"\.", "-", "1", "é", ".", "[ab]", "[^a]", "[a-c]", "[^/]", r"\d"),
    *(
        r"\w",
        r"\s",
        r"\S",
        "[^a-c1]",
        r"[\w-]",
        "😀",
        "[😀é]",
        "ab",
        "(?:ab)",
        "(a)",
        "(b|c)",
        "(?:a|bc)",
    ),
    *(r"[^\x{80}-\x{10FFFF}]", "[^ -😀]"),
    *("([^/]+)", "(?:ab)?", r"(?:a\.)?", "([a-c]*)", r"\W", r"\D", r"[\s\S]", r"[\d\D]"),
)
REPEATS = ("", "", "", "", "?", "*", "+", "{2}", "{1,2}", "{0,3}", "{2,}")


def drawn_pattern(random: Choices, depth: int = 2) -> str:
    """Return a regular expression, accepted or not."""
    if depth and random.is_one_of(3):
        branches = [drawn_pattern(random, depth - 1) for _ in range(1 + random.below(3))]
        opening = random.one(("(", "(?:"))
        inner = f"{opening}{'|'.join(branches)})" + random.one(REPEATS)
        return inner + (drawn_pattern(random, depth - 1) if random.is_one_of(2) else "")
    return "".join(random.one(ATOMS) + random.one(REPEATS) for _ in range(1 + random.below(4)))


def drawn_text(random: Choices) -> str:
    return "".join(random.one(ALPHABET) for _ in range(random.below(10)))


@cache
def texts() -> list[str]:
    random = Choices("texts")
    found = [
        "",
        "a",
        "ab",
        "abc/abc",
        "a.b/",
        "ab\n",
        "\n",
        "a\r",
        "😀",
        "aé😀b",
        "aaab",
        "ababab/",
    ]
    return found + [drawn_text(random) for _ in range(150)]


def patterns(number: int, *, is_condition: bool, seed: int) -> Iterator[str]:
    """Yield regular expressions that are accepted."""
    random = Choices(f"patterns {seed}")
    found: set[str] = set()
    while len(found) < number:
        ends = random.one((("", ""), ("", ""), ("^", ""), ("", "$"), ("^", "$")))
        text = drawn_pattern(random).join(ends)
        try:
            read = read_pattern(text, is_condition=is_condition)
        except PatternError:
            continue
        if text not in found and (is_condition or not is_empty(read.body)):
            found.add(text)
            yield text


def stated(dialect: Dialect, value: Value) -> Written:
    if isinstance(value, int):
        return Written(text=str(value), kind=Kind.INTEGER, is_literal=True, value=value)
    text = dialect.text(str(value))
    return Written(text=text, kind=Kind.TEXT, is_literal=True, value=value)


def written(dialect: Dialect, name: str, *given: Value) -> str:
    arguments = [Written(text="x", kind=Kind.TEXT), *(stated(dialect, each) for each in given)]
    return dialect.functions[name].write(arguments)


def from_duckdb(expressions: list[str]) -> list[tuple[Any, ...]]:
    rows = ", ".join(f"({n}, {DUCKDB.text(each)})" for n, each in enumerate(texts()))
    sql = f"SELECT {', '.join(expressions)} FROM (VALUES {rows}) AS t(n, x) ORDER BY n"
    return duckdb.connect().execute(sql).fetchall()


def from_postgresql(expressions: list[str]) -> list[tuple[Any, ...]]:
    rows = ", ".join(f"({n}, {POSTGRESQL.text(each)})" for n, each in enumerate(texts()))
    sql = f"SELECT {', '.join(expressions)} FROM (VALUES {rows}) AS t(n, x) ORDER BY n"
    with psycopg.connect(shared_server()) as server:
        return server.execute(sql).fetchall()


def from_spark(expressions: list[str]) -> list[tuple[Any, ...]]:
    rows = ", ".join(f"({n}, {SPARK.text(each)})" for n, each in enumerate(texts()))
    sql = f"SELECT {', '.join(expressions)} FROM VALUES {rows} AS t(n, x) ORDER BY n"
    return [tuple(each) for each in shared_session().sql(sql).collect()]


ENGINES: dict[str, tuple[Dialect, Callable[[list[str]], list[tuple[Any, ...]]]]] = {
    "duckdb": (DUCKDB, from_duckdb),
    "postgresql": (POSTGRESQL, from_postgresql),
    "spark": (SPARK, from_spark),
}


def canonical(pattern: str, *, is_condition: bool) -> str:
    return pattern_text(read_pattern(pattern, is_condition=is_condition))


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def conditions(number: int, seed: int) -> Iterator[tuple[str, str, tuple[Value, ...]]]:
    """Yield conditions as DuckDB has them, with the function and its arguments that are ours."""
    for each in patterns(number, is_condition=True, seed=seed):
        ours = canonical(each, is_condition=True)
        yield f"regexp_matches(x, {quoted(each)})", "regexp_matches", (ours,)


def extractions(number: int, seed: int) -> Iterator[tuple[str, str, tuple[Value, ...]]]:
    """Yield extractions and replacements likewise."""
    for each in patterns(number, is_condition=False, seed=seed):
        ours, groups = (
            canonical(each, is_condition=False),
            read_pattern(each, is_condition=False).groups,
        )
        for group in range(groups + 1):
            yield f"regexp_extract(x, {quoted(each)}, {group})", "regexp_extract", (ours, group)
        new = "".join(f"<\\{group}>" for group in range(min(groups, 3) + 1)) + "$1\\\\5"
        yield f"regexp_replace(x, {quoted(each)}, {quoted(new)})", "regexp_replace", (ours, new)
        yield (
            f"regexp_replace(x, {quoted(each)}, {quoted(new)}, 'g')",
            "regexp_replace_all",
            (ours, new),
        )


def differences(engine: str, asked: list[tuple[str, str, tuple[Value, ...]]]) -> list[Any]:
    """Return where an engine says something else than DuckDB says of the query's own words."""
    dialect, run = ENGINES[engine]
    found = []
    for start in range(0, len(asked), 100):
        some = asked[start : start + 100]
        expected = from_duckdb([plain for plain, _, _ in some])
        given = run([written(dialect, name, *arguments) for _, name, arguments in some])
        for text, theirs, ours in zip(texts(), expected, given, strict=True):
            found += [
                (some[n], text, a, b)
                for n, (a, b) in enumerate(zip(theirs, ours, strict=True))
                if a != b
            ]
    return found


@pytest.mark.parametrize("engine", ENGINES)
def test_conditions_are_the_same_as_in_duckdb(engine: str) -> None:
    assert differences(engine, list(conditions(300, seed=1))) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_extractions_and_replacements_are_the_same_as_in_duckdb(engine: str) -> None:
    assert differences(engine, list(extractions(150, seed=2))) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_case_is_ignored_as_duckdb_ignores_it(engine: str) -> None:
    asked: list[tuple[str, str, tuple[Value, ...]]] = []
    for each in ("k", "[a-k]", "[^b]", "s+", r"a\.b", "ab|c", "[A-C]{2}", "1k?"):
        ours = pattern_text(read_pattern(each, ignores_case=True))
        asked.append((f"regexp_matches(x, {quoted(each)}, 'i')", "regexp_matches", (ours,)))
    assert differences(engine, asked) == []


def test_what_is_written_is_read_as_the_same() -> None:
    for is_condition in (True, False):
        for each in patterns(300, is_condition=is_condition, seed=3):
            once = canonical(each, is_condition=is_condition)
            assert canonical(once, is_condition=is_condition) == once


@given(st.text(alphabet=r"()[]{}?*+|^$\\.-,:xsdwDb0189aé\x00 ", max_size=60), st.booleans())
def test_any_text_is_read_or_rejected(text: str, is_condition: bool) -> None:
    try:
        found = read_pattern(text, is_condition=is_condition)
    except PatternError:
        return
    again = read_pattern(pattern_text(found), is_condition=is_condition)
    assert pattern_text(again) == pattern_text(found)


@pytest.mark.parametrize(
    "text",
    [
        r"\x{zz}",
        r"\x{9",
        r"[\x{1_0}]",
        r"\x{-1}",
        r"\x{D800}",
        r"\x{110000}",
        "(" * 100 + "a" + ")" * 100,
    ],
)
def test_odd_patterns_are_rejected(text: str) -> None:
    with pytest.raises(PatternError):
        read_pattern(text)


SLOW = [
    ("[a-z]+1", "a" * LONGEST_SEARCHED),
    ("(?:ab?)+c", "ab" * (LONGEST_SEARCHED // 2)),
    ("(a+)+$", "a" * (LONGEST_SEARCHED - 1) + "!"),
    ("^(?:a|b|cd?)*$", "ab" * (LONGEST_TEXT // 2 - 1) + "!"),
    ("(?:aa)*b", "a" * LONGEST_SEARCHED),
    ("[^/]{50,}/", "é" * LONGEST_SEARCHED),
    ("a{1,50}b", "a" * LONGEST_TEXT),
]


@pytest.mark.parametrize("engine", ENGINES)
def test_no_text_stalls_a_regular_expression(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A query that ends in time for all but one person's text would tell of that person."""
    for pattern, text in SLOW:
        ours = canonical(pattern, is_condition=True)
        monkeypatch.setattr("tests.engines.test_contract_regular.texts", lambda text=text: [text])
        dialect, run = ENGINES[engine]
        start = time.monotonic()
        assert run([written(dialect, "regexp_matches", ours)]) == [(False,)]
        run([written(dialect, "regexp_replace", ours, "x")])
        assert time.monotonic() - start < 20, pattern
    longer = "a" * (LONGEST_SEARCHED + 1)
    monkeypatch.setattr("tests.engines.test_contract_regular.texts", lambda: [longer])
    dialect, run = ENGINES[engine]
    anywhere = [
        written(dialect, "regexp_matches", canonical(each, is_condition=True))
        for each in ("a+$", "^a+$", "aa$")
    ]
    assert run(anywhere) == [(None, True, True)]
