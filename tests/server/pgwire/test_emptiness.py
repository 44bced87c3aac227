"""Tables of the catalog have no rows in the hollow database: it must never answer for them."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from time import process_time

import pytest

from discreet.catalog import load
from discreet.server.pgwire.frames import WireFrame
from discreet.server.pgwire.hollow import Hollow
from discreet.server.pgwire.hollow_link import BIND_TEXT, EXECUTE_ALL, HollowLink, parse_frame
from discreet.server.pgwire.lexer import has_no_rows, is_empty_by_text, names_table, statements_of
from discreet.server.pgwire.listener import FORBIDDEN
from tests.server.pgwire.wired import Bare, Wired, error_in, wired, write_clinic


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wired]:
    with wired(write_clinic(tmp_path_factory.mktemp("emptiness") / "clinic")) as found:
        yield found


def values_in(messages: list[tuple[bytes, bytes]]) -> list[bytes]:
    """Return the last values of rows."""
    return [body[-1:] for kind, body in messages if kind == b"D"]


HIDDEN = {
    "a text that goes on with escapes": "SELECT length(E'a'\n'\\''), count(*) FROM visits --'",
    "and a comment between": "SELECT E'a' -- b\n --c\n '\\'', count(*) FROM visits --'",
    "a dollar quote beyond 16 bits": "SELECT $\U0001d4b3$ ' $\U0001d4b3$, count(*) FROM visits --'",
    "AND inside CASE": "SELECT COUNT(*) FROM visits WHERE CASE WHEN age > 1 AND 1=0 AND age < 5 "
    "THEN FALSE ELSE TRUE END",
    "AND inside an array": "SELECT COUNT(*) FROM visits "
    "WHERE ARRAY[age > 1 AND 1=0 AND age < 5] = ARRAY[FALSE]",
    "a label": "SELECT COUNT(*) AS where, (TRUE) AND 1=0 AND TRUE AS z FROM visits",
    "a query beside the condition": "SELECT COUNT(*), (SELECT COUNT(*) FROM visits) FROM cities "
    "WHERE 1=0",
    "after DISTINCT FROM": "SELECT 1 IS DISTINCT FROM 2, (SELECT COUNT(*) FROM visits), COUNT(*) "
    "FROM cities WHERE 1=0",
    "a query in WITH": "WITH c AS (SELECT COUNT(*) AS n FROM visits) "
    "SELECT MAX(1), (SELECT n FROM c) FROM cities WHERE FALSE",
    "a query in HAVING": "SELECT COUNT(*) FROM visits WHERE 1=0 "
    "HAVING (SELECT COUNT(*) FROM visits) = 0",
    "an aggregate that PostgreSQL does not know": "SELECT COUNT(*), MEDIAN(cost) FROM visits "
    "WHERE 1=0",
}


@pytest.mark.parametrize("name", HIDDEN)
def test_a_statement_that_reads_rows_is_not_answered_as_if_there_were_none(
    served: Wired, name: str
) -> None:
    bare = Bare(port=served.port).sign_in("ana", served.served.tokens["ana"])
    assert error_in(bare.query(HIDDEN[name]))["C"] in ("22023", "42601", "0A000")
    bare.close()


READS = [
    "SELECT COUNT(*) FROM visits",
    "SELECT COUNT(*) FROM ONLY visits",
    'SELECT COUNT(*) FROM U&"v\\0069sits"',
    "TABLE visits",
    "SELECT (SELECT COUNT(*) FROM visits)",
    "SELECT EXISTS (SELECT 1 FROM visits)",
    "SELECT COUNT(*) FROM pg_class LEFT JOIN visits ON TRUE",
    "SELECT COUNT(*) FROM pg_class, LATERAL (SELECT 1 FROM public.visits) AS l",
    "WITH v AS (TABLE visits) SELECT COUNT(*) FROM v",
    "COPY visits TO STDOUT",
    "COPY (SELECT COUNT(*) FROM visits) TO STDOUT",
    "EXPLAIN ANALYZE SELECT COUNT(*) FROM visits",
    "PREPARE p AS SELECT COUNT(*) FROM visits",
    "DECLARE c CURSOR WITH HOLD FOR SELECT COUNT(*) FROM visits",
    "SELECT COUNT(*) FROM visits WHERE FALSE",
    "SELECT COUNT(*) FROM visits LIMIT 0",
]


def test_postgresql_itself_rejects_whatever_reads_a_table_of_the_catalog(tmp_path: Path) -> None:
    """Whatever the server takes a statement for: here, nothing has looked at it before."""
    hollow = Hollow("clinic", load(write_clinic(tmp_path / "clinic")), 10)

    async def replies(sql: str) -> list[WireFrame]:
        link = await HollowLink.open(hollow.address, "clinic", FORBIDDEN)
        found = await link.ask(parse_frame("", sql), BIND_TEXT, EXECUTE_ALL)
        link.close()
        return found

    try:
        for sql in READS:
            assert b"Rcheck_enable_rls" in asyncio.run(replies(sql))[-1].body, sql
        for sql in ("SELECT 1", "SELECT COUNT(*) FROM pg_class", "SELECT 'visits'::regclass"):
            assert asyncio.run(replies(sql))[-1].kind == b"C", sql
    finally:
        hollow.close()


def test_a_statement_that_is_empty_by_its_text_leaves_nothing_open(served: Wired) -> None:
    bare = Bare(port=served.port).sign_in("ana", served.served.tokens["ana"])
    for _ in range(2):
        assert values_in(bare.query("SELECT COUNT(*) FROM visits WHERE 1=0")) == [b"0"]
        assert values_in(bare.query("SELECT current_setting('row_security')")) == [b"f"]
    bare.query("BEGIN")
    assert error_in(bare.query("SELECT 1/0 FROM visits WHERE 1=0 GROUP BY ROLLUP (region)"))
    assert error_in(bare.query("SELECT * FROM visits WHERE 1=0"))["C"] == "25P02"
    bare.query("ROLLBACK")
    assert values_in(bare.query("SELECT current_setting('row_security')")) == [b"f"]
    bare.query("DISCARD ALL")
    assert values_in(bare.query("SHOW row_security")) == [b"f"]
    assert values_in(bare.query("SELECT COUNT(*) FROM pg_prepared_statements")) == [b"0"]
    bare.close()


def test_copies_and_cursors_of_nothing_have_the_row_of_their_count(served: Wired) -> None:
    bare = Bare(port=served.port).sign_in("ana", served.served.tokens["ana"])
    none = "SELECT COUNT(*) FROM visits WHERE 1=0"
    assert (b"d", b"0\n") in bare.query(f"COPY ({none}) TO STDOUT")
    assert values_in(bare.query(f"BEGIN; DECLARE c CURSOR FOR {none}; FETCH ALL FROM c")) == [b"0"]
    bare.query("COMMIT")
    median = "SELECT MEDIAN(cost) AS m FROM visits"
    assert not error_in(bare.query(f"SELECT * FROM ({median}) AS t WHERE 1=0"))  # noqa: S608 - our own
    assert error_in(bare.query(f"{median} WHERE 1=0"))["C"] == "22023"
    bare.close()


EMPTY = [
    "SELECT * FROM visits WHERE 1=0",
    "SELECT * FROM visits AS v WHERE ((FALSE)) ORDER BY 1",
    "SELECT * FROM (SELECT region, COUNT(*) FROM visits GROUP BY region) AS t WHERE 0 = 1",
    "SELECT region FROM visits WHERE age IN (SELECT 1) AND 1 = 2 GROUP BY region",
    "SELECT COUNT(*) FROM visits FETCH FIRST 0 ROWS WITH TIES",
    "WITH c AS (TABLE visits) SELECT * FROM c LIMIT 0 OFFSET 3",
]

NOT_EMPTY = [
    "SELECT * FROM visits WHERE 1=0 OR age > 3",
    "SELECT * FROM visits WHERE NOT 1=0",
    "SELECT * FROM visits WHERE (1=0) IS FALSE",
    "SELECT * FROM visits WHERE FALSE IS NOT TRUE",
    "SELECT * FROM visits WHERE age BETWEEN 0 AND 1=0",
    "SELECT * FROM visits WHERE 1=0::bool::int",
    "SELECT * FROM visits WHERE 1=0 UNION SELECT * FROM visits",
    "SELECT * FROM (SELECT * FROM visits WHERE 1=0) AS t, visits",
    "SELECT * FROM visits LIMIT 0 + 5",
    "SELECT * FROM visits LIMIT 0x5",
    "SELECT * FROM visits LIMIT 0_5",
    "SELECT * FROM visits LIMIT ALL",
    "SELECT (SELECT COUNT(*) FROM visits LIMIT 0), COUNT(*) FROM visits",
    "SELECT 'limit 0' FROM visits -- LIMIT 0",
    *(each for name, each in HIDDEN.items() if "MEDIAN" not in each and "E'" not in each),
]


@pytest.mark.parametrize("sql", EMPTY)
def test_a_text_without_rows_is_seen(sql: str) -> None:
    assert is_empty_by_text(statements_of(sql)[0])


@pytest.mark.parametrize("sql", NOT_EMPTY)
def test_a_text_that_may_have_rows_is_not_taken_for_one_without(sql: str) -> None:
    assert not is_empty_by_text(statements_of(sql)[0])


def test_the_count_of_nothing_is_a_row() -> None:
    (one,) = statements_of("SELECT COUNT(*) FROM visits WHERE FALSE")
    assert is_empty_by_text(one)
    assert not has_no_rows(one)
    (none,) = statements_of("SELECT region, COUNT(*) FROM visits WHERE FALSE GROUP BY region")
    assert has_no_rows(none)


def test_names_are_cut_as_postgresql_cuts_them() -> None:
    tables = frozenset(["a" * 63, "é" * 31])
    for name in ("a" * 63 + "more", "A" * 70, "é" * 32, f'"{"a" * 64}"'):
        (statement,) = statements_of(f"SELECT COUNT(*) FROM {name}")  # noqa: S608 - our own
        assert names_table(statement, tables), name


def test_no_letter_is_lowered_to_another_name_than_postgresql_has() -> None:
    others = [chr(each) for each in range(128, sys.maxunicode + 1)]
    assert [each for each in others if each.lower().casefold() != each.casefold()] == []


LONG = {
    "brackets": "SELECT COUNT(*) FROM visits WHERE " + "(" * 40_000 + "1" + ")" * 40_000,
    "dots": "SELECT visits + " + ".".join(["pg_"] * 20_000),
    "spaces": "SELECT visits, E'a'\n" + " " * 100_000 + "x",
    "comments": "SELECT visits, E'a'\n" + "--\n" * 40_000 + "x",
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_statement_takes_no_longer_than_its_length(name: str) -> None:
    begun = process_time()
    (statement,) = statements_of(LONG[name])
    assert names_table(statement, frozenset(["visits"]))
    assert not is_empty_by_text(statement)
    assert process_time() - begun < 2
