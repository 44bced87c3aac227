"""Servers over neighbouring tables: every byte of every reply is the same, noisy numbers apart."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from struct import Struct

import pytest

from tests.server.pgwire.wired import Bare, Wired, message, wired, write_clinic

VICTIM = 6
"""Lives in the north, in city 6, is 42, and costs 6.5."""

Messages = list[tuple[bytes, bytes]]
INT, SHORT = Struct("!i"), Struct("!h")

QUERIES = (
    "SELECT COUNT(*) FROM visits",
    "SELECT COUNT(*) FROM visits WHERE patient_id = 6",
    "SELECT COUNT(*) AS n, SUM(age) AS a, AVG(cost) AS c FROM visits WHERE patient_id = 6",
    "SELECT region, COUNT(*) AS n FROM visits WHERE patient_id = 6 GROUP BY region",
    "SELECT region, AVG(age) AS a, SUM(cost) AS c FROM visits GROUP BY region ORDER BY region",
    "SELECT smokes, COUNT(*) AS n FROM visits WHERE city = 'city 6' GROUP BY smokes",
    "SELECT MIN(age) AS a, MAX(cost) AS c FROM visits WHERE patient_id = 6",
    "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age) AS a FROM visits",
    "SELECT MIN(day) AS d, MAX(at) AS t FROM visits",
    "SELECT COUNT(DISTINCT city) AS n FROM visits WHERE patient_id = 6",
    "SELECT COUNT(*) AS n FROM visits JOIN cities USING (city) WHERE patient_id = 6",
    "SELECT COUNT(*) AS n FROM visits WHERE patient_id = 6 AND 1 / (age - 42) > 0",
    "SELECT SUM(age / (patient_id - 6)) AS a FROM visits",
    "SELECT COUNT(*) AS n FROM visits WHERE CAST(city AS INTEGER) > 0",
    "SELECT SUM(CAST(SUBSTR(city, 6) AS INTEGER)) AS s FROM visits",
    "SELECT COUNT(*) AS n FROM visits WHERE age * 9223372036854775807 > 0",
    "SELECT COUNT(*) AS n FROM visits WHERE city LIKE 'city 6\\%'",
    "SELECT EXTRACT(month FROM day) AS m, COUNT(*) AS n FROM visits GROUP BY 1 ORDER BY 1",
    "SELECT COUNT(*) AS n FROM visits HAVING COUNT(*) > 1000000",
    "SELECT region, COUNT(*) AS n FROM visits GROUP BY region LIMIT 1",
    "SELECT * FROM visits WHERE patient_id = 6",
    "SELECT nothing FROM visits WHERE patient_id = 6",
    "SELECT COUNT( FROM visits",
    "SELECT * FROM visits LIMIT 0",
    "SELECT COUNT(*) FROM visits WHERE patient_id = 6 AND 1 = 0",
    "SELECT reltuples, relpages FROM pg_class WHERE relname = 'visits'",
    "SELECT n_live_tup, seq_scan FROM pg_stat_user_tables",
    "SELECT * FROM pg_stats",
    "SELECT pg_relation_size('visits'), pg_database_size(current_database())",
    "SELECT city, people FROM cities ORDER BY people LIMIT 3",
)


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Wired, Wired]]:
    folder = tmp_path_factory.mktemp("twins")
    with (
        wired(write_clinic(folder / "here")) as here,
        wired(write_clinic(folder / "gone", without=VICTIM)) as gone,
    ):
        yield here, gone


def seen(messages: Messages, *, is_public: bool) -> list[object]:
    """Return messages with a word in place of each number that is noisy."""
    found: list[object] = []
    types: list[tuple[int, int]] = []
    for kind, body in messages:
        if kind == b"T":
            types = _types(body)
        if is_public or kind not in (b"D", b"d", b"N"):
            found.append((kind, body))
        elif kind == b"D":
            found.append((kind, _row(body, types)))
        else:
            found.append((kind, re.sub(rb"(?<![0-9A-Za-z])[-+]?[0-9][-0-9.:e+]*", b"#", body)))
    return found


def _types(body: bytes) -> list[tuple[int, int]]:
    """Return the type of each column, and whether it is binary."""
    found, place = [], 2
    for _ in range(SHORT.unpack(body[:2])[0]):
        place = body.index(b"\0", place) + 1
        _, _, type_, _, _, form = Struct("!ihihih").unpack(body[place : place + 18])
        found.append((type_, form))
        place += 18
    return found


TEXT, BOOLEAN = 25, 16


def _row(body: bytes, types: Sequence[tuple[int, int]]) -> list[object]:
    """Return texts and truth values as they are; of numbers and times, only their size."""
    found: list[object] = []
    place = 2
    for type_, form in types:
        (length,) = INT.unpack(body[place : place + 4])
        value = body[place + 4 : place + 4 + max(0, length)]
        place += 4 + max(0, length)
        is_shown = type_ in (TEXT, BOOLEAN)
        found.append(value if is_shown else (length if form else "number"))
    return found


def extended(sql: str, forms: int) -> bytes:
    """Return the messages of the extended protocol; forms is 1 for binary values."""
    return b"".join(
        (
            message(b"P", b"\0" + sql.encode() + b"\0\0\0"),
            message(b"D", b"S\0"),
            message(b"B", b"\0\0\0\0\0\0" + Struct("!HH").pack(1, forms)),
            message(b"D", b"P\0"),
            message(b"E", b"\0\0\0\0\0"),
            message(b"S"),
        )
    )


def replies(served: Wired, sql: str) -> list[Messages]:
    """Return all replies to a query, over all ways of asking it."""
    bare = Bare(port=served.port).sign_in("ana", served.served.tokens["ana"])
    found = [bare.query(sql)]  # its cost is not stated
    bare.query("SET discreet.epsilon = 0.2")
    found += [bare.query(f"EXPLAIN {sql}"), bare.query(sql), bare.query(sql)]
    for forms in (0, 1):
        bare.send(extended(sql, forms))
        found.append(bare.until(b"Z"))
    bare.query("SET discreet.intervals = on")
    found.append(bare.query(sql))
    found += [bare.query(f"COPY ({sql}) TO STDOUT {form}") for form in ("", "(FORMAT csv, HEADER)")]
    found.append(bare.query(f"BEGIN; DECLARE c CURSOR FOR {sql}; FETCH 1 FROM c; FETCH ALL FROM c"))
    found.append(bare.query("COMMIT"))
    bare.close()
    return found


def differences(twins: tuple[Wired, Wired], sql: str) -> list[object]:
    """Return which replies differ."""
    is_public = "FROM visits" not in sql
    here, gone = ([seen(m, is_public=is_public) for m in replies(w, sql)] for w in twins)
    return [(i, a, b) for i, (a, b) in enumerate(zip(here, gone, strict=True)) if a != b]


@pytest.mark.parametrize("sql", QUERIES[1::4])
def test_twins_reply_alike_in_every_way_of_asking(twins: tuple[Wired, Wired], sql: str) -> None:
    assert differences(twins, sql) == []


def test_twins_tell_the_same_words_of_errors_before_signing_in(twins: tuple[Wired, Wired]) -> None:
    found = []
    for served in twins:
        bare = Bare(port=served.port).sign_in("ana", "a wrong token")
        found.append(bare.until(b""))
        bare.close()
    assert found[0] == found[1]


@pytest.mark.slow
def test_twins_with_thousands_of_patients_reply_alike(tmp_path: Path) -> None:
    with (
        wired(write_clinic(tmp_path / "here", patients=4000)) as here,
        wired(write_clinic(tmp_path / "gone", patients=4000, without=VICTIM)) as gone,
    ):
        found = {sql: differences((here, gone), sql) for sql in QUERIES}
    assert {sql: each for sql, each in found.items() if each} == {}
