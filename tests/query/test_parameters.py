"""Values of placeholders: literals of the tree, as if they were written in the query."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from math import inf, nan
from typing import Any

import numpy as np
import pytest

from discreet.errors import PlaceholderError, QuestionError, QuestionSizeError
from discreet.query.parse import LONGEST, canonical_text, names_in, parse
from discreet.written import json_from, parameters_from, written

FROM = "SELECT COUNT(*) FROM visits WHERE"

SAME: list[tuple[str, Any, str]] = [
    ("a = ?", [1], "a = 1"),
    ("a = ?", [-1], "a = -1"),
    ("a = ?", [True], "a = TRUE"),
    ("a = ?", [None], "a = NULL"),
    ("a IS NOT ?", [None], "a IS NOT NULL"),
    ("a > ?", [0.1], "a > 0.1"),
    ("a > ?", [1e22], "a > 1e+22"),
    ("a > ?", [-2.5], "a > -2.5"),
    ("a > ?", [Decimal("1.10")], "a > 1.10"),
    ("a > ?", [Decimal("1e3")], "a > 1000"),
    ("a > ?", [np.int64(3)], "a > 3"),
    ("a > ?", [np.float64(0.5)], "a > 0.5"),
    ("a = ?", ["it's"], "a = 'it''s'"),
    ("a = ?", ["'; DROP TABLE visits; --"], "a = '''; DROP TABLE visits; --'"),
    ("a = ?", [""], "a = ''"),
    ("a = ?", ["\\"], r"a = '\'"),
    ("d = ?", [date(2024, 1, 31)], "d = DATE '2024-01-31'"),
    ("d = ?", [datetime(2024, 1, 31, 10)], "d = TIMESTAMP '2024-01-31 10:00:00'"),
    (
        "d = ?",
        [datetime(2024, 1, 31, 10, tzinfo=timezone(timedelta(hours=2)))],
        "d = TIMESTAMPTZ '2024-01-31 10:00:00+02:00'",
    ),
    ("d > DATE '2024-01-01' + INTERVAL ? DAY", [5], "d > DATE '2024-01-01' + INTERVAL 5 DAY"),
    ("a BETWEEN :lo AND :hi", {"lo": 1, "hi": 9}, "a BETWEEN 1 AND 9"),
    ("a>:lo AND(:lo<b)", {"lo": 1}, "a>1 AND(1<b)"),
    (":lo < a", {"lo": 1}, "1 < a"),
    ("a = $2 OR b = $1", ["x", "y"], "a = 'y' OR b = 'x'"),
    ("a = $who", {"who": "x"}, "a = 'x'"),
    ("a = :from OR a = :case OR a = :end", {"from": 1, "case": 2, "end": 3}, "a=1 OR a=2 OR a=3"),
    ("a IN :list", {"list": [1, 2]}, "a IN (1, 2)"),
    ("a IN (:list)", {"list": [1, 2]}, "a IN (1, 2)"),
    ("a IN (0, :list, 3)", {"list": (1, None)}, "a IN (0, 1, NULL, 3)"),
    ("a NOT IN ?", [["x"]], "a NOT IN ('x')"),
    ("a = ANY($1)", [[1, 2]], "a IN (1, 2)"),
    ("a = ANY(?)", [["x", "y"]], "a IN ('x', 'y')"),
    ("a <> ALL($1)", [[1, 2]], "NOT a IN (1, 2)"),
    ("a LIKE ? ESCAPE ?", ["x!%", "!"], "a LIKE 'x!%' ESCAPE '!'"),
    ("COALESCE(a, ?) > ?::INT", [1, "2"], "COALESCE(a, 1) > '2'::INT"),
    ("a = '?' AND b = ? -- ? :no $1", [1], "a = '?' AND b = 1"),
    ('a = "$1" AND b = $1', [1], 'a = "$1" AND b = 1'),
    ("a[:2] = ? AND b[1:c] = ?", [1, 2], "a[:2] = 1 AND b[1:c] = 2"),
]


@pytest.mark.parametrize(("sql", "parameters", "plain"), SAME)
def test_a_value_is_what_it_is_when_it_is_written_out(
    sql: str, parameters: Any, plain: str
) -> None:
    query = written(f"{FROM} {sql}", parameters)
    assert parse(query) == parse(f"{FROM} {plain}")
    assert canonical_text(query) == canonical_text(f"{FROM} {plain}")


def test_question_marks_are_counted_in_the_order_of_the_text() -> None:
    sql = "SELECT ?, SUM(a) FROM v WHERE a = ? GROUP BY b HAVING COUNT(*) > ? LIMIT ? OFFSET ?"
    plain = "SELECT 1, SUM(a) FROM v WHERE a = 2 GROUP BY b HAVING COUNT(*) > 3 LIMIT 4 OFFSET 5"
    assert parse(written(sql, [1, 2, 3, 4, 5])) == parse(plain)


@pytest.mark.parametrize(
    "value",
    [
        *(nan, inf, -inf, 10**60, -(10**60), 10**5000, Decimal("NaN"), Decimal("Infinity")),
        *(Decimal("1e400"), Decimal("1e-400"), "a\x00b", "a\ud800", "\udfff", {}, {"a": 1}, b"a"),
        *(object(), {1}, timedelta(1), 1j, [[1]], [{}], [[]], []),
    ],
    ids=lambda each: type(each).__name__,
)
def test_no_odd_value_is_taken(value: Any) -> None:
    for sql in (f"{FROM} a > ?", f"{FROM} a IN ?"):
        with pytest.raises(PlaceholderError):
            parse(written(sql, [value]))


def test_long_values_count_as_if_they_were_written() -> None:
    with pytest.raises(QuestionSizeError, match="too long"):
        parse(written(f"{FROM} a = ?", ["x" * LONGEST]))
    with pytest.raises(QuestionSizeError, match="too long"):
        parse(written(f"{FROM} a = $1 OR b = $1", ["x" * (LONGEST // 2)]))
    with pytest.raises(QuestionSizeError, match="10,000"):
        parse(written(f"{FROM} a IN ?", [[1] * 1_000_000]))
    with pytest.raises(QuestionSizeError, match="10,000"):
        parse(written(f"{FROM} a = ?", [1] * 1_000_000))
    parse(written(f"{FROM} a IN ?", [list(range(9_000))]))


@pytest.mark.parametrize(
    ("sql", "parameters"),
    [
        ("SELECT COUNT(*) FROM $1", ["visits"]),
        ("SELECT COUNT(*) FROM visits AS $1", ["v"]),
        ("SELECT COUNT(*) AS $1 FROM visits", ["n"]),
        ("SELECT COUNT(visits.$1) FROM visits", ["a"]),
        ("SELECT $1.a FROM visits", ["a"]),
        ("SELECT a FROM visits GROUP BY $1", [1]),
        ("SELECT a FROM visits GROUP BY ($1)", [1]),
        ("SELECT a FROM visits GROUP BY ROLLUP ($1)", [1]),
        ("SELECT a FROM visits GROUP BY GROUPING SETS (($1), a)", [1]),
        ("SELECT a FROM visits ORDER BY $1 DESC", [1]),
        ("SELECT DISTINCT ON ($1) a FROM visits", [1]),
        ("SELECT DATE_TRUNC($1, d) FROM visits", ["month"]),
        ("SELECT EXTRACT($1 FROM d) FROM visits", ["month"]),
        ("SELECT CAST(a AS $1) FROM visits", ["INT"]),
        ("SELECT COUNT(*) FROM visits TABLESAMPLE ($1)", [10]),
        ("SELECT DATE $1", ["2024-01-01"]),
        ("SELECT a FROM visits WHERE a = $ 1", [1]),
        ("SELECT a FROM visits WHERE a = $ __0 OR a = $1", [1]),
        ("WITH $1 AS (SELECT 1) SELECT 1", ["a"]),
        ("SELECT a FROM visits WHERE $1", [[1]]),
        ("SELECT a FROM visits WHERE a = $0", [1]),
        ("SELECT a FROM visits WHERE a = $99999999999999999999", [1]),
        ("$1", ["SELECT 1"]),
        ("SELECT a FROM visits; $1", ["SELECT 1"]),
    ],
)
def test_a_placeholder_stands_only_where_a_value_can(sql: str, parameters: Any) -> None:
    with pytest.raises(QuestionError):
        parse(written(sql, parameters))


def test_parameters_are_a_list_or_a_mapping() -> None:
    for odd in ("30", b"30", 30, {30}, iter([30])):
        with pytest.raises(PlaceholderError, match="parameters must be a list or a mapping"):
            parse(written(f"{FROM} a > ?", odd))  # type: ignore[arg-type]


def test_an_error_shows_the_place_in_the_text_as_it_was_written() -> None:
    text = f"{FROM} a = :one AND b = :two"
    with pytest.raises(PlaceholderError) as found:
        parse(written(text, {"one": 1}))
    assert found.value.span is not None
    assert text[slice(*found.value.span)] == ":two"


@pytest.mark.parametrize(
    "given",
    [
        [1, 1.5, "a", None, True, [1, 2]],
        {"a": date(2024, 1, 31), "b": [datetime(2024, 1, 31, 10, tzinfo=UTC)]},
        [Decimal("1.10"), datetime(2024, 1, 31, 10, 0, 0, 5)],
    ],
)
def test_values_survive_json(given: Any) -> None:
    again = parameters_from(json_from(given))
    assert again == given
    assert repr(again) == repr(given)


@pytest.mark.parametrize(
    ("sql", "dialect", "names"),
    [
        ("SELECT COUNT(*) FROM t WHERE a > :b AND c = :d OR e = :b", None, ("b", "d")),
        ("SELECT COUNT(*) FROM t WHERE a = ':b' AND c::text = 'x' -- :d", None, ()),
        ("SELECT COUNT(*) FROM t WHERE a > ? AND b > $1", None, ()),
        ("SELECT COUNT(*) FROM t WHERE a > @b", "bigquery", ("b",)),
        ("SELECT 'unfinished", None, ()),
        ("", None, ()),
    ],
)
def test_names_of_placeholders_are_read_without_their_values(
    sql: str, dialect: str | None, names: tuple[str, ...]
) -> None:
    assert names_in(written(sql, dialect=dialect)) == names
