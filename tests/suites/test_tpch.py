"""The queries of TPC-H are answered as plain SQL answers them, but for the two that list customers.

On push Spark answers some of them, with `-m slow` all.
"""

from collections import Counter
from collections.abc import Iterator

import duckdb
import pytest

from discreet.curator import Curator
from tests.suites import tpch
from tests.suites.asking import (
    answerable,
    assert_empty_by_nature,
    assert_free,
    assert_rejected,
    differences_from_plain,
    of,
    rejected,
)
from tests.suites.held import EMPTY, FREE, Asked, Suite

SUITE = Suite(name="tpch", tables=tpch.tables(), settings=tpch.settings())

ON_PUSH = {"Q1", "Q4", "Q13"}
"""Those that Spark answers on every push."""

ASKED = [
    *(("prepared", each) for each in answerable(SUITE)),
    *(("postgresql", each) for each in answerable(SUITE)),
    *(
        pytest.param("spark", each, marks=() if each.name in ON_PUSH else pytest.mark.slow)
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
def test_a_query_that_lists_customers_is_rejected(curator: Curator, query: Asked) -> None:
    assert_rejected(curator, query)


@pytest.mark.parametrize("query", of(SUITE, EMPTY), ids=str)
def test_groups_of_one_customer_are_not_shown(curator: Curator, query: Asked) -> None:
    assert_empty_by_nature(curator, query)


@pytest.mark.parametrize("query", of(SUITE, FREE), ids=str)
def test_a_query_of_public_tables_is_free(curator: Curator, query: Asked) -> None:
    assert_free(curator, query)


def test_every_query_finds_rows(plain: duckdb.DuckDBPyConnection) -> None:
    found = {each.name: plain.execute(each.sql).fetchall() for each in answerable(SUITE)}
    assert [name for name, rows in found.items() if not rows or rows == [(None,)]] == []


def test_all_queries_but_two_are_answerable() -> None:
    assert [each.name for each in SUITE.queries] == [f"Q{n}" for n in range(1, 23)]
    assert Counter(each.outcome for each in SUITE.queries) == {
        "answered": 16,
        "free": 3,
        "empty": 1,
        "RowLevelError": 2,
    }
