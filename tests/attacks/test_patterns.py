"""Patterns of LIKE never make an engine fail for one person's data and not for another's.

An engine that reads a pattern itself does so row by row: it changes letters' case before it looks
for the escape character, or wants that to be one byte. Such a failure told a secret without noise.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from discreet.errors import QuestionError, QuestionSizeError, UnsupportedError
from tests.attacks.twins import Twin, twins
from tests.engines.contract import ENGINES

SECRETLY = "CASE WHEN id = 7 AND hiv THEN 'xxx' ELSE '' END"
COUNT = "SELECT COUNT(*) FROM p WHERE "

CONDITIONS = [
    f"{SECRETLY} ILIKE 'xA' ESCAPE 'a'",
    f"{SECRETLY} LIKE 'x%' ESCAPE 'é'",
    f"{SECRETLY} ILIKE 'xa%' ESCAPE 'A'",
    f"{SECRETLY} ILIKE 'xÉ' ESCAPE 'é'",
    f"{SECRETLY} LIKE 'xé%' ESCAPE 'é'",
    f"{SECRETLY} LIKE 'x😀_' ESCAPE '😀'",
    f"{SECRETLY} LIKE 'x%%' ESCAPE '%'",
    f"{SECRETLY} NOT ILIKE 'X!%' ESCAPE '!'",
    f"{SECRETLY} LIKE 'x\\%_' ESCAPE '\\'",
    f"{SECRETLY} LIKE 'x!_!!' ESCAPE '!'",
    f"{SECRETLY} LIKE 'x{{0}}#%' ESCAPE '#'",
]


def on_engines() -> Iterator[Any]:
    """Yield each condition for each engine; Spark is asked about the first two on a push."""
    for kind in ENGINES:
        for place, condition in enumerate(CONDITIONS):
            marks = [] if kind == "duckdb" else [pytest.mark.xdist_group(kind)]
            if kind == "spark" and place >= 2:
                marks.append(pytest.mark.slow)
            yield pytest.param(kind, condition, marks=marks)


@cache
def databases(kind: str) -> tuple[Twin, ...]:
    return twins(kind)


@pytest.mark.parametrize(("kind", "condition"), list(on_engines()))
def test_a_pattern_is_answered_alike_whoever_is_in_the_data(kind: str, condition: str) -> None:
    present, absent, changed = (each.seen(COUNT + condition) for each in databases(kind))
    assert present == absent == changed
    assert present.error == ""


@pytest.mark.parametrize(
    ("condition", "error", "says"),
    [
        ("s LIKE 'ab!' ESCAPE '!'", UnsupportedError, "position 3 of this pattern"),
        ("s LIKE 'a!!!' ESCAPE '!'", UnsupportedError, "position 4 of this pattern"),
        ("s LIKE 'a!b' ESCAPE '!'", UnsupportedError, "position 2 of this pattern"),
        ("s ILIKE 'xA' ESCAPE 'A'", UnsupportedError, "position 2 of this pattern"),
        ("s LIKE '%a' ESCAPE '%'", UnsupportedError, "position 1 of this pattern"),
        ("s LIKE 'é' ESCAPE 'e\u0301'", UnsupportedError, "has 2 characters"),
        ("s LIKE 'a' ESCAPE ''", UnsupportedError, "has 0 characters"),
        ("s LIKE 'a' ESCAPE NULL", UnsupportedError, "must be constants"),
        ("s LIKE NULL", UnsupportedError, "must be constants"),
        ("s LIKE pid", UnsupportedError, "must be constants"),
        ("s LIKE 'a' || s", UnsupportedError, "must be constants"),
        ("s ILIKE repeat('%', 9)", QuestionError, "repeat"),
        ("s LIKE '%a%a%a%a%a%a%a%a%a'", QuestionSizeError, "too long"),
    ],
)
def test_a_pattern_that_cannot_be_read_is_refused_before_the_charge(
    condition: str, error: type[QuestionError], says: str
) -> None:
    twin = databases("duckdb")[0]
    before, runs = twin.curator.remaining, twin.engine.runs
    with pytest.raises(error, match=f"(?i){says}") as refusal:
        twin.curator.ask(COUNT + condition, epsilon=1)
    assert refusal.value.span is not None
    assert (twin.curator.remaining, twin.engine.runs) == (before, runs)


AFTERWARDS = "SELECT s, s {} AS is_like, COUNT(*) FROM p GROUP BY s"


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("ILIKE 'AA%' ESCAPE 'a'", []),
        ("ILIKE 'bB' ESCAPE 'A'", []),
        ("LIKE 'a' ESCAPE 'é'", ["a"]),
        ("ILIKE 'É%a' ESCAPE 'é'", []),
        ("NOT LIKE 'é%' ESCAPE 'é'", ["a", "b", "c"]),
    ],
)
def test_a_pattern_after_the_noise_cannot_fail_either(condition: str, found: list[str]) -> None:
    twin = databases("duckdb")[0]
    rows = twin.curator.ask(AFTERWARDS.format(condition), epsilon=1).rows
    assert [each["s"] for each in rows if each["is_like"]] == found


@pytest.mark.parametrize("condition", ["LIKE 'a!' ESCAPE '!'", "LIKE s ESCAPE '!'"])
def test_a_pattern_after_the_noise_that_cannot_be_read_is_refused_before_the_charge(
    condition: str,
) -> None:
    curator = databases("duckdb")[0].curator
    before = curator.remaining
    with pytest.raises(UnsupportedError):
        curator.ask(AFTERWARDS.format(condition), epsilon=1)
    assert curator.remaining == before
