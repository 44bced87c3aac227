"""What a message proposes for text that is not SQL works when it is done."""

import pytest

from discreet.errors import SqlSyntaxError
from discreet.query.parse import parse


@pytest.mark.parametrize(
    ("sql", "says", "fixed"),
    [
        (
            "SELECT COUNT(*) FROM visits WHERE union = 3",
            'If it is a column or a table, write "union"',
            'SELECT COUNT(*) FROM visits WHERE "union" = 3',
        ),
        (
            "SELECT union, COUNT(*) FROM visits GROUP BY union",
            'write "union"',
            'SELECT "union", COUNT(*) FROM visits GROUP BY "union"',
        ),
        (
            "SELECT COUNT(*) FROM visits v WHERE v.select = 3",
            'write "select"',
            'SELECT COUNT(*) FROM visits v WHERE v."select" = 3',
        ),
        ("SELECT case FROM visits", 'write "case"', 'SELECT "case" FROM visits'),
        ("SELECT COUNT(*) form visits", "Did you mean FROM?", "SELECT COUNT(*) FROM visits"),
        (
            "SELECT COUNT(*) FROM visits WHRE a = 3",
            "Did you mean WHERE?",
            "SELECT COUNT(*) FROM visits WHERE a = 3",
        ),
        (
            "SELECT a FROM visits GRUOP BY a",
            "Did you mean GROUP?",
            "SELECT a FROM visits GROUP BY a",
        ),
        (
            "SELECT TOP 10 a FROM visits",
            "write LIMIT 10 at the end",
            "SELECT a FROM visits LIMIT 10",
        ),
        ("SELECT a b c FROM visits", "comma", "SELECT a b, c FROM visits"),
        ("SELECT a COUNT(*) FROM visits", "comma", "SELECT a, COUNT(*) FROM visits"),
    ],
)
def test_a_fix_that_is_proposed_works(sql: str, says: str, fixed: str) -> None:
    with pytest.raises(SqlSyntaxError) as found:
        parse(sql)
    found.value.text = sql
    assert says in str(found.value)
    assert "line 1" in str(found.value)
    parse(fixed)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT( FROM visits",
        "SELECT SUM(a)) FROM v",
        "SELECT a FROM v WHERE a = 3 b = 4",
    ],
)
def test_where_no_fix_works_none_is_proposed(sql: str) -> None:
    with pytest.raises(SqlSyntaxError, match="Check for a missing bracket, comma or keyword"):
        parse(sql)
