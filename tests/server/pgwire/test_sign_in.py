"""Signing in with a PostgreSQL client: accounts, tokens, encryption, limits."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from struct import Struct
from typing import Any

import psycopg
import pytest

from discreet.ledger import make_token
from discreet.opening import open_books
from discreet.server.pgwire.scram import Exchange, keys_from, keys_of_nobody
from tests.server.certificates import make_authority, make_certificate
from tests.server.forked import run_command
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
    with wired(write_clinic(tmp_path_factory.mktemp("sign_in") / "clinic")) as found:
        yield found


def failure(served: Wired, **given: str) -> psycopg.OperationalError:
    """Return why somebody cannot connect."""
    parts = {**served.parts(), "dbname": "clinic", **given}
    with pytest.raises(psycopg.OperationalError) as error:
        psycopg.connect(**parts)
    return error.value


@pytest.mark.parametrize(
    "given",
    [
        {"password": "wrong"},
        {"password": ""},
        {"user": "nobody"},
        {"user": "discreet"},
        {"user": "nobody", "dbname": "nowhere"},
        {"dbname": "nowhere", "password": "wrong"},
    ],
)
def test_a_wrong_token_account_or_database_fails_alike(
    served: Wired, given: dict[str, str]
) -> None:
    if not given.get("password", "some"):
        return  # libpq itself asks for a password
    user = given.get("user", "ana")
    assert f'FATAL:  password authentication failed for user "{user}"' in str(
        failure(served, **given)
    )


def test_who_has_signed_in_learns_which_databases_there_are(served: Wired) -> None:
    found = str(failure(served, dbname="nowhere"))
    assert 'database "nowhere" does not exist' in found
    assert "You may use: clinic" in found


def test_a_setting_that_postgresql_rejects_is_named(served: Wired) -> None:
    found = str(failure(served, options="-c timezone=Nowhere/Land"))
    assert 'invalid value for parameter "TimeZone": "Nowhere/Land"' in found


def test_a_reader_is_told_that_only_analysts_may_connect(served: Wired) -> None:
    found = str(failure(served, user="guest", password=served.served.tokens["guest"]))
    assert "This call is for the role analyst" in found


def test_an_owner_asks_on_the_account_of_the_owner(served: Wired) -> None:
    with served.connect("boss", epsilon=0.5) as connection:
        assert len(connection.execute("SELECT COUNT(*) FROM visits").fetchall()) == 1


def test_an_account_that_is_disabled_is_cut_off_at_its_next_query(served: Wired) -> None:
    with served.connect("bob", epsilon=0.1) as connection:
        connection.execute("SELECT COUNT(*) AS still FROM visits")
        changed = served.served.call(
            "PATCH", "/v1/catalogs/clinic/analysts/bob", "boss", json={"enabled": False}
        )
        assert changed.status_code == 200
        with pytest.raises(psycopg.Error):
            connection.execute("SELECT COUNT(*) AS not_any_more FROM visits WHERE age > 3")
    assert "password authentication failed" in str(
        failure(served, user="bob", password=served.served.tokens["bob"])
    )


def test_tokens_without_keys_of_scram_work_over_http_alone(tmp_path: Path) -> None:
    catalog = write_clinic(tmp_path / "clinic")
    with wired(catalog) as served:
        token = make_token()
        with open_books(catalog) as ledger:  # as version 0.1 did
            ledger.declare_analyst("old", epsilon=1, token_hash=token.hash)
        served.served.tokens["old"] = token.text
        assert served.served.call("GET", "/v1/me", "old").status_code == 200
        found = str(failure(served, user="old", password=token.text))
        assert "A token that was made before version 0.2 must be made again" in found


def test_the_exchange_looks_the_same_for_accounts_that_do_not_exist(served: Wired) -> None:
    def challenge(user: str) -> tuple[int, str]:
        bare = Bare(port=served.port)
        bare.send(startup(VERSION_3, user=user, database="clinic"))
        bare.read()
        sent = b"n,,n=,r=abcdefghijklmnop"
        bare.send(message(b"p", b"SCRAM-SHA-256\0" + Struct("!i").pack(len(sent)) + sent))
        _, body = bare.read()
        bare.close()
        first = body[4:].decode()
        return len(first), first.split(",")[1]

    assert challenge("ana")[0] == challenge("stranger")[0]
    assert challenge("ana")[1] == challenge("ana")[1]
    assert challenge("stranger")[1] == challenge("stranger")[1], "a salt that changes tells"
    assert challenge("stranger")[1] != challenge("stranger2")[1]


def salt_of(served: Wired, user: str, database: str) -> str:
    """Return the salt that somebody is asked to use."""
    bare = Bare(port=served.port)
    bare.send(startup(VERSION_3, user=user, database=database))
    bare.read()
    sent = b"n,,n=,r=abcdefghijklmnop"
    bare.send(message(b"p", b"SCRAM-SHA-256\0" + Struct("!i").pack(len(sent)) + sent))
    _, body = bare.read()
    bare.close()
    return body[4:].decode().split(",")[1]


def test_salts_tell_neither_accounts_nor_databases(served: Wired) -> None:
    """An account has the same salt whichever database is named; so has one that does not exist."""
    databases = ("clinic", "nowhere", "elsewhere")
    for user in ("ana", "bob", "stranger"):
        assert len({salt_of(served, user, each) for each in databases}) == 1, user


def test_salts_of_accounts_that_do_not_exist_outlive_the_server(tmp_path: Path) -> None:
    catalog, found = write_clinic(tmp_path / "clinic"), []
    for _ in range(2):
        with wired(catalog) as served:
            found.append(salt_of(served, "stranger", "clinic"))
    assert found[0] == found[1]


def test_a_proof_of_another_exchange_is_rejected() -> None:
    token = make_token()
    exchange = Exchange(keys_from(token.scram))
    exchange.challenge(b"n,,n=,r=abcdefghijklmnop")
    final = b"c=biws,r=abcdefghijklmnop,p=" + b"A" * 43 + b"="
    assert exchange.verify(final) is None
    assert Exchange(keys_of_nobody("x")).challenge(b"y,,n=,r=abc") != b""


def test_guessing_is_limited_by_address(tmp_path: Path) -> None:
    settings = SETTINGS.replace("sign_ins_per_minute = 100000", "sign_ins_per_minute = 5")
    with wired(write_clinic(tmp_path / "clinic"), settings=settings) as served:
        found = [str(failure(served, user="stranger")) for _ in range(8)]
        assert "password authentication failed" in found[0]
        assert "Too many calls in a short time" in found[-1]


def test_connections_are_limited_in_all_and_for_each_account(tmp_path: Path) -> None:
    settings = f"{SETTINGS}pg_connections = 4\npg_connections_per_account = 2\n"
    with wired(write_clinic(tmp_path / "clinic"), settings=settings) as served:
        held = [served.connect(epsilon=None) for _ in range(2)]
        with pytest.raises(psycopg.OperationalError, match="Too many connections"):
            served.connect(epsilon=None)
        held += [served.connect("ann", epsilon=None) for _ in range(2)]
        with pytest.raises(psycopg.OperationalError, match="Too many connections"):
            served.connect("boss", epsilon=None)
        for each in held:
            each.close()
        for _ in range(50):
            try:
                served.connect("boss", epsilon=None).close()
                break
            except psycopg.OperationalError:
                continue
        else:
            raise AssertionError("places of closed connections are free again")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_connections_are_encrypted_with_the_certificate_of_the_server(tmp_path: Path) -> None:
    authority, other = make_authority(tmp_path, "ours"), make_authority(tmp_path, "theirs")
    certificate, key = make_certificate(tmp_path, "ours")
    options = ("--tls-cert", str(certificate), "--tls-key", str(key))
    catalog = write_clinic(tmp_path / "clinic")
    with wired(catalog, *options, scheme="https", verify=False) as served:
        checked: dict[str, Any] = {"sslmode": "verify-full", "sslrootcert": str(authority)}
        with served.connect(epsilon=1, **checked) as connection:
            assert connection.pgconn.ssl_in_use
            rows = connection.execute("SELECT region, COUNT(*) FROM visits GROUP BY 1").fetchall()
            assert len(rows) == 2
            long = "SELECT " + ", ".join(f"'{'x' * 900}'" for _ in range(100))
            assert len(connection.execute(long).fetchone()) == 100
        with pytest.raises(psycopg.OperationalError, match="certificate"):
            served.connect(**{**checked, "sslrootcert": str(other)})
        bare = Bare(port=served.port)  # bytes before the connection is encrypted
        bare.send(startup(80877103) + startup(VERSION_3, user="ana", database="clinic"))
        found = bare.until(b"E") if bare.exactly(0) == b"" else []
        assert error_in(found).get("C", "08P01") == "08P01"
        bare.close()


def test_a_port_that_others_can_reach_needs_encryption(tmp_path: Path) -> None:
    catalog = write_clinic(tmp_path / "clinic")
    given = ("--host", "0.0.0.0", "--behind-proxy", "--pg-port", "5433")  # noqa: S104
    command = ("serve", f"clinic={catalog}", *given)
    found = run_command(*command, folder=tmp_path, environment=os.environ)
    assert found.returncode != 0
    assert "--pg-port must be on a loopback address unless" in " ".join(found.stderr.split())
