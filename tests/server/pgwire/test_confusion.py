"""Prices that must not outlive a transaction, and statements that must not be taken for others."""

from collections.abc import Iterator
from struct import Struct

import pytest

from tests.server.pgwire.wired import Bare, Wired, error_in, message, wired, write_clinic


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wired]:
    with wired(write_clinic(tmp_path_factory.mktemp("confusion") / "clinic")) as found:
        yield found


@pytest.fixture
def bare(served: Wired) -> Iterator[Bare]:
    found = Bare(port=served.port).sign_in("ana", served.served.tokens["ana"])
    yield found
    found.close()


def texts(messages: list[tuple[bytes, bytes]]) -> list[str]:
    """Return the first values of rows."""
    found = []
    for kind, body in messages:
        if kind == b"D":
            (length,) = Struct("!i").unpack(body[2:6])
            found.append(body[6 : 6 + length].decode())
    return found


def price(bare: Bare) -> str:
    """Return what queries of a connection may cost."""
    return texts(bare.query("SHOW discreet.epsilon"))[0]


SYNC = message(b"S")


def parse(name: str, sql: str) -> bytes:
    """Return the message that prepares a statement."""
    return message(b"P", f"{name}\0{sql}\0\0\0".encode())


def run(name: str, portal: str = "") -> bytes:
    """Return the messages that run a prepared statement."""
    bind = message(b"B", f"{portal}\0{name}\0".encode() + b"\0" * 6)
    return bind + message(b"E", f"{portal}\0".encode() + b"\0" * 4)


# --------------------------------------------------------------------------- prices

UNDONE = {
    "SET LOCAL without a transaction": ["SET LOCAL discreet.epsilon = 5"],
    "ROLLBACK TO a savepoint": [
        "BEGIN; SAVEPOINT a; SAVEPOINT b; SET discreet.epsilon = 7; ROLLBACK TO a; COMMIT"
    ],
    "an error in the same text": ["SET discreet.epsilon = 3; SELECT 1/0"],
    "an error of ours in the same text": ["SET discreet.epsilon = 3; SELECT nope FROM visits"],
    "a chained transaction": [
        *("BEGIN", "COMMIT AND CHAIN", "SET discreet.epsilon = 9", "ROLLBACK")
    ],
    "before BEGIN in the same text": ["SET discreet.epsilon = 9; BEGIN", "ROLLBACK"],
    "RESET ALL": ["SET discreet.epsilon = 9", "RESET ALL"],
    "DISCARD ALL": ["SET discreet.epsilon = 9", "DISCARD ALL"],
}


@pytest.mark.parametrize("name", UNDONE)
def test_a_price_that_is_undone_holds_for_nobody_after(bare: Bare, name: str) -> None:
    for sql in UNDONE[name]:
        bare.query(sql)
    assert price(bare) == ""


def test_a_price_in_a_round_with_an_error_is_undone(bare: Bare) -> None:
    bare.send(parse("", "SET discreet.epsilon = 4"), run(""), parse("", "SELECT 1/0"), run(""))
    bare.send(SYNC)
    assert error_in(bare.until(b"Z"))["C"] == "22012"
    assert price(bare) == ""


def test_a_price_that_is_committed_stays(bare: Bare) -> None:
    bare.query("BEGIN; SAVEPOINT a; SET discreet.epsilon = 7; RELEASE a; COMMIT")
    assert price(bare) == "7"
    bare.query("SET discreet.epsilon = 2; SELECT 1")
    assert price(bare) == "2"


def test_nothing_runs_in_a_transaction_that_has_failed(served: Wired, bare: Bare) -> None:
    before = served.spent()
    bare.query("SET discreet.epsilon = 0.001")
    bare.send(parse("s", "SELECT COUNT(*) AS in_failed FROM visits"), parse("c", "COMMIT"), SYNC)
    bare.until(b"Z")
    bare.query("BEGIN")
    bare.query("SELECT nope FROM visits")
    bare.send(run("s"), SYNC)
    assert error_in(bare.until(b"Z"))["C"] == "25P02"
    assert error_in(bare.query("SAVEPOINT x"))["C"] == "25P02"
    bare.send(run("c"), SYNC)
    assert (b"C", b"ROLLBACK\0") in bare.until(b"Z")
    assert served.spent() == before


# --------------------------------------------------------------------------- statements


def test_a_statement_without_a_name_is_not_taken_for_another(bare: Bare) -> None:
    bare.send(parse("", "SELECT 'first'"), SYNC)
    bare.until(b"Z")
    bare.query("SELECT 'second'")
    bare.send(run(""), SYNC)
    assert error_in(bare.until(b"Z"))["C"] == "26000"
    bare.send(parse("", "SELECT COUNT(*) FROM cities"), SYNC, parse("", "SELEKT"), SYNC, run(""))
    bare.send(SYNC)
    bare.until(b"Z")
    assert error_in(bare.until(b"Z"))
    assert error_in(bare.until(b"Z"))["C"] == "26000"


def test_a_name_is_free_again_after_deallocate(bare: Bare) -> None:
    for sql in ("SELECT 'here'", "SELECT city FROM cities LIMIT 1"):
        for _ in range(2):
            bare.send(parse("h", sql), run("h"), SYNC)
            assert len(texts(bare.until(b"Z"))) == 1
            assert not error_in(bare.query("DEALLOCATE h"))


def test_cursors_of_both_databases_have_different_names(bare: Bare) -> None:
    bare.query("BEGIN; DECLARE c CURSOR FOR SELECT city FROM cities ORDER BY people")
    assert error_in(bare.query("DECLARE c CURSOR FOR SELECT 1"))["C"] == "42P03"
    bare.query("ROLLBACK")
    bare.query("BEGIN; DECLARE c CURSOR FOR SELECT city FROM cities ORDER BY people")
    bare.send(parse("", "SELECT 'other'"), run("", "c"), SYNC)
    assert error_in(bare.until(b"Z"))["C"] == "42P03"
    bare.query("ROLLBACK")


def test_what_cannot_be_discarded_is_an_error_at_once(bare: Bare) -> None:
    found = bare.query("BEGIN; DISCARD ALL; SELECT 1")
    assert error_in(found)["C"] == "25001"
    assert found[-1] == (b"Z", b"E")
    assert not error_in(bare.query("ROLLBACK"))


def test_dates_are_always_written_in_the_same_order(served: Wired, bare: Bare) -> None:
    for style in ("SQL, DMY", "german", "Postgres"):
        assert error_in(bare.query(f"SET datestyle = '{style}'"))["C"] == "0A000"
    assert not error_in(bare.query("SET datestyle = 'ISO, DMY'"))
    with served.connect(epsilon=None, options="-c datestyle=SQL") as connection:
        assert connection.execute("SHOW datestyle").fetchone()[0].startswith("ISO")


def test_a_thousand_statements_at_once_are_answered_in_order(served: Wired, bare: Bare) -> None:
    before = served.spent()
    bare.query("SET discreet.epsilon = 0.001")
    sent = []
    for i in range(250):
        sent += [parse("", f"SELECT '{i}'"), run("")]
        sent += [
            parse("", f"SELECT city, {i} FROM cities WHERE people = {1000 * (i % 40)}"),  # noqa: S608 - our own
            run(""),
        ]
        sent += [parse("", "SELECT COUNT(*) AS piped FROM visits"), run("")]
        sent += [parse("", "SELECT patient_id FROM visits LIMIT 0"), run("")]
    bare.send(*sent, SYNC)
    found = texts(bare.until(b"Z"))
    assert len(found) == 750
    assert found[::3] == [str(i) for i in range(250)]
    assert found[1::3] == [f"city {i % 40}" for i in range(250)]
    assert len(set(found[2::3])) == 1, "the same query has the same answer"
    assert served.spent() == pytest.approx(before + 0.001)
