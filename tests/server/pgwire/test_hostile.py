"""Messages that no client sends, and clients that want to harm: all of it is bounded."""

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from struct import Struct
from threading import Thread

import psutil
import psycopg
import pytest

from discreet.noise import SYSTEM
from tests.server.pgwire.wired import (
    SETTINGS,
    VERSION_3,
    Bare,
    Wired,
    error_in,
    message,
    startup,
    wired,
    write_clinic,
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wired]:
    with wired(write_clinic(tmp_path_factory.mktemp("hostile") / "clinic")) as found:
        yield found


def is_well(served: Wired) -> bool:
    """Return whether others are served."""
    with served.connect(epsilon=None) as connection:
        return bool(connection.execute("SELECT 1").fetchone() == (1,))


INT = Struct("!i")

BEFORE_SIGNING_IN = {
    "nothing": b"",
    "a length of nothing": INT.pack(0),
    "a negative length": INT.pack(-1) + INT.pack(VERSION_3),
    "two gigabytes": INT.pack(2**31 - 1) + INT.pack(VERSION_3),
    "too short": INT.pack(7) + INT.pack(VERSION_3),
    "version 2": INT.pack(8) + INT.pack(2 << 16),
    "no end of a text": startup(VERSION_3)[:4] + INT.pack(VERSION_3) + b"user",
    "not UTF-8": INT.pack(8 + 7) + INT.pack(VERSION_3) + b"user\0\xff\0",
    "HTTP": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "a query at once": message(b"Q", b"SELECT 1\0"),
    "random": SYSTEM.draw(500),
    "requests for encryption without end": startup(80877103) * 50,
    "a cancel request of no connection": INT.pack(16) + INT.pack(80877102) + INT.pack(1) * 2,
    "a short cancel request": INT.pack(10) + INT.pack(80877102) + b"xx",
    "replication": startup(VERSION_3, user="ana", database="clinic", replication="true"),
    "bad options": startup(VERSION_3, user="ana", database="clinic", options="nonsense"),
}


@pytest.mark.parametrize("name", BEFORE_SIGNING_IN)
def test_a_connection_that_does_not_begin_well_is_closed(served: Wired, name: str) -> None:
    bare = Bare(port=served.port)
    bare.send(BEFORE_SIGNING_IN[name])
    bare.connection.shutdown(1)
    while bare.connection.recv(65536):
        pass
    bare.close()
    assert is_well(served)


PARSE = message(b"P", b"\0SELECT COUNT(*) FROM visits WHERE age < $1\0\0\0")

AFTER_SIGNING_IN = {
    "a message of two gigabytes": b"Q" + INT.pack(2**31 - 1),
    "a negative length": b"Q" + INT.pack(-5),
    "an unknown message": message(b"?", b"abc"),
    "a text without end": message(b"Q", b"SELECT 1"),
    "a text that is not UTF-8": message(b"Q", b"SELECT '\xff\xfe'\0"),
    "65,535 parameters and none": PARSE
    + message(b"B", b"\0\0" + Struct("!HH").pack(0, 65535))
    + message(b"S"),
    "more formats than columns": PARSE
    + message(b"B", b"\0\0" + Struct("!HHHiHHHH").pack(0, 1, 0, 0, 0, 3, 1, 1)[:10])
    + message(b"S"),
    "a negative length of a value": PARSE
    + message(b"B", b"\0\0" + Struct("!HHi").pack(0, 1, -7) + b"\0\0")
    + message(b"S"),
    "a function call": message(b"F", b"\0\0\0\0") + message(b"S"),
    "copied data that nobody asked for": message(b"d", b"x" * 1000) + message(b"c") + message(b"S"),
    "an unknown portal": message(b"E", b"nope\0\0\0\0\0") + message(b"S"),
    "an unknown statement": message(b"B", b"\0nope\0\0\0\0\0\0\0") + message(b"S"),
    "a password again": message(b"p", b"x\0"),
    "random": SYSTEM.draw(2000),
}


@pytest.mark.parametrize("name", AFTER_SIGNING_IN)
def test_a_message_that_is_not_well_formed_is_an_error_or_the_end(served: Wired, name: str) -> None:
    before = served.spent()
    bare = Bare(port=served.port).sign_in("ana", served.served.tokens["ana"])
    bare.query("SET discreet.epsilon = 0.001")
    bare.send(AFTER_SIGNING_IN[name], message(b"X"))
    found = bare.until()
    assert not error_in(found) or len(error_in(found)["C"]) == 5
    bare.close()
    assert served.spent() == before
    assert is_well(served)


@pytest.mark.parametrize(
    "value", [b"\x7f\xf0\0\0\0\0\0\0", b"\x7f\xf8\0\0\0\0\0\1", b"\0" * 7, b""]
)
def test_a_parameter_that_is_no_finite_number_is_rejected(served: Wired, value: bytes) -> None:
    bare = Bare(port=served.port).sign_in("ana", served.served.tokens["ana"])
    bare.query("SET discreet.epsilon = 0.001")
    sql = b"\0SELECT COUNT(*) FROM visits WHERE cost < $1\0"
    types = Struct("!Hi").pack(1, 701)
    bound = b"\0\0" + Struct("!HHHi").pack(1, 1, 1, len(value)) + value + b"\0\0"
    bare.send(message(b"P", sql + types), message(b"B", bound), message(b"S"))
    assert error_in(bare.until(b"Z"))["C"] == "22P02"
    bare.close()


def test_a_statement_is_bounded_in_length_depth_and_parameters(served: Wired) -> None:
    bare = Bare(port=served.port).sign_in("ana", served.served.tokens["ana"])
    bare.query("SET discreet.epsilon = 0.001")
    count = "SELECT COUNT(*) FROM visits WHERE"
    long = f"{count} age IN (" + ",".join(["1"] * 60_000) + ")"
    deep = f"{count} {'(' * 5_000}1=1{')' * 5_000}"
    many = f"{count} age = ${10**6}"
    hollow_deep = "SELECT " + "(" * 20_000 + "1" + ")" * 20_000
    for sql in (long, deep, many, hollow_deep):
        assert error_in(bare.query(sql))["C"] in ("54000", "54001", "42601", "42P02"), sql[:60]
    assert not error_in(bare.query("SELECT 1"))
    too_long = message(b"Q", b"SELECT '" + b"x" * (1 << 18) + b"'\0")
    bare.send(too_long)
    assert error_in(bare.until(b"E"))["C"] == "08P01"
    bare.close()
    assert is_well(served)


def test_the_hollow_database_ends_what_takes_too_long(served: Wired) -> None:
    bare = Bare(port=served.port).sign_in("ana", served.served.tokens["ana"])
    begun = time.monotonic()
    found = bare.query("SELECT COUNT(*) FROM pg_class a, pg_class b, pg_class c, pg_class d")
    assert error_in(found)["C"] == "57014"
    assert time.monotonic() - begun < 15
    assert not error_in(bare.query("SELECT 1"))
    bare.close()


def test_prepared_statements_and_portals_are_bounded(served: Wired) -> None:
    bare = Bare(port=served.port).sign_in("ana", served.served.tokens["ana"])
    for start in range(0, 1200, 100):
        names = range(start, start + 100)
        bare.send(*(message(b"P", f"s{i}\0SELECT {i}\0\0\0".encode()) for i in names))
        bare.send(message(b"S"))
        found = bare.until(b"Z")
        if error_in(found):
            break
    assert error_in(found)["C"] == "53000"
    bare.close()


def test_connections_that_send_nothing_are_closed(tmp_path: Path) -> None:
    settings = f"{SETTINGS}header_seconds = 1\n"
    with wired(write_clinic(tmp_path / "clinic"), settings=settings) as served:
        bare = Bare(port=served.port)
        bare.send(startup(VERSION_3, user="ana", database="clinic"))
        begun = time.monotonic()
        while bare.connection.recv(4096):
            pass
        assert time.monotonic() - begun < 10
        bare.close()


def test_many_clients_at_once_never_overspend(served: Wired) -> None:
    def ask(i: int) -> bool:
        try:
            with served.connect("bob", epsilon=0.25) as connection:
                connection.execute("SELECT COUNT(*) AS r FROM visits WHERE age > %s", (i,))
        except psycopg.errors.ConfigurationLimitExceeded:
            return False
        return True

    with ThreadPoolExecutor(12) as pool:
        answered = list(pool.map(ask, range(40)))
    assert sum(answered) == 8
    assert served.spent("bob") == 2.0


def test_a_cancelled_query_is_charged_at_most_once_and_the_connection_goes_on(
    served: Wired,
) -> None:
    connection = served.connect(epsilon=0.5)
    before = served.spent()
    sql = "SELECT day, city, COUNT(*) AS slow FROM visits GROUP BY day, city"

    def cancel() -> None:
        time.sleep(0.05)
        connection.cancel_safe()

    thread = Thread(target=cancel)
    thread.start()
    with suppress(psycopg.errors.QueryCanceled):
        connection.execute(sql)
    thread.join()
    assert connection.execute("SELECT 1").fetchone() == (1,)
    connection.execute(sql)
    assert served.spent() == pytest.approx(before + 0.5)
    connection.close()


def test_whoever_cancels_or_goes_at_any_moment_pays_once(served: Wired) -> None:
    before, number = served.spent(), 24
    for i in range(number):
        sql = f"SELECT COUNT(*) AS moment_{i} FROM visits WHERE age <> {i}"  # noqa: S608 - our own
        bare = Bare(port=served.port).sign_in("ana", served.served.tokens["ana"])
        bare.query("SET discreet.epsilon = 0.25")
        parts = (b"\0" + sql.encode() + b"\0\0\0", b"\0\0" + b"\0" * 6, b"\0\0\0\0\0")
        bare.send(*map(message, (b"P", b"B", b"E"), parts), message(b"S"))
        time.sleep(0.002 * (i // 2))
        if i % 2:
            other = Bare(port=served.port)
            other.send(INT.pack(16) + INT.pack(80877102) + bare.key)
            other.connection.recv(10)
            other.close()
            bare.until(b"Z")
        bare.close()
        with served.connect(epsilon=0.25) as connection:
            first = connection.execute(sql.encode()).fetchall()
            assert connection.execute(sql.encode()).fetchall() == first
    assert served.spent() == pytest.approx(before + 0.25 * number)


def test_a_key_that_is_guessed_cancels_nothing(served: Wired) -> None:
    victim = Bare(port=served.port).sign_in("ana", served.served.tokens["ana"])
    victim.send(message(b"Q", b"SELECT COUNT(*) FROM pg_class a, pg_class b, pg_class c\0"))
    (number,) = INT.unpack(victim.key[:4])
    for guess in (b"\0\0\0\0", b"\xff\xff\xff\xff", bytes(each ^ 1 for each in victim.key[4:])):
        other = Bare(port=served.port)
        other.send(INT.pack(16) + INT.pack(80877102) + INT.pack(number) + guess)
        other.connection.recv(10)
        other.close()
    other = Bare(port=served.port)
    other.send(INT.pack(16) + INT.pack(80877102) + victim.key)
    other.connection.recv(10)
    other.close()
    found = error_in(victim.until(b"Z"))
    assert found.get("C", "57014") == "57014"
    victim.close()


def test_nothing_is_left_when_the_server_ends(tmp_path: Path) -> None:
    with wired(write_clinic(tmp_path / "clinic")) as served:
        process = served.served.process.pid
        children = psutil.Process(process).children(recursive=True)
        hollow = [each for each in children if "postgres" in each.name()]
        assert hollow
        folders = {each.cwd() for each in hollow}
        connection = served.connect(epsilon=None)
        assert served.served.stop() == 0
        _, alive = psutil.wait_procs(hollow, timeout=10)
        assert not alive
        assert not any(Path(each).exists() for each in folders)
        connection.close()


def test_the_hollow_database_ends_with_a_server_that_is_killed(tmp_path: Path) -> None:
    with wired(write_clinic(tmp_path / "clinic")) as served:
        process = served.served.process.pid
        children = psutil.Process(process).children(recursive=True)
        hollow = [each for each in children if "postgres" in each.name()]
        folders = {Path(each.cwd()).parent.parent for each in hollow}
        os.kill(process, 9)
        _, alive = psutil.wait_procs(hollow, timeout=10)
        assert not alive
    with wired(write_clinic(tmp_path / "another")):  # removes what the killed one left
        assert not any(each.exists() for each in folders)


# --------------------------------------------------------------------------- memory


def backend_of(bare: Bare) -> psutil.Process:
    """Return the process of the hollow database that answers a connection."""
    ((_, body),) = (each for each in bare.query("SELECT pg_backend_pid()") if each[0] == b"D")
    return psutil.Process(int(body[6:]))


@pytest.mark.slow
def test_a_full_memory_ends_neither_the_hollow_database_nor_others(served: Wired) -> None:
    other = Bare(port=served.port).sign_in("ann", served.served.tokens["ann"])
    bare = Bare(port=served.port).sign_in("ana", served.served.tokens["ana"])
    backend = backend_of(bare)
    for size in (200_000, 20_000, 2000, 200, 20):  # until nothing is left
        for i in range(2000):
            found = bare.query(f"PREPARE p{size}_{i} AS SELECT '{'x' * size}'")
            if error_in(found):
                break
        assert error_in(found)["C"] == "53200"
    assert backend.memory_info().vms < 1 << 29
    for i in range(3):
        bare.query(f"DEALLOCATE p200000_{i}")
    for depth in (2000, 7000, 30_000):  # needs more stack than it had
        assert error_in(bare.query(f"SELECT '{'[' * depth}'::json"))["C"] in ("22P02", "54001")
    assert backend.is_running()
    assert not error_in(other.query("SELECT 1"))
    for each in (bare, other):
        each.close()


def test_a_long_value_does_not_fill_the_memory_of_the_server(served: Wired) -> None:
    process = psutil.Process(served.served.process.pid)
    before = process.memory_info().rss
    bare = Bare(port=served.port).sign_in("ana", served.served.tokens["ana"])
    found = error_in(bare.query("SELECT B'1'::bit(83886080)"))
    assert found["C"] in ("08P01", "53200")
    assert process.memory_info().rss - before < 1 << 27
    bare.close()
    assert is_well(served)


def test_the_memory_of_prepared_statements_is_bounded(served: Wired) -> None:
    bare = Bare(port=served.port).sign_in("ana", served.served.tokens["ana"])
    sql = "SELECT COUNT(*) FROM visits WHERE age IN (" + ",".join(["1"] * 40_000) + ")"  # noqa: S608 - our own
    for i in range(20):
        bare.send(message(b"P", f"long{i}\0{sql}\0\0\0".encode()), message(b"S"))
        found = error_in(bare.until(b"Z"))
        if found:
            break
    assert found["C"] == "53000"
    assert i < 10
    bare.close()


def test_connections_do_not_see_how_often_others_read(served: Wired) -> None:
    with served.connect(epsilon=None) as one, served.connect("ann", epsilon=None) as other:
        sql = "SELECT SUM(seq_scan), SUM(n_live_tup) FROM pg_stat_user_tables"
        before = other.execute(sql).fetchone()
        for _ in range(5):
            one.execute("SELECT * FROM visits WHERE 1=0 LIMIT 5")
        time.sleep(1.1)
        assert other.execute(sql).fetchone() == before


def test_a_hollow_database_that_was_killed_is_made_again(tmp_path: Path) -> None:
    with wired(write_clinic(tmp_path / "clinic")) as served:
        children = psutil.Process(served.served.process.pid).children(recursive=True)
        for each in children:
            if "postgres" in each.name():
                with suppress(psutil.NoSuchProcess):
                    each.kill()
        psutil.wait_procs(children, timeout=1)
        assert is_well(served)
