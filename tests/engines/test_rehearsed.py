"""Statements are rehearsed once for each shape: what could make one fail is in the shape."""

import pyarrow as pa
import pytest

import discreet
from discreet.curator import Curator
from discreet.engines.rehearsal import Rehearsal
from discreet.engines.rehearsed import Rehearsed, shape_of, without_names

ALIKE = [
    ('WHERE ("v"."age" <> 7)', 'WHERE ("v"."age" <> 99)'),
    (
        'WHERE (("v"."age" >= 5) AND ("v"."age" <= 9))',
        'WHERE (("v"."age" >= 1) AND ("v"."age" <= 2))',
    ),
    ("""WHERE ("v"."s" = 'north')""", """WHERE ("v"."s" = 'the west')"""),
    ("""(d >= CAST('2024-01-01' AS DATE))""", """(d >= CAST('1999-12-31' AS DATE))"""),
]

UNLIKE = {
    "another type of whole number": ("(x = 5)", "(x = 500)"),
    "a number that 64 bits do not hold": ("(x = 9223372036854775807)", "(x = 9223372036854775808)"),
    "a number that no integer holds": (f"(x = {10**20})", f"(x = {10**40})"),
    "a number that is shifted by": ("(x >> 5)", "(x >> 6)"),
    "an argument with a name": ("(d + make_interval(days => 5))", "(d + make_interval(days => 6))"),
    "the body of a function": ("f(v -> 5)", "f(v -> 6)"),
    "a day that is none": (
        "(d >= CAST('2023-02-28' AS DATE))",
        "(d >= CAST('2023-02-29' AS DATE))",
    ),
    "a number that is added": ("((x + 5) = 1)", "((x + 6) = 1)"),
    "a number after one that is compared": ("(x = 5 + 1)", "(x = 6 + 1)"),
    "a real number": ("(x > 5.5e0)", "(x > 5.6e0)"),
    "a list": ("(x IN (1, 2))", "(x IN (1, 3))"),
    "an argument": ("(substr(s, 2) = 'a')", "(substr(s, 3) = 'a')"),
    "a format": ("(strftime(d, '%Y') = s)", "(strftime(d, '%q') = s)"),
    "a pattern": ("(s LIKE 'a%')", "(s LIKE 'b%')"),
    "another operator": ("(x < 5)", "(x > 5)"),
    "another column": ('("x" = 5)', '("y" = 5)'),
    "a column that is called like a condition": ('("(x = 5)" = 1)', '("(x = 6)" = 1)'),
    "a text that looks like a condition": ("(f('(x = 5)') = s)", "(f('(x = 6)') = s)"),
    "an empty text": ("(s = '')", "(s = 'a')"),
    "a text with a quote": ("(s = 'it''s')", "(s = 'it''t')"),
    "a text beyond ASCII": ("(s = 'é')", "(s = 'è')"),
    "a text of many letters": (f"(s = '{'a' * 101}')", f"(s = '{'b' * 101}')"),
    "a cast that may fail": ("(d = CAST('x' AS DATE))", "(d = CAST('y' AS DATE))"),
    "a dialect with other quotes": (r"(s = 'a\'') AND (x = 5)", r"(s = 'a\'') AND (x = 6)"),
}


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_what_is_compared_with_does_not_change_the_shape(one: str, other: str) -> None:
    assert shape_of(one) == shape_of(other)
    rehearsed = Rehearsed()
    assert one not in rehearsed
    rehearsed.add(one)
    assert other in rehearsed


@pytest.mark.parametrize(("one", "other"), UNLIKE.values(), ids=list(UNLIKE))
def test_whatever_else_differs_is_rehearsed_again(one: str, other: str) -> None:
    assert shape_of(one) != shape_of(other)


def test_names_of_outputs_matter_only_where_they_are_used() -> None:
    alone = 'SELECT "k0" AS "{0}", "a0" AS "n" FROM "released_0" ORDER BY 2'
    used = 'SELECT "k0" AS "{0}", "a0" AS "n" FROM "released_0" ORDER BY "{0}"'
    assert without_names(alone.format("region")) == without_names(alone.format("area"))
    assert without_names(used.format("region")) != without_names(used.format("area"))
    assert without_names("""SELECT 'AS "a"'""") != without_names("""SELECT 'AS "b"'""")


@pytest.fixture
def curator() -> Curator:
    table = pa.table({"who": range(100), "age": [each % 50 for each in range(100)]})
    return discreet.open(table, name="visits", unit="who", epsilon=1000, bounds={"age": (0, 50)})


def test_a_query_of_a_rehearsed_shape_runs_without_a_rehearsal(
    curator: Curator, monkeypatch: pytest.MonkeyPatch
) -> None:
    curator.ask("SELECT COUNT(*) AS a FROM visits WHERE age <> 7", epsilon=1)
    monkeypatch.setattr(Rehearsal, "statements", lambda *_: pytest.fail("rehearsed again"))
    curator.ask("SELECT COUNT(*) AS b FROM visits WHERE age <> 8", epsilon=1)
    with pytest.raises(BaseException, match="rehearsed again"):
        curator.ask("SELECT COUNT(*) AS b FROM visits WHERE age + 8 <> 8", epsilon=1)
