"""30 queries of ClickBench are answered as plain SQL answers them; 13 ask for rows or for texts.

On push DuckDB answers them, with `-m slow` the other engines too.
"""

from collections import Counter
from collections.abc import Iterator

import duckdb
import pytest

from discreet.curator import Curator
from tests.suites import clickbench
from tests.suites.asking import (
    answerable,
    assert_empty_by_nature,
    assert_rejected,
    differences_from_plain,
    of,
    rejected,
)
from tests.suites.held import EMPTY, Asked, Suite

SUITE = Suite(name="clickbench", tables=clickbench.tables(), settings=clickbench.settings())

ASKED = [
    *(("prepared", each) for each in answerable(SUITE)),
    *(
        pytest.param(kind, each, marks=pytest.mark.slow)
        for kind in ("postgresql", "spark")
        for each in answerable(SUITE)
    ),
]


@pytest.fixture(scope="module")
def curator(request: pytest.FixtureRequest) -> Iterator[Curator]:
    with SUITE.held(getattr(request, "param", "prepared")) as curator:
        yield curator


@pytest.fixture(scope="module")
def plain() -> Iterator[duckdb.DuckDBPyConnection]:
    with SUITE.plain() as connection:
        yield connection


@pytest.mark.parametrize(("curator", "query"), ASKED, indirect=["curator"], ids=str)
def test_a_query_is_answered_as_plain_sql_answers_it(
    curator: Curator, plain: duckdb.DuckDBPyConnection, query: Asked
) -> None:
    assert differences_from_plain(curator, plain, query) == []


@pytest.mark.parametrize("query", rejected(SUITE), ids=str)
def test_a_query_for_rows_or_texts_of_people_is_rejected(curator: Curator, query: Asked) -> None:
    assert_rejected(curator, query)


@pytest.mark.parametrize("query", of(SUITE, EMPTY), ids=str)
def test_groups_of_one_user_are_not_shown(curator: Curator, query: Asked) -> None:
    assert_empty_by_nature(curator, query)


def test_every_query_finds_rows(plain: duckdb.DuckDBPyConnection) -> None:
    found = {each.name: plain.execute(each.sql).fetchall() for each in answerable(SUITE)}
    assert [name for name, rows in found.items() if not rows or rows == [(None,)]] == []


def test_thirty_queries_are_answerable() -> None:
    assert [each.name for each in SUITE.queries] == [f"Q{n}" for n in range(43)]
    assert Counter(each.outcome for each in SUITE.queries) == {
        "answered": 28,
        "empty": 2,
        "RowLevelError": 9,
        "UnsupportedError": 3,
        "UnboundedError": 1,
    }
